"""Parser for a model's answer: JSON, complete or cut off, or numbered or bulleted sections."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from crscore.review.visibility import clean

MAX_CHARS: Final = 200_000
"""Characters of an answer that are read; about fifty times as many as any real answer has."""
MAX_LINE: Final = 4_000
"""Characters of a line or an item that are read; no sentence is longer."""

_CLAIMS: Final = r"claims?|changes|summary|summary[ _]of[ _]changes"
_IMPLICATIONS: Final = r"(?:possible[ _])?implications?"
# `{"claims": [`, `{ "Summary of changes":`, also behind prose or a code fence.
_OBJECT: Final = re.compile(
    rf'(?P<json>\{{)\s{{0,200}}"(?:{_CLAIMS}|{_IMPLICATIONS})"\s{{0,20}}:', re.IGNORECASE
)
# `["...`, `[{"text": ...`, also in a code fence; at the start only, as prose has brackets, too
_LIST: Final = re.compile(r'\s{0,200}(?:```(?:json)?\s{0,200})?(?P<json>\[)\s{0,200}["{]')
# A string, with the colon behind a key; a bracket; anything else that JSON is made of.
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
    """True when the answer was cut off; its unfinished part is omitted."""


class _Point(NamedTuple):
    """A sentence, or an item of a list."""

    text: str
    implies: bool
    listed: bool


def read_answer(raw: str, *, whole: bool = True) -> ParsedAnswer:
    r"""Parse an answer.

    Args:
        raw: The model's text; "" is an answer without claims.
        whole: False when the engine reports that the token limit cut off the answer.

    Returns:
        Its sentences. The last sentence of an answer that was cut off, or whose last line is
        incomplete, is omitted, unless the JSON was already complete. Reasoning
        (`<think>...</think>`) is not part of the answer; an answer inside unclosed reasoning counts
        as cut off. Prose in a section that has a list is an introduction or a remark, and is
        omitted.

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
        points, cut = _json_points(raw, start.start("json"))
    else:
        points, cut = _listed_points(raw, cut=cut)
    return ParsedAnswer(
        claims=tuple(point.text for point in points if not point.implies),
        implications=tuple(point.text for point in points if point.implies),
        cut=cut,
    )


def _without_thoughts(raw: str) -> tuple[str, bool]:
    """Return the answer without the model's reasoning, and whether the reasoning was cut off."""
    # The last mark counts: a model may think more than once before it answers.
    start = 0
    for end in _THOUGHT_ENDS.finditer(raw):
        start = end.end()
    raw = raw[start:]
    thought = _THOUGHT.search(raw)
    if thought is not None:
        return raw[: thought.start()], True
    return _TURN_ENDS.sub("", raw), False


def _json_points(raw: str, position: int) -> tuple[list[_Point], bool]:
    """Read the strings of JSON up to its end; also return whether it was cut off before that."""
    points: list[_Point] = []
    implies, skipped, depth = False, False, 0
    # Not `json.loads`: an answer that was cut off is read up to the cut.
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
            points += [_Point(text, implies, listed=True)] if text else []
        depth += (opens is not None) - (closes is not None)
        if closes is not None and depth == 0:
            return points, False
    return points, True


def _unescaped(string: str) -> str:
    try:
        return str(json.loads(f'"{string}"', strict=False))
    except ValueError:
        return string


def _listed_points(raw: str, *, cut: bool) -> tuple[list[_Point], bool]:
    """Parse an answer that is not JSON; also return whether it or its last point was cut off."""
    points: list[_Point] = []
    implies = False
    for line in filter(str.strip, _lines_outside_code(clean(raw))):
        header = _HEADER.match(line)
        if header is not None:
            implies = "implication" in header[1].lower()
            line = line[header.end() :]  # noqa: PLW2901  (what follows a header is a claim)
        marked = _MARKERS.match(line)
        if marked is None and header is None and points and _continues(line, points[-1]):
            points[-1] = points[-1]._replace(text=f"{points[-1].text} {_plain_sentence(line)}")
        elif marked is not None:
            text = _plain_sentence(line)
            # An item that ends with a colon introduces the items below it.
            points += [_Point(text, implies, listed=True)] if text[-1:] not in ("", ":") else []
        elif not line.lstrip().startswith("#"):
            points += (_Point(text, implies, listed=False) for text in _prose(line))
    return _without_remarks(points, raw, cut=cut)


def _lines_outside_code(text: str) -> Iterator[str]:
    """Yield the lines; a fence around the whole answer is ignored."""
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
            # A fence before any item may be around the whole answer; one between items holds code.
            fenced, in_code = True, has_list and fence[1].lower() not in _TEXT_FENCES


def _continues(line: str, last: _Point) -> bool:
    """Return whether a model broke a sentence across lines: none ends before, none begins here."""
    return not last.text.endswith((".", "!", "?", ":", ";")) and line.lstrip()[:1].islower()


def _prose(line: str) -> Iterator[str]:
    """Split a line into sentences; code between backticks is not split."""
    masked = _CODE.sub(lambda match: f"`{'x' * (len(match[0]) - 2)}`", line)
    starts = [0, *(match.end() for match in _SENTENCE_END.finditer(masked)), len(line)]
    for start, end in pairwise(starts):
        text = _plain_sentence(line[start:end])
        if text and not text.endswith(":"):
            yield text


def _without_remarks(points: list[_Point], raw: str, *, cut: bool) -> tuple[list[_Point], bool]:
    """Omit prose beside a list, and the last point when it is incomplete."""
    with_lists = {point.implies for point in points if point.listed}
    kept_points = [point for point in points if point.listed or point.implies not in with_lists]
    if not kept_points or kept_points[-1] is not points[-1] or raw.endswith("\n"):
        return kept_points, cut
    is_ended = [_is_ended(point.text) for point in kept_points]
    # If no point ends with a full stop, a missing one does not mean that the answer was cut off.
    broken = cut or (len(is_ended) > 1 and not is_ended[-1] and all(is_ended[:-1]))
    return kept_points[:-1] if broken else kept_points, broken


def _is_ended(text: str) -> bool:
    return text.endswith(_CLOSED) and text.count("`") % 2 == 0


def _plain_sentence(text: str) -> str:
    """Return an item without number, label and bold marks; "" when nothing is left."""
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
