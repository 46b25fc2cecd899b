"""Chat with a model about a chunk of a change, made from a prompt file.

The instructions and examples, which all chats share, come first, so that a server can cache them;
the chunk comes last. There is no system message: the chat templates of the default model and others
reject one.
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
"""Form of an answer: JSON, or the published two sections of numbered points."""

# This nonce is not random, unlike that of the last message: the examples are the same in every
# chat, so that a server can cache them.
_EXAMPLE_NONCE: Final = "example-{}"


class PromptExample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Change with a good answer."""

    diff: str
    claims: tuple[str, ...]
    implications: tuple[str, ...]


class PromptContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Prompt file for claims; `prompts/claims.v1.toml` explains each text."""

    instruction: str
    opening: str
    closing: str
    request: str
    forms: dict[Form, str]
    """How to answer, by form."""
    limits: dict[Literal["claims", "implications"], int]
    """Maximum number of sentences requested from the model, by list."""
    examples: tuple[PromptExample, ...]


Prompt: TypeAlias = prompts.Prompt[PromptContent]
"""Prompt for claims."""


def load_prompt(name: str) -> Prompt:
    """Read a prompt for claims: `claims.v1`.

    Raises:
        ConfigError: The prompt does not exist.
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
        fence: Marks the chunk as data; only the last message depends on it.
        form: Form of the answer.
        examples: Number of the prompt's examples that are shown; None for all, 0 for a model that
            was trained on the task.

    Returns:
        Messages that alternate between user and assistant, starting and ending with the user.
    """
    shared = _shared(prompt, form, examples)
    last = _fenced(prompt, fence, chunk)
    # Without examples, all text is one message: many chat templates reject two user messages in a
    # row.
    if len(shared) == 1:
        return (Message(role="user", text=f"{shared[0].text}\n\n{last}"),)
    return (*shared, Message(role="user", text=last))


def format_answer(claims: Sequence[str], implications: Sequence[str], form: Form) -> str:
    """Format claims as an answer of the given form: an example's answer, or a training target."""
    if form == "json":
        answered = {"claims": list(claims), "implications": list(implications)}
        # The JSON has no spaces, like the output of guided decoding.
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
    """Return the messages that all chats share; the last example ends with its answer."""
    content = prompt.content
    limits = {str(name): str(limit) for name, limit in content.limits.items()}
    task = prompts.fill(content.instruction, limits).strip()
    lead = f"{task}\n\n{content.forms[form].strip()}"
    messages: list[Message] = []
    for index, example in enumerate(content.examples[:examples], start=1):
        chunk = chunk_diff(parse.parse_diff(example.diff)).chunks[0]
        fence = Fence(nonce=_EXAMPLE_NONCE.format(index))
        text = _fenced(prompt, fence, chunk)
        if not messages:
            text = f"{lead}\n\n{text}"
        messages.append(Message(role="user", text=text))
        answered = format_answer(example.claims, example.implications, form)
        messages.append(Message(role="assistant", text=answered))
    return tuple(messages) or (Message(role="user", text=lead),)


def _fenced(prompt: Prompt, fence: Fence, chunk: Chunk) -> str:
    """Return the text that shows a chunk; all of it, including names, is untrusted."""
    file = chunk.file
    # A line feed in a path could begin a line that looks like an instruction.
    lines = [f"File: {' '.join(file.path.split())}"] if file.path else []
    if file.old_path and file.old_path != file.path:
        lines.append(f"Before: {' '.join(file.old_path.split())}")
    lines += ["Diff:", chunk.text]
    for title, kind in (("Lines removed:", LineKind.REMOVED), ("Lines added:", LineKind.ADDED)):
        if changed := chunk.changed(kind):
            lines += [title, *changed]
    content, mark = prompt.content, {"mark": fence.nonce}
    opening, closing = (prompts.fill(text, mark) for text in (content.opening, content.closing))
    return "\n".join(
        [opening, fence.text("\n".join(lines)), closing, prompts.fill(content.request, mark)]
    )
