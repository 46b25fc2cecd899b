"""Conversion of code to words: operators and the parts of names."""

from __future__ import annotations

import re

from crscore.claims.structural.english import as_words, quote
from crscore.claims.structural.mentions import dual

SHORT = 14
"""Characters up to which code is shown unchanged."""
MAX_PHRASE_CHARS = 110
"""Longest phrase in characters; longer code is only quoted."""

_STRING = re.compile(r"""([rbfuL@$]*)(["'`])((?:\\.|(?!\2).)*)\2""")
_WORD = re.compile(r"[A-Za-z_$@][\w$]*")
_PLAIN = re.compile(r"[\w$]+|['\"][^'\"]*['\"]")
_OPERATORS = (
    (r"(?<=\w)\(\s*(?=[^)\s])", " of "),
    (r"\s*===?\s*(?:null|None|nil|undefined|nullptr|NULL)\b", " is null "),
    (r"\s*!==?\s*(?:null|None|nil|undefined|nullptr|NULL)\b", " is not null "),
    (r"\bis not None\b", " is not none "),
    (r"\bis None\b", " is none "),
    (r"&&", " and "),
    (r"\|\|", " or "),
    (r"\?\?", " or else "),
    (r"===?", " equals "),
    (r"!==?", " does not equal "),
    (r"<=", " is at most "),
    (r">=", " is at least "),
    (r"->|::|\?\.", " "),
    (r"=>", " gives "),
    (r"\s<\s", " is less than "),
    (r"\s>\s", " is greater than "),
    (r"!(?=[\w(])", " not "),
    (r"\+", " plus "),
    (r"\s-\s", " minus "),
    (r"\s\*\s", " times "),
    (r"\s/\s", " divided by "),
    (r"\s%\s", " modulo "),
    (r",", ", "),
    (r"[?:;.(){}\[\]=&|*/%^~@$!<>\\-]", " "),
)


def code_to_words(code: str) -> str:
    """Return a piece of code in plain words; empty when the words add nothing to the code.

    Example:
        >>> code_to_words("base.currentSnapshot() != null")
        'base current snapshot is not null'
    """
    if len(code) > 2 * MAX_PHRASE_CHARS:
        return ""
    kept: list[str] = []

    def hold(match: re.Match[str]) -> str:
        kept.append(match[3])
        return f" \x00{len(kept) - 1}\x01 "

    text = _STRING.sub(hold, code)
    for pattern, word in _OPERATORS:
        text = re.sub(pattern, word, text)
    words = [_spoken(piece, kept) for piece in text.split()]
    phrase = " ".join(" ".join(word for word in words if word).split())
    phrase = phrase.replace(" ,", ",").strip(" ,")
    return "" if len(phrase) > MAX_PHRASE_CHARS or phrase == code or " " not in phrase else phrase


def _spoken(piece: str, kept: list[str]) -> str:
    held = re.match(r"\x00(\d+)\x01", piece)
    if held:
        text = kept[int(held[1])]
        return f"'{text}'" if text.strip() else "an empty string"
    return as_words(piece) if _WORD.fullmatch(piece) else piece


def aloud(code: str, limit: int = 90) -> str:
    """Return code in backticks for people, with an expression in words for the encoder."""
    text = code.strip()
    quoted = quote(text, limit)
    if len(text) <= SHORT or _PLAIN.fullmatch(text):
        return quoted
    return dual(quoted, code_to_words(text) or quoted)


_KINDS = (
    (re.compile(r"(?i)true|false"), "the boolean"),
    (re.compile(r"[-+]?(?:0x)?\d[\w.]*"), "the number"),
    (re.compile(r"[rbfuL@$]*([\"']).*\1", re.DOTALL), "the string"),
    (re.compile(r"`.*`", re.DOTALL), "the template string"),
    (re.compile(r"\[.*\]", re.DOTALL), "the list"),
    (re.compile(r"new\s+\w.*", re.DOTALL), "a new object,"),
    (re.compile(r"(?:await\s+)?[\w.$@>:-]+\(.*\)", re.DOTALL), "the result of"),
)


def value_text(code: str, limit: int = 70) -> str:
    """Return a value with its kind: "the number `3`", "the result of `f()`"."""
    for pattern, kind in _KINDS:
        if pattern.fullmatch(code.strip()):
            return f"{kind} {aloud(code, limit)}"
    return aloud(code, limit)


def callee_text(callee: str) -> str:
    """Return the callee: `f` alone, or a method with its receiver."""
    text = callee.strip()
    match = _METHOD.fullmatch(text)
    if match is None or match[1] in _SELVES:
        return quote(match[2] if match else text, 60)
    return f"{quote(match[2])} on {aloud(match[1], 50)}"


_METHOD = re.compile(r"(.+)(?:\.|->|::|\?\.)([A-Za-z_$][\w$]*)", re.DOTALL)
_SELVES = frozenset({"self", "this", "cls", "super", "super()", "$this", "@"})
