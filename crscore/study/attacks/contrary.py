"""Reviews that are wrong: another change's review, and the contrary of a good one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.study.attacks.material import (
    Bank,
    Variant,
    lowered,
    pick,
    raised,
    seen,
    shuffled,
    stop,
    units,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from crscore.study.attacks.material import Material

_UNSEEN: Final = frozenset({"opposites", "two-merged"})

# A verb that can be denied, and its denial.
_DENIALS: Final = (
    (r"\bshould not\b|\bshouldn't\b", "should"),
    (r"\bcannot\b|\bcan't\b|\bcan not\b", "can"),
    (r"\b(is|are|was|were|does|do|has|have|will|would|must) not\b", r"\1"),
    (r"\b(is|are|was|were|does|do|would|wo|have|has)n't\b", r"\1"),
    (r"\bcan\b", "cannot"),
    (r"\b(should|is|are|was|were|will|would|could|must|may|might|has been|have been)\b", r"\1 not"),
    (r"\b(need|want|make|use|add|remove|look|seem|help|ensure)s ", r"does not \1 "),
)
_OPPOSITES: Final = (
    ("good", "bad"),
    ("better", "worse"),
    ("necessary", "unnecessary"),
    ("add", "remove"),
    ("added", "removed"),
    ("adding", "removing"),
    ("before", "after"),
    ("always", "never"),
    ("correct", "wrong"),
    ("safe", "unsafe"),
    ("more", "less"),
    ("increase", "decrease"),
    ("increases", "decreases"),
    ("improve", "worsen"),
    ("improves", "worsens"),
    ("true", "false"),
    ("first", "last"),
    ("old", "new"),
    ("useful", "useless"),
    ("clear", "unclear"),
    ("public", "private"),
    ("easier", "harder"),
    ("with", "without"),
    ("keep", "drop"),
    ("same", "different"),
    ("consistent", "inconsistent"),
    ("valid", "invalid"),
)
_OTHER_WAY: Final = {b: a for a, b in _OPPOSITES} | dict(_OPPOSITES)
_DENY: Final = Bank(
    training=(
        "It is not true that {0}",
        "I do not think that {0}",
        "There is no sign that {0}",
        "Nobody could claim that {0}",
    ),
    test=(
        "It would be wrong to say that {0}",
        "I disagree with the idea that {0}",
        "It is simply false that {0}",
        "By no means is it so that {0}",
    ),
)


def wrong_changes(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Take good reviews of other changes.

    Args:
        material: Only `strangers` and `wording` count.
        rng: Source of randomness.

    Returns:
        One text for each way; empty without strangers.
    """
    others = shuffled(material.strangers, rng)
    if not others:
        return ()
    made = [Variant("as-is", others[0]), Variant("long", max(others[-5:], key=len))]
    if len(others) > 1:
        made.append(Variant("two-merged", f"{others[0].strip()}\n\n{others[1].strip()}"))
    return seen(made, _UNSEEN, material.wording)


def disguises(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Take good reviews of other changes and put this change's names into them.

    Args:
        material: Only `strangers`, `names` and `wording` count.
        rng: Source of randomness.

    Returns:
        One text for each way; empty without strangers or names.
    """
    if not material.strangers or not material.names:
        return ()
    other = pick(material.strangers, rng)
    names = shuffled(material.names, rng)
    lead = " and ".join(f"`{name}`" for name in names[:2])
    swapped = _renamed(other, names)
    made = [
        Variant("names-first", f"{lead}: {other.strip()}"),
        Variant("names-last", f"{stop(other)} This concerns {lead}."),
    ]
    return (*made, *([Variant("names-swapped", swapped)] if swapped != other else []))


def negations(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Say the contrary of an honest review, by rules.

    Args:
        material: Only `honest` and `wording` count.
        rng: Source of randomness.

    Returns:
        One text for each way; empty when the review has no sentence.
    """
    own = units(material.honest)
    if not own:
        return ()
    frame = pick(_DENY.of(material.wording), rng)
    made = [
        Variant("denied-verbs", " ".join(stop(_denied(one, frame)) for one in own)),
        Variant("denied-once", " ".join(map(stop, (_denied(own[0], frame), *own[1:])))),
        Variant("framed", " ".join(stop(frame.format(lowered(one))) for one in own)),
        Variant("opposites", " ".join(stop(_opposite(one, frame)) for one in own)),
    ]
    return seen(made, _UNSEEN, material.wording)


def _denied(sentence: str, frame: str) -> str:
    for pattern, denial in _DENIALS:
        text, count = re.subn(pattern, denial, sentence, count=1, flags=re.IGNORECASE)
        if count:
            return raised(text)
    return frame.format(lowered(sentence))


def _opposite(sentence: str, frame: str) -> str:
    pattern = r"\b(" + "|".join(_OTHER_WAY) + r")\b"
    text, count = re.subn(
        pattern, lambda found: _OTHER_WAY[found[0].lower()], sentence, flags=re.IGNORECASE
    )
    return raised(text) if count else _denied(sentence, frame)


def _renamed(text: str, names: Sequence[str]) -> str:
    """Code spans and names in camelCase, snake_case or with a call's brackets, replaced."""
    given: dict[str, str] = {}

    def swap(found: re.Match[str]) -> str:
        return given.setdefault(found[0], f"`{names[len(given) % len(names)]}`")

    return re.sub(r"`[^`]+`|\b\w+(?:_\w+)+\b|\b[a-z]+(?:[A-Z]\w*)+\b|\b\w+\(\)", swap, text)
