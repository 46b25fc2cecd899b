"""Readers of markup: XML, HTML, stylesheets, Markdown, reStructuredText and plain text."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from crscore.claims.config_files.data import unquoted
from crscore.claims.config_files.model import MAX_DEPTH, MAX_VALUE, Entry, Kind, Line, Text, entry

if TYPE_CHECKING:
    from collections.abc import Sequence

_TAG: Final = re.compile(r"/?\s*([A-Za-z][\w:.-]*)")
# `class="x"`, `:value='y'`, `@click="z"`, `(event)="w"`
_ATTRIBUTE: Final = re.compile(
    r"""(?<![\w:.@#*()\[\]-])([\w:.@#*()\[\]-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'=<>`]+)"""
)
_VOID: Final = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"]
)
_NAMING: Final = frozenset({"artifactId", "name", "id", "key", "Name"})
_PACKAGES: Final = frozenset({"dependency", "plugin", "parent"})
_CSS: Final = re.compile(r"[^{};]+|[{};]")
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_UNDERLINE: Final = re.compile(r"([=\-~^\"'`#*+:.])\1{2,}$")
_LIST_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})")


def read_xml(lines: Sequence[Line]) -> list[Entry]:
    """Read XML: an element's text is its value."""
    return _read_tags(lines, Kind.SETTING)


def read_html(lines: Sequence[Line]) -> list[Entry]:
    """Read HTML and templates: an element's text is text shown on the page."""
    return _read_tags(lines, Kind.TEXT)


def _read_tags(lines: Sequence[Line], text_kind: Kind) -> list[Entry]:
    """Read tag by tag; a hunk may begin and end anywhere.

    Args:
        lines: One side, whole or a hunk of it.
        text_kind: Kind of the entries made from an element's text.

    Returns:
        Elements, their attributes as settings, and their texts, each in one pass.
    """
    text = Text.of([line for line in lines if line.number])
    joined = text.joined
    found: list[Entry] = []
    stack: list[tuple[str, str]] = []
    at = 0
    while (start := joined.find("<", at)) >= 0:
        _read_content(text, at, start, stack, text_kind, found)
        is_comment = joined.startswith("<!--", start)
        end = joined.find("-->" if is_comment else ">", start)
        if end < 0:
            break
        if is_comment:
            at = end + 3
            found.append(_at(text, Kind.COMMENT, stack, "", joined[start + 4 : end], (start, end)))
            continue
        at = end + 1
        _read_tag(text, start, end, stack, found)
    return found


def _at(
    text: Text,
    kind: Kind,
    stack: Sequence[tuple[str, str]],
    name: str,
    value: str,
    span: tuple[int, int],
) -> Entry:
    return entry(kind, [label for _, label in stack[-MAX_DEPTH:]], name, value, text.between(*span))


def _read_content(
    text: Text, at: int, start: int, stack: list[tuple[str, str]], kind: Kind, found: list[Entry]
) -> None:
    content = text.joined[at:start]
    stripped = content.strip()
    if not stripped:
        return
    begin = at + len(content) - len(content.lstrip())
    span = (begin, begin + len(stripped))
    if not stack:
        found.append(_at(text, Kind.TEXT, stack, "", stripped, span))
        return
    tag, label = stack[-1]
    if kind is Kind.TEXT:
        found.append(_at(text, kind, stack, "", stripped, span))
        return
    if found and found[-1].kind is Kind.ELEMENT and found[-1].name == label:
        # the value describes the element
        found.pop()
    around = stack[-MAX_DEPTH:-1]
    if around and around[-1][0] in _PACKAGES and tag in {"groupId", "artifactId", "version"}:
        if tag != "groupId":
            _read_package(text, tag, stripped, span, stack, found)
        return
    if tag in _NAMING and around:
        # <bean><name>x: what follows is described under x
        stack[-2] = (around[-1][0], stripped)
    found.append(_at(text, kind, around, tag, stripped, span))


def _read_package(
    text: Text,
    tag: str,
    value: str,
    span: tuple[int, int],
    stack: list[tuple[str, str]],
    found: list[Entry],
) -> None:
    """Read the two elements of a Maven dependency as one entry."""
    parent = stack[-2]
    around = stack[-MAX_DEPTH - 2 : -2]
    if tag == "artifactId":
        stack[-2] = (parent[0], value)
        found.append(_at(text, Kind.DEPENDENCY, around, value, "", span))
        return
    named = found[-1] if found and found[-1].kind is Kind.DEPENDENCY else None
    if named is None or named.name != parent[1]:
        found.append(_at(text, Kind.SETTING, stack[-MAX_DEPTH:-1], tag, value, span))
        return
    made = _at(text, Kind.DEPENDENCY, around, named.name, value, span)
    changed = (*named.changed, *made.changed)
    found[-1] = replace(made, changed=changed, block=max(named.block, made.block))


def _read_tag(
    text: Text, start: int, end: int, stack: list[tuple[str, str]], found: list[Entry]
) -> None:
    inside = text.joined[start + 1 : min(end, start + MAX_VALUE)]
    match = _TAG.match(inside)
    if match is None:
        return
    tag = match[1]
    if inside.startswith("/"):
        if any(name == tag for name, _ in stack[-32:]):
            while stack.pop()[0] != tag:
                pass
        return
    attributes = [(one[1], unquoted(one[2])) for one in _ATTRIBUTE.finditer(inside, match.end())]
    named = dict(attributes)
    own = named.get("id") or named.get("name") or named.get("key")
    label = f"{tag} {own}" if own else tag
    include = named.get("Include")
    if include and "Version" in named:
        value = named["Version"]
        found.append(_at(text, Kind.DEPENDENCY, stack, include, value, (start, end)))
        return
    if tag not in _PACKAGES:
        found.append(_at(text, Kind.ELEMENT, stack, label, "", (start, end)))
    inner = [*stack[-MAX_DEPTH:], (tag, label)]
    for name, value in attributes:
        found.append(_at(text, Kind.SETTING, inner, name, value, (start, end)))
    if text.joined[end - 1] != "/" and tag.lower() not in _VOID:
        stack.append((tag, label))


def read_css(lines: Sequence[Line]) -> list[Entry]:
    """Read CSS, SCSS and Less: rules and their properties."""
    text = Text.of(lines)
    code = _without_comments(text.joined)
    found: list[Entry] = []
    stack: list[str] = []
    for match in _CSS.finditer(code):
        piece = match[0].strip()
        if not piece or piece == ";":
            continue
        if piece == "}":
            del stack[-1:]
            continue
        begin = match.start() + len(match[0]) - len(match[0].lstrip())
        covered = text.between(begin, begin + len(piece))
        if piece == "{":
            continue
        if code[match.end() : match.end() + 1] == "{":
            name = " ".join(piece.split())
            found.append(entry(Kind.RULE, stack, name, "", covered))
            stack.append(name)
            continue
        name, colon, value = piece.partition(":")
        if colon:
            found.append(entry(Kind.SETTING, stack, name.strip(), value, covered))
        else:
            found.append(entry(Kind.ITEM, stack, "", piece, covered))
    return found


def _without_comments(code: str) -> str:
    """Blank out `/* */` and `//` comments, keeping every offset."""
    parts: list[str] = []
    at = 0
    while (start := code.find("/*", at)) >= 0:
        end = code.find("*/", start + 2)
        end = len(code) if end < 0 else end + 2
        parts += [code[at:start], re.sub(r"[^\n]", " ", code[start:end])]
        at = end
    kept = "".join([*parts, code[at:]])
    return re.sub(r"(?m)^[ \t]*//[^\n]*", lambda found: " " * len(found[0]), kept)


def read_prose(lines: Sequence[Line]) -> list[Entry]:
    """Read Markdown, reStructuredText or plain text.

    Args:
        lines: One side, whole or a hunk of it.

    Returns:
        Headings, paragraphs, list items and the lines of fenced code.
    """
    reader = _Prose()
    for line in lines:
        if line.number:
            reader.take(line)
    reader.close()
    return reader.found


class _Prose:
    """Line-by-line reader; a paragraph ends at an empty line or where another element begins."""

    def __init__(self) -> None:
        self.found: list[Entry] = []
        self.headings: list[tuple[int, str]] = []
        self.paragraph: list[Line] = []
        self.fence = ""

    def take(self, line: Line) -> None:
        text = line.text.strip()
        fence = _FENCE.match(line.text)
        if self.fence:
            self._take_code(line, fence)
        elif fence:
            self.close()
            self.fence = fence[1]
        elif heading := _HEADING.match(text):
            self.close()
            self._open(len(heading[1]), heading[2], [line])
        elif self.paragraph and len(self.paragraph) == 1 and _UNDERLINE.match(text):
            above, self.paragraph = self.paragraph[0], []
            self._open(ord(text[0]) + 10, above.text.strip(), [above])
        elif not text or _UNDERLINE.match(text):
            self.close()
        elif text.startswith(("|", ">")) or _LIST_ITEM.match(line.text):
            self.close()
            self.paragraph = [line]
        else:
            self.paragraph.append(line)

    def _take_code(self, line: Line, fence: re.Match[str] | None) -> None:
        if fence and fence[1].startswith(self.fence):
            self.fence = ""
        elif line.text.strip():
            self.found.append(entry(Kind.CODE, self._where(), "", line.text, [line]))

    def _where(self) -> list[str]:
        return [title for _, title in self.headings]

    def _open(self, level: int, title: str, lines: list[Line]) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.found.append(entry(Kind.HEADING, self._where(), title, "", lines))
        self.headings.append((level, title))

    def close(self) -> None:
        """End the paragraph."""
        if not self.paragraph:
            return
        item = _LIST_ITEM.match(self.paragraph[0].text)
        words = [line.text.strip() for line in self.paragraph]
        if item:
            words[0] = item[1]
        kind = Kind.ITEM if item else Kind.TEXT
        self.found.append(entry(kind, self._where(), "", " ".join(words), self.paragraph))
        self.paragraph = []
