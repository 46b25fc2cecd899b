"""Splits a diff into files and hunks, and reads the header lines before a file's first hunk.

A header has a file's names, modes and kind of change. Programs print different lines around files
and hunks: quoted paths, renames without hunks, submodule summaries, mail signatures.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

import msgspec
from msgspec.structs import replace

from crscore.errors import DiffParseError, LimitError
from crscore.records import DiffLine, Hunk, LineKind

# "@@ -1,2 +3,4 @@ def f():", "@@ -1 +1,2 @@"; at most nine digits, so that int() is fast
_HUNK: Final = re.compile(
    r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(.*)"
)
SIGNS: Final = {LineKind.ADDED: "+", LineKind.REMOVED: "-", LineKind.CONTEXT: " "}
"""First character of a line, by its kind."""
_KINDS: Final = {sign: kind for kind, sign in SIGNS.items()}
# "@@@ -1,2 -1,2 +1,3 @@@", "diff --cc path", "diff --combined path"
_COMBINED: Final = re.compile(r"@@@+ -|diff --(?:cc|combined) ")
# Lines that end a file's section, so that text after it is not read as its header:
# "diff -ru a b", "Only in a: x", "Submodule lib 1f2e..3d4c:", "From <commit> Mon Sep 17",
# "commit <id>", "-- "
_CLOSES: Final = re.compile(
    r"diff |Only in |Submodule |From [0-9a-f]{40} |commit [0-9a-f]{7,64}\b|-- ?$"
)

WORD_CHANGE: Final = re.compile(r"\[-[^\n]{1,400}?-\]|\{\+[^\n]{1,400}?\+\}")
"""Changed words in a line of a word diff: "x = [-1-]{+10+}". Code can contain the same marks."""
# In a changed line such as `+SLUG = /^[-a-z_-]+$/`, the character class looks like a removed word.
_WORD_MARK: Final = re.compile(r"^(?![+-])|\s(?:\[-|\{\+)|-\]\{\+")
"""Further condition on a line of a word diff: the line does not start with `+` or `-`, or a mark
starts a word or follows another mark."""
WORD_DIFF: Final = "this is a word diff; create it again with git diff, without --word-diff"
"""Message of the error for a word diff."""

_SUBMODULE_MODE: Final = "160000"

# "Binary files a/x and b/x differ"
# The lookahead fixes the first "and" as the separator. If each "and" were tried, a line with many
# would take quadratic time.
_BINARY_LINE: Final = re.compile(r"Binary files (?=(.+?) and .)\1 and (.+) differ$")
# A path with a control character, a quote or a byte above 0x7f is quoted as in C (core.quotePath):
# https://git-scm.com/docs/git-config
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Three octal digits, up to 377, are one byte, and several bytes are one character of UTF-8.
_ESCAPE: Final = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_ESCAPES: Final = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}
# Prefixes of paths in git: a/ b/, mnemonic i/ (index) w/ (work tree) c/ (commit) o/ (object), 1/ 2/
# for --no-index (diff.mnemonicPrefix: https://git-scm.com/docs/diff-config); Bitbucket's src:// dst://
_PREFIXES: Final = frozenset({*"abciow12", "src:", "dst:"})
# Text after a name, if tabs became spaces: "a.py 2024-01-01 10:00:00"; from Mercurial, "a.py Mon
# Jan 01 10:00:00 2024"; from Subversion, "a.py (revision 7)". The quantifier is possessive, and a
# match begins only at the start of a run of spaces; else long runs would take quadratic time.
_AFTER_NAME: Final = re.compile(
    r"(?<! ) ++(?:\((?:revision \d+|working copy|nonexistent)\)$"
    r"|(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d) \d\d:\d\d:\d\d.*)"
)
# Both names can contain spaces, so each space is tried as their separator, up to this number.
_MAX_SPLITS: Final = 64
_FIELDS: Final = (
    "diff --git", "old mode", "new mode", "deleted file mode", "new file mode", "rename from",
    "rename to", "copy from", "copy to", "index", "---", "+++", "GIT binary patch", "====",
)  # fmt: skip


class Section(msgspec.Struct):
    """Section of a diff that changes one file."""

    line: int
    """1-based number of the section's first line in the diff."""
    header: list[str] = []
    """Lines before the first hunk; empty for a bare hunk."""
    hunks: list[Hunk] = []
    """Hunks in diff order."""
    end: int = 0
    """1-based number of the last line of the last hunk; 0 without hunks."""
    is_cut: bool = False
    """Whether the last hunk has fewer lines than its header counts."""

    def awaits_names(self) -> bool:
        """Return whether git's `---` and `+++` lines may still follow."""
        return (
            not self.hunks
            and self.header[0].startswith("diff --git ")
            and not any(line.startswith("--- ") for line in self.header)
        )


def split_sections(
    lines: Sequence[str], *, source: str, max_files: int, max_hunks: int
) -> list[Section]:
    """Split a diff into files and hunks; other lines are skipped.

    Args:
        lines: The diff's lines without line feeds.
        source: Origin of the diff, for messages.
        max_files: Maximum number of files.
        max_hunks: Maximum number of hunks in all files.

    Returns:
        The files in the order of the diff; empty if the lines are not a diff.

    Raises:
        DiffParseError: A hunk header cannot be read, a hunk does not have as many lines as its
            header counts (the last hunk may have fewer), or the diff is a combined diff of a merge.
        LimitError: There are more files or hunks than allowed.
    """
    sections: list[Section] = []
    current: Section | None = None
    hunks = index = 0
    while index < len(lines):
        if (header_lines := _count_start_lines(lines, index, current)) > 0:
            current = _open_section(sections, index, source, max_files)
            current.header.extend(lines[index : index + header_lines])
            index += header_lines
        # Before the first file, `@@` may be prose. Within a file, it starts a hunk, which must be
        # readable.
        elif lines[index].startswith("@@ -" if current is None else "@@"):
            if current is None:
                current = _open_section(sections, index, source, max_files)
            hunks += 1
            if hunks > max_hunks:
                raise LimitError("max_hunks", max_hunks, hunks, source)
            hunk, current.end = _read_hunk(lines, index, source)
            # `gh api ... --jq '.[].patch'` prints the hunks of all files, without their names.
            before = [] if current.header else current.hunks[-1:]
            if before and hunk.new_start <= before[0].new_start:
                fault = "this hunk is of another file than the hunk before it; add file headers"
                raise DiffParseError(source, index + 1, fault)
            current.hunks.append(hunk)
            current.is_cut = count_lines(hunk.lines) != (hunk.old_length, hunk.new_length)
            index = current.end
        else:
            _refuse_combined(lines[index], index, source)
            if _CLOSES.match(lines[index]):
                current = None
            elif current is not None and not current.hunks:
                current.header.append(lines[index])
            index += 1
    return sections


def _open_section(sections: list[Section], index: int, source: str, max_files: int) -> Section:
    if len(sections) == max_files:
        raise LimitError("max_files", max_files, len(sections) + 1, source)
    sections.append(Section(index + 1))
    return sections[-1]


def _count_start_lines(lines: Sequence[str], index: int, current: Section | None) -> int:
    """Return how many lines at `index` start a new file: 0, 1 or 2."""
    line = lines[index]
    if line.startswith(("diff --git ", "==== //")):
        return 1
    awaited = current is not None and current.awaits_names()
    # Mails and Markdown also have lines that begin with `--- `, but no `+++ ` after them.
    if line.startswith("--- "):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        return 2 if following.startswith("+++ ") and not awaited else 0
    return 1 if _BINARY_LINE.match(line) and not awaited else 0


def _read_hunk(lines: Sequence[str], index: int, source: str) -> tuple[Hunk, int]:
    """Return the hunk whose header is at `index`, and the index after the hunk.

    The last hunk may have fewer lines than its header counts: GitHub stores a hunk with a comment,
    with an unchanged header, but only up to the commented line.
    """
    match = _HUNK.match(lines[index])
    if match is None:
        _refuse_combined(lines[index], index, source)
        raise DiffParseError(
            source,
            index + 1,
            "this hunk header cannot be read; it should look like '@@ -1,4 +1,6 @@'",
        )
    *numbers, section = match.groups()
    old, old_length, new, new_length = (1 if number is None else int(number) for number in numbers)
    hunk = Hunk(
        old_start=old,
        old_length=old_length,
        new_start=new,
        new_length=new_length,
        section=section.strip(),
        lines=(),
    )
    hunk_lines, end = _read_lines(lines, index + 1, hunk)
    _check_end(lines, end, source)
    old_found, new_found = count_lines(hunk_lines)
    fault = ""
    if (old_found, new_found) != (old_length, new_length):
        is_last = end == len(lines)
        # Blank lines at the end belong to the surrounding text, such as a mail, not to the file.
        while hunk_lines and not lines[end - 1]:
            hunk_lines.pop()
            end -= 1
        # `git diff --word-diff=porcelain` writes each line feed of the file as a line `~`:
        # https://git-scm.com/docs/git-diff
        if lines[end : end + 1] == ["~"] or any(
            WORD_CHANGE.search(line) and _WORD_MARK.search(line) for line in lines[index:end]
        ):
            fault = WORD_DIFF
        elif not (hunk_lines and is_last and old_found <= old_length and new_found <= new_length):
            fault = (
                "this hunk does not have as many lines as its header counts; the diff was cut or "
                "edited, so create it again with git diff"
            )
    if not fault and ((old_length and not old) or (new_length and not new)):
        fault = "this hunk starts at line 0, but line numbers start at 1"
    if fault:
        raise DiffParseError(source, index + 1, fault)
    return replace(hunk, lines=tuple(hunk_lines)), end


def slice_hunk(hunk: Hunk, start: int, end: int) -> Hunk:
    """Return a range of a hunk's lines as a hunk with a correct header.

    Args:
        hunk: The hunk.
        start: Index of the first line.
        end: Index after the last line.
    """
    lines = hunk.lines[start:end]
    old, new = count_lines(hunk.lines[:start])
    old_length, new_length = count_lines(lines)
    return replace(
        hunk,
        # The start of a side without lines is the number of the preceding line.
        old_start=hunk.old_start + (hunk.old_length == 0) + old - (old_length == 0),
        old_length=old_length,
        new_start=hunk.new_start + (hunk.new_length == 0) + new - (new_length == 0),
        new_length=new_length,
        lines=lines,
    )


def count_lines(lines: Sequence[DiffLine]) -> tuple[int, int]:
    """Return the number of lines in the old version and in the new version."""
    kinds = [line.kind for line in lines]
    return len(kinds) - kinds.count(LineKind.ADDED), len(kinds) - kinds.count(LineKind.REMOVED)


def _read_lines(lines: Sequence[str], index: int, hunk: Hunk) -> tuple[list[DiffLine], int]:
    """Return the lines of a hunk, no more than its header counts, and the index after them."""
    hunk_lines: list[DiffLine] = []
    old, new = hunk.old_start, hunk.new_start
    old_end, new_end = old + hunk.old_length, new + hunk.new_length
    while index < len(lines):
        # An empty line is a context line whose leading space was removed.
        sign = lines[index][:1]
        # "\ No newline at end of file", in the language of the program that made the diff
        if sign == "\\":
            if hunk_lines:
                hunk_lines[-1] = replace(hunk_lines[-1], ends_file_without_newline=True)
        elif (old >= old_end and new >= new_end) or sign not in " +-\r":
            break
        else:
            kind = _KINDS.get(sign, LineKind.CONTEXT)
            text = sign if sign == "\r" else lines[index][1:]
            hunk_lines.append(
                DiffLine(
                    kind=kind,
                    text=text.removesuffix("\r"),
                    old=None if kind is LineKind.ADDED else old,
                    new=None if kind is LineKind.REMOVED else new,
                    ends_with_crlf=text.endswith("\r"),
                )
            )
            old += kind is not LineKind.ADDED
            new += kind is not LineKind.REMOVED
        index += 1
    return hunk_lines, index


def _check_end(lines: Sequence[str], index: int, source: str) -> None:
    """Reject a diff in which a hunk has more lines than its header counts."""
    line = lines[index] if index < len(lines) else ""
    # "-- " begins the signature of a mail (git format-patch).
    if line[:1] not in ("+", "-", " ") or not line.strip() or line.rstrip() == "--":
        return
    if _count_start_lines(lines, index, None):
        return
    raise DiffParseError(
        source,
        index + 1,
        "this line belongs to no hunk: the hunk before it has more lines than its header counts; "
        "the diff was edited or damaged, so create it again with git diff",
    )


def _refuse_combined(line: str, index: int, source: str) -> None:
    if _COMBINED.match(line):
        raise DiffParseError(
            source,
            index + 1,
            "this is a combined diff of a merge, which has no single old version; "
            "compare with one parent: git diff HEAD^1 HEAD",
        )


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """Contents of a file's header lines."""

    old: str | None = None
    """Path before the change, without a prefix such as `a/`; None if the file did not exist."""
    new: str | None = None
    """Path after the change, without a prefix such as `b/`; None if the file is deleted."""
    is_known: bool = True
    """False if no line names the file."""
    is_empty: bool = False
    """Whether the lines name a file but show no change to the file."""
    is_git: bool = False
    """Whether the header is git's, which states when a file is new, deleted or renamed."""
    is_rename: bool = False
    """Whether git reports that the file was renamed."""
    is_copy: bool = False
    """Whether git reports that the file is a copy."""
    is_binary: bool = False
    """Whether the contents are not shown because they are binary."""
    is_submodule: bool = False
    """Whether the path is a submodule before or after the change."""
    expects_hunks: bool = False
    """Whether there are `---` and `+++` lines, which announce a hunk."""
    old_mode: str | None = None
    """File mode before the change, six octal digits; None if the header does not have it."""
    new_mode: str | None = None
    """File mode after the change, six octal digits; None if the header does not have it."""


def read_header(lines: Sequence[str]) -> Header:
    """Read the lines before a file's first hunk.

    Args:
        lines: The lines without line feeds; none for a bare hunk.

    Returns:
        The header; if there are no lines, its file is unknown.
    """
    fields: dict[str, str] = {}
    binary = None
    for line in lines:
        binary = binary or _BINARY_LINE.match(line)
        # A space is appended to the line and to the field's name, so that "indexes" is not read as
        # "index", but a line with only "---" is read.
        field_name = next((name for name in _FIELDS if f"{line} ".startswith(f"{name} ")), None)
        if field_name is not None:
            fields.setdefault(field_name, line[len(field_name) + 1 :])
    old_mode = fields.get("old mode") or fields.get("deleted file mode")
    new_mode = fields.get("new mode") or fields.get("new file mode")
    if old_mode is None and new_mode is None:
        # "index 1f2e..3d4c 100644": the index line has one mode for both sides.
        old_mode = new_mode = fields.get("index", "").partition(" ")[2] or None
    # "//depot/main/a.py#3 (text) ====", the only name of a file in `p4 describe -du`
    depot_path, _, depot_type = fields.get("====", "").lstrip("/").partition("#")
    # git's own lines come first: in "rename from x", the path has no prefix to remove.
    candidates = [_read_git_names(fields), (depot_path, depot_path) if depot_path else None]
    if "---" in fields and "+++" in fields:
        old, new = _read_name(fields["---"]), _read_name(fields["+++"])
        candidates.append(_strip_prefixes(old, new) if old or new else None)
    if binary:
        candidates.append(_strip_prefixes(_read_name(binary[1]), _read_name(binary[2])))
    names = next(filter(None, candidates), None)
    old_path, new_path = names or (None, None)
    return Header(
        old=old_path,
        new=new_path,
        is_known=names is not None,
        is_empty=set(fields) == {"diff --git"} and not binary,
        is_git="diff --git" in fields,
        is_rename="rename from" in fields,
        is_copy="copy from" in fields,
        is_binary=bool(binary) or "GIT binary patch" in fields or "binary" in depot_type,
        is_submodule=_SUBMODULE_MODE in {old_mode, new_mode},
        # In Subversion, a change of properties alone has these lines but no hunk.
        expects_hunks="---" in fields and "\nProperty changes on: " not in "\n".join(lines),
        old_mode=old_mode,
        new_mode=new_mode,
    )


def unquote(name: str) -> str:
    r"""Undo git's quoting of a path.

    Args:
        name: Path in a header, in double quotes if it contains a special character.

    Returns:
        The path; bytes that are not UTF-8 become U+FFFD.

    Example:
        >>> unquote(r'"a/\303\244 \"x\".txt"'), unquote("a/plain.txt")
        ('a/ä "x".txt', 'a/plain.txt')
    """
    quoted = _QUOTED.fullmatch(name)
    if quoted is None:
        return name

    def unescape(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) if len(code) == 3 else _ESCAPES.get(code, code[0])])

    return _ESCAPE.sub(unescape, quoted[1].encode()).decode("utf-8", "replace")


def _read_git_names(fields: dict[str, str]) -> tuple[str | None, str | None] | None:
    """Return the names in git's header lines, which are the only names of a file without hunks."""
    for verb in ("rename", "copy"):
        if f"{verb} from" in fields and f"{verb} to" in fields:
            return unquote(fields[f"{verb} from"]), unquote(fields[f"{verb} to"])
    # `a/x y b/x y`: the two names are the same except for their prefixes.
    pair = fields.get("diff --git", "")
    if pair.startswith('"') and (quoted := _QUOTED.match(pair)):
        splits = [(unquote(quoted[0]), unquote(pair[quoted.end() + 1 :]))]
    else:
        spaces = [space.start() for space in islice(re.finditer(" ", pair), _MAX_SPLITS)]
        splits = [(pair[:space], pair[space + 1 :]) for space in spaces]
    candidates = (_strip_prefixes(left, right) for left, right in splits)
    name = next((old for old, new in candidates if old == new and new), None)
    if name is None:
        return None
    return (
        None if "new file mode" in fields else name,
        None if "deleted file mode" in fields else name,
    )


def _read_name(text: str) -> str | None:
    """Return the name in a header line, without the time after it; None for `/dev/null`."""
    plain = _AFTER_NAME.sub("", text.partition("\t")[0]).rstrip("\r")
    # git and GNU diff quote names with a backslash, so in other names it is Windows' separator.
    quoted = _QUOTED.match(text)
    name = unquote(quoted[0]) if quoted else plain if "/" in plain else plain.replace("\\", "/")
    return None if name == "/dev/null" else name


def _strip_prefixes(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    """Strip the prefixes that a diff program adds to the two names.

    Two different prefixes of git are removed, and so are two different first folders if the paths
    below them are equal (`diff -ru before after`). If both names start with the same folder, this
    folder is part of the path.
    """
    if old is None or new is None:
        return old and _strip_prefix(old), new and _strip_prefix(new)
    (old_first, old_rest), (new_first, new_rest) = _split_first(old), _split_first(new)
    if not old_rest or not new_rest or old_first == new_first:
        return old, new
    if {old_first, new_first} <= _PREFIXES or old_rest == new_rest:
        return old_rest, new_rest
    return old, new


def _strip_prefix(name: str) -> str:
    first, remainder = _split_first(name)
    return remainder if remainder and first in _PREFIXES else name


def _split_first(name: str) -> tuple[str, str]:
    """Split off the first folder, with both slashes of `src://`."""
    first, _, remainder = name.partition("/")
    return first, remainder.removeprefix("/") if first in {"src:", "dst:"} else remainder
