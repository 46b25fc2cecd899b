"""Values: what calls get, functions take, conditions ask and names are said to be."""

import re
from typing import Final

from crscore.claims.structural.english import quote, quoted
from crscore.records import Receipt
from crscore.syntax.outline import Kind, Role
from crscore.verdicts.checks.base import Ground, confirm, pattern, refute
from crscore.verdicts.checks.readings import pieces_of, readings, says_more, texts_of
from crscore.verdicts.code import Place, tokens_of
from crscore.verdicts.statements import Phrase, Piece

MIN_TOKENS: Final = 3
"""Tokens from which a piece of code says more than a name: `a.b` has three."""
_LITERAL: Final = re.compile(r"-?\d+(?:\.\d+)?|true|false|True|False|\"\w*\"|'\w*'")
_HANDS: Final = pattern(
    r"\b(?:hands?|pass(?:es)?|feeds?|gives?|forwards?|sends?|supplies)(?: [a-z]+){0,3} "
    r"(?P<argument>§)(?: [a-z]+){0,6}? (?:in)?to (?:the )?(?P<callee>§)"
    r"|(?P<callee2>§) (?:is called with|gets|is given|is fed|is passed|receives)(?: [a-z]+){0,2} "
    r"(?P<argument2>§)|\bcalls? (?P<callee3>§) with(?: [a-z]+){0,2} (?P<argument3>§)"
    r"|(?P<callee4>§) calls? with(?: [a-z]+){0,3} (?P<argument4>§)"
)
_PARAMETER: Final = pattern(
    r"(?P<unit>§) (?:now |also |already |only )?(?:accepts|takes|has|gets|receives|expects"
    r"|declares)(?: (?:a|an|the|its|optional|keyword|new|only|boolean|extra))* (?P<name>§)"
    r" (?:argument|param(?:eter)?|option|kwarg|flag)"
)
_CONDITION: Final = pattern(
    r"\b(?P<new>new |added )?(?:condition|branch|check|guard|gate|test)(?: (?P<now>now))? "
    r"(?:asks|reads|tests|checks|uses|evaluates|looks at|compares)(?: [a-z]+)? (?P<piece>§)"
)
_VALUE: Final = pattern(
    r"(?P<name>§)(?: [a-z]+){0,3}? (?:is|equals|defaults? to|is set to"
    r"|is initiali[sz]ed (?:to|with)|has a default of|has the value)"
    r"(?: (?:a|the|now|just|only))* (?P<value>§|-?\d+(?:\.\d+)?)"
    r"(?: by default)?\W*$"
)


def check_handed(phrase: Phrase, ground: Ground) -> Receipt | None:
    """An argument that a call is said to get."""
    for reading in readings(_HANDS, phrase, "argument", "callee"):
        argument, callee = reading["argument"], reading["callee"]
        says = f"{quote(callee.code)} gets {quote(argument.code)}"
        calls = _calls(callee, reading.clause, phrase, ground)
        needle = " ".join(tokens_of(argument.code))
        getting = [place for place, text in calls if needle in " ".join(tokens_of(text))]
        if getting and not says_more(ground):
            return confirm(says, f"{says}.", getting)
        if calls and not any(argument.last.lower() in text.lower() for _, text in calls):
            fact = f"{quote(callee.code)} gets {quote(calls[0][1])}."
            return refute(says, fact, [place for place, _ in calls])
    return None


def _calls(callee: Piece, clause: str, phrase: Phrase, ground: Ground) -> list[tuple[Place, str]]:
    """Return the calls of a function, in the named unit if one is named, with what they get."""
    units = [
        region
        for piece in pieces_of(clause, phrase)
        if piece is not callee
        for region in ground.code.regions_named(piece.last)
    ]
    return [
        (Place(text, fact.line), fact.text)
        for text in texts_of(phrase, ground)
        for fact in text.facts()
        if fact.role is Role.CALL and f".{fact.name}".endswith(f".{callee.code}")
        if not units or any(u.text is text and u.start <= fact.line <= u.end for u in units)
    ]


def check_parameter(phrase: Phrase, ground: Ground) -> Receipt | None:
    """A parameter that a function is said to have."""
    for reading in readings(_PARAMETER, phrase, "unit", "name"):
        name = reading["name"].last
        regions = ground.code.regions_named(reading["unit"].last)
        heads = [r.unit for r in regions if r.unit and r.unit.kind is Kind.FUNCTION]
        if not heads or len(heads) < len(regions):
            continue
        says = f"{quote(heads[0].name)} has a parameter {quote(name)}"
        names = [parameter.name for head in heads for parameter in head.parameters]
        place = Place(regions[0].text, heads[0].head)
        if name in names:
            return None if says_more(ground) else confirm(says, f"{says}.", [place])
        if not any(re.search(rf"\W|{re.escape(name)}", each) for each in names):
            fact = f"{quote(heads[0].name)} has the parameters {quoted(names) or 'of none'}."
            return refute(says, fact, [place])
    return None


def check_condition(phrase: Phrase, ground: Ground) -> Receipt | None:
    """Code that a condition is said to ask for."""
    for reading in readings(_CONDITION, phrase, "piece"):
        code = reading["piece"].code
        is_new = reading.match["new"] or reading.match["now"]
        conditions = {
            Place(text, fact.line): fact.text
            for text in texts_of(phrase, ground)
            for fact in text.facts()
            if fact.role is Role.CONDITION and (fact.line in text.changed or not is_new)
        }
        asking = [place for place, text in conditions.items() if code in text]
        says = f"a condition asks for {quote(code)}"
        if asking and len(tokens_of(code)) >= MIN_TOKENS and not says_more(ground):
            return confirm(says, f"{says}.", asking)
        if conditions and is_new and not asking:
            fact = f"The new conditions are {quoted(list(conditions.values()))}."
            return refute(says, fact, conditions)
    return None


def check_value(phrase: Phrase, ground: Ground) -> Receipt | None:
    """The value that a name is said to have, or a parameter by default."""
    for reading in readings(_VALUE, phrase, "name"):
        name = reading["name"].last
        value = reading["value"].code if "value" in reading else reading.match["value"]
        values = {
            Place(text, line): known
            for text in texts_of(phrase, ground)
            for line, known in text.values(name)
        }
        equal = [place for place, known in values.items() if known == value]
        says = f"{quote(name)} is {quote(value)}"
        if equal and len(equal) == len(values) and not says_more(ground):
            return confirm(says, f"{says}.", equal)
        if values and not equal and all(map(_LITERAL.fullmatch, [value, *values.values()])):
            return refute(says, f"{quote(name)} is {quoted(list(values.values()))}.", values)
    return None


CHECKS: Final = (check_handed, check_parameter, check_condition, check_value)
