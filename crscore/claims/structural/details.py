"""Sentences about what changed inside a unit that both versions have, a function for each kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from crscore.claims.structural.english import Told, at, fits, listed, quote, quoted
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
ALIKE = 0.6
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


def details(unit: Evidence) -> Iterator[Told]:
    """Yield what changed, the most telling first; each line is told once."""
    seen: set[tuple[bool, int]] = set()
    texts: set[str] = set()
    for writer in _WRITERS:
        for one in writer(unit):
            if one.text not in texts and not (one.lines and seen.issuperset(one.lines)):
                seen.update(one.lines)
                texts.add(one.text)
                yield one
    if unit.change.size <= SMALL or not texts:
        yield from _lines(unit, seen)


def condition(fact: Fact) -> str:
    """Return a condition, quoted; of an `unless` its contrary."""
    return f"that not {quote(fact.text)}" if fact.name == "unless" else quote(fact.text)


def _names(facts: Sequence[Fact]) -> str:
    return quoted([fact.name for fact in facts])


def _texts(facts: Sequence[Fact]) -> str:
    return quoted([fact.text for fact in facts], FEW)


def _overloads(unit: Evidence) -> Iterator[Told]:
    old, new = unit.change.old.units, unit.change.new.units
    if not len(new) > len(old) > 0 or unit.change.kind is not Kind.FUNCTION:
        return
    known = [one.parameters for one in old]
    for one in new:
        if one.parameters and one.parameters not in known:
            takes = quoted([item.name for item in one.parameters])
            yield Told(f"{unit.subject} has a new overload that takes {takes}", ((True, one.head),))


def _signature(unit: Evidence) -> Iterator[Told]:
    change = unit.change
    if len(change.old.units) != 1 or len(change.new.units) != 1 or change.kind not in DECLARED:
        return
    one, two = change.old.units[0], change.new.units[0]
    if not one.head or not two.head:  # git alone names it
        return
    lines = ((True, two.head),)
    texts = [*_parameters(unit.subject, one, two)]
    if change.language not in {"c", "cpp"}:  # there a prototype may say it, too
        texts += _modifiers(unit.subject, one, two)
    yield from (Told(text, lines) for text in texts)


def _parameters(subject: str, one: Unit, two: Unit) -> Iterator[str]:
    before = {item.name: item for item in one.parameters}
    after = {item.name for item in two.parameters}
    came = [item for item in two.parameters if item.name not in before]
    gone = quoted([name for name in before if name not in after])
    names = quoted([item.name for item in came])
    if came and gone:
        yield f"{subject} now takes {names} instead of {gone}"
    elif came:
        how = "optional " if all(item.optional for item in came) else ""
        yield f"{subject} takes the new {how}parameter{'s' * (len(came) > 1)} {names}"
    elif gone:
        yield f"{subject} no longer takes the parameter{'s' * (' and ' in gone)} {gone}"
    for item in two.parameters:
        if item.name in before:
            yield from _parameter(subject, before[item.name], item)


def _parameter(subject: str, was: Parameter, now: Parameter) -> Iterator[str]:
    name = quote(now.name)
    if was.default != now.default and fits(was.default, now.default):
        values = f"{quote(now.default)} instead of {quote(was.default)}"
        yield f"the default of {name} in {subject} is now {values}"
    if was.type != now.type and fits(was.type, now.type):
        types = f"{quote(now.type)} instead of {quote(was.type)}"
        yield f"the parameter {name} of {subject} now has the type {types}"


def _modifiers(subject: str, one: Unit, two: Unit) -> Iterator[str]:
    known = {item.name for unit in (one, two) for item in unit.parameters}
    left, right = Counter(one.head_tokens), Counter(two.head_tokens)
    more, less = (
        [token for token in tokens if token not in known and re.match(r"\w", token)]
        for tokens in (right - left, left - right)
    )
    if more and not less and len(more) < FEW:
        yield f"{subject} is now declared {quoted(more)}"
    elif less and not more and len(less) < FEW:
        yield f"{subject} is no longer declared {quoted(less)}"


def _raised(unit: Evidence) -> Iterator[Told]:
    yield from _exchanged(unit, Role.RAISE, "raises")
    for fact in unit.came(Role.RAISE):
        message = message_of(fact.text)
        if fact.name and message and unit.is_new(message):
            text = f"{unit.subject} raises {quote(fact.name)} with the new message “{message}”"
            yield Told(text, at([fact], new=True))


def _caught(unit: Evidence) -> Iterator[Told]:
    yield from _exchanged(unit, Role.CATCH, "catches")


def _exchanged(unit: Evidence, role: Role, verb: str) -> Iterator[Told]:
    came = [fact for fact in unit.came(role) if fact.name and unit.is_new(fact.name)]
    gone = [fact for fact in unit.gone(role) if fact.name and unit.is_gone(fact.name)]
    if came:
        instead = f" instead of {_names(gone)}" if gone else ""
        message = message_of(came[0].text) if role is Role.RAISE and len(came) == 1 else ""
        about = f" with the message “{message}”" if message and not gone else ""
        text = f"{unit.subject} now {verb} {_names(came)}{instead}{about}"
        yield Told(text, at(came, new=True))
    elif gone:
        yield Told(f"{unit.subject} no longer {verb} {_names(gone)}", at(gone, new=False))


def _conditions(unit: Evidence) -> Iterator[Told]:
    came = [fact for fact in unit.came(Role.CONDITION) if fits(fact.text)]
    gone = [fact for fact in unit.gone(Role.CONDITION) if fits(fact.text)]
    paired = pairs(gone, came, least=PARTLY if len(gone) == len(came) == 1 else ALIKE)
    for one, two in paired[:2]:
        text = f"the condition {condition(one)} in {unit.subject} is now {condition(two)}"
        yield Told(text, at([two], new=True))
    told = {id(fact) for pair in paired for fact in pair}
    for facts, new, verb in ((came, True, "now checks"), (gone, False, "no longer checks")):
        other = unit.is_new if new else unit.is_gone
        rest = [fact for fact in facts if id(fact) not in told and other(fact.text)]
        if not new:  # a part of it may live on in a new condition
            rest = [fact for fact in rest if not pairs([fact], came, least=PARTLY)]
        if rest:
            shown = listed(list(dict.fromkeys(condition(fact) for fact in rest)), FEW)
            yield Told(f"{unit.subject} {verb} {shown}", at(rest[:FEW], new=new))


def _returned(unit: Evidence) -> Iterator[Told]:
    if unit.change.kind is Kind.TYPE:  # a member returns it
        return
    came = [f for f in unit.came(Role.RETURN) if f.text and unit.is_new(f"return{f.text}")]
    gone = [f for f in unit.gone(Role.RETURN) if f.text and unit.is_gone(f"return{f.text}")]
    if len(came) == len(gone) == 1:
        exchanged = exchange(gone[0].text, came[0].text)
        whole = quote(came[0].text) in exchanged
        what = "now returns" if whole else "now returns a value with"
        if exchanged:
            yield Told(f"{unit.subject} {what} {exchanged}", at(came, new=True))
        return
    came, gone = ([f for f in each if fits(f.text)] for each in (came, gone))
    if came:
        yield Told(f"{unit.subject} now returns {_texts(came)}", at(came, new=True))
    elif gone:
        yield Told(f"{unit.subject} no longer returns {_texts(gone)}", at(gone, new=False))


def _arguments(unit: Evidence) -> Iterator[Told]:
    """Compare calls that both versions make with other arguments."""
    for was, now in _same_names(unit, Role.CALL):
        more, less = exchanged_items(was.text, now.text)
        told = [*more, *less]
        if not told or not fits(*told) or len("".join(told)) > MOST_PASSED:
            continue
        call = f"the call to {quote(now.name)} in {unit.subject}"
        text = ""
        if len(more) == len(less) == 1:
            exchanged = exchange(less[0], more[0])
            what = "" if quote(more[0]) in exchanged else "a value with "
            text = f"{call} now passes {what}{exchanged}"
        elif not less and len(more) <= FEW:
            text = f"{call} now also passes {quoted(more)}"
        elif not more and len(less) <= FEW:
            text = f"{call} no longer passes {quoted(less)}"
        if text:
            yield Told(text, at([now], new=True))


def _same_names(unit: Evidence, role: Role, *, inner: bool = False) -> Iterator[tuple[Fact, Fact]]:
    """Yield facts of one name that changed, where the name came and went exactly once."""
    gone, came = unit.gone(role), unit.came(role)
    gone, came = (innermost(gone), innermost(came)) if inner else (gone, came)
    before, after = (Counter(fact.name for fact in facts) for facts in (gone, came))
    former = {fact.name: fact for fact in gone}
    for fact in came:
        if before[fact.name] == after[fact.name] == 1:
            yield former[fact.name], fact


def _values(unit: Evidence) -> Iterator[Told]:
    told = 0
    for was, now in _same_names(unit, Role.ASSIGN, inner=True):
        exchanged = exchange(was.text, now.text) if was.text and now.text else ""
        if exchanged and fits(now.name) and told < MOST_VALUES:
            told += 1
            verb = "is now" if quote(now.text) in exchanged else "now has"
            text = f"{quote(now.name)} in {unit.subject} {verb} {exchanged}"
            yield Told(text, at([now], new=True))


_MANY: Final = 500
"""Names above which they are not looked for in the whole other version, one by one."""


def _bound(unit: Evidence) -> Iterator[Told]:
    """Tell the names that a function sets, or that a type or a file has."""
    came = unit.without(innermost(unit.came(Role.ASSIGN)), new=True)
    came = [one for one in came if fits(one.name) and (len(came) > _MANY or unit.is_new(one.name))]
    if unit.change.kind in {Kind.FUNCTION, Kind.TEST}:
        former = {fact.text for fact in unit.gone(Role.ASSIGN)}
        for (
            fact
        ) in came:  # a value that had another name, or a name that stood elsewhere, is no news
            known = fact.text in former or last_name(fact.name) in unit.old.words
            if fits(fact.text) and fact.name != fact.text and not known:
                text = f"{unit.subject} now sets {quote(fact.name)} to {quote(fact.text)}"
                yield Told(text, at([fact], new=True))
        return
    gone = unit.without(innermost(unit.gone(Role.ASSIGN)), new=False)
    gone = [one for one in gone if fits(one.name) and (len(gone) > _MANY or unit.is_gone(one.name))]
    for facts, new, verb in ((came, True, "now has"), (gone, False, "no longer has")):
        if facts:
            names = quoted([fact.name for fact in facts], 5)
            yield Told(f"{unit.subject} {verb} {names}", at(facts, new=new))


def _calls(unit: Evidence) -> Iterator[Told]:
    came = [f for f in unit.without(unit.came(Role.CALL), new=True) if fits(f.name)]
    gone = [f for f in unit.without(unit.gone(Role.CALL), new=False) if fits(f.name)]
    if came:
        instead = f" and no longer {_names(gone)}" if gone else ""
        yield Told(f"{unit.subject} now calls {_names(came)}{instead}", at(came[:4], new=True))
    elif gone:
        yield Told(f"{unit.subject} no longer calls {_names(gone)}", at(gone[:4], new=False))


def _more_calls(unit: Evidence) -> Iterator[Told]:
    """Tell calls of what was called before, too."""
    more, less = unit.came(Role.CALL), unit.gone(Role.CALL)
    names = Counter(fact.name for fact in more) - Counter(fact.name for fact in less)
    former = {last_name(fact.name) for fact in less}  # perhaps of another object
    for fact in more:
        if last_name(fact.name) in former:
            continue
        written = (f"{fact.name}({fact.text})", f"{fact.name} {fact.text}")
        if not names[fact.name] or is_dull(fact.name) or not all(map(unit.is_new, written)):
            continue
        given = f" with {quote(fact.text)}" if fact.text else ""
        if fits(fact.text or fact.name):
            text = f"{unit.subject} has a new call of {quote(fact.name)}{given}"
            yield Told(text, at([fact], new=True))


def _imports(unit: Evidence) -> Iterator[Told]:
    for facts, new, verb in (
        (unit.came(Role.IMPORT), True, "now imports"),
        (unit.gone(Role.IMPORT), False, "no longer imports"),
    ):
        modules: dict[str, list[Fact]] = {}
        for fact in facts:
            if fits(fact.name):
                modules.setdefault(fact.text, []).append(fact)
        said = [
            _names(each) + (f" from {quote(module)}" if module else "")
            for module, each in sorted(modules.items(), key=lambda item: not item[0])
        ]
        if said:
            yield Told(f"{unit.subject} {verb} {listed(said, FEW)}", at(facts, new=new))


def _strings(unit: Evidence) -> Iterator[Told]:
    came, gone = unit.came(Role.STRING), unit.gone(Role.STRING)
    paired = pairs(gone, came, least=ALIKE)
    told = {id(fact) for pair in paired for fact in pair}
    for facts, new, verb in ((came, True, "now has"), (gone, False, "no longer has")):
        other = unit.is_new if new else unit.is_gone
        single = [f for f in facts if id(f) not in told and len(f.text) > len('"ab"')]
        single = [f for f in single if fits(f.text) and other(f.text)]
        if single:
            word = "text" if len(single) == 1 else "texts"
            yield Told(f"{unit.subject} {verb} the {word} {_texts(single)}", at(single, new=new))
    for one, two in paired[:2]:
        proven = unit.is_gone(one.text) and unit.is_new(two.text)
        if proven and fits(one.text, two.text) and one.text != two.text:
            text = f"the text {quote(one.text)} in {unit.subject} is now {quote(two.text)}"
            yield Told(text, at([two], new=True))


def _comments(unit: Evidence) -> Iterator[Told]:
    for fact in unit.came(Role.COMMENT):
        for said in prose_of(fact.text):
            if spoken(said) not in unit.old.spoken:
                text = f"a comment in {unit.subject} now says “{said}”"
                yield Told(text, at([fact], new=True))
                return


def _lines(unit: Evidence, seen: set[tuple[bool, int]]) -> Iterator[Told]:
    """Tell the lines of a small change that no other sentence is about."""
    told = 0
    for gone, came in unit.blocks():
        for place, (line, text) in enumerate(came):
            if (True, line) in seen or not _is_statement(text) or not unit.is_new(text):
                continue
            was = gone[place][1] if len(gone) == len(came) else ""
            exchanged = exchange(was, text) if was and unit.is_gone(was) else ""
            whole = "the line " if not exchanged or quote(text) in exchanged else ""
            shown = exchanged or quote(text)
            told += 1
            if told > MOST_LINES:
                return
            yield Told(f"{unit.subject} now has {whole}{shown}", ((True, line),))
        for line, text in () if came else gone:
            if (False, line) not in seen and _is_statement(text) and unit.is_gone(text):
                lost = f"{unit.subject} no longer has the line {quote(text)}"
                yield Told(lost, ((False, line),))


def _is_statement(text: str) -> bool:
    """Return True for a line of code that can be quoted alone: whole, and more than a name."""
    words = len(_NAME.findall(text)) > 1
    return words and fits(text) and text[0] not in "#/*" and split_arguments(text) is not None


_WRITERS = (
    _overloads, _signature, _raised, _caught, _conditions, _returned, _arguments, _values, _bound,
    _calls, _more_calls, _imports, _strings, _comments,
)  # fmt: skip
