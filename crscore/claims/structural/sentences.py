"""The sentences about one topic: a few, the most informative first."""

from collections.abc import Iterator
from itertools import islice

from crscore.claims.structural.change import UnitChange
from crscore.claims.structural.consequences import find_consequences
from crscore.claims.structural.details import condition, details
from crscore.claims.structural.english import Statement, about, fits, listed, quoted
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.headline import informative_calls, label, mentioned_names, plain_line
from crscore.claims.structural.quoting import prose_of
from crscore.syntax.change import Version, words_of
from crscore.syntax.outline import Kind, Role
from crscore.text import split_identifier

MAX_CLAIMS = 4
"""Maximum claims about one topic."""
MAX_CLAIMS_OF_TEST = 2
"""Maximum claims about one changed test."""
MAX_IMPLICATIONS = 2
"""Maximum implications of one topic."""
FEW_WORDS = 3
"""A description with at most this many words besides the unit's name is not quoted."""
TINY = 4
"""Maximum lines of a new unit whose plain sentence is description enough."""
_TRIVIAL = frozenset({"true", "false", "none", "null", "nil", "self", "this", "0", "1", "err"})
_WHOLE = frozenset({"layout", "place", "away", "moved", "removed", "overload", "less"})
"""States that one sentence describes."""
_VERBS = {
    Role.CONDITION: "checks",
    Role.RAISE: "raises",
    Role.CATCH: "catches",
    Role.CALL: "calls",
    Role.RETURN: "returns",
}


def write_statements(change: UnitChange, old: Version, new: Version) -> list[Statement]:
    """Return the sentences about one topic, the most informative first.

    Args:
        change: The topic.
        old: The old version of its file.
        new: The new version.

    Returns:
        One to `MAX_CLAIMS` claims, and at most `MAX_IMPLICATIONS` implications.
    """
    consequences = find_consequences(Evidence(change, old, new))
    return [*_claims(change, old, new), *islice(consequences, MAX_IMPLICATIONS)]


def _claims(change: UnitChange, old: Version, new: Version) -> list[Statement]:
    summary = Statement(plain_line(change))
    if change.state in _WHOLE or change.noun == "tests":
        return [summary]
    if change.state == "new":
        first = [summary, *_described(change)]
        return [*first, *islice(_inside(change), (MAX_CLAIMS - len(first)) * (change.size > TINY))]
    limit = MAX_CLAIMS_OF_TEST if change.kind is Kind.TEST else MAX_CLAIMS
    statements = list(islice(details(Evidence(change, old, new)), limit))
    if not statements and change.state == "changed":
        return [summary if change.before else Statement(summary.text + mentioned_names(change))]
    if change.state not in {"changed", "comments"} or not statements:
        return [summary, *statements][:MAX_CLAIMS]
    # The first sentence about a topic names its file.
    text = statements[0].text.replace(label(change), label(change, full=True), 1)
    return [statements[0]._replace(text=text), *statements[1:]]


def _described(change: UnitChange) -> Iterator[Statement]:
    """Quote the comment above a new unit, or its docstring."""
    unit = change.unit
    if unit is None or not unit.name:
        return
    names = {unit.name.lower(), *split_identifier(unit.name)}
    for fact in change.new.facts:
        is_above = unit.start <= fact.line < unit.head
        # Python's docstring is a string below the name.
        is_inside = unit.head <= fact.line <= unit.end and fact.text.startswith(('"', "'"))
        if fact.role is Role.COMMENT and (is_above or is_inside):
            sentence = next(iter(prose_of(fact.text)), "")
            if len(set(words_of(sentence).lower().split()) - names) > FEW_WORDS:
                yield about([fact], f"{label(change)} is described as “{sentence}”")
                return


def _inside(change: UnitChange) -> Iterator[Statement]:
    """List the conditions, errors, calls and returned values of a new function."""
    if change.kind is not Kind.FUNCTION:  # the members of a type do these things
        return
    for role, verb in _VERBS.items():
        facts = [fact for fact in change.new.facts if fact.role is role]
        if role is Role.CALL:
            facts = informative_calls(facts)
        by_text = role in {Role.CONDITION, Role.RETURN}
        facts = [fact for fact in facts if fits(fact.text if by_text else fact.name)]
        if role is Role.RETURN:
            facts = [fact for fact in facts if fact.text.lower() not in _TRIVIAL]
        if not facts:
            continue
        if role is Role.CONDITION:
            listing = listed(list(dict.fromkeys(map(condition, facts))), 3)
        else:
            listing = quoted([fact.text if by_text else fact.name for fact in facts])
        yield about(facts, f"{label(change)} {verb} {listing}")
