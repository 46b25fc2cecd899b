"""Finds the requested JSON in the answers of language models.

A model may write other text around its answer: reasoning between tags, drafts in prose, a code
fence, chatter. The JSON may have line breaks and wrong escapes in strings, and missing or
additional commas, because models without guided decoding make such mistakes.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from crscore.errors import MalformedAnswerError
from crscore.llm.base import shorten_line

T = TypeVar("T")

# About 100,000 tokens of English.
MAX_CHARS: Final = 400_000
"""Maximum characters of an answer that are read; a longer one counts as cut off."""
# No answer that crscore requests has more than four levels.
MAX_DEPTH: Final = 8
"""Maximum depth of nested JSON."""

# A string, which is a key if a colon follows, or a bracket, a number or a word.
_TOKEN: Final = re.compile(
    r'[\s,:]*+("(?:[^"\\]++|\\.)*+"(?:\s*+:)?|[\[{}\]]|true|false|null|-?\d[\d.eE+-]*+)', re.DOTALL
)
_JSON: Final = re.compile(r'\{(?=\s*+["}])')
# "\d", "\_", "\u12"; not "\n", "\u00e9". "\\" matches, so that its second half begins no escape.
_WRONG_ESCAPE: Final = re.compile(r'\\(\\|(?!["/bfnrt]|u[0-9a-fA-F]{4}))')
# JSON breaks off if it is followed by nothing, by an unfinished string or word, or by a code fence.
_BREAK: Final = re.compile(r'[\s,:]*+(?:"|[a-z]{0,5}\s*+\Z|-\Z|```)')

_NAME: Final = (
    r"(?:[a-z:_-]{0,20}(?:think|thought|reason)[a-z_-]{0,20}|reflection|scratchpad|analysis)"
)
_CAPITALS: Final = r"(?:THINK(?:ING)?|REASON(?:ING)?)"
# Reasoning before the answer, as models and servers mark it: `<think>` (DeepSeek, Qwen),
# `<seed:think>`, `[THINK]` (Magistral), `◁think▷` (Kimi), `<|START_THINKING|>` (Command A),
# `<|begin_of_thought|>`, `<|channel>thought` (Gemma), `<unused94>` (MedGemma), `<details>` (Open
# WebUI), harmony's channels (gpt-oss). A tag right before a quotation mark is only quoted.
_DETAILS: Final = r"<details\s[^<>\n]{0,200}?reasoning"
_END: Final = re.compile(
    rf"(?:</{_NAME}\s{{0,9}}>|◁/{_NAME}▷|(?-i:\[/{_CAPITALS}\])|<\|(?:end_|end_of_|/){_NAME}\|>"
    r"|<channel\|>|<unused95>|</details>|<\|channel\|>final[^\n]{0,60}?<\|message\|>)(?![`\"'\\])",
    re.IGNORECASE,
)
_BEGIN: Final = re.compile(
    rf"(?:^|(?<=[>\]▷]))[ \t]{{0,40}}(?:<{_NAME}(?:\s[^<>\n]{{0,200}})?>|◁{_NAME}▷"
    rf"|(?-i:\[{_CAPITALS}\])|<\|(?:start_|begin_of_)?{_NAME}\|>|<\|channel>thought|<unused94>"
    rf"|{_DETAILS}|(?:<\|start\|>assistant)?"
    r"<\|channel\|>(?:analysis|commentary)[^\n]{0,60}?<\|message\|>)",
    re.IGNORECASE | re.MULTILINE,
)
# Marks around the answer itself: `<answer>`, `<|START_RESPONSE|>`, `<|end|>`
_MARK: Final = r"(?:</?(?:answer|response)>|<\|[a-z_]{1,30}\|>)"
_MARKS: Final = re.compile(rf"\A(?:\s*+{_MARK})+|(?:{_MARK}\s*+){{1,4}}+\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelText:
    """A model's answer without its reasoning."""

    text: str
    """Text after the reasoning; empty if the reasoning never ends."""
    values: tuple[Any, ...]
    """Complete JSON objects, including nested ones, in the order of their ends."""
    unfinished: dict[str, Any] | None
    """Object that breaks off at the end of the answer, up to its last complete item; None if no
    object breaks off."""
    is_cut: bool
    """Whether the answer broke off before its end, so that its content may be a draft."""

    def read(self, convert: Callable[[Any], T]) -> T:
        """Return the last JSON object of the requested form, converted; see `read_object`."""
        reason = "the answer broke off before its end" if self.is_cut else ""
        for value in () if self.is_cut else reversed(self.values):
            try:
                return convert(value)
            except (ValueError, LookupError, TypeError) as exc:
                reason = reason or f"the JSON of the answer does not fit ({exc})"
        raise MalformedAnswerError(reason or "the answer has no JSON", shorten_line(self.text, 80))


class _Json(NamedTuple):
    """JSON in an answer."""

    start: int
    end: int
    value: Any
    is_complete: bool
    """False if the JSON broke off."""


def read_object(text: str, convert: Callable[[Any], T], *, whole: bool = True) -> T:
    r"""Return the last complete JSON object of an answer that has the requested form, converted.

    Args:
        text: The model's text.
        convert: Converts an object; if the object does not have the requested form, raises a
            `ValueError` that says what is wrong. An example is
            `functools.partial(msgspec.convert, type=Verdict)`.
        whole: False if the engine reports that the token limit cut off the answer.

    Raises:
        MalformedAnswerError: The answer has no such object, or it broke off before its end. The
            error quotes the start of the answer.

    Example:
        >>> read_object('<think>{"n": 1}?</think>No:\n```json\n{"n": 2}\n```', lambda v: v["n"])
        2
    """
    return parse_answer(text, whole=whole).read(convert)


def parse_answer(text: str, *, whole: bool = True) -> ModelText:
    """Separate an answer from the model's reasoning, and find the JSON in it.

    Args:
        text: The model's text.
        whole: False if the engine reports that the token limit cut off the answer.
    """
    if len(text) > MAX_CHARS:
        text, whole = text[:MAX_CHARS], False
    blocks: list[_Json] = []
    position = 0
    # This loop takes linear time, because the depth of the JSON is limited.
    while (opening := _JSON.search(text, position)) is not None:
        read = _read_json(text, opening.end() - 1)
        blocks += [read] if read else []
        position = read.end if read else opening.end()
    # Tags in JSON are quotations, so they are hidden from the search for the model's own tags.
    parts, position = [], 0
    for block in blocks:
        parts += [text[position : block.start], " " * (block.end - block.start)]
        position = block.end
    masked = "".join([*parts, text[position:]])
    has_details = re.search(_DETAILS, masked, re.IGNORECASE) is not None
    # The last closing tag counts: a model may reason several times before it answers.
    ends = [end for end in _END.finditer(masked) if has_details or end[0].lower() != "</details>"]
    start = ends[-1].end() if ends else 0
    reasoning = _BEGIN.search(masked, start)
    stop = len(text) if reasoning is None else reasoning.start()
    blocks = [block for block in blocks if start <= block.start and block.end <= stop]
    last = blocks[-1] if blocks else None
    unfinished = None if last is None or last.is_complete else last.value
    is_cut = unfinished is not None
    if (not whole or reasoning is not None) and not is_cut:
        # JSON between two texts may be a draft, because the second text broke off.
        before = masked[start : last.start] if last else ""
        before = re.sub(r"```(?:json)?\s*\Z", "", _MARKS.sub("", before))
        after = masked[last.end :].strip("` \n\r\t") if last else ""
        is_cut = last is None or bool(before.strip() and after)
    return ModelText(
        text=_MARKS.sub("", text[start:stop]),
        values=tuple(
            value for block in blocks if block.is_complete for value in _objects(block.value)
        ),
        unfinished=unfinished,
        is_cut=is_cut,
    )


def summarize(failures: Iterable[str | MalformedAnswerError]) -> str:
    """Return the reasons why answers were not used, each with an example and a count, as a clause.

    Args:
        failures: For each such answer, its reason or the error of its parser.
    """
    examples = [(getattr(failure, "reason", str(failure)), str(failure)) for failure in failures]
    first = dict(reversed(examples))
    counts = Counter(reason for reason, _ in examples)
    return "; ".join(f"{first[reason]} ({times})" for reason, times in sorted(counts.items()))


def _objects(value: Any) -> Iterator[Any]:
    """Yield the objects in a value, in the order of their ends: an inner one before its outer."""
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, (dict, list)):
            yield from _objects(part)
    if isinstance(value, dict):
        yield value


def _read_json(text: str, start: int) -> _Json | None:
    """Read the JSON at `start`, despite small mistakes; return None if the text is not JSON."""
    parts: list[str] = []
    closers: list[str] = []
    position = start
    while (token := _TOKEN.match(text, position)) is not None:
        position, part = token.end(), token[1]
        is_value = part not in "]}"
        if closers and closers[-1] == "}" and is_value and ":" not in (part[-1], parts[-1][-1]):
            return None
        if part in "[{":
            closers.append("]" if part == "[" else "}")
        if len(closers) > MAX_DEPTH or (not is_value and closers.pop() != part):
            return None
        if parts and parts[-1][-1] not in "[{:" and is_value:
            parts.append(",")
        parts.append(_WRONG_ESCAPE.sub(r"\\\\", part))
        if not closers:
            return _decode(parts, start, position, is_complete=True)
    broken_end = _BREAK.match(text, position)
    if broken_end is None:
        return None
    if parts[-1].endswith(":"):
        parts.append("null")
    # After a code fence, other JSON may follow, so the search continues there.
    end = position if broken_end[0].endswith("```") else len(text)
    return _decode([*parts, *reversed(closers)], start, end, is_complete=False)


def _decode(parts: Sequence[str], start: int, end: int, *, is_complete: bool) -> _Json | None:
    try:
        value = json.loads("".join(parts), strict=False)
    except ValueError:
        return None
    # Half a surrogate pair is replaced, because it cannot be encoded.
    safe = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    return _Json(start, end, json.loads(safe), is_complete)
