"""Measure how often a commit's title is nearer to the claims of its change than to others' claims.

    python benchmarks/titles.py COMMITS [--per 60] [--others 10] [--text] [--limit default]

COMMITS is a file of commits, one JSON object per line, with repository, subject, diff and, if
known, files. For every commit, the highest cosine of its title to a claim about its own change is
compared with the highest cosine to a claim about another change of the same repository. Prints the
share of comparisons that the own change wins, where a tie counts one half, for each repository and
as their mean. The second column is the same with three changed lines at a time instead of claims,
the third with the higher cosine of both.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import numpy as np

from crscore import plugins, scorer, settings
from crscore.diff import parse
from crscore.records import LineKind
from crscore.scoring.cells import select_references


def rows(data: Path, per: int) -> dict[str, list[dict]]:
    """Return repository -> up to `per` commits, evenly spaced in the file."""
    by_repository = defaultdict(list)
    with gzip.open(data, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["subject"].strip() and row["diff"].strip():
                by_repository[row["repository"]].append(row)
    return {
        name: [each[i * len(each) // min(per, len(each))] for i in range(min(per, len(each)))]
        for name, each in sorted(by_repository.items())
    }


def change_of(row: dict):
    diff = parse.parse_diff(row["diff"])
    files = {path: tuple(both) for path, both in row.get("files", {}).items()}
    return parse.with_sources(diff, files) if files else diff


def three_lines(diff) -> list[str]:
    """Return the changed lines of a change, three at a time."""
    lines = [line.text.strip() for line in diff.lines(LineKind.ADDED, LineKind.REMOVED)]
    lines = [line for line in lines if line][:900]
    return [" ".join(lines[i : i + 3]) for i in range(0, len(lines), 3)]


def share(own: float, others: list[float]) -> float:
    return fmean((own > other) + 0.5 * (own == other) for other in others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--per", type=int, default=60, help="commits per repository")
    parser.add_argument("--others", type=int, default=10, help="other changes per title")
    parser.add_argument("--claims", default="structural", help="claim generator")
    parser.add_argument("--text", action="store_true", help="encode claims as people read them")
    parser.add_argument("--all", action="store_true", help="use all claims, not only counted ones")
    parser.add_argument("--no-lines", action="store_true", help="skip the changed lines")
    asked = parser.parse_args()
    generator = plugins.create("claims", asked.claims)
    encoder = scorer.make_encoder(settings.Config())
    limit = None if asked.all else settings.Config().max_claims
    table = []
    for repository, commits in rows(asked.data, asked.per).items():
        diffs = [change_of(row) for row in commits]
        generated = generator.generate(diffs)
        claims = [
            [
                reference.text if asked.text else reference.encoded_text
                for reference in select_references(each.references, limit=limit)
                if reference.counted
            ]
            for each in generated
        ]
        lines = [[] if asked.no_lines else three_lines(diff) for diff in diffs]
        titles = encoder.encode([row["subject"] for row in commits])
        best = []
        for texts in (claims, lines):
            flat = list(dict.fromkeys(text for each in texts for text in each))
            vectors = dict(zip(flat, encoder.encode(flat), strict=True)) if flat else {}
            cosines = np.full((len(commits), len(commits)), -1.0)
            for at, each in enumerate(texts):
                if each:
                    held = np.stack([vectors[text] for text in each])
                    cosines[:, at] = (titles @ held.T).max(axis=1)
            best.append(cosines)
        size = len(commits)
        wins = []
        for cosines in (*best, np.maximum(*best)):
            wins.append(
                fmean(
                    share(
                        cosines[i, i],
                        [cosines[i, (i + step) % size] for step in range(1, asked.others + 1)],
                    )
                    for i in range(size)
                )
            )
        table.append(wins)
        print(f"{repository:38} {size:4}  " + "  ".join(f"{win:.3f}" for win in wins), flush=True)
    mean = [fmean(column) for column in zip(*table, strict=True)]
    print(f"{'mean':43}  " + "  ".join(f"{win:.3f}" for win in mean))
    print("columns: claims, three changed lines at a time, either")


if __name__ == "__main__":
    main()
