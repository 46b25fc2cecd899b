"""The change itself handed in as a review: its identifiers, or its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.records import LineKind
from crscore.study.attacks.material import (
    Bank,
    Variant,
    Wording,
    changed_lines,
    pick,
    seen,
    shuffled,
)

if TYPE_CHECKING:
    import numpy as np

    from crscore.study.attacks.material import Material

MAX_NAMES: Final = 40
"""Identifiers in a stuffed text."""

_GLUE: Final = Bank(
    training=(
        "{0} and {1} with {2}.",
        "The {0} of {1} is for {2}.",
        "Because of {0}, {1} has {2}.",
        "{0} uses {1} in {2}.",
        "When {0} is {1}, then {2}.",
        "Please {0} the {1} of {2}.",
    ),
    test=(
        "See {0}, and also {1} under {2}.",
        "{0} goes through {1} to {2}.",
        "What about {0}, {1} or {2}?",
        "Here {0} belongs to {1} rather than {2}.",
        "{0} should {1} while {2}.",
        "From {0} over {1} we get {2}.",
    ),
)
_UNSEEN: Final = frozenset({"hashtags", "glued-code", "new-side", "changed-lines-sentence"})


def stuffings(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Stuff a text with the identifiers of the changed lines, shuffled.

    Args:
        material: The change; only `names` and `wording` count.
        rng: Source of randomness.

    Returns:
        One text for each way of writing them; empty when the change has no identifier.
    """
    names = shuffled(material.names, rng)[:MAX_NAMES]
    if not names:
        return ()
    made = (
        Variant("bare", " ".join(names)),
        Variant("commas", ", ".join(names) + "."),
        Variant("backticks", " ".join(f"`{name}`" for name in names)),
        Variant("bullets", "\n".join(f"- `{name}`" for name in names)),
        Variant("glued", _glued(names, material.wording, rng)),
        Variant("glued-code", _glued([f"`{name}`" for name in names], material.wording, rng)),
        Variant("words", _as_words(names) + "."),
        Variant("hashtags", " ".join("#" + name.replace(".", "") for name in names)),
        Variant("one-a-line", "\n".join(f"{name}." for name in names)),
    )
    return seen(made, _UNSEEN, material.wording)


def pasted_diffs(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Paste the diff back.

    Args:
        material: The change; only `patch`, `diff` and `wording` count.
        rng: Unused; every maker has it.

    Returns:
        One text for each way of pasting; empty when no line with text is changed.
    """
    del rng
    added = changed_lines(material.diff, LineKind.ADDED)
    removed = changed_lines(material.diff, LineKind.REMOVED)
    if not (added or removed):
        return ()
    lines = material.patch.strip("\n").split("\n")
    bare = [line[1:] for line in lines if not line.startswith("@@")]
    made = (
        Variant("raw", "\n".join(lines)),
        Variant("without-signs", "\n".join(bare)),
        Variant("fenced", "```diff\n" + "\n".join(lines) + "\n```"),
        Variant("suggestion", "```suggestion\n" + "\n".join(added or removed) + "\n```"),
        Variant("quoted", "\n".join("> " + line for line in lines)),
        Variant("paragraph", " ".join(" ".join(bare).split())),
        Variant("changed-lines", "\n\n".join((*removed, *added))),
        Variant("in-backticks", " ".join(f"`{_plain(line)}`" for line in (*removed, *added))),
        Variant("new-side", "\n".join(added or removed)),
        Variant("changed-lines-sentence", ". ".join((*removed, *added)) + "."),
    )
    return seen(made, _UNSEEN, material.wording)


def _glued(names: list[str], wording: Wording, rng: np.random.Generator) -> str:
    groups = [names[start : start + 3] for start in range(0, len(names), 3)]
    groups[-1] = (groups[-1] * 3)[:3]
    return " ".join(pick(_GLUE.of(wording), rng).format(*group) for group in groups)


def _as_words(names: list[str]) -> str:
    """`parseHeader` and `max_size` as "parse header max size"."""
    spaced = " ".join(names).replace("_", " ").replace(".", " ").replace("$", " ")
    parts = []
    for before, letter in zip(" " + spaced, spaced, strict=False):
        parts.append(" " + letter if letter.isupper() and before.islower() else letter)
    return " ".join("".join(parts).lower().split())


def _plain(line: str) -> str:
    return line.replace("`", "'")
