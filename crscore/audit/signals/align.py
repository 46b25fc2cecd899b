"""Alignment of two texts of a file by content.

White space, the kind of quotes, and commas before a closing bracket do not count, so a line that
was only reformatted, even over several lines, is unchanged. Blank lines are ignored.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, NamedTuple

MAX_LINES: Final = 20_000
"""Maximum lines of a file that is followed."""
EXACT_PAIRS: Final = 1_000_000
"""Maximum pairs of words that are all compared. Above it, the matcher ignores frequent words,
as its time grows with the square of the text."""
# A word of letters, digits and `_`, or one other character: `a_1`, `=`, `(`.
_WORD: Final = re.compile(r"\w+|[^\w\s]")
# Formatters exchange quotes: `'a'` and `"a"` are the same word.
_QUOTES: Final = str.maketrans({"'": '"', "`": '"'})
_CLOSING: Final = frozenset(")]}")


class Position(NamedTuple):
    """Position of a line of the older text in the newer one."""

    start: int
    """First line, from 0."""
    end: int
    """Line after the last; more than one line when it was wrapped."""


Alignment = list[Position | None]
"""Position of each line of the older text; None where it is missing or blank."""


class _Word(NamedTuple):
    text: str
    line: int


def line_key(line: str) -> str:
    """Return the words of a line, joined, as a key for comparison; empty for a blank line.

    Example:
        >>> line_key("  call('a',b )")
        'call ( " a " , b )'
    """
    return " ".join(_WORD.findall(line.translate(_QUOTES)))


def file_words(lines: Sequence[str]) -> list[str]:
    """Return the words by which a text is compared."""
    return [word.text for word in _words(lines, range(len(lines)), ())]


def align(old: Sequence[str], new: Sequence[str]) -> Alignment:
    """Find the positions of the lines of a text in a newer one.

    Args:
        old: Lines of the older text.
        new: Lines of the newer text.

    Returns:
        The position of each line of `old`.

    Example:
        >>> align(["a = 1", "f(b, c)"], ["a = 2", "f(", "  b,", "  c,", ")"])
        [None, Position(start=1, end=5)]
    """
    alignment: Alignment = [None] * len(old)
    old_line_numbers, old_keys = _keys(old)
    new_line_numbers, new_keys = _keys(new)
    # Without blank lines: an inserted one moves nothing.
    for tag, start, end, new_start, new_end in SequenceMatcher(
        None, old_keys, new_keys
    ).get_opcodes():
        if tag == "equal":
            for index in range(end - start):
                line = new_line_numbers[new_start + index]
                alignment[old_line_numbers[start + index]] = Position(line, line + 1)
        # Within replaced blocks, words are compared: a line that was wrapped or joined has the same
        # ones.
        elif tag == "replace":
            before = _words(old, old_line_numbers[start:end], old_line_numbers[end : end + 1])
            after = _words(
                new, new_line_numbers[new_start:new_end], new_line_numbers[new_end : new_end + 1]
            )
            for line, position in _match_words(list(before), list(after)):
                alignment[line] = position
    return alignment


def _keys(lines: Sequence[str]) -> tuple[list[int], list[str]]:
    keys = [line_key(line) for line in lines]
    return [line_number for line_number, key in enumerate(keys) if key], [
        key for key in keys if key
    ]


def _words(
    lines: Sequence[str], line_numbers: Sequence[int], following: Sequence[int]
) -> Iterator[_Word]:
    """Yield the words of some lines, without commas before a closing bracket."""
    # The lines after a block only show whether its last comma precedes a closing bracket.
    words = [
        _Word(text, line) for line in (*line_numbers, *following) for text in _split(lines[line])
    ]
    last = frozenset(following)
    for word, next_word in pairwise([*words, _Word("", -1)]):
        if word.line not in last and not (word.text == "," and next_word.text in _CLOSING):
            yield word


def _split(line: str) -> list[str]:
    return _WORD.findall(line.translate(_QUOTES))


def _match_words(old: Sequence[_Word], new: Sequence[_Word]) -> Iterator[tuple[int, Position]]:
    """Yield the older lines whose words stayed together, with no new word on their new lines."""
    matcher = SequenceMatcher(
        None,
        [word.text for word in old],
        [word.text for word in new],
        autojunk=len(old) * len(new) > EXACT_PAIRS,
    )
    blocks = matcher.get_matching_blocks()
    matched = {block.b + index for block in blocks for index in range(block.size)}

    def is_added(word_index: int, line: int) -> bool:
        return (
            0 <= word_index < len(new)
            and new[word_index].line == line
            and word_index not in matched
        )

    for block in blocks:
        for start, end in _whole_lines(old, block.a, block.a + block.size):
            first, last = start + block.b - block.a, end - 1 + block.b - block.a
            if not is_added(first - 1, new[first].line) and not is_added(last + 1, new[last].line):
                yield old[start].line, Position(new[first].line, new[last].line + 1)


def _whole_lines(words: Sequence[_Word], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of words that are whole lines within a range."""
    first = start
    for index in range(start, end):
        if index > 0 and words[index - 1].line != words[index].line:
            first = index
        is_first = first == 0 or words[first - 1].line != words[first].line
        is_last = index + 1 == len(words) or words[index + 1].line != words[index].line
        if is_first and is_last:
            yield first, index + 1
