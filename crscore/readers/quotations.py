"""Writes a comment as a request shows it, and finds the sentences that a model quotes from it."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from typing import Final, NamedTuple, TypeAlias

from crscore.records import ParsedComment, Position

MAX_COMMENT_CHARS: Final = 8_000
"""Maximum characters of a comment that are shown; a longer comment is cut between two blocks."""
START_LETTERS: Final = 12
"""Number of letters and digits at the start of a block with which it is searched for in the
original comment."""
MAX_LINES_AHEAD: Final = 200
"""Maximum number of lines of the original comment that are searched for the start of a block."""
# "- ", "* ", "1. ", "2) "
_ITEM: Final = re.compile(r"\s{0,20}(?:[-*+•]|\d{1,3}[.)])\s")
MAX_CODE_CHARS: Final = 2_000
"""Maximum characters of a block of code in a comment that are shown."""


Piece: TypeAlias = tuple[str, tuple[int, ...]]
"""Text of a part of a comment, and the indices of its sentences and proposals, counted as in
`ReadRemark.indices`."""


class ShownComment(NamedTuple):
    """Visible text of a comment with its code, but without quotes of earlier comments."""

    pieces: tuple[Piece, ...]
    is_whole: bool
    """False if the end of the comment was cut."""

    @property
    def text(self) -> str:
        """The text, without white space at both ends."""
        return "".join(text for text, _ in self.pieces).strip()


def show_comment(
    parsed: ParsedComment, body: str = "", paths: Collection[str] = ()
) -> ShownComment:
    """Return a comment as a request shows it.

    Args:
        parsed: The comment, split into sentences and proposals.
        body: The original comment, which also has the marks of list items and lines with a path.
        paths: Paths of the changed files. Of lines that are in `body` but not in `parsed`, only
            these paths are shown, because any other text there may be invisible to people.
    """
    pieces: list[Piece] = []
    length, lines = 0, [(line, _dense(line)) for line in body.splitlines()]
    for unmarked in _split_into_blocks(parsed):
        block = _add_marks(unmarked, lines, paths)
        length += sum(len(text) for text, _ in block)
        if pieces and length > MAX_COMMENT_CHARS:
            return ShownComment(tuple(pieces), is_whole=False)
        pieces += block
    return ShownComment(tuple(pieces), is_whole=True)


def _add_marks(
    block: list[Piece], lines: list[tuple[str, str]], paths: Collection[str]
) -> list[Piece]:
    """Return a block with what is in no sentence: paths above it, and the mark of a list item.

    `lines` are the original lines below the previous block, each with its letters and digits. The
    lines up to the start of this block are removed from the list.
    """
    (text, indices), *rest = block
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
        (mark + text, indices),
        *rest,
    ]


def _split_into_blocks(parsed: ParsedComment) -> Iterator[list[Piece]]:
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
            (f"{'# ' if position.is_heading else ''}{text} ", (index,))
            for index, (text, position) in enumerate(zip(parsed.sentences, positions, strict=True))
            if position.block == block
        ]
        proposals = [
            count + index
            for index, position in enumerate(parsed.proposal_positions)
            if position.block == block
        ]
        fences = [(kind, text) for at, kind, text in code if at == block]
        # A proposal without a block of code, such as "`a` -> `b`", is shown as text.
        for index in proposals[: len(proposals) - len(fences)] if fences else proposals:
            pieces.append((f"{parsed.proposals[index - count]} ", (index,)))
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
        The indices of the sentences and proposals of each remark, as in `ReadRemark.indices`; empty
        if the quoted words are not in the comment. No index is in two remarks, except that remarks
        in the same sentence have the same indices.
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
        # A model may quote the remarks in another order, so the earlier text is searched, too.
        starts.append(start if start >= 0 or not first else dense.find(first))
        after = max(after, starts[-1] + len(first))
    located: list[tuple[int, ...]] = []
    used_indices: dict[int, tuple[int, ...]] = {}
    for (_, last), start in zip(ends, starts, strict=True):
        # The last words may occur several times. Their last occurrence before the next remark is
        # taken or, without one there, their first occurrence after it.
        limit = min((later for later in starts if later > start), default=len(dense))
        end = max(dense.rfind(last, start, limit), dense.find(last, start)) if last else -1
        pieces = set(owners[start : end + len(last)]) if 0 <= start <= end else set()
        # Code below a remark belongs to the remark, even if the quotation ends above the code.
        stop = owners[limit] if limit < len(dense) else len(shown_comment.pieces)
        for piece_index in range(max(pieces, default=stop) + 1, stop):
            if not shown_comment.pieces[piece_index][0].startswith(("\n", "```")):
                break
            pieces.add(piece_index)
        indices = {index for at in pieces for index in shown_comment.pieces[at][1]}
        # A sentence belongs to the first remark that quotes it. A remark without other sentences
        # gets the indices of that first remark.
        free_indices = tuple(sorted(indices - used_indices.keys()))
        located.append(free_indices or (used_indices[min(indices)] if indices else ()))
        used_indices |= dict.fromkeys(free_indices, free_indices)
    return located


# The guide (`prompts/read.v1.toml`) asks for exact quotations, but some models change punctuation.
def _dense(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text)).casefold()
