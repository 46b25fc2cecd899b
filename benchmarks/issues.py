"""Choice of issues that help a score, and of sentences of two tools that mean one defect.

    python benchmarks/issues.py DATA [--claims NAME] [--split] [--tools-dir DIR]

DATA is the human study's file. Two tables. The first has the pairs of rules of two tools that
met on one line of the study's files, changed or not, with the cosines of their sentences: as they
are, without the place they name, and with every name as `it`. `SAME_DEFECT` was read off it; which
pairs are one defect is for a reader to say. The second has the gain in agreement with people over
a score without issues, for other choices of issues; with --split the matcher is trained anew for
each of five groups of changes, on the other four. Only changes with a finding on their changed
lines are scored again.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from crscore import Scorer, plugins, scorer
from crscore.records import Analysis, Severity
from crscore.settings import Config, override_settings
from crscore_lab.study.caches import AnalysisCache, VectorCache
from crscore_lab.study.data import splits, study
from crscore_lab.study.measures import issues, measurements
from crscore_lab.training import matcher as training

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from crscore.records import Diff, Finding
    from crscore_lab.study.measures.measurements import Measurements

    Keep = Callable[[Finding], bool]

PLACE = re.compile(r" (?:in|of) `[^`]{1,200}`(?=[\s,.;:])")
NAME = re.compile(r"`[^`]{1,200}`")
UNUSED_IMPORTS = ("F401", "UnnecessaryImport")


class Choice(NamedTuple):
    """Choice of findings."""

    keep: Keep = lambda _: True
    limit: int = 3
    old_too: bool = False
    once: bool = False
    """One finding of each rule."""


CHOICES = {
    **{f"at most {most} of a hunk": Choice(limit=most) for most in (1, 2, 3, 5, 1000)},
    "errors and warnings": Choice(lambda finding: finding.severity is not Severity.NOTE),
    "one of each rule": Choice(once=True),
    "no unused imports": Choice(lambda finding: finding.rule not in UNUSED_IMPORTS),
    "also what the old file had": Choice(old_too=True),
    "also that, errors and warnings": Choice(
        lambda finding: finding.severity is not Severity.NOTE, old_too=True
    ),
}


@dataclass(frozen=True, eq=False)
class Chosen:
    """Analyzers restricted to a part of the findings of others."""

    analyses: AnalysisCache
    choice: Choice

    @contextmanager
    def analyzing(self, diffs: Sequence[Diff]) -> Iterator[Callable[[], tuple[Analysis, ...]]]:
        with self.analyses.analyzing(diffs) as wait:
            yield lambda: tuple(self._part(part) for part in wait())

    def _part(self, analysis: Analysis) -> Analysis:
        kept = [
            structs.replace(finding, pre_existing=finding.pre_existing and not self.choice.old_too)
            for finding in analysis.findings
            if finding.in_change and self.choice.keep(finding)
        ]
        if self.choice.once:
            kept = list(
                {
                    (finding.tool, finding.rule): finding
                    for finding in reversed(kept)
                    if not finding.pre_existing
                }.values()
            )
        return structs.replace(analysis, findings=tuple(kept))


class Written:
    """Claim generator that generates once for each change."""

    def __init__(self, generator: object) -> None:
        self.generator, self.identity, self.known = generator, generator.identity, {}

    def generate(self, diffs: Sequence[Diff]) -> tuple:
        new = [diff for diff in diffs if diff.sha256 not in self.known]
        generated = self.generator.generate(new)
        self.known.update(zip((diff.sha256 for diff in new), generated, strict=True))
        return tuple(self.known[diff.sha256] for diff in diffs)


class Bench:
    """Study, with the tools' findings and the matchers."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.study = study.read_study(arguments.data)
        settings = override_settings(Config(), {"tools_dir": arguments.tools_dir})
        self.settings = override_settings(settings, {"analyzers": "none"})
        self.encoder = VectorCache(scorer.make_encoder(settings))
        self.known = AnalysisCache(scorer.make_analyzers(settings))
        self.writer = Written(
            study.recorded(self.study, issues=False)
            if arguments.claims == study.SOURCE
            else plugins.create("claims", arguments.claims)
        )
        everything = Scorer(
            self.settings, generator=self.writer, encoder=self.encoder, analyzers=self.known
        )
        self.looks = issues.analyze_changes(self.study, everything)
        self.matchers = [(self.scorer(Choice()).parts.matcher, lambda *_: True)]
        if arguments.split:
            self.matchers = [
                (
                    training.train(fold.training_part(self.study), encoder=self.encoder, seed=0),
                    fold.includes,
                )
                for fold in splits.make_folds(
                    self.study, splits.Split(splits.SplitKind.GROUPED, 5), seed=0
                )
            ]

    def scorer(self, choice: Choice | None, matcher: object = None) -> Scorer:
        return Scorer(
            override_settings(self.settings, {"max_issues": choice.limit if choice else 3}),
            generator=self.writer,
            encoder=self.encoder,
            analyzers=None if choice is None else Chosen(self.known, choice),
            matcher=matcher,
        )

    def scored(self, choice: Choice | None, only: frozenset[str] | None = None) -> Measurements:
        parts = [
            measurements.measure(
                self.study,
                self.scorer(choice, matcher),
                name="score",
                includes=lambda change, review, holds=holds: (
                    (only is None or change.id in only) and holds(change, review)
                ),
                is_part=True,
            )
            for matcher, holds in self.matchers
        ]
        return measurements.join(parts)


def merged(base: Measurements, part: Measurements) -> Measurements:
    """Replace the first values of the rows that were scored again."""
    positions = {row.position: index for index, row in enumerate(base.rows)}
    values = base.primary.values.copy()
    for row, again in zip(part.rows, part.primary.values, strict=True):
        if row.position in positions:
            values[positions[row.position]] = again
    return replace(base, metrics=(replace(base.primary, values=values),))


def pairs(bench: Bench) -> None:
    """Print the findings of two tools on one line, the most similar first."""
    print("two tools on one line: how often, cosines as written / without places / without names")
    findings = defaultdict(list)
    for look in bench.looks:
        by_line = defaultdict(list)
        for finding in look.issues.analysis.findings:
            by_line[finding.path, finding.line].append(finding)
        for group in by_line.values():
            for position, finding in enumerate(group):
                for other in group[position + 1 :]:
                    if finding.tool != other.tool:
                        findings[finding.tool, finding.rule, other.tool, other.rule].append(
                            (finding, other)
                        )
    rows = []
    for rules, met in findings.items():
        cosines = [tuple(zip(*(alike(bench, *pair) for pair in met), strict=True))]
        rows.append((rules, met, [(min(column), max(column)) for column in cosines[0]]))
    for rules, met, ranges in sorted(rows, key=lambda row: -row[2][2][1]):
        shown = "  ".join(f"{low:5.2f} to {high:5.2f}" for low, high in ranges)
        print(f"{len(met):4}  {shown}  {' '.join(rules)}")
        print(f"      {met[0][0].text[:90]} | {met[0][1].text[:90]}")


def alike(bench: Bench, left: Finding, right: Finding) -> tuple[float, float, float]:
    """Return three cosines of two sentences."""
    texts = [left.text, right.text]
    bare = [PLACE.sub("", text) for text in texts]
    nameless = [NAME.sub("it", text) for text in bare]
    pairs = []
    for first, second in (texts, bare, nameless):
        vectors = bench.encoder.encode([first, second])
        pairs.append(float(vectors[0] @ vectors[1]))
    return pairs[0], pairs[1], pairs[2]


def gains(bench: Bench) -> None:
    """Print the effect of each choice of issues on the agreement with people."""
    touched = frozenset(
        look.change.id
        for look in bench.looks
        if any(finding.in_change for finding in look.issues.analysis.findings)
    )
    base = bench.scored(None)
    variants = [issues.Variant(issues.WITHOUT, base)]
    for name, choice in CHOICES.items():
        variants.append(issues.Variant(name, merged(base, bench.scored(choice, touched))))
    rows = list(issues.effects(variants, resamples=1000, seed=0))
    print(f"\n{len(touched)} changes have a finding on their changed lines")
    print("relevance, all reviews: Spearman, gain [95 % interval] over no issues, gain of tau-b")
    pooled = [row for row in rows if (row.dimension, row.slice) == ("relevance", "pooled")]
    for row in pooled:
        gain = "" if row.low is None else f"{row.difference:+.4f} [{row.low:+.4f}, {row.high:+.4f}]"
        print(
            f"{row.issues:32} {row.spearman:.4f}  {gain:28} {row.kendall - pooled[0].kendall:+.4f}"
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--claims", default=study.SOURCE)
    parser.add_argument("--split", action="store_true")
    parser.add_argument("--tools-dir")
    bench = Bench(parser.parse_args())
    pairs(bench)
    gains(bench)


if __name__ == "__main__":
    main()
