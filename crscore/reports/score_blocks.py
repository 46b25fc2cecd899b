"""Blocks of the report on one review, shared by the terminal, the page and Markdown."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from crscore import records
from crscore.records import PseudoReference, Result
from crscore.reports import blocks, view
from crscore.reports.blocks import Line, Run

Link: TypeAlias = Callable[[int], tuple[Run, ...]]
"""Function that takes the index of a comment and returns the text in front of its location."""
_HINT: Final = "in the html and json reports"
_ABOUT: Final = "likely about this change and no other"
_GOOD_FROM: Final = 0.6
_FAIR_FROM: Final = 0.3
"""A percentile, probability or mean degree, in [0, 1], is fair from this value on, and good from
`_GOOD_FROM` on.
"""

_VAGUE: Final = (records.Subject.CHANGE, records.Subject.ELSEWHERE)
"""Subjects that are not shown, because they say little about a remark."""
WARNING: Final = "fair flag"
"""Tone of a refuted remark: `fair` for a terminal, and a CSS class for pages."""
_LEVEL_TONES: Final = dict(zip(records.Importance, ("bad", "fair", "", "dim"), strict=True))
MAX_PROOF_PLACES: Final = 3
"""Maximum number of named locations that prove a verdict; the others are counted."""


def make_headline(result: Result) -> Iterator[blocks.Paragraph]:
    """Yield the first lines of a report.

    These are the usefulness and how it adds up. Without usefulness, they say why there is no score
    or, if there are published scores, how many sentences and points match.
    """
    value, reason = result.usefulness, result.scores.reason
    if value is not None:
        word, explanation = view.verdict(value).split(":", 1)
        tone = _tone(view.standing(value) or 0.0)
        yield blocks.Paragraph((Run(f"{word}:", f"strong {tone}"), Run(explanation)))
        if text := view.sum_of_value(result):
            yield blocks.Paragraph(f"{text}.", "dim")
        if text := view.count_verdicts(result):
            yield blocks.Paragraph(text, "dim")
        return
    if reason is not None:
        yield blocks.Paragraph(f"No score: {reason.rstrip('.')}.", "strong fair")
        return
    points = view.points(result)
    yield blocks.Paragraph(
        f"The review is about the change in {view.count_on_topic(result):,} of "
        f"{view.count_noun(len(result.sentences), 'sentence')} and addresses "
        f"{sum(point.addressed for point in points):,} of "
        f"{view.count_noun(len(points), 'point')} that a review of it should touch."
    )


def make_measures(result: Result, *, standing: bool = False) -> blocks.Measures:
    """Return the headline numbers.

    Args:
        result: The result. The numbers are those of its usefulness or, if that is unknown, its
            published scores.
        standing: Whether to include the standing, which the first lines also state.
    """
    value = result.usefulness
    rows: Sequence[blocks.Measure] = view.published_measures(result)
    if value is not None:
        share = view.standing(value)
        comparison = value.word if share is None else f"better than this share of {value.against}"
        rows = (
            blocks.Measure("Usefulness", share, comparison),
            blocks.Measure("About this change", value.about, _ABOUT),
            blocks.Measure("Importance", value.importance, view.importance(result)),
        )[0 if standing else 1 :]
    return blocks.Measures(tuple(replace(row, tone=_tone(row.value)) for row in rows))


def list_facts(result: Result) -> Iterator[str]:
    """Yield up to three lines: the published scores, the baselines, and the sizes of the input."""
    if result.usefulness is not None:
        yield f"published scores: {view.format_published(result.scores)}"
    yield f"baselines: {view.baselines(result)}"
    sizes = [view.describe_size(result), view.count_noun(len(result.sentences), "sentence")]
    if len(result.reviews) > 1:
        sizes.append(view.count_noun(len(result.reviews), "reviewer"))
    yield " · ".join(sizes)


def make_reviewers(result: Result) -> Iterator[blocks.Table]:
    """Yield the table of reviewers if there are several, otherwise nothing."""
    if len(result.reviews) < 2:
        return
    rows: list[tuple[Line, ...]] = []
    for review in result.reviews:
        texts, values = view.score_cells(result, review), view.measures(result, review)
        cells = [(Run(text, _tone(value)),) for text, value in zip(texts, values, strict=True)]
        on_topic, words = view.ratio_of_review(result, review), f"{review.baselines.words:,}"
        rows.append(((Run(view.author(review.author)),), *cells, on_topic, words))
    header = ("Reviewer", *view.columns(result), "Sentences", "Words")
    yield blocks.Table("Reviewers", header, tuple(rows))


def make_unaddressed(
    result: Result,
    *,
    max_open: int | None = None,
    place: Callable[[int, PseudoReference], Line] = lambda _, item: (
        Run(view.places(item, finder=True), "place"),
    ),
) -> Iterator[blocks.Heading | blocks.Items | blocks.Paragraph]:
    """Yield the list of topics and pseudo-references that no sentence addresses.

    A line below the list names the small topics, which are not counted.

    Args:
        result: The result.
        max_open: Maximum number of entries that are not folded; None for all.
        place: Function that takes the index of a pseudo-reference and the pseudo-reference, and
            formats its location.
    """
    title = view.unaddressed_title(result)
    items = [
        blocks.Item(point.text, place=place(index, point))
        for index, point in view.list_unaddressed(result)
    ]
    yield from blocks.make_list(title, items, noun=title.lower(), max_open=max_open, hint=_HINT)
    if items and (text := view.small_changes(result)):
        yield blocks.Paragraph(text, "dim")


def make_remarks(
    result: Result, *, max_open: int | None = None, link: Link = lambda _: ()
) -> Iterator[blocks.Heading | blocks.Items]:
    """Yield the list of remarks, each with its stance, importance, contribution and subject.

    Args:
        result: The result.
        max_open: Maximum number of remarks that are not folded; None for all.
        link: Function that takes the index of a comment and returns the text in front of its
            location.
    """
    shown_claims: set[int] = set()
    items = []
    for number, (remark, points) in enumerate(view.rank_remarks(result), start=1):
        comment = result.comments[remark.comment].comment
        place: list[Run | str] = [*link(remark.comment)]
        if len(result.reviews) > 1:
            joint = " on " * (comment.path is not None)
            place.append(Run(f"{view.author(comment.author)}{joint}", "dim"))
        if comment.path is not None:
            place.append(Run(view.comment_place(comment), "place"))
        is_refuted = view.is_refuted(remark)
        is_empty = not (remark.is_valuable or is_refuted)
        tone = WARNING if is_refuted else "dim" if is_empty else _LEVEL_TONES[remark.level]
        facts: list[Run | str] = [Run(view.describe_remark(remark, points), tone)]
        reading = view.find_subject_reading(result, remark)
        if reading.subject not in _VAGUE:
            facts += [Run(" · "), _subject(result, reading, shown_claims)]
        flags = dict.fromkeys(filter(None, (view.flag(result, at) for at in remark.sentences)))
        facts += [Run(f" · {flag}", "fair") for flag in flags]
        below: list[Line] = [tuple(facts)]
        if remark.receipt is not None:
            lines = view.list_spans(remark.receipt.lines, MAX_PROOF_PLACES)
            below.append(make_receipt(remark.receipt, (Run(lines, "place"),) * bool(lines)))
        text = view.remark_text(result, remark)
        items.append(
            blocks.Item(
                (Run(text, "dim"),) if is_empty else text,
                (Run(f"{number}", f"strong {tone}"),),
                tuple(place),
                tuple(below),
            )
        )
    title = view.remarks_title(result.remarks)
    yield from blocks.make_list(title, items, noun="remarks", max_open=max_open, hint=_HINT)


def make_receipt(receipt: Any, places: Line) -> Line:
    """Return a line that says whether the code confirms or refutes a remark, and why.

    Args:
        receipt: Receipt (verdict with its proof) of a remark in a result or in an overview.
        places: Text that names the lines that prove the verdict; empty for none.
    """
    fact = receipt.fact.rstrip(".")
    proof = (Run(" ("), *places, Run(")")) if places else ()
    if receipt.verdict is records.Verdict.CONFIRMED:
        return Run("confirmed: ", "good"), fact, *proof
    if not receipt.says:
        return Run("refuted: ", WARNING), fact, *proof
    contrast = Run("; the code says: ", WARNING)
    return Run("says that ", WARNING), receipt.says, contrast, fact, *proof


def _subject(result: Result, reading: records.Reading, shown_claims: set[int]) -> str:
    """Describe the subject of a sentence; add the index of its claim, if any, to `shown_claims`."""
    index = reading.reference
    if index is None or result.references[index].topic is not None:
        return view.subject(result, reading)
    # A claim is shown by its number; the first time, its text follows.
    text = "" if index in shown_claims else f": {result.references[index].text}"
    shown_claims.add(index)
    return f"R{index + 1}{text}"


def _tone(value: float | None) -> str:
    if value is None:
        return "dim"
    return "good" if value >= _GOOD_FROM else "fair" if value >= _FAIR_FROM else "bad"
