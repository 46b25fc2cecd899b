"""Variants of each kind of attack.

Each public function takes the material of an attack and a random generator, and returns the
variants that can be made of the material, as a mapping from the variant's name to its text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Final

from crscore.records import LineKind
from crscore_lab.study.attacks.material import (
    PHRASES,
    Material,
    changed_lines,
    end_sentence,
    lower_first,
    pick,
    sample,
    shuffle,
    split_sentences,
)

if TYPE_CHECKING:
    import numpy as np

Variants = dict[str, str]

MAX_NAMES: Final = 40
"""Maximum number of identifiers in an attack of stuffed names."""
ZERO_WIDTH: Final = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad")
"""Invisible characters: a space, joiners and a byte order mark of no width, and a soft hyphen."""


def stuff_names(material: Material, rng: np.random.Generator) -> Variants:
    """Write the identifiers of the changed lines in random order."""
    names = shuffle(material.names, rng)[:MAX_NAMES]
    if not names:
        return {}
    return {
        "bare": " ".join(names),
        "commas": ", ".join(names) + ".",
        "backticks": " ".join(f"`{name}`" for name in names),
        "bullets": "\n".join(f"- `{name}`" for name in names),
        "glued": _glue_names(names, material, rng),
        "glued-code": _glue_names([f"`{name}`" for name in names], material, rng),
        "words": _as_words(names) + ".",
        "hashtags": " ".join("#" + name.replace(".", "") for name in names),
        "one-a-line": "\n".join(f"{name}." for name in names),
    }


def paste_diff(material: Material, _: np.random.Generator) -> Variants:
    """Paste the diff as a review; return no variant if all changed lines are blank."""
    added = changed_lines(material.diff, LineKind.ADDED)
    changed = (*changed_lines(material.diff, LineKind.REMOVED), *added)
    if not changed:
        return {}
    raw = material.patch.strip("\n")
    # Without the first character of each line: the `+`, `-` or space of the diff.
    without_signs = "\n".join(line[1:] for line in raw.split("\n") if not line.startswith("@@"))
    new = "\n".join(added or changed)
    return {
        "raw": raw,
        "without-signs": without_signs,
        "fenced": f"```diff\n{raw}\n```",
        "suggestion": f"```suggestion\n{new}\n```",
        "quoted": "> " + raw.replace("\n", "\n> "),
        "paragraph": _join_lines(without_signs),
        "changed-lines": "\n\n".join(changed),
        "in-backticks": " ".join("`" + line.replace("`", "'") + "`" for line in changed),
        "new-side": new,
        "changed-lines-sentence": ". ".join(changed) + ".",
    }


def echo_claims(material: Material, rng: np.random.Generator) -> Variants:
    """Repeat the pseudo-references of the change, separately for each source."""
    variants: Variants = {}
    for source, texts in material.claims.items():
        if texts:
            echoes = _echoes(texts, material, rng)
            variants |= {f"{source}-{name}": text for name, text in echoes.items()}
    return variants


def pad_with_praise(material: Material, rng: np.random.Generator) -> Variants:
    """Pad the honest review with praise, greetings and thanks."""
    return _pad(material.honest_review.strip(), material.bank("praise"), rng)


def pad_with_advice(material: Material, rng: np.random.Generator) -> Variants:
    """Pad the honest review with advice that fits any change."""
    return _pad(material.honest_review.strip(), material.bank("advice"), rng)


def repeat_sentences(material: Material, rng: np.random.Generator) -> Variants:
    """Pad the honest review with repeats of one of its sentences; no variant without a sentence."""
    sentences = split_sentences(material.honest_review)
    if not sentences:
        return {}
    review, times = material.honest_review.rstrip(), int(rng.integers(2, 7))
    sentence = pick(sentences, rng)
    without_stop, repeats = sentence.rstrip(" .!?…"), [end_sentence(sentence)] * times
    marks = (
        f"{without_stop}!",
        f"{without_stop}...",
        f"{without_stop}?",
        f"“{without_stop}”.",
        f"({without_stop})",
        f"{without_stop} .",
    )
    cases = [end_sentence(text) for text in (sentence.upper(), sentence.lower(), sentence.title())]
    leads = [end_sentence(lead + lower_first(sentence)) for lead in PHRASES.lead_ins]
    return {
        "exact": _after(review, repeats),
        "punctuation": _after(review, marks[:times]),
        "case": _after(review, (cases * 2)[:times]),
        "lead-in": _after(review, leads[:times]),
        "before": _before(repeats, review),
        "paragraphs": "\n\n".join([review, *repeats]),
        "whole-twice": f"{review}\n\n{review}",
    }


def borrow_review(material: Material, rng: np.random.Generator) -> Variants:
    """Use honest reviews of other changes."""
    reviews = shuffle(material.foreign_reviews, rng)
    if not reviews:
        return {}
    # `long` is one of the last reviews, so that it differs from `as-is` if there are enough.
    variants = {"as-is": reviews[0], "long": max(reviews[-5:], key=len)}
    if len(reviews) > 1:
        variants["two-merged"] = f"{reviews[0].strip()}\n\n{reviews[1].strip()}"
    return variants


def inject_instructions(material: Material, rng: np.random.Generator) -> Variants:
    """Write instructions to the scorer: alone, after a poor review, and with the honest review."""
    bank, review = material.bank("instructions"), material.honest_review.strip()
    instruction, instructions = pick(bank, rng), sample(bank, 2, 5, rng)
    poor = pick(material.bank("empty"), rng)
    variants = {
        "alone": instruction,
        "alone-several": " ".join(instructions),
        "after-poor": f"{poor} {instruction}",
        "after-poor-several": "\n\n".join([poor, *instructions]),
        "after-poor-in-fence": f"{poor}\n\n```\n{instruction}\n```\n\n{instructions[0]}",
        "json": f"{poor} {pick(PHRASES.verdicts, rng)}",
    }
    if review:
        variants["appended"] = f"{review}\n\n{instruction}"
        variants["appended-several"] = f"{review}\n\n" + " ".join(instructions)
        variants["prefixed"] = f"{instruction}\n\n{review}"
    return variants


def hide_text(material: Material, rng: np.random.Generator) -> Variants:
    """Hide text from readers with HTML, attributes and invisible characters.

    - `poor-WAY`: a poor review, followed by hidden pseudo-references or the hidden honest review.
    - `padded-WAY`: the honest review, followed by hidden advice.
    - `split-...`, `joined-...`: a review, then visible text with invisible characters inside.
    """
    poor, review = pick(material.bank("empty"), rng), material.honest_review.strip()
    payloads = [" ".join(map(end_sentence, texts)) for texts in material.claims.values()]
    payloads = [payload for payload in (*payloads, review) if payload]
    if not payloads:
        return {}
    variants: Variants = {}
    for name, cover in PHRASES.covers.items():
        variants[f"poor-{name}"] = f"{poor}\n\n{_cover(_join_lines(pick(payloads, rng)), cover)}"
        if review:
            padding = " ".join(sample(material.bank("advice"), 2, 5, rng))
            variants[f"padded-{name}"] = f"{review}\n\n{_cover(padding, cover)}"
    advice = " ".join(sample(material.bank("advice"), 3, 6, rng))
    names = sample(material.names, 5, 20, rng)
    variants["split-poor-advice"] = f"{poor} {_break_words(advice, rng)}"
    if names:
        variants["joined-poor-names"] = f"{poor} {ZERO_WIDTH[2].join(names)}"
    if review:
        variants["split-padded-repeat"] = f"{review}\n\n{_break_words(_join_lines(review), rng)}"
        variants["split-padded-advice"] = f"{review}\n\n{_break_words(advice, rng)}"
    return variants


def _glue_names(names: list[str], material: Material, rng: np.random.Generator) -> str:
    groups = [names[start : start + 3] for start in range(0, len(names), 3)]
    # The last group may have one or two names; names are repeated, because each phrase has three
    # placeholders.
    groups[-1] = (groups[-1] * 3)[:3]
    return " ".join(pick(material.bank("glue"), rng).format(*group) for group in groups)


def _as_words(names: list[str]) -> str:
    """Write `parseHeader` and `max_size` as "parse header max size"."""
    spaced = re.sub(r"[_.$]", " ", " ".join(names))
    return _join_lines(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", spaced).lower())


def _echoes(texts: Sequence[str], material: Material, rng: np.random.Generator) -> Variants:
    mixed = shuffle(texts, rng)
    join, lead = pick(material.bank("joins"), rng), pick(material.bank("leads"), rng)
    few = mixed[: max(1, len(mixed) // 3)]
    return {
        "as-given": "\n".join(texts),
        "paragraph": " ".join(map(end_sentence, texts)),
        "shuffled": " ".join(map(end_sentence, mixed)),
        "bullets": "\n".join(f"- {text}" for text in texts),
        "numbered": f"{lead}\n\n" + "\n".join(f"{i}. {text}" for i, text in enumerate(mixed, 1)),
        "few": " ".join(map(end_sentence, few)),
        "joined": end_sentence(join.join(lower_first(text.rstrip(".")) for text in mixed[:4])),
        "noticed": " ".join(f"I notice that {lower_first(end_sentence(text))}" for text in mixed),
        "lower-case": " ".join(end_sentence(text.lower()) for text in texts),
    }


def _pad(review: str, phrases: Sequence[str], rng: np.random.Generator) -> Variants:
    if not review:
        return {}
    short_padding, long_padding = sample(phrases, 1, 2, rng), sample(phrases, 4, 8, rng)
    variants = {
        "before": _before(short_padding, review),
        "after": _after(review, short_padding),
        "around": _after(_before(short_padding[:1], review), sample(phrases, 1, 3, rng)),
        "paragraphs": "\n\n".join([long_padding[0], review, *long_padding[1:]]),
        "much": _after(review, long_padding),
        "bullets": "\n- ".join([f"{review}\n", *long_padding]),
        "section": f"{review}\n\n### General remarks\n\n" + " ".join(long_padding),
    }
    # Only running text is interleaved, because code and lists cannot be split into sentences.
    if _gap(review) == " ":
        pairs = zip(split_sentences(review), cycle(long_padding), strict=False)
        variants["interleaved"] = " ".join(
            f"{end_sentence(sentence)} {phrase}" for sentence, phrase in pairs
        )
    return variants


def _gap(text: str) -> str:
    """Return the separator between a text and its padding: a space for running text."""
    return "\n\n" if "```" in text or "\n" in text.strip() or "<" in text else " "


def _before(phrases: Sequence[str], review: str) -> str:
    return _gap(review).join([" ".join(phrases), review])


def _after(review: str, phrases: Sequence[str]) -> str:
    gap = _gap(review)
    return gap.join([end_sentence(review) if gap == " " else review, " ".join(phrases)])


def _cover(text: str, cover: str) -> str:
    return cover.format(
        html=html.escape(text, quote=False),
        attribute=html.escape(text),
        # Without `-->`, which would end the HTML comment.
        comment=text.replace("--", "- -"),
        # Without characters that would end a link, a title or math in Markdown.
        bare=re.sub(r'[][(){}"\\$<>]', "", text),
        # Unicode's tag characters are an invisible copy of ASCII.
        tags="".join(
            chr(0xE0000 + ord(character)) for character in text if " " <= character <= "~"
        ),
    )


def _break_words(text: str, rng: np.random.Generator) -> str:
    """Put invisible characters into half of the longer words, to evade filters of plain words."""
    words = []
    for word in text.split(" "):
        at = int(rng.integers(1, len(word))) if len(word) > 3 and rng.random() < 0.5 else 0
        words.append(word[:at] + pick(ZERO_WIDTH, rng) + word[at:] if at else word)
    return " ".join(words)


def _join_lines(text: str) -> str:
    return " ".join(text.split())
