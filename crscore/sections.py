"""Where each file and each hunk of a diff begins and ends, and what the headers say.

unidiff reads hunks well, but not every header that git, GNU diff and GitHub print:
quoted paths, renames without hunks, submodule summaries, mail signatures after the
last hunk. So the text is cut up here, and unidiff gets one hunk at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.errors import DiffParseError, LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

SUBMODULE_MODE: Final = "160000"

# "@@ -1,2 +3,4 @@ def f():", "@@ -1 +1,2 @@"; nine digits, so that int() stays cheap
_HUNK: Final = re.compile(r"@@ -[0-9]{1,9}(?:,([0-9]{1,9}))? \+[0-9]{1,9}(?:,([0-9]{1,9}))? @@")
# "@@@ -1,2 -1,2 +1,3 @@@", "diff --cc path", "diff --combined path"
_COMBINED: Final = re.compile(r"@@@+ -|diff --(?:cc|combined) ")
# "Submodule lib 1f2e..3d4c:", "Submodule lib 000...1f2e (new submodule)"
_SUBMODULE: Final = re.compile(r"Submodule (.+) ([0-9a-f]{6,64})\.{2,3}([0-9a-f]{6,64})[: ]?")
# "Binary files a/x and b/x differ", hg's "Binary file x has changed"
_BINARY: Final = re.compile(r"Binary files? (.+) (?:differ|has changed)$")
# "diff -ru a b", "Only in a: x", "From <commit> Mon Sep 17", "commit <id>", "-- "
_CLOSES: Final = re.compile(r"diff |Only in |From [0-9a-f]{40} |commit [0-9a-f]{7,64}\b|-- ?$")
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE: Final = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_ESCAPES: Final = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}
# What git puts before a path: a/ b/, mnemonic i/ (index) w/ (work tree) c/ (commit) o/ (object),
# 1/ 2/ for --no-index
_PREFIXES: Final = frozenset("abciow12")
# A name may hold spaces, so a header is split by trial; nobody's path has more than this
_MAX_SPLITS: Final = 64
_FIELDS: Final = (
    "diff --git",
    "old mode",
    "new mode",
    "deleted file mode",
    "new file mode",
    "rename from",
    "rename to",
    "copy from",
    "copy to",
    "index",
    "---",
    "+++",
    "GIT binary patch",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RawHunk:
    """One hunk, not yet read."""

    line: int
    """1-based line of its header in the diff."""
    header: str
    """The `@@` line."""
    body: tuple[str, ...]
    """The lines after it, without line feeds, as far as the header's counts reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One file of a diff, not yet read."""

    line: int
    """1-based line where it starts in the diff."""
    header: tuple[str, ...]
    """The lines before its first hunk; empty for a bare hunk."""
    hunks: tuple[RawHunk, ...]
    """In the order of the diff."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a file's header lines say."""

    old: str | None = None
    """Path before, without prefix; None when the file did not exist."""
    new: str | None = None
    """Path after, without prefix; None when the file is gone."""
    is_known: bool = True
    """False when no line names the file."""
    is_empty: bool = False
    """True when the lines name a file and tell of no change to it."""
    is_git: bool = False
    """True for git's headers, which say themselves when a file is new, gone or renamed."""
    is_rename: bool = False
    """True when git says that the file was renamed."""
    is_copy: bool = False
    """True when git says that the file is a copy."""
    is_binary: bool = False
    """True when the contents are not shown because they are binary."""
    is_submodule: bool = False
    """True when the entry is a submodule on either side."""
    expects_hunks: bool = False
    """True after `---` and `+++` lines, which announce a hunk."""
    old_mode: str | None = None
    """Six octal digits, when told."""
    new_mode: str | None = None
    """Six octal digits, when told."""


class _Names(NamedTuple):
    old: str | None
    new: str | None


@dataclass(slots=True)
class _Open:
    line: int
    header: list[str] = field(default_factory=list)
    hunks: list[RawHunk] = field(default_factory=list)

    def awaits_names(self) -> bool:
        return (
            not self.hunks
            and self.header[0].startswith("diff --git ")
            and not any(line.startswith("--- ") for line in self.header)
        )


def split(
    lines: Sequence[str], *, source: str, max_files: int, max_hunks: int
) -> tuple[Section, ...]:
    """Cut a diff into files and hunks; lines that belong to none are passed over.

    Args:
        lines: The diff's lines without line feeds.
        source: Where they came from, for messages.
        max_files: Files let through.
        max_hunks: Hunks let through, of all files together.

    Returns:
        The files in the order of the diff; none when the lines are not a diff.

    Raises:
        DiffParseError: A hunk header cannot be read, lines follow a hunk that its header
            did not count, or the diff is a combined one, as git shows merges.
        LimitError: There are more files or hunks than let through.
    """
    opened: list[_Open] = []
    current: _Open | None = None
    hunks = index = 0
    while index < len(lines):
        if (taken := _section_start(lines, index, current)) > 0:
            current = _Open(index + 1)
            opened.append(current)
            if len(opened) > max_files:
                raise LimitError("max_files", max_files, len(opened), source)
            current.header.extend(lines[index : index + taken])
            index += taken
        elif lines[index].startswith("@@ -" if current is None else "@@"):
            if current is None:
                current = _Open(index + 1)
                opened.append(current)
            hunks += 1
            if hunks > max_hunks:
                raise LimitError("max_hunks", max_hunks, hunks, source)
            hunk = _take_hunk(lines, index, source)
            current.hunks.append(hunk)
            index += 1 + len(hunk.body)
            _check_end(lines, index, source)
        else:
            current = _pass_line(lines[index], index, current, source)
            index += 1
    return tuple(
        Section(line=one.line, header=tuple(one.header), hunks=tuple(one.hunks)) for one in opened
    )


def read_header(section: Section) -> Header:
    """Read the lines before a file's first hunk.

    Args:
        section: One file, as `split` gives it.

    Returns:
        What they say. A bare hunk has no such lines, so nothing is known of its file.
    """
    facts: dict[str, str] = {}
    submodule = binary = None
    for line in section.header:
        submodule = submodule or _SUBMODULE.match(line)
        binary = binary or _BINARY.match(line)
        field_name = next((name for name in _FIELDS if f"{line} ".startswith(f"{name} ")), None)
        if field_name is not None:
            facts.setdefault(field_name, line[len(field_name) + 1 :])
    old_mode, new_mode = _modes(facts)
    named = [_git_names(facts), _listed_names(facts)]
    if binary:
        named.append(_both_names(binary[1]))
    if submodule:
        path = submodule[1]
        gone, fresh = not submodule[3].strip("0"), not submodule[2].strip("0")
        named.append(_Names(None if fresh else path, None if gone else path))
        old_mode = new_mode = SUBMODULE_MODE
    names = next((names for names in named if names is not None), None)
    return Header(
        old=names.old if names else None,
        new=names.new if names else None,
        is_known=names is not None,
        is_empty=set(facts) == {"diff --git"} and not binary,
        is_git="diff --git" in facts or bool(submodule),
        is_rename="rename from" in facts,
        is_copy="copy from" in facts,
        is_binary=bool(binary) or "GIT binary patch" in facts,
        is_submodule=SUBMODULE_MODE in {old_mode, new_mode},
        expects_hunks="---" in facts,
        old_mode=old_mode,
        new_mode=new_mode,
    )


def unquote(name: str) -> str:
    r"""Undo git's quoting of a path.

    Args:
        name: A path as a header shows it, in double quotes when it holds a special character.

    Returns:
        The path; bytes that are not UTF-8 become U+FFFD.

    Example:
        >>> unquote(r'"a/\303\244 \"x\".txt"'), unquote("a/plain.txt")
        ('a/ä "x".txt', 'a/plain.txt')
    """
    quoted = _QUOTED.fullmatch(name)
    if quoted is None:
        return name
    return _ESCAPE.sub(_unescape, quoted[1].encode()).decode("utf-8", "replace")


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) if len(code) == 3 else _ESCAPES.get(code, code[0])])


def _section_start(lines: Sequence[str], index: int, current: _Open | None) -> int:
    """Count the lines at `index` that open a new file: 0, 1 or 2."""
    line = lines[index]
    if line.startswith("diff --git ") or _SUBMODULE.match(line):
        return 1
    awaited = current is not None and current.awaits_names()
    if line.startswith("--- "):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        return 2 if following.startswith("+++ ") and not awaited else 0
    return 1 if _BINARY.match(line) and not awaited else 0


def _take_hunk(lines: Sequence[str], index: int, source: str) -> RawHunk:
    """Take as many lines as the header counts, fewer when the diff ends before."""
    header = lines[index]
    match = _HUNK.match(header)
    if match is None:
        _refuse_combined(header, index, source)
        raise DiffParseError(
            source,
            index + 1,
            "this hunk header cannot be read; it should look like '@@ -1,4 +1,6 @@'",
        )
    old, new = (1 if count is None else int(count) for count in match.groups())
    body: list[str] = []
    # an index, not a slice: thousands of hunks would each copy the rest of the diff
    for at in range(index + 1, len(lines)):
        sign = lines[at][:1]
        if (old <= 0 and new <= 0 and sign != "\\") or sign not in " +-\\\r":
            break
        body.append(lines[at])
        old -= sign in "- \r"
        new -= sign in "+ \r"
    return RawHunk(line=index + 1, header=header, body=tuple(body))


def _check_end(lines: Sequence[str], index: int, source: str) -> None:
    """Refuse a diff whose hunk goes on after the lines that its header counts."""
    line = lines[index] if index < len(lines) else ""
    if line[:1] not in ("+", "-", " ") or not line.strip() or line.rstrip() == "--":
        return
    if _section_start(lines, index, None):
        return
    raise DiffParseError(
        source,
        index + 1,
        "this line belongs to no hunk: the hunk before it is longer than its header says; "
        "the diff was edited or damaged, make it again with git diff",
    )


def _pass_line(line: str, index: int, current: _Open | None, source: str) -> _Open | None:
    """Keep a header line with its file; tell whether the file goes on."""
    _refuse_combined(line, index, source)
    if _CLOSES.match(line):
        return None
    if current is not None and not current.hunks:
        current.header.append(line)
    return current


def _refuse_combined(line: str, index: int, source: str) -> None:
    if _COMBINED.match(line):
        raise DiffParseError(
            source,
            index + 1,
            "this is a combined diff of a merge, which has no single old version; "
            "compare with one parent: git diff HEAD^1 HEAD",
        )


def _modes(facts: dict[str, str]) -> tuple[str | None, str | None]:
    """Read file modes; the index line tells one mode for both sides."""
    both = facts.get("index", "").partition(" ")[2] or None
    old = facts.get("old mode") or facts.get("deleted file mode")
    new = facts.get("new mode") or facts.get("new file mode")
    if old is None and new is None:
        return both, both
    return old, new


def _listed_names(facts: dict[str, str]) -> _Names | None:
    """Read the `---` and `+++` lines."""
    if "---" not in facts or "+++" not in facts:
        return None
    old, new = _file_name(facts["---"]), _file_name(facts["+++"])
    if not old and not new:
        return None
    return _strip_prefixes(old, new)


def _git_names(facts: dict[str, str]) -> _Names | None:
    """Read the names in git's own headers, the only place for a file without hunks."""
    for verb in ("rename", "copy"):
        if f"{verb} from" in facts and f"{verb} to" in facts:
            return _Names(unquote(facts[f"{verb} from"]), unquote(facts[f"{verb} to"]))
    if "diff --git" not in facts:
        return None
    names = _split_pair(facts["diff --git"])
    if names is None:
        return None
    return _Names(
        None if "new file mode" in facts else names.old,
        None if "deleted file mode" in facts else names.new,
    )


def _both_names(pair: str) -> _Names | None:
    """Read `a/x and b/x`, or hg's single name."""
    left, middle, right = pair.partition(" and ")
    if not middle:
        return _Names(left, left)
    return _strip_prefixes(_file_name(left), _file_name(right))


def _split_pair(pair: str) -> _Names | None:
    """Split `a/x y b/x y`: the two names are the same but for their prefixes."""
    if pair.startswith('"') and (quoted := _QUOTED.match(pair)):
        left, right = quoted[0], pair[quoted.end() + 1 :]
        return _same(unquote(left), unquote(right))
    at = -1
    for _ in range(_MAX_SPLITS):
        at = pair.find(" ", at + 1)
        if at < 0:
            break
        names = _same(pair[:at], pair[at + 1 :])
        if names is not None:
            return names
    return None


def _same(left: str, right: str) -> _Names | None:
    """Strip the prefixes when what remains is the same name."""
    names = _strip_prefixes(left, right)
    return names if names.old == names.new and names.new else None


def _file_name(text: str) -> str | None:
    """Read a name that a tab and a time may follow; None for the null device."""
    name = unquote(text) if text.startswith('"') else text.partition("\t")[0].rstrip("\r")
    return None if name == "/dev/null" else name


def _strip_prefixes(old: str | None, new: str | None) -> _Names:
    """Take away what a diff program puts before the two names.

    Two different one-letter prefixes go, and so do two different first folders before
    the same rest (`diff -ru before after`). Without prefixes both names start alike.
    """
    if old is None or new is None:
        return _Names(old and _without_letter(old), new and _without_letter(new))
    old_first, _, old_rest = old.partition("/")
    new_first, _, new_rest = new.partition("/")
    if not old_rest or not new_rest or old_first == new_first:
        return _Names(old, new)
    if {old_first, new_first} <= _PREFIXES or old_rest == new_rest:
        return _Names(old_rest, new_rest)
    return _Names(old, new)


def _without_letter(name: str) -> str:
    first, slash, rest = name.partition("/")
    return rest if slash and rest and first in _PREFIXES else name
