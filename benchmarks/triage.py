"""What the filter before posting keeps of findings judged golden, and drops of the others.

    python benchmarks/triage.py FILE [--bot NAME]

FILE has findings of review bots on pull requests, each matched by judges with a list of golden ones
(`golden/martian-dev.jsonl.gz`). It has no changes, so every finding is taken to be about its
change, and the worth of its text alone decides. "Golden" is a finding that most of its judges
matched; the others are unlisted, not false. Three thresholds are chosen on half of the pull
requests, to keep 95, 90 and 80 % of the golden findings, and measured on the other half, then the
other way round. The network of the shipped weights has learned from some texts of this file, so the
same is printed for the findings that it has not learned from. Last: how often two bots' findings of
one golden finding, and of two, count as duplicates.
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
    """Index of the golden finding that most of the judges saw in it."""


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
    """Return the highest worth of a remark of each text, as if it were about its change."""
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
            chosen, held = halves == side, halves != side
            limit = float(np.quantile(worth[chosen & golden], 1 - share))
            thresholds.append(limit)
            kept += int((worth[held & golden] >= limit).sum())
            dropped += int((worth[held & ~golden] < limit).sum())
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
            f"cosine {limit}: duplicates {(same >= limit).mean():.0%} of {len(same)} pairs of one "
            f"golden finding, {(other >= limit).mean():.1%} of {len(other)} pairs of two"
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
    report("not learned from", unseen)
    report_duplicates(scorer, findings)


if __name__ == "__main__":
    main()
