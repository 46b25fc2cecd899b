"""Consequences for errors: what is kept silent, discarded or raised anew."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from crscore.claims.structural.consequences.base import Rule, is_function
from crscore.claims.structural.english import Statement, about, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.versions import Version, squeeze
from crscore.syntax.outline import Fact, Role

_EXPECTED = re.compile(r"Import|Module|StopIter|Keyboard|Cancel|Empty|Interrupt|NotFound|Timeout")
"""Errors that are a normal outcome, which code may well ignore."""
_LOG = re.compile(
    r"(?i)(?:[\w$]{1,40}(?:\.|->|::)){0,3}(?:\w{0,20}log(?:ger|ging)?|console|fmt|traceback)"
    r"(?:\.|->|::)(?!fatal|panic|fp|sp)\w{1,30}[(.]|(?:print\w{0,3}|puts|echo|SDL_Log\w{0,12})[( ]"
)
_DEFAULT = re.compile(r"return ?(None|null|nil|undefined|[Ff]alse|\"\"|''|\[\]|\{\}|0|-1)")
NOTHING = frozenset({"", "pass", "...", "continue", "return", "next"})
_QUIET = re.compile(r"_{0,2}(?i:is|has|should|can|try|validate|close|clean|stop|health)(?![a-z])")
"""Names of functions that answer whether something works, or end it: errors are normal there."""
_INLINE = re.compile(r"\{\s?([^{}]*)\}\s?$|except[^:]{0,80}:\s?(\w+)$")
_FAILURE = re.compile(r"\b(?:fmt\.Errorf|errors\.New|status\.Errorf?)\(")


def statements(version: Version, head: int) -> list[str]:
    """Return the first lines of the statements below a line; none where some are not known."""
    lines, end, body = version.lines, head + 1, list[str]()
    if inline := _INLINE.search(lines[head]):
        return [inline[1] or inline[2] or ""]
    indent = len(lines[head]) - len(lines[head].lstrip())
    while end in lines and (lines[end].strip() in "{" or lines[end][: indent + 1].isspace()):
        body += [lines[end]] if lines[end].strip() not in "{" else []
        end += 1
    low = min((len(text) - len(text.lstrip()) for text in body), default=0)
    starts = [text.strip().rstrip(";") for text in body if text[low : low + 1].strip(" \t)}]")]
    return (starts or [""]) if end in lines else []


def find_swallowed(unit: Evidence) -> Iterator[Statement]:
    """Find a new handler that hides the error from the callers."""
    name, lines, old = quote(unit.change.short_name), unit.new.lines, unit.old.all_squeezed
    checks = [fact for fact in unit.added(Role.CONDITION) if fact.text.endswith("err != nil")]
    catches = unit.added(Role.CATCH) if not unit.removed(Role.CATCH) else []
    facts = checks + [fact for fact in catches if not _EXPECTED.search(fact.name)]
    is_loud = is_function(unit, "new") and not _QUIET.match(unit.change.short_name)
    for fact in facts if is_loud else ():
        starts = statements(unit.new, fact.line) if fact.line in unit.change.added else []
        logs = [text for text in starts if _LOG.match(text)]
        rest = [text for text in starts if text not in NOTHING and text not in logs]
        code = [text for text in rest if not text.startswith(("//", "#", "/*", "*"))]
        # A handler that another unit of the file had is not new.
        whole = "".join(lines.get(line, "") for line in range(fact.line, fact.line + 3))
        called = re.search(r"\berr :?= ([\w.]+)\(", lines.get(fact.line - 1, "") + lines[fact.line])
        is_known = any(squeeze(text) in old for text in logs or [whole])
        if not starts or is_known or (fact in checks and not called):
            continue
        source = f"an error of {quote(called[1])}" if called and fact in checks else "any error"
        error = source if fact.name in {"", "any", "unknown", "..."} else quote(fact.name)
        if len(code) == 1 and (match := _DEFAULT.fullmatch(code[0])):
            value = f"{error} in {name} becomes {quote(match[1])}"
            yield about([fact], f"{value}: do its callers check for it?")
        elif logs and not code:
            yield about([fact], f"{name} only logs {error}: should its caller learn of it?")
        elif not rest:  # not even a comment that says why
            yield about([fact], f"{name} ignores {error}: would anyone notice the failure?")


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


RULES: Final = (
    Rule("swallowed", find_swallowed),
    Rule("check", find_check),
)
