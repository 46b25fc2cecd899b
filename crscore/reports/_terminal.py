"""Blocks of the terminal report, from the scores to the signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crscore.reports import escape, view
from crscore.reports.view import MatchRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import JustifyMethod, OverflowMethod, RenderableType

    from crscore.records import (
        CommentResult,
        Match,
        Reading,
        Result,
        ReviewResult,
        Suggestion,
        Usefulness,
    )

SHORT_UNADDRESSED = 8
"""Topics and pseudo-references that the short form lists as not addressed."""
SHORT_COMMENTS = 8
"""Comments that the short form's table lists."""
YES, NO = "✓", "✗"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_GOOD, _FAIR, _POOR = "green", "yellow", "red"
_SHARE_TONES = (0.6, 0.3)
"""Thresholds from which a standing, a probability, or a share of matches is good, and fair."""
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
    if result.usefulness is None:
        yield _facts(result, heading or "Review score")
        yield ""
        yield _bars(view.rows(result), width, _tones(result))
        if result.scores.reason is not None:
            reason = Text(f"No score: {escape.one_line(result.scores.reason).rstrip('.')}.")
            yield Padding(reason, (1, 0, 0, 2))
    else:
        yield _verdict(result, result.usefulness, heading)
        yield _facts(result)
        yield ""
        yield from _usefulness(result, result.usefulness, width, explain=explain)
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


def _facts(result: Result, title: str = "") -> Text:
    facts = [view.change(result), view.many(len(result.sentences), "sentence")]
    if len(result.reviews) > 1:
        facts.append(view.many(len(result.reviews), "reviewer"))
    return Text.assemble((title, _TITLE), ("  " * bool(title) + " · ".join(facts), _DIM))


def _verdict(result: Result, value: Usefulness, heading: str | None) -> Text:
    said = escape.one_line(view.verdict(result, value, range(len(result.sentences))))
    word, rest = said.split(":", 1)
    tone = f"bold {_tone(value.standing / 100)}"
    return Text.assemble((f"{heading}  " if heading else "", _TITLE), (f"{word}:", tone), rest)


def _usefulness(
    result: Result, value: Usefulness, width: int, *, explain: bool
) -> Iterator[RenderableType]:
    """Yield what the verdict is made of, then the published scores."""
    rows = (
        MatchRow("About this change", value.about, "how likely it is about this change, no other"),
        MatchRow("Substance", value.substance, "how much it gives the author to act on"),
    )
    yield _bars(rows, width, _SHARE_TONES)
    rule = "" if result.threshold is None else f", threshold {result.threshold:.4g}"
    lines = [f"people would say: {view.aspects(value)} (0 to 100)"] * explain
    lines.append(f"published scores: {view.published_of(result)} (0 to 100{rule})")
    for line in lines:
        yield Padding(Text(escape.one_line(line), style=_DIM), (0, 0, 0, 2))


def _bars(rows: Iterable[MatchRow], width: int, tones: tuple[float, float]) -> RenderableType:
    """Return a line for each score with a bar, the first one in bold."""
    table = _grid()
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    table.add_column()
    bar_width = 24 if width >= 100 else 16 if width >= 80 else 6
    for row in rows:
        tone = _tone(row.value, tones)
        table.add_row(
            Text(row.name, style=_TITLE if not table.row_count else ""),
            Text(view.hundred(row.value), style=f"bold {tone}"),
            _bar(row.value, bar_width, tone),
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
    table = _table(result, width, "Reviewer", "Sentences", "Words")
    for review in result.reviews:
        table.add_row(
            Text(escape.one_line(view.author(review.author), width)),
            *_three(result, review),
            view.ratio_of_review(result, review),
            f"{review.baselines.words:,}",
        )
    yield from _section("Reviewers", table)


def _comments(result: Result, width: int, *, explain: bool) -> Iterator[RenderableType]:
    attached = view.attached(result)
    if not attached:
        return
    shown = attached if explain else attached[:SHORT_COMMENTS]
    table = _table(result, width, "Comment on", "Sentences", "Against")
    for index in shown:
        item = result.comments[index]
        table.add_row(
            _tail(view.comment_place(item.comment), _first_width(result, width, 2)),
            *_three(result, item),
            view.ratio_of_comment(result, item),
            view.scope(item.scope),
        )
    yield from _section("Comments, each against the part it is on", table)
    yield from _more(len(attached) - len(shown))


def _sentences(result: Result, width: int) -> Iterator[RenderableType]:
    """Yield the sentences in short: what each does, or its closest pseudo-reference."""
    if not result.sentences:
        return
    table = _grid()
    # rich distributes the remaining width by the ratios.
    table.expand = True
    if result.readings:
        table.add_column(no_wrap=True, justify="right")
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    else:
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, justify="right")
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=11)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=9)
    for index, match in enumerate(result.sentence_matches):
        told, remark = view.reading(result, index), view.remark(result, index)
        text = _prose(result.sentences[index].text, width, overflow="ellipsis")
        flag = None if remark is None else Text(remark, style=_FAIR, overflow="ellipsis")
        if told is not None:
            table.add_row(_substance(told), text)
            table.add_row("", _reading(result, told, width, flag))
            continue
        partner = "" if match.index is None else view.in_short(result.references[match.index])
        table.add_row(
            _mark(match),
            _strength(result, match),
            text,
            flag or _prose(partner, width, "" if match.matched else _DIM, overflow="ellipsis"),
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
        yield from _opinion(result, item)
        table = _numbered(1 if result.readings else 2)
        for at in item.sentences:
            match, told = result.sentence_matches[at], view.reading(result, at)
            first: tuple[Text, ...] = (_mark(match), _strength(result, match))
            if told is not None:
                first = (_substance(told),)
            table.add_row(*first, f"S{at + 1}", _prose(result.sentences[at].text))
            for row in _below(result, at, match):
                table.add_row(*[""] * len(first), "", row)
        yield Padding(table, (0, 0, 0, 2))
        yield from _suggested(item.suggestions)


def _opinion(result: Result, item: CommentResult) -> Iterator[RenderableType]:
    """Yield the verdict on one of several comments."""
    if item.usefulness is not None and len(result.comments) > 1:
        said = view.verdict(result, item.usefulness, item.sentences)
        said = f"{said} People would say: {view.aspects(item.usefulness)}."
        yield Padding(Text(escape.one_line(said), style=_DIM), (0, 0, 0, 2))


def _below(result: Result, at: int, match: Match) -> Iterator[Text]:
    """Yield what is told below a sentence: what it does, its flag and its partner."""
    told, remark = view.reading(result, at), view.remark(result, at)
    if told is not None:
        yield _reading(result, told, escape.MAX_ITEM_CHARS, None, overflow="fold")
        if told.saw:
            saw = ", ".join(f"“{phrase}”" for phrase in told.saw)
            yield Text(escape.one_line(f"saw {saw}", 600), style=_DIM, overflow="fold")
    if remark is not None:
        yield Text(remark, style=_FAIR)
    if remark is None or match.degree:
        partner = _partner(result, match)
        if told is not None:
            mark = Text.assemble(_mark(match), " ", _strength(result, match), " ", overflow="fold")
            partner = mark.append_text(partner)
        yield partner


def _substance(told: Reading) -> Text:
    return Text(view.hundred(told.substance), style=_tone(told.substance))


def _reading(
    result: Result,
    told: Reading,
    limit: int,
    flag: Text | None,
    overflow: OverflowMethod = "ellipsis",
) -> Text:
    """Return what a sentence does, then its flag or what it is about."""
    about = flag or _prose(view.subject(result, told), limit, _DIM, overflow=overflow)
    return Text.assemble(told.kind.value, " · " if about else "", about, overflow=overflow)


def _suggested(suggestions: tuple[Suggestion, ...]) -> Iterator[RenderableType]:
    """Yield suggested code, which is not a sentence, with what is known of it."""
    for item in suggestions:
        lines = [escape.code_line(line) for line in item.code.rstrip("\n").split("\n")[:40]]
        text = Text(f"suggested code: {view.suggestion(item)}", style=_DIM, overflow="fold")
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
            f"weight {view.hundred(item.weight)}",
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
            bullet.append(f"{view.hundred(result.reference_matches[index].degree):>4}", style=_DIM)
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
    if result.readings:
        return "Sentences  (0 to 100: how much each gives to act on)"
    number = "0 to 100: how far"
    if result.threshold is not None:
        number = f"threshold {result.threshold:.4g}"
    return f"Sentences  {YES} addresses a pseudo-reference  {NO} does not ({number})"


def _numbered(values: int = 2) -> Table:
    """Return a grid of values, such as mark and strength, then number and text."""
    table = _grid()
    for _ in range(values):
        table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True, justify="right")
    table.add_column(overflow="fold")
    return table


def _grid() -> Table:
    return Table.grid(padding=(0, 2, 0, 0))


_COLUMNS = {view.USEFUL: (19, 7, 11), view.PUBLISHED: (6, 6, 6)}
"""Widths of the three columns of numbers, with their padding."""
_WIDE_CELL = 12
_SHORT = dict(zip(view.PUBLISHED, ("Rel", "Con", "Comp"), strict=True))


def _first_width(result: Result, width: int, others: int) -> int:
    """Return the width of the first column beside three numbers and wider last columns."""
    return max(width - 4 - sum(_COLUMNS[view.columns(result)]) - others * _WIDE_CELL, 8)


def _table(result: Result, width: int, first: str, *others: str) -> Table:
    """Return a table whose number columns stay aligned however long the first column's text is."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style=_DIM)
    most = _first_width(result, width, len(others))
    table.add_column(first, no_wrap=True, overflow="ellipsis", max_width=most)
    for name in view.columns(result):
        short = name if result.usefulness is not None else _SHORT[name]
        table.add_column(short, no_wrap=True, justify="right", min_width=4)
    for name in others:
        side: JustifyMethod = "left" if name == "Against" else "right"
        table.add_column(name, no_wrap=True, justify=side, min_width=len(name))
    return table


def _tail(text: str, width: int) -> Text:
    """Return a path and line, truncated at the start: the file name and line matter more."""
    line = escape.one_line(text)
    return Text(line if len(line) <= width else f"…{line[1 - width :]}", overflow="ellipsis")


def _three(result: Result, item: CommentResult | ReviewResult) -> tuple[Text, ...]:
    pairs = zip(view.three(result, item), view.measures(result, item), strict=True)
    return tuple(Text(text, style=_tone(value, _tones(result))) for text, value in pairs)


def _bar(value: float | None, width: int, tone: str) -> Text:
    """Return a bar drawn in eighths, so that 0.61 and 0.63 differ."""
    if value is None:
        return Text("·" * width, style=_DIM)
    eighths = round(value * width * 8)
    full, rest = divmod(eighths, 8)
    filled = "█" * full + (_EIGHTHS[rest] if rest else "")
    return Text.assemble((filled, tone), ("·" * (width - len(filled)), _DIM))


def _tones(result: Result) -> tuple[float, float]:
    published = result.usefulness is None and view.graded(result)
    return _GRADED_TONES if published else _SHARE_TONES


def _tone(value: float | None, tones: tuple[float, float] = _SHARE_TONES) -> str:
    if value is None:
        return _DIM
    good, fair = tones
    return _GOOD if value >= good else _FAIR if value >= fair else _POOR


def _mark(match: Match) -> Text:
    return Text(YES, style=_GOOD) if match.matched else Text(NO, style=_POOR)


def _strength(result: Result, match: Match) -> Text:
    return Text(view.strength(result, match), style="" if match.matched else _DIM)


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
