"""Report of a run over comments: own change against another, and labels."""

from __future__ import annotations

from collections.abc import Iterator

from crscore.lab.study.formats import NOTHING, count, number, percent, ranged, whole
from crscore.lab.study.separation import Estimate, Separation, SeparationResult
from crscore.reports.layout import Card, Report, Section, make_table


def separation_report(result: SeparationResult) -> Report:
    """Lay out a run; parts that were not measured have no section."""
    facts = [f"{count(result.comments, 'comment')} on {count(result.changes, 'change')}"]
    if result.limit:
        facts.append(f"at most {result.limit:,} drawn of each {result.within or 'language'}")
    if result.resamples:
        facts.append(
            f"95 % intervals from {result.resamples:,} draws of whole groups by {result.group} "
            f"({result.groups:,}), seed {result.seed}"
        )
    return Report(
        title="Validation",
        heading="What the numbers tell apart in comments without ratings",
        facts=(
            *facts,
            "AUC: the chance that a true one has more than a false one. A tie counts half, so a "
            "coin has 0.5. A score that abstained counts as 0, the lowest.",
        ),
        notes=result.notes,
        cards=tuple(_cards(result)),
        sections=tuple(_sections(result)),
        signatures=(result.signature,),
    )


def _cards(result: SeparationResult) -> Iterator[Card]:
    if result.pairs and (wins := result.pairs.numbers[0].paired):
        first = result.pairs.numbers[0].number
        yield Card("Own over other", percent(wins.value), f"of pairs, by {first}; a coin: 50 %")
    for label in result.labels:
        top = label.numbers[0]
        yield Card(f"Label {label.name}", number(top.auc.value), f"AUC by {top.number}")


def _sections(result: SeparationResult) -> Iterator[Section]:
    if result.pairs:
        found = result.pairs
        intro = (
            f"{count(found.true, 'comment')} on their own changes (true) and {found.false:,} times "
            f"on another one of the same {result.within or 'language'} (false); "
            f"{whole(found.abstained)} left out for having none. Wins: AUC within a comment."
        )
        yield _section(
            "pairs", "Is a comment's own change told from another?", intro, found, "wins"
        )
    for index, label in enumerate(result.labels):
        intro = f"{label.true:,} true, {label.false:,} false, {label.abstained:,} abstained."
        title = f"Are comments of which {label.name} is true told from others?"
        paired = f"within {result.within}" if result.within else ""
        yield _section(f"label-{index}", title, intro, label, paired)


def _section(anchor: str, title: str, intro: str, found: Separation, paired: str) -> Section:
    table = make_table(
        title,
        found.numbers,
        ("Number", lambda row: row.number),
        ("AUC", lambda row: _ranged(row.auc)),
        *([(paired, lambda row: _ranged(row.paired))] if paired else []),
        ("abstained", lambda row: whole(row.abstained)),
    )
    return Section(anchor, found.name, title, (intro,), tables=(table,))


def _ranged(one: Estimate | None) -> str:
    return NOTHING if one is None else ranged(one.value, one.low, one.high)
