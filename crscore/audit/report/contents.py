"""Builds the contents of an audit's pages and of its short report, as blocks."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Final

from crscore.audit import facts
from crscore.audit.decide import KINDS, UNIMPORTANT
from crscore.audit.overview import Escaped, Example, Overview, PairComparison, Reviewer
from crscore.audit.tables import EMPTY, IMPORTANT
from crscore.reports import console, escape, view
from crscore.reports.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Line,
    Notice,
    Paragraph,
    Run,
    Signature,
    make_list,
    make_table,
)
from crscore.reports.markdown_blocks import render_markdown

EXPLANATION: Final = (
    "All numbers count comments or pull requests. A comment counts once, by its most important "
    "part. *Worth acting on* are comments that are critical, major or minor, judged by their text. "
    "A *templated comment* repeats sentences of two earlier comments with other names. *Not read* "
    "are texts in another language and suggestions without a sentence.",
    "*Fixed* means that one of the comment's lines, or a line at most three lines away, changed "
    "after the comment. It does not mean that the comment was right, or that it was the reason: "
    "lines also change without a comment. How many fixes to expect from this is shown as *by "
    "chance*. *Resolved* means that a person closed the thread, perhaps to disagree.",
    "*Comparable* with chance are comments worth acting on that were the first to make their "
    "point, in a file that has lines without a comment, and without a comment of another reviewer "
    "close by that may have caused the change. Bots are sorted by recommendation and then by fixes "
    "beyond chance per pull request that they saw: the bot with the most is first, but among bots "
    "to drop, the bot with the fewest. Bots with doubtful numbers are last.",
    "Intervals are 95 %. *Finds more* is said only if the difference is clear, also considering "
    "how many pairs of bots are compared. It counts pull requests that both bots saw: those on "
    "which the bot posted or ran a check, or that were merged between its first and last post.",
)
"""Explanations of the terms on the first screen."""
# The page of a bot quotes up to ten comments of each kind.
QUOTES: Final = 3
"""Maximum number of comments of each bot that are quoted on the first screen."""
# The JSON report has all bots.
MAX_BOTS: Final = 30
"""Maximum number of bots on the first screen and in short reports."""
# A comment on GitHub may have 65,536 characters, the summary of a job 1 MiB
# (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
_MAX_MARKDOWN_CHARS: Final = 60_000
_QUOTE_CHARS: Final = 200
"""Maximum number of characters of a quoted comment."""
_DIGEST_CHARS: Final = 300
"""Maximum number of characters of a line of the digest."""
_VERDICTS: Final = {"better": "differ", "worse": "differ", "equivalent": "equal", "unknown": "open"}
"""Label of each verdict of a comparison, in the order of the report."""


def make_title(overview: Overview) -> str:
    """Return the title of the report, with the period."""
    since, until = overview.since, overview.until
    year = f" {since[:4]}" if since[:4] != until[:4] else ""
    return f"Review bots, {format_day(since)}{year} to {format_day(until)} {until[:4]}"


def format_day(text: str) -> str:
    """Format a date without its year.

    Example:
        >>> format_day("2026-03-01")
        '1 March'
    """
    parsed = date.fromisoformat(text)
    return f"{parsed.day} {parsed:%B}"


def first_screen(overview: Overview, files: Mapping[str, str] | None = None) -> Iterator[Block]:
    """Yield the recommendation, and the decision and the facts about each bot.

    Args:
        overview: The overview.
        files: Addresses of the bots' pages, keyed by the bot's name; None for a text without links.
    """
    yield Heading(make_title(overview), 1)
    yield Paragraph(overview.recommendation, "lede")
    count = len(overview.repositories)
    pulls = view.count_noun(overview.pulls, "pull request")
    yield Paragraph(
        f"{pulls} in {count:,} {'repository' if count == 1 else 'repositories'}: "
        f"{overview.merged:,} merged, {overview.scored:,} with a scored review.",
        "dim",
    )
    if overview.notes:
        yield Notice("Note", "Limits of these numbers", overview.notes)
    bots = [row for row in overview.reviewers if row.decision]
    tiles = tuple(bot_item(row, (files or {}).get(row.name, "")) for row in bots[:MAX_BOTS])
    if tiles:
        yield Items(tiles, noun="bots", unlisted=max(len(bots) - MAX_BOTS, 0))
    for text in EXPLANATION:
        yield Paragraph(text.replace("*", ""), "dim")


def bot_item(row: Reviewer, link: str = "") -> Item:
    """Return the decision about a bot, with the facts and quoted comments, as an item of a list."""
    decision = row.decision
    verdict, reason = (decision.verdict, decision.reason) if decision else ("", "")
    lines: list[Line] = []
    for fact in row.facts:
        lines.append((Run(f"{fact.title}: ", "strong"), fact.text))
        if fact is row.facts[0]:
            # If people fix comments that seem unimportant, users must read such comments to decide.
            is_open = UNIMPORTANT in reason
            kinds = sorted(KINDS, key=IMPORTANT.count) if is_open else IMPORTANT
            unquoted = ("", "answered", *("resolved", "answered, resolved")[: 2 * is_open])
            # Bots repeat a text with different hidden markup; each text is shown only once.
            examples = (example for kind in kinds for example in row.examples.get(kind, ()))
            quotable = [example for example in examples if example.outcome not in unquoted]
            for example in islice({example.text: example for example in quotable}.values(), QUOTES):
                text = escape.one_line(example.text, _QUOTE_CHARS)
                end = Run(f"” {example.kind}, {_describe_outcome(example)}")
                lines.append((Run("“", "quote"), text, end, _link_comment(example)))
    if link:
        lines.append((Run(f"All about {escape.one_line(row.name, 80)}", link=link),))
    return Item(reason, lead=(Run(verdict, f"chip {verdict}"),), below=tuple(lines))


def _describe_outcome(row: Example) -> str:
    words = (*row.outcome.split(", "), "only it made this point" * row.only)
    return "".join(f"{word}, " for word in words if word)


def _link_comment(row: Example) -> Run:
    # The store is untrusted, and an address with another scheme could run a script.
    is_safe = row.url.startswith(("https://", "http://"))
    return Run(f"{row.repository}#{row.number}", link=row.url if is_safe else "")


def numbers_page(overview: Overview, files: Mapping[str, str]) -> Iterator[Block]:
    """Yield the page "Numbers": reviewers, pairs of bots, bots that changed, and later fixes.

    Args:
        overview: The overview.
        files: Addresses of the bots' pages, keyed by the bot's name.
    """
    yield Heading("Numbers", 1)
    yield Paragraph(make_title(overview), "dim")

    def name(row: Reviewer) -> Line:
        link = Run(escape.one_line(row.name, 80), link=files.get(row.name, ""))
        return (link,) if row.is_bot else (link, Run(" (person)"))

    yield make_table(
        "Reviewers",
        overview.reviewers,
        ("Reviewer", name),
        ("Comments", lambda row: f"{row.comments.total:,}"),
        ("Worth acting on", lambda row: f"{_count(row, IMPORTANT):,}"),
        ("Mattered", facts.format_mattered),
        ("Nothing to do", lambda row: f"{_count(row, EMPTY):,}"),
        ("Pull requests seen", lambda row: f"{row.pulls:,}"),
        ("Last commit reviewed", lambda row: facts.format_counts(row.coverage.last_head)),
        ("Usefulness (80 %)", facts.format_usefulness),
    )
    yield Paragraph(
        "Usefulness is the percentage of real reviews that are less useful, judged by their text. "
        "The table has the 80 % interval of its mean over the pull requests on which the reviewer "
        "commented. To compare bots, use the pairs below, not this mean.",
        "dim",
    )
    # If no bots can be compared, a note on the first page says why.
    if any(row.difference for row in overview.verdicts):
        yield from make_list("Pairs of bots", _list_verdicts(overview.verdicts))
    yield from make_list("Bots that changed", [Item(text) for text in list_changes(overview)])
    yield from _list_missed(overview.escaped)


def _count(row: Reviewer, kinds: Sequence[str]) -> int:
    return sum(row.comments.kinds.get(kind, 0) for kind in kinds)


def list_changes(overview: Overview) -> Iterator[str]:
    """Yield a sentence for each day on which a bot began to behave differently."""
    for row in overview.reviewers:
        for change in row.changes:
            yield (
                f"{row.name} changed about {format_day(change.day)}: {change.number} "
                f"{change.before:.1f} before, {change.after:.1f} after."
            )


def _list_missed(escaped: Escaped) -> Iterator[Block]:
    if not escaped.fixed.count:
        return
    yield Heading("Fixed after the merge")
    yield Paragraph(
        f"In {facts.format_counts(escaped.fixed)} merged pull requests, lines were changed within "
        f"{escaped.days} days by later commits whose messages say that they fix something. A "
        "reviewer had a comment next to a fix if the comment is worth acting on and at most three "
        "lines away, and no other reviewer had such a comment there. The last column has the same "
        "share for other commits. If the intervals overlap, the difference may be chance."
    )
    if not escaped.reviewers:
        return
    yield make_table(
        "Fixed after the merge",
        escaped.reviewers,
        ("Reviewer", lambda row: escape.one_line(row.reviewer, 80)),
        ("Had a comment next to fixes", lambda row: facts.format_share(row.near)),
        ("Next to other changes", lambda row: facts.format_share(row.near_base)),
    )
    rows = []
    for row in escaped.missed:
        place = Run(f"{row.repository}#{row.number} {row.path}:{row.line} ")
        fix = (place, Run("the fix", link=row.url))
        rows.append(Item(escape.one_line(row.text, 200), below=(fix,)))
    yield from make_list("Fixes without such a comment next to them", rows)


def bot_page(row: Reviewer) -> Iterator[Block]:
    """Yield the page of a reviewer: decision and facts for a bot, and its comments by kind."""
    yield Heading(escape.one_line(row.name, 100) + ("" if row.is_bot else " (person)"), 1)
    if row.decision:
        yield Items((bot_item(row),), noun="bots")
    # Comments worth acting on are first. Each list says how many comments of the kind it leaves
    # out.
    for kind, title in KINDS.items():
        comments, total = row.examples.get(kind, ()), row.comments.kinds.get(kind, 0)
        items = [
            Item(comment.text, below=((Run(_describe_outcome(comment)), _link_comment(comment)),))
            for comment in comments
        ]
        yield from make_list(title.capitalize(), items, unlisted=total - len(items))


def _list_verdicts(rows: Sequence[PairComparison]) -> list[Item]:
    # Comparisons with a clear verdict are first.
    order = list(_VERDICTS)
    return [
        Item(row.text, lead=(Run(_VERDICTS[row.verdict], f"chip {row.verdict}"),))
        for row in sorted(rows, key=lambda row: order.index(row.verdict))
    ]


def render_text(overview: Overview, *, color: bool = False, width: int = 80) -> str:
    """Return the short report for a terminal.

    Args:
        overview: The overview.
        color: Whether to write color sequences.
        width: Width of the terminal in characters; the nearest number from 40 to 160 is used.

    Returns:
        Text that ends with a newline, without trailing spaces.
    """
    return console.render_blocks(_make_short_report(overview), color=color, width=width)


def render_verdicts(rows: Sequence[PairComparison], *, color: bool = False, width: int = 80) -> str:
    """Return comparisons of bots for a terminal; other arguments are those of `render_text`."""
    return console.render_blocks([Items(tuple(_list_verdicts(rows)))], color=color, width=width)


def render_summary(overview: Overview) -> str:
    """Return the short report as Markdown, for the summary of a job in CI."""
    blocks = list(_make_short_report(overview))
    return render_markdown([blocks], limit=_MAX_MARKDOWN_CHARS, noun="report", heading="##")


def _make_short_report(overview: Overview) -> Iterator[Block]:
    yield from first_screen(overview)
    if overview.signature:
        yield Signature(overview.signature)


def make_digest(overview: Overview) -> tuple[str, tuple[str, ...]]:
    """Summarise a period for a chat: the recommendation, its reasons, changes of bots, and notes.

    Returns:
        The title, and at most nine lines, the most important first.
    """
    bots = [row for row in overview.reviewers if row.decision]
    lines = [overview.recommendation]
    lines += [row.decision.reason for row in bots[:5] if row.decision]
    if len(bots) > 5:
        lines.append(f"And {view.count_noun(len(bots) - 5, 'more bot')}.")
    lines += [*list_changes(overview), *overview.notes]
    return make_title(overview), tuple(map(_shorten, lines[:9]))


def _shorten(text: str) -> str:
    """Shorten a line to `_DIGEST_CHARS`, after a complete clause if possible."""
    line = escape.one_line(text)
    end = line.rfind("; ", 0, _DIGEST_CHARS) if len(line) > _DIGEST_CHARS else -1
    return f"{line[:end]}." if end > 0 else escape.one_line(line, _DIGEST_CHARS)


def render_digest(title: str, lines: Sequence[str]) -> str:
    """Return a digest as Markdown."""
    items = "".join(f"- {escape.markdown(line)}\n" for line in lines)
    return f"**{escape.markdown(title, 100)}**\n\n{items}"
