"""Report of a run over comments: own change against another, and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.study.formats import NOTHING, count, number, percent, ranged, whole
from crscore.study.layout import Card, Report, Section, Table, make_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.study.separation import Estimate, Label, OwnOrOther, SeparationResult

_ABSTAINED: Final = (
    "A number that a text or a change does not get (abstained) counts as 0, the lowest."
)


def separation_report(result: SeparationResult) -> Report:
    """Lay out a run; parts that were not measured have no section."""
    pairs, labels = result.pairs, result.labels
    return Report(
        title="Validation",
        heading="What the numbers tell apart in comments of people",
        facts=tuple(_facts(result)),
        notes=result.notes,
        cards=tuple(_cards(result)),
        sections=(
            *((_pairs(pairs),) if pairs else ()),
            *((_labels(labels, result.within),) if labels else ()),
        ),
        signatures=(result.signature,),
    )


def _facts(result: SeparationResult) -> Iterator[str]:
    data, draws = result.data, result.bootstrap
    some = "" if data.used == data.comments else f" of {data.comments:,}"
    yield f"{data.used:,}{some} comments on {count(data.changes, 'change')}"
    if draws.resamples:
        yield (
            f"95 % intervals from {draws.resamples:,} draws of whole groups by {draws.group} "
            f"({draws.groups:,}), seed {draws.seed}"
        )


def _cards(result: SeparationResult) -> Iterator[Card]:
    if result.pairs:
        first = result.pairs.numbers[0]
        yield Card(
            "Own over other", percent(first.wins.value), f"wins by {first.number}; coin: 50 %"
        )
    for label in result.labels:
        top = label.numbers[0]
        yield Card(f"Label {label.label}", number(top.auc.value), f"AUC by {top.number}; coin: 0.5")


def _pairs(pairs: OwnOrOther) -> Section:
    title = "Is a comment's own change told from another?"
    intro = (
        f"{count(pairs.comments, 'comment')} against {count(pairs.pairs, 'other change')} of the "
        f"same {pairs.within}, never the same patch. AUC: own over any other; wins: a "
        "comment's own over its others. A tie counts half, so a coin has 0.5."
    )
    table = make_table(
        title,
        pairs.numbers,
        ("Number", lambda row: row.number),
        ("AUC", lambda row: _ranged(row.auc)),
        ("wins", lambda row: _ranged(row.wins)),
        ("abstained", lambda row: whole(row.abstained)),
        ("on other", lambda row: whole(row.abstained_other)),
        main=lambda row: row is pairs.numbers[0],
    )
    left = f"{count(pairs.left_out, 'comment')} left out: no other change of the {pairs.within}."
    notes = (_ABSTAINED, *((left,) if pairs.left_out else ()))
    return Section("pairs", "Own or other", title, (intro,), tables=(table,), notes=notes)


def _labels(labels: tuple[Label, ...], within: str | None) -> Section:
    title = "Are comments with a label told from those without it?"
    counts = make_table(
        "Labels",
        labels,
        ("Label", lambda row: row.label),
        ("true", lambda row: whole(row.true)),
        ("false", lambda row: whole(row.false)),
        ("abstained", lambda row: whole(row.abstained)),
    )
    rows = list(zip(*(one.numbers for one in labels), strict=True))
    header = ("Number", *(one.label for one in labels))
    overall = Table(
        "AUC over all comments",
        header,
        tuple((row[0].number, *(_ranged(one.auc) for one in row)) for row in rows),
    )
    inside = Table(
        f"AUC over pairs of one {within}",
        header,
        tuple((row[0].number, *(_ranged(one.auc_within) for one in row)) for row in rows),
    )
    tables = (counts, overall, *((inside,) if within else ()))
    return Section("labels", "Labels", title, tables=tables, notes=(_ABSTAINED,))


def _ranged(one: Estimate | None) -> str:
    return NOTHING if one is None else ranged(one.value, one.low, one.high)
