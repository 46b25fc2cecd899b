"""From a tool's words to a sentence that a reviewer would write."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from crscore.records import Severity
from crscore.static_analysis import sarif

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.static_analysis.manifest import Manifest
    from crscore.static_analysis.reports import RawFinding

MAX_MESSAGE = 2_000
"""Characters of a tool's message that a pattern is searched in."""
MAX_NAME = 80
"""Characters of a name taken from the code; a longer one is cut."""


_SLOT = re.compile(r"\{(\w+)\}")


class Worded(NamedTuple):
    """A finding in English."""

    text: str
    """One sentence."""
    severity: Severity
    """How much it matters."""


def word(finding: RawFinding, manifest: Manifest) -> Worded:
    """Say a finding as a reviewer would.

    Args:
        finding: As the tool printed it.
        manifest: Its sentences; the first whose rule and message match is filled in. Without
            one the tool's own message serves.

    Returns:
        The sentence and the severity.
    """
    severity = _severity(finding, manifest)
    for sentence in manifest.sentences:
        if not _compiled(sentence.rule).fullmatch(finding.rule):
            continue
        match = _compiled(sentence.message or "").search(finding.message[:MAX_MESSAGE])
        if match is not None:
            names = {key: _short(value) for key, value in match.groupdict().items()}
            text = _filled(sentence.text, names)
            if text is not None:
                return Worded(text, sentence.severity or severity)
    return Worded(sarif.shorten(finding.message) or _nameless(finding.rule), severity)


def _filled(text: str, names: Mapping[str, str]) -> str | None:
    """Put names in their places; None when one is empty: "Unused import ``." helps nobody."""
    wanted = _SLOT.findall(text)
    if not all(names[name] for name in wanted):
        return None
    return _SLOT.sub(lambda slot: names[slot[1]], text)


def _nameless(rule: str) -> str:
    return f"This breaks the rule `{_short(rule)}`." if _short(rule) else "Something is wrong here."


def _severity(finding: RawFinding, manifest: Manifest) -> Severity:
    table = manifest.severity
    level = finding.level or ""
    if level in table:
        return table[level]
    named = level if level in set(Severity) else table.get("default", Severity.WARNING)
    return Severity(named)


def _short(value: str | None) -> str:
    # The sentence puts names in backticks itself.
    plain = " ".join((value or "").replace("`", " ").split())
    return plain if len(plain) <= MAX_NAME else plain[: MAX_NAME - 1] + "…"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
