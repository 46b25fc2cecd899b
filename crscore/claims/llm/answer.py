"""Parser for a model's answer: JSON, complete or cut off, or numbered or bulleted sections."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from crscore.review.visibility import clean

MAX_CHARS: Final = 200_000
"""Maximum characters of an answer that are read, about fifty times the longest real answer."""
MAX_LINE: Final = 4_000
"""Maximum characters of a line or an item that are read; no sentence is longer."""

_CLAIMS: Final = r"claims?|changes|summary|summary[ _]of[ _]changes"
_IMPLICATIONS: Final = r"(?:possible[ _])?implications?"
# `{"claims": [`, `{ "Summary of changes":`, also behind prose or a code fence.
_OBJECT: Final = re.compile(
    rf'(?P<json>\{{)\s{{0,200}}"(?:{_CLAIMS}|{_IMPLICATIONS})"\s{{0,20}}:', re.IGNORECASE
)
# `["...`, `[{"text": ...`, also in a code fence; only at the start, as prose has brackets too
_LIST: Final = re.compile(r'\s{0,200}(?:```(?:json)?\s{0,200})?(?P<json>\[)\s{0,200}["{]')
# A string, with the colon after a key; a bracket; any other JSON token.
_TOKEN: Final = re.compile(
    r'\s*(?:"((?:[^"\\]|\\.)*)"(\s*:)?|([\[{])|([\]}])|[,:]|true|false|null|-?\d[\d.eE+-]*)',
    re.DOTALL,
)
_TEXT_KEYS: Final = frozenset(("text", "sentence", "description", "statement", "content"))

# Reasoning that some models write before the answer. A closing tag right before a quote is part of
# a quotation in a claim.
_THOUGHT_NAMES: Final = r"(?:think|thinking|thought|thoughts|reasoning)"
_THOUGHT_ENDS: Final = re.compile(
    rf"</{_THOUGHT_NAMES}\s{{0,9}}>(?![`\"'\\])|<\|channel\|>final[^\n]{{0,60}}?<\|message\|>",
    re.IGNORECASE,
)
_THOUGHT: Final = re.compile(
    rf"^[ \t]{{0,40}}(?:<{_THOUGHT_NAMES}\s{{0,9}}>"
    r"|(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)[^\n]{0,60}?<\|message\|>)",
    re.IGNORECASE | re.MULTILINE,
)
_TURN_ENDS: Final = re.compile(r"<\|(?:end|return)\|>\s{0,200}\Z")

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
_FENCE: Final = re.compile(r"\s{0,20}(?:```|~~~)\s{0,9}(\w{0,20})")
_TEXT_FENCES: Final = frozenset(("markdown", "md", "text", "txt", "plaintext"))
# A bold label before a text: "**Improved readability**: ...", "**Name:** ...", "**Name** - ..."
_LABEL: Final = re.compile(r"\*\*([^*\n]{1,200}?):?\*\*\s{0,3}(?:(?<=:\*\*)|[:–—]|-\s|$)\s{0,3}")
# "`name`", "user_id", "a.b", "f()", "userId", "v2"
_NAMES_CODE: Final = re.compile(r"[`_./()]|[a-z][A-Z]|\d")
# Code is matched first, so that `a ** b ** c` keeps its asterisks.
_BOLD: Final = re.compile(r"(`[^`\n]*`)|\*\*(?=\S)((?:[^*`\n]|`[^`\n]*`){1,500})(?<=\S)\*\*")
_CODE: Final = re.compile(r"`[^`\n]{1,1000}`")
# "It fails.", "It fails.)" before a capital, a quotation or code; not "e.g. Foo", "i.e. Foo", "vs.
# Foo"
_SENTENCE_END: Final = re.compile(
    r"(?<!e\.g)(?<!i\.e)(?<!vs)[.!?][\"')\]”*]{0,3}\s{1,9}(?=[A-Z`\"'(\[“])"
)
_CLOSED: Final = (".", "!", "?", "`", '"', "'", ")", "]", "}", "”", "’", ";")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """Sentences in a model's answer about one chunk of a change."""

    claims: tuple[str, ...]
    """Effects of the change, in the answer's order, without headers, numbers and markup."""
    implications: tuple[str, ...]
    """Consequences of the change."""
    cut: bool
    """Whether the answer was cut off; its unfinished part is omitted."""


class _Item(NamedTuple):
    """A sentence, or an item of a list."""

    text: str
    implies: bool
    listed: bool


def read_answer(raw: str, *, whole: bool = True) -> ParsedAnswer:
    r"""Parse an answer.

    Args:
        raw: The model's text; an empty text is an answer without claims.
        whole: False if the engine reports that the token limit cut off the answer.

    Returns:
        The sentences of the answer. If it was cut off or its last line is incomplete, the last
        sentence is omitted, unless the JSON was already complete. Reasoning (`<think>...</think>`)
        is not part of the answer; if the reasoning never ends, the answer counts as cut off. Prose
        beside a list introduces the list or comments on it, and is omitted.

    Source:
        Naik et al., NAACL 2025; `split_claims_and_impl` of the reference code reads the two
        sections. Support for JSON, prose and markup is an addition.

    Example:
        >>> read_answer("**Summary of Changes:**\n1. **Limit**: `n` is 5.\n2. `m` is", whole=False)
        ParsedAnswer(claims=('`n` is 5.',), implications=(), cut=True)
        >>> read_answer('{"claims": ["`n` is 5.", "`m` is go', whole=False).claims
        ('`n` is 5.',)
    """
    raw, unfinished = _without_thoughts(raw)
    cut = not whole or unfinished or len(raw) > MAX_CHARS
    raw = raw[:MAX_CHARS]
    start = _OBJECT.search(raw) or _LIST.match(raw)
    if start is not None:
        items, cut = _json_items(raw, start.start("json"))
    else:
        items, cut = _text_items(raw, cut=cut)
    return ParsedAnswer(
        claims=tuple(item.text for item in items if not item.implies),
        implications=tuple(item.text for item in items if item.implies),
        cut=cut,
    )


def _without_thoughts(raw: str) -> tuple[str, bool]:
    """Return the answer without the model's reasoning, and whether the reasoning was cut off."""
    # The last closing tag counts: a model may reason several times before it answers.
    start = 0
    for end in _THOUGHT_ENDS.finditer(raw):
        start = end.end()
    raw = raw[start:]
    thought = _THOUGHT.search(raw)
    if thought is not None:
        return raw[: thought.start()], True
    return _TURN_ENDS.sub("", raw), False


def _json_items(raw: str, position: int) -> tuple[list[_Item], bool]:
    """Read the strings of JSON; also return whether the JSON was cut off."""
    items: list[_Item] = []
    implies, skipped, depth = False, False, 0
    # `json.loads` would reject an answer that was cut off; this reads it up to the cut.
    while (token := _TOKEN.match(raw, position)) is not None:
        position = token.end()
        string, colon, opens, closes = token.groups()
        if colon is not None:
            key = string.strip().lower()
            section = re.fullmatch(rf"({_CLAIMS})|{_IMPLICATIONS}", key)
            if section is not None:
                implies = section[1] is None
            skipped = section is None and key not in _TEXT_KEYS
        elif string is not None and not skipped:
            text = _plain_sentence(_unescaped(string))
            items += [_Item(text, implies, listed=True)] if text else []
        depth += (opens is not None) - (closes is not None)
        if closes is not None and depth == 0:
            return items, False
    return items, True


def _unescaped(string: str) -> str:
    try:
        return str(json.loads(f'"{string}"', strict=False))
    except ValueError:
        return string


def _text_items(raw: str, *, cut: bool) -> tuple[list[_Item], bool]:
    """Parse an answer that is not JSON; also return whether it was cut off."""
    items: list[_Item] = []
    implies = False
    for line in filter(str.strip, _lines_outside_code(clean(raw))):
        header = _HEADER.match(line)
        if header is not None:
            implies = "implication" in header[1].lower()
            line = line[header.end() :]  # noqa: PLW2901  (text after a header is a claim)
        marked = _MARKERS.match(line)
        if marked is None and header is None and items and _continues(line, items[-1]):
            items[-1] = items[-1]._replace(text=f"{items[-1].text} {_plain_sentence(line)}")
        elif marked is not None:
            text = _plain_sentence(line)
            # An item that ends with a colon introduces the items below it.
            items += [_Item(text, implies, listed=True)] if text[-1:] not in ("", ":") else []
        elif not line.lstrip().startswith("#"):
            items += (_Item(text, implies, listed=False) for text in _prose(line))
    return _without_remarks(items, raw, cut=cut)


def _lines_outside_code(text: str) -> Iterator[str]:
    """Yield the lines that are not code; a fence around the whole answer is ignored."""
    fenced = in_code = has_list = False
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence is None:
            if not in_code:
                has_list = has_list or bool(_MARKERS.match(line))
                yield line[:MAX_LINE]
        elif fenced:
            fenced = in_code = False
        else:
            # A fence before the first item may enclose the whole answer; a later one holds code.
            fenced, in_code = True, has_list and fence[1].lower() not in _TEXT_FENCES


def _continues(line: str, last: _Item) -> bool:
    """Return whether a line continues the sentence of the previous line."""
    return not last.text.endswith((".", "!", "?", ":", ";")) and line.lstrip()[:1].islower()


def _prose(line: str) -> Iterator[str]:
    """Split a line into sentences; code between backticks is not split."""
    masked = _CODE.sub(lambda match: f"`{'x' * (len(match[0]) - 2)}`", line)
    starts = [0, *(match.end() for match in _SENTENCE_END.finditer(masked)), len(line)]
    for start, end in pairwise(starts):
        text = _plain_sentence(line[start:end])
        if text and not text.endswith(":"):
            yield text


def _without_remarks(items: list[_Item], raw: str, *, cut: bool) -> tuple[list[_Item], bool]:
    """Omit prose beside a list, and the last item if it is incomplete."""
    with_lists = {item.implies for item in items if item.listed}
    kept_items = [item for item in items if item.listed or item.implies not in with_lists]
    if not kept_items or kept_items[-1] is not items[-1] or raw.endswith("\n"):
        return kept_items, cut
    is_ended = [_is_ended(item.text) for item in kept_items]
    # If no item ends with a full stop, a missing one does not mean that the answer was cut off.
    broken = cut or (len(is_ended) > 1 and not is_ended[-1] and all(is_ended[:-1]))
    return kept_items[:-1] if broken else kept_items, broken


def _is_ended(text: str) -> bool:
    return text.endswith(_CLOSED) and text.count("`") % 2 == 0


def _plain_sentence(text: str) -> str:
    """Return an item without number, label and bold marks; empty if no letters are left."""
    text = " ".join(clean(text[:MAX_LINE]).split())
    header = _HEADER.match(text)
    text = _MARKERS.sub("", text[header.end() :] if header else text, count=1)
    label = _LABEL.match(text)
    if label is not None:
        # A label with code names the subject of the sentence.
        remainder = text[label.end() :]
        text = (
            f"{label[1]}: {remainder}" if remainder and _NAMES_CODE.search(label[1]) else remainder
        )
    text = _BOLD.sub(lambda match: match[1] or match[2], text).strip()
    return text if any(map(str.isalpha, text)) else ""
