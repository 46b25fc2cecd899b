"""The sentences about one topic: a few, the most informative first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from crscore.claims.structural.change import Change
from crscore.claims.structural.details import condition, details
from crscore.claims.structural.english import Statement, fits, lines_of, listed, quoted
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.headline import around, label, plain_line, telling_calls
from crscore.claims.structural.implications import implied
from crscore.claims.structural.pieces import prose_of
from crscore.claims.structural.sides import Version, spoken
from crscore.syntax.outline import Kind, Role
from crscore.text.words import split_identifier

MAX_CLAIMS = 4
"""Claims about one topic."""
MOST_OF_TEST = 2
"""Claims about one changed test."""
MOST_IMPLIED = 2
"""Implications of one topic."""
FEW_WORDS = 3
"""Words besides the name up to which a description says nothing that the name does not."""
TINY = 4
"""Lines of a new unit up to which its plain line says enough."""
_TRIVIAL = frozenset({"true", "false", "none", "null", "nil", "self", "this", "0", "1", "err"})
_WHOLE = frozenset({"layout", "place", "away", "moved", "removed", "overload", "less"})
"""States that are told by one line."""


def write_statements(change: Change, old: Version, new: Version) -> list[Statement]:
    """Return the sentences about one topic, the most informative first.

    Args:
        change: The topic.
        old: The old version of its file.
        new: The new version.

    Returns:
        At least one claim, at most `MOST` of them, and at most `MOST_IMPLIED` implications.
    """
    return [*_claims(change, old, new), *islice(implied(change, new), MOST_IMPLIED)]


def _claims(change: Change, old: Version, new: Version) -> list[Statement]:
    summary = Statement(plain_line(change))
    if change.state in _WHOLE:
        return [summary]
    if change.noun == "tests":
        return [summary]
    if change.state == "new":
        statements = [summary, *_described(change)]
        return [
            *statements,
            *islice(_inside(change), MAX_CLAIMS - len(statements) if change.size > TINY else 0),
        ]
    max_claims = MOST_OF_TEST if change.kind is Kind.TEST else MAX_CLAIMS
    statements = list(islice(details(Evidence(change, old, new)), max_claims))
    if not statements and change.state == "changed":
        return [summary if change.before else Statement(summary.text + around(change))]
    if change.state not in {"changed", "comments"} or not statements:
        return [summary, *statements][:MAX_CLAIMS]
    # The first sentence about a topic names its file.
    first = statements[0].text.replace(label(change), label(change, full=True), 1)
    return [statements[0]._replace(text=first), *statements[1:]]


def _described(change: Change) -> Iterator[Statement]:
    """Quote what the comment above a new unit, or its docstring, says."""
    unit = change.unit
    if unit is None or not unit.name:
        return
    names = {unit.name.lower(), *split_identifier(unit.name)}
    for fact in change.new.facts:
        above = unit.start <= fact.line < unit.head
        inside = unit.head <= fact.line <= unit.end and fact.text.startswith(('"', "'"))
        sentences = prose_of(fact.text) if fact.role is Role.COMMENT and (above or inside) else []
        if sentences and len(set(spoken(sentences[0]).lower().split()) - names) > FEW_WORDS:
            text = f"{label(change)} is described as “{sentences[0]}”"
            yield Statement(text, lines_of([fact], new=True))
            return


def _inside(change: Change) -> Iterator[Statement]:
    """Say what a new unit checks, raises, catches, calls and returns."""
    facts, subject = change.new.facts, label(change)
    if change.kind is not Kind.FUNCTION:  # what a member does its type does not do
        return
    calls = telling_calls(facts)
    for role, verb in _VERBS.items():
        facts_of_role = (
            calls if role is Role.CALL else [fact for fact in facts if fact.role is role]
        )
        by_text = role in {Role.CONDITION, Role.RETURN}
        facts_of_role = [
            fact for fact in facts_of_role if fits(fact.text if by_text else fact.name)
        ]
        if role is Role.RETURN:
            facts_of_role = [fact for fact in facts_of_role if fact.text.lower() not in _TRIVIAL]
        if not facts_of_role:
            continue
        if role is Role.CONDITION:
            listing = listed(list(dict.fromkeys(map(condition, facts_of_role))), 3)
        else:
            listing = quoted([fact.text if by_text else fact.name for fact in facts_of_role])
        yield Statement(f"{subject} {verb} {listing}", lines_of(facts_of_role, new=True))


_VERBS = {
    Role.CONDITION: "checks",
    Role.RAISE: "raises",
    Role.CATCH: "catches",
    Role.CALL: "calls",
    Role.RETURN: "returns",
}
