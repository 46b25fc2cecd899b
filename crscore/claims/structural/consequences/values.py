"""Consequences of changed constants: limits, defaults, patterns, keys, members."""

import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.consequences.literals import Edit, edits
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.versions import squeeze
from crscore.text.words import split_identifier

_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_QUANTITIES: Final = [
    (re.compile(rf"\b(?:{row['words']})\b"), row["higher"], row["lower"])
    for row in _TABLES["quantities"]
]
_TEXTS: Final = [
    (row["rule"], re.compile(row["literal"]), re.compile(row["context"]), row["sentence"])
    for row in _TABLES["texts"]
]
_NUMBER: Final = re.compile(r"[\"']?(\d[\d_]*+(?:\.\d+)?)([A-Za-z]{0,2})[\"']?")
_FACTORS: Final = re.compile(r"(?<![\w.])(?:\d[\d_.]* \* ){1,4}$")
_PRODUCT: Final = re.compile(r"(?: \* [\w.]+){0,4}")
_QUOTES: Final = re.compile(r"^[\"'`]|[\"'`]$")
_MEMBER: Final = re.compile(r"(?:case )?([A-Z]\w*)\s*+(?:,|=|\(|;|$)")
_NAMES: Final = re.compile(r"(?:Keys?|Names?|Actions?|Events?|Routes?)$")
"""Enumerations whose members are only names."""


def _question(edit: Edit) -> str:
    """Return what to ask about another number; "" for nothing."""
    old, new = map(_NUMBER.fullmatch, (edit.before, edit.after))
    if old is None or new is None or old[2] != new[2]:
        return ""
    difference = float(new[1].replace("_", "")) - float(old[1].replace("_", ""))
    words = " ".join(split_identifier(edit.name))
    rows = (row for row in _QUANTITIES if row[0].search(words) and difference)
    return next((higher if difference > 0 else lower for _, higher, lower in rows), "")


def find_quantity(unit: Evidence) -> Iterator[Statement]:
    """Find a limit, a time or a size with another value."""
    for edit in edits(unit):
        left = (_FACTORS.search(edit.prefix) or [""])[0]
        right = (_PRODUCT.match(edit.rest) or [""])[0]
        old, new = (quote(left + number + right) for number in (edit.before, edit.after))
        if question := _question(edit):
            text = f"{quote(edit.name)} is now {new} instead of {old}: {question}"
            yield Statement(text, ((True, edit.line),))


def _find_text(rule: str, unit: Evidence) -> Iterator[Statement]:
    """Find another default, pattern or key; the first row that matches decides its rule."""
    for edit in edits(unit):
        context = f"{edit.prefix}…{edit.rest}"
        is_elsewhere = edit.before[0] in "\"'`" and squeeze(edit.before) in unit.new.all_squeezed
        if is_elsewhere or not fits(edit.before, edit.after) or _question(edit):
            continue
        for name, literal, place, sentence in _TEXTS:
            if place.search(context) and all(map(literal.fullmatch, edit[:2])):
                is_named = edit.name not in {"", "default"} or "{name}" not in sentence
                if name == rule and is_named:
                    old, new = (quote(_QUOTES.sub("", text)) for text in edit[:2])
                    text = sentence.format(name=quote(edit.name), new=new, old=old)
                    yield Statement(text, ((True, edit.line),))
                break


def find_member(unit: Evidence) -> Iterator[Statement]:
    """Find a new member of an enumeration."""
    change, name = unit.change, unit.change.short_name
    words = change.unit.head_tokens if change.unit else ()
    is_enum = any(word.lower().endswith("enum") for word in (change.noun, *words))
    is_renamed = any(_MEMBER.match(text) for lines, _ in unit.blocks() for _, text in lines)
    if not is_enum or is_renamed or change.state != "changed" or _NAMES.search(name):
        return
    for line, code in [row for _, added in unit.blocks() for row in added]:
        member = _MEMBER.match(code)
        if member and member[1] != name and member[1] not in unit.old.words:
            question = "does every `switch` and table over it handle that?"
            text = f"{quote(name)} has the new member {quote(member[1])}: {question}"
            yield Statement(text, ((True, line),))


_TEXT_RULES = (Rule(name, partial(_find_text, name)) for name in ("setting", "pattern", "key"))
RULES: Final = (Rule("quantity", find_quantity), *_TEXT_RULES, Rule("member", find_member))
