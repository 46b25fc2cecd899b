"""Shows a comment to a model, and finds the sentences that the model quotes."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from typing import Final, NamedTuple, TypeAlias

from crscore.records import ParsedComment, Position

MAX_COMMENT_CHARS: Final = 8_000
"""Maximum characters of a comment that are shown; the rest is cut between its blocks."""
START_LETTERS: Final = 12
"""Number of letters at the start of a block by which it is found in the comment as written."""
MAX_LINES_AHEAD: Final = 200
"""Maximum number of lines in which the start of a block is searched for."""
# "- ", "* ", "1. ", "2) "
_ITEM: Final = re.compile(r"\s{0,20}(?:[-*+•]|\d{1,3}[.)])\s")
MAX_CODE_CHARS: Final = 2_000
"""Maximum characters of a block of code in a comment that are shown."""


Piece: TypeAlias = tuple[str, tuple[int, ...]]
"""Part of a shown comment, and its sentences: indices into the sentences of the comment, followed
by its proposals."""


class ShownComment(NamedTuple):
    """Visible text of a comment, with its code and without quotes of earlier comments."""

    pieces: tuple[Piece, ...]
    is_whole: bool
    """False if its end is left out."""

    @property
    def text(self) -> str:
        """The text, without blank ends."""
        return "".join(text for text, _ in self.pieces).strip()


def show_comment(
    parsed: ParsedComment, body: str = "", paths: Collection[str] = ()
) -> ShownComment:
    """Write a comment as text, block by block.

    Args:
        parsed: The comment, split, with its proposals.
        body: The comment as written, for the marks of list items and lines with only a path.
        paths: Changed files, the only paths that are shown: other text may be invisible to people.
    """
    pieces: list[Piece] = []
    length, lines = 0, [(line, _dense(line)) for line in body.splitlines()]
    for unmarked in _blocks(parsed):
        block = _add_marks(unmarked, lines, paths)
        length += sum(len(text) for text, _ in block)
        if pieces and length > MAX_COMMENT_CHARS:
            return ShownComment(tuple(pieces), is_whole=False)
        pieces += block
    return ShownComment(tuple(pieces), is_whole=True)


def _add_marks(
    block: list[Piece], lines: list[tuple[str, str]], paths: Collection[str]
) -> list[Piece]:
    """Add what is not in any sentence: paths above the block, and the mark of a list item.

    `lines` are the comment's lines below the previous block, each with its letters and digits. The
    lines up to the start of this block are removed from the list.
    """
    (text, columns), *rest = block
    start = _dense(text)[:START_LETTERS]
    item_at = next(
        (
            at
            for at, (_, letters) in enumerate(lines[:MAX_LINES_AHEAD])
            if start and start in letters
        ),
        None,
    )
    if item_at is None:
        return block
    titles = [line.strip("#*_` \t").partition(":")[0] for line, _ in lines[:item_at]]
    mark = "- " if _ITEM.match(lines[item_at][0]) else ""
    del lines[: item_at + 1]
    return [
        *((f"# {path}\n", ()) for path in titles if path in paths),
        (mark + text, columns),
        *rest,
    ]


def _blocks(parsed: ParsedComment) -> Iterator[list[Piece]]:
    positions = parsed.positions or tuple(repeat(Position(), len(parsed.sentences)))
    count = len(parsed.sentences)
    code = [
        (max(0, parsed.follows.get(text, 0)), kind, text)
        for kind, texts in (
            ("suggestion", parsed.suggestions), ("diff", parsed.diffs), ("", parsed.code_blocks),
        )
        for text in texts
    ]  # fmt: skip
    blocks = [position.block for position in (*positions, *parsed.proposal_positions)]
    for block in range(max([-1, *blocks, *(at for at, _, _ in code)]) + 1):
        pieces: list[Piece] = [
            (f"{'# ' if position.is_heading else ''}{text} ", (column,))
            for column, (text, position) in enumerate(zip(parsed.sentences, positions, strict=True))
            if position.block == block
        ]
        proposals = [
            count + index
            for index, position in enumerate(parsed.proposal_positions)
            if position.block == block
        ]
        fences = [(kind, text) for at, kind, text in code if at == block]
        # "`a` -> `b`" is a proposal without a block of code.
        for column in proposals[: len(proposals) - len(fences)] if fences else proposals:
            pieces.append((f"{parsed.proposals[column - count]} ", (column,)))
        pieces.append(("\n", ()))
        for kind, text in fences:
            cut = text[:MAX_CODE_CHARS]
            pieces.append((f"```{kind}\n{cut}\n```\n", tuple(proposals)))
        if len(pieces) > 1:
            yield pieces


def locate(
    quotations: Sequence[tuple[str, str]], shown_comment: ShownComment
) -> list[tuple[int, ...]]:
    """Find the sentences of remarks by their first and last words.

    White space, punctuation and case are ignored. If quoted words occur several times, those after
    the previous remark are taken.

    Args:
        quotations: First and last words of the remarks of one comment, in order.
        shown_comment: The comment.

    Returns:
        The columns of each remark, empty if its words are not in the comment. Remarks that are in
        the same sentence have the same columns; all other columns are disjoint.
    """
    dense, owners = "", list[int]()
    for index, (piece, _) in enumerate(shown_comment.pieces):
        text = _dense(piece)
        dense += text
        owners += repeat(index, len(text))
    ends = [(_dense(first), _dense(last)) for first, last in quotations]
    starts: list[int] = []
    after = 0
    for first, _ in ends:
        start = dense.find(first, after) if first else -1
        # If a comment repeats these words, those after the previous remark are taken.
        starts.append(start if start >= 0 or not first else dense.find(first))
        after = max(after, starts[-1] + len(first))
    located: list[tuple[int, ...]] = []
    used_columns: dict[int, tuple[int, ...]] = {}
    for (_, last), start in zip(ends, starts, strict=True):
        # The last words may also occur inside the remark.
        limit = min((later for later in starts if later > start), default=len(dense))
        end = max(dense.rfind(last, start, limit), dense.find(last, start)) if last else -1
        pieces = set(owners[start : end + len(last)]) if 0 <= start <= end else set()
        # Proposed code below a remark belongs to it, even if its quotation ends above.
        stop = owners[limit] if limit < len(dense) else len(shown_comment.pieces)
        for index in range(max(pieces, default=stop) + 1, stop):
            if not shown_comment.pieces[index][0].startswith(("\n", "```")):
                break
            pieces.add(index)
        columns = {column for index in pieces for column in shown_comment.pieces[index][1]}
        # No sentence is in two remarks: two points of one sentence share that sentence.
        free_columns = tuple(sorted(columns - used_columns.keys()))
        located.append(free_columns or (used_columns[min(columns)] if columns else ()))
        used_columns |= dict.fromkeys(free_columns, free_columns)
    return located


# Not every model quotes letter by letter, as the guide asks (`prompts/read.v1.toml`).
def _dense(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text)).casefold()
