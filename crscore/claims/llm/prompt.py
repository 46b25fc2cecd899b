"""The chat with a model about a chunk of a change: a prompt file filled with the chunk.

The instructions and examples, which all chats have in common, come first, so that a server
computes them once; the chunk comes last. There is no system message: the chat template of the
default model, and of others, refuses one.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from crscore.claims.llm.chunks import chunk_diff
from crscore.diff import parse
from crscore.errors import ConfigError, InputError
from crscore.llm import prompts
from crscore.llm.engines.base import Message
from crscore.llm.prompt_escaping import Fence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crscore.claims.llm.chunks import Chunk

Form = Literal["json", "sections"]
"""Form of an answer: JSON, or the published two sections of numbered points."""

_EXAMPLE_NONCE: Final = "example-{}"
_CHARS_A_TOKEN: Final = 3


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Most sentences that the model is asked for, by list."""

    claims: int
    implications: int


class Forms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Instructions on how to answer, by form."""

    json: str
    sections: str


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change and a good answer."""

    diff: str
    claims: tuple[str, ...]
    implications: tuple[str, ...]


class Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A prompt file for claims; `prompts/claims.v1.toml` says what each text is for."""

    instruction: str
    opening: str
    closing: str
    request: str
    forms: Forms
    limits: Limits
    examples: tuple[Example, ...]


Prompt: TypeAlias = prompts.Prompt[Content]
"""A prompt for claims."""


def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """Read a prompt for claims.

    Args:
        name: Task and version: `claims.v1`.
        folder: Where it lies; None for crscore's own.

    Raises:
        ConfigError: There is no such prompt, or it cannot be used; the error names the key.
    """
    found = prompts.read_prompt(name, Content, folder=folder)
    content = found.content
    for key in ("opening", "closing", "request"):
        if prompts.places(getattr(content, key)) != {"mark"}:
            raise ConfigError(key, f"{name}.toml", "has the place {{mark}} and no other")
    if prompts.places(content.instruction) != {"claims", "implications"}:
        expected = "has the places {{claims}} and {{implications}} and no other"
        raise ConfigError("instruction", f"{name}.toml", expected)
    for number, example in enumerate(content.examples, start=1):
        try:
            parts = len(chunk_diff(parse.parse_diff(example.diff)).chunks)
        except InputError as exc:
            raise ConfigError("examples", f"{name}.toml", f"diff {number}: {exc}") from exc
        if parts != 1:
            raise ConfigError("examples", f"{name}.toml", f"diff {number} is one chunk")
    return found


def prompt_tokens(prompt: Prompt) -> int:
    """Return about as many tokens as a chat has without its chunk, rather too many than too few."""
    fence = Fence(nonce="0" * 32)
    shared = sum(len(message.text) + 20 for message in _shared(prompt, "sections", None))
    return (shared + sum(map(len, _fenced(prompt, fence, [""])))) // _CHARS_A_TOKEN


def example_texts(prompt: Prompt) -> tuple[str, ...]:
    """Return all sentences of the examples: a model that repeats one says nothing of the change."""
    examples = prompt.content.examples
    return tuple(text for one in examples for text in (*one.claims, *one.implications))


def answer_schema(prompt: Prompt) -> dict[str, Any]:
    """Return the JSON Schema of an answer in the form `json`."""
    limits = prompt.content.limits
    sentences = {"type": "array", "items": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            "claims": sentences | {"maxItems": limits.claims},
            "implications": sentences | {"maxItems": limits.implications},
        },
        "required": ["claims", "implications"],
        "additionalProperties": False,
    }


def make_chat(
    prompt: Prompt,
    chunk: Chunk,
    fence: Fence,
    form: Form = "json",
    *,
    examples: int | None = None,
) -> tuple[Message, ...]:
    """Return the chat about a chunk.

    Args:
        prompt: The instructions and examples.
        chunk: The part of the change.
        fence: Marks the chunk as data; nothing but the last message depends on it.
        form: Form of the answer.
        examples: Number of the prompt's examples are shown; None for all, 0 for a model that
            was trained on the task.

    Returns:
        Messages that alternate between user and assistant, the user first and last.
    """
    shared = _shared(prompt, form, examples)
    last = "\n".join(_fenced(prompt, fence, _lines(chunk)))
    if len(shared) == 1:
        return (Message(role="user", text=f"{shared[0].text}\n\n{last}"),)
    return (*shared, Message(role="user", text=last))


def format_answer(claims: Sequence[str], implications: Sequence[str], form: Form) -> str:
    """Return claims as a model is to write them: an example's answer, or a training target."""
    if form == "json":
        answered = {"claims": list(claims), "implications": list(implications)}
        # Without blanks, as guided decoding writes it.
        return json.dumps(answered, ensure_ascii=False, separators=(",", ":"))
    parts = (("Summary of changes:", claims), ("Implications:", implications))
    lines = [
        line
        for header, texts in parts
        for line in (header, *(f"{n}. {text}" for n, text in enumerate(texts, 1)), "")
    ]
    return "\n".join(lines).rstrip()


@lru_cache(maxsize=16)
def _shared(prompt: Prompt, form: Form, examples: int | None) -> tuple[Message, ...]:
    """Return the messages that all chats begin with; the last example ends with its answer."""
    content = prompt.content
    limits = {
        "claims": str(content.limits.claims),
        "implications": str(content.limits.implications),
    }
    task = prompts.fill(content.instruction, limits).strip()
    lead = f"{task}\n\n{getattr(content.forms, form).strip()}"
    found: list[Message] = []
    for number, example in enumerate(content.examples[:examples], start=1):
        chunk = chunk_diff(parse.parse_diff(example.diff)).chunks[0]
        fence = Fence(nonce=_EXAMPLE_NONCE.format(number))
        text = "\n".join(_fenced(prompt, fence, _lines(chunk)))
        if not found:
            text = f"{lead}\n\n{text}"
        found.append(Message(role="user", text=text))
        answered = format_answer(example.claims, example.implications, form)
        found.append(Message(role="assistant", text=answered))
    return tuple(found) or (Message(role="user", text=lead),)


def _fenced(prompt: Prompt, fence: Fence, lines: Sequence[str]) -> Iterator[str]:
    mark = {"mark": fence.nonce}
    yield prompts.fill(prompt.content.opening, mark)
    yield fence.text("\n".join(lines))
    yield prompts.fill(prompt.content.closing, mark)
    yield prompts.fill(prompt.content.request, mark)


def _lines(chunk: Chunk) -> list[str]:
    """Return everything that is shown of a chunk: all of it, names included, is data."""
    file = chunk.file
    lines = [f"File: {_one_line(file.path)}"] if file.path else []
    if file.old_path and file.old_path != file.path:
        lines.append(f"Before: {_one_line(file.old_path)}")
    lines += ["Diff:", chunk.text]
    for title, changed in (("Lines removed:", chunk.removed), ("Lines added:", chunk.added)):
        if changed:
            lines += [title, *changed]
    if chunk.around:
        lines += ["Around it, after the change:", chunk.around]
    return lines


def _one_line(name: str) -> str:
    return " ".join(name.split())
