"""Readers of data files: YAML, JSON, TOML, INI and properties."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.claims.config_files.model import Entry, Kind, Line, entry

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABELS: Final = frozenset({"name", "id", "key", "title", "path", "uses", "repo", "image"})
_BLOCK: Final = re.compile(r"[|>][-+0-9]*$")
# `"key"`, `{`, `// note`, `12.5`
_JSON: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[{}\[\],:]|//.*|[^\s{}\[\],:"]+')
_FLAT: Final = re.compile(r"\s*(\[[^\[\]{}]*\]|\{[^\[\]{}]*\})")
_SECTION: Final = re.compile(r"\[{1,2}([^\[\]]+)\]{1,2}\s*(?:[#;].*)?$")
# `key = 1`, `key: 1`, `"a key" = 1`; TOML and INI keys hold no further separator
_PAIR: Final = re.compile(r"""("[^"]*"|'[^']*'|[^=:\[#;]+)\s*[=:]\s*(.*)$""")


@dataclass(slots=True)
class _Level:
    indent: int
    name: str
    is_item: bool = False


def unquoted(text: str) -> str:
    """Remove a comma at the end, and quotes around the value."""
    text = text.strip().rstrip(",").strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`":
        return text[1:-1]
    return text


def _without_note(text: str) -> str:
    """Remove a ` # note` from the end of an unquoted value."""
    return text if text.startswith(('"', "'")) else text.partition(" #")[0].strip()


def read_yaml(lines: Sequence[Line]) -> list[Entry]:
    """Read YAML by its indentation; the enclosing keys come from the lines above.

    Args:
        lines: One side, whole or a hunk of it.

    Returns:
        Settings, sections, list items, comments and the lines of block texts (commands).
    """
    found: list[Entry] = []
    stack: list[_Level] = []
    block: int | None = None
    for line in lines:
        text = line.text.strip()
        indent = len(line.text) - len(line.text.lstrip(" "))
        if not text or text in {"---", "..."}:
            continue
        if block is not None and indent > block:
            found.append(entry(Kind.COMMAND, [one.name for one in stack], "", text, [line]))
            continue
        block = None
        if text.startswith("#"):
            found.append(_comment([one.name for one in stack if one.indent < indent], line))
            continue
        text, indent = _enter_items(text, indent, stack)
        if _yaml_pair(text, indent, stack, line, found):
            block = indent
    return found


def _enter_items(text: str, indent: int, stack: list[_Level]) -> tuple[str, int]:
    """Remove the dashes of list items, and open a level for each."""
    while text.startswith("- ") or text == "-":
        while stack and (
            stack[-1].indent > indent or (stack[-1].indent == indent and stack[-1].is_item)
        ):
            stack.pop()
        stack.append(_Level(indent, "", is_item=True))
        rest = text[1:].lstrip()
        indent += len(text) - len(rest)
        text = rest
    while stack and stack[-1].indent >= indent:
        stack.pop()
    return text, indent


def _yaml_pair(text: str, indent: int, stack: list[_Level], line: Line, found: list[Entry]) -> bool:
    """Read `key: value` or a plain item; True when a block text begins."""
    where = [one.name for one in stack]
    key, colon, value = text.partition(": ") if ": " in text else (text[:-1], text[-1:], "")
    if colon not in {": ", ":"} or text[:1] in "{[":
        if text:
            found.append(entry(Kind.ITEM, where, "", unquoted(_without_note(text)), [line]))
        return False
    key, value = unquoted(key), _without_note(value.strip())
    is_block = bool(_BLOCK.match(value))
    value = "" if is_block or value.startswith("&") else unquoted(value)
    if stack and stack[-1].is_item and not stack[-1].name and key in _LABELS:
        stack[-1].name = value.partition("@")[0]
        where[-1] = stack[-1].name if key not in {"name", "id", "key", "title"} else ""
    found.append(entry(Kind.SETTING if value else Kind.SECTION, where, key, value, [line]))
    if not value:
        stack.append(_Level(indent, key))
    return is_block


def _comment(where: Sequence[str], line: Line) -> Entry:
    return entry(Kind.COMMENT, where, "", line.text.strip().lstrip("#;/ "), [line])


def read_json(lines: Sequence[Line]) -> list[Entry]:
    """Read JSON piece by piece; a hunk may begin and end anywhere.

    Args:
        lines: One side, whole or a hunk of it.

    Returns:
        Settings, sections (objects and arrays) and array items.
    """
    found: list[Entry] = []
    stack: list[str] = []
    key: str | None = None
    for line in lines:
        at = 0
        while match := _JSON.search(line.text, at):
            piece, at = match[0], match.end()
            if piece.startswith("//") or piece == ",":
                continue
            if piece in "]}":
                del stack[-1:]
                key = None
            elif piece in "[{":
                flat = _FLAT.match(line.text, match.start()) if key is not None else None
                if flat and flat[1] not in ("[]", "{}"):
                    found.append(entry(Kind.SETTING, stack, key or "", flat[1], [line]))
                    at = flat.end()
                else:
                    if key is not None:
                        found.append(entry(Kind.SECTION, stack, key, "", [line]))
                    stack.append(key or "")
                key = None
            elif piece.startswith('"') and line.text[at:].lstrip().startswith(":"):
                key = unquoted(piece)
            elif piece != ":":
                _json_scalar(piece, key, stack, line, found)
                key = None
    return found


def _json_scalar(
    piece: str, key: str | None, stack: list[str], line: Line, found: list[Entry]
) -> None:
    value = unquoted(piece)
    if key is None:
        found.append(entry(Kind.ITEM, stack, "", value, [line]))
        return
    found.append(entry(Kind.SETTING, stack, key, value, [line]))
    if stack and not stack[-1] and key in _LABELS:
        stack[-1] = value


def read_ini(lines: Sequence[Line]) -> list[Entry]:
    """Read TOML, INI or properties.

    Args:
        lines: One side, whole or a hunk of it.

    Returns:
        Sections, settings, the items of lists that cross lines, and comments.
    """
    found: list[Entry] = []
    section = key = ""
    in_list = False
    for line in lines:
        text = line.text.strip()
        if not text:
            continue
        where = [section, key] if in_list or line.text[:1].isspace() else [section]
        pair = _PAIR.match(text)
        if pair and pair[1][-1] in "<>!~":
            # a requirement in a list: `numpy>=1`
            pair = None
        if text[0] in "#;!":
            found.append(_comment([section], line))
        elif text.startswith(("]", "}")):
            in_list = False
        elif in_list or (line.text[:1].isspace() and key and not pair):
            found.append(entry(Kind.ITEM, where, "", unquoted(_without_note(text)), [line]))
            in_list = in_list and not text.endswith("]")
        elif header := _SECTION.match(text):
            section, key = header[1].strip(), ""
            found.append(entry(Kind.SECTION, [], section, "", [line]))
        elif pair:
            key, value = unquoted(pair[1]), _without_note(pair[2])
            in_list = value in {"[", "{", "("}
            kind = Kind.SECTION if in_list or not value else Kind.SETTING
            found.append(entry(kind, [section], key, "" if in_list else unquoted(value), [line]))
        elif text.startswith(("'", '"')):
            # a hunk that begins inside a list
            found.append(entry(Kind.ITEM, where, "", unquoted(text), [line]))
    return found
