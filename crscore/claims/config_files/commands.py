"""Readers of Dockerfiles, makefiles, shell scripts, SQL and plain lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.claims.config_files.data import unquoted
from crscore.claims.config_files.model import Entry, Kind, Line, Text, entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_INSTRUCTION: Final = re.compile(r"\s*([A-Za-z]{2,12})\s+(.*)$", re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][\w.-]*)=(\"[^\"]*\"|'[^']*'|\S*)")
_RUNS: Final = frozenset({"RUN", "COPY", "ADD", "ONBUILD"})
_VARIABLE: Final = re.compile(r"(?:export\s+)?([A-Za-z_][\w.-]*)\s*(?::|\?|\+|::)?=\s*(.*)$")
_SHELL_SETTING: Final = re.compile(
    r"(?:(?:export|local|readonly|declare|typeset|set)\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)=(.*)$"
)
_SHELL_FUNCTION: Final = re.compile(r"(?:function\s+([\w:.-]+)|([\w:.-]+)\s*\(\s*\))")
_SHELL_WORDS: Final = frozenset({"fi", "done", "esac", "then", "do", "else", "{", "}", ";;", "("})
_REQUIREMENT: Final = re.compile(
    r"([A-Za-z0-9][\w.-]*) ?(\[[^\]]*\])? ?((?:===?|[<>~!]=?|@)[^;#]*)?(?:[;#].*)?$"
)
_MODULE: Final = re.compile(r"(?:require\s+)?([\w.-]+/[\w./~-]+)\s+(v[\w.+-]+)")
_CREATE_TABLE: Final = re.compile(
    r"(?is)\s*create\s+(?:\w+\s+){0,3}?table\s+(?:if\s+not\s+exists\s+)?([\w.\"`\[\]]+)\s*\("
)
_COLUMN: Final = re.compile(r"([\"`\[]?[A-Za-z_]\w*[\"`\]]?)\s+([A-Za-z]\w*.*)$", re.DOTALL)
_CONSTRAINTS: Final = frozenset(
    ["constraint", "primary", "foreign", "unique", "check", "key", "index", "references"]
)


def _logical(lines: Sequence[Line], notes: str = "#") -> Iterator[list[Line]]:
    """Join lines that end in a backslash; comments inside are skipped."""
    group: list[Line] = []
    for line in lines:
        if group and line.text.lstrip().startswith(notes):
            continue
        group.append(line)
        if not line.text.rstrip().endswith("\\"):
            yield group
            group = []
    if group:
        yield group


def _text_of(group: Sequence[Line]) -> str:
    return " ".join(line.text.strip().rstrip("\\").strip() for line in group).strip()


def read_dockerfile(lines: Sequence[Line]) -> list[Entry]:
    """Read a Dockerfile: the base image, settings and commands."""
    found: list[Entry] = []
    for group in _logical([line for line in lines if line.number]):
        text = _text_of(group)
        match = _INSTRUCTION.match(text)
        if text.startswith("#"):
            found.append(entry(Kind.COMMENT, [], "", text.lstrip("# "), group))
        elif match is None:
            if text:
                found.append(entry(Kind.COMMAND, [], "", text, group))
        else:
            found.extend(_instruction(match[1].upper(), match[2], group))
    return found


def _instruction(verb: str, rest: str, group: Sequence[Line]) -> list[Entry]:
    if verb == "FROM":
        return [entry(Kind.IMAGE, [], "", rest.partition(" ")[0], group)]
    if verb in _RUNS:
        return [entry(Kind.COMMAND, [], "", f"{verb} {rest}", group)]
    if verb in {"ENV", "ARG", "LABEL"} and (pairs := _ASSIGNMENT.findall(rest)):
        return [entry(Kind.SETTING, [verb], key, unquoted(value), group) for key, value in pairs]
    return [entry(Kind.SETTING, [], verb, rest, group)]


def read_makefile(lines: Sequence[Line]) -> list[Entry]:
    """Read a makefile: variables, targets and their recipes."""
    found: list[Entry] = []
    target = ""
    for group in _logical(lines):
        text = _text_of(group)
        if not text:
            continue
        if group[0].text.startswith("\t"):
            found.append(entry(Kind.COMMAND, [target], "", text.lstrip("@-"), group))
        elif text.startswith("#"):
            found.append(entry(Kind.COMMENT, [], "", text.lstrip("# "), group))
        elif variable := _VARIABLE.match(text):
            found.append(entry(Kind.SETTING, [], variable[1], variable[2], group))
        elif ":" in text:
            target, _, needs = text.partition(":")
            target = target.strip()
            needs = needs.lstrip(":").partition("#")[0]
            found.append(entry(Kind.TARGET, [], target, needs, group))
        else:
            found.append(entry(Kind.COMMAND, [], "", text, group))
    return found


def read_shell(lines: Sequence[Line]) -> list[Entry]:
    """Read a shell or batch script: variables, functions and commands."""
    found: list[Entry] = []
    function = ""
    for group in _logical(lines):
        text = _text_of(group)
        if not text or text in _SHELL_WORDS:
            function = "" if group[0].text.startswith("}") else function
        elif text.startswith("#"):
            found.append(entry(Kind.COMMENT, [function], "", text.lstrip("#! "), group))
        elif setting := _SHELL_SETTING.match(text):
            value = unquoted(setting[2])
            found.append(entry(Kind.SETTING, [function], setting[1], value, group))
        elif header := _SHELL_FUNCTION.match(text):
            function = header[1] or header[2]
            found.append(entry(Kind.FUNCTION, [], function, "", group))
        else:
            found.append(entry(Kind.COMMAND, [function], "", text, group))
    return found


def read_requirements(lines: Sequence[Line]) -> list[Entry]:
    """Read pip's requirement files."""
    return [_requirement(line, []) for line in lines if line.number and line.text.strip()]


def _requirement(line: Line, where: Sequence[str]) -> Entry:
    text = line.text.strip()
    named = requirement_of(text)
    if text.startswith("#"):
        return entry(Kind.COMMENT, where, "", text.lstrip("# "), [line])
    if named is None:
        return entry(Kind.ITEM, where, "", text, [line])
    return entry(Kind.DEPENDENCY, where, *named, [line])


def requirement_of(text: str) -> tuple[str, str] | None:
    """Split `name[extra]>=1.2; marker` into the name and its version constraint."""
    match = _REQUIREMENT.match(" ".join(unquoted(text).split()))
    return (match[1], (match[3] or "").strip()) if match else None


def read_gomod(lines: Sequence[Line]) -> list[Entry]:
    """Read go.mod and go.sum: each module with its version."""
    found: list[Entry] = []
    for line in lines:
        text = line.text.strip()
        if match := _MODULE.match(text):
            version = match[2].removesuffix("/go.mod")
            found.append(entry(Kind.DEPENDENCY, [], match[1], version, [line]))
        elif pair := re.match(r"(go|toolchain|module)\s+(\S+)$", text):
            found.append(entry(Kind.SETTING, [], pair[1], pair[2], [line]))
    return found


def read_patterns(lines: Sequence[Line]) -> list[Entry]:
    """Read .gitignore and similar files: one pattern per line."""
    found: list[Entry] = []
    for line in lines:
        text = line.text.strip()
        if text and line.number:
            kind = Kind.COMMENT if text.startswith("#") else Kind.PATTERN
            found.append(entry(kind, [], "", text.lstrip("# ") or text, [line]))
    return found


def read_rows(lines: Sequence[Line]) -> list[Entry]:
    """Read tables of values: one row per line."""
    return [
        entry(Kind.ITEM, [], "", line.text, [line])
        for line in lines
        if line.number and line.text.strip()
    ]


def read_sql(lines: Sequence[Line]) -> list[Entry]:
    """Read SQL statement by statement; the columns of a new table one by one."""
    found: list[Entry] = []
    kept: list[Line] = []
    for line in lines:
        text = line.text.strip()
        if text.startswith("--"):
            found.append(entry(Kind.COMMENT, [], "", text.lstrip("- "), [line]))
        elif text and line.number:
            kept.append(line)
            if text.endswith(";"):
                found.extend(_statement(kept))
                kept = []
    return found + _statement(kept)


def _statement(lines: Sequence[Line]) -> list[Entry]:
    text = Text.of(lines)
    code = text.joined.strip().rstrip(";").strip()
    if not code:
        return []
    table = _CREATE_TABLE.match(code)
    if table is None:
        return [entry(Kind.STATEMENT, [], "", code, lines)]
    name = unquoted(table[1])
    found = [entry(Kind.SECTION, [], name, "", text.between(0, table.end()))]
    for line in lines:
        column = _COLUMN.match(line.text.strip().rstrip(",;"))
        if column and line.text[:1].isspace() and column[1].lower() not in _CONSTRAINTS:
            found.append(entry(Kind.COLUMN, [name], unquoted(column[1]), column[2], [line]))
        elif line.text[:1].isspace():
            found.append(entry(Kind.ITEM, [name], "", line.text.strip().rstrip(",;"), [line]))
    return found
