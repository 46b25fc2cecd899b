"""Consequences for errors: what fails now and did not before."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from crscore.claims.structural.consequences.base import Rule, is_function
from crscore.claims.structural.english import Statement, about, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.outline import Fact, Role

_FAILURE = re.compile(r"\b(?:fmt\.Errorf|errors\.New|status\.Errorf?)\(")


def _is_failure(fact: Fact) -> bool:
    is_raised = fact.role is Role.RAISE and re.search(r"(?:^|[.:\\])[A-Z]", fact.name)
    return bool(is_raised or (fact.role is Role.RETURN and _FAILURE.search(fact.text)))


def find_check(unit: Evidence) -> Iterator[Statement]:
    """Find a new condition under which a function fails."""
    control = (Role.CONDITION, Role.RAISE, Role.RETURN, Role.CATCH)
    facts = [f for f in unit.change.new.facts if f.role in control and is_function(unit)]
    added = {fact for role in control for fact in unit.added(role)}
    if any(_is_failure(fact) for role in control for fact in unit.removed(role)):
        return
    for check, error in pairwise(sorted(facts, key=lambda fact: fact.line)):
        is_clear = fits(check.text) and not re.fullmatch(r"!?\w+|.*\berr\b.*", check.text)
        is_next = {check, error} <= added and error.line - check.line <= 2 and _is_failure(error)
        if check.role is Role.CONDITION and is_clear and is_next and unit.is_new(check.text):
            verb = f"raises {quote(error.name)}" if error.name else "returns an error"
            text = f"the new check {quote(check.text)} in {quote(unit.change.short_name)} {verb}"
            yield about([check, error], f"{text}: can a call that used to succeed now fail?")


RULES: Final = (Rule("check", find_check),)
