"""Blocks of the terminal report, from the verdict to the signature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from crscore.records import (
    CommentResult,
    Match,
    Reading,
    Result,
    ReviewResult,
    Suggestion,
    Usefulness,
)
from crscore.reports import console, escape, view
from crscore.reports.console import CODE, prose
from crscore.reports.view import MatchRow

SHORT_SENTENCES = 40
"""Sentences that the short form lists."""
SHORT_UNADDRESSED = 8
"""Topics and pseudo-references that the short form lists as not addressed."""
SHORT_CHARS = 300
"""Longest sentence and claim of the short form."""
YES, NO = "✓", "✗"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_GOOD, _FAIR, _POOR = "green", "yellow", "red"
_SHARE_TONES = (0.6, 0.3)
"""Thresholds from which a standing, a probability, or a share of matches is good, and fair."""
_GRADED_TONES = (0.35, 0.15)
"""The same for a mean of degrees, which are expectations and avoid the extremes: human ratings of 4
and 5 have a median near the first, ratings of 1 are mostly below the second
(docs/design/011-calibrated.md)."""
_TITLE, _DIM = "bold", "dim"


def blocks(
    result: Result, heading: str | None, *, explain: bool, width: int
) -> Iterator[RenderableType]:
    """Make the blocks of one result in reading order, without the signature.

    Args:
        result: What to show.
        heading: Heading line, used when there are several results.
        explain: Show everything instead of the short form.
        width: Columns, at least 60.
    """
    yield from _summary(result, heading, width, explain=explain)
    yield from _reviewers(result, width)
    yield from _sentences(result, explain=explain)
    if explain:
        yield from _references(result)
    yield from _unaddressed(result, explain=explain)


def _summary(
    result: Result, heading: str | None, width: int, *, explain: bool
) -> Iterator[RenderableType]:
    """Yield the verdict, what it is made of, then what stands beside it."""
    if heading:
        yield Text(heading, style=_TITLE)
    base, useful, reason = result.baselines, result.usefulness, result.scores.reason
    rows: tuple[MatchRow, ...] = view.rows(result)
    below = [f"baselines: {view.many(base.words, 'word')}"]
    if base.repeated_tokens is not None:
        below[0] += f", {view.percent(base.repeated_tokens)} of the diff's tokens repeated"
    if useful is not None:
        yield _verdict(result, useful)
        rows = (
            MatchRow("About this change", useful.about, "and about no other"),
            MatchRow("Substance", useful.substance, "gives something to act on"),
        )
        below.insert(0, f"published scores: {view.published_of(result)}")
        below[:0] = [f"people would say: {view.aspects(useful)}"] * explain
    elif reason is not None:
        yield Text(f"No score: {escape.one_line(reason).rstrip('.')}.", style=f"bold {_FAIR}")
    else:
        yield Text("Review score", style=_TITLE)
    for text in result.missing:
        yield prose(f"Partial: {text}", style=_FAIR)
    yield ""
    yield _bars(rows, width, _tones(result))
    reviewers = [view.many(len(result.reviews), "reviewer")] * (len(result.reviews) > 1)
    sizes = (view.change(result), view.many(len(result.sentences), "sentence"), *reviewers)
    for line in (*below, " · ".join(sizes)):
        yield Padding(Text(escape.one_line(line), style=_DIM), (0, 0, 0, 2))


def _verdict(result: Result, value: Usefulness) -> Text:
    said = escape.one_line(view.verdict(result, value, range(len(result.sentences))))
    word, rest = said.split(":", 1)
    return Text.assemble((f"{word}:", f"bold {_tone(value.standing / 100)}"), rest)


def _bars(rows: Iterable[MatchRow], width: int, tones: tuple[float, float]) -> RenderableType:
    """Return a line for each score with a bar, the first one in bold."""
    table = _grid()
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    table.add_column()
    bar_width = 24 if width >= 100 else 10 if width >= 80 else 6
    for row in rows:
        tone = _tone(row.value, tones)
        table.add_row(
            Text(row.name, style=_TITLE if not table.row_count else ""),
            Text(view.hundred(row.value), style=f"bold {tone}"),
            _bar(row.value, bar_width, tone),
            Text(row.basis, style=_DIM),
        )
    return Padding(table, (0, 0, 0, 2))


def _reviewers(result: Result, width: int) -> Iterator[RenderableType]:
    if len(result.reviews) < 2:
        return
    names = view.SHORT if result.usefulness is None else view.USEFUL
    table = console.reviewers_table(names, ("Sentences", "Words"), width)
    for review in result.reviews:
        counts = view.ratio_of_review(result, review), f"{review.baselines.words:,}"
        name = Text(escape.one_line(view.author(review.author), width))
        console.add_row(table, name, *_three(result, review), *counts)
    yield from _section("Reviewers")
    yield Padding(table, (0, 0, 0, 2))


def _sentences(result: Result, *, explain: bool) -> Iterator[RenderableType]:
    """Yield the sentences by comment: what each does or addresses."""
    if not result.sentences:
        return
    yield from _section(_sentences_title(result))
    if explain:
        yield Padding(Text(view.legend(result, YES), style=_DIM), (0, 0, 1, 2))
    # A claim is told once. In full, all of them are listed further down.
    told = set(range(len(result.references) if explain else 0))
    left = len(result.sentences) if explain else SHORT_SENTENCES
    # The head of a single text would say nothing that is not above.
    headed = len(result.comments) > 1 or result.comments[0].comment.path is not None
    for item in result.comments:
        if left > 0:
            yield from _comment(result, item, explain=explain) if headed else ()
            table = _grid(2 if explain or not result.readings else 1)
            for at in item.sentences[:left]:
                _add_sentence(table, result, at, told, explain=explain)
            yield Padding(table, (0, 0, 0, 4 if headed else 2))
            yield from _suggested(item.suggestions if explain else ())
        left -= len(item.sentences)
    yield from _more(-left)


def _comment(result: Result, item: CommentResult, *, explain: bool) -> Iterator[RenderableType]:
    """Yield who wrote a comment and where, and its own scores."""
    names = zip(view.columns(result), view.measures(result, item), strict=True)
    scores = [f"{name.lower()} {view.hundred(value)}" for name, value in names]
    who = escape.one_line(view.author(item.comment.author), 60)
    place = "the whole change" if item.comment.path is None else view.comment_place(item.comment)
    where = escape.one_line(place, SHORT_CHARS)
    first = (f" on {where} · {scores[0]}", _DIM)
    yield Padding(Text.assemble(who, first, overflow="fold"), (0, 0, 0, 2))
    if explain:
        said = f"against {view.scope(item.scope)}: {', '.join(scores)}."
        if item.usefulness is not None:
            said += f" {view.verdict(result, item.usefulness, item.sentences)}"
            said += f" People would say: {view.aspects(item.usefulness)}."
        yield Padding(Text(escape.one_line(said), style=_DIM), (0, 0, 0, 2))


def _add_sentence(table: Table, result: Result, at: int, told: set[int], *, explain: bool) -> None:
    """Add the rows of a sentence.

    Args:
        table: Takes them.
        result: Its result.
        at: Its index.
        told: Indices of the claims that were told; takes the ones that this sentence tells.
        explain: Add all that is known.
    """
    match, reading = result.sentence_matches[at], view.reading(result, at)
    first = [_mark(match), _strength(result, match)]
    if reading is not None:
        first = [Text(view.hundred(reading.substance), style=_tone(reading.substance))]
    if explain:
        first = [Text(" ").join(first), Text(f"S{at + 1}")]
    limit = escape.MAX_ITEM_CHARS if explain else SHORT_CHARS
    table.add_row(*first, prose(result.sentences[at].text, limit))
    for line in _below(result, at, told, explain=explain):
        table.add_row(*[""] * len(first), line)


def _below(result: Result, at: int, told: set[int], *, explain: bool) -> Iterator[Text]:
    """Yield what is told below a sentence: what it does, its flag or subject, and its partner."""
    match, reading = result.sentence_matches[at], view.reading(result, at)
    flag = view.remark(result, at)
    about = None if flag is None else Text(flag, style=_FAIR)
    if reading is not None:
        if about is None:
            about = prose(_subject(result, reading, told), SHORT_CHARS, _DIM)
        kind = (f"{reading.kind.value}{' · ' if about else ''}", _DIM)
        yield Text.assemble(kind, about, overflow="fold")
        if explain and reading.phrases:
            saw = ", ".join(f"“{phrase}”" for phrase in reading.phrases)
            yield Text(escape.one_line(f"saw {saw}", 600), style=_DIM, overflow="fold")
    elif about is not None:
        yield about
    if explain and (flag is None or match.degree):
        beside = () if reading is None else (_mark(match), " ", _strength(result, match), " ")
        yield Text.assemble(*beside, (_partner(match), _DIM))
    elif reading is None and flag is None and match.matched and match.index is not None:
        yield Text("→ ", style=_DIM) + prose(_claim(result, match.index, told), SHORT_CHARS, _DIM)


def _subject(result: Result, reading: Reading, told: set[int]) -> str:
    """Say what a sentence is about: the name of a topic, a claim, or the kind of subject."""
    index = reading.reference
    if index is None or result.references[index].topic is not None:
        return view.subject(result, reading)
    return _claim(result, index, told)


def _claim(result: Result, index: int, told: set[int]) -> str:
    """Number a claim, with its text the first time."""
    text = "" if index in told else f": {view.in_short(result.references[index])}"
    told.add(index)
    return f"R{index + 1}{text}"


def _suggested(suggestions: tuple[Suggestion, ...]) -> Iterator[RenderableType]:
    """Yield suggested code, which is not a sentence, with what is known of it."""
    for item in suggestions:
        lines = [escape.code_line(line) for line in item.code.rstrip("\n").split("\n")[:40]]
        text = Text(f"suggested code: {view.suggestion(item)}", style=_DIM, overflow="fold")
        for line in lines:
            text.append(f"\n  │ {line}", style=CODE)
        yield Padding(text, (0, 0, 0, 10))


def _partner(match: Match) -> str:
    if match.index is not None:
        return f"{'→' if match.matched else 'closest:'} R{match.index + 1}"
    if match.degree is not None:
        return "of the older version it was written on"
    return "no pseudo-reference to compare with"


def _references(result: Result) -> Iterator[RenderableType]:
    """Yield every pseudo-reference with its places."""
    if not result.references:
        return
    yield from _section("Pseudo-references, what a good review should touch")
    table = _grid(3)
    for index, item in enumerate(result.references):
        match = result.reference_matches[index]
        row = (_mark(match), _strength(result, match), f"R{index + 1}", prose(item.text))
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
    yield from _section(f"{title} by any sentence ({len(missing)})")
    shown = missing if explain else missing[:SHORT_UNADDRESSED]
    table = _grid(1)
    for index, item in shown:
        bullet = Text.assemble(("•", _POOR))
        if view.graded(result):
            bullet.append(f"{view.hundred(result.reference_matches[index].degree):>4}", style=_DIM)
        table.add_row(bullet, prose(item.text, 400))
        table.add_row("", Text(escape.one_line(view.places(item, finder=True), 300), style=_DIM))
    yield Padding(table, (0, 0, 0, 2))
    yield from _more(len(missing) - len(shown))


def _section(title: str) -> Iterator[RenderableType]:
    yield ""
    yield Text(title, style=_TITLE)


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


def _grid(values: int = 0) -> Table:
    """Return a grid of so many values, such as mark and strength, then text; no columns for 0."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(values):
        table.add_column(no_wrap=True, justify="right")
    if values:
        table.add_column(overflow="fold")
    return table


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
