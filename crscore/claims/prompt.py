"""Makes the chat with a model about a chunk of a change, from a prompt file.

The instructions and examples, which all chats share, come first, so that a server can cache them.
The chunk comes last. A chat has no system message, because some chat templates reject it, such as
that of the default model.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

import msgspec

from crscore.claims.chunks import Chunk, chunk_diff
from crscore.diff import parse
from crscore.llm import prompts
from crscore.llm.base import Message
from crscore.llm.prompt_escaping import Fence
from crscore.records import LineKind

Form = Literal["json", "sections"]
"""Form of an answer: JSON, or the paper's two sections with numbered points."""

# The nonce of an example is fixed, unlike the random nonce of the last message, so that the
# examples are the same in every chat and a server can cache them.
_EXAMPLE_NONCE: Final = "example-{}"


class PromptExample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Change and a good answer about it."""

    diff: str
    claims: tuple[str, ...]
    implications: tuple[str, ...]


class PromptContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of a prompt file for claims; `prompts/claims.v1.toml` explains each text."""

    instruction: str
    opening: str
    closing: str
    request: str
    forms: dict[Form, str]
    """Form of an answer -> instruction how to write the answer."""
    limits: dict[Literal["claims", "implications"], int]
    """Maximum number of claims and of implications that the model is asked for."""
    examples: tuple[PromptExample, ...]


Prompt: TypeAlias = prompts.Prompt[PromptContent]
"""Prompt file for claims, with its name and hash."""


def load_prompt(name: str) -> Prompt:
    """Read a prompt for claims by its name, such as `claims.v1`.

    Raises:
        ConfigError: There is no such prompt.
    """
    return prompts.read_prompt(name, PromptContent)


def answer_schema(prompt: Prompt) -> dict[str, Any]:
    """Return the JSON Schema of an answer in the form `json`."""
    sentences = {"type": "array", "items": {"type": "string"}}
    return {
        "type": "object",
        "properties": {
            name: sentences | {"maxItems": limit} for name, limit in prompt.content.limits.items()
        },
        "required": list(prompt.content.limits),
        "additionalProperties": False,
    }


def make_chat(
    prompt: Prompt, chunk: Chunk, fence: Fence, form: Form = "json", *, examples: int | None = None
) -> tuple[Message, ...]:
    """Return the chat about a chunk.

    Args:
        prompt: The instructions and examples.
        chunk: The part of the change.
        fence: Marks the chunk as data. Only the last message depends on the fence.
        form: Form of the answer.
        examples: Number of the prompt's examples that are shown; None for all, 0 for a model that
            was trained on the task.

    Returns:
        Messages that alternate between user and assistant, starting and ending with the user.
    """
    shared = _make_shared(prompt, form, examples)
    last = _fence_chunk(prompt, fence, chunk)
    # Without examples, instruction and chunk are one message, because many chat templates reject
    # two user messages in a row.
    if len(shared) == 1:
        return (Message(role="user", text=f"{shared[0].text}\n\n{last}"),)
    return (*shared, Message(role="user", text=last))


def format_answer(claims: Sequence[str], implications: Sequence[str], form: Form) -> str:
    """Format claims as a model's answer, for an example in a prompt or for training."""
    if form == "json":
        answer = {"claims": list(claims), "implications": list(implications)}
        # Without spaces, the JSON looks like that of a model that is constrained to a schema.
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    parts = (("Summary of changes:", claims), ("Implications:", implications))
    lines = [
        line
        for header, texts in parts
        for line in (header, *(f"{n}. {text}" for n, text in enumerate(texts, 1)), "")
    ]
    return "\n".join(lines).rstrip()


@lru_cache(maxsize=16)
def _make_shared(prompt: Prompt, form: Form, examples: int | None) -> tuple[Message, ...]:
    """Return the messages that all chats share: the instruction and the examples with answers."""
    content = prompt.content
    limits = {str(name): str(limit) for name, limit in content.limits.items()}
    task = prompts.fill(content.instruction, limits).strip()
    lead = f"{task}\n\n{content.forms[form].strip()}"
    messages: list[Message] = []
    for index, example in enumerate(content.examples[:examples], start=1):
        chunk = chunk_diff(parse.parse_diff(example.diff)).chunks[0]
        fence = Fence(nonce=_EXAMPLE_NONCE.format(index))
        text = _fence_chunk(prompt, fence, chunk)
        if not messages:
            text = f"{lead}\n\n{text}"
        messages.append(Message(role="user", text=text))
        answer = format_answer(example.claims, example.implications, form)
        messages.append(Message(role="assistant", text=answer))
    return tuple(messages) or (Message(role="user", text=lead),)


def _fence_chunk(prompt: Prompt, fence: Fence, chunk: Chunk) -> str:
    """Return the text that shows a chunk, with its paths and code fenced as untrusted data."""
    file = chunk.file
    # A path may contain a line feed, and after it a line that looks like an instruction.
    lines = [f"File: {' '.join(file.path.split())}"] if file.path else []
    if file.old_path and file.old_path != file.path:
        lines.append(f"Before: {' '.join(file.old_path.split())}")
    lines += ["Diff:", chunk.text]
    for title, kind in (("Lines removed:", LineKind.REMOVED), ("Lines added:", LineKind.ADDED)):
        if changed := chunk.lines_of(kind):
            lines += [title, *changed]
    content, mark = prompt.content, {"mark": fence.nonce}
    opening, closing = (prompts.fill(text, mark) for text in (content.opening, content.closing))
    return "\n".join(
        [opening, fence.text("\n".join(lines)), closing, prompts.fill(content.request, mark)]
    )
