"""Messages to a judge model: the prompt, with the change and the review as fenced data."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Annotated, Final, NamedTuple

import msgspec

from crscore.errors import ConfigError
from crscore.llm import prompts
from crscore.llm.engines.base import Message, Sampling
from crscore.llm.prompt_escaping import break_control_tokens
from crscore.llm.prompts import Prompt

NAME: Final = "judge.v1"
"""Name of the prompt."""
PLACES: Final = frozenset({"language", "change", "review", "mark"})
_FORM: Final = 1
"""Version of the data fencing; a new version invalidates cached answers."""
_MARK_DIGITS: Final = 32
# "python", "C++", "c#", "Objective-C"; not a sentence.
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#./_-]{1,24}")

Count = Annotated[int, msgspec.Meta(gt=0, le=2**20)]


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Contents of a `judge.vN.toml`."""

    system: str
    """The model's role."""
    user: str
    """The question, with the placeholders in `PLACES`."""
    max_tokens: Count
    """Maximum number of tokens of an answer."""
    most_change_characters: Count
    """Number of characters to which a longer change is cut."""


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
        ConfigError: The prompt cannot be used.
    """
    prompt = prompts.read_prompt(name, Wording)
    if prompts.placeholders(prompt.content.user) != PLACES:
        raise ConfigError("user", name, f"must have the places {', '.join(sorted(PLACES))}")
    return prompt


def sampling(prompt: Prompt[Wording]) -> Sampling:
    """Return the judge's sampling settings: greedy, a few tokens."""
    return Sampling(max_tokens=prompt.content.max_tokens)


def mark(prompt: Prompt[Wording], pairs: Iterable[Pair]) -> str:
    """Return the marker that fences the data of a run.

    The marker is a hash of the fenced texts. A text that contains it would have to contain a hash
    of itself, and the same study always yields the same prompts.
    """
    digest = hashlib.sha256(prompt.sha256.encode())
    for pair in pairs:
        digest.update(_digest(pair).encode())
    return digest.hexdigest()[:_MARK_DIGITS]


def chat(prompt: Prompt[Wording], pair: Pair, mark: str) -> tuple[Message, ...]:
    """Build the messages of one question.

    Args:
        prompt: The wording.
        pair: The change, which is cut to the prompt's limit, and the review, which is not.
        mark: Marker that fences the change and the review.

    Returns:
        A system and a user message; all pairs of a prompt share a prefix.
    """
    wording = prompt.content
    change = pair.change[: wording.most_change_characters]
    language = pair.language if _LANGUAGE.fullmatch(pair.language) else "unknown"
    values = {
        "language": language,
        "change": break_control_tokens(change).strip("\n"),
        "review": break_control_tokens(pair.review).strip("\n"),
        "mark": mark,
    }
    return (
        Message(role="system", text=wording.system.strip()),
        Message(role="user", text=prompts.fill(wording.user.strip(), values)),
    )


def key(prompt: Prompt[Wording], pair: Pair, engine: str) -> str:
    """Return the cache key of an answer, specific to model, prompt and sampling.

    Args:
        prompt: The wording, with the sampling settings.
        pair: The question.
        engine: The engine's identity.

    Returns:
        `judge` and 64 hex digits.
    """
    settings = sampling(prompt)
    sampling_values = [settings.max_tokens, settings.temperature, settings.top_p, settings.seed]
    content = json.dumps(
        [_FORM, engine, prompt.name, prompt.sha256, sampling_values, _digest(pair)]
    )
    return f"judge {hashlib.sha256(content.encode()).hexdigest()}"


def _digest(pair: Pair) -> str:
    # ASCII: a study may hold half a surrogate pair.
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()
