"""Conversion of chats to the text that a model reads, by its own template or a plain form.

The plain form is the layout that the default model was trained on: the system's words, then each
turn under a line `@@ Instruction` or `@@ Response`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crscore.errors import GenerationError
from crscore.llm.engines.base import Message, sendable

_TURNS = {"user": "@@ Instruction", "assistant": "@@ Response"}


def ids(tokenizer: Any, chat: Sequence[Message]) -> list[int]:
    """Return the tokens of a chat, up to where the model's answer begins.

    Args:
        tokenizer: One of the transformers library.
        chat: Chat that ends with the user's message.

    Returns:
        Token numbers, with the tokens that the template or the tokenizer adds.

    Raises:
        GenerationError: The model's template rejects the chat.
    """
    chat = [Message(role=message.role, text=sendable(message.text)) for message in chat]
    if not getattr(tokenizer, "chat_template", None):
        return list(tokenizer(plain_text(chat))["input_ids"])
    from jinja2 import TemplateError  # noqa: PLC0415

    try:
        return _templated(tokenizer, chat)
    except (TemplateError, ValueError):
        pass  # most templates that reject a chat reject its system message
    try:
        return _templated(tokenizer, merged(chat))
    except (TemplateError, ValueError) as exc:
        raise GenerationError(f"the model's chat template refuses the chat: {exc}") from exc


def special(tokenizer: Any) -> frozenset[str]:
    """Return the texts that are always one token, as only control tokens should be.

    Args:
        tokenizer: One of the transformers library.
    """
    return frozenset(tokenizer.all_special_tokens) | frozenset(tokenizer.get_added_vocab())


def merged(chat: Sequence[Message]) -> tuple[Message, ...]:
    r"""Merge the system message into the first user message, for templates without a system role.

    >>> merged([Message(role="system", text="Be brief."), Message(role="user", text="Hello")])
    (Message(role='user', text='Be brief.\n\nHello'),)
    """
    system = "\n\n".join(message.text for message in chat if message.role == "system")
    turns = [message for message in chat if message.role != "system"]
    if system and turns:
        turns[0] = Message(role=turns[0].role, text=f"{system}\n\n{turns[0].text}")
    return tuple(turns)


def plain_text(chat: Sequence[Message]) -> str:
    r"""Format a chat for a model without a template.

    >>> plain([Message(role="system", text="Be brief."), Message(role="user", text="Hello")])
    'Be brief.\n\n@@ Instruction\nHello\n\n@@ Response\n'
    """
    parts = [
        f"{_TURNS[message.role]}\n{message.text}" if message.role in _TURNS else message.text
        for message in chat
    ]
    return "\n\n".join([*parts, f"{_TURNS['assistant']}\n"])


def _templated(tokenizer: Any, chat: Sequence[Message]) -> list[int]:
    turns = [{"role": message.role, "content": message.text} for message in chat]
    text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    # The template has already added the special tokens.
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])
