"""What a remark says, as far as it is needed: its pieces of code, and the words around them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from crscore.records import Comment, Sentence, Suggestion
from crscore.text.code_spans import CODE_SPAN
from crscore.verdicts.code import clean, tokens_of

_CODE: Final = re.compile(
    CODE_SPAN.pattern
    # obj.method, ns::name, a->b, snake_case, camelCase, name(): what is no English word.
    + r"|(?<![\w`/.@-])(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*"
    r"(?:\((?:[^\s()]|, (?=\w))*\))?)(?![\w/])"
)
_CODE_LIKE: Final = re.compile(r"_|[a-z0-9][A-Z]|::|->|\(|(?<=\w)\.(?=\w)")
_NO_CODE: Final = re.compile(
    r"(?i:(?:[a-z]\.)+[a-z]\.?|.*\.(?:com|org|io|net))|GitHub|JavaScript|TypeScript|PostgreSQL"
    r"|MySQL|DevTools|OpenAI|OpenTelemetry|MinGW|macOS|iOS|JUnit|PyPI|NaN|JSDoc|JavaDoc|JetBrains"
    r"|GraphQL|[A-Z][a-z]+Rabbit|[A-Z]+s"
)
MASK: Final = "§"
"""Encloses the number of a piece of code in the masked text: `§0§` for the first."""
MAX_CHARS: Final = 600
"""Maximum characters of a sentence that is read: some patterns take quadratic time."""
MIN_TOKENS: Final = 3
"""Tokens from which a piece of code says more than a name: `a.b` has three."""
MIN_VERBATIM_TOKENS: Final = 4
"""Tokens from which a quoted piece of code is verbatim: `f(x)` has four."""


class Piece(NamedTuple):
    """Piece of code in a sentence."""

    code: str
    """As written, cleaned."""
    is_span: bool
    """Whether it is in backticks."""

    @property
    def words(self) -> list[str]:
        """Its names and numbers."""
        return [token for token in tokens_of(self.code) if token[0].isalnum() or token[0] == "_"]

    @property
    def last(self) -> str:
        """Its last name."""
        words = self.words
        return words[-1] if words else ""

    @property
    def is_verbatim(self) -> bool:
        """Whether it is more than a name, so that finding it word for word says something."""
        return self.is_span and len(tokens_of(self.code)) >= MIN_VERBATIM_TOKENS


@dataclass(frozen=True, slots=False, eq=False)
class Phrase:
    """Sentence with its code masked."""

    masked: str
    """The sentence with `§0§`, `§1§` ... for its pieces of code."""
    pieces: tuple[Piece, ...]

    def piece(self, mask: str | None) -> Piece | None:
        """Return the piece of a mask."""
        return self.pieces[int(mask.strip(MASK))] if mask else None

    def unmask(self, text: str, show: Callable[[str], str] = str) -> str:
        """Return a part of the masked sentence with its code, each piece as `show` makes it."""
        return re.sub(
            rf"{MASK}(\d+){MASK}", lambda mask: show(self.pieces[int(mask[1])].code), text
        )


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Remark with its comment."""

    sentences: tuple[Sentence, ...]
    """Its sentences and proposals."""
    comment: Comment
    """The comment, with the place it is on."""
    suggestions: tuple[Suggestion, ...] = ()
    """Its suggestion blocks, judged in their place."""

    @cached_property
    def phrases(self) -> list[Phrase]:
        """Its sentences with masked code, without proposals of code and very long ones."""
        return [
            mask(unit.text)
            for unit in self.sentences
            if not unit.proposal and len(unit.text) <= MAX_CHARS
        ]

    @cached_property
    def pieces(self) -> list[Piece]:
        """All pieces of code."""
        return [piece for phrase in self.phrases for piece in phrase.pieces]


def mask(sentence: str) -> Phrase:
    """Mask the code of a sentence.

    Example:
        >>> mask("Why does `f(x)` call obj.close() twice?").masked
        'Why does §0§ call §1§ twice?'
    """
    pieces: list[Piece] = []

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name and (not _CODE_LIKE.search(name) or _NO_CODE.fullmatch(name)):
            return name
        pieces.append(Piece(clean(name or match["code"]), is_span=not name))
        return f"{MASK}{len(pieces) - 1}{MASK}"

    # A mask that the author wrote would be one of a piece that does not exist.
    return Phrase(_CODE.sub(replace, sentence.replace(MASK, " ")), tuple(pieces))
