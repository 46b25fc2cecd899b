"""Pieces of code as the combined metric sees them: own names by role, no comments, no layout."""

from __future__ import annotations

import re
import textwrap
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.suggestions.sketch import sketch
from crscore.suggestions.trees import grammar_of, parse_code

if TYPE_CHECKING:
    import tree_sitter

_ROLE: Final = re.compile(r"(f|var)(_\d+)?|arg_\d+")
_NUMBERED: Final = re.compile(r"((?:f|var))_\d+")
_NAME: Final = re.compile(r"[^\W\d]\w*")
_OPERATOR: Final = re.compile(r"[-+*/%<>=!&|^~?@]+|and|or|not|in|is")
_QUOTES: Final = "\"'`"
_UNFINISHED: Final = re.compile(
    r"\b(todo|fixme|your code|implement|not ?implemented|unsupportedoperation|<unk>)", re.IGNORECASE
)
_INDENT: Final = 4
_VARIABLE: Final = re.compile(r"var_\d+")
_BEFORE: Final = 4
_BEHIND: Final = 8
_VALUES: Final = (
    (frozenset(("[", "list", "List", "ArrayList", "LinkedList", "Stack", "sorted")), "list"),
    (frozenset(("{", "dict", "HashMap", "Map", "TreeMap", "Counter", "defaultdict")), "map"),
    (frozenset(("set", "HashSet", "Set", "TreeSet")), "set"),
    (frozenset(("True", "False", "true", "false")), "flag"),
    (frozenset(("StringBuilder", "String", "str")), "text"),
)
"""Name of a variable by the words that its first value begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Piece of code, taken apart."""

    tokens: tuple[str, ...]
    """Leaves of the tree without comments; variables of its own are named by their use."""
    numbered: tuple[str, ...]
    """The same with the variables numbered."""
    kinds: tuple[str, ...]
    """Kind of each: `number`, `text`, `role`, `name`, `operator`, `keyword` or `sign`."""
    nodes: Counter[str]
    """Named types of the tree's inner nodes."""
    edges: Counter[tuple[str, str]]
    """Types of a named node and its parent."""
    subtrees: Counter[int]
    """Hashes of subtrees of named types, without the tokens."""
    calls: Counter[str]
    """Names of what is called, the own ones by role."""
    errors: float
    """Share of the code that the grammar cannot read, in [0, 1]."""
    unfinished: bool
    """It says itself that something is missing."""

    @property
    def text(self) -> str:
        """The tokens as one line, variables without number."""
        return " ".join(_NUMBERED.sub(r"\1", token) for token in self.numbered)

    def of_kind(self, *kinds: str) -> Counter[str]:
        """Count the tokens of some kinds."""
        chosen = zip(self.tokens, self.kinds, strict=True)
        return Counter(token for token, kind in chosen if kind in kinds)


def take_apart(code: str, language: str | None, context: str) -> Piece:
    """Take a piece of code apart.

    Args:
        code: The code.
        language: Language as in `ChangedFile.language`.
        context: Text before it; where it is code, its parameters are known.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.
    """
    parsed = parse_code(
        sketch(in_place(code, language, context), language, context=context), language
    )
    reader = _Reader(grammar_of(language).calls, grammar_of(language).strings)
    reader.read(parsed.root, parsed.start, parsed.end)
    numbered = tuple(reader.tokens)
    return Piece(
        tokens=tuple(_by_use(numbered)),
        numbered=numbered,
        kinds=tuple(reader.kinds),
        nodes=reader.nodes,
        edges=reader.edges,
        subtrees=reader.subtrees,
        calls=reader.calls,
        errors=min(1.0, parsed.errors / max(1, len(parsed.code))),
        unfinished=bool(_UNFINISHED.search(code)),
    )


def in_place(code: str, language: str | None, context: str) -> str:
    """Indent code as its context asks for: completions often lack that, or a part of it."""
    lines = [line for line in context.split("\n") if line.strip()]
    if not lines or not grammar_of(language).indented:
        return code
    last = lines[-1].rstrip()
    indent = len(last) - len(last.lstrip()) + (_INDENT if last.endswith(":") else 0)
    return textwrap.indent(parse_code(code, language).code, " " * indent)


def _by_use(tokens: Sequence[str]) -> Iterator[str]:
    """Name the variables of a piece of code by how they come into being or end."""
    uses: dict[str, str] = {}
    for at, token in enumerate(tokens):
        if _VARIABLE.fullmatch(token):
            if at and tokens[at - 1] == "return":
                uses[token] = "result"
            elif token not in uses:
                uses[token] = _use(tokens, at)
    for token in tokens:
        yield uses.get(token) or _NUMBERED.sub(r"\1", token)


def _use(tokens: Sequence[str], at: int) -> str:
    """Name a variable by what stands around its first occurrence."""
    before, behind = tokens[max(0, at - _BEFORE) : at], tokens[at + 1 : at + 1 + _BEHIND]
    if "for" in before:
        counts = any(word in behind for word in ("range", "enumerate", "<", "<=", ">", ">="))
        return "index" if counts or behind[:1] == ("=",) else "item"
    if not behind or behind[0] not in ("=", ":=", ":"):
        return "item"
    value = behind[1:]
    for first, name in _VALUES:
        if first.intersection(value[:2]):
            return name
    if value and value[0][0].isdigit():
        return "count"
    if value and value[0][0] in _QUOTES:
        return "text"
    return "value"


class _Reader:
    """Reader of one tree, in one visit of each node."""

    def __init__(self, calls: frozenset[str], strings: frozenset[str]) -> None:
        self.call_types = calls
        self.strings = strings
        self.tokens: list[str] = []
        self.kinds: list[str] = []
        self.nodes: Counter[str] = Counter()
        self.edges: Counter[tuple[str, str]] = Counter()
        self.subtrees: Counter[int] = Counter()
        self.calls: Counter[str] = Counter()

    def read(self, root: tree_sitter.Node, start: int, end: int) -> None:
        """Read the nodes between two bytes, children first."""
        hashes: dict[int, int] = {}
        stack = [(root, False)]
        while stack:
            node, left = stack.pop()
            if left:
                self._leave(node, hashes)
                continue
            if node.end_byte <= start or node.start_byte >= end:
                continue
            inside = node.start_byte >= start and node.end_byte <= end
            if "comment" in node.type:
                continue
            if inside and (node.child_count == 0 or node.type in self.strings):
                self._leaf(node)
                hashes[node.id] = hash_of(node.type)
                continue
            if inside:
                stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.children))

    def _leaf(self, node: tree_sitter.Node) -> None:
        text = (node.text or b"").decode("utf-8", "replace").strip()
        if not text:
            return
        self.tokens.append(text)
        self.kinds.append(_kind(text, node))

    def _leave(self, node: tree_sitter.Node, hashes: dict[int, int]) -> None:
        if not node.is_named:
            return
        self.nodes[node.type] += 1
        children = [child for child in node.children if child.is_named and child.id in hashes]
        operator = node.child_by_field_name("operator")
        parts = [hashes[child.id] for child in children]
        found = hash_of(node.type, operator.type if operator else "", *map(str, parts))
        hashes[node.id] = found
        self.subtrees[found] += 1
        for child in children:
            self.edges[node.type, child.type] += 1
        if node.type in self.call_types:
            self._call(node)

    def _call(self, node: tree_sitter.Node) -> None:
        called = (
            node.child_by_field_name("name")
            or node.child_by_field_name("function")
            or node.child_by_field_name("type")
        )
        text = (called.text or b"").decode("utf-8", "replace") if called else ""
        names = _NAME.findall(text)
        if names:
            self.calls[_NUMBERED.sub(r"\1", names[-1])] += 1


def hash_of(*parts: str) -> int:
    """Hash texts, the same in every process."""
    return zlib.crc32("\\0".join(parts).encode())


def _kind(text: str, node: tree_sitter.Node) -> str:
    if text[0] in _QUOTES or node.child_count:
        return "text"
    if text[0].isdigit():
        return "number"
    if _ROLE.fullmatch(text):
        return "role"
    if _OPERATOR.fullmatch(text):
        return "operator"
    if _NAME.fullmatch(text):
        return "name" if node.is_named and node.type != text else "keyword"
    return "sign"
