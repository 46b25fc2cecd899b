"""Detection of the text that bots add around their remarks, by patterns in `boilerplate.toml`."""

import importlib.resources
import re
import tomllib
from typing import Final

_PATTERNS: Final = tomllib.loads(
    (importlib.resources.files("crscore.review") / "boilerplate.toml").read_text(encoding="utf-8")
)
# A lost remark costs more than a kept footer, so a pattern must match a whole text, without the
# emoji, marks and counts around it ("(3)"): docs/design/004-sentences.md.
_EDGES: Final = re.compile(r"^[\W_]+|(?:[\W_]|\(\d+\))+$")
_HIDDEN_SECTION: Final = re.compile(
    rf"[\Wℹ]*(?:{'|'.join(_PATTERNS['hidden_sections'])})\W*(?:\(\w+\))?\W*", re.IGNORECASE
)
_BOILERPLATE: Final = re.compile("|".join(_PATTERNS["boilerplate"]), re.IGNORECASE)
_MIN_CHARS: Final = 3
_MAX_CHARS: Final = 300


def is_hidden_section(title: str) -> bool:
    """Return whether a folded section with this title holds logs, prompts or a bot's manual.

    Example:
        >>> is_hidden_section("🤖 Prompt for AI Agents"), is_hidden_section("Why this is slow")
        (True, False)
    """
    return len(title) <= _MAX_CHARS and _HIDDEN_SECTION.fullmatch(title) is not None


def is_boilerplate(text: str) -> bool:
    """Return whether a unit or sentence is text that a bot adds around its remarks.

    Example:
        >>> is_boilerplate("Thanks for using CodeRabbit!"), is_boilerplate("This leaks memory.")
        (True, False)
    """
    if not _MIN_CHARS <= len(text) <= _MAX_CHARS:
        return False
    return _BOILERPLATE.fullmatch(_EDGES.sub("", text.replace("’", "'"))) is not None
