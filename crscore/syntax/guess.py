"""Language detection for code whose file name does not determine it."""

import re
from collections.abc import Sequence

from crscore.syntax.fragments import complete
from crscore.syntax.grammars import Language, languages_known
from crscore.syntax.outline import Outline

MAX_LINES = 120
"""Maximum lines that are parsed for a guess; the others are ignored."""
MAX_CHARACTERS = 20_000
"""Maximum characters of code whose language is guessed."""
MAX_ERRORS = 0.03
"""Maximum share of bytes that the grammar may fail to read, in [0, 1]."""


def guess(lines: Sequence[str]) -> Language | None:
    """Return the language whose grammar parses some code best, or None if none parses it well.

    Args:
        lines: Consecutive lines of one side of a hunk.
    """
    tried = lines[:MAX_LINES]
    size = sum(map(len, tried))
    if not 0 < size <= MAX_CHARACTERS:
        return None
    best: tuple[float, float, int] | None = None
    best_language: Language | None = None
    for language in languages_known():
        outline = complete(language, tried, 1).outline
        share = outline.errors / size
        # JavaScript also parses as TypeScript, and C as C++: rounding makes these shares equal, so
        # that the information and then the precedence decide.
        rank = (round(share, 3), -_information(outline), language.precedence)
        # Prose such as "It's odd." can parse as names; text without a declaration or a fact is not
        # code.
        if share <= MAX_ERRORS and _information(outline) > 0 and (best is None or rank < best):
            best, best_language = rank, language
    return best_language


def _information(outline: Outline) -> float:
    """Return the number of declarations and facts per token, rounded."""
    units = outline.units
    tokens = sum(len(unit.tokens) for unit in units)
    count = sum(len(unit.facts) for unit in units) + 3 * (len(units) - 1)
    return round(count / tokens, 1) if tokens else 0.0


# "class A {", "namespace n {", "public:", "std::", "#include <vector>"; but not C's "#include
# <stdio.h>" or "struct class *f(struct class *class);", where `class` is a name.
_CPP_ONLY = re.compile(
    # Repetition is bounded, as a hostile line may consist of these words only.
    r"(?<!struct )\bclass\s+\w[^;\n]{0,300}[;{<:]"
    r"|\b(?:namespace|template|typename|constexpr|nullptr|noexcept|decltype|using)\b"
    r"[^;\n]{0,300}[;{<:]"
    r"|\b(?:public|private|protected)\s*:|\bstd::|\boperator\s*[<>=!+*()-]|^[^\S\n]*#\s*include\s*<[a-z_]+>",
    re.MULTILINE,
)
# "src/a.cpp", "a.hh"; not "a.h", which may be C
_CPP_FILE = re.compile(r"\.(?:cc|cpp|cxx|hpp|hh|hxx|ipp|inl)$")
# The last alternative matches a line of a comment that starts above the known part of the header.
_COMMENTS = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|^[^\S\n]*\*[^\n]*", re.DOTALL | re.MULTILINE)


def is_cpp_header(text: str, paths: Sequence[str]) -> bool:
    """Return whether a `.h` file is C++, by its content or else by the other changed files.

    Args:
        text: Text of the header, or the known part of it.
        paths: Paths of all changed files.
    """
    if _CPP_ONLY.search(_COMMENTS.sub("", text[:MAX_CHARACTERS])):
        return True
    has_c = any(path.endswith(".c") for path in paths)
    return not has_c and any(_CPP_FILE.search(path) for path in paths)
