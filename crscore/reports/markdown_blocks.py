"""Renders blocks as GitHub's Markdown, within a host's limit on the length of a document.

Items that would exceed the limit are omitted and counted; no item is cut.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from crscore.reports import blocks, escape, view
from crscore.reports.blocks import Line
from crscore.reports.escape import markdown, markdown_code, markdown_prose
from crscore.scoring.assembly import shorten_signature

# A limit is needed, because hosts show long texts in full.
MAX_PROSE_CHARS: Final = 600
"""Maximum characters of a sentence."""
_MAX_RUN_CHARS: Final = 300
_MAX_CELL_CHARS: Final = 200
_NOTE_SIZE: Final = 200
"""Size reserved for the note that counts what was omitted."""
_MIN_SIZE: Final = 2_000
"""Minimum size available to a document; if there are many, the last documents are omitted."""


class Part(NamedTuple):
    """Part of a document; it is well-formed Markdown even if some of its items are omitted."""

    head: str
    items: tuple[str, ...] = ()
    """List entries or table rows."""
    foot: str = ""
    is_required: bool = False
    """True for a part that is never omitted; it has only a head."""


def render_markdown(
    documents: Sequence[Iterable[blocks.Block]],
    *,
    limit: int,
    noun: str,
    heading: str = "###",
    size: Callable[[str], int] = len,
) -> str:
    """Render documents below one another; each gets an equal share of the remaining size.

    Args:
        documents: Blocks of each document, the most useful first.
        limit: Maximum size of the text.
        noun: What a document is about, such as "change", for the note "2 changes left out".
        heading: Markdown in front of the title of a document.
        size: Function that returns the size of a text in characters or bytes.
    """
    texts: list[str] = []
    remaining = limit - _NOTE_SIZE
    omitted = 0
    for index, content in enumerate(documents):
        if remaining < _MIN_SIZE:
            break
        # What a short document leaves unused is shared by the documents after it.
        share = max(remaining // (len(documents) - index), _MIN_SIZE)
        text, omitted_items = fit_parts(make_parts(content, heading), share, size)
        texts.append(text)
        remaining -= size(text)
        omitted += omitted_items
    counts = [(omitted, "item"), (len(documents) - len(texts), noun)]
    if shortened := " and ".join(view.count_noun(count, word) for count, word in counts if count):
        texts.append(f"*Shortened: {shortened} left out to keep within the host's limit.*\n")
    return "".join(texts).strip("\n") + "\n"


def fit_parts(
    parts: Iterable[Part], limit: int, size: Callable[[str], int] = len
) -> tuple[str, int]:
    """Join parts, and omit the items and parts that would exceed the limit.

    Args:
        parts: The parts, the most useful first.
        limit: Maximum size of the text.
        size: Function that returns the size of a text.

    Returns:
        The text, and the number of items that were omitted.
    """
    # A CI job may print the document to its log, where the runner executes commands.
    cleaned = [
        part._replace(
            head=escape.no_commands(part.head),
            items=tuple(map(escape.no_commands, part.items)),
            foot=escape.no_commands(part.foot),
        )
        for part in parts
    ]
    texts: list[str] = []
    omitted = 0
    # Required parts are counted first, because the signature is last, but is needed to compare
    # scores.
    remaining = limit - sum(size(part.head) for part in cleaned if part.is_required)
    for part in cleaned:
        if part.is_required:
            texts.append(part.head)
            continue
        space = remaining - size(part.head) - size(part.foot)
        fitting: list[str] = []
        # A later item may be shorter and fit.
        for item in part.items:
            if size(item) <= space:
                fitting.append(item)
                space -= size(item)
        if space >= 0 and (fitting or not part.items):
            texts.append(part.head + "".join(fitting) + part.foot)
            remaining = space
            omitted += len(part.items) - len(fitting)
        else:
            omitted += max(len(part.items), 1)
    return "".join(texts), omitted


def make_parts(content: Iterable[blocks.Block], heading: str = "###") -> Iterator[Part]:
    """Convert blocks to parts; a heading is joined to the part below it.

    Args:
        content: The blocks.
        heading: Markdown in front of a heading of level 1.
    """
    pending = ""
    for block in content:
        if isinstance(block, blocks.Heading):
            text = render_line(block.text)
            pending += f"{heading} {text}\n\n" if block.level == 1 else f"**{text}**\n\n"
            continue
        for part in _parts(block):
            yield part._replace(head=pending + part.head)
            pending = ""
    if pending:
        yield Part(pending)


def _parts(block: blocks.Block) -> Iterator[Part]:
    if isinstance(block, blocks.Paragraph):
        text = render_line(block.text)
        yield Part(f"<sub>{text}</sub>\n\n" if block.tone == "dim" else f"{text}\n\n")
    elif isinstance(block, blocks.Notice):
        lines = tuple(f"> - {_prose(line)}\n" for line in block.lines)
        yield Part(f"> {render_line(block.title)}\n>\n", lines, "\n")
    elif isinstance(block, blocks.Measures):
        # The rows are never omitted: they are few and short.
        rows = [_row((row.name, view.hundred(row.value), row.basis)) for row in block.rows]
        yield Part(f"| Score | of 100 | |\n|:--|--:|:--|\n{''.join(rows)}\n")
    elif isinstance(block, blocks.Table):
        head = f"| {' | '.join(block.header)} |\n|:--|{'--:|' * (len(block.header) - 1)}\n"
        main = [_row(row, bold=True) for at, row in enumerate(block.rows) if at in block.main]
        rows = [_row(row) for at, row in enumerate(block.rows) if at not in block.main]
        unlisted = f"\n*{block.unlisted:,} more not listed.*\n" if block.unlisted else ""
        yield Part(head + "".join(main), tuple(rows), f"{unlisted}\n")
    elif isinstance(block, blocks.Items):
        yield from _items(block)
    elif isinstance(block, blocks.Folded):
        yield _fold(block.title, make_parts(block.blocks))
    elif isinstance(block, blocks.Signature):
        short = markdown_code(shorten_signature(block.text), MAX_PROSE_CHARS)
        yield Part(f"<sub>{render_line(block.before)}{short}</sub>\n\n", is_required=True)


def _row(cells: Sequence[Line], *, bold: bool = False) -> str:
    texts = (render_line(cell, in_table=True) for cell in cells)
    return f"| {' | '.join(f'**{text}**' if bold else text for text in texts)} |\n"


def _items(block: blocks.Items) -> Iterator[Part]:
    entries: tuple[str, ...] = ()
    for item in block.items:
        lead = render_line(item.lead)
        place = f" {render_line(item.place)}" if item.place else ""
        text = f"{lead}{' ' * bool(lead)}{render_line(item.text)}{place}"
        entries += ("<br>".join([f"- {text}", *map(render_line, item.below)]) + "\n",)
    visible, folded = entries[: block.max_open], entries[len(entries[: block.max_open]) :]
    yield Part("", visible, "\n")
    if hidden := len(folded) + block.unlisted:
        last = f"\n*The last {block.unlisted:,} of them are not listed.*\n\n" * bool(block.unlisted)
        yield _fold(f"{hidden:,} more {block.noun}", [Part("", folded, last)])


def _fold(title: str, parts: Iterable[Part]) -> Part:
    """Join parts into a part that is folded below `title`, which must be trusted."""
    first, *further_parts = parts
    # Markdown is rendered again after a blank line, which ends an HTML block:
    # https://github.github.com/gfm/#html-blocks
    head = f"<details><summary>{title}</summary>\n\n{first.head}"
    items, foot = list(first.items), first.foot
    for part in further_parts:
        items += [foot + part.head, *part.items]
        foot = part.foot
    return Part(
        head,
        tuple(items),
        f"{foot.rstrip()}\n\n</details>\n\n" if foot.strip() else "\n</details>\n\n",
    )


def _prose(text: str) -> str:
    return markdown_prose(text, MAX_PROSE_CHARS)


def render_line(line: Line, *, in_table: bool = False) -> str:
    """Escape a line; in a table, code spans of prose become plain text, as they can break a row."""
    if isinstance(line, str):
        # https://github.github.com/gfm/#tables-extension-: a pipe ends a cell even in a code span.
        return markdown(line, _MAX_CELL_CHARS) if in_table else _prose(line)
    texts = []
    for part in line:
        if isinstance(part, str):
            text = _prose(part)
        elif "code" in part.tone or "place" in part.tone:
            text = markdown_code(part.text, _MAX_RUN_CHARS, in_table=in_table)
        else:
            text = markdown(part.text, _MAX_RUN_CHARS)
            text = f"**{text}**" if "strong" in part.tone else text
            text = f"{' ' * part.text[:1].isspace()}{text}{' ' * part.text[-1:].isspace()}"
        link = "" if isinstance(part, str) else part.link
        texts.append(f"[{text}]({link})" if link else text)
    return "".join(texts)
