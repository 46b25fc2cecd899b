"""Restatements: what the change does, said correctly and without any judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.records import LineKind
from crscore.study.attacks.facts import Deed, Fact, facts
from crscore.study.attacks.material import (
    Bank,
    Variant,
    changed_lines,
    lowered,
    pick,
    raised,
    seen,
    shuffled,
    stop,
)
from crscore.study.attacks.paraphrase import paraphrased

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from crscore.study.attacks.material import Material, Wording

MAX_FACTS: Final = 6
"""Facts or claims in one restatement."""

_UNSEEN: Final = frozenset({"commit-message", "one-sentence", "recorded-merged", "first-person"})

_SENTENCES: Final[dict[Deed, Bank]] = {
    Deed.ADDED: Bank(
        training=(
            "{new} is added.",
            "{new} has been added.",
            "The change adds {new}.",
            "It introduces {new}.",
            "There is now {new}.",
            "{new} was inserted.",
            "The diff inserts {new}.",
        ),
        test=(
            "{new} comes in.",
            "The patch brings {new}.",
            "{new} appears in the code.",
            "We get {new}.",
            "What is new is {new}.",
            "{new} has been put in.",
            "The author wrote {new}.",
        ),
    ),
    Deed.REMOVED: Bank(
        training=(
            "{old} is removed.",
            "{old} has been deleted.",
            "The change removes {old}.",
            "It drops {old}.",
            "There is no longer {old}.",
            "The diff deletes {old}.",
        ),
        test=(
            "{old} goes away.",
            "The patch takes out {old}.",
            "{old} is not there any more.",
            "{old} has disappeared.",
            "The author got rid of {old}.",
            "{old} was cut.",
        ),
    ),
    Deed.CHANGED: Bank(
        training=(
            "{old} is replaced by {new}.",
            "{old} has been changed to {new}.",
            "The change replaces {old} with {new}.",
            "It uses {new} instead of {old}.",
            "{old} was updated to {new}.",
            "Previously it was {old}, now it is {new}.",
        ),
        test=(
            "{old} becomes {new}.",
            "Where there was {old}, there is {new}.",
            "The patch turns {old} into {new}.",
            "In place of {old} stands {new}.",
            "{new} takes over from {old}.",
            "From {old} it went to {new}.",
        ),
    ),
    Deed.RENAMED: Bank(
        training=(
            "{old} has been renamed to {new}.",
            "{old} was replaced by {new}.",
            "The change renames {old} to {new}.",
            "{old} is changed into {new}.",
        ),
        test=(
            "{old} is now called {new}.",
            "{old} goes by the name {new} from here on.",
            "The name {old} gives way to {new}.",
            "What used to be {old} is {new}.",
        ),
    ),
}
_FRAMES: Final = Bank(
    training=(
        "In this change, {0}",
        "This pull request does the following: {0}",
        "Here, {0}",
        "I see that {0}",
        "To summarise: {0}",
        "The diff shows that {0}",
        "As part of this commit, {0}",
        "Summary of the change: {0}",
        "It looks like {0}",
        "With this commit {0}",
    ),
    test=(
        "Reading the patch, {0}",
        "What happens here: {0}",
        "According to the diff {0}",
        "In short, {0}",
        "For the record: {0}",
        "So {0}",
        "The upshot of this revision: {0}",
        "If I read it correctly, {0}",
        "We can see that {0}",
        "Description: {0}",
    ),
)
_STEPS: Final = Bank(
    training=("First, {0}", "Then {0}", "After that, {0}", "In addition, {0}", "Finally, {0}"),
    test=("To begin with, {0}", "Next, {0}", "Furthermore {0}", "Besides, {0}", "Lastly, {0}"),
)
_COUNTS: Final = Bank(
    training=("{0} are added and {1} are removed.", "The diff has {0} added and {1} removed."),
    test=("The patch grows by {0} and loses {1}.", "Altogether {0} come in, {1} go out."),
)
_COMMANDS: Final = {
    Deed.ADDED: "Add {new}.",
    Deed.REMOVED: "Remove {old}.",
    Deed.CHANGED: "Change {old} to {new}.",
    Deed.RENAMED: "Rename {old} to {new}.",
}
_OWN: Final = {
    Deed.ADDED: "I have added {new}.",
    Deed.REMOVED: "I have removed {old}.",
    Deed.CHANGED: "I have replaced {old} with {new}.",
    Deed.RENAMED: "I have renamed {old} to {new}.",
}


def restatements(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Restate a change: by templates from its lines, and by paraphrase from correct claims.

    Args:
        material: The change; `honest` and `strangers` do not count.
        rng: Source of randomness.

    Returns:
        One text for each way. Those of the claims (`recorded-...`, `structural-...`) are left
        out where there is none that says what was changed.
    """
    told = list(facts(material.diff))
    start = int(rng.integers(max(1, len(told) - MAX_FACTS + 1)))
    made = _from_lines(told[start : start + MAX_FACTS], material, rng) if told else []
    made += _from_claims("recorded", material.summaries, material.wording, rng)
    made += _from_claims("structural", material.structural_summaries, material.wording, rng)
    return seen(made, _UNSEEN, material.wording)


def _from_lines(
    told: Sequence[Fact], material: Material, rng: np.random.Generator
) -> list[Variant]:
    wording = material.wording
    plain = [_sentence(fact, wording, rng) for fact in told]
    added = len(changed_lines(material.diff, LineKind.ADDED))
    removed = len(changed_lines(material.diff, LineKind.REMOVED))
    count = pick(_COUNTS.of(wording), rng).format(_lines(added), _lines(removed))
    return [
        Variant("templates", " ".join(plain)),
        Variant("framed", " ".join([_framed(plain[0], wording, rng), *plain[1:]])),
        Variant("steps", _stepwise(plain, wording)),
        Variant("bullets", "\n".join(f"- {one}" for one in plain)),
        Variant("counts", " ".join([raised(count), *plain[:3]])),
        Variant("one-sentence", raised(stop(", and ".join(map(_tail, plain[:3]))))),
        Variant("commit-message", " ".join(_filled(_COMMANDS[fact.deed], fact) for fact in told)),
        Variant("first-person", " ".join(_filled(_OWN[fact.deed], fact) for fact in told)),
    ]


def _from_claims(
    source: str, claims: Sequence[str], wording: Wording, rng: np.random.Generator
) -> list[Variant]:
    if not claims:
        return []
    said = [paraphrased(claim, wording, rng) for claim in shuffled(claims, rng)[:MAX_FACTS]]
    return [
        Variant(f"{source}-reworded", " ".join(said)),
        Variant(f"{source}-framed", " ".join(_framed(one, wording, rng) for one in said[:3])),
        Variant(f"{source}-steps", _stepwise(said, wording)),
        Variant(f"{source}-one", said[0]),
        Variant(f"{source}-merged", raised(stop("; ".join(map(_tail, said))))),
    ]


def _sentence(fact: Fact, wording: Wording, rng: np.random.Generator) -> str:
    return _filled(pick(_SENTENCES[fact.deed].of(wording), rng), fact)


def _filled(template: str, fact: Fact) -> str:
    return raised(template.format(old=fact.old, new=fact.new))


def _framed(sentence: str, wording: Wording, rng: np.random.Generator) -> str:
    return pick(_FRAMES.of(wording), rng).format(lowered(sentence))


def _stepwise(plain: Sequence[str], wording: Wording) -> str:
    steps = _STEPS.of(wording)
    last = len(plain) - 1
    return " ".join(
        steps[len(steps) - 1 if index == last and last else index % (len(steps) - 1)].format(
            lowered(one)
        )
        for index, one in enumerate(plain)
    )


def _tail(sentence: str) -> str:
    return lowered(sentence.rstrip("."))


def _lines(count: int) -> str:
    return f"{count} line" + "s" * (count != 1)
