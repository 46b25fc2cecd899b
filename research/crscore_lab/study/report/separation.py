"""Report of a run over comments: own change against another, and labels."""

from collections.abc import Iterator

from crscore.reports.blocks import make_table
from crscore.reports.layout import Card, Report, Section
from crscore_lab.formats import DASH, columns, count, number, percent, ranged, whole
from crscore_lab.study.measures.separation import Estimate, Separation, SeparationResult


def separation_report(result: SeparationResult) -> Report:
    """Lay out a run; parts that were not measured have no section."""
    facts = [f"{count(result.comments, 'comment')} on {count(result.changes, 'change')}"]
    if result.resamples:
        facts.append(
            f"95 % intervals from {result.resamples:,} draws of whole groups by {result.group} "
            f"({result.groups:,}), seed {result.seed}"
        )
    facts.append(
        "AUC: the chance that a true one exceeds a false one. A tie counts half, so chance is 0.5. "
        "An abstention counts as 0, the lowest value."
    )
    return Report(
        title="Validation",
        heading="What the numbers separate in comments without ratings",
        facts=tuple(facts),
        notes=result.notes,
        cards=tuple(_cards(result)),
        sections=tuple(_sections(result)),
        signatures=(result.signature,),
    )


def _cards(result: SeparationResult) -> Iterator[Card]:
    if result.pairs and (wins := result.pairs.numbers[0].paired):
        name = result.pairs.numbers[0].number
        yield Card("Own over other", percent(wins.value), f"of pairs, by {name}; chance: 50 %")
    for label in result.labels:
        row = label.numbers[0]
        yield Card(f"Label {label.name}", number(row.auc.value), f"AUC by {row.number}")


def _sections(result: SeparationResult) -> Iterator[Section]:
    if pairs := result.pairs:
        intro = (
            f"{count(pairs.true, 'comment')} on their own changes (true) and {pairs.false:,} times "
            f"on another one of the same {result.within or 'language'} (false); "
            f"{whole(pairs.abstained)} left out for lack of another. Wins: AUC within a comment."
        )
        title = "Is a comment's own change separated from another?"
        yield _section("pairs", title, intro, pairs, "wins")
    for index, label in enumerate(result.labels):
        intro = f"{label.true:,} true, {label.false:,} false, {label.abstained:,} abstained."
        title = f"Are comments with {label.name} separated from those without it?"
        paired = f"within {result.within}" if result.within else ""
        yield _section(f"label-{index}", title, intro, label, paired)


def _section(
    anchor: str, title: str, intro: str, separation: Separation, paired_header: str
) -> Section:
    def estimate(value: Estimate | None) -> str:
        return DASH if value is None else ranged(value.value, value.low, value.high)

    paired = [(paired_header, lambda row: estimate(row.paired))] if paired_header else []
    table = make_table(
        title,
        separation.numbers,
        *columns(str, Number="number"),
        ("AUC", lambda row: estimate(row.auc)),
        *paired,
        *columns(whole, "abstained"),
    )
    return Section(anchor, separation.name, title, (intro,), tables=(table,))
