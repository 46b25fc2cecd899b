"""Findings of two reviewers that make the same point, against the judgements of a golden set.

    python benchmarks/same_point.py DATA/golden/martian-dev.jsonl.gz [--judge NAME]

A judge gave each finding of each bot a known problem, or none. Two findings of different bots with
the same problem make the same point, with different ones, or one of them with none, they do not;
pairs without any problem are unknown and left out, and so are pairs of a problem's finding and one
of a bot that reported the problem elsewhere: it may say the same twice. The threshold is set on
half of the pull requests and measured on the other half, both ways. The weights of the pair model
were learned on findings and problems of the same pull requests, never on pairs of findings.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np

from crscore.bench.overlap import compare_findings
from crscore.bench.pairs import assign, read_model, view_texts
from crscore.encoders.minilm import MiniLM
from crscore.usefulness import reader
from crscore.usefulness.model import read_weights
from crscore_lab.judgements import read_judgements

GOAL = 0.95
"""Precision that the threshold aims at."""


def measure(path: Path, judge: str) -> dict[str, np.ndarray]:
    """Return rows of symmetric probability, cosine, whether assigned, and label, by change."""
    encoder = MiniLM()
    rarity = read_weights(reader.SHIPPED).rarity
    changes = defaultdict(list)
    for group in read_judgements(path):
        if group.judge == judge and group.findings:
            changes[group.change].append(group)
    rows = {}
    for change, groups in changes.items():
        texts = [finding.text for group in groups for finding in group.findings]
        views = view_texts(texts, encoder, rarity, read_model().layers)
        rows[change] = []
        for first, second in combinations(groups, 2):
            both = compare_findings(first.findings, second.findings, views)
            assigned = set(assign(both).items())
            for (row, column), value in np.ndenumerate(both):
                one, other = first.decisions[row], second.decisions[column]
                is_known = one is not None or other is not None
                may_repeat = (one is None and other in first.decisions) or (
                    other is None and one in second.decisions
                )
                if is_known and not may_repeat:
                    ends = first.findings[row].text, second.findings[column].text
                    cosine = float(views[ends[0]].vector @ views[ends[1]].vector)
                    rows[change].append((value, cosine, (row, column) in assigned, one == other))
    return {change: np.array(values, dtype=float).reshape(-1, 4) for change, values in rows.items()}


def scores(table: np.ndarray, column: int, threshold: float) -> tuple[float, float, int]:
    """Return precision, recall, and the number of pairs reported."""
    said = (table[:, column] >= threshold) & (table[:, 2] > 0)
    right = (said & (table[:, 3] > 0)).sum()
    return right / max(1, said.sum()), right / max(1, table[:, 3].sum()), int(said.sum())


def threshold_of(table: np.ndarray, column: int) -> float:
    """Return the least threshold whose precision reaches the goal."""
    for threshold in np.arange(0.2, 0.999, 0.01):
        if scores(table, column, threshold)[0] >= GOAL:
            return float(threshold)
    return 0.999


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--judge", default="gpt-5.2")
    arguments = parser.parse_args()
    rows = measure(arguments.path, arguments.judge)
    halves = [np.concatenate([rows[name] for name in sorted(rows)[half::2]]) for half in (0, 1)]
    table = np.concatenate(halves)
    print(f"{len(table):,} pairs in {len(rows)} pull requests, {table[:, 3].sum():,.0f} the same")
    for name, column in (("pair model", 0), ("cosine", 1)):
        for tuned, held in (halves, halves[::-1]):
            threshold = threshold_of(tuned, column)
            precision, recall, count = scores(held, column, threshold)
            print(
                f"{name}: threshold {threshold:.2f}, held out: precision {precision:.3f}, "
                f"recall {recall:.3f} ({count} reported)"
            )
        for threshold in (0.43, 0.6, 0.7, 0.8, 0.9):
            precision, recall, count = scores(table, column, threshold)
            print(f"  {threshold}: precision {precision:.3f}, recall {recall:.3f} ({count})")


if __name__ == "__main__":
    main()
