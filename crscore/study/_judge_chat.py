"""Chat with a judge: the prompt, with the change and the review as fenced data."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import msgspec

from crscore.errors import ConfigError
from crscore.llm import prompts
from crscore.llm.engines.base import Message, Sampling
from crscore.llm.prompt_escaping import readable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crscore.llm.prompts import Prompt

NAME: Final = "judge.v1"
"""The prompt."""
PLACES: Final = frozenset({"language", "change", "review", "mark"})
_FORM: Final = 1
"""Version of how the data is fenced; a new one makes remembered answers worthless."""
_MARK_DIGITS: Final = 32
# "python", "C++", "c#", "Objective-C"; no sentence.
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#./_-]{1,24}")

Count = Annotated[int, msgspec.Meta(gt=0, le=2**20)]


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Contents of a `judge.vN.toml`."""

    system: str
    """The model's role."""
    user: str
    """The question, with the places in `PLACES`."""
    max_tokens: Count
    """Most tokens of an answer."""
    most_change_characters: Count
    """A longer change is cut to so many characters."""


class Pair(NamedTuple):
    """One question."""

    language: str
    """Programming language of the change."""
    change: str
    """The diff's text."""
    review: str
    """The review's text; may be blank."""


def load_wording(name: str = NAME) -> Prompt[Wording]:
    """Read the judge's prompt.

    Raises:
        ConfigError: It cannot be used.
    """
    found = prompts.read_prompt(name, Wording)
    if prompts.places(found.content.user) != PLACES:
        raise ConfigError("user", name, f"must have the places {', '.join(sorted(PLACES))}")
    return found


def sampling(prompt: Prompt[Wording]) -> Sampling:
    """Return how the judge answers: the likeliest tokens, a few of them."""
    return Sampling(max_tokens=prompt.content.max_tokens)


def is_cut(prompt: Prompt[Wording], pair: Pair) -> bool:
    """Return whether the judge sees only the beginning of the change."""
    return len(pair.change) > prompt.content.most_change_characters


def mark(prompt: Prompt[Wording], pairs: Iterable[Pair]) -> str:
    """Make the word that the data of a run stands between.

    It is a hash of all that stands there: a text that held it would have to hold a hash of
    itself, and the same study still asks the same questions, word for word.
    """
    digest = hashlib.sha256(prompt.sha256.encode())
    for pair in pairs:
        digest.update(_digest(pair).encode())
    return digest.hexdigest()[:_MARK_DIGITS]


def chat(prompt: Prompt[Wording], pair: Pair, mark: str) -> tuple[Message, ...]:
    """Write the messages of one question.

    Args:
        prompt: The wording.
        pair: The change, which is cut to the prompt's limit, and the review, which never is.
        mark: Keeps the two apart from the words around them.

    Returns:
        A system and a user message; all pairs of a prompt share their beginning.
    """
    wording = prompt.content
    change = pair.change[: wording.most_change_characters]
    language = pair.language if _LANGUAGE.fullmatch(pair.language) else "unknown"
    values = {
        "language": language,
        "change": readable(change).strip("\n"),
        "review": readable(pair.review).strip("\n"),
        "mark": mark,
    }
    return (
        Message(role="system", text=wording.system.strip()),
        Message(role="user", text=prompts.fill(wording.user.strip(), values)),
    )


def key(prompt: Prompt[Wording], pair: Pair, engine: str) -> str:
    """Name the answer to a question: another model, prompt or way of drawing, another name.

    Args:
        prompt: The wording, with how answers are drawn.
        pair: The question.
        engine: The engine's identity.

    Returns:
        `judge` and 64 hex digits.
    """
    drawn = sampling(prompt)
    how = [drawn.max_tokens, drawn.temperature, drawn.top_p, drawn.seed]
    named = json.dumps([_FORM, engine, prompt.name, prompt.sha256, how, _digest(pair)])
    return f"judge {hashlib.sha256(named.encode()).hexdigest()}"


def _digest(pair: Pair) -> str:
    # ASCII: a study may hold half a surrogate pair.
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()
