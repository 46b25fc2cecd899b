"""Parser that turns unified diffs of git, GNU diff and GitHub into `Diff` values.

The reasons for its rules are in docs/design/018-the-diff.md.
"""

import codecs
import email
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from crscore.diff.languages import language_of
from crscore.diff.paths import format_paths
from crscore.diff.sections import (
    WORD_CHANGE,
    WORD_DIFF,
    Header,
    Section,
    read_header,
    slice_hunk,
    split_sections,
)
from crscore.errors import DiffParseError, LimitError
from crscore.records import ChangedFile, Diff, FileStatus, Hunk, LineKind, Side
from crscore.text import count_noun

# `git diff --color` also colors the headers. If only code has color codes, they belong to the file.
_COLORED: Final = re.compile(r"^(?:\x1b\[[0-9;]*[mK])+(?:diff |@@ |--- |\+\+\+ )", re.MULTILINE)
# "\x1b[31m", "\x1b[1;32m"; "\x1b[K" ends a match of `grep --color`
_COLOR: Final = re.compile(r"\x1b\[[0-9;]*[mK]")
_FIRST_HEADER: Final = re.compile(r"^(?:diff --git |--- |@@ -)[^\n]*$", re.MULTILINE)
# `"\n".join(difflib.unified_diff(...))` without `lineterm=""`: an empty line follows each header.
_DOUBLE_ENDS: Final = re.compile(r"^--- .*\n\n\+\+\+ .*\n\n@@ -.*@@\n\n", re.MULTILINE)
_DOUBLE_END: Final = re.compile(r"^((?:---|\+\+\+) .*|@@ -.*@@)\n\n", re.MULTILINE)
# These are lines of GNU diff, git (`--submodule=log`, not `=diff`), Mercurial, Perforce (an added
# file in the list above the differences) and Subversion (a binary or empty file, and properties).
_NOT_SHOWN: Final = re.compile(
    r"^(?:Only in |\* Unmerged path |Binary file (?=.* has changed$)"
    r"|Submodule (?P<folder>\S+) .*$(?!\ndiff --git a/(?P=folder)/)"
    r"|(?:Files|Symbolic links) (?=.* differ$).* and |File .* while file |Property changes on: "
    r"|\.\.\. //.*#\d+ (?!edit|integrate)|Index: .*$(?=\n=+\n(?!---|RCS|diff))).*",
    re.MULTILINE,
)
"""Lines that name a file without its change."""
_COLOR_NOTE: Final = "The diff has color codes, which were removed."
CUT_NOTE: Final = (
    "The last hunk was cut: it has fewer lines than its header counts. "
    "The lines that are there were read, and their numbers are right."
)
# "Subproject commit <hash>", with "-dirty" at its end if the submodule's work tree differs.
_SUBPROJECT: Final = re.compile(r"Subproject commit [0-9a-f]{40}(?:-dirty)?$")
# The line before each mail of an mbox (https://www.rfc-editor.org/rfc/rfc4155):
# "From <commit> Mon Sep 17 00:00:00 2001", "From ann@example.org Wed Jan  1 10:00:00 2025"
# An address has at most 320 octets, 64 before the "@" and 255 after it:
# https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1
_MAIL_START: Final = re.compile(
    rb"^From \S{1,320} [\w :+-]{10,60}\r?\n(?=[\w-]{1,76}:)", re.MULTILINE
)
# Header lines with their continuation lines, and the empty line after them. The quantifiers are
# possessive: with ordinary ones, an attacker could send many header lines without an empty line at
# their end, and each smaller number of lines would be tried.
_MAIL_HEADERS: Final = re.compile(rb"(?:[\w-]{1,76}:[^\n]*+\n(?:[ \t]+[^\s][^\n]*+\n)*+)++\r?\n")
_MAIL_FIELD: Final = re.compile(
    rb"^(?:from|subject|message-id|content-type|content-transfer-encoding):",
    re.IGNORECASE | re.MULTILINE,
)
# " src/app.py | 12 ++--", " logo.png | Bin 0 -> 10 bytes", " 2 files changed, 3 insertions(+)"; or
# the first line of the diff, which shows that there are no statistics
_STATISTICS_OR_DIFF: Final = re.compile(
    r" \S.* \| +(?:\d+|Bin)\b| \d+ files? changed\b|diff |--- |@@ -|Index: "
)
_UTF8_CHARSETS: Final = frozenset({"utf-8", "us-ascii", "ascii", "utf8"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLimits:
    """Limits on how much of a change is read; users can raise each of them."""

    max_diff_bytes: int = 10_000_000
    """Maximum bytes of the whole text; 10 MB is about 200,000 lines."""
    # https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files
    max_files: int = 3_000
    """Maximum number of files; GitHub lists no more than this for a pull request."""
    max_hunks: int = 20_000
    """Maximum number of hunks in all files."""
    max_line_length: int = 100_000
    """Maximum number of characters of one line. A file with a longer line, such as minified code,
    is not read."""
    max_source_bytes: int = 2_000_000
    """Maximum bytes of one whole file."""
    max_sources: int = 500
    """Maximum number of whole files, in diff order."""
    max_sources_bytes: int = 50_000_000
    """Maximum bytes of all whole files together."""


def parse_diff(
    text: str | bytes,
    *,
    source: str = "<diff>",
    language: str | None = None,
    path: str | None = None,
    limits: DiffLimits = DiffLimits(),
) -> Diff:
    r"""Parse a diff.

    The output of `git diff`, `git show`, `git format-patch`, `diff -u`, `diff -ru` and GitHub is
    accepted, also in a mail. A bare hunk, which starts with `@@` and has no file header, is
    accepted too.

    Args:
        text: The diff. Bytes are UTF-8, or UTF-16 with a byte order mark.
        source: Origin of the text, for messages.
        language: Language of a bare hunk, and of files whose name does not show their language.
        path: Path of the file that a bare hunk belongs to.
        limits: Size limits.

    Returns:
        A diff of at least one file, with exact 1-based line numbers on both sides. Repairs and
        omissions are in its notes.

    Raises:
        DiffParseError: The text is empty, is not a unified diff, or is a combined diff of a merge;
            or a hunk does not have as many lines as its header counts. The last hunk may have
            fewer; this only adds a note.
        LimitError: The diff is larger than a limit. A line over `max_line_length` in a hunk is not
            an error, but the file is marked with `is_missing`.

    Example:
        >>> diff = parse_diff("@@ -1 +1,2 @@\n import os\n+import sys\n", path="tool.py")
        >>> diff.files[0].language, diff.files[0].hunks[0].lines[1].new
        ('python', 2)
    """
    # A text has at least as many bytes as characters, so a text with too many characters is refused
    # without encoding it.
    length = len(text)
    if length <= limits.max_diff_bytes:
        # JSON can contain half of a surrogate pair ("\ud800"), which UTF-8 cannot. `_decode` makes
        # it U+FFFD.
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        length = len(data)
    if length > limits.max_diff_bytes:
        raise LimitError("max_diff_bytes", limits.max_diff_bytes, length, source)
    decoded, notes = _decode(data)
    lines = decoded.removesuffix("\n").split("\n")
    _refuse_word_diff(lines, source, has_colors=_COLOR_NOTE in notes)
    sections = split_sections(
        lines, source=source, max_files=limits.max_files, max_hunks=limits.max_hunks
    )
    if not sections:
        raise DiffParseError(source, None, _describe_fault(decoded))
    longest = max((len(line) for section in sections for line in section.header), default=0)
    # A header cannot be skipped, because without the name in it, a file cannot be reported as
    # missing.
    if longest > limits.max_line_length:
        raise LimitError("max_line_length", limits.max_line_length, longest, source)
    changes: list[ChangedFile] = []
    for section in sections:
        if (file := _read_file(section, source, language, path)) is not None:
            length = max(map(len, lines[section.line - 1 : section.end]), default=0)
            if length > limits.max_line_length:
                reason = f"a line is over max_line_length, which is {limits.max_line_length:,}"
                file = replace(file, hunks=(), missing=reason)
            changes.append(file)
    if not changes:
        raise DiffParseError(source, None, "there is no change in this diff; nothing to score")
    files = _join_replaced(changes)
    notes += _note_omissions(decoded, sections[-1].is_cut, files)
    return Diff(files=files, sha256=hashlib.sha256(data).hexdigest(), notes=tuple(notes))


def with_sources(diff: Diff, sources: Mapping[str, tuple[str | None, str | None]]) -> Diff:
    r"""Add whole files to a diff.

    Args:
        diff: A parsed diff; it is not modified.
        sources: Path of a file -> its old and its new text; None if a text is unknown.

    Returns:
        A copy of the diff whose files have the texts. An unknown text is rebuilt from the other
        one. A text that does not contain the lines of the hunks is another version of the file, so
        it is left out, with a note.

    Example:
        >>> diff = parse_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n")
        >>> with_sources(diff, {"x": (None, "two\n")}).files[0].old_source
        'one\n'
    """
    files: list[ChangedFile] = []
    notes = list(diff.notes)
    for file in diff.files:
        if file.path not in sources or file.is_missing:
            files.append(file)
            continue
        old, new = sources[file.path]
        rebuilt_new = None if old is None else rebuild_new(file, old)
        rebuilt_old = None if new is None else rebuild_old(file, new)
        for side, source, rebuilt in (("old", old, rebuilt_new), ("new", new, rebuilt_old)):
            if source is not None and rebuilt is None:
                notes.append(
                    f"The {side} text given for {file.path!r} does not match the diff "
                    "and was not used."
                )
        old, new = (
            rebuilt_old if rebuilt_new is None else old,
            rebuilt_new if rebuilt_old is None else new,
        )
        files.append(replace(file, old_source=old, new_source=new))
    return replace(diff, files=tuple(files), notes=tuple(notes))


def rebuild_old(file: ChangedFile, new_source: str) -> str | None:
    """Rebuild the old version of a file.

    Args:
        file: The changed file.
        new_source: The whole file after the change.

    Returns:
        The whole file before the change (empty for a new file); None if the hunks do not match the
        text, or the file is binary or a submodule.
    """
    return _rebuild(file, new_source, Side.NEW)


def rebuild_new(file: ChangedFile, old_source: str) -> str | None:
    """Rebuild the new version of a file.

    Args:
        file: The changed file.
        old_source: The whole file before the change.

    Returns:
        The whole file after the change (empty for a deleted file); None if the hunks do not match
        the text, or the file is binary or a submodule.
    """
    return _rebuild(file, old_source, Side.OLD)


def _rebuild(file: ChangedFile, text: str, side: Side) -> str | None:
    """Rebuild one version of a file from the text of the other version, which is on `side`."""
    if file.is_binary or file.is_submodule:
        return None
    # Not `splitlines`, which also splits at form feeds and other characters within a line.
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
    removed = side.changed_kind
    rebuilt: list[str] = []
    position = 0
    for hunk in file.hunks:
        start, length = hunk.range_of(side)
        # The start of a side without lines is the number of the preceding line.
        first = start if length == 0 else start - 1
        if first < position or first + length > len(lines):
            return None
        rebuilt.extend(lines[position:first])
        position = first
        for line in hunk.lines:
            if line.kind not in (LineKind.CONTEXT, removed):
                end = "" if line.ends_file_without_newline else "\n"
                rebuilt.append(line.text + "\r" * line.ends_with_crlf + end)
                continue
            # Line ends are not compared, because those of the diff or those of the file may have
            # been converted.
            if lines[position].rstrip("\r\n") != line.text.rstrip("\r"):
                return None
            if line.kind is LineKind.CONTEXT:
                rebuilt.append(lines[position])
            position += 1
    return "".join(rebuilt + lines[position:])


def _decode(data: bytes) -> tuple[str, list[str]]:
    """Decode a diff or mails with diffs; return the text without color codes, and notes.

    If all line ends of the diff were converted to CRLF, they are converted back.
    """
    notes: list[str] = []
    # Windows PowerShell 5.1 writes UTF-16 for `git diff > change.diff`:
    # https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_character_encoding
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace").encode()
        notes.append("The diff is UTF-16 and was decoded.")
    content, faults = read_mails(data.removeprefix(codecs.BOM_UTF8))
    notes += faults
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
        notes.append("The diff is not valid UTF-8; invalid bytes were replaced.")
    if _COLORED.search(text):
        text = _COLOR.sub("", text)
        notes.append(_COLOR_NOTE)
    if _DOUBLE_ENDS.search(text):
        text = _DOUBLE_END.sub(r"\1\n", text)
    header = _FIRST_HEADER.search(text)
    # In the diff of a CRLF file, only the lines of the file end with CR. If a header ends with CR,
    # the whole diff was converted.
    if header and header[0].endswith("\r"):
        text = text.replace("\r\n", "\n")
        notes.append("The diff has CRLF line ends throughout, so those of its files are unknown.")
    return text, notes


def read_mails(data: bytes) -> tuple[bytes, list[str]]:
    """Decode mails of `git format-patch` or a mailbox and leave out their commit messages.

    Each mail of a series can have another encoding. The text before the line `---` is the commit
    message, so a diff that is quoted there is not part of the change.

    Args:
        data: A diff, or one or more mails with diffs.

    Returns:
        The diffs of all mails, or `data` unchanged if it is not a mail; and a note for each part
        that could not be decoded.
    """
    separators = list(_MAIL_START.finditer(data)) if data.startswith(b"From ") else []
    starts = [match.end() for match in separators] or [0]
    ends = [*(match.start() for match in separators[1:]), len(data)]
    mails = [data[start:end] for start, end in zip(starts, ends, strict=True)]
    headers = [_MAIL_HEADERS.match(mail) for mail in mails]
    if not all(lines and _MAIL_FIELD.search(lines[0]) for lines in headers):
        return data, []
    texts: list[bytes] = []
    notes: list[str] = []
    for number, mail in enumerate(mails, 1):
        count = len(texts)
        for part in email.message_from_bytes(mail).walk():
            content = part.get_payload(decode=True)
            # The content of a multipart is None; its parts follow in `walk`:
            # https://docs.python.org/3/library/email.compat32-message.html#email.message.Message.get_payload
            # A part in HTML repeats the part before it (RFC 2046, section 5.1.4).
            is_copy = len(texts) > count and part.get_content_subtype() == "html"
            if not isinstance(content, bytes) or is_copy:
                continue
            fault = "has a damaged encoding, so lines may be missing" if part.defects else ""
            charset = (part.get_content_charset() or "utf-8").lower()
            if charset not in _UTF8_CHARSETS:
                try:
                    content = content.decode(charset).encode()
                except (LookupError, UnicodeDecodeError):
                    fault = f"is not in the encoding that it names, {charset!r}"
            texts.append(_remove_message(content))
            notes += [f"Mail {number} {fault}."] * bool(fault)
    return b"\n".join(texts), notes


def _remove_message(content: bytes) -> bytes:
    """Return the text of a mail without its commit message, which ends at the line `---`."""
    # Not `splitlines`, because a form feed in code does not end a line of a diff.
    lines = content.split(b"\n")
    for index, line in enumerate(lines, 1):
        if line.rstrip() != b"---":
            continue
        # In a diff, a removed line "--" looks the same, but no statistics follow it.
        following = (text.decode("utf-8", "replace") for text in lines[index:])
        first = next((text for text in following if _STATISTICS_OR_DIFF.match(text)), "")
        if first.startswith(" "):
            return b"\n".join(lines[index:])
    return content


def _refuse_word_diff(lines: Sequence[str], source: str, *, has_colors: bool) -> None:
    """Reject a word diff, because its lines do not start with `+` or `-`.

    Indented code in a word diff would be read as unchanged lines.

    Args:
        lines: The lines of the diff.
        source: Origin of the diff, for messages.
        has_colors: True if color codes were removed, with which `--color-words` marks changes.

    Raises:
        DiffParseError: A hunk has changes inside lines, but no added or removed line.
    """
    start = None
    has_marks = has_signs = False
    # The additional header ends the last hunk, so that this hunk is checked like the others.
    for number, line in enumerate((*lines, "@@ -"), 1):
        if line.startswith(("@@ -", "diff --git ")):
            if start is not None and has_marks and not has_signs:
                raise DiffParseError(source, start, WORD_DIFF)
            start = number if line.startswith("@@ -") else None
            has_marks, has_signs = has_colors, False
        # "-- " begins the signature of a mail.
        has_signs = has_signs or (line.startswith(("+", "-")) and line != "-- ")
        has_marks = has_marks or WORD_CHANGE.search(line) is not None


def _describe_fault(text: str) -> str:
    """Return the reason, for a message, why no file was found in a text."""
    if not text.strip():
        return "this diff is empty: there is no change to score"
    if _NOT_SHOWN.match(text):
        return f"this diff names files but not their changes: {text.splitlines()[0]!r}"
    return "this is not a unified diff; make one with git diff or diff -u"


def _note_omissions(text: str, is_cut: bool, files: Sequence[ChangedFile]) -> list[str]:
    """Return notes on repaired and missing parts of a diff."""
    notes: list[str] = []
    if is_cut:
        notes.append(CUT_NOTE)
    if missing := [file for file in files if file.is_missing]:
        total, paths = count_noun(len(missing), "file"), format_paths([at.path for at in missing])
        notes.append(f"{total} could not be read, because {missing[0].missing}: {paths}.")
    if not_shown := [match[0] for match in _NOT_SHOWN.finditer(text)]:
        notes.append(f"The diff names files but not their changes: {format_paths(not_shown)}.")
    for path, count in Counter(file.path for file in files).items():
        if count > 1 and path:
            notes.append(
                f"{path!r} is changed {count} times, each with line numbers of another version."
            )
    return notes


def _join_replaced(files: Sequence[ChangedFile]) -> tuple[ChangedFile, ...]:
    """Join the deletion and the addition of one path; git prints them if a link becomes a file."""
    joined: list[ChangedFile] = []
    for file in files:
        before = joined[-1] if joined else None
        if (
            before is not None
            and (before.path, before.status) == (file.path, FileStatus.DELETED)
            and file.status is FileStatus.ADDED
            and len(before.hunks) == len(file.hunks) == 1
        ):
            removed, added = before.hunks[0], file.hunks[0]
            lines = (*removed.lines, *added.lines)
            hunk = replace(
                removed, new_start=added.new_start, new_length=added.new_length, lines=lines
            )
            joined[-1] = replace(
                file, status=FileStatus.MODIFIED, hunks=(hunk,), old_mode=before.old_mode
            )
        else:
            joined.append(file)
    return tuple(joined)


def _read_file(
    section: Section, source: str, language: str | None, path: str | None
) -> ChangedFile | None:
    """Convert the section of one file; return None if its header shows no change."""
    header = read_header(section.header)
    if header.is_empty and not section.hunks:
        return None
    fault = ""
    if not header.is_known and section.header and path is None:
        fault = "the file names in this header cannot be read; if it is the only file, give --path"
    elif header.expects_hunks and not section.hunks:
        fault = (
            "this file has a header but no hunk, so the diff was cut; create it again with git diff"
        )
    if fault:
        raise DiffParseError(source, section.line, fault)
    hunks = tuple(section.hunks)
    # The status is determined before the header of a cut hunk is corrected, because without its
    # missing lines, the hunk could look like a new file.
    status = _find_status(header, hunks)
    if section.is_cut:
        hunks = (*hunks[:-1], slice_hunk(hunks[-1], 0, len(hunks[-1].lines)))
    # GitHub's patches give no mode for submodules, but all their lines name commits.
    texts = [line.text for hunk in hunks for line in hunk.lines]
    submodule = header.is_submodule or bool(texts and all(map(_SUBPROJECT.match, texts)))
    name = header.new or header.old or path or ""
    detected = language_of(name)
    return ChangedFile(
        path=name,
        old_path=header.old if header.old != name else None,
        status=status,
        # The argument `language` applies to a bare hunk. If the header names the file, it is used
        # only if the name does not show the language.
        language=(detected or language) if header.is_known else (language or detected),
        hunks=() if submodule else hunks,
        is_binary=header.is_binary,
        is_submodule=submodule,
        old_mode=header.old_mode,
        new_mode=header.new_mode,
    )


def _find_status(header: Header, hunks: Sequence[Hunk]) -> FileStatus:
    # git states whether a file is new or deleted; in other diffs, an empty side shows it.
    is_whole = len(hunks) == 1 and not header.is_git
    if (header.is_known and header.old is None) or (
        is_whole and (hunks[0].old_start, hunks[0].old_length) == (0, 0)
    ):
        return FileStatus.ADDED
    if (header.is_known and header.new is None) or (
        is_whole and (hunks[0].new_start, hunks[0].new_length) == (0, 0)
    ):
        return FileStatus.DELETED
    if header.is_rename:
        return FileStatus.RENAMED
    if header.is_copy:
        return FileStatus.COPIED
    if header.old_mode != header.new_mode and not hunks and not header.is_binary:
        return FileStatus.MODE_CHANGED
    return FileStatus.MODIFIED
