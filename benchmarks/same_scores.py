"""Save the scores of many reviews, or compare them with saved scores.

    python benchmarks/same_scores.py DATA FILE            # save
    python benchmarks/same_scores.py DATA FILE --compare  # exit code 1 if a score differs

DATA is a folder with `commits/whole.jsonl.gz`, real commits whose messages serve as their reviews,
and `human-study/dev.jsonl.gz`, rated reviews. Save the scores with one version of the code and
compare with another, for example after a refactoring, which must not change any score.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crscore import Comment, Result, Scorer

COMMITS = 150
TOLERANCE = 1e-6
"""Maximum difference of equal scores; the size of a batch changes a cosine by about 1e-7."""


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def describe(result: Result) -> dict[str, Any]:
    """Return the numbers and texts of a result that reports and gates use."""
    usefulness = result.usefulness
    return {
        "scores": [result.conciseness, result.comprehensiveness, result.relevance],
        "comments": [
            [comment.scores.matched_sentences, comment.scores.matched_references]
            for comment in result.comments
        ],
        "standing": None if usefulness is None else usefulness.standing,
        "readings": [[item.stance, item.actionable, item.about] for item in result.readings],
        "references": [reference.text for reference in result.references],
        "sentences": [sentence.text for sentence in result.sentences],
    }


def measure(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    scorer = Scorer(analyzers="none")
    commits = [row for _, row in zip(range(COMMITS), every_other(data), strict=False)]
    pairs = [(row["diff"], f"{row['subject']}\n\n{row['body']}") for row in commits]
    for row, result in zip(commits, scorer.score_many(pairs), strict=True):
        yield f"{row['repository']} {row['commit']}", describe(result)
    for change in read_rows(data / "human-study" / "dev.jsonl.gz"):
        diff = scorer.read_diff(change["patch"], language=change["language"])
        reviews = [(diff, (Comment(body=review["text"]),)) for review in change["reviews"]]
        for review, result in zip(change["reviews"], scorer.score_many(reviews), strict=True):
            yield f"{change['id']} {review['system']}", describe(result)


def every_other(data: Path) -> Iterator[dict[str, Any]]:
    rows = list(read_rows(data / "commits" / "whole.jsonl.gz"))
    yield from rows[::2]
    yield from rows[1::2]


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= TOLERANCE
    return bool(one == other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    results = json.loads(json.dumps(dict(measure(arguments.data))))
    if not arguments.compare:
        arguments.file.write_text(json.dumps(results))
        print(f"{len(results)} reviews saved")
        return
    saved = json.loads(arguments.file.read_text())
    different = [name for name in saved if not is_same(saved[name], results.get(name))]
    for name in different[:20]:
        print(f"{name}\n  before {saved[name]}\n  after  {results.get(name)}")
    print(f"{len(saved) - len(different)} of {len(saved)} reviews have the same scores")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
