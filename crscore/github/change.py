"""The change of a pull request, from the host's list of changed files.

The list is not to be trusted alone: patches of large files are left out, files after the host's
limits are listed as if nothing had changed in them, pages shift while they are read, and after a
force-push the list may still be the old one. So it is held against the pull request's own totals,
and what does not add up is said to be missing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from crscore.diff.full_files import Limits, named
from crscore.github.patches import PatchRow, Shown, show, silence
from crscore.records import Diff, FileStatus, LineKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crscore.diff.parse import Limits as DiffLimits
    from crscore.github.host import Host

MAX_LISTED: Final = 3_000
"""Files that GitHub lists of a pull request, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the pull request says of its change as a whole."""

    files: int
    """Changed files."""
    additions: int
    """Lines added."""
    deletions: int
    """Lines removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change, as far as it is seen."""

    diff: Diff
    """Sorted by path as git sorts; files whose change is not seen have `is_missing`."""
    missing: tuple[str, ...] = ()
    """What could not be had, one sentence each; empty when the change is whole."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, one sentence each."""
    blobs: Mapping[str, str]
    """For the path of a file that exists at the head: the name of its content there."""


class _Listed(NamedTuple):
    rows: dict[str, PatchRow]
    """By path, of the head asked for."""
    stale: dict[str, PatchRow]
    """By path, of another commit, where no row of the head is known."""
    clashing: frozenset[str]
    """Paths with rows of the head that differ."""
    lost: tuple[str, ...]
    """Pages that could not be read, and why."""


def read_change(
    host: Host,
    repository: str,
    number: int,
    totals: Totals,
    head: str,
    limits: Limits,
) -> Change:
    """Read the change of a pull request.

    Args:
        host: Where to ask.
        repository: `owner/name` of the base.
        number: The pull request's number.
        totals: What the pull request itself counts.
        head: Its newest commit, 40 hex digits.
        limits: How large the change may be; what is larger is missing.

    Returns:
        The same, whatever order rows and pages came in. An empty diff for a pull request
        without changed files.

    Raises:
        HostError: The list cannot be asked for at all.
    """
    path = f"/repos/{repository}/pulls/{number}/files"
    expected = min(totals.files, MAX_LISTED)
    first = host.pages(path, PatchRow, expected=expected)
    listed = _sort_out([first.items], first.missing, head)
    if listed.stale or listed.clashing or (len(listed.rows) != expected and not listed.lost):
        # A list that was made anew while it was read: the second time it is settled, and what
        # slipped between two pages the first time is there.
        second = host.pages(path, PatchRow, expected=expected)
        listed = _sort_out([first.items, second.items], second.missing, head)
    return _change(listed, totals, limits.diff)


def reconcile(change: Diff, totals: Totals) -> tuple[str, ...]:
    """Hold a change against the pull request's own totals.

    Args:
        change: The change, wherever it came from.
        totals: What the pull request counts.

    Returns:
        A sentence for each disagreement; none when files and lines add up.
    """
    counts = {"files": len({file.path for file in change.files}), "additions": 0, "deletions": 0}
    for file in change.files:
        if file.is_submodule:  # its lines, one for each version, are no part of the diff
            counts["additions"] += file.status is not FileStatus.DELETED
            counts["deletions"] += file.status is not FileStatus.ADDED
        for hunk in file.hunks:
            for line in hunk.lines:
                counts["additions"] += line.kind is LineKind.ADDED
                counts["deletions"] += line.kind is LineKind.REMOVED
    return tuple(_disagreements(totals, **counts))


def _sort_out(
    readings: Sequence[tuple[PatchRow, ...]], lost: tuple[str, ...], head: str
) -> _Listed:
    rows: dict[str, PatchRow] = {}
    stale: dict[str, PatchRow] = {}
    clashing: set[str] = set()
    for reading in readings:
        seen: dict[str, PatchRow] = {}
        clashing.clear()
        for row in reading:
            if row.status == "unchanged":
                continue
            if row.commit not in (None, head):
                stale[row.filename] = row
            elif (other := seen.setdefault(row.filename, row)) != row:
                clashing.add(row.filename)
                # whichever came first: the order of the pages must not tell
                seen[row.filename] = max(row, other, key=msgspec.json.encode)
        rows |= seen
    for name in rows:
        stale.pop(name, None)
    return _Listed(rows, stale, frozenset(clashing), lost)


def _change(listed: _Listed, totals: Totals, limits: DiffLimits) -> Change:
    additions = sum(row.additions for row in listed.rows.values())
    deletions = sum(row.deletions for row in listed.rows.values())
    found = {"files": len(listed.rows), "additions": additions, "deletions": deletions}
    disagreements = tuple(_disagreements(totals, **found))
    if len(listed.rows) < totals.files and (listed.lost or totals.files > MAX_LISTED):
        why = listed.lost or (f"the host lists {MAX_LISTED:,} at most",)
        disagreements += (f"Files are not listed: {'; '.join(why)}.",)
    shown = {
        name: show(row, zeros_are_true=not disagreements, limits=limits)
        for name, row in listed.rows.items()
    }
    for name in listed.clashing:
        shown[name] = silence(listed.rows[name], "are listed twice with different changes")
    if len(listed.rows) < totals.files:
        for name, row in listed.stale.items():
            shown[name] = silence(row, "are listed for another commit than the head")
    ordered = sorted(shown.items(), key=lambda item: item[0].encode("utf-8", "surrogatepass"))
    kept, text = _within(ordered, listed, limits)
    return Change(
        diff=Diff(
            files=tuple(one.file for _, one in kept),
            sha256=hashlib.sha256(text).hexdigest(),
            notes=tuple(f"{name!r}: {note}" for name, one in kept for note in one.notes),
        ),
        missing=(*_unseen_files(kept), *disagreements),
        blobs={
            name: row.sha
            for name, row in sorted(listed.rows.items())
            if row.sha is not None and row.status != "removed" and name not in listed.clashing
        },
    )


def _within(
    ordered: Iterable[tuple[str, Shown]], listed: _Listed, limits: DiffLimits
) -> tuple[list[tuple[str, Shown]], bytes]:
    """Silence the files from which on the change is too large; name the others' text."""
    kept: list[tuple[str, Shown]] = []
    text = bytearray()
    hunks = 0
    for number, (name, one) in enumerate(ordered):
        data = one.text.encode("utf-8", "surrogatepass")
        count = len(one.file.hunks)
        for limit, found in (
            ("max_diff_bytes", len(text) + len(data)),
            ("max_files", number + 1),
            ("max_hunks", hunks + count),
        ):
            if one.reason is None and found > getattr(limits, limit):
                row = listed.rows[name]
                one = silence(row, f"come after {limit} was reached")  # noqa: PLW2901
                data, count = one.text.encode("utf-8", "surrogatepass"), 0
        kept.append((name, one))
        text += data
        hunks += count
    return kept, bytes(text)


def _unseen_files(shown: Iterable[tuple[str, Shown]]) -> Iterator[str]:
    """Say for each reason how many files it silenced, and name the first ones."""
    groups: dict[str, list[str]] = {}
    for name, one in shown:
        if one.reason is not None:
            groups.setdefault(one.reason, []).append(name)
    for reason, names in sorted(groups.items()):
        yield f"{len(names)} of the changed files {reason}: {named(names)}."


def _disagreements(totals: Totals, *, files: int, additions: int, deletions: int) -> Iterator[str]:
    if files != totals.files:
        yield f"{files} changed files were found and the pull request counts {totals.files}."
    elif (additions, deletions) != (totals.additions, totals.deletions):
        yield (
            f"The files found add {additions} lines and remove {deletions}; the pull request "
            f"counts {totals.additions} and {totals.deletions}."
        )
