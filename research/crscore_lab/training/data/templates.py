"""Makes useless review texts: templates that are filled with names of a change."""

import random
import re
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z_]\w{3,}")
_COMPOUND: Final = re.compile(r"_|[a-z][A-Z]")
_WORD: Final = re.compile(r"[A-Za-z]{4,}")
_PATH: Final = re.compile(r"^\+\+\+ b/(.*)$", re.MULTILINE)
_SLOT: Final = re.compile(r"\{(a|b|c|L|w|path)\}")
_MAX_LINE: Final = 120


def fill(template: str, patch: str, rng: random.Random) -> str:
    r"""Fill the slots of a template.

    `{a}`, `{b}` and `{c}` become names in added lines, `{L}` becomes an added line, each `{w}` a
    word in an added line, and `{path}` the path of a changed file.

    Args:
        template: The template.
        patch: Text of the change.
        rng: Generator of all random choices.

    Example:
        >>> fill("Why is `{a}` needed?", "@@ -1 +1 @@\n+total_sum = 1", random.Random(0))
        'Why is `total_sum` needed?'
    """
    lines = patch.split("\n")
    added = [line[1:].strip() for line in lines if line.startswith("+") and line[:3] != "+++"]
    added = [line for line in added if len(line) > 3] or ["value = 1"]
    names = [name for line in added for name in _NAME.findall(line)] or ["value"]
    compounds = [name for name in names if _COMPOUND.search(name)] or names
    words = [word.lower() for line in added for word in _WORD.findall(line)] or ["value"]
    texts = {slot: rng.choice(compounds) for slot in "abc"}
    texts["L"] = rng.choice(added)[:_MAX_LINE]
    texts["path"] = rng.choice(_PATH.findall(patch) or ["file"])
    return _SLOT.sub(
        lambda match: rng.choice(words) if match[1] == "w" else texts[match[1]], template
    )
