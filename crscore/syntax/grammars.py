"""Reads the tables of the languages that have a grammar, and parses their texts."""

from __future__ import annotations

import hashlib
import importlib
import re
import time
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from crscore.diff.languages import canonical_name, read_tables
from crscore.errors import requires
from crscore.version import version_of

if TYPE_CHECKING:
    import tree_sitter

_NOT_NEWLINE = re.compile(rb"[^\n]")
_SHORT_BYTES = 2_000
"""Maximum number of bytes of a text that is parsed without a check of its speed."""
# Ordinary text takes much less time: 0.3 ms for 2 KB, 0.16 s for a megabyte.
_BASE_SECONDS, _SECONDS_PER_BYTE = 0.03, 2e-6
"""Maximum seconds to parse a part of a text: a base, to which the time for each byte is added."""


class Language(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Node types of one grammar, grouped by meaning: the `grammar` section of a language table."""

    name: str
    """Name of the language, as in `ChangedFile.language`."""
    package: str
    """Import name of the grammar's wheel."""
    entry: str = "language"
    """Function of the wheel that returns the grammar."""
    aliases: frozenset[str] = frozenset()
    """Other names of the language that use this table."""
    types: dict[str, str] = {}
    """Declarations of types with members: node type -> noun, such as `class`."""
    functions: dict[str, str] = {}
    """Declarations of functions: node type -> noun, such as `method`."""
    members: dict[str, str] = {}
    """Members that are separate units if they take several lines: node type -> noun."""
    lambdas: frozenset[str] = frozenset()
    """Function expressions, such as lambdas."""
    callbacks: frozenset[str] = frozenset()
    """Functions inside an expression, whose returned values do not belong to the enclosing unit."""
    scopes: frozenset[str] = frozenset()
    """Containers that a reader would not name, such as namespaces."""
    sections: frozenset[str] = frozenset()
    """Nodes that set the visibility of the members after them: `public:`, `private`."""
    wrappers: frozenset[str] = frozenset()
    """Nodes that enclose a declaration and are part of it."""
    calls: frozenset[str] = frozenset()
    """Calls and creations of objects."""
    imports: frozenset[str] = frozenset()
    raises: frozenset[str] = frozenset()
    catches: frozenset[str] = frozenset()
    assigns: frozenset[str] = frozenset()
    """Nodes that bind a name to a value, and declarations of fields."""
    decorators: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    """String literals, each read as one token."""
    openers: dict[str, str] = {}
    """Text that opens a `class`, `function`, `block`, `object` or `callback`, to complete a
    fragment."""
    fragments: tuple[tuple[str, str], ...] = ()
    """Pairs of text to put before and after a fragment that does not parse alone."""
    prolog: str = ""
    """Text required before every fragment."""
    indented: bool = False
    """Whether indentation delimits blocks."""
    hash_comments: bool = False
    """Whether `#` starts a comment."""
    closing_word: str = ""
    """Word that ends a block in a language without braces."""
    precedence: int = 9
    """Priority when two grammars parse a text of unknown language equally well; the lower value
    wins."""


@cache
def languages_known() -> tuple[Language, ...]:
    """Return all languages with a grammar, sorted by name."""
    kinds = {field.name: field.type for field in msgspec.structs.fields(Language)}
    languages: list[Language] = []
    for name, table in sorted(read_tables().items()):
        values: dict[str, Any] = {"name": name, **table["grammar"]}
        # In the tables, node types are words of a string: "a b", or "a=class b=method" with nouns.
        for key, value in table["grammar"].items():
            if kinds.get(key) == frozenset[str]:
                values[key] = value.split()
            elif kinds.get(key) == dict[str, str] and isinstance(value, str):
                values[key] = dict(pair.split("=") for pair in value.split())
        languages.append(msgspec.convert(values, Language))
    return tuple(languages)


@cache
def _index_names() -> dict[str, Language]:
    return {
        name: language
        for language in languages_known()
        for name in (language.name, *language.aliases)
    }


def language_of(name: str | None) -> Language | None:
    """Return the language with a name (`javascript`, `js`); None if it has no grammar."""
    if not name:
        return None
    tables = _index_names()
    return tables.get(name) or tables.get(canonical_name(name))


@cache
def parser(package: str, entry: str) -> tree_sitter.Parser:
    """Return the parser of a grammar; the arguments are fields of its `Language`.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    wheel = package.replace("_", "-")
    with requires(wheel, f"pip install {wheel}"):
        import tree_sitter  # noqa: PLC0415 - only runs that parse need it

        grammar = importlib.import_module(package)
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, entry)()))


def parse(language: Language, source: bytes) -> tree_sitter.Node:
    """Parse a text.

    tree-sitter's error recovery takes quadratic time and memory for some texts, such as `/*` on
    each line of Python (see also https://github.com/tree-sitter/tree-sitter-java/issues/187). It
    runs in C, where signals cannot interrupt it. If a text takes far longer than usual, all its
    characters except line feeds are replaced by NUL, which no grammar accepts.

    Args:
        language: Language of the text.
        source: Text in UTF-8.

    Returns:
        Root of the syntax tree.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    language_parser = parser(language.package, language.entry)
    if len(source) > _SHORT_BYTES and not _is_quick(language.package, language.entry, source):
        # Line feeds are kept, so that rows of the tree are rows of the file.
        source = _NOT_NEWLINE.sub(b"\0", source)
    return language_parser.parse(source).root_node


@lru_cache(maxsize=128)  # claims, verdicts and suggestions parse the same files, one after another
def _is_quick(package: str, entry: str, source: bytes) -> bool:
    """Return whether a text parses quickly in parts of 2 KB, then in parts of 8 KB, and so on.

    tree-sitter's own timeout does not help, because it is not checked during the slow step, which
    is the last one.
    """
    grammar_parser, size = parser(package, entry), _SHORT_BYTES
    # Small parts are parsed first, because they show quadratic time, while a text of 18 KB could
    # already take 30 s and 10 GB.
    while size < len(source):
        for start in range(0, len(source), size):
            part = source[start : start + size]
            # The CPU time of this thread is measured, so that a busy machine does not change the
            # outline. A part is tried up to three times, because on a busy host even this clock may
            # continue while the thread waits.
            for _ in range(3):
                started = time.thread_time()
                grammar_parser.parse(part)
                duration = time.thread_time() - started
                if duration <= _BASE_SECONDS + len(part) * _SECONDS_PER_BYTE:
                    break
            else:
                return False
        size *= 4
    return True


@cache
def fingerprint() -> str:
    """Return a hash of the installed grammars, because another version may parse differently.

    Returns:
        Eight hexadecimal digits of a hash of the names and versions of the packages.
    """
    versions: list[str] = []
    for package in sorted({"tree-sitter", *(item.package for item in languages_known())}):
        name = package.replace("_", "-")
        version = version_of(name)
        versions.append(f"{name}=={version}" if version else f"{name} missing")
    return hashlib.sha256(" ".join(versions).encode()).hexdigest()[:8]
