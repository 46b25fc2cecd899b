"""Training rows: a change, and what should be said of it."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crscore.claims.llm.answer import read_answer
from crscore.diff import parse
from crscore.errors import DiffParseError, InputError, LimitError
from crscore.records import LineKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from crscore.records import Diff

_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRow:
    """One change and its claims."""

    line: int
    """1-based line of the file, for messages."""
    change: Diff
    """The parsed patch."""
    claims: tuple[str, ...]
    """What the change does, one sentence or more each, without numbers or headers."""
    implications: tuple[str, ...]
    """What follows from it; may be empty."""
    cut: bool = False
    """The completion broke off; its last point was left out."""

    @property
    def group(self) -> str:
        """Name the change for the split: same added and removed lines, same name.

        Line numbers, context and indentation do not count, so that one change that stands in
        the data twice, moved or cut out differently, does not get onto both sides.
        """
        digest = hashlib.sha256()
        for file in self.change.files:
            for hunk in file.hunks:
                for line in hunk.lines:
                    if line.kind is not LineKind.CONTEXT and line.text.strip():
                        digest.update(f"{line.kind} {line.text.strip()}\n".encode(errors="replace"))
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A file of rows."""

    rows: tuple[TrainingRow, ...]
    """In the order of the file."""
    sha256: str
    """Hash of the file's content, unpacked; 64 hex digits."""


def read_rows(path: Path) -> Rows:
    """Read training rows.

    JSON Lines, plain or gzip. Each object has `patch` or `diff`, a unified diff or a bare hunk,
    and either `completion`, a model's answer in whatever shape, or the lists `claims` and
    `implications`. Other keys mean nothing.

    Args:
        path: The file.

    Returns:
        Its rows.

    Raises:
        InputError: The file cannot be read, has no row, or a line is no row; the message
            names the line and what is wrong with it.
    """
    content = unpacked(path)
    made: list[TrainingRow] = []
    # Not `splitlines`: a JSON string may hold other line separators.
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.strip():
            made.append(_row(line, number, f"{path}:{number}"))
    if not made:
        raise InputError(f"{path} has no row to learn from")
    return Rows(rows=tuple(made), sha256=hashlib.sha256(content).hexdigest())


def unpacked(path: Path) -> bytes:
    """Read a file, plain or gzip, whatever its name.

    Args:
        path: The file.

    Returns:
        Its content.

    Raises:
        InputError: It cannot be read.
    """
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(_GZIP) else content
    except (OSError, EOFError, zlib.error) as exc:
        raise InputError(f"{path} cannot be read: {exc}") from exc


def entry_of(line: bytes, place: str) -> Mapping[str, Any]:
    """Read one line as a JSON object.

    Raises:
        InputError: It is none.
    """
    try:
        entry = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise InputError(f"{place}: no JSON: {exc}") from exc
    if not isinstance(entry, dict):
        raise InputError(f"{place}: a row is an object, not {type(entry).__name__}")
    return entry


def patch_of(entry: Mapping[str, Any], place: str) -> str:
    """Take the diff of a row.

    Raises:
        InputError: There is none, or there are two.
    """
    given = [key for key in ("patch", "diff") if entry.get(key) is not None]
    if len(given) != 1:
        found = "both" if given else "neither"
        raise InputError(f"{place}: a row has `patch` or `diff`; this one has {found}")
    text = entry[given[0]]
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}: `{given[0]}` must be a text that is not blank")
    return text


def _row(line: bytes, number: int, place: str) -> TrainingRow:
    entry = entry_of(line, place)
    patch = patch_of(entry, place)
    try:
        change = parse.parse_diff(patch, source=place)
    except (DiffParseError, LimitError) as exc:
        # The line of the file is in the source; where in the patch it fails goes with it.
        raise InputError(f"{place}: the patch cannot be read: {exc}") from exc
    if entry.get("completion") is not None:
        return _completed(entry, number, change, place)
    claims = _sentences(entry, "claims", place)
    implications = _sentences(entry, "implications", place)
    if not claims:
        raise InputError(f"{place}: a row has a `completion`, or `claims` that are not empty")
    return TrainingRow(line=number, change=change, claims=claims, implications=implications)


def _completed(entry: Mapping[str, Any], number: int, change: Diff, place: str) -> TrainingRow:
    if entry.get("claims") is not None or entry.get("implications") is not None:
        raise InputError(f"{place}: a row has `completion` or lists of claims, not both")
    if not isinstance(entry["completion"], str):
        raise InputError(f"{place}: `completion` must be a text")
    said = read_answer(entry["completion"])
    if not said.claims:
        raise InputError(f"{place}: the completion has no claim about the change")
    return TrainingRow(
        line=number,
        change=change,
        claims=said.claims,
        implications=said.implications,
        cut=said.cut,
    )


def _sentences(entry: Mapping[str, Any], key: str, place: str) -> tuple[str, ...]:
    found = entry.get(key)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise InputError(f"{place}: `{key}` must be a list of texts")
    sentences = tuple(" ".join(text.split()) for text in found)
    if not all(sentences):
        raise InputError(f"{place}: `{key}` has a blank text")
    return sentences
