"""In which definition each line of a file stands, told from its indentation alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_HEAD = re.compile(r"[({:=<]|\b(?:extends|implements)\b")
_COMMENT = ("#", "//", "/*", "*")
_TRAILING = re.compile(r"\s(?:#|//).*")
_JOINS = (")", "]", "}", "{")
_CONTROL = re.compile(
    r"(?:async\s+)?(?:if|elif|else|for|foreach|while|do|loop|try|except|catch|finally|with|using|switch"
    r"|case|default|match|when|unless|synchronized|lock|return|await|yield|throw|new)\b"
)


class Definitions:
    """The definitions of a file, in any language that is indented.

    A definition is a line that opens a block with `:` or `{` and begins with no word of control
    flow. A call that is given a function (`on("x", () => {`) opens none.

    Example:
        >>> found = Definitions(["class A:", "  def f(self):", "    if x:", "      y()"])
        >>> found.around(4), found.at(2), found.at(3)
        ('f', 'f', '')
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """Read a file.

        Args:
            lines: Its lines.
        """
        # A statement begins on each line but those that go on with one: `):`, `} else {`.
        self._first: list[int] = []
        self._heads: list[str] = []
        self._names: list[str] = []
        self._parents: list[int | None] = []
        self._of_line: list[int | None] = []
        self._read(lines)
        self._around: list[str] = []
        for name, parent in zip(self._names, self._parents, strict=True):
            self._around.append(name or ("" if parent is None else self._around[parent]))

    def around(self, line: int) -> str:
        """Name the definition that a line begins or stands in; "" for none."""
        statement = self._statement(line)
        return "" if statement is None else self._around[statement]

    def at(self, line: int) -> str:
        """Name the definition that begins on a line; "" for none."""
        statement = self._statement(line)
        return "" if statement is None or self._first[statement] != line else self._names[statement]

    def _statement(self, line: int) -> int | None:
        return self._of_line[line - 1] if 0 < line <= len(self._of_line) else None

    def _read(self, lines: Sequence[str]) -> None:
        opened: list[tuple[int, int]] = []
        for number, line in enumerate(lines, 1):
            code = _TRAILING.sub("", line.strip()).rstrip()
            if not code or code.startswith(_COMMENT):
                self._of_line.append(opened[-1][1] if opened else None)
                continue
            indent = indent_of(line)
            while opened and opened[-1][0] > indent:
                opened.pop()
            is_next = bool(opened) and opened[-1][0] == indent
            goes_on = is_next and code.startswith(_JOINS)
            if not goes_on:
                del opened[len(opened) - is_next :]
                parent = opened[-1][1] if opened else None
                opened.append((indent, self._begin(number, code, parent)))
            statement = opened[-1][1]
            self._of_line.append(statement)
            is_call = code.count("(") > code.count(")")
            if code.endswith((":", "{")) and not is_call:
                self._names[statement] = _name(self._heads[statement])

    def _begin(self, number: int, code: str, parent: int | None) -> int:
        self._first.append(number)
        self._heads.append(code)
        self._names.append("")
        self._parents.append(parent)
        return len(self._first) - 1


def indent_of(line: str) -> int:
    """Count the columns before the code of a line."""
    wide = line.expandtabs()
    return len(wide) - len(wide.lstrip())


def _name(head: str) -> str:
    words = _WORD.findall(_HEAD.split(head, maxsplit=1)[0])
    return "" if not words or _CONTROL.match(head.lstrip("}]) ")) else words[-1]
