"""Reader of the language tables: `<name>.toml`, one for each language with a grammar.

`others.toml` has the file names of languages without a grammar. The keys of a table, all optional
except `suffixes` and `grammar.package`, are:

- `like`: another language, whose `grammar`, `names` and `keywords` are used if this one has none.
- `suffixes` (the usual one first, without the dot), `files` (whole names) and `other_names`.
- `keywords`: reserved words, which CodeBLEU weighs more.
- `grammar`: node types by their meaning (`crscore.syntax.grammars.Language`).
- `names`: the roles of names by their position (`crscore.suggestions.sketch`).
- `shared`: node types that have the same meaning in every grammar that has them.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

WITHOUT_GRAMMAR: Final = "others"

Table = Mapping[str, Any]


@cache
def read_tables() -> Mapping[str, Table]:
    """Return the table of each language with a grammar, by name, including inherited keys.

    Grammars agree on field names (`name`, `parameters`, `condition`, `body`) more than on node
    types. So field names are in the code, and only node types are in the tables.
    """
    tables = {name: table for name, table in _files().items() if name != WITHOUT_GRAMMAR}
    return {name: _complete(table, tables) for name, table in tables.items()}


def _complete(table: Table, tables: Mapping[str, Table]) -> Table:
    if "like" not in table:
        return table
    base = _complete(tables[table["like"]], tables)
    inherited = {key: base[key] for key in ("names", "keywords") if key in base}
    return {**inherited, **table, "grammar": {**base["grammar"], **table["grammar"]}}


@cache
def _files() -> Mapping[str, Table]:
    paths = sorted(Path(__file__).parent.glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in paths}


@cache
def read_words(key: str) -> Mapping[str, tuple[str, ...]]:
    """Return the words under one key, `suffixes` or `files`, of each language.

    Languages without a grammar are included.
    """
    words = {name: table[key] for name, table in read_tables().items() if key in table}
    return {
        name: tuple(text.split())
        for name, text in {**words, **_files()[WITHOUT_GRAMMAR][key]}.items()
    }


@cache
def node_types(meaning: str) -> frozenset[str]:
    """Return the node types with one meaning in all grammars, from `shared`."""
    tables = (table.get("shared", {}) for table in read_tables().values())
    return frozenset(word for table in tables for word in table.get(meaning, "").split())
