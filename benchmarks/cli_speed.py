"""Time of `crscore` on the shipped example: the whole process, and its imports.

    python benchmarks/cli_speed.py [--runs N]

Prints medians. The file cache is warm: one run goes first and is not counted.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    whole, imports = [], []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(COMMAND, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        whole.append(time.perf_counter() - start)
        imported = subprocess.run(
            [sys.executable, "-c", IMPORTS], cwd=ROOT, check=True, capture_output=True, text=True
        )
        imports.append(float(imported.stdout))
    print(f"whole process, median of {runs}: {statistics.median(whole[1:]):.2f} s (goal <= 1.5)")
    print(f"imports, median of {runs}: {statistics.median(imports[1:]):.2f} s (goal <= 0.5)")


if __name__ == "__main__":
    main()
