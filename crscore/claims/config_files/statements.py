"""Descriptions of SQL statements."""

from __future__ import annotations

import re
from typing import Final

from crscore.claims.config_files.words import code

_NAME: Final = r"([\w.\"`\[\]]+)"
_IF: Final = r"(?:if\s+(?:not\s+)?exists\s+)?"
# Each is tried at the beginning of a statement with its white space folded
_PHRASES: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), phrase)
    for pattern, phrase in (
        (
            rf"alter table {_IF}{_NAME} add (?:constraint|primary|foreign|unique|check)\b ?(\w*)",
            "adds the constraint {1} to the table {0}",
        ),
        (rf"alter table {_IF}{_NAME} add (?:column )?{_IF}{_NAME}", "adds the column {1} to {0}"),
        (
            rf"alter table {_IF}{_NAME} drop constraint {_IF}{_NAME}",
            "drops the constraint {1} of the table {0}",
        ),
        (rf"alter table {_IF}{_NAME} drop (?:column )?{_IF}{_NAME}", "drops the column {1} of {0}"),
        (
            rf"alter table {_IF}{_NAME} rename (?:column )?{_NAME} to {_NAME}",
            "renames the column {1} of the table {0} to {2}",
        ),
        (rf"alter table {_IF}{_NAME} rename to {_NAME}", "renames the table {0} to {1}"),
        (
            rf"alter table {_IF}{_NAME} (?:alter|modify|change) (?:column )?{_NAME}",
            "changes the column {1} of the table {0}",
        ),
        (rf"alter table {_IF}{_NAME}", "alters the table {0}"),
        (
            rf"create (?:unique )?index (?:concurrently )?{_IF}{_NAME} on {_NAME}",
            "creates the index {0} on {1}",
        ),
        (rf"create (?:or replace )?(?:\w+ ){{0,2}}?view {_IF}{_NAME}", "creates the view {0}"),
        (
            rf"create (?:or replace )?(?:function|procedure|trigger) {_IF}{_NAME}",
            "creates the routine {0}",
        ),
        (rf"drop (?:\w+ )?table {_IF}{_NAME}", "drops the table {0}"),
        (rf"drop (?:\w+ )?\w+ {_IF}{_NAME}", "drops {0}"),
        (rf"truncate (?:table )?{_NAME}", "empties the table {0}"),
        ("insert into " + _NAME, "inserts rows into {0}"),
        ("update " + _NAME + " set " + _NAME, "updates {1} in {0}"),  # noqa: S608  (a pattern)
        ("delete from " + _NAME, "deletes rows from {0}"),  # noqa: S608  (a pattern)
        (rf"grant ([\w, ]+?) on {_NAME}", "grants {0} on {1}"),
    )
)
_FROM: Final = re.compile(rf"\bfrom {_NAME}", re.IGNORECASE)


# Where a statement is cut: at commas and before the words that begin a clause
_CUTS: Final = re.compile(
    r",|\b(?=(?:from|(?:left|right|inner|outer|cross|full) join|(?<!left )(?<!right )(?<!inner )"
    r"(?<!outer )(?<!cross )(?<!full )join|where|and|or|order by|group by|having|limit|set|values|"
    r"returning|on conflict)\b)",
    re.IGNORECASE,
)


def parts_changed(old: str, new: str) -> tuple[list[str], list[str]]:
    """Compare two statements clause by clause.

    Args:
        old: SQL before, its white space folded.
        new: SQL after, its white space folded.

    Returns:
        The clauses that are gone and those that are new.

    Example:
        >>> parts_changed("SELECT a FROM t", "SELECT a, b FROM t WHERE c = 1")
        ([], ['b', 'WHERE c = 1'])
    """
    before, after = (
        [part.strip() for part in _CUTS.split(text) if part.strip()] for text in (old, new)
    )
    known, kept = set(before), set(after)
    return (
        [part for part in before if part not in kept],
        [part for part in after if part not in known],
    )


def phrase_of(statement: str) -> str:
    """Describe the effect of a statement.

    Args:
        statement: SQL with its white space folded.

    Returns:
        A verb in the third person and its object.

    Example:
        >>> phrase_of("ALTER TABLE users ADD COLUMN email text")
        'adds the column `email` to `users`'
    """
    for pattern, phrase in _PHRASES:
        if match := pattern.match(statement):
            return phrase.format(*(code(name.strip('"[]`')) for name in match.groups()))
    if statement[:6].lower() in {"select", "with a"} and (source := _FROM.search(statement)):
        return f"selects from {code(source[1])}"
    return f"runs {code(statement, 70)}"
