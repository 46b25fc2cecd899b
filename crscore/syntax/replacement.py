"""Finds the effect of a replacement of lines: whether the text still parses, and what changes.

Only syntax trees are compared, which is fast enough for every run. They cannot prove that two
pieces of code behave the same, so a change is `Effect.BEHAVIOUR` unless it is proven to be a change
of white space, comments or names only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.records import Effect
from crscore.syntax.fragments import parse_lines
from crscore.syntax.grammars import Language, language_of
from crscore.syntax.outliner import errors_in
from crscore.syntax.sketch import sketch_tokens
from crscore.syntax.trees import Token, is_readable, tokens

if TYPE_CHECKING:
    import tree_sitter

MAX_LINES: Final = 20_000
"""Maximum number of lines of a text in which a suggestion is judged."""
# Comparing names is slow, because it needs the whole file, not only the suggestion's lines.
MAX_LINES_FOR_NAMES: Final = 3_000
"""Maximum number of lines of a file whose names are compared."""


def find_effect(
    lines: Sequence[str], span: range, code: str, language: str | None, *, is_whole: bool
) -> tuple[bool | None, Effect | None, str | None]:
    """Find the effect of replacing lines.

    Args:
        lines: Lines of a file or of a hunk.
        span: Indices of the lines that are replaced.
        code: The replacement; empty to remove the lines.
        language: Language as in `ChangedFile.language`.
        is_whole: Whether `lines` is the whole file.

    Returns:
        Whether the changed text parses, or None if this is unknown; the effect, or None if it is
        unknown; and the reason why one of the two is unknown, or None.
    """
    # Line ends are ignored: a file may have CRLF and the suggestion LF.
    old = [line.removesuffix("\r") for line in lines]
    # An empty suggestion removes the lines; splitting it would give one blank line.
    suggested = code.replace("\r\n", "\n").split("\n") if code else []
    if old[span.start : span.stop] == suggested:
        return None, Effect.NOTHING, None
    grammar = language_of(language)
    if grammar is None:
        return None, None, f"no grammar for {language or 'its language'}"
    if len(old) > MAX_LINES:
        return None, None, "the file is too long"
    new = [*old[: span.start], *suggested, *old[span.stop :]]
    inserted = range(span.start, span.start + len(suggested))
    before, after = (
        _ParsedText(grammar, *parse_lines(grammar, text, is_whole=is_whole)) for text in (old, new)
    )
    effect: Effect | None = None
    # Text that the grammar could not read has no tokens, so equal tokens would prove nothing.
    if before.is_read(span) and after.is_read(inserted):
        sides = before.tokens(span), after.tokens(inserted)
        without_comments = [[token for token in side if not token.is_comment] for side in sides]
        if sides[0] == sides[1]:
            effect = Effect.WHITE_SPACE
        elif without_comments[0] == without_comments[1]:
            effect = Effect.COMMENTS
        else:
            effect = Effect.BEHAVIOUR
    # Names are compared only in whole files, because a hunk may not show every use of a name.
    if effect is Effect.BEHAVIOUR and is_whole and max(len(old), len(new)) <= MAX_LINES_FOR_NAMES:
        sketches = [sketch_tokens("\n".join(text), grammar.name) for text in (old, new)]
        effect = Effect.NAMES if sketches[0] == sketches[1] else effect
    parses, reason = _still_parses(before, after)
    # A hunk does not show the indentation of the blocks around it.
    ends_more_blocks = not set(_outer_levels(new)) <= set(_outer_levels(old))
    if parses and not is_whole and grammar.indented and ends_more_blocks:
        parses, reason = None, "the diff does not show the block with the suggestion's indentation"
    return parses, effect, reason


def _still_parses(before: _ParsedText, after: _ParsedText) -> tuple[bool | None, str | None]:
    """Return whether a text still parses, and the reason if this is undecided.

    Python's own parser decides for Python, except for Python 2 and for versions newer than the
    running one, which only the grammar reads.
    """
    # A suggestion is not at fault if the file already had syntax that the grammar does not know.
    # Errors are counted, because `has_error` is also true if the grammar inserts a hidden line
    # break at the end.
    if errors_in(after.root):
        had_errors = errors_in(before.root) > 0
        return (None, "the code around it does not parse") if had_errors else (False, None)
    is_broken = is_readable(before.source, before.grammar) and not is_readable(
        after.source, after.grammar
    )
    return not is_broken, None


def _outer_levels(lines: Sequence[str]) -> Iterator[str]:
    """Yield the indentation of each line that is indented less than all lines above it."""
    smallest: str | None = None
    for line in lines:
        indentation = line[: len(line) - len(line.lstrip())]
        if line.strip() and (smallest is None or len(indentation) < len(smallest)):
            smallest = indentation
            yield indentation


class _ParsedText(NamedTuple):
    """Text with its syntax tree."""

    grammar: Language
    source: str
    root: tree_sitter.Node
    lines_before: int
    """Number of lines added before the text to make it parse."""

    def tokens(self, span: range) -> list[Token]:
        """Return the tokens in these lines and the first token after them, without its text."""
        first, last = span.start + self.lines_before, span.stop + self.lines_before
        selected: list[Token] = []
        for token in tokens(self.root, self.grammar, first):
            if token.row < last:
                selected.append(token._replace(row=0))
            elif not token.is_comment:
                # The token's ancestors show which block comes next: in Python, a dedent changes
                # only these.
                selected.append(token._replace(text="", kind="", row=0))
                break
        return selected

    def is_read(self, span: range) -> bool:
        """Return whether the grammar read these lines; text that it cannot read has no tokens."""
        first, last = span.start + self.lines_before, span.stop + self.lines_before
        stack = [self.root] if self.root.has_error else []
        while stack:
            node = stack.pop()
            if node.end_point.row < first or node.start_point.row >= last:
                continue
            if node.is_error:
                return False
            stack.extend(child for child in node.children if child.has_error)
        return True
