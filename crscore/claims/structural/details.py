"""Sentences about what changed inside a unit that both versions have, a function for each kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from crscore.claims.structural.english import Statement, fits, lines_of, listed, quote, quoted
from crscore.claims.structural.evidence import Evidence, last_name
from crscore.claims.structural.headline import is_dull
from crscore.claims.structural.implications import DECLARED
from crscore.claims.structural.pieces import (
    exchange,
    exchanged_items,
    innermost,
    message_of,
    pairs,
    prose_of,
    split_arguments,
)
from crscore.claims.structural.sides import spoken
from crscore.syntax.outline import Fact, Kind, Parameter, Role, Unit

SMALL = 12
"""Changed lines of a unit up to which lines that nothing else is said about are quoted."""
MIN_AGREEMENT = 0.6
"""Share of tokens in common, in [0, 1], from which one condition has become the other."""
PARTLY = 0.3
"""The same from which a part of it may live on in the other."""
MOST_PASSED = 160
"""Characters of the arguments that are told of one call."""
MOST_LINES = 2
"""Lines told of one unit."""
MOST_VALUES = 3
"""Changed values told of one unit."""
FEW = 3
"""Arguments told of one call, texts, conditions and values told in one sentence."""

_NAME = re.compile(r"[\w$]+")


def details(unit: Evidence) -> Iterator[Statement]:
    """Yield what changed, the most telling first; each line is told once."""
    reported_lines: set[tuple[bool, int]] = set()
    texts: set[str] = set()
    for writer in _WRITERS:
        for statement in writer(unit):
            if statement.text not in texts and not (
                statement.lines and reported_lines.issuperset(statement.lines)
            ):
                reported_lines.update(statement.lines)
                texts.add(statement.text)
                yield statement
    if unit.change.size <= SMALL or not texts:
        yield from _lines(unit, reported_lines)


def condition(fact: Fact) -> str:
    """Return a condition, quoted; of an `unless` its contrary."""
    return f"that not {quote(fact.text)}" if fact.name == "unless" else quote(fact.text)


def _names(facts: Sequence[Fact]) -> str:
    return quoted([fact.name for fact in facts])


def _texts(facts: Sequence[Fact]) -> str:
    return quoted([fact.text for fact in facts], FEW)


def _overloads(unit: Evidence) -> Iterator[Statement]:
    old, new = unit.change.old.units, unit.change.new.units
    if not len(new) > len(old) > 0 or unit.change.kind is not Kind.FUNCTION:
        return
    old_parameters = [overload.parameters for overload in old]
    for overload in new:
        if overload.parameters and overload.parameters not in old_parameters:
            names = quoted([item.name for item in overload.parameters])
            yield Statement(
                f"{unit.subject} has a new overload that takes {names}", ((True, overload.head),)
            )


def _signature(unit: Evidence) -> Iterator[Statement]:
    change = unit.change
    if len(change.old.units) != 1 or len(change.new.units) != 1 or change.kind not in DECLARED:
        return
    old, new = change.old.units[0], change.new.units[0]
    if not old.head or not new.head:  # git alone names it
        return
    lines = ((True, new.head),)
    texts = [*_parameters(unit.subject, old, new)]
    if change.language not in {"c", "cpp"}:  # there a prototype may say it, too
        texts += _modifiers(unit.subject, old, new)
    yield from (Statement(text, lines) for text in texts)


def _parameters(subject: str, old: Unit, new: Unit) -> Iterator[str]:
    before = {item.name: item for item in old.parameters}
    after = {item.name for item in new.parameters}
    added = [item for item in new.parameters if item.name not in before]
    removed = quoted([name for name in before if name not in after])
    names = quoted([item.name for item in added])
    if added and removed:
        yield f"{subject} now takes {names} instead of {removed}"
    elif added:
        qualifier = "optional " if all(item.optional for item in added) else ""
        yield f"{subject} takes the new {qualifier}parameter{'s' * (len(added) > 1)} {names}"
    elif removed:
        yield f"{subject} no longer takes the parameter{'s' * (' and ' in removed)} {removed}"
    for item in new.parameters:
        if item.name in before:
            yield from _parameter(subject, before[item.name], item)


def _parameter(subject: str, old: Parameter, new: Parameter) -> Iterator[str]:
    name = quote(new.name)
    if old.default != new.default and fits(old.default, new.default):
        values = f"{quote(new.default)} instead of {quote(old.default)}"
        yield f"the default of {name} in {subject} is now {values}"
    if old.type != new.type and fits(old.type, new.type):
        types = f"{quote(new.type)} instead of {quote(old.type)}"
        yield f"the parameter {name} of {subject} now has the type {types}"


def _modifiers(subject: str, old: Unit, new: Unit) -> Iterator[str]:
    parameter_names = {item.name for unit in (old, new) for item in unit.parameters}
    left, right = Counter(old.head_tokens), Counter(new.head_tokens)
    added, removed = (
        [token for token in tokens if token not in parameter_names and re.match(r"\w", token)]
        for tokens in (right - left, left - right)
    )
    if added and not removed and len(added) < FEW:
        yield f"{subject} is now declared {quoted(added)}"
    elif removed and not added and len(removed) < FEW:
        yield f"{subject} is no longer declared {quoted(removed)}"


def _raised(unit: Evidence) -> Iterator[Statement]:
    yield from _exchanged(unit, Role.RAISE, "raises")
    for fact in unit.added(Role.RAISE):
        message = message_of(fact.text)
        if fact.name and message and unit.is_new(message):
            text = f"{unit.subject} raises {quote(fact.name)} with the new message “{message}”"
            yield Statement(text, lines_of([fact], new=True))


def _caught(unit: Evidence) -> Iterator[Statement]:
    yield from _exchanged(unit, Role.CATCH, "catches")


def _exchanged(unit: Evidence, role: Role, verb: str) -> Iterator[Statement]:
    added = [fact for fact in unit.added(role) if fact.name and unit.is_new(fact.name)]
    removed = [fact for fact in unit.removed(role) if fact.name and unit.is_gone(fact.name)]
    if added:
        instead = f" instead of {_names(removed)}" if removed else ""
        message = message_of(added[0].text) if role is Role.RAISE and len(added) == 1 else ""
        about = f" with the message “{message}”" if message and not removed else ""
        text = f"{unit.subject} now {verb} {_names(added)}{instead}{about}"
        yield Statement(text, lines_of(added, new=True))
    elif removed:
        yield Statement(
            f"{unit.subject} no longer {verb} {_names(removed)}", lines_of(removed, new=False)
        )


def _conditions(unit: Evidence) -> Iterator[Statement]:
    added = [fact for fact in unit.added(Role.CONDITION) if fits(fact.text)]
    removed = [fact for fact in unit.removed(Role.CONDITION) if fits(fact.text)]
    paired = pairs(
        removed, added, min_agreement=PARTLY if len(removed) == len(added) == 1 else MIN_AGREEMENT
    )
    for old_fact, new_fact in paired[:2]:
        text = f"the condition {condition(old_fact)} in {unit.subject} is now {condition(new_fact)}"
        yield Statement(text, lines_of([new_fact], new=True))
    paired_ids = {id(fact) for pair in paired for fact in pair}
    for facts, new, verb in ((added, True, "now checks"), (removed, False, "no longer checks")):
        is_unique = unit.is_new if new else unit.is_gone
        unpaired = [fact for fact in facts if id(fact) not in paired_ids and is_unique(fact.text)]
        if not new:  # a part of it may live on in a new condition
            unpaired = [fact for fact in unpaired if not pairs([fact], added, min_agreement=PARTLY)]
        if unpaired:
            conditions = listed(list(dict.fromkeys(condition(fact) for fact in unpaired)), FEW)
            yield Statement(
                f"{unit.subject} {verb} {conditions}", lines_of(unpaired[:FEW], new=new)
            )


def _returned(unit: Evidence) -> Iterator[Statement]:
    if unit.change.kind is Kind.TYPE:  # a member returns it
        return
    added = [f for f in unit.added(Role.RETURN) if f.text and unit.is_new(f"return{f.text}")]
    removed = [f for f in unit.removed(Role.RETURN) if f.text and unit.is_gone(f"return{f.text}")]
    if len(added) == len(removed) == 1:
        exchanged = exchange(removed[0].text, added[0].text)
        whole = quote(added[0].text) in exchanged
        verb = "now returns" if whole else "now returns a value with"
        if exchanged:
            yield Statement(f"{unit.subject} {verb} {exchanged}", lines_of(added, new=True))
        return
    added, removed = ([f for f in facts if fits(f.text)] for facts in (added, removed))
    if added:
        yield Statement(f"{unit.subject} now returns {_texts(added)}", lines_of(added, new=True))
    elif removed:
        yield Statement(
            f"{unit.subject} no longer returns {_texts(removed)}", lines_of(removed, new=False)
        )


def _arguments(unit: Evidence) -> Iterator[Statement]:
    """Compare calls that both versions make with other arguments."""
    for old_call, new_call in _same_names(unit, Role.CALL):
        added, removed = exchanged_items(old_call.text, new_call.text)
        differing = [*added, *removed]
        if not differing or not fits(*differing) or len("".join(differing)) > MOST_PASSED:
            continue
        call = f"the call to {quote(new_call.name)} in {unit.subject}"
        text = ""
        if len(added) == len(removed) == 1:
            exchanged = exchange(removed[0], added[0])
            prefix = "" if quote(added[0]) in exchanged else "a value with "
            text = f"{call} now passes {prefix}{exchanged}"
        elif not removed and len(added) <= FEW:
            text = f"{call} now also passes {quoted(added)}"
        elif not added and len(removed) <= FEW:
            text = f"{call} no longer passes {quoted(removed)}"
        if text:
            yield Statement(text, lines_of([new_call], new=True))


def _same_names(unit: Evidence, role: Role, *, inner: bool = False) -> Iterator[tuple[Fact, Fact]]:
    """Yield facts of one name that changed, where the name came and went exactly once."""
    removed, added = unit.removed(role), unit.added(role)
    removed, added = (innermost(removed), innermost(added)) if inner else (removed, added)
    before, after = (Counter(fact.name for fact in facts) for facts in (removed, added))
    former = {fact.name: fact for fact in removed}
    for fact in added:
        if before[fact.name] == after[fact.name] == 1:
            yield former[fact.name], fact


def _values(unit: Evidence) -> Iterator[Statement]:
    count = 0
    for old_fact, new_fact in _same_names(unit, Role.ASSIGN, inner=True):
        exchanged = (
            exchange(old_fact.text, new_fact.text) if old_fact.text and new_fact.text else ""
        )
        if exchanged and fits(new_fact.name) and count < MOST_VALUES:
            count += 1
            verb = "is now" if quote(new_fact.text) in exchanged else "now has"
            text = f"{quote(new_fact.name)} in {unit.subject} {verb} {exchanged}"
            yield Statement(text, lines_of([new_fact], new=True))


_MAX_LOOKED_UP: Final = 500
"""Names above which they are not looked for in the whole other version, one by one."""


def _bound(unit: Evidence) -> Iterator[Statement]:
    """Tell the names that a function sets, or that a type or a file has."""
    added = unit.without(innermost(unit.added(Role.ASSIGN)), new=True)
    added = [
        fact
        for fact in added
        if fits(fact.name) and (len(added) > _MAX_LOOKED_UP or unit.is_new(fact.name))
    ]
    if unit.change.kind in {Kind.FUNCTION, Kind.TEST}:
        former = {fact.text for fact in unit.removed(Role.ASSIGN)}
        for (
            fact
        ) in added:  # a value that had another name, or a name that stood elsewhere, is no news
            is_old_news = fact.text in former or last_name(fact.name) in unit.old.words
            if fits(fact.text) and fact.name != fact.text and not is_old_news:
                text = f"{unit.subject} now sets {quote(fact.name)} to {quote(fact.text)}"
                yield Statement(text, lines_of([fact], new=True))
        return
    removed = unit.without(innermost(unit.removed(Role.ASSIGN)), new=False)
    removed = [
        fact
        for fact in removed
        if fits(fact.name) and (len(removed) > _MAX_LOOKED_UP or unit.is_gone(fact.name))
    ]
    for facts, new, verb in ((added, True, "now has"), (removed, False, "no longer has")):
        if facts:
            names = quoted([fact.name for fact in facts], 5)
            yield Statement(f"{unit.subject} {verb} {names}", lines_of(facts, new=new))


def _calls(unit: Evidence) -> Iterator[Statement]:
    added = [f for f in unit.without(unit.added(Role.CALL), new=True) if fits(f.name)]
    removed = [f for f in unit.without(unit.removed(Role.CALL), new=False) if fits(f.name)]
    if added:
        instead = f" and no longer {_names(removed)}" if removed else ""
        yield Statement(
            f"{unit.subject} now calls {_names(added)}{instead}", lines_of(added[:4], new=True)
        )
    elif removed:
        yield Statement(
            f"{unit.subject} no longer calls {_names(removed)}", lines_of(removed[:4], new=False)
        )


def _more_calls(unit: Evidence) -> Iterator[Statement]:
    """Tell calls of what was called before, too."""
    added, removed = unit.added(Role.CALL), unit.removed(Role.CALL)
    names = Counter(fact.name for fact in added) - Counter(fact.name for fact in removed)
    former = {last_name(fact.name) for fact in removed}  # perhaps of another object
    for fact in added:
        if last_name(fact.name) in former:
            continue
        written = (f"{fact.name}({fact.text})", f"{fact.name} {fact.text}")
        if not names[fact.name] or is_dull(fact.name) or not all(map(unit.is_new, written)):
            continue
        arguments = f" with {quote(fact.text)}" if fact.text else ""
        if fits(fact.text or fact.name):
            text = f"{unit.subject} has a new call of {quote(fact.name)}{arguments}"
            yield Statement(text, lines_of([fact], new=True))


def _imports(unit: Evidence) -> Iterator[Statement]:
    for facts, new, verb in (
        (unit.added(Role.IMPORT), True, "now imports"),
        (unit.removed(Role.IMPORT), False, "no longer imports"),
    ):
        modules: dict[str, list[Fact]] = {}
        for fact in facts:
            if fits(fact.name):
                modules.setdefault(fact.text, []).append(fact)
        phrases = [
            _names(names) + (f" from {quote(module)}" if module else "")
            for module, names in sorted(modules.items(), key=lambda item: not item[0])
        ]
        if phrases:
            yield Statement(
                f"{unit.subject} {verb} {listed(phrases, FEW)}", lines_of(facts, new=new)
            )


def _strings(unit: Evidence) -> Iterator[Statement]:
    added, removed = unit.added(Role.STRING), unit.removed(Role.STRING)
    paired = pairs(removed, added, min_agreement=MIN_AGREEMENT)
    paired_ids = {id(fact) for pair in paired for fact in pair}
    for facts, new, verb in ((added, True, "now has"), (removed, False, "no longer has")):
        is_unique = unit.is_new if new else unit.is_gone
        single = [f for f in facts if id(f) not in paired_ids and len(f.text) > len('"ab"')]
        single = [f for f in single if fits(f.text) and is_unique(f.text)]
        if single:
            word = "text" if len(single) == 1 else "texts"
            yield Statement(
                f"{unit.subject} {verb} the {word} {_texts(single)}", lines_of(single, new=new)
            )
    for old_fact, new_fact in paired[:2]:
        proven = unit.is_gone(old_fact.text) and unit.is_new(new_fact.text)
        if proven and fits(old_fact.text, new_fact.text) and old_fact.text != new_fact.text:
            text = (
                f"the text {quote(old_fact.text)} in {unit.subject} is now {quote(new_fact.text)}"
            )
            yield Statement(text, lines_of([new_fact], new=True))


def _comments(unit: Evidence) -> Iterator[Statement]:
    for fact in unit.added(Role.COMMENT):
        for sentence in prose_of(fact.text):
            if spoken(sentence) not in unit.old.spoken:
                text = f"a comment in {unit.subject} now says “{sentence}”"
                yield Statement(text, lines_of([fact], new=True))
                return


def _lines(unit: Evidence, reported_lines: set[tuple[bool, int]]) -> Iterator[Statement]:
    """Tell the lines of a small change that no other sentence is about."""
    count = 0
    for removed, added in unit.blocks():
        for index, (line, text) in enumerate(added):
            if (True, line) in reported_lines or not _is_statement(text) or not unit.is_new(text):
                continue
            old_text = removed[index][1] if len(removed) == len(added) else ""
            exchanged = exchange(old_text, text) if old_text and unit.is_gone(old_text) else ""
            whole = "the line " if not exchanged or quote(text) in exchanged else ""
            quotation = exchanged or quote(text)
            count += 1
            if count > MOST_LINES:
                return
            yield Statement(f"{unit.subject} now has {whole}{quotation}", ((True, line),))
        for line, text in () if added else removed:
            if (False, line) not in reported_lines and _is_statement(text) and unit.is_gone(text):
                sentence = f"{unit.subject} no longer has the line {quote(text)}"
                yield Statement(sentence, ((False, line),))


def _is_statement(text: str) -> bool:
    """Return True for a line of code that can be quoted alone: whole, and more than a name."""
    words = len(_NAME.findall(text)) > 1
    return words and fits(text) and text[0] not in "#/*" and split_arguments(text) is not None


_WRITERS = (
    _overloads, _signature, _raised, _caught, _conditions, _returned, _arguments, _values, _bound,
    _calls, _more_calls, _imports, _strings, _comments,
)  # fmt: skip
