"""Measure loss, seconds per step and memory of fine-tuning the tests' tiny model on real rows.

    python benchmarks/fine_tuning.py ROWS [--rows 400] [--epochs 1] [--threads 1]

The model has 2 layers of random weights. So the numbers describe the training pipeline: the time of
a step without much arithmetic of a model, and whether the loss on held-out changes falls.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import tempfile
import time
from pathlib import Path

import torch

from crscore_lab.training.claims.finetune import FineTuning, fine_tune
from tests.helpers import tiny_llm

MAX_TOKENS = 4096
"""Maximum number of tokens of a row; the tiny tokenizer makes three times as many as a real one."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    settings = FineTuning(
        epochs=arguments.epochs, max_length=MAX_TOKENS, learning_rate=arguments.rate
    )
    with tempfile.TemporaryDirectory() as folder, arguments.data.open() as file:
        rows = Path(folder) / "rows.jsonl"
        rows.write_text("".join(itertools.islice(file, arguments.rows)))
        base = tiny_llm.make(Path(folder) / "tiny", context=MAX_TOKENS)
        before_mb = _peak_mb()
        began = time.monotonic()
        record = fine_tune(
            rows, str(base), settings, out=Path(folder) / "out", offline=True, report=lambda _: None
        )
        seconds = time.monotonic() - began
    losses, counts = record["losses"], record["counts"]
    print(
        f"{counts['rows']:,} rows, {counts['train']:,} trained on, {counts['held_out']:,} held out"
    )
    print(f"loss on held-out rows {losses['before']:.3f} -> {losses['after']:.3f}")
    print(
        f"{losses['steps']:,} steps, {seconds / losses['steps']:.3f} s per step, "
        "including reading, evaluation and saving"
    )
    print(f"peak memory {_peak_mb():,.0f} MB, {before_mb:,.0f} MB of it before the training")


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
