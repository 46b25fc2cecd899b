"""Tables of the store with keys and hashes replaced by what they refer to.

A comment has its text, a score its signature, a row of a repository its name.
"""

from dataclasses import fields
from typing import Any, Final, NamedTuple

from crscore.audit.store import rows
from crscore.audit.store.database import Store

TABLES: Final = {
    row.TABLE: row
    for row in (
        rows.Repository, rows.Pull, rows.Revision, rows.Check, rows.Comment,
        rows.ThreadObservation, rows.CommentObservation, rows.Score, rows.CommentScore,
        rows.OpenPoint, rows.SignalRow, rows.SuggestionRow, rows.Followed, rows.LaterChange,
        rows.Mention, rows.Run,
    )
}  # fmt: skip
"""Exported tables, each with the class of its rows."""
# The same remainders as in `rows.comment_key`.
_KIND: Final = "CASE t.key % 4 WHEN 0 THEN 'line' WHEN 1 THEN 'review' ELSE 'conversation' END"
_REFERENCES: Final = {
    ("repository", "int"): "(SELECT name FROM repositories WHERE id = t.repository)",
    ("signature", "int"): "(SELECT text FROM signatures WHERE id = t.signature)",
    ("content", "bytes"): "hex(t.content)",
    ("body", "bytes"): "(SELECT unpack(text) FROM texts WHERE hash = t.body)",
    ("hunk", "bytes"): "(SELECT unpack(text) FROM texts WHERE hash = t.hunk)",
    ("message", "bytes"): "(SELECT unpack(text) FROM texts WHERE hash = t.message)",
}
"""SQL of the columns that refer to something, by name and type."""
_INTERNAL: Final = frozenset({("pulls", "node"), ("comments", "author_id")})


class Column(NamedTuple):
    """Column of an exported table."""

    name: str
    type: str
    """int, float or str."""
    sql: str


def columns(table: str) -> list[Column]:
    """Return the columns of an exported table."""
    result: list[Column] = []
    for field in fields(TABLES[table]):
        # Annotations are texts here: `int | None`.
        kind = str(field.type).removesuffix(" | None")
        if (table, field.name) == ("comments", "key"):
            result += [
                Column("comment", "int", "t.key"),
                Column("kind", "str", _KIND),
                Column("id", "int", "t.key / 4"),
            ]
        elif (field.name, kind) in _REFERENCES:
            result.append(Column(field.name, "str", _REFERENCES[field.name, kind]))
        elif (table, field.name) not in _INTERNAL:
            # A column called `name` beside a repository's name would be ambiguous.
            name = "check_name" if (table, field.name) == ("checks", "name") else field.name
            result.append(Column(name, kind, f"t.{field.name}"))
    return result


def read_table(store: Store, table: str) -> list[tuple[Any, ...]]:
    """Return the rows of an exported table, ordered by their keys.

    Raises:
        StoreError: The file cannot be read.
    """
    selected = ", ".join(column.sql for column in columns(table))
    order = ", ".join(f"t.{name}" for name in TABLES[table].KEY)
    return store.query(f"SELECT {selected} FROM {table} t ORDER BY {order}")
