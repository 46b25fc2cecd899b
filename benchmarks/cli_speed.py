"""Time of `crscore` on the shipped example: the whole process, and its imports.

    python benchmarks/cli_speed.py [--runs N]

Prints medians. The file cache is warm: one run goes first and is not counted. The ratio compares
the process with one that imports its two large packages, one after the other, so that it depends
less on the machine and its other work. Bytecode is kept, as after an installation. `crscore --help`
is measured in CPU time, beside Python alone, as it is short.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOOR = [sys.executable, "-c", "import numpy, onnxruntime"]
COMMAND = [sys.executable, "-m", "crscore", "examples/change.diff", "examples/review.md"]
# Everything that the run above imports, without the run.
IMPORTS = """
import time; start = time.perf_counter()
import crscore.cli, crscore.commands.score, crscore.scorer
from crscore import plugins
plugins.load("claims", "structural"), plugins.load("encoders", "minilm")
plugins.load("reports", "text"), plugins.load("matchers", "published")
import onnxruntime, tokenizers
print(time.perf_counter() - start)
import sys; sys.exit("torch was imported" if "torch" in sys.modules else 0)
"""


def seconds(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def cpu_seconds(*arguments: str, runs: int) -> float:
    """Return the least CPU time of a program; what other programs do only adds to it."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    whole, floor, imports = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(runs + 1):
            floor.append(seconds(FLOOR, environment))
            whole.append(seconds(COMMAND, environment))
            imported = subprocess.run(
                [sys.executable, "-c", IMPORTS],
                cwd=ROOT, env=environment, check=True, capture_output=True, text=True,
            )  # fmt: skip
            imports.append(float(imported.stdout))
    ratios = [a / b for a, b in zip(whole[1:], floor[1:], strict=True)]
    print(f"whole process, median of {runs}: {statistics.median(whole[1:]):.2f} s (goal <= 1.5)")
    print(f"times `import numpy, onnxruntime`: {statistics.median(ratios):.1f} (goal <= 4)")
    print(f"imports, median of {runs}: {statistics.median(imports[1:]):.2f} s (goal <= 0.5)")
    empty, shown = (
        cpu_seconds(*command, runs=runs)
        for command in (("-c", "pass"), ("-m", "crscore", "--help"))
    )
    print(f"CPU of `crscore --help`: {shown:.2f} s (goal <= 0.13), of Python alone: {empty:.2f} s")


if __name__ == "__main__":
    main()
