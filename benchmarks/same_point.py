"""Measure how well findings of two reviewers that make the same point are recognized.

    python benchmarks/same_point.py DATA/golden/martian-dev.jsonl.gz [--judge NAME]

For each finding of a bot, a judge of the golden set decided which known problem it is about, if
any. Two findings of different bots make the same point if they are about the same problem, and
another point if they are about different problems, or only one is about a problem. Two kinds of
pairs are left out, because the truth is not known: those in which neither finding is about a
problem, and those in which the bot of the finding without a problem also reported the other
finding's problem, because it may do so twice. The threshold is chosen on half of the pull requests
and measured on the other half, and the other way round. The pair model was trained on findings and
problems of these pull requests, but not on pairs of findings.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np

from crscore.bench.overlap import compare_findings, same_points
from crscore.bench.pairs import assign, read_model, view_texts
from crscore.encoders.minilm import MiniLM
from crscore.usefulness import reader
from crscore.usefulness.model import read_weights
from crscore_lab.judgements import read_judgements

GOAL = 0.95
"""Precision that the threshold has to reach."""


def measure(path: Path, judge: str) -> dict[str, np.ndarray]:
    """Return, for each change, the pairs of findings of different bots, shape (N, 4).

    The columns are the probability by the pair model, the cosine, 1 if the pair was assigned, and 1
    if both make the same point.
    """
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


def count_joined(path: Path, judge: str) -> tuple[int, int]:
    """Count the pairs of findings that an audit joins into one point.

    Returns:
        Pairs of which at least one finding is about a known problem; those about the same problem.
    """
    encoder, rarity = MiniLM(), read_weights(reader.SHIPPED).rarity
    changes = defaultdict(list)
    for group in read_judgements(path):
        if group.judge == judge:
            changes[group.change] += zip(group.findings, group.decisions, strict=True)
    joined = same = 0
    for rows in changes.values():
        firsts = same_points([finding for finding, _ in rows], encoder, rarity)
        for one, other in combinations(range(len(rows)), 2):
            problems = {rows[one][1], rows[other][1]}
            is_joined = firsts[one] == firsts[other] and problems != {None}
            joined += is_joined
            same += is_joined and len(problems) == 1
    return joined, same


def scores(table: np.ndarray, column: int, threshold: float) -> tuple[float, float, int]:
    """Return precision, recall, and the number of pairs at or above a threshold of a column."""
    said = (table[:, column] >= threshold) & (table[:, 2] > 0)
    right = (said & (table[:, 3] > 0)).sum()
    return right / max(1, said.sum()), right / max(1, table[:, 3].sum()), int(said.sum())


def threshold_of(table: np.ndarray, column: int) -> float:
    """Return the lowest threshold whose precision reaches the goal; 0.999 if none does."""
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
        for tuned, held_out in (halves, halves[::-1]):
            threshold = threshold_of(tuned, column)
            precision, recall, count = scores(held_out, column, threshold)
            print(
                f"{name}: threshold {threshold:.2f}, held out: precision {precision:.3f}, "
                f"recall {recall:.3f} ({count} reported)"
            )
        for threshold in (0.43, 0.6, 0.7, 0.8, 0.9):
            precision, recall, count = scores(table, column, threshold)
            print(f"  {threshold}: precision {precision:.3f}, recall {recall:.3f} ({count})")
    joined, same = count_joined(arguments.path, arguments.judge)
    print(f"joined by an audit: {joined:,} pairs about a problem, {same:,} about the same one")


if __name__ == "__main__":
    main()
