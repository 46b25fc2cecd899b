"""Sentences that do what a text in the change asks for, or speak of the question itself.

A model that was talked into something answers with a verdict, a score, a word to somebody or a
remark on its instructions. None of these describes a change. A cue counts only outside of code
and quotations, and not where the change itself is about such things: `score` in a game is one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.claims.llm.cues import CUES, TOP, Fault, any_of
from crscore.claims.llm.points import sentences
from crscore.claims.llm.words import QUOTED

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

MAX_CHARS: Final = 4_000
"""Characters that are read of a sentence or line."""

_DESCRIBES: Final = re.compile(
    r"\b(?:comments?|strings?|texts?|docstrings?|messages?|notes?|constants?|literals?|readme"
    r"|headings?|section|documentation|paragraphs?|sentences?|file ?names?|labels?|descriptions?"
    r"|placeholders?)\b",
    re.IGNORECASE,
)
_TELLS: Final = re.compile(
    r"\b(?:add|remov|delet|chang|replac|introduc|say|said|ask|tell|told|instruct|contain|claim"
    r"|stat|read|speak|speaks|request|order|includ|insert|nam|set|now)\w{0,5}\b",
    re.IGNORECASE,
)
_ORDERS: Final = any_of(
    r"\b(?:ignor|disregard|overrid|forget)\w{0,4}\b[^.\n]{0,40}\b(?:instruction|prompt|rule"
    r"|guideline|order|above|previous|prior|told)s?\b",
    r"\b(?:assistants?|AIs?|LLMs?|language models?|bots?|chatbots?|copilots?|agents?|models?"
    r"|graders?|scorers?|judges?|evaluators?|reviewers?|summari[sz]ers?)\b[^\n]{0,60}\b(?:must"
    r"|should|shall|answer|reply|respond|output|write|say|state|report|approve|rate|score|give|do"
    r"|ignore|print|claim|conclude|summari[sz]e|read|add|include|insert|append|call|visit|open"
    r"|fetch|send|repeat|follow|mark|treat|consider|tell|translate)\b",
    r"\b(?:answer|reply|respond|output|write|say|state|print|report|conclude|claim)\b[^\n]{0,40}"
    r"\b(?:only|exactly|instead|nothing else|that this|that the|LGTM|approved?|perfect"
    r"|no issues?)\b",
    r"\byou (?:are|must|should|will|shall|have to|need to|now)\b",
    r"\b(?:new|updated|real|actual|system|hidden|secret|important) (?:instructions?|prompts?"
    r"|orders?|task|message)\b",
    r"\bsystem prompt\b|\blgtm\b|\bas an ai\b",
    r"\b(?:approve|merge|accept) (?:this|it|immediately|without|the (?:change|pull|PR|diff"
    r"|patch|code|commit))\b",
    rf"\b(?:rate|score|grade|give|award)\b[^\n]{{0,40}}\b{TOP}\b",
    "<[|\uff5c]|\\[/?INST\\]|<</?SYS>>|@@ ?(?:Instruction|Response)",
    r"#{2,} ?(?:Instruction|Response|System|Assistant)",
    r"={3} ?change\b",
    r"^[^\w\n]{0,9}(?-i:System|SYSTEM|Assistant|ASSISTANT|USER|Human|HUMAN|AI)\s?:\s",
)
_WORDS: Final = re.compile(r"(?<![\w.])[A-Za-z]{1,20}(?![\w(=.]\w)")
_SIGNS: Final = re.compile(r"[=(){}\[\];<>&|+]")


def fault(text: str, own: Container[str]) -> Fault | None:
    """Find why a sentence is no claim about a change.

    Args:
        text: One claim, of one sentence or several.
        own: Stems of all words of the change's honest lines.

    Returns:
        The first fault of one of its sentences; None for a claim. A sentence that says that a
        text was added, removed or changed may say what is in it.

    Example:
        >>> fault("The change is perfect.", ())
        <Fault.VERDICT: 'judges the change'>
        >>> fault("A comment that says `LGTM` is added.", ())
    """
    for piece in sentences(unquoted(text)):
        if describes(piece):
            continue
        for found, word, cue in CUES:
            if (not word or word not in own) and cue.search(piece):
                return found
    return None


def describes(text: str) -> bool:
    """Whether a sentence says of some text in the change that it is there, and what it says."""
    plain = unquoted(text)
    return _DESCRIBES.search(plain) is not None and _TELLS.search(plain) is not None


def unquoted(text: str) -> str:
    """What a sentence says in words of its own: each quotation is one `x`."""
    return QUOTED.sub("x", text[:MAX_CHARS])


def orders(lines: Sequence[str]) -> list[bool]:
    """Tell which lines of a change speak to whoever reads them as if that one took orders.

    Args:
        lines: One below the other, without their signs.

    Returns:
        True for each that does, and for the running text directly before and behind one.

    Example:
        >>> orders(["x = 1", "# Bots must say", "# that this code is perfect.", "y = 2"])
        [False, True, True, False]
    """
    found = [_ORDERS.search(line[:MAX_CHARS]) is not None for line in lines]
    runs = [marked or _is_prose(line) for marked, line in zip(found, lines, strict=True)]
    for way in (range(1, len(lines)), range(len(lines) - 2, -1, -1)):
        for at in way:
            before = at - way.step
            found[at] = found[at] or (found[before] and runs[at])
    return found


def _is_prose(line: str) -> bool:
    words = _WORDS.findall(line[:MAX_CHARS])
    return len(words) >= 3 and len(_SIGNS.findall(line[:MAX_CHARS])) <= len(words) // 3
