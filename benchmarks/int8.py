"""Measure how much 8-bit integers change the standing and the relevance of real comments.

    python benchmarks/int8.py DATA [--comments N]

DATA is a folder with `real-comments/dev.jsonl.gz`. With `--revision int8`, the dense layers of both
networks (the encoder and the reader of reviews) use 8-bit integers.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from pathlib import Path

import numpy as np

from crscore import Scorer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--comments", type=int, default=400)
    options = parser.parse_args()
    with gzip.open(options.data / "real-comments" / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = random.Random(0).sample(rows, options.comments)
    pairs = [(row["patch"], row["comment"]) for row in rows]
    standings, relevances, seconds = [], [], []
    for revision in (None, "int8"):
        scorer = Scorer(analyzers="none", revision=revision)
        start = time.process_time()
        results = scorer.score_many(pairs)
        seconds.append(time.process_time() - start)
        standings.append([r.usefulness.standing if r.usefulness else np.nan for r in results])
        relevances.append([np.nan if r.relevance is None else r.relevance for r in results])
    print(f"{options.comments} comments: {seconds[0]:.1f} and {seconds[1]:.1f} CPU seconds")
    for name, (before, after) in {"standing": standings, "relevance": relevances}.items():
        moved = np.abs(np.subtract(before, after))
        shares = np.nanquantile(moved, [0.5, 0.95, 1])
        shares = shares.round(3)
        print(f"change of {name}: mean {np.nanmean(moved):.3f}; median, 95 %, largest {shares}")


if __name__ == "__main__":
    main()
