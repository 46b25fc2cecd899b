"""Text that a person does not see: HTML, attributes, invisible characters."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

from crscore.study.attacks.material import Variant, Wording, pick, some, stop
from crscore.study.attacks.phrases import BOILERPLATE, POOR

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from crscore.study.attacks.material import Material

ZERO_WIDTH: Final = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad")
"""Characters without a width: spaces, joiners, a byte order mark and the soft hyphen."""

_TAGS_BLOCK: Final = 0xE0000
_UNSEEN: Final = frozenset({"tiny", "template", "title", "math-white", "link-comment", "input"})


def _element(opening: str) -> Callable[[str], str]:
    tag = opening.split(" ", 1)[0]
    return lambda text: f"<{opening}>{html.escape(text, quote=False)}</{tag}>"


_COVERS: Final[dict[str, Callable[[str], str]]] = {
    "comment": lambda text: f"<!-- {text.replace('--', '- -')} -->",
    "comment-block": lambda text: "<!--\n" + text.replace("--", "- -") + "\n-->",
    "hidden-span": _element("span hidden"),
    "hidden-div": _element("div hidden"),
    "display-none": _element('span style="display:none"'),
    "invisible": _element('p style="visibility: hidden"'),
    "white": _element('span style="color:#fff;background:#fff"'),
    "font-white": _element('font color="white"'),
    "tiny": _element('span style="font-size:0"'),
    "template": _element("template"),
    "data-attribute": lambda text: f'<span data-note="{html.escape(text)}"></span>',
    "alt-text": lambda text: f"![{_bare(text)}](https://example.org/pixel.png)",
    "alt-attribute": lambda text: (
        f'<img alt="{html.escape(text)}" src="https://example.org/pixel.png" width="1">'
    ),
    "title": lambda text: f'[.](https://example.org "{_bare(text)}")',
    "input": lambda text: f'<input type="hidden" value="{html.escape(text)}">',
    "link-comment": lambda text: f"[//]: # ({_bare(text)})",
    "tag-characters": lambda text: "".join(
        chr(_TAGS_BLOCK + ord(letter)) for letter in text if " " <= letter <= "~"
    ),
    "math-white": lambda text: "$\\color{white}{\\textsf{" + _bare(text) + "}}$",
}
"""Ways to hide a text: what GitHub or a browser does not show of each."""


def hiddens(material: Material, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Hide pseudo-references or good reviews behind a poor review, or padding in an honest one.

    Args:
        material: The change; `honest` is used where it is given.
        rng: Source of randomness.

    Returns:
        For each way of hiding, `poor-WAY` with the pseudo-references or the honest review as
        the hidden text, and, with an honest review, `padded-WAY`, which hides advice in it.
        `split-...` and `joined-...` write visible padding with invisible characters inside.
    """
    poor = pick(POOR.of(material.wording), rng)
    honest = material.honest.strip()
    loads = [" ".join(map(stop, texts)) for texts in (material.recorded, material.structural)]
    loads = [load for load in (*loads, honest) if load]
    if not loads:
        return ()
    made = []
    for name, cover in _COVERS.items():
        if material.wording is Wording.TRAINING and name in _UNSEEN:
            continue
        load = _one_line(pick(loads, rng))
        made.append(Variant(f"poor-{name}", f"{poor}\n\n{cover(load)}"))
        if honest:
            padding = " ".join(some(BOILERPLATE.of(material.wording), 2, 5, rng))
            made.append(Variant(f"padded-{name}", f"{honest}\n\n{cover(padding)}"))
    return (*made, *_split(material, poor, rng))


def _split(material: Material, poor: str, rng: np.random.Generator) -> tuple[Variant, ...]:
    """Words broken by invisible characters, so that a filter for plain words misses them."""
    advice = some(BOILERPLATE.of(material.wording), 3, 6, rng)
    names = some(material.names, 5, 20, rng)
    joined = ZERO_WIDTH[2].join(names)
    made = [Variant("split-poor-advice", f"{poor} {broken(' '.join(advice), rng)}")]
    if names:
        made.append(Variant("joined-poor-names", f"{poor} {joined}"))
    honest = material.honest.strip()
    if honest:
        made += [
            Variant("split-padded-repeat", f"{honest}\n\n{broken(_one_line(honest), rng)}"),
            Variant("split-padded-advice", f"{honest}\n\n{broken(' '.join(advice), rng)}"),
        ]
    return tuple(made)


def broken(text: str, rng: np.random.Generator) -> str:
    """The text with invisible characters inside about every other word."""
    words = []
    for word in text.split(" "):
        if len(word) > 3 and rng.random() < 0.5:
            at = int(rng.integers(1, len(word)))
            word = word[:at] + pick(ZERO_WIDTH, rng) + word[at:]  # noqa: PLW2901
        words.append(word)
    return " ".join(words)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _bare(text: str) -> str:
    """Without the characters that would end a Markdown link, title or formula."""
    return "".join(letter for letter in text if letter not in '[](){}"\\$<>')
