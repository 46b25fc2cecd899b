"""Changed files as hosts list them: each with its patch, or with the reason why it has none.

If a patch cannot be parsed, only its file is left out: see docs/design/018-the-diff.md.
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
    """Changed file as one row of a host's list shows it."""

    file: ChangedFile
    """The file, with `is_missing` if its change is unknown."""
    patch: str = ""
    """The file's hunks as the host sent them."""
    reason: str = ""
    """Why the change of the file is unknown, as the end of a sentence that starts with "N of the
    changed files"; "" if it is known."""
    is_limit: bool = False
    """Whether the reason is a limit of crscore, which an author can exceed on purpose."""
    notes: tuple[str, ...] = ()
    """Sentences on what the parser repaired in the patch."""

    def hide(self, reason: str, *, is_limit: bool = False, missing: str = "") -> "ListedFile":
        """Return the file without its hunks, with its change marked as unknown.

        Args:
            reason: Value of the field `reason`.
            is_limit: Value of the field `is_limit`.
            missing: Why the diff lacks the change of the file, as a clause; "" for the default.
        """
        cause = "it is over a limit of crscore" if is_limit else "the host did not show it"
        file = replace(self.file, hunks=(), is_binary=False, missing=missing or cause)
        return ListedFile(file, "", reason, is_limit)


def read_patch(file: ChangedFile, patch: str, limits: DiffLimits) -> ListedFile:
    """Read the hunks of a file from its patch, within the size limits of a diff."""
    listed = ListedFile(file, patch)
    try:
        parsed = parse.parse_diff(patch, source=file.path, path=file.path, limits=limits)
    except InputError as exc:
        # The reason does not contain the file's name, so that files can be grouped by reason.
        limit = getattr(exc, "limit", "")
        reason = f"have a patch that cannot be read ({limit or 'it is damaged'})"
        return listed.hide(reason, is_limit=bool(limit))
    first = parsed.files[0]
    if first.is_missing:
        reason = f"have a patch that cannot be read ({first.missing})"
        return listed.hide(reason, is_limit=True, missing=first.missing)
    if len(parsed.files) > 1 or not (first.hunks or first.is_submodule):
        return listed.hide("have a patch that cannot be read (it is damaged)")
    file = replace(file, hunks=first.hunks, is_submodule=first.is_submodule)
    return ListedFile(file, patch, notes=parsed.notes)


def join_files(listing: Mapping[str, ListedFile], limits: DiffLimits) -> Change:
    """Join listed files into one change, up to the size limits of a diff.

    Args:
        listing: Files by path, in any order.
        limits: Size limits of a diff. Files beyond a limit are reported in the notes of the diff,
            not in `missing`, because missing data turns a gate off, and an author could do that on
            purpose with one huge file.

    Returns:
        The change, with its files sorted as git sorts them.
    """
    files: dict[str, ListedFile] = {}
    # Claims are cached under this hash, so it must cover everything that the change shows.
    digest = hashlib.sha256()
    size = hunks = 0
    # A file beyond a limit is marked, not dropped, because its path is still part of the change.
    # Files are sorted by the bytes of their names, as in git. `surrogatepass` encodes names that
    # are not valid Unicode.
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
    """Add the full texts of the changed files to the diff of a change.

    Without the full texts, the analyzers see less and the claims differ. So if the host does not
    have a text this time, the score could differ from that of the next run, and the file is
    reported as missing. A file beyond a limit is left out in every run, so a note is sufficient.

    Args:
        change: The diff of the change.
        texts: Path -> text of the file at the head, for files from `full_files.list_needed`; None
            for a file without text, such as a binary one, which is not reported as missing.
        limits: The size limits.

    Returns:
        The change, with a sentence in `missing` if files lack their texts, and notes on the files
        beyond a limit.
    """
    needed, left_notes = full_files.list_needed(change, limits)
    sizes = {path: None if text is None else len(text.encode()) for path, text in texts.items()}
    kept_paths, unfit_notes = full_files.choose(sizes, needed, limits)
    diff = full_files.add(change, {path: texts[path] or "" for path in kept_paths})
    unread = [path for path in needed if path not in texts]
    missing = (
        f"For {count_noun(len(unread), 'changed file')}, only the hunks were read, because the "
        f"host does not have the full text: {format_paths(unread)}."
    )
    return Change(diff, (missing,) if unread else (), (*left_notes, *unfit_notes))
