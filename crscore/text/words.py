"""English words and the parts of names in code."""

import re
from functools import lru_cache
from typing import Final

# The parts of `HTTPServer2_name`: HTTP, Server, 2, name.
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
# Longest first, so that one pass takes the whole ending.
_ENDINGS: Final = (
    "ization", "ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "ed", "er", "es",
    "s", "ly", "e",
)  # fmt: skip


def split_identifier(text: str) -> list[str]:
    """Return the words that make up a name, in lower case.

    Args:
        text: A name in camelCase, snake_case or a mix of both; other text is split in the same way,
            and characters other than letters and digits are dropped.

    Example:
        >>> split_identifier("HTTPServer2_name"), split_identifier("userId and $user_id")
        (['http', 'server', '2', 'name'], ['user', 'id', 'and', 'user', 'id'])
    """
    return [part.lower() for part in _PART.findall(text)]


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a word without its English ending, so that `renamed` and `renaming` are equal.

    A library stemmer is more accurate for English, but names in code are not English, and the
    weights of the calibrated matcher were trained on these stems.

    Args:
        word: Word in lower case.

    Returns:
        At least three letters of the word, or all of it.

    Example:
        >>> stem("renamed"), stem("renaming"), stem("is")
        ('renam', 'renam', 'is')
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
