"""Converts chats to the text that a model reads, with the model's template or in a plain form.

The plain form is the layout that the default model was trained on: the system message, then each
turn below a line `@@ Instruction` or `@@ Response`.
"""

from collections.abc import Sequence
from typing import Any

from crscore.errors import GenerationError
from crscore.llm.base import Message

_TURNS = {"user": "@@ Instruction", "assistant": "@@ Response"}


def tokenize_chat(tokenizer: Any, chat: Sequence[Message]) -> list[int]:
    """Return the tokens of a chat, up to the point where the model's answer begins.

    Args:
        tokenizer: Tokenizer of the transformers library.
        chat: Chat that ends with the user's message.

    Returns:
        Token ids, including the special tokens that the template or the tokenizer adds.

    Raises:
        GenerationError: The model's template rejects the chat.
    """
    if not getattr(tokenizer, "chat_template", None):
        return list(tokenizer(format_plain_text(chat))["input_ids"])
    from jinja2 import TemplateError  # noqa: PLC0415

    failure: Exception | None = None
    # Most templates that reject a chat reject its system message, as Gemma's did
    # (https://huggingface.co/google/gemma-7b-it).
    for messages in (chat, merge_system_message(chat)):
        turns = [{"role": message.role, "content": message.text} for message in messages]
        try:
            text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        except (TemplateError, ValueError) as exc:
            failure = exc
        else:
            # The tokenizer adds no special tokens, because the template has added them.
            return list(tokenizer(text, add_special_tokens=False)["input_ids"])
    raise GenerationError(f"the model's chat template rejects the chat: {failure}") from failure


def special_tokens(tokenizer: Any) -> frozenset[str]:
    """Return the texts that a tokenizer of the transformers library always reads as one token."""
    return frozenset(tokenizer.all_special_tokens) | frozenset(tokenizer.get_added_vocab())


def merge_system_message(chat: Sequence[Message]) -> tuple[Message, ...]:
    r"""Merge the system message into the first user message, for templates without a system role.

    >>> chat = [Message(role="system", text="Be brief."), Message(role="user", text="Hello")]
    >>> merge_system_message(chat)
    (Message(role='user', text='Be brief.\n\nHello'),)
    """
    system = "\n\n".join(message.text for message in chat if message.role == "system")
    turns = [message for message in chat if message.role != "system"]
    if system and turns:
        turns[0] = Message(role=turns[0].role, text=f"{system}\n\n{turns[0].text}")
    return tuple(turns)


def format_plain_text(chat: Sequence[Message]) -> str:
    r"""Format a chat for a model without a template.

    >>> format_plain_text([Message(role="user", text="Hello")])
    '@@ Instruction\nHello\n\n@@ Response\n'
    """
    parts = [
        f"{_TURNS[message.role]}\n{message.text}" if message.role in _TURNS else message.text
        for message in chat
    ]
    return "\n\n".join([*parts, f"{_TURNS['assistant']}\n"])
