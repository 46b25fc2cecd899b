"""The blocks of the Markdown report: each with a frame and items that can be left out singly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crscore.reports import _view
from crscore.reports._escape import markdown, markdown_code, markdown_prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.records import Match, PseudoReference, Result, Scores

SHOWN_UNADDRESSED = 3
"""Pseudo-references that are listed openly; the others are folded."""
_PROSE_CHARS = 600


class Block(NamedTuple):
    """A part of the document that is well-formed with any of its items left out."""

    head: str
    """What opens it."""
    items: tuple[str, ...] = ()
    """Whole list entries or table rows."""
    foot: str = "\n"
    """What closes it."""


def blocks(result: Result, heading: str | None) -> Iterator[Block]:
    """Make the blocks of one result, the most useful first.

    The signature stands before the folded parts, so that it is never what is left out.
    """
    yield Block(f"### {heading or 'Review score'}\n\n{_summary(result)}\n\n", foot="")
    yield _scores(result.scores)
    yield from _reviewers(result)
    yield from _unaddressed(result)
    yield Block(f"<sub>{markdown_code(result.signature, 600)}</sub>\n", foot="\n")
    yield from _folded_comments(result)
    yield from _folded_sentences(result)
    yield from _folded_notes(result)


def _summary(result: Result) -> str:
    scores = result.scores
    if scores.reason is not None:
        return f"No score for this review: {markdown(scores.reason.rstrip('.'))}."
    on_topic = f"{_view.count(scores.matched_sentences)} of "
    on_topic += f"{_view.many(scores.sentences, 'sentence')}"
    addressed = f"{_view.count(scores.matched_references)} of "
    addressed += f"{_view.many(scores.references, 'point')}"
    return (
        f"The review speaks about the change in {on_topic} and addresses {addressed} "
        f"that a review of it should touch."
    )


def _scores(scores: Scores) -> Block:
    items = tuple(
        f"| {_bold(row.name, index == 0)} | {_bold(_view.number(row.value), index == 0)} "
        f"| {row.basis} |\n"
        for index, row in enumerate(_view.rows(scores))
    )
    # Its rows are never left out: they are few, short and part of the head.
    return Block("| Score | | |\n|:--|--:|:--|\n" + "".join(items))


def _bold(text: str, strong: bool) -> str:
    return f"**{text}**" if strong else text


def _reviewers(result: Result) -> Iterator[Block]:
    if len(result.reviews) < 2:
        return
    yield Block(
        "| Reviewer | Relevance | Conciseness | Comprehensiveness | Sentences | Words |\n"
        "|:--|--:|--:|--:|--:|--:|\n",
        tuple(
            f"| {markdown(_view.author(item.author), 60)} | {_three(item.scores)} "
            f"| {_ratio(item.scores)} | {item.baselines.words:,} |\n"
            for item in result.reviews
        ),
    )


def _unaddressed(result: Result) -> Iterator[Block]:
    missing = [result.references[index] for index in _view.unaddressed(result)]
    if not missing:
        return
    first, rest = missing[:SHOWN_UNADDRESSED], missing[SHOWN_UNADDRESSED:]
    yield Block("**Worth a look, no sentence addresses it yet**\n\n", tuple(map(_entry, first)))
    if rest:
        yield _folded(f"{len(rest)} more not addressed", tuple(map(_entry, rest)))


def _entry(item: PseudoReference) -> str:
    where = markdown_code(_view.places(item), 300) if item.spans else "whole change"
    return f"- {markdown_prose(item.text, _PROSE_CHARS)} ({where})\n"


def _folded_comments(result: Result) -> Iterator[Block]:
    attached = _view.attached(result)
    if not attached:
        return
    rows = []
    for index in attached:
        item = result.comments[index]
        where = markdown_code(_view.comment_place(item.comment), 300, in_table=True)
        rows.append(
            f"| {where} | {_view.scope(item.scope)} | {_three(item.scores)} "
            f"| {_ratio(item.scores)} |\n"
        )
    table = (
        "| Comment | Against | Relevance | Conciseness | Comprehensiveness | Sentences |\n"
        "|:--|:--|--:|--:|--:|--:|\n"
    )
    yield _folded("Each comment against the part it is on", tuple(rows), table)


def _folded_sentences(result: Result) -> Iterator[Block]:
    if not result.sentences:
        return
    entries = tuple(
        _sentence(result, sentence.text, match)
        for sentence, match in zip(result.sentences, result.sentence_matches, strict=True)
    )
    yield _folded("Each sentence and what it addresses", entries)


def _sentence(result: Result, text: str, match: Match) -> str:
    mark = "✅" if match.matched else "➖"
    entry = f"- {mark} {_view.number(match.similarity)} {markdown_prose(text, _PROSE_CHARS)}"
    if match.matched and match.index is not None:
        partner = markdown_prose(result.references[match.index].text, _PROSE_CHARS)
        entry += f"<br>→ {partner}"
    return entry + "\n"


def _folded_notes(result: Result) -> Iterator[Block]:
    notes = [f"- {markdown_prose(note, _PROSE_CHARS)}\n" for note in _view.notes(result)]
    base = result.baselines
    notes.append(
        f"- Baselines beside the scores: {_view.many(base.words, 'word')}, "
        f"{_view.percent(base.repeated_tokens)} of the diff's tokens repeated.\n"
    )
    notes.append(f"- Cosine threshold {result.threshold:.4g}.\n")
    yield _folded("Notes", tuple(notes))


def _folded(title: str, items: tuple[str, ...], before: str = "") -> Block:
    """A part behind a fold; `title` is our own text. Blank lines let Markdown begin again."""
    head = f"<details><summary>{title}</summary>\n\n{before}"
    return Block(head, items, "\n</details>\n\n")


def _three(scores: Scores) -> str:
    values = (scores.relevance, scores.conciseness, scores.comprehensiveness)
    return " | ".join(_view.number(value) for value in values)


def _ratio(scores: Scores) -> str:
    return f"{_view.count(scores.matched_sentences)} of {scores.sentences:,}"
