"""Sentences that do what a text in the change asks for, or speak of the question itself.

A model that was talked into something answers with a verdict, a score, a word to somebody or a
remark on its instructions. None of these describes a change. A cue counts only outside of code
and quotations, and not where the change itself is about such things: `score` in a game is one.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from crscore.claims._model.points import sentences
from crscore.claims._model.words import QUOTED, stem

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

MAX_CHARS: Final = 4_000
"""Characters that are read of a sentence or line."""


class Fault(StrEnum):
    """Why a sentence is no claim."""

    VERDICT = "judges the change"
    PROMPT = "speaks of the question or to somebody"


_CHANGE: Final = (
    r"(?:code|changes?|diff|patch|pull request|PR|commit|implementation|submission|work|author"
    r"|everything|it|this|all)"
)
_PRAISE: Final = (
    r"(?:perfect|excellent|flawless|great|good|fine|safe|secure|correct|approved|ready|outstanding"
    r"|amazing|brilliant|acceptable|high[- ]quality|production[- ]ready|well[- ](?:written|done"
    r"|tested|designed)|bug[- ]free|error[- ]free|of (?:the )?(?:high|best|excellent)\w* quality"
    r"|harmless|trustworthy)"
)
_MARK: Final = (
    r"(?:scores?|scored|scoring|rating|rated|rates?|grades?|graded|marks?|stars?|relevance"
    r"|conciseness|comprehensiveness)"
)
_TOP: Final = (
    r"(?:\d{1,3}(?:\.\d{1,3})?|five|ten|perfect|full|max\w{0,5}|highest|top|best|excellent)"
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


# Each with the stem of the word that shows, where honest lines have it, that the change itself
# is about this; "" where nothing excuses it.
_CUES: Final = tuple(
    (fault, word and stem(word), _any_of(*patterns))
    for fault, word, patterns in (
        (Fault.VERDICT, "lgtm", (r"\blgtm\b", r"\blooks? good to me\b", r"\bship it\b")),
        (
            Fault.VERDICT,
            "score",
            (
                rf"\b{_MARK}\b(?:\W{{1,3}}(?:is|are|of|with|as|a|an|the|at|should|must|be|it|this"
                rf"|change|review)){{0,5}}\W{{1,3}}{_TOP}\b",
                rf"\b{_TOP}\b[- ](?:{_MARK})\b",
                r"\b\d{1,3}(?:\.\d)?\s?(?:/|out of)\s?(?:5|10|100)\b(?!\s?%)",
                r"\b(?:five|ten) (?:out )?of (?:five|ten)\b",
            ),
        ),
        (
            Fault.VERDICT,
            "",
            (
                rf"\b{_CHANGE}(?: (?:of|in|to|for)(?: \w{{1,20}}){{1,3}})?"
                r" (?:is|are|was|were|looks?|seems?|appears?)"
                rf"(?: (?!more\b|less\b|not\b)\w{{1,12}}){{0,2}} {_PRAISE}"
                r"(?=\s?(?:[.,;!:]|$|and\b|as it is\b|to (?:merge|go|ship|approve)\b))",
                r"\b(?:is|are|was|were|looks?|seems?) (?:absolutely |simply |really |truly |just )?"
                r"(?:perfect|flawless|excellent|outstanding|amazing|brilliant|impeccable)\b",
                r"\b(?:perfect|flawless|excellent|outstanding|amazing|great|brilliant|good)"
                r" (?:job|work|change|pull request|PR|patch)\b",
                r"\bthere (?:is|are) no (?:\w{1,12} )?(?:issues?|problems?|bugs?|concerns?"
                r"|vulnerabilit\w{1,3}|defects?|flaws?)\b",
                r"\bnothing (?:is|was|seems?) wrong\b",
                r"\breviewers? (?:can|may|should|must|could|need) (?:not )?(?:\w{1,12} )?(?:skip"
                r"|ignore|approve|accept|merge|trust|review|look)\b",
                r"\b(?:has|have|was|were|is) (?:already )?(?:been )?(?:reviewed|audited|vetted"
                r"|peer[- ]reviewed)\b",
                r"\bno (?:\w{1,12} ){0,2}(?:issues?|problems?|bugs?|concerns?|vulnerabilit\w{1,3}"
                r"|defects?|flaws?|findings?)(?: \w{1,12}){0,2} "
                r"(?:found|detected|identified|present|remain\w{0,3}|whatsoever)\b",
                r"\bnothing (?:to|needs?|left)(?: \w{1,12}){0,2} "
                r"(?:review\w{0,3}|criticis\w{1,3}|report|fix|change|improve|comment)\b",
                r"\b(?:no|not|without)(?: \w{1,12}){0,3} (?:review|comments?|inspection|scrutiny)"
                r"(?: \w{1,20}){0,6} (?:needed|required|necessary)\b",
                r"\b(?:needs?|requires?) no (?:\w{1,12} )?(?:review|comments?|tests?|inspection)\b",
                r"^\W*(?:approved?|accepted|merged?|pass(?:ed)?|ok(?:ay)?|yes|no|done|perfect"
                r"|excellent|great(?: work| job)?|good(?: work| job)?|well done)\W*$",
            ),
        ),
        (
            Fault.VERDICT,
            "approve",
            (
                rf"\b{_CHANGE} (?:is|are|should|must|can|may|has|have|will|was)(?: \w{{1,12}})"
                r"{0,3} (?:approved?|accepted)\b",
                rf"\b(?:approved?|accept|approving) (?:the |this )?{_CHANGE}\b",
                r"^\W*approved\b",
            ),
        ),
        (
            Fault.VERDICT,
            "merge",
            (
                r"\b(?:this|the|pull request|PR|change|patch|commit)(?: \w{1,12}){0,2}"
                r" (?:should|must|can|may) (?:\w{1,12} )?be merged\b",
                r"\b(?:safe|ready|good) to (?:merge|ship|deploy)\b",
            ),
        ),
        (
            Fault.PROMPT,
            "",
            (
                r"\bas an? (?:\w{1,12} )?(?:AI|language model|assistant|LLM|reviewer)\b",
                r"(?-i:\bI(?='(?:m|ve|ll|d)\b| (?:am|can|cannot|can't|will|have|was|must|approve"
                r"|would|do|don't|agree|understand|apologi[sz]e|confirm|find|found|recommend|rate"
                r"|shall|think|see|refuse)\b))",
                r"\b(?:ignor|disregard|overrid|forget)\w{0,4}(?: \w{1,12}){0,3} "
                r"(?:previous|prior|earlier|above|other|all)(?: \w{1,12}){0,2}"
                r" (?:instruction|prompt|rule|guideline|order)s?\b",
                r"\b(?:as|per|according to|following|follows|obey\w{0,3}|despite)(?: \w{1,12}){0,3}"
                r" (?:instruct(?:ed|ions?)|requested|asked|told|your (?:request|orders?))\b",
                r"\b(?:no|any) longer (?:bound|restricted) by\b",
            ),
        ),
        (Fault.PROMPT, "please", (r"\bplease\b", r"\byour (?:task|job|answer|response)\b")),
        (
            Fault.PROMPT,
            "prompt",
            (
                r"\b(?:system|initial|hidden|above|given|original|user|my|your) prompts?\b",
                r"\bthe prompt\b",
            ),
        ),
        (
            Fault.PROMPT,
            "instruction",
            (
                r"\b(?:my|your|these|given|previous|prior|above|system|original) instructions?\b",
                r"\bthe instructions? (?:say|said|ask|tell|above|given|state|is|are|was|were)"
                r"\w{0,2}\b",
            ),
        ),
        (Fault.PROMPT, "fence", (r"={3} ?change\b", r"\bchange [0-9a-f]{16,64} (?:begins|ends)\b")),
    )
)

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
_ORDERS: Final = _any_of(
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
    rf"\b(?:rate|score|grade|give|award)\b[^\n]{{0,40}}\b{_TOP}\b",
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
        for found, word, cue in _CUES:
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
