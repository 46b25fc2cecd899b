"""Variants of each kind of attack except restatements.

Each function takes the material of one attack and a random generator, and returns a mapping from
variant name to text for the variants that the material allows.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final

from crscore.lab.study.attacks.material import (
    PHRASES,
    Material,
    changed_lines,
    lowered,
    pick,
    raised,
    sample,
    shuffled,
    split_sentences,
    stop,
)
from crscore.records import LineKind

if TYPE_CHECKING:
    import numpy as np

Variants = dict[str, str]

MAX_NAMES: Final = 40
"""Maximum number of identifiers in a stuffed text."""
ZERO_WIDTH: Final = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad")
"""Characters without width: spaces, joiners, a byte order mark and the soft hyphen."""
_ANTONYMS: Final = {other: word for word, other in PHRASES.antonyms.items()} | PHRASES.antonyms


def stuff_names(material: Material, rng: np.random.Generator) -> Variants:
    """Stuff a text with the identifiers of the changed lines, shuffled."""
    names = shuffled(material.names, rng)[:MAX_NAMES]
    if not names:
        return {}
    return {
        "bare": " ".join(names),
        "commas": ", ".join(names) + ".",
        "backticks": " ".join(f"`{name}`" for name in names),
        "bullets": "\n".join(f"- `{name}`" for name in names),
        "glued": _glued(names, material, rng),
        "glued-code": _glued([f"`{name}`" for name in names], material, rng),
        "words": _as_words(names) + ".",
        "hashtags": " ".join("#" + name.replace(".", "") for name in names),
        "one-a-line": "\n".join(f"{name}." for name in names),
    }


def paste_diff(material: Material, _: np.random.Generator) -> Variants:
    """Paste the diff as a review; return nothing when no line with text is changed."""
    added = changed_lines(material.diff, LineKind.ADDED)
    changed = (*changed_lines(material.diff, LineKind.REMOVED), *added)
    if not changed:
        return {}
    raw = material.patch.strip("\n")
    bare = "\n".join(line[1:] for line in raw.split("\n") if not line.startswith("@@"))
    new = "\n".join(added or changed)
    return {
        "raw": raw,
        "without-signs": bare,
        "fenced": f"```diff\n{raw}\n```",
        "suggestion": f"```suggestion\n{new}\n```",
        "quoted": "> " + raw.replace("\n", "\n> "),
        "paragraph": _one_line(bare),
        "changed-lines": "\n\n".join(changed),
        "in-backticks": " ".join("`" + line.replace("`", "'") + "`" for line in changed),
        "new-side": new,
        "changed-lines-sentence": ". ".join(changed) + ".",
    }


def echo_claims(material: Material, rng: np.random.Generator) -> Variants:
    """Repeat the pseudo-references: the study's own and the structural ones."""
    made: Variants = {}
    for source, texts in material.claims.items():
        if texts:
            ways = _echoes(texts, material, rng)
            made |= {f"{source}-{name}": text for name, text in ways.items()}
    return made


def pad_with_praise(material: Material, rng: np.random.Generator) -> Variants:
    """Pad the honest review with praise, greetings and thanks."""
    return _padded(material.honest.strip(), material.bank("praise"), rng)


def pad_with_advice(material: Material, rng: np.random.Generator) -> Variants:
    """Pad the honest review with advice that fits any change."""
    return _padded(material.honest.strip(), material.bank("advice"), rng)


def repeat_sentences(material: Material, rng: np.random.Generator) -> Variants:
    """Pad the honest review with repeats of its own sentences; return nothing when it has none."""
    own = split_sentences(material.honest)
    if not own:
        return {}
    honest, times = material.honest.rstrip(), int(rng.integers(2, 7))
    one = pick(own, rng)
    bare, same = one.rstrip(" .!?…"), [stop(one)] * times
    marks = (f"{bare}!", f"{bare}...", f"{bare}?", f"“{bare}”.", f"({bare})", f"{bare} .")
    cases = (stop(one.upper()), stop(one.lower()), stop(one.title())) * 2
    leads = [stop(lead + lowered(one)) for lead in PHRASES.lead_ins]
    return {
        "exact": _after(honest, same),
        "punctuation": _after(honest, marks[:times]),
        "case": _after(honest, cases[:times]),
        "lead-in": _after(honest, leads[:times]),
        "before": _before(same, honest),
        "paragraphs": "\n\n".join([honest, *same]),
        "whole-twice": f"{honest}\n\n{honest}",
    }


def borrow_review(material: Material, rng: np.random.Generator) -> Variants:
    """Use good reviews of other changes."""
    others = shuffled(material.strangers, rng)
    if not others:
        return {}
    made = {"as-is": others[0], "long": max(others[-5:], key=len)}
    if len(others) > 1:
        made["two-merged"] = f"{others[0].strip()}\n\n{others[1].strip()}"
    return made


def disguise_review(material: Material, rng: np.random.Generator) -> Variants:
    """Use a good review of another change with this change's names."""
    if not material.strangers or not material.names:
        return {}
    other = pick(material.strangers, rng)
    names = shuffled(material.names, rng)
    lead = " and ".join(f"`{name}`" for name in names[:2])
    made = {
        "names-first": f"{lead}: {other.strip()}",
        "names-last": f"{stop(other)} This concerns {lead}.",
    }
    swapped = _renamed(other, names)
    return made if swapped == other else made | {"names-swapped": swapped}


def inject_instructions(material: Material, rng: np.random.Generator) -> Variants:
    """Write instructions to the scorer: alone, after a poor review, next to the honest one."""
    bank, honest = material.bank("instructions"), material.honest.strip()
    one, several = pick(bank, rng), sample(bank, 2, 5, rng)
    poor = pick(material.bank("empty"), rng)
    made = {
        "alone": one,
        "alone-several": " ".join(several),
        "after-poor": f"{poor} {one}",
        "after-poor-several": "\n\n".join([poor, *several]),
        "after-poor-in-fence": f"{poor}\n\n```\n{one}\n```\n\n{several[0]}",
        "json": f"{poor} {pick(PHRASES.verdicts, rng)}",
    }
    if honest:
        made["appended"] = f"{honest}\n\n{one}"
        made["appended-several"] = f"{honest}\n\n" + " ".join(several)
        made["prefixed"] = f"{one}\n\n{honest}"
    return made


def hide_text(material: Material, rng: np.random.Generator) -> Variants:
    """Hide text from readers with HTML, attributes and invisible characters.

    `poor-WAY` hides the pseudo-references or the honest review behind a poor review, `padded-WAY`
    hides advice behind the honest review. `split-...` and `joined-...` write visible padding with
    invisible characters inside.
    """
    poor, honest = pick(material.bank("empty"), rng), material.honest.strip()
    loads = [" ".join(map(stop, texts)) for texts in material.claims.values()]
    loads = [load for load in (*loads, honest) if load]
    if not loads:
        return {}
    made: Variants = {}
    for name, cover in PHRASES.covers.items():
        made[f"poor-{name}"] = f"{poor}\n\n{_covered(_one_line(pick(loads, rng)), cover)}"
        if honest:
            padding = " ".join(sample(material.bank("advice"), 2, 5, rng))
            made[f"padded-{name}"] = f"{honest}\n\n{_covered(padding, cover)}"
    advice = " ".join(sample(material.bank("advice"), 3, 6, rng))
    names = sample(material.names, 5, 20, rng)
    made["split-poor-advice"] = f"{poor} {_broken(advice, rng)}"
    if names:
        made["joined-poor-names"] = f"{poor} {ZERO_WIDTH[2].join(names)}"
    if honest:
        made["split-padded-repeat"] = f"{honest}\n\n{_broken(_one_line(honest), rng)}"
        made["split-padded-advice"] = f"{honest}\n\n{_broken(advice, rng)}"
    return made


def negate_review(material: Material, rng: np.random.Generator) -> Variants:
    """Negate the honest review by rules; return nothing when it has no sentence."""
    own = split_sentences(material.honest)
    if not own:
        return {}
    frame = pick(material.bank("denied"), rng)
    return {
        "denied-verbs": " ".join(stop(_denied(one, frame)) for one in own),
        "denied-once": " ".join(map(stop, (_denied(own[0], frame), *own[1:]))),
        "framed": " ".join(stop(frame.format(lowered(one))) for one in own),
        "opposites": " ".join(stop(_opposite(one, frame)) for one in own),
    }


def _glued(names: list[str], material: Material, rng: np.random.Generator) -> str:
    groups = [names[start : start + 3] for start in range(0, len(names), 3)]
    groups[-1] = (groups[-1] * 3)[:3]
    return " ".join(pick(material.bank("glue"), rng).format(*group) for group in groups)


def _as_words(names: list[str]) -> str:
    """Write `parseHeader` and `max_size` as "parse header max size"."""
    spaced = re.sub(r"[_.$]", " ", " ".join(names))
    return _one_line(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", spaced).lower())


def _echoes(texts: Sequence[str], material: Material, rng: np.random.Generator) -> Variants:
    mixed = shuffled(texts, rng)
    join, lead = pick(material.bank("joins"), rng), pick(material.bank("leads"), rng)
    few = mixed[: max(1, len(mixed) // 3)]
    return {
        "as-given": "\n".join(texts),
        "paragraph": " ".join(map(stop, texts)),
        "shuffled": " ".join(map(stop, mixed)),
        "bullets": "\n".join(f"- {text}" for text in texts),
        "numbered": f"{lead}\n\n" + "\n".join(f"{i}. {text}" for i, text in enumerate(mixed, 1)),
        "few": " ".join(map(stop, few)),
        "joined": stop(join.join(lowered(text.rstrip(".")) for text in mixed[:4])),
        "noticed": " ".join(f"I notice that {lowered(stop(text))}" for text in mixed),
        "lower-case": " ".join(stop(text.lower()) for text in texts),
    }


def _padded(honest: str, phrases: Sequence[str], rng: np.random.Generator) -> Variants:
    if not honest:
        return {}
    few, many = sample(phrases, 1, 2, rng), sample(phrases, 4, 8, rng)
    made = {
        "before": _before(few, honest),
        "after": _after(honest, few),
        "around": _after(_before(few[:1], honest), sample(phrases, 1, 3, rng)),
        "paragraphs": "\n\n".join([many[0], honest, *many[1:]]),
        "much": _after(honest, many),
        "bullets": "\n- ".join([f"{honest}\n", *many]),
        "section": f"{honest}\n\n### General remarks\n\n" + " ".join(many),
    }
    if _gap(honest) == " ":
        pairs = zip(split_sentences(honest), cycle(many), strict=False)
        made["interleaved"] = " ".join(f"{stop(one)} {phrase}" for one, phrase in pairs)
    return made


def _gap(text: str) -> str:
    """Return the separator between a text and its padding: a space for running text."""
    return "\n\n" if "```" in text or "\n" in text.strip() or "<" in text else " "


def _before(phrases: Sequence[str], honest: str) -> str:
    return _gap(honest).join([" ".join(phrases), honest])


def _after(honest: str, phrases: Sequence[str]) -> str:
    gap = _gap(honest)
    return gap.join([stop(honest) if gap == " " else honest, " ".join(phrases)])


def _renamed(text: str, names: Sequence[str]) -> str:
    """Replace code spans and names in camelCase or snake_case or followed by call parentheses."""
    given: dict[str, str] = {}

    def swap(found: re.Match[str]) -> str:
        return given.setdefault(found[0], f"`{names[len(given) % len(names)]}`")

    return re.sub(r"`[^`]+`|\b\w+(?:_\w+)+\b|\b[a-z]+(?:[A-Z]\w*)+\b|\b\w+\(\)", swap, text)


def _covered(text: str, cover: str) -> str:
    return cover.format(
        html=html.escape(text, quote=False),
        attribute=html.escape(text),
        comment=text.replace("--", "- -"),
        # Without characters that would end a Markdown link, title or formula.
        bare=re.sub(r'[][(){}"\\$<>]', "", text),
        # Unicode has an invisible copy of ASCII.
        tags="".join(chr(0xE0000 + ord(one)) for one in text if " " <= one <= "~"),
    )


def _broken(text: str, rng: np.random.Generator) -> str:
    """Put invisible characters into about every other word, to evade plain-word filters."""
    words = []
    for word in text.split(" "):
        at = int(rng.integers(1, len(word))) if len(word) > 3 and rng.random() < 0.5 else 0
        words.append(word[:at] + pick(ZERO_WIDTH, rng) + word[at:] if at else word)
    return " ".join(words)


def _denied(sentence: str, frame: str) -> str:
    for pattern, denial in PHRASES.denials:
        text, count = re.subn(pattern, denial, sentence, count=1, flags=re.IGNORECASE)
        if count:
            return raised(text)
    return frame.format(lowered(sentence))


def _opposite(sentence: str, frame: str) -> str:
    text, count = re.subn(
        r"\b(" + "|".join(_ANTONYMS) + r")\b",
        lambda found: _ANTONYMS[found[0].lower()],
        sentence,
        flags=re.IGNORECASE,
    )
    return raised(text) if count else _denied(sentence, frame)


def _one_line(text: str) -> str:
    return " ".join(text.split())
