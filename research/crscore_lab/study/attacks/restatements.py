"""Restatements: correct descriptions of the change without any judgement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from crscore.records import Diff, Hunk, LineKind
from crscore_lab.study.attacks.material import (
    PHRASES,
    Material,
    Wording,
    changed_lines,
    lowered,
    pick,
    raised,
    shuffled,
    stop,
)

if TYPE_CHECKING:
    import numpy as np

MAX_FACTS: Final = 6
"""Maximum number of facts or claims in one restatement."""
MAX_QUOTE: Final = 80
"""Maximum characters of code quoted in a fact."""
MAX_BLOCK: Final = 40
"""Maximum lines read from each side of a run of changes; pairing takes quadratic time."""
_MAX_LINE: Final = 300
_MIN_SIMILARITY: Final = 0.5
"""Ratio of equal characters from which a removed and an added line count as one changed line."""

# Takes `name`, `1.5e3`, `"text"`, `'c'`, else a single sign.
_TOKEN: Final = re.compile(r"[A-Za-z_$][\w$]*|\d[\w.]*|\"[^\"]*\"|'[^']*'|\S")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_THIRD: Final = {third: participle for participle, third in PHRASES.verbs.items()}
# Code must stay unchanged: `x.new`, 'checks if', "a.b".
_CODE: Final = re.compile(r"`[^`]*`|'[^' ]*'|\"[^\" ]*\"")
# Control characters, which no claim has, mark the places of code.
_MASKED: Final = re.compile("\x02(\\d+)\x03")
# "A parameter `x` has been added to `f`." -> "The patch adds a parameter `x` to `f`."
_PASSIVE: Final = re.compile(
    rf"(?P<what>[^,.]{{3,120}}?) (?:has been|have been|was|were|is|are) (?:now )?"
    rf"(?P<verb>{'|'.join(PHRASES.verbs)})\b(?P<rest>.*)",
    re.DOTALL,
)
# "The change adds a parameter." -> "A parameter is added."
_ACTIVE: Final = re.compile(
    rf"(?:The|This) (?:code )?(?:change|commit|diff|patch|update|new code) "
    rf"(?P<verb>{'|'.join(_THIRD)}) (?P<what>.+?)"
    r"(?P<rest>(?: (?:to|from|in|of|for|with)\b.*)?)[.]?",
    re.DOTALL,
)
# "In the method, a check is added." -> "A check is added in the method."
_LEADING: Final = re.compile(
    r"(?P<head>(?:In|Inside|Within|If|When|Before|After|Previously|Now)\b[^,]{3,80}), (?P<main>.+)",
    re.DOTALL,
)


class Fact(NamedTuple):
    """One edit of a diff."""

    action: Literal["added", "removed", "changed", "renamed"]
    """Action on a piece of code."""
    old: str
    """Noun phrase or quoted code before the edit; "" for added code."""
    new: str
    """Noun phrase or quoted code after the edit; "" for removed code."""


def restate_change(material: Material, rng: np.random.Generator) -> dict[str, str]:
    """Restate a change by templates from its lines and by paraphrases of correct claims.

    Args:
        material: Material of the change; `honest_review` and `foreign_reviews` are not used.
        rng: Source of randomness.

    Returns:
        Variant -> text. Variants of claims (`recorded-...`, `structural-...`) are left out where no
        claim describes the change.
    """
    facts = list_facts(material.diff)
    start = int(rng.integers(max(1, len(facts) - MAX_FACTS + 1)))
    variants = _from_lines(facts[start : start + MAX_FACTS], material, rng) if facts else {}
    for source, claims in material.summaries.items():
        if claims:
            variants |= _from_claims(source, claims, material, rng)
    return variants


def list_facts(diff: Diff) -> list[Fact]:
    """List the edits of a diff, in order, without duplicates."""
    facts = (fact for file in diff.files for hunk in file.hunks for fact in _of_hunk(hunk))
    return list(dict.fromkeys(facts))


def paraphrase(claim: str, wording: Wording, rng: np.random.Generator) -> str:
    """Paraphrase a claim: voice, order, synonyms.

    Args:
        claim: One sentence.
        wording: Which half of the synonyms to use.
        rng: Source of randomness.

    Returns:
        A sentence; the claim itself where no rule applies.
    """
    code = _CODE.findall(claim)
    numbers = iter(range(len(code)))
    text = _CODE.sub(lambda _: f"\x02{next(numbers)}\x03", claim.strip())
    text = _turned(text, wording, rng)
    for pattern, training, test in PHRASES.rewordings:
        if rng.random() < 0.7:
            words = pick(training if wording is Wording.TRAINING else test, rng)
            text = re.sub(pattern, partial(_expanded, words), text, count=1)
    return raised(stop(_MASKED.sub(lambda match: code[int(match[1])], text)))


def _from_lines(
    facts: Sequence[Fact], material: Material, rng: np.random.Generator
) -> dict[str, str]:
    sentences = [_filled(pick(material.bank(fact.action), rng), fact) for fact in facts]
    count = pick(material.bank("counts"), rng).format(
        *(_lines(material.diff, kind) for kind in (LineKind.ADDED, LineKind.REMOVED))
    )
    by_template = {
        name: " ".join(_filled(template[fact.action], fact) for fact in facts)
        for name, template in PHRASES.templates.items()
    }
    return {
        "templates": " ".join(sentences),
        "framed": " ".join([_framed(sentences[0], material, rng), *sentences[1:]]),
        "steps": _stepwise(sentences, material),
        "bullets": "\n".join(f"- {sentence}" for sentence in sentences),
        "counts": " ".join([raised(count), *sentences[:3]]),
        "one-sentence": raised(stop(", and ".join(map(_tail, sentences[:3])))),
        **by_template,
    }


def _from_claims(
    source: str, claims: Sequence[str], material: Material, rng: np.random.Generator
) -> dict[str, str]:
    sampled_claims = shuffled(claims, rng)[:MAX_FACTS]
    reworded = [paraphrase(claim, material.wording, rng) for claim in sampled_claims]
    return {
        f"{source}-reworded": " ".join(reworded),
        f"{source}-framed": " ".join(_framed(sentence, material, rng) for sentence in reworded[:3]),
        f"{source}-steps": _stepwise(reworded, material),
        f"{source}-one": reworded[0],
        f"{source}-merged": raised(stop("; ".join(map(_tail, reworded)))),
    }


def _filled(template: str, fact: Fact) -> str:
    return raised(template.format(old=fact.old, new=fact.new))


def _framed(sentence: str, material: Material, rng: np.random.Generator) -> str:
    return pick(material.bank("frames"), rng).format(lowered(sentence))


def _stepwise(sentences: Sequence[str], material: Material) -> str:
    *steps, final = material.bank("steps")
    used_steps = [steps[index % len(steps)] for index in range(len(sentences))]
    if len(sentences) > 1:
        used_steps[-1] = final
    return " ".join(
        step.format(lowered(sentence)) for step, sentence in zip(used_steps, sentences, strict=True)
    )


def _tail(sentence: str) -> str:
    return lowered(sentence.rstrip("."))


def _lines(diff: Diff, kind: LineKind) -> str:
    count = len(changed_lines(diff, kind))
    return f"{count} line" + "s" * (count != 1)


def _of_hunk(hunk: Hunk) -> Iterator[Fact]:
    for is_context, lines in groupby(hunk.lines, key=lambda line: line.kind is LineKind.CONTEXT):
        if is_context:
            continue
        block = [
            # A line of brackets alone states nothing.
            (line.kind, line.text.strip())
            for line in lines
            if re.search(r"[^\W_]", line.text)
        ]
        removed = [text for kind, text in block if kind is LineKind.REMOVED]
        added = [text for kind, text in block if kind is LineKind.ADDED]
        yield from _of_block(removed[:MAX_BLOCK], added[:MAX_BLOCK])


def _of_block(removed: Sequence[str], added: Sequence[str]) -> Iterator[Fact]:
    unpaired = list(added)
    for old in removed:
        new = max(unpaired, key=lambda line: _likeness(old, line), default=None)
        if new is None or _likeness(old, new) < _MIN_SIMILARITY:
            yield Fact("removed", _noun(old), "")
        else:
            unpaired.remove(new)
            yield _changed(old, new)
    for new in unpaired:
        yield Fact("added", "", _noun(new))


def _changed(old: str, new: str) -> Fact:
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(before) == len(after):
        pairs = {(a, b) for a, b in zip(before, after, strict=True) if a != b}
        if len(pairs) == 1:
            ((old_token, new_token),) = pairs
            are_names = _NAME.fullmatch(old_token) and _NAME.fullmatch(new_token)
            return Fact(
                "renamed" if are_names else "changed", _quoted(old_token), _quoted(new_token)
            )
    # Both quotes would be cut before they differ, so they start at the last shared word boundary.
    if len(old) > MAX_QUOTE < len(new):
        differ = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        shared = old.rfind(" ", 0, differ) + 1
        old, new = old[shared:], new[shared:]
    return Fact("changed", _quoted(old), _quoted(new))


def _likeness(old: str, new: str) -> float:
    # `autojunk` would ignore frequent characters; without it, long lines take quadratic time.
    return SequenceMatcher(None, old[:200], new[:200], autojunk=False).ratio()


def _noun(line: str) -> str:
    for pattern, phrase in PHRASES.nouns:
        match = re.match(pattern, line[:_MAX_LINE])
        if match and match["name"].strip(" ()"):
            return phrase.format(_cut(match["name"]))
    return f"the line {_quoted(line)}"


def _quoted(code: str) -> str:
    return "`" + _cut(" ".join(code.split()).rstrip(";,{ ")) + "`"


def _cut(code: str) -> str:
    """Join code onto one line without backticks, cut to `MAX_QUOTE` characters."""
    text = " ".join(code.replace("`", "'").split())
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1] + "…"


def _expanded(words: str, match: re.Match[str]) -> str:
    """Return the replacement for a match, capitalized where the match was."""
    replacement = match.expand(words)
    return raised(replacement) if match[0][:1].isupper() else replacement


def _turned(claim: str, wording: Wording, rng: np.random.Generator) -> str:
    """Return the claim in the other voice or order, where a rule applies and the draw allows."""
    chance = rng.random()
    passive = _PASSIVE.match(claim)
    if passive and chance < 0.6:
        doer, verb = pick(PHRASES.banks["doers"][wording], rng), PHRASES.verbs[passive["verb"]]
        return f"{doer} {verb} {lowered(passive['what'])}{passive['rest']}"
    active = _ACTIVE.fullmatch(claim)
    if active and chance < 0.8:
        verb = _THIRD[active["verb"]]
        # "3 parameters", "parameters".
        be = "are" if active["what"][0].isdigit() or active["what"].endswith("s") else "is"
        return f"{raised(active['what'])} {be} {verb}{active['rest']}"
    leading = _LEADING.fullmatch(claim)
    if leading and chance < 0.6:
        return f"{raised(leading['main'].rstrip('.'))} {lowered(leading['head'])}"
    return claim
