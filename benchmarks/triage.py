"""Measure how many good findings of bots `crscore triage` keeps, and how many others it drops.

    python benchmarks/triage.py FILE [--bot NAME]

FILE has findings of review bots on pull requests; judges matched them with a list of golden
findings (`golden/martian-dev.jsonl.gz`). FILE does not contain the changes, so every finding counts
as being about its change, and only the worth of its text decides. A finding counts as golden if
most judges matched it; the others may still be right. Thresholds that keep 95, 90 and 80 % of the
golden findings are chosen on half of the pull requests and measured on the other half, and the
other way round. The shipped network was trained on some texts of this file, so the results are also
printed for the other findings alone. Finally, prints how often two bots' findings count as
duplicates, if they match the same golden finding, and if they match different ones.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import zlib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from crscore import Scorer
from crscore.agents import triage
from crscore.records import Comment, Diff
from crscore.review.read import parse_comment, sentences_of
from crscore.usefulness.reader import weigh_worth
from crscore_lab.training.data import judgements

KEPT = (0.95, 0.90, 0.80)


class Finding(NamedTuple):
    """A bot's finding on one pull request."""

    pull: str
    bot: str
    text: str
    path: str
    golden: int | None
    """Index of the golden finding that most judges matched it with; None for no match."""


def read_findings(path: Path) -> list[Finding]:
    findings = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            for bot, judges in row["found"].items():
                votes: dict[tuple[str, str], list[int | None]] = defaultdict(list)
                for listed in judges.values():
                    for finding in listed:
                        votes[finding["text"], finding["path"] or ""].append(finding["golden"])
                for (text, place), golden in votes.items():
                    first = max(golden, key=golden.count)
                    findings.append(Finding(row["pull"], bot, text, place, first))
    return findings


def measure_worth(scorer: Scorer, texts: list[str]) -> list[float]:
    """Return the highest worth of a remark in each text, as if the text were about its change."""
    reader = scorer.parts.reader
    change = Diff(files=(), sha256="")
    reviews = []
    for text in texts:
        units = sentences_of([parse_comment(Comment(body=text), change, "markdown")])
        reviews.append((units, scorer.parts.encoder.encode([unit.text for unit in units])))
    return [
        max(
            (weigh_worth(remark.worth, 1.0) for remark in remarks),
            default=0.0,
        )
        for _, remarks in reader.read_texts(reviews)
    ]


def half(pull: str) -> int:
    return zlib.crc32(pull.encode()) % 2


def report(name: str, rows: list[tuple[Finding, float]]) -> None:
    golden = np.array([finding.golden is not None for finding, _ in rows])
    worth = np.array([value for _, value in rows])
    halves = np.array([half(finding.pull) for finding, _ in rows])
    ranks = rankdata(worth)
    count = golden.sum()
    auc = (ranks[golden].sum() - count * (count + 1) / 2) / (count * (~golden).sum())
    print(f"{name}: {count} golden, {(~golden).sum()} others, AUC {auc:.2f}")
    for share in KEPT:
        kept = dropped = 0
        thresholds = []
        for side in (0, 1):
            chosen, held_out = halves == side, halves != side
            limit = float(np.quantile(worth[chosen & golden], 1 - share))
            thresholds.append(limit)
            kept += int((worth[held_out & golden] >= limit).sum())
            dropped += int((worth[held_out & ~golden] < limit).sum())
        print(
            f"  thresholds {thresholds[0]:.3f} and {thresholds[1]:.3f}, chosen to keep {share:.0%}:"
            f" kept {kept / count:.1%} of golden, dropped {dropped / (~golden).sum():.1%} of others"
        )
    for limit in (triage.MIN_WORTH,):
        print(
            f"  default {limit}: kept {(worth[golden] >= limit).mean():.1%} of golden, "
            f"dropped {(worth[~golden] < limit).mean():.1%} of others"
        )


def report_duplicates(scorer: Scorer, findings: list[Finding]) -> None:
    golden = [finding for finding in findings if finding.golden is not None]
    vectors = scorer.parts.encoder.encode([finding.text for finding in golden])
    cosines = {True: [], False: []}
    for (a, x), (b, y) in itertools.combinations(zip(golden, vectors, strict=True), 2):
        if a.pull == b.pull and a.bot != b.bot and half(a.pull):
            cosines[a.golden == b.golden].append(float(x @ y))
    same, other = np.array(cosines[True]), np.array(cosines[False])
    for limit in (0.5, 0.6, 0.7, 0.8):
        print(
            f"cosine {limit}: duplicates {(same >= limit).mean():.0%} of {len(same)} pairs of the "
            f"same golden finding, {(other >= limit).mean():.1%} of {len(other)} other pairs"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--bot")
    options = parser.parse_args()
    scorer = Scorer(analyzers="none")
    findings = [f for f in read_findings(options.data) if options.bot in (None, f.bot)]
    rows = list(zip(findings, measure_worth(scorer, [f.text for f in findings]), strict=True))
    report("all findings", rows)
    learned = judgements.read_comment_judgements()
    unseen = [row for row in rows if judgements.text_key(row[0].text, "") not in learned]
    report("findings not in the training data", unseen)
    report_duplicates(scorer, findings)


if __name__ == "__main__":
    main()
