"""Blocks of the Markdown report, each with a frame and items that can be omitted singly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crscore.records import CommentResult, PseudoReference, Result, ReviewResult, Usefulness
from crscore.reports import view
from crscore.reports.escape import markdown, markdown_code, markdown_prose
from crscore.scoring.signature import shorten_signature

YES, NO = "✅", "➖"
SHOWN_UNADDRESSED = 3
"""Topics and pseudo-references that are listed openly; the others are folded."""
_PROSE_CHARS = 600


class Block(NamedTuple):
    """Part of the document that is well-formed with any of its items omitted."""

    head: str
    """Opening text."""
    items: tuple[str, ...] = ()
    """Whole list entries or table rows."""
    foot: str = "\n"
    """Closing text."""


def blocks(result: Result, heading: str | None) -> Iterator[Block]:
    """Make the blocks of one result, the most useful first.

    The short signature precedes the folded parts, so that it is never omitted.
    """
    title = f"### {heading or 'Review score'}\n\n"
    if result.usefulness is None:
        yield Block(f"{title}{_summary(result)}\n\n", foot="")
        yield _scores(result)
    else:
        yield Block(f"{title}{_verdict(result, result.usefulness)}\n\n", foot="")
    yield from _flagged(result)
    yield from _reviewers(result)
    missing = tuple(_unaddressed(result))
    yield from missing[:1]
    yield Block(
        f"<sub>{markdown_code(shorten_signature(result.signature), 600)}</sub>\n", foot="\n"
    )
    yield from missing[1:]
    yield from _folded_comments(result)
    yield from _folded_sentences(result)
    yield from _folded_notes(result)


def _verdict(result: Result, value: Usefulness) -> str:
    said = markdown(view.verdict(result, value, range(len(result.sentences))))
    word, rest = said.split(":", 1)
    return (
        f"**{word}:**{rest}\n\n<sub>From 0 to 100: about this change {view.hundred(value.about)}, "
        f"substance {view.hundred(value.substance)}; "
        f"published scores: {markdown(view.published_of(result))}.</sub>"
    )


def _summary(result: Result) -> str:
    scores = result.scores
    if scores.reason is not None:
        return f"No score for this review: {markdown(scores.reason.rstrip('.'))}."
    topic, addressed = view.reached(result)
    return (
        f"The review speaks about the change in {topic:,} of "
        f"{view.many(scores.sentences, 'sentence')} and addresses {addressed:,} of "
        f"{view.many(scores.references, 'point')} that a review of it should touch."
    )


def _scores(result: Result) -> Block:
    items = tuple(
        f"| {_bold(row.name, index == 0)} | {_bold(view.hundred(row.value), index == 0)} "
        f"| {row.basis} |\n"
        for index, row in enumerate(view.rows(result))
    )
    # Its rows are never omitted: they are few, short and part of the head.
    return Block("| Score | | |\n|:--|--:|:--|\n" + "".join(items))


def _flagged(result: Result) -> Iterator[Block]:
    found = view.flagged(result)
    if found is not None:
        yield Block(f"{found}.\n\n", foot="")


def _bold(text: str, strong: bool) -> str:
    return f"**{text}**" if strong else text


def _reviewers(result: Result) -> Iterator[Block]:
    if len(result.reviews) < 2:
        return
    yield Block(
        f"| Reviewer | {' | '.join(view.columns(result))} | Sentences | Words |\n"
        "|:--|--:|--:|--:|--:|--:|\n",
        tuple(
            f"| {markdown(view.author(item.author), 60)} | {_three(result, item)} "
            f"| {view.ratio_of_review(result, item)} | {item.baselines.words:,} |\n"
            for item in result.reviews
        ),
    )


def _unaddressed(result: Result) -> Iterator[Block]:
    missing = tuple(_entry(item) for _, item in view.unaddressed(result))
    if not missing:
        return
    first, rest = missing[:SHOWN_UNADDRESSED], missing[SHOWN_UNADDRESSED:]
    title = view.unaddressed_title(result).lower()
    yield Block(f"**Worth a look, {title} yet**\n\n", first)
    if rest:
        yield _folded(f"{len(rest)} more {title}", rest)


def _entry(item: PseudoReference) -> str:
    where = markdown_code(view.places(item, finder=True), 300) if item.spans else "whole change"
    return f"- {markdown_prose(item.text, _PROSE_CHARS)} ({where})\n"


def _folded_comments(result: Result) -> Iterator[Block]:
    attached = view.attached(result)
    if not attached:
        return
    rows = []
    for index in attached:
        item = result.comments[index]
        where = markdown_code(view.comment_place(item.comment), 300, in_table=True)
        rows.append(
            f"| {where} | {view.scope(item.scope)} | {_three(result, item)} "
            f"| {view.ratio_of_comment(result, item)} |\n"
        )
    table = (
        f"| Comment | Against | {' | '.join(view.columns(result))} | Sentences |\n"
        "|:--|:--|--:|--:|--:|--:|\n"
    )
    yield _folded("Each comment against the part it is on", tuple(rows), table)


def _folded_sentences(result: Result) -> Iterator[Block]:
    if not result.sentences:
        return
    entries = tuple(_sentence(result, index) for index in range(len(result.sentences)))
    what = "does" if result.readings else "addresses"
    yield _folded(f"Each sentence and what it {what}", entries)


def _sentence(result: Result, index: int) -> str:
    match, told = result.sentence_matches[index], view.reading(result, index)
    if told is None:
        number = f"{YES if match.matched else NO} {view.strength(result, match)}"
        kind, partner = "", ""
        if match.matched and match.index is not None:
            partner = result.references[match.index].text
    else:
        number = view.hundred(told.substance)
        kind, partner = f"{told.kind.value} ", view.subject(result, told)
    entry = f"- {number} {markdown_prose(result.sentences[index].text, _PROSE_CHARS)}"
    remark = view.remark(result, index)
    below = f"{kind}→ {markdown_prose(partner, _PROSE_CHARS)}" if partner else kind.strip()
    return "<br>".join(filter(None, [entry, remark, below])) + "\n"


def _folded_notes(result: Result) -> Iterator[Block]:
    notes = [f"- {markdown_prose(note, _PROSE_CHARS)}\n" for note in view.notes(result)]
    base = result.baselines
    notes.append(
        f"- Baselines beside the scores: {view.many(base.words, 'word')}, "
        f"{view.percent(base.repeated_tokens)} of the diff's tokens repeated.\n"
    )
    notes.append(f"- {view.legend(result, YES)}\n")
    notes.append(f"- Signature: {markdown_code(result.signature, 600)}\n")
    yield _folded("Notes", tuple(notes))


def _folded(title: str, items: tuple[str, ...], before: str = "") -> Block:
    """Return a folded part with a trusted `title`; blank lines make Markdown resume."""
    head = f"<details><summary>{title}</summary>\n\n{before}"
    return Block(head, items, "\n</details>\n\n")


def _three(result: Result, item: CommentResult | ReviewResult) -> str:
    return " | ".join(markdown(value, 60) for value in view.three(result, item))
