"""Parses a model's answer: JSON, complete or cut off, or sections with numbers or bullets."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from crscore.errors import MalformedAnswerError
from crscore.llm import answers
from crscore.text import clean

MAX_CHARS: Final = 200_000
"""Maximum characters of an answer that are read; about fifty times as many as real answers have."""
MAX_LINE: Final = 4_000
"""Maximum characters of a line or list item that are read; longer than any real sentence."""

# "claims", "Summary of changes", "summary_of_changes", "possible_implications"
_SECTION: Final = re.compile(
    r"(?P<claims>claims|changes|summary(?:[ _]of[ _]changes)?)|(?:possible[ _])?implications?",
    re.IGNORECASE,
)
# Keys whose value is the sentence, if a model writes objects instead of texts: {"claim": "..."},
# {"id": 1, "text": "..."}
_TEXT_KEY: Final = re.compile(
    r"claims?|implications?|text|sentence|description|statement|content", re.IGNORECASE
)

# "### Summary of Changes:", "**Implications:**", "2. **Possible implications**",
# "Implications: callers break."; not "Implications of this change are unclear."
_HEADER: Final = re.compile(
    r"(?:[#*_>\s]|\d{1,2}[.)]|[-•]){0,12}"
    r"((?:(?:key |code )?changes|claims|summary)(?: of (?:the )?(?:code )?changes?)?"
    r"|(?:(?:possible|potential) )?implications?(?: of (?:the|these|this) (?:code )?changes?)?)"
    r"[*_\s]{0,6}(?::[*_:\s]{0,6}|$)",
    re.IGNORECASE,
)
# "1. ", "12) ", "(3) ", "- ", "* ", "a) ", "1.2. ", "- 1. ", "**1.** "
_NUMBER: Final = r"(?:\(?\d{1,3}(?:\.\d{1,3}){0,3}[.):]|\(?[a-h]\)|[-*•–+])"
_MARKERS: Final = re.compile(
    rf"\A\s{{0,40}}(?:>\s)?(?:(?:\*\*{_NUMBER}\*\*|{_NUMBER})(?:\s{{1,8}}|$))+"
)
# A bold label before a text: "**Improved readability**: ...", "**Name:** ...", "**Name** - ..."
_LABEL: Final = re.compile(r"\*\*([^*\n]{1,200}?):?\*\*\s{0,3}(?:(?<=:\*\*)|[:–—]|-\s|$)\s{0,3}")
# "`name`", "user_id", "a.b", "f()", "userId", "v2"
_NAMES_CODE: Final = re.compile(r"[`_./()]|[a-z][A-Z]|\d")
# Code spans are matched first, so that `a ** b ** c` keeps its asterisks.
_BOLD: Final = re.compile(r"(`[^`\n]*`)|\*\*(?=\S)((?:[^*`\n]|`[^`\n]*`){1,500})(?<=\S)\*\*")
_CODE: Final = re.compile(r"`[^`\n]{1,1000}`")
# "It fails." or "It fails.)" before a capital, a quotation mark or code; not "e.g. Foo",
# "i.e. Foo", "vs. Foo"
_SENTENCE_END: Final = re.compile(
    r"(?<!e\.g)(?<!i\.e)(?<!vs)[.!?][\"')\]”*]{0,3}\s{1,9}(?=[A-Z`\"'(\[“])"
)
_FINAL_MARKS: Final = (".", "!", "?", "`", '"', "'", ")", "]", "}", "”", "’", ";")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """Sentences of a model's answer about one chunk of a change."""

    claims: tuple[str, ...]
    """Statements of what the change does, in the order of the answer, without header or markup."""
    implications: tuple[str, ...]
    """Consequences of the change, in the same form."""
    cut: bool
    """Whether the answer was cut off; an incomplete last sentence is omitted."""


class _Item(NamedTuple):
    """Sentence of an answer."""

    text: str
    is_implication: bool
    is_listed: bool
    """Whether the sentence is an item of a list."""


def read_answer(raw: str, *, whole: bool = True, no_prose: bool = False) -> ParsedAnswer:
    r"""Parse a model's answer.

    The answer is the last JSON in the text that contains claims. If there is none, the text itself
    is parsed. If a section has a list, its other sentences are omitted, because they introduce the
    list or comment on it.

    Args:
        raw: The model's text; an empty text is an answer without claims.
        whole: False if the engine reports that the token limit cut off the answer.
        no_prose: Whether only JSON and text with the two published sections are accepted.

    Returns:
        The sentences. If the answer was cut off within a sentence, that sentence is omitted.

    Raises:
        MalformedAnswerError: `no_prose` is True, and the answer has neither JSON nor the
            sections.

    Source:
        Naik et al., NAACL 2025. `split_claims_and_impl` of their code reads the two sections; JSON,
        prose and markup are read only here.

    Example:
        >>> read_answer("**Summary of Changes:**\n1. **Limit**: `n` is 5.\n2. `m` is", whole=False)
        ParsedAnswer(claims=('`n` is 5.',), implications=(), cut=True)
        >>> read_answer('{"claims": ["`n` is 5.", "`m` is go', whole=False).claims
        ('`n` is 5.',)
    """
    parsed = answers.parse_answer(raw, whole=whole)
    if parsed.is_cut and parsed.unfinished is not None:
        return _make_answer(_read_claims(parsed.unfinished, is_cut=True), cut=True)
    try:
        return _make_answer(parsed.read(_read_claims), cut=False)
    except MalformedAnswerError:
        # If an answer that was cut off contains complete JSON, that JSON was a draft and the answer
        # itself is missing, so the text is not used.
        text = "" if parsed.is_cut and parsed.values else parsed.text
        items, cut, has_sections = _parse_text(text[:MAX_CHARS], cut=not whole or parsed.is_cut)
        if no_prose and not has_sections:
            raise
    return _make_answer(items, cut=cut or len(text) > MAX_CHARS)


def _make_answer(items: Iterable[_Item], *, cut: bool) -> ParsedAnswer:
    items = list(items)
    return ParsedAnswer(
        claims=tuple(item.text for item in items if not item.is_implication),
        implications=tuple(item.text for item in items if item.is_implication),
        cut=cut,
    )


def _read_claims(value: Any, *, is_cut: bool = False) -> list[_Item]:
    """Return the sentences of a JSON object with sections, or of a JSON list of claims.

    Raises:
        ValueError: The JSON has no claims, and it is not known to be an answer that was cut off.
    """
    sections = {"claims": value} if isinstance(value, list) else value
    items: list[_Item] = []
    has_claims = is_cut
    for key, texts in sections.items():
        section = _SECTION.fullmatch(key.strip())
        if section is None or not isinstance(texts, (list, str)):
            continue
        implies = section["claims"] is None
        has_claims = has_claims or not implies
        sentences = filter(None, map(_plain_sentence, _find_texts(texts)))
        items += (_Item(sentence, implies, is_listed=True) for sentence in sentences)
    if not has_claims or (isinstance(value, list) and value and not items):
        raise ValueError("it has no list of claims")
    return items


def _find_texts(value: Any) -> Iterator[str]:
    """Yield the sentences of a JSON value: a string, a list, or an object with a known key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _find_texts(item)
    elif isinstance(value, dict):
        for key, text in value.items():
            if _TEXT_KEY.fullmatch(key.strip()):
                yield from _find_texts(text)


def _parse_text(raw: str, *, cut: bool) -> tuple[list[_Item], bool, bool]:
    """Parse an answer that is not JSON.

    Args:
        raw: The answer.
        cut: Whether the answer is known to be cut off.

    Returns:
        The items, whether the answer was cut off, and whether it has the published sections.
    """
    items: list[_Item] = []
    implies, first = False, ""
    for line in filter(str.strip, clean(raw).split("\n")):
        line = line[:MAX_LINE]  # noqa: PLW2901
        header = _HEADER.match(line)
        if header is not None:
            title = header[1].lower()
            implies = "implication" in title
            # If the first section begins again, what came before was a draft.
            items, first = [] if title == first else items, first or title
            line = line[header.end() :]  # noqa: PLW2901  (text after the header is an item)
        marked = _MARKERS.match(line)
        # If the last sentence has not ended, a line in lower case continues it.
        is_open = bool(items) and not items[-1].text.endswith((".", "!", "?", ":", ";"))
        if marked is None and header is None and is_open and line.lstrip()[:1].islower():
            items[-1] = items[-1]._replace(text=f"{items[-1].text} {_plain_sentence(line)}")
        elif marked is not None:
            text = _plain_sentence(line)
            # An item that ends with a colon only introduces the items below it.
            items += [_Item(text, implies, is_listed=True)] if text[-1:] not in ("", ":") else []
        elif not line.lstrip().startswith("#"):
            items += (_Item(text, implies, is_listed=False) for text in _split_prose(line))
    items, cut = _drop_extra_prose(items, raw, cut=cut)
    return items, cut, bool(first) and any(item.is_listed for item in items)


def _split_prose(line: str) -> Iterator[str]:
    """Yield the sentences of a line, except those that end with a colon; code is not split."""
    masked = _CODE.sub(lambda match: f"`{'x' * (len(match[0]) - 2)}`", line)
    starts = [0, *(match.end() for match in _SENTENCE_END.finditer(masked)), len(line)]
    for start, end in pairwise(starts):
        text = _plain_sentence(line[start:end])
        if text and not text.endswith(":"):
            yield text


def _drop_extra_prose(items: list[_Item], raw: str, *, cut: bool) -> tuple[list[_Item], bool]:
    """Omit the prose of sections that have a list, and the last item if it is incomplete.

    Returns the remaining items and whether the answer was cut off.
    """
    with_lists = {item.is_implication for item in items if item.is_listed}
    kept_items = [item for item in items if item.is_listed or item.is_implication not in with_lists]
    if not kept_items or kept_items[-1] is not items[-1] or raw.endswith("\n"):
        return kept_items, cut
    texts = [item.text for item in kept_items]
    is_ended = [text.endswith(_FINAL_MARKS) and text.count("`") % 2 == 0 for text in texts]
    # Some models write no full stops, so only if all earlier items have one does a missing one at
    # the end show that the answer was cut off.
    broken = cut or (len(is_ended) > 1 and not is_ended[-1] and all(is_ended[:-1]))
    return kept_items[:-1] if broken else kept_items, broken


def _plain_sentence(text: str) -> str:
    """Return an item without its number, label and bold marks; "" if no letters are left."""
    text = " ".join(clean(text[:MAX_LINE]).split())
    header = _HEADER.match(text)
    text = _MARKERS.sub("", text[header.end() :] if header else text, count=1)
    label = _LABEL.match(text)
    if label is not None:
        # A label that names code, such as "**`limit`**:", is the subject of the sentence and stays.
        remainder = text[label.end() :]
        text = (
            f"{label[1]}: {remainder}" if remainder and _NAMES_CODE.search(label[1]) else remainder
        )
    text = _BOLD.sub(lambda match: match[1] or match[2], text).strip()
    return text if any(map(str.isalpha, text)) else ""
