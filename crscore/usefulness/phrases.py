"""Phrases of a text: runs of one to three words, with code as one word.

The purpose of a sentence shows in its form ("should be", "what if", "nice to"), not in the names
it contains, so all code becomes one token.
"""

import math
import re
from collections import Counter
from typing import Final

MAX_PHRASE_WORDS: Final = 3
"""Maximum words of a phrase."""
MAX_CHARS: Final = 2_000
"""Maximum characters read of a text."""
CODE: Final = "<code>"
# `` `x` ``, ``` ```x``` ```; not across lines.
_CODE_SPAN: Final = re.compile(r"`{1,3}[^`\n]+`{1,3}")
_URL: Final = re.compile(r"https?://\S+")
# `@octocat`, not the `@` of `a@b.c` or of a decorator in code.
_MENTION: Final = re.compile(r"(?<![\w`])@\w[\w-]*")
# Bounded, to stay linear, where a name may begin inside a word.
# `camelCase`, `snake_case`, `call()`, `module.name(`, `--flag`.
_CODE_NAME: Final = re.compile(
    r"[A-Za-z_$]{0,200}[a-z][A-Z][\w$]*|(?<!\w)\w*\w_\w+|[\w.]{1,200}\(\)"
    r"|(?<!\w)\w+(?:\.\w+)+\(?|--\w[\w-]*"
)
# `<code>`, `shouldn't`, `12`, `...`, `?`.
_TOKEN: Final = re.compile(r"<\w+>|[^\W\d_]+(?:'[a-z]+)?|\d+|\.{2,}|[?!.,:;]")
SHAPE_FEATURES: Final = (
    "length", "length2", "short", "asks_last", "asks", "code", "code_share", "digits", "quotes",
    "capital", "colon_last", "first_person", "second_person", "negated",
    "mentions",
)  # fmt: skip
"""Names of the features of a text's form."""


def tokenize(text: str) -> list[str]:
    """Return the words of a text in lower case, with punctuation, and with code as one word.

    Example:
        >>> tokenize("Shouldn't `a.b` be in parseHeader()?")
        ["shouldn't", '<code>', 'be', 'in', '<code>', '?']
    """
    text = text[:MAX_CHARS].replace("’", "'")
    # Code first: an address or a name inside it is code.
    text = _URL.sub(" <url> ", _CODE_SPAN.sub(f" {CODE} ", text))
    text = _CODE_NAME.sub(f" {CODE} ", _MENTION.sub(" <user> ", text)).lower()
    tokens = _TOKEN.findall(text)
    return [
        "<number>" if token.isdigit() else token
        for index, token in enumerate(tokens)
        if not (token == CODE and index and tokens[index - 1] == CODE)
    ]


def phrases(text: str) -> set[str]:
    """Return the distinct phrases of a text, its start marked by `^`.

    Example:
        >>> sorted(phrases("Why?"))
        ['?', '^ why', '^ why ?', 'why', 'why ?']
    """
    # The start shows the form: "why" at the start asks.
    tokens = ["^", *tokenize(text)]
    runs = {
        " ".join(tokens[start : start + size])
        for size in range(1, MAX_PHRASE_WORDS + 1)
        for start in range(len(tokens) - size + 1)
    }
    return runs - {"^"}


def measure_shape(text: str) -> list[float]:
    """Measure the form of a text; one value for each of `SHAPE_FEATURES`."""
    tokens = tokenize(text)
    counts = Counter(tokens)
    length = len(tokens)
    size = math.log1p(length)
    stripped = text.strip()
    return [
        size,
        size * size,
        length <= 4,
        stripped.endswith("?"),
        math.log1p(counts["?"]),
        math.log1p(counts[CODE]),
        counts[CODE] / max(1, length),
        counts["<number>"] > 0,
        '"' in text,
        stripped[:1].isupper(),
        stripped.endswith(":"),
        bool({"i", "i'm", "i'd", "my", "me", "i've"} & counts.keys()),
        bool({"you", "your", "you're"} & counts.keys()),
        any(token.endswith("n't") or token in ("not", "no", "never") for token in counts),
        counts["<user>"] > 0,
    ]
