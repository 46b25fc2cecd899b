"""Sentences about one change, or about several related changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.claims.config_files.compare import Action, Change
from crscore.claims.config_files.model import Entry, Kind
from crscore.claims.config_files.rules import numbers_of
from crscore.claims.config_files.statements import parts_changed, phrase_of
from crscore.claims.config_files.words import code, difference, listed, quote_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NOUNS: Final = {
    ("css", Kind.SETTING): "property",
    ("html", Kind.SETTING): "attribute",
    ("shell", Kind.SETTING): "variable",
    ("makefile", Kind.SETTING): "variable",
    ("json", Kind.SETTING): "key",
    ("yaml", Kind.SETTING): "key",
    ("html", Kind.TEXT): "text",
}
_PROSE: Final = frozenset({"markdown", "rst", "text", None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Describer:
    """Writer of sentences about the changes of one file."""

    language: str | None
    """The file's language."""
    file_name: str
    """The file's name without folders; "" when unknown."""

    def noun(self, kind: Kind) -> str:
        """Return the noun for a kind of entry in this file."""
        return _NOUNS.get((self.language or "", kind), kind.value)

    def name(self, one: Entry) -> str:
        """Return an entry's name: prose in quotation marks, anything else as code."""
        if one.kind is Kind.HEADING:
            return quote_text(one.name)
        return code(one.name)

    def place(self, one: Entry, preposition: str = "in") -> str:  # noqa: PLR0911  (one a format)
        """Return where an entry is, with a leading space; the file when nothing encloses it."""
        where = one.where
        if not where:
            return f" {preposition} {code(self.file_name)}" if self.file_name else ""
        if "steps" in where[:-1]:
            at = where.index("steps")
            job = f" of the job {code(where[at - 1])}" if at else ""
            return f" {preposition} the step {code(where[at + 1])}{job}"
        if where[0] == "jobs" and len(where) > 1:
            inner = f"{code('.'.join(where[2:]))} of " if where[2:] else ""
            return f" {preposition} {inner}the job {code(where[1])}"
        if self.language in _PROSE:
            return f" {preposition} the section {quote_text(where[-1])}"
        if self.language == "css":
            return f" {preposition} the rule {code(where[-1])}"
        if self.language == "html":
            return f" {preposition} {code('<' + where[-1] + '>')}"
        return f" {preposition} {code('.'.join(where[-2:]))}"

    def describe(self, change: Change) -> str:
        """Return one sentence about one change."""
        special = _SPECIAL.get(change.entry.kind)
        if change.action is Action.MOVED:
            return self._moved(change)
        if special is not None:
            return special(self, change)
        if change.action is Action.RENAMED and change.old and change.new:
            return (
                f"The {self.noun(change.new.kind)} {self.name(change.old)}{self.place(change.new)} "
                f"is renamed to {self.name(change.new)}."
            )
        if change.action is Action.CHANGED and change.old and change.new:
            return self._changed(change.old, change.new)
        one = change.entry
        noun = f"The {self.noun(one.kind)} {self.name(one)}"
        place = self.place(one, "to" if change.action is Action.ADDED else "from")
        end = f" with the value {code(one.value)}" if one.value else ""
        if change.action is Action.REMOVED:
            end = f", which was {code(one.value)}" if one.value else ""
        return f"{noun} is {change.action}{place}{end}."

    def describe_group(self, changes: Sequence[Change]) -> str:
        """Return one sentence about entries of one kind that changed the same way in one place."""
        first = changes[0]
        noun = "row" if self.language == "csv" else self.noun(first.entry.kind)
        noun = f"{noun[:-1]}ies" if noun.endswith("y") and noun != "key" else f"{noun}s"
        if first.action is Action.CHANGED:
            parts = [f"{self.name(one.entry)} ({_arrow(one.old, one.new)})" for one in changes]
            return f"The {noun} {listed(parts)} change their versions{self.place(first.entry)}."
        parts = [
            (self.name(one.entry) + (f" ({code(one.entry.value, 40)})" if one.entry.value else ""))
            if one.entry.name
            else _own_words(one.entry)
            for one in changes
        ]
        place = self.place(first.entry, "to" if first.action is Action.ADDED else "from")
        return f"The {noun} {listed(parts)} are {first.action}{place}."

    def describe_block(self, change: Change, inside: Sequence[Change]) -> str:
        """Return one sentence about an entry added or removed with everything inside it."""
        one = change.entry
        verb = f"is {change.action}"
        place = self.place(one, "to" if change.action is Action.ADDED else "from")
        parts = [
            self._part(inner.entry) for inner in inside if inner.entry.kind is not Kind.COMMENT
        ]
        parts = list(dict.fromkeys(part for part in parts if part))
        body = f", with {listed(parts, 4)}" if parts else ""
        if one.kind is Kind.HEADING:
            return f"A section {quote_text(one.name)} {verb}{place}{body}."
        if one.kind is Kind.ELEMENT:
            return f"An element {code('<' + one.name + '>')} {verb}{place}{body}."
        if self.language == "sql":
            verb = "is created" if change.action is Action.ADDED else "is no longer created"
            return f"The table {code(one.name)} {verb}{body}."
        after = f" that depends on {code(one.value)}" if one.value else ""
        return f"The {self.noun(one.kind)} {self.name(one)}{after} {verb}{place}{body}."

    def _part(self, one: Entry) -> str:
        if one.kind in {Kind.TEXT, Kind.HEADING}:
            return f"the text {quote_text(one.value, 70)}" if one.value else ""
        if one.kind is Kind.ITEM:
            return quote_text(one.value, 70) if self.language in _PROSE else code(one.value, 60)
        if one.kind in {Kind.COMMAND, Kind.CODE, Kind.STATEMENT}:
            return f"the command {code(one.value, 60)}"
        if one.kind is Kind.COLUMN:
            return f"the column {code(one.name)}"
        if not one.value:
            return code(one.name)
        return f"{code(one.name)} set to {code(one.value, 50)}"

    def _changed(self, old: Entry, new: Entry) -> str:
        if self.language == "css":
            return (
                f"The property {code(new.name)}{self.place(new)} is now {code(new.value)} "
                f"instead of {code(old.value)}."
            )
        how = difference(old.value, new.value)
        value = "value of the " if self.noun(new.kind) != "setting" else "value of "
        noun = f"{self.noun(new.kind)} " if self.noun(new.kind) != "setting" else ""
        if new.kind is Kind.SETTING:
            return f"The {value}{noun}{self.name(new)}{self.place(new)} {how}."
        return f"The {self.noun(new.kind)} {self.name(new)}{self.place(new)} {how}."

    def _moved(self, change: Change) -> str:
        one = change.entry
        origin = self.place(change.old, "from") if change.old else ""
        subject = self.name(one) if one.name else _own_words(one)
        if change.old and change.old.where == one.where:
            return f"The {self.noun(one.kind)} {subject} moves{self.place(one)}."
        return f"The {self.noun(one.kind)} {subject} moves{origin}{self.place(one, 'to')}."


def _arrow(old: Entry | None, new: Entry | None) -> str:
    return f"{old.value[:40] if old else ''} → {new.value[:40] if new else ''}"


def _own_words(one: Entry) -> str:
    if one.kind in {Kind.TEXT, Kind.COMMENT, Kind.ITEM}:
        return quote_text(one.value, 70)
    return code(one.value, 70)


def _dependency(describer: Describer, change: Change) -> str:
    one = change.entry
    name = f"dependency {code(one.name)}"
    place = f" in {code(describer.file_name)}" if describer.file_name else ""
    if change.action is Action.CHANGED and change.old and change.new:
        before, after = numbers_of(change.old.value), numbers_of(change.new.value)
        verb = "is upgraded" if after > before else "is downgraded"
        if not before or not after or before == after:
            verb = "changes its version"
        old, new = (
            code(one.value) if one.value else "any version" for one in (change.old, change.new)
        )
        return f"The {name} {verb} from {old} to {new}{place}."
    if change.action is Action.RENAMED and change.old:
        return f"The dependency {code(change.old.name)} is replaced by {code(one.name)}{place}."
    if change.action is Action.REMOVED:
        return f"The {name} is removed{place.replace(' in ', ' from ')}."
    pinned = one.value.removeprefix("==").strip()
    how = "pinned to" if one.value.startswith("==") else "with the version"
    version = f" {how} {code(pinned)}" if pinned else ""
    return f"A {name}{version} is added{place.replace(' in ', ' to ')}."


def _image(_: Describer, change: Change) -> str:
    if change.old and change.new:
        return (
            f"The base image of the container changes from {code(change.old.value)} "
            f"to {code(change.new.value)}."
        )
    return f"The base image {code(change.entry.value)} is {change.action}."


def _text(describer: Describer, change: Change) -> str:
    one = change.entry
    noun = {
        Kind.COMMENT: "comment",
        Kind.ITEM: "list item",
        Kind.CODE: "code example",
    }.get(one.kind, "text")
    if describer.language == "csv":
        noun = "row"
    quoted = code if one.kind is Kind.CODE or _is_data(describer, one) else quote_text
    if change.old and change.new:
        if noun == "list item" and _is_data(describer, one):
            return f"A value{describer.place(one)} {difference(change.old.value, one.value)}."
        return (
            f"The {noun}{describer.place(one)} now says {quoted(one.value)} instead of "
            f"{quoted(change.old.value)}."
        )
    article = "The" if change.action is Action.REMOVED else "A"
    place = describer.place(one, "to" if change.action is Action.ADDED else "from")
    if _is_data(describer, one) and describer.language != "csv":
        return f"The value {quoted(one.value)} is {change.action}{place}."
    return f"{article} {noun} is {change.action}{place}: {quoted(one.value)}."


def _is_data(describer: Describer, one: Entry) -> bool:
    return one.kind is Kind.ITEM and describer.language not in _PROSE


def _command(describer: Describer, change: Change) -> str:
    one = change.entry
    where = describer.place(one)
    if change.old and change.new:
        how = difference(change.old.value, change.new.value)
        if how.startswith("changes"):
            return f"The command {code(change.old.value)}{where} becomes {code(one.value)}."
        return f"The command {code(change.old.value, 60)}{where} {how}."
    if change.action is Action.ADDED:
        return f"The command {code(one.value)} now runs{where}."
    return f"The command {code(one.value)} no longer runs{where}."


def _statement(describer: Describer, change: Change) -> str:
    one = change.entry
    if change.old and change.new:
        gone, fresh = parts_changed(change.old.value, change.new.value)
        how = [f"now has {listed([code(part) for part in fresh], 4)}"] if fresh else []
        how += [f"no longer has {listed([code(part) for part in gone], 4)}"] if gone else []
        how_text = " and ".join(how) or "has its parts in another order"
        return f"The statement that {phrase_of(change.old.value)} {how_text}."
    return f"A statement that {phrase_of(one.value)} is {change.action}" + (
        f"{describer.place(one, 'to' if change.action is Action.ADDED else 'from')}."
    )


def _column(_: Describer, change: Change) -> str:
    one = change.entry
    table = f" of the table {code(one.where[-1])}" if one.where else ""
    if change.action is Action.RENAMED and change.old:
        return f"The column {code(change.old.name)}{table} is renamed to {code(one.name)}."
    if change.old and change.new:
        how = difference(change.old.value, change.new.value)
        return f"The definition of the column {code(one.name)}{table} {how}."
    if change.action is Action.ADDED:
        to = table.replace(" of ", " to ", 1)
        return f"The column {code(one.name)} is added{to} as {code(one.value)}."
    return f"The column {code(one.name)} is removed{table.replace(' of ', ' from ', 1)}."


def _pattern(describer: Describer, change: Change) -> str:
    where = f" in {code(describer.file_name)}" if describer.file_name else ""
    if change.old and change.new:
        return f"The pattern {code(change.old.value)}{where} becomes {code(change.new.value)}."
    return f"The pattern {code(change.entry.value)} is {change.action}{where}."


def _heading(_: Describer, change: Change) -> str:
    if change.action is Action.RENAMED and change.old:
        was, now = quote_text(change.old.name), quote_text(change.entry.name)
        return f"The heading {was} is renamed to {now}."
    return f"The heading {quote_text(change.entry.name)} is {change.action}."


_SPECIAL: Final[dict[Kind, Callable[[Describer, Change], str]]] = {
    Kind.DEPENDENCY: _dependency,
    Kind.IMAGE: _image,
    Kind.TEXT: _text,
    Kind.COMMENT: _text,
    Kind.ITEM: _text,
    Kind.CODE: _text,
    Kind.COMMAND: _command,
    Kind.STATEMENT: _statement,
    Kind.COLUMN: _column,
    Kind.PATTERN: _pattern,
    Kind.HEADING: _heading,
}
