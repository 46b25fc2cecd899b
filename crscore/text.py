"""Decodes, cleans and shortens text; finds its words, stems, names, code and cues of intent."""

import base64
import codecs
import html
import json
import re
import tomllib
import urllib.parse
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

_LISTS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
# The list is copied from NLTK, because later releases have more words, which would change scores.
ENGLISH: Final = frozenset(_LISTS["stopwords"].split())
"""English stop words in lower case, with the parts of split contractions (`don`, `ll`).

Source:
    The English list of the stop word corpus of NLTK until 2024 (179 entries), in the same order.
"""

IGNORED_PIECES = ENGLISH | {".", ","}
"""Word pieces left out of a sentence's vector.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801. The reference code adds the full stop and the comma
    to the stop words.
"""

# Matches each word of a name: of `HTTPServer2_name`, HTTP, Server, 2 and name.
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
# Longer endings come first, so that "ings" is removed from "settings" and not only "s".
_ENDINGS: Final = (
    "ization", "ations", "ation", "ings", "ing", "edly", "ies", "ied", "ers", "ed", "er", "es",
    "s", "ly", "e",
)  # fmt: skip


def replace_surrogates(text: str) -> str:
    r"""Replace lone surrogates, which JSON can contain but UTF-8 cannot, by question marks.

    Example:
        >>> replace_surrogates("a\ud800b")
        'a?b'
    """
    return text.encode(errors="replace").decode()


def decode_text(data: bytes, errors: str = "replace") -> str:
    r"""Decode UTF-8, with or without a byte order mark, UTF-16 with one, or Windows-1252.

    Windows-1252 is recognized only if `errors` is `replace`.

    >>> decode_text(b"\xef\xbb\xbfa"), decode_text("a".encode("utf-16")), decode_text(b"caf\xe9s")
    ('a', 'a', 'caf\xe9s')
    """
    # PowerShell 5 writes redirected output (`git diff > change.diff`) as UTF-16 with a byte order
    # mark:
    # https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_character_encoding
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if is_wide else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as exc:
        # If no character beyond ASCII is valid UTF-8, the text probably comes from a Western
        # Windows, which browsers also assume: https://html.spec.whatwg.org/multipage/parsing.html
        is_damaged = is_wide or exc.reason == "unexpected end of data"
        if errors == "replace" and not is_damaged and data.decode(encoding, "ignore").isascii():
            encoding = "cp1252"
    return data.decode(encoding, errors)


# Controls except tab and newline, soft hyphen, joiners, fillers, zero-width and bidi characters,
# variation selectors, tags, and lone surrogates (possible in JSON, but rejected by encoders).
INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Matches a character that is not visible on the screen."""
_LINE_ENDS: Final = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")


def clean(text: str) -> str:
    r"""Remove invisible characters and convert every line end to a newline.

    Example:
        >>> clean("a\u200bb\r\nc")
        'ab\nc'
    """
    return INVISIBLE.sub("", _LINE_ENDS.sub("\n", text))


def mask_secret(text: bytes, secret: bytes) -> bytes:
    """Replace each occurrence of a secret in a server's response, plain or encoded, by `***`.

    The secret may be encoded as in a URL, in JSON, in HTML or in base64, also as a part of a longer
    encoded text. In base64, the characters next to the mask may show up to four bits of the secret.

    >>> mask_secret(b"login bWU6YWJjZGVmZ2hp", b"abcdefghi")  # base64 of "me:abcdefghi"
    b'login bWU6***'
    """
    plain = secret.decode("latin-1")
    spellings = {
        plain,
        urllib.parse.quote(plain, safe=""),
        json.dumps(plain)[1:-1],
        html.escape(plain),
    }
    forms = {form.replace("/", slash).encode() for form in spellings for slash in ("/", "\\/")}
    # base64 encodes groups of three bytes, so the code of the secret depends on the number of bytes
    # before it in its group. A character that encodes both these bytes and the secret is skipped.
    for before, skipped in ((0, 0), (1, 2), (2, 3)):
        code = base64.b64encode(bytes(before) + secret)[skipped : (before + len(secret)) * 8 // 6]
        forms |= {code, code.translate(bytes.maketrans(b"+/", b"-_"))}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, b"***")
    return text


def split_identifier(text: str) -> list[str]:
    """Split a name into its words, in lower case.

    Args:
        text: A name in camelCase, snake_case or both. Other text is split in the same way.
            Characters other than letters and digits are dropped.

    Example:
        >>> split_identifier("HTTPServer2_name"), split_identifier("userId and $user_id")
        (['http', 'server', '2', 'name'], ['user', 'id', 'and', 'user', 'id'])
    """
    return [part.lower() for part in _PART.findall(text)]


# Cached, because the same words occur in many texts.
@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a word without its English ending, so that `renamed` and `renaming` become equal.

    Args:
        word: Word in lower case.

    Returns:
        At least three letters of the word, or all of it.

    Example:
        >>> stem("renamed"), stem("renaming"), stem("is")
        ('renam', 'renam', 'is')
    """
    # The stemmer of a library is more accurate for English, but names in code are not English, and
    # the weights of the calibrated matcher were trained with these stems.
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


# Code spans of CommonMark may also cross lines and be longer:
# https://spec.commonmark.org/0.31.2/#code-spans
CODE_SPAN: Final = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`)(?P<code>[^\n]{1,1000}?)(?<!`)(?P=ticks)(?!`)"
)
"""Matches a code span on one line, such as `name` or ``a `quoted` name``, which ends with as many
backticks as it begins with. Its length is limited, so that the end of a span that is never closed
is not searched for in a long text.
"""

MAX_QUOTE_CHARS: Final = 110
"""Maximum characters of code that is quoted in a sentence."""
# Matches "parse" and "user_id"; not "x", "id", "3d".
_IDENTIFIER: Final = re.compile(r"\b[^\W\d]\w{2,}")


def find_code_spans(text: str) -> list[str]:
    """Return the contents of the code spans of a text, without the backticks.

    Example:
        >>> find_code_spans("Rename `a` to ``b`c``.")
        ['a', 'b`c']
    """
    return [match["code"] for match in CODE_SPAN.finditer(text)]


def code_names(text: str) -> frozenset[str]:
    """Return the identifiers in the code spans of a text, in lower case.

    Example:
        >>> sorted(code_names("`parse(text)` calls `Parse` and ends."))
        ['parse', 'text']
    """
    return frozenset(
        name.lower() for span in find_code_spans(text) for name in _IDENTIFIER.findall(span)
    )


# Matches names of several words (`userId`, `user_id`), calls and dotted names outside of backticks.
# The length is limited, because in a long run of letters a match is tried from each letter.
_NAME_LIKE: Final = re.compile(
    r"(?<![\w.])[\w$.]{0,80}(?:[a-z][A-Z]|[A-Za-z]_[A-Za-z]|\w\(\)|[a-z]{2}\.[a-z]{2})[\w$.]{0,80}(?:\(\))?"
)
# The weights that `usefulness/reading.py` uses were trained with this word.
NAME_MASK: Final = "x"


def find_code(text: str) -> list[str]:
    """Return the code in a text: distinct code spans, and then distinct names outside of them.

    Example:
        >>> find_code("`a.b(c)` calls parseFile() before user_id is set.")
        ['a.b(c)', 'parseFile', 'user_id']
    """
    names = (match[0].strip("().") for match in _NAME_LIKE.finditer(CODE_SPAN.sub(" ", text)))
    return list(dict.fromkeys([*find_code_spans(text), *names]))


def mask_names(text: str) -> str:
    """Replace code spans, and names of code outside of them, with `NAME_MASK`.

    Example:
        >>> mask_names("`a.b(c)` calls parseFile() before user_id is set.")
        'x calls x before x is set.'
    """
    return _NAME_LIKE.sub(NAME_MASK, CODE_SPAN.sub(NAME_MASK, text))


def quote(code: str, limit: int = MAX_QUOTE_CHARS) -> str:
    """Return code on one line in backticks, cut to `limit` characters; "" for blank code."""
    # A backtick within the code would end the code span.
    text = shorten(" ".join(code.replace("`", "'").split()).rstrip(";,"), limit)
    return f"`{text}`" if text else ""


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` characters of a text, with an ellipsis where it is cut.

    Example:
        >>> shorten("a b c", 3), shorten("abc", 3)
        ('a…', 'abc')
    """
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


# Matches "word", "userId", "a$b" and "42"; not "4".
_WORD: Final = re.compile(r"[^\W\d][\w$]*|\d\d+")
# Matches within "user_id" and "userId"; not within "_id" or "User".
_COMPOUND: Final = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]")

SPEECH: Final = {
    intent: re.compile(rf"\b(?:{'|'.join(cues)})\b", re.IGNORECASE)
    for intent, cues in _LISTS["speech"].items()
}
"""Intent of a text, such as a suggestion or praise -> pattern of its cues."""
_TOPICS: Final = {
    topic: frozenset(map(stem, words.split())) for topic, words in _LISTS["topics"].items()
}


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """Words of one text."""

    stems: frozenset[str]
    """Distinct stems of the words that are not stop words."""
    names: frozenset[str]
    """Names of several words (`user_id`, `userId`), in lower case."""
    topics: frozenset[str]
    """Kinds of change that the text mentions: adding, removing, renaming, ..."""
    speech: frozenset[str]
    """Keys of `SPEECH` whose cues are in the text."""
    asks: bool
    """Whether the text contains a question mark."""
    code_spans: int
    """Number of code spans."""
    length: int
    """Number of words with stop words; a name of three words counts as three."""
    content_length: int
    """Number of words without stop words; a repeated word counts each time."""


# Cached, because each text is compared with many others.
@lru_cache(maxsize=16_384)
def words(text: str) -> Words:
    """Return the words of a sentence, a pseudo-reference or a line of code.

    Example:
        >>> sorted(words("Rename `user_id` to `userName`.").stems)
        ['id', 'nam', 'renam', 'user']
    """
    found_words = _WORD.findall(text)
    parts = _split_words(found_words)
    content, all_stems = _stem_content(parts), set(map(stem, parts))
    return Words(
        stems=frozenset(content),
        names=_select_compounds(found_words),
        topics=frozenset(
            topic for topic, stems in _TOPICS.items() if not stems.isdisjoint(all_stems)
        ),
        speech=frozenset(intent for intent, cues in SPEECH.items() if cues.search(text)),
        asks="?" in text,
        code_spans=len(find_code_spans(text)),
        length=len(parts),
        content_length=len(content),
    )


def _split_words(words: Iterable[str]) -> list[str]:
    return [part for word in words for part in split_identifier(word)]


def _stem_content(parts: Iterable[str]) -> list[str]:
    return [stem(part) for part in parts if len(part) > 1 and part not in ENGLISH]


def _select_compounds(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.lower() for word in words if _COMPOUND.search(word))


@lru_cache(maxsize=16_384)
def stems_and_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the `stems` and `names` of `words(text)`, in less time than all fields take."""
    found_words = _WORD.findall(text)
    return frozenset(_stem_content(_split_words(found_words))), _select_compounds(found_words)


def count_noun(amount: int, noun: str) -> str:
    """Format a count with its noun.

    Example:
        >>> count_noun(1, "file"), count_noun(1200, "file"), count_noun(2, "entry")
        ('1 file', '1,200 files', '2 entries')
    """
    if amount == 1:
        return f"{amount:,} {noun}"
    return f"{amount:,} {noun[:-1]}ies" if noun.endswith("ry") else f"{amount:,} {noun}s"
