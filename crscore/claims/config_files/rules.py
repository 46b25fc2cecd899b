"""Implications of changed entries, by rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.claims.config_files.compare import Action, Change
from crscore.claims.config_files.model import Kind
from crscore.claims.config_files.statements import phrase_of
from crscore.claims.config_files.words import code

if TYPE_CHECKING:
    from crscore.claims.config_files.model import Entry

# "1.2.3", "==2.0", "^1.4", "v2.0.0", "3.12-slim"; not "4f3a9c" and no ranges
_VERSION: Final = re.compile(r"[=~^<>v]{0,3}\s?(\d{1,9}(?:\.\d{1,9}){0,3})(?![\w.])[^,\s]*$")
_LOOSE: Final = re.compile(r"[>^~*<]|latest")
_SECURITY: Final = re.compile(
    r"(?i)verify|ssl|tls|secur|auth(?:$|[_-]|enti|ori)|csrf|sandbox|checksum|read_?only"
)
_CHECKING: Final = re.compile(r"(?i)strict|validat|check|lint|required")
_OPENING: Final = re.compile(
    r"(?i)debug|privileged|insecure|allow|expose|public|skip|continue-on-error|force"
)
_ON: Final = frozenset({"true", "yes", "on", "1", "enabled"})
_OFF: Final = frozenset({"false", "no", "off", "0", "disabled", "none"})
_READING: Final = frozenset({"read", "none", "read-all"})
_GRANTS: Final = re.compile(r"(?i)chmod\s+(?:-R\s+)?(?:0?777|a\+\w*w)|grant\s+all")
_DROPS: Final = re.compile(
    r"(?is)^(?:drop\s+table|truncate|alter\s+table\s.{1,200}?\bdrop\s+column)\b"
)


class Implication(NamedTuple):
    """A sentence and its weight in (0, 1]."""

    text: str
    weight: float


def numbers_of(version: str) -> tuple[int, ...]:
    """Parse a version into comparable numbers.

    Args:
        version: Version constraint of a dependency, or a tag.

    Returns:
        Its numbers without trailing zeros; empty for a range or anything else.

    Example:
        >>> numbers_of("^1.4.0"), numbers_of(">=1,<2"), numbers_of("4f3a9c")
        ((1, 4), (), ())
    """
    match = _VERSION.match(version)
    numbers = [int(one) for one in match[1].split(".")] if match else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def implication_of(change: Change, *, is_config: bool) -> Implication | None:
    """Return the implication of a changed entry for its users.

    Args:
        change: The entry and what happened to it.
        is_config: True when programs read the file's settings by name.

    Returns:
        One sentence, or None when no rule applies.
    """
    kind = change.entry.kind
    if kind in {Kind.DEPENDENCY, Kind.IMAGE} and change.old and change.new:
        return _version(change.old, change.new)
    if kind is Kind.DEPENDENCY and change.action is Action.REMOVED:
        name = code(change.entry.name)
        return Implication(f"What still uses {name} fails without it.", 0.45)
    if kind in {Kind.COMMAND, Kind.STATEMENT} and change.new:
        return _command(change)
    if kind is Kind.SETTING:
        return _setting(change, is_config=is_config)
    return None


def _version(old: Entry, new: Entry) -> Implication | None:
    if new.kind is Kind.IMAGE:
        (name, _, before_text), (after_name, _, after_text) = (
            one.value.partition(":") for one in (old, new)
        )
        if name != after_name:
            return None
    else:
        name, before_text, after_text = new.name, old.value, new.value
    before, after = numbers_of(before_text), numbers_of(after_text)
    if before_text.startswith("==") and (_LOOSE.match(after_text) or not after_text):
        text = f"Without the exact pin, later versions of {code(name)} can be installed untested."
        return Implication(text, 0.6)
    if before and after and after[0] > before[0]:
        text = (
            f"The new major version of {code(name)} may contain breaking changes for the "
            "code that uses it."
        )
        return Implication(text, 0.6)
    if before and after and after < before:
        return Implication(f"The downgrade of {code(name)} gives up its later fixes.", 0.5)
    return None


def _command(change: Change) -> Implication | None:
    now = change.new.value if change.new else ""
    was = change.old.value if change.old else ""
    if (grant := _GRANTS.search(now)) and not _GRANTS.search(was):
        return Implication(
            f"{code(' '.join(grant[0].split()))} gives more permissions than may be needed, "
            "a security risk.",
            0.6,
        )
    if _DROPS.search(now) and not _DROPS.search(was):
        return Implication(
            f"Once a statement {phrase_of(now)}, its data is lost and what still uses it fails.",
            0.6,
        )
    words = now.lower()
    is_new_column = words.startswith("alter table") and " add " in words
    if is_new_column and "not null" in words and not re.search("default|constraint", words):
        return Implication(
            "A new column that must not be null and has no default fails on a table with rows.",
            0.55,
        )
    return None


def _setting(change: Change, *, is_config: bool) -> Implication | None:  # noqa: PLR0911  (one for each rule)
    name = code(change.entry.name)
    if change.action in {Action.REMOVED, Action.RENAMED}:
        if not is_config:
            return None
        old = code(change.old.name if change.old else "")
        return Implication(
            f"What still reads {old} no longer finds it and falls back on a default or fails.", 0.4
        )
    if change.new is None or change.action is Action.MOVED:
        return None
    now = change.new.value.lower()
    if now in _OFF and _SECURITY.search(change.entry.name):
        text = f"With {name} off, a check is missing, which may be a security risk."
        return Implication(text, 0.55)
    if now in _OFF and _CHECKING.search(change.entry.name):
        return Implication(f"With {name} off, mistakes that it caught can pass unseen.", 0.45)
    if (change.entry.name, now) == ("USER", "root"):
        return Implication("The container runs as root, with more rights than it needs.", 0.6)
    if now in _ON and _OPENING.search(change.entry.name):
        return Implication(f"With {name} on, more is allowed or exposed than before.", 0.45)
    if now in {"write", "write-all"} and change.old and change.old.value.lower() in _READING:
        return Implication(f"The permission {name} is widened to writing, a security risk.", 0.55)
    if change.action is Action.CHANGED and "default" in change.entry.name.lower():
        return Implication(f"Whoever relied on the default {name} gets another behaviour.", 0.45)
    return None
