"""Splits code into tokens for the metrics that compare tokens."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal

TokenKind = Literal["code", "tranx", "whitespace"]

# Parts of names (`HTTP` and `Server`, `max` and `size`, `é`), numbers, and characters of operators;
# brackets, separators and quotation marks are left out.
_CODE: Final = re.compile(
    r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W0-9_A-Za-z]+|[^\w\s()\[\]{},;.:'\"`]"
)
# Matches before the `L` of `myList`, and nowhere in `HTTPServer`.
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TRANX: Final = re.compile(r"[A-Za-z0-9_]+|[^\sA-Za-z0-9_]")


def tranx(code: str) -> list[str]:
    """Split code as the programs of "Out of the BLEU" and the model tranX do.

    A token is a run of ASCII letters, digits and `_`, or any other single character except white
    space. A capital after a small letter begins a new token, and quotation marks become backticks.

    Source:
        Evtikhiev et al., "Out of the BLEU", JSS 2023, and its code.

    Example:
        >>> tranx("myList['a'] == 1")
        ['my', 'List', '[', '`', 'a', '`', ']', '=', '=', '1']
    """
    return _TRANX.findall(_CAMEL.sub(" ", code).replace('"', "`").replace("'", "`"))


def code(text: str) -> list[str]:
    """Split code of any language into parts of names, numbers and operators, in lower case.

    ROUGE-L, METEOR and CodeBLEU use this by default. Text that consists only of brackets and
    separators is split into its characters.

    Example:
        >>> code("rowList[i] += self.max_size")
        ['row', 'list', 'i', '+', '=', 'self', 'max', 'size']
    """
    # Brackets and separators are left out, because all code has them; operators are kept, because
    # another operator changes what code does. If there is nothing else, brackets count, so that
    # `[]` differs from `{}`.
    return [token.lower() for token in _CODE.findall(text)] or list("".join(text.split()))


_TOKENIZERS: Final[dict[TokenKind, Callable[[str], list[str]]]] = {
    "code": code,
    "tranx": tranx,
    "whitespace": str.split,
}


@lru_cache(maxsize=256)
def split(text: str, kind: TokenKind) -> list[str]:
    """Split code into tokens; the result is cached, because references occur repeatedly."""
    return _TOKENIZERS[kind](text)
