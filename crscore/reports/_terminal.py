"""Blocks of the terminal report, from the scores to the signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crscore.reports import escape, view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import OverflowMethod, RenderableType

    from crscore.records import Match, Result, Scores

SHORT_UNADDRESSED = 8
"""Topics and pseudo-references that the short form lists as not addressed."""
SHORT_COMMENTS = 8
"""Comments that the short form's table lists."""
YES, NO = "✓", "✗"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_GOOD, _FAIR, _POOR = "green", "yellow", "red"
_SHARE_TONES = (0.6, 0.3)
"""Thresholds from which a score that counts matches is good, and fair."""
_GRADED_TONES = (0.35, 0.15)
"""The same for a mean of degrees, which are expectations and avoid the extremes: human ratings of 4
and 5 have a median near the first, ratings of 1 are mostly below the second
(docs/design/011-calibrated.md)."""
_TITLE, _DIM, _CODE = "bold", "dim", "cyan"


def blocks(
    result: Result, heading: str | None, *, explain: bool, width: int
) -> Iterator[RenderableType]:
    """Make the blocks of one result in reading order.

    Args:
        result: What to show.
        heading: Heading line, used when there are several results.
        explain: Show everything instead of the short form.
        width: Columns, at least 60.
    """
    yield _headline(result, heading)
    yield ""
    yield _scores(result, width)
    if result.scores.reason is not None:
        reason = Text(f"No score: {escape.one_line(result.scores.reason).rstrip('.')}.")
        yield Padding(reason, (1, 0, 0, 2))
    yield _baselines(result)
    yield from _reviewers(result, width)
    yield from _comments(result, width, explain=explain)
    if explain:
        yield from _sentences_in_full(result)
        yield from _references_in_full(result)
    else:
        yield from _sentences(result, width)
    yield from _unaddressed(result, explain=explain)
    yield from _notes(result)
    yield ""
    # Never wrapped, so that it can be copied and compared.
    yield Text(escape.one_line(result.signature), style=_DIM, overflow="ignore", no_wrap=True)
    if heading:
        yield ""


def _headline(result: Result, heading: str | None) -> Text:
    facts = [view.change(result), view.many(len(result.sentences), "sentence")]
    if len(result.reviews) > 1:
        facts.append(view.many(len(result.reviews), "reviewer"))
    return Text.assemble((f"{heading or 'Review score'}", _TITLE), ("  " + " · ".join(facts), _DIM))


def _scores(result: Result, width: int) -> RenderableType:
    """Yield the three scores with bars; a reason when there are none."""
    table = _grid()
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    table.add_column()
    bar_width = 24 if width >= 100 else 16 if width >= 80 else 6
    for row in view.rows(result):
        table.add_row(
            Text(row.name, style=_TITLE if row.name == "Relevance" else ""),
            Text(view.number(row.value), style=f"bold {_tone(result, row.value)}"),
            _bar(row.value, bar_width, _tone(result, row.value)),
            Text(row.basis, style=_DIM),
        )
    return Padding(table, (0, 0, 0, 2))


def _baselines(result: Result) -> RenderableType:
    base = result.baselines
    text = view.many(base.words, "word")
    if base.repeated_tokens is not None:
        text += f", {view.percent(base.repeated_tokens)} of the diff's tokens repeated"
    return Padding(Text(f"Baselines          {text}", style=_DIM), (0, 0, 0, 2))


def _reviewers(result: Result, width: int) -> Iterator[RenderableType]:
    if len(result.reviews) < 2:
        return
    table = _table(width, "Reviewer", "Rel", "Con", "Comp", "Sentences", "Words")
    for review in result.reviews:
        table.add_row(
            Text(escape.one_line(view.author(review.author), width)),
            *_three(result, review.scores),
            view.ratio_of_review(result, review),
            f"{review.baselines.words:,}",
        )
    yield from _section("Reviewers", table)


def _comments(result: Result, width: int, *, explain: bool) -> Iterator[RenderableType]:
    attached = view.attached(result)
    if not attached:
        return
    shown = attached if explain else attached[:SHORT_COMMENTS]
    table = _table(width, "Comment on", "Rel", "Con", "Comp", "Sentences", "Against")
    for index in shown:
        item = result.comments[index]
        table.add_row(
            _tail(view.comment_place(item.comment), _first_width(width, 5)),
            *_three(result, item.scores),
            view.ratio_of_comment(result, item),
            view.scope(item.scope),
        )
    yield from _section("Comments, each against the part it is on", table)
    yield from _more(len(attached) - len(shown))


def _sentences(result: Result, width: int) -> Iterator[RenderableType]:
    """Yield one line for each sentence, with its flag or its closest pseudo-reference."""
    if not result.sentences:
        return
    table = _grid()
    for _ in range(2):
        table.add_column(no_wrap=True)
    # rich distributes the remaining width by the ratios.
    table.expand = True
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=11)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=9)
    for index, match in enumerate(result.sentence_matches):
        remark = view.remark(result, index)
        partner = "" if match.index is None else view.in_short(result.references[match.index])
        table.add_row(
            _mark(match),
            _strength(result, match),
            _prose(result.sentences[index].text, width, overflow="ellipsis"),
            _prose(partner, width, "" if match.matched else _DIM, overflow="ellipsis")
            if remark is None
            else Text(remark, style=_FAIR, overflow="ellipsis"),
        )
    yield from _section(_sentences_title(result), table)


def _sentences_in_full(result: Result) -> Iterator[RenderableType]:
    if not result.sentences:
        return
    yield from _section(_sentences_title(result), None)
    yield Padding(Text(view.legend(result, YES), style=_DIM), (0, 0, 1, 2))
    for index, item in enumerate(result.comments):
        where = escape.one_line(view.comment_place(item.comment), 300)
        who = escape.one_line(view.author(item.comment.author), 60)
        if index:
            yield ""
        yield Padding(Text.assemble(who, (f" on {where}", _DIM), overflow="fold"), (0, 0, 0, 2))
        table = _numbered()
        for at in item.sentences:
            match = result.sentence_matches[at]
            text = _prose(result.sentences[at].text)
            table.add_row(_mark(match), _strength(result, match), f"S{at + 1}", text)
            remark = view.remark(result, at)
            if remark is not None:
                table.add_row("", "", "", Text(remark, style=_FAIR))
            if remark is None or match.degree:
                table.add_row("", "", "", _partner(result, match))
        yield Padding(table, (0, 0, 0, 2))
        yield from _suggested(item.suggestions)


def _suggested(suggestions: tuple[str, ...]) -> Iterator[RenderableType]:
    """Yield suggested code, which is not a sentence and is not scored."""
    for code in suggestions:
        lines = [escape.code_line(line) for line in code.rstrip("\n").split("\n")[:40]]
        text = Text("suggested code, kept apart:", style=_DIM, overflow="fold")
        for line in lines:
            text.append(f"\n  │ {line}", style=_CODE)
        yield Padding(text, (0, 0, 0, 10))


def _partner(result: Result, match: Match) -> Text:
    if match.index is None and match.degree is not None:
        return Text("of the older version it was written on", style=_DIM)
    if match.index is None:
        return Text("no pseudo-reference to compare with", style=_DIM)
    arrow = "→" if match.matched else "closest:"
    text = Text.assemble((f"{arrow} R{match.index + 1} ", _DIM), overflow="fold")
    return text.append_text(_prose(result.references[match.index].text, style=_DIM))


def _references_in_full(result: Result) -> Iterator[RenderableType]:
    """Yield every pseudo-reference with its places."""
    if not result.references:
        return
    yield from _section("Pseudo-references, what a good review should touch", None)
    table = _numbered()
    for index, item in enumerate(result.references):
        match = result.reference_matches[index]
        row = (_mark(match), _strength(result, match), f"R{index + 1}", _prose(item.text))
        table.add_row(*row)
        facts = [
            item.kind.value,
            f"weight {view.number(item.weight)}",
            view.places(item, most=5, before=True),
            f"by {item.source}",
        ]
        if match.index is not None:
            rank = "best" if match.matched else "closest"
            facts.append(f"{rank} sentence S{match.index + 1}")
        if item.topic is not None:
            facts.append(f"part of {view.label(item.topic)}")
        if item.identifiers:
            facts.append("names " + ", ".join(item.identifiers[:8]))
        if not item.counted:
            facts.append("not counted: over the limit")
        table.add_row("", "", "", Text(escape.one_line(" · ".join(facts), 600), style=_DIM))
        if item.reading:
            heard = escape.one_line(f"the encoder read: {item.reading}", 600)
            table.add_row("", "", "", Text(heard, style=_DIM))
    yield Padding(table, (0, 0, 0, 2))


def _unaddressed(result: Result, *, explain: bool) -> Iterator[RenderableType]:
    missing = view.unaddressed(result)
    if not missing:
        return
    title = view.unaddressed_title(result)
    yield from _section(f"{title} by any sentence ({len(missing)})", None)
    shown = missing if explain else missing[:SHORT_UNADDRESSED]
    table = _grid()
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for index, item in shown:
        bullet = Text.assemble(("•", _POOR))
        if view.graded(result):
            bullet.append(f"  {view.number(result.reference_matches[index].degree)}", style=_DIM)
        table.add_row(bullet, _prose(item.text, 400))
        table.add_row("", Text(escape.one_line(view.places(item, finder=True), 300), style=_DIM))
    yield Padding(table, (0, 0, 0, 2))
    yield from _more(len(missing) - len(shown))


def _notes(result: Result) -> Iterator[RenderableType]:
    notes = view.notes(result)
    if not notes:
        return
    yield ""
    for note in notes:
        yield Text(f"Note: {escape.one_line(note)}", style=_DIM, overflow="fold")


def _section(title: str, body: RenderableType | None) -> Iterator[RenderableType]:
    yield ""
    yield Text(title, style=_TITLE)
    if body is not None:
        yield Padding(body, (0, 0, 0, 2))


def _more(hidden: int) -> Iterator[RenderableType]:
    if hidden > 0:
        yield Text(f"    … and {hidden:,} more, shown with --explain", style=_DIM)


def _sentences_title(result: Result) -> str:
    number = "0 to 1: how far"
    if result.threshold is not None:
        number = f"threshold {result.threshold:.4g}"
    return f"Sentences  {YES} addresses a pseudo-reference  {NO} does not ({number})"


def _numbered() -> Table:
    """Return a grid of mark, strength, number and text."""
    table = _grid()
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    return table


def _grid() -> Table:
    return Table.grid(padding=(0, 2, 0, 0))


_CELL = 6
_WIDE_CELL = 12


def _first_width(width: int, others: int) -> int:
    """Return the width of the first column beside three scores and the wider last column."""
    return max(width - 2 - 3 * _CELL - (others - 3) * _WIDE_CELL - 2, 8)


def _table(width: int, first: str, *others: str) -> Table:
    """Return a table whose number columns stay aligned however long the first column's text is."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style=_DIM)
    most = _first_width(width, len(others))
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=most)
    for at, name in enumerate(others):
        if name == "Against":
            table.add_column(name, no_wrap=True)
        else:
            table.add_column(
                name, no_wrap=True, justify="right", min_width=4 if at < 3 else len(name)
            )
    return table


def _tail(text: str, width: int) -> Text:
    """Return a path and line, truncated at the start: the file name and line matter more."""
    line = escape.one_line(text)
    return Text(line if len(line) <= width else f"…{line[1 - width :]}", overflow="ellipsis")


def _three(result: Result, scores: Scores) -> tuple[Text, Text, Text]:
    values = (scores.relevance, scores.conciseness, scores.comprehensiveness)
    rel, con, comp = (Text(view.number(value), style=_tone(result, value)) for value in values)
    return rel, con, comp


def _bar(value: float | None, width: int, tone: str) -> Text:
    """Return a bar drawn in eighths, so that 0.61 and 0.63 differ."""
    if value is None:
        return Text("·" * width, style=_DIM)
    eighths = round(value * width * 8)
    full, rest = divmod(eighths, 8)
    filled = "█" * full + (_EIGHTHS[rest] if rest else "")
    return Text.assemble((filled, tone), ("·" * (width - len(filled)), _DIM))


def _tone(result: Result, value: float | None) -> str:
    if value is None:
        return _DIM
    good, fair = _GRADED_TONES if view.graded(result) else _SHARE_TONES
    return _GOOD if value >= good else _FAIR if value >= fair else _POOR


def _mark(match: Match) -> Text:
    return Text(YES, style=_GOOD) if match.matched else Text(NO, style=_POOR)


def _strength(result: Result, match: Match) -> Text:
    value = view.number(view.strength(result, match))
    return Text(value, style="" if match.matched else _DIM)


def _prose(
    text: str,
    limit: int = escape.MAX_ITEM_CHARS,
    style: str = "",
    overflow: OverflowMethod = "fold",
) -> Text:
    """Return prose with its code spans coloured; the backticks stay for output without colour."""
    parts = Text(style=style, overflow=overflow)
    for piece in escape.pieces(text, limit):
        if piece.is_code:
            parts.append(f"`{piece.text}`", style=_CODE)
        else:
            parts.append(piece.text)
    return parts
