"""Changed files as hosts list them: each with its patch, or with the reason why it has none.

A patch that cannot be parsed leaves out only its own file: see docs/design/018-the-diff.md.
"""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from crscore.diff import full_files, parse
from crscore.diff.parse import DiffLimits
from crscore.diff.paths import format_paths
from crscore.errors import InputError
from crscore.hosts.records import Change
from crscore.records import ChangedFile, Diff
from crscore.text import count_noun


class ListedFile(NamedTuple):
    """Changed file of one row of a host's list."""

    file: ChangedFile
    """The file, with `is_missing` if its change is unknown."""
    patch: str = ""
    """Its hunks as the host sent them."""
    reason: str = ""
    """Why the change is unknown, to continue "N of the changed files ..."; "" if it is known."""
    is_limit: bool = False
    """Whether the reason is a limit of crscore, which a change of any size can reach."""
    notes: tuple[str, ...] = ()
    """Repairs made by the parser."""

    def hide(self, reason: str, *, is_limit: bool = False, missing: str = "") -> "ListedFile":
        """Return the file with an unknown change.

        Args:
            reason: See `reason`.
            is_limit: See `is_limit`.
            missing: Why its change is missing in the diff; "" to derive it from the cause.
        """
        cause = "it is over a limit of crscore" if is_limit else "the host did not show it"
        file = replace(self.file, hunks=(), is_binary=False, missing=missing or cause)
        return ListedFile(file, "", reason, is_limit)


def read_patch(file: ChangedFile, patch: str, limits: DiffLimits) -> ListedFile:
    """Read the hunks of a file, within the size limits of a diff."""
    listed = ListedFile(file, patch)
    try:
        read = parse.parse_diff(patch, source=file.path, path=file.path, limits=limits)
    except InputError as exc:
        # The reason omits the file's name, so that files can be grouped by it.
        limit = getattr(exc, "limit", "")
        reason = f"have a patch that cannot be read ({limit or 'it is damaged'})"
        return listed.hide(reason, is_limit=bool(limit))
    first = read.files[0]
    if first.is_missing:
        reason = f"have a patch that cannot be read ({first.missing})"
        return listed.hide(reason, is_limit=True, missing=first.missing)
    if len(read.files) > 1 or not (first.hunks or first.is_submodule):
        return listed.hide("have a patch that cannot be read (it is damaged)")
    file = replace(file, hunks=first.hunks, is_submodule=first.is_submodule)
    return ListedFile(file, patch, notes=read.notes)


def join_files(listing: Mapping[str, ListedFile], limits: DiffLimits) -> Change:
    """Join the files of a list to a change, up to the size limits of a diff.

    Args:
        listing: Files by path, in any order.
        limits: The limits; their sentences are notes, because the author of a change could drop a
            gate with a file beyond them.

    Returns:
        The change, with its files sorted as git sorts them.
    """
    files: dict[str, ListedFile] = {}
    # A cache finds claims by this hash, so it covers all that the change shows.
    digest = hashlib.sha256()
    size = hunks = 0
    # Beyond a limit a file is marked, not dropped: its path still counts in the change.
    # Sorted by bytes, as in git; an unpaired surrogate must not raise an error.
    for name in sorted(listing, key=lambda name: name.encode("utf-8", "surrogatepass")):
        listed = listing[name]
        patch_size = len(listed.patch.encode("utf-8", "surrogatepass"))
        for limit, count in (
            ("max_diff_bytes", size + patch_size),
            ("max_files", len(files) + 1),
            ("max_hunks", hunks + len(listed.file.hunks)),
        ):
            if not listed.reason and count > getattr(limits, limit):
                listed = listed.hide(f"come after {limit} was reached", is_limit=True)
        if not listed.reason:
            size, hunks = size + patch_size, hunks + len(listed.file.hunks)
        file = files.setdefault(name, listed).file
        digest.update(
            msgspec.json.encode([name, file.status, file.old_path, listed.patch, file.missing])
        )
    sentences: dict[bool, list[str]] = {True: [], False: []}
    reasons = sorted(
        {(listed.reason, listed.is_limit) for listed in files.values()} - {("", False)}
    )
    for reason, is_limit in reasons:
        names = [name for name, listed in files.items() if listed.reason == reason]
        sentence = f"{len(names)} of the changed files {reason}: {format_paths(names)}."
        sentences[is_limit].append(sentence)
    repairs = [f"{name!r}: {note}" for name, listed in files.items() for note in listed.notes]
    diff = Diff(
        files=tuple(listed.file for listed in files.values()),
        sha256=digest.hexdigest(),
        notes=(*sentences[True], *repairs),
    )
    return Change(diff, tuple(sentences[False]), ())


def add_full_files(change: Diff, texts: Mapping[str, str | None], limits: DiffLimits) -> Change:
    """Add the whole files to a change.

    Without them, the analyzers see less and the claims differ, so a file that the host does not
    have could change a score and is reported as missing. A file beyond a limit is left out every
    time, which is only noted.

    Args:
        change: The change.
        texts: Texts at the head, by path, of the files in `full_files.needed`; None for a file
            without text, which is not missing.
        limits: The limits.
    """
    needed, left_notes = full_files.needed(change, limits)
    sizes = {path: None if text is None else len(text.encode()) for path, text in texts.items()}
    kept_paths, unfit_notes = full_files.fit(sizes, needed, limits)
    diff = full_files.add(change, {path: texts[path] or "" for path in kept_paths})
    unread = [path for path in needed if path not in texts]
    missing = (
        "Read by their hunks only, as the host does not have the whole: "
        f"{count_noun(len(unread), 'changed file')} ({format_paths(unread)})."
    )
    return Change(diff, (missing,) if unread else (), (*left_notes, *unfit_notes))
