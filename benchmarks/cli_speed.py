"""Measure the run time of `crscore` on the shipped example, and of its imports.

    python benchmarks/cli_speed.py [--runs N]

Prints medians. A first run, which fills the file cache and writes bytecode, is not counted. The
time is also divided by that of a process that only imports the two largest packages; the ratio
depends less on the machine and its other work. `crscore --help` is so short that its CPU time is
measured, and compared with that of Python alone.
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
IMPORTS_ALONE = [sys.executable, "-c", "import numpy, onnxruntime"]
HELP = [sys.executable, "-m", "crscore", "--help"]
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


def seconds(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run a command; return its wall time and its CPU time, both with its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - start, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    whole, baseline, help_page, empty, imports = [], [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for _ in range(runs + 1):
            baseline.append(seconds(IMPORTS_ALONE, environment))
            whole.append(seconds(COMMAND, environment))
            help_page.append(seconds(HELP, environment))
            empty.append(seconds([sys.executable, "-c", "pass"], environment))
            imported = subprocess.run(
                [sys.executable, "-c", IMPORTS],
                cwd=ROOT, env=environment, check=True, capture_output=True, text=True,
            )  # fmt: skip
            imports.append(float(imported.stdout))
    ratios = [
        [b / a for a, b in zip(*pair, strict=True)]
        for pair in zip(baseline[1:], whole[1:], strict=True)
    ]
    clock, cpu = (statistics.median(ratio) for ratio in zip(*ratios, strict=True))
    print(f"whole process, median of {runs}: {statistics.median(s for s, _ in whole[1:]):.2f} s")
    print(f"relative to `import numpy, onnxruntime`: {clock:.1f}; CPU {cpu:.1f} (goal <= 3.5)")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process: {peak:.0f} MiB (goal <= 250)")
    helps, empties = (min(cpu for _, cpu in times[1:]) for times in (help_page, empty))
    print(
        f"CPU of `crscore --help`: {helps:.2f} s (goal <= 0.13), of Python alone: {empties:.2f} s"
    )
    print(f"imports, median of {runs}: {statistics.median(imports[1:]):.2f} s")


if __name__ == "__main__":
    main()
