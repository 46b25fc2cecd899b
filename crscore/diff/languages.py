"""Reads the tables in `crscore/languages/`, and finds the language of a file from its name.

Each language with a grammar has a table, `<name>.toml`; `others.toml` has the file names of the
other languages. The keys of a table, all optional except `suffixes` and `grammar.package`, are:

- `like`: another language, from which this one takes missing `names`, `keywords` and keys of
  `grammar`.
- `suffixes`: file suffixes without the dot, the usual one first.
- `files`: whole file names.
- `other_names`: other names of the language.
- `keywords`: reserved words, to which CodeBLEU gives more weight.
- `grammar`: node types by their meaning (`crscore.syntax.grammars.Language`).
- `names`: at which positions a name has which role (`crscore.syntax.sketch`).
- `shared`: node types that have the same meaning in every grammar that has them.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent.parent / "languages"
WITHOUT_GRAMMAR: Final = "others"

Table = Mapping[str, Any]


@cache
def read_tables() -> Mapping[str, Table]:
    """Return a mapping from each language with a grammar to its table, including inherited keys.

    Grammars agree on field names (`name`, `parameters`, `condition`, `body`) more than on node
    types. So field names are in the code, and only node types are in the tables.
    """
    names = sorted(path.stem for path in FOLDER.glob("*.toml"))
    return {name: _read_table(name) for name in names if name != WITHOUT_GRAMMAR}


@cache
def _read_table(name: str) -> Table:
    table = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    if "like" not in table:
        return table
    base = _read_table(table["like"])
    inherited = {key: base[key] for key in ("names", "keywords") if key in base}
    return {**inherited, **table, "grammar": {**base["grammar"], **table["grammar"]}}


@cache
def read_words(key: str) -> Mapping[str, tuple[str, ...]]:
    """Return the words under one key, `suffixes` or `files`, of each language.

    This includes the languages without a grammar.
    """
    words = {name: table[key] for name, table in read_tables().items() if key in table}
    # If a language has a table, the table replaces its line in `others.toml`.
    return {
        name: tuple(text.split())
        for name, text in {**_read_table(WITHOUT_GRAMMAR)[key], **words}.items()
    }


@cache
def node_types(meaning: str) -> frozenset[str]:
    """Return the node types that the keys `shared` list for a meaning, such as `returns`."""
    tables = (table.get("shared", {}) for table in read_tables().values())
    return frozenset(word for table in tables for word in table.get(meaning, "").split())


@cache
def _map_words(key: str) -> Mapping[str, str]:
    """Return a mapping from suffixes, or from file names, to languages."""
    return {word: language for language, words in read_words(key).items() for word in words}


def language_of(path: str) -> str | None:
    """Return the language of a file.

    Args:
        path: Any path, with slashes or backslashes; case-insensitive.

    Returns:
        A lower-case name such as `python`, `cpp` or `yaml`; None if the file name does not show the
        language. `.h` counts as `c`. A template counts as the markup that it is written in.

    Example:
        >>> language_of("src/App.TSX"), language_of("docker/Dockerfile.dev"), language_of("LICENSE")
        ('tsx', 'dockerfile', None)
    """
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    files, suffixes = _map_words("files"), _map_words("suffixes")
    if name in files:
        return files[name]
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return None
    # page.blade.php is not a PHP file.
    for end in (f"{stem.rpartition('.')[2]}.{suffix}", suffix):
        if end in suffixes:
            return suffixes[end]
    # Dockerfile.dev, Makefile.am, .env.local
    return files.get(stem) if stem in {"dockerfile", "makefile", ".env"} else None


def canonical_name(language: str) -> str:
    """Return the name that `language_of` uses for a language.

    Args:
        language: A name, or a suffix without its dot; case-insensitive.

    Example:
        >>> [canonical_name(name) for name in ("js", "Python", "C++", "golang", "klingon")]
        ['javascript', 'python', 'cpp', 'go', 'klingon']
    """
    name = language.strip().lower()
    if name in read_words("suffixes"):
        return name
    for table_name, table in read_tables().items():
        if name in table.get("other_names", "").split():
            return table_name
    return _map_words("suffixes").get(name, name)


def suffix_of(language: str) -> str | None:
    """Return the usual suffix of a language.

    Args:
        language: A name returned by `language_of`.

    Returns:
        The suffix with its dot, in lower case; None if the language is unknown.

    Example:
        >>> suffix_of("python"), suffix_of("csharp"), suffix_of("klingon")
        ('.py', '.cs', None)
    """
    suffixes = read_words("suffixes").get(language)
    return f".{suffixes[0]}" if suffixes else None
