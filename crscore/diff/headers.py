"""Header lines before a file's first hunk: its names, modes and kind of change."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

SUBMODULE_MODE: Final = "160000"

# "Binary files a/x and b/x differ"
# The lookahead keeps the first "and" that can separate names: trying each one of a line with many
# would take quadratic time.
BINARY_LINE: Final = re.compile(r"Binary files (?=(.+?) and .)\1 and (.+) differ$")
# A path with a control character, a quote or a byte above 0x7f is quoted as in C (core.quotePath):
# https://git-scm.com/docs/git-config
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Three octal digits, up to 377, are one byte, and several bytes are one character of UTF-8.
_ESCAPE: Final = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_ESCAPES: Final = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}
# Prefixes of paths in git: a/ b/, mnemonic i/ (index) w/ (work tree) c/ (commit) o/ (object), 1/ 2/
# for --no-index (diff.mnemonicPrefix: https://git-scm.com/docs/diff-config); Bitbucket's src:// dst://
_PREFIXES: Final = frozenset({*"abciow12", "src:", "dst:"})
# Time after a name where tabs became spaces: "a.py  2024-01-01 10:00:00"
# Possessive, and never from within a run of spaces: a name with many would take quadratic time.
_AFTER_NAME: Final = re.compile(r"(?<! ) ++\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.*")
# Both names may contain spaces, so each space is tried as the separator; real paths have fewer.
_MAX_SPLITS: Final = 64
_FIELDS: Final = (
    "diff --git", "old mode", "new mode", "deleted file mode", "new file mode", "rename from",
    "rename to", "copy from", "copy to", "index", "---", "+++", "GIT binary patch",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Content of a file's header lines."""

    old: str | None = None
    """Path before the change, without prefix; None if the file did not exist."""
    new: str | None = None
    """Path after the change, without prefix; None if the file is deleted."""
    is_known: bool = True
    """False if no line names the file."""
    is_empty: bool = False
    """Whether the lines name a file but no change to it."""
    is_git: bool = False
    """Whether the header is git's, which states when a file is new, deleted or renamed."""
    is_rename: bool = False
    """Whether git reports that the file was renamed."""
    is_copy: bool = False
    """Whether git reports that the file is a copy."""
    is_binary: bool = False
    """Whether the contents are not shown because they are binary."""
    is_submodule: bool = False
    """Whether the entry is a submodule on either side."""
    expects_hunks: bool = False
    """Whether there are `---` and `+++` lines, which announce a hunk."""
    old_mode: str | None = None
    """File mode before the change, six octal digits, if given."""
    new_mode: str | None = None
    """File mode after the change, six octal digits, if given."""


class _Names(NamedTuple):
    old: str | None
    new: str | None


def read_header(lines: Sequence[str]) -> Header:
    """Read the lines before a file's first hunk.

    Args:
        lines: The lines without line feeds; none for a bare hunk.

    Returns:
        The header; without lines, its file is unknown.
    """
    facts: dict[str, str] = {}
    binary = None
    for line in lines:
        binary = binary or BINARY_LINE.match(line)
        # A space is appended to both, so that "indexes" is not read as "index", but "---" alone is
        # read.
        field_name = next((name for name in _FIELDS if f"{line} ".startswith(f"{name} ")), None)
        if field_name is not None:
            facts.setdefault(field_name, line[len(field_name) + 1 :])
    old_mode = facts.get("old mode") or facts.get("deleted file mode")
    new_mode = facts.get("new mode") or facts.get("new file mode")
    if old_mode is None and new_mode is None:
        # "index 1f2e..3d4c 100644": the index line has one mode for both sides.
        old_mode = new_mode = facts.get("index", "").partition(" ")[2] or None
    # git's own lines come first: in "rename from x", the path has no prefix to remove.
    candidates = [_git_names(facts)]
    if "---" in facts and "+++" in facts:
        old, new = _file_name(facts["---"]), _file_name(facts["+++"])
        candidates.append(_strip_prefixes(old, new) if old or new else None)
    if binary:
        candidates.append(_strip_prefixes(_file_name(binary[1]), _file_name(binary[2])))
    names = next((names for names in candidates if names is not None), None)
    return Header(
        old=names.old if names else None,
        new=names.new if names else None,
        is_known=names is not None,
        is_empty=set(facts) == {"diff --git"} and not binary,
        is_git="diff --git" in facts,
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
        name: A path as a header shows it, in double quotes if it contains a special character.

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


def _git_names(facts: dict[str, str]) -> _Names | None:
    """Read the names in git's own header lines, the only source for a file without hunks."""
    for verb in ("rename", "copy"):
        if f"{verb} from" in facts and f"{verb} to" in facts:
            return _Names(unquote(facts[f"{verb} from"]), unquote(facts[f"{verb} to"]))
    # `a/x y b/x y`: the two names are the same except for their prefixes.
    pair = facts.get("diff --git", "")
    if pair.startswith('"') and (quoted := _QUOTED.match(pair)):
        splits = [(unquote(quoted[0]), unquote(pair[quoted.end() + 1 :]))]
    else:
        spaces = [space.start() for space in islice(re.finditer(" ", pair), _MAX_SPLITS)]
        splits = [(pair[:space], pair[space + 1 :]) for space in spaces]
    candidates = (_strip_prefixes(left, right) for left, right in splits)
    names = next((names for names in candidates if names.old == names.new and names.new), None)
    if names is None:
        return None
    return _Names(
        None if "new file mode" in facts else names.old,
        None if "deleted file mode" in facts else names.new,
    )


def _file_name(text: str) -> str | None:
    """Read a name, which a tab and a time may follow; return None for the null device."""
    plain = _AFTER_NAME.sub("", text.partition("\t")[0]).rstrip("\r")
    name = unquote(text) if text.startswith('"') else plain
    return None if name == "/dev/null" else name


def _strip_prefixes(old: str | None, new: str | None) -> _Names:
    """Strip the prefixes that a diff program adds to the two names.

    Two different one-letter prefixes are removed, and so are two different first folders if the
    paths below them are equal (`diff -ru before after`). If both names start with the same folder,
    it belongs to the path.
    """
    if old is None or new is None:
        return _Names(old and _without_letter(old), new and _without_letter(new))
    (old_first, old_rest), (new_first, new_rest) = _split_first(old), _split_first(new)
    if not old_rest or not new_rest or old_first == new_first:
        return _Names(old, new)
    if {old_first, new_first} <= _PREFIXES or old_rest == new_rest:
        return _Names(old_rest, new_rest)
    return _Names(old, new)


def _without_letter(name: str) -> str:
    first, remainder = _split_first(name)
    return remainder if remainder and first in _PREFIXES else name


def _split_first(name: str) -> tuple[str, str]:
    """Split off the first folder, with both slashes of `src://`."""
    first, _, remainder = name.partition("/")
    return first, remainder.removeprefix("/") if first in {"src:", "dst:"} else remainder
