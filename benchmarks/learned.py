"""What `crscore audit learn` gains on a real team's comments.

    python benchmarks/learned.py DATA

DATA is the folder that `crscore train usefulness` takes. Its `followed-dev.jsonl.gz` has one
repository with at least 300 comments, all by people: learned from its older pull requests, by
number, and measured on those of the newest fifth of the comments. For the others, learned from all
other repositories: what one team teaches about another. The labels are a language model's. The
shipped reader has learned from most of these very comments, so its own numbers are too high here.
The ridge of 100 was chosen from 1, 3, 10, 30, 100 and 300 with these numbers in view; on the newest
fifth of the older part alone, they differ by .017.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np

from crscore import Scorer
from crscore.audit import learn
from crscore.usefulness.team import measure

MIN_OTHERS = 40
"""Comments of a repository from which it is measured with what the others teach."""


def compare(values, rows, start) -> str:
    """Learn from the rows before `start`, measure on the others, and say what it gains."""
    acted_on = np.array([row["addressed_said_by_a_model"] for row in rows])
    pulls = [f"{row['repository']}#{row['pull']}" for row in rows]
    return learn.describe(learn.evaluate(values, acted_on, pulls, start, "benchmark"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    path = parser.parse_args().data / "real-comments" / "followed-dev.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows.sort(key=lambda row: (row["repository"], int(row["pull"])))
    reader = Scorer(analyzers="none").parts.reader
    assert reader is not None
    values = measure(reader.network, [row["comment"][:2_000] for row in rows])
    for name in dict.fromkeys(row["repository"] for row in rows):
        own = [index for index, row in enumerate(rows) if row["repository"] == name]
        others = [index for index, row in enumerate(rows) if row["repository"] != name]
        if len(own) >= learn.MIN_COMMENTS:
            pulls = [rows[index]["pull"] for index in own]
            start = pulls.index(pulls[round(len(own) * (1 - learn.HELD_OUT))])
            print(f"{name}, by time: {compare(values[own], [rows[i] for i in own], start)}")
        if len(own) >= MIN_OTHERS:
            order = [*others, *own]
            text = compare(values[order], [rows[i] for i in order], len(others))
            print(f"{name}, by the others: {text}")


if __name__ == "__main__":
    main()
