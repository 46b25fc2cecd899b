"""Statements: the sentences of a remark with their code masked, so that patterns read the words."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from crscore.records import Comment, Sentence, Suggestion
from crscore.text import CODE_SPAN

_CODE: Final = re.compile(
    CODE_SPAN.pattern
    # obj.method, ns::name, a->b, snake_case, camelCase, name(): not English words.
    + r"|(?<![\w`/.@-])(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*"
    r"(?:\((?:[^\s()]|, (?=\w))*\))?)(?![\w/])"
)
# "max_tries", "maxTries", "a::b", "f(", "os.path"; not "done.", "Retry"
_CODE_LIKE: Final = re.compile(r"_|[a-z0-9][A-Z]|::|->|\(|(?<=\w)\.(?=\w)")
# "e.g.", "example.com", and names of products that have the form of code.
_NO_CODE: Final = re.compile(
    r"(?i:(?:[a-z]\.)+[a-z]\.?|.*\.(?:com|org|io|net))|GitHub|JavaScript|TypeScript|PostgreSQL"
    r"|MySQL|DevTools|OpenAI|OpenTelemetry|MinGW|macOS|iOS|JUnit|PyPI|NaN|JSDoc|JavaDoc|JetBrains"
    r"|GraphQL|[A-Z][a-z]+Rabbit|[A-Z]+s"
)
# "obj.close()" is read as "obj.close", ".get(...)" as "get", "f(x);" as "f(x)".
_ENDS: Final = re.compile(r"^\W*\.(?=\w)|(?:\(\s*(?:\.{3}|…)?\s*\)|[;,])+$")
MASK: Final = "§"
"""Encloses the index of a code mention in the masked text: `§0§` is the first."""
MASKED: Final = r"§\d+§"
"""Matches a code mention in the masked text."""
MAX_CHARS: Final = 600
"""Maximum characters of a sentence that is read: some patterns take quadratic time."""


class CodeMention(NamedTuple):
    """Code that a sentence mentions."""

    code: str
    """As written, without an empty call, a leading dot or a trailing comma."""
    is_span: bool
    """Whether it is in backticks."""


@dataclass(frozen=True, eq=False)
class Phrase:
    """Sentence with its code masked."""

    masked: str
    """The sentence with `§0§`, `§1§` ... for its code mentions."""
    mentions: tuple[CodeMention, ...]

    def mention(self, mask: str | None) -> CodeMention | None:
        """Return the code mention of a mask."""
        return self.mentions[int(mask.strip(MASK))] if mask else None

    def unmask(self, text: str, show: Callable[[str], str] = str) -> str:
        """Return a part of the masked sentence with its code, formatted by `show`."""
        return re.sub(MASKED, lambda mask: show(self.mentions[int(mask[0].strip(MASK))].code), text)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Remark with its comment."""

    sentences: tuple[Sentence, ...]
    """Its sentences and proposals."""
    comment: Comment
    """The comment, with the line it is on."""
    suggestions: tuple[Suggestion, ...] = ()
    """Its suggestion blocks, judged against the lines that they replace."""

    @cached_property
    def phrases(self) -> list[Phrase]:
        """Its sentences with masked code, without proposals of code and very long ones."""
        return [
            mask(unit.text)
            for unit in self.sentences
            if not unit.proposal and len(unit.text) <= MAX_CHARS
        ]


def mask(sentence: str) -> Phrase:
    """Mask the code of a sentence.

    Example:
        >>> mask("Why does `f(x)` call obj.close() twice?").masked
        'Why does §0§ call §1§ twice?'
    """
    mentions: list[CodeMention] = []

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name and (not _CODE_LIKE.search(name) or _NO_CODE.fullmatch(name)):
            return name
        code = _ENDS.sub("", (name or match["code"]).strip()).strip()
        mentions.append(CodeMention(code, is_span=not name))
        return f"{MASK}{len(mentions) - 1}{MASK}"

    # A mask written by the author would refer to a mention that does not exist.
    return Phrase(_CODE.sub(replace, sentence.replace(MASK, " ")), tuple(mentions))
