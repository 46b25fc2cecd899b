"""Consequences of a change that a reviewer should ask about, each proven by both versions.

A rule is kept only if readers found it useful in at least 7 of 10 cases: docs/design/003.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from crscore.claims.structural.constants import find_key, find_quantity
from crscore.claims.structural.english import Statement, about, fits
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.quoting import split_arguments
from crscore.claims.structural.roles import is_shipped
from crscore.syntax.change import squeeze
from crscore.syntax.outline import Fact, Kind, Role
from crscore.text import find_code_spans, quote

MAX_LINE_CHARS: Final = 300
"""Maximum characters of a changed line; some patterns take quadratic time."""
MAX_LINES: Final = 1000
"""Maximum changed lines of a file; in a rewritten file, single lines have no consequences."""
MAX_CONDITIONS: Final = 40
"""Maximum conditions of a unit that are compared with its lines."""
_NAME: Final = re.compile(r"[\w$]+")
_VARIABLE: Final = re.compile(
    r"(?<![\w$])(?!(?:not|is|in|null|nil|None|[Tt]rue)\b)[A-Za-z_$][\w$]*"
)
# Log messages, comments, and lines that are too short to matter.
_DULL: Final = re.compile(r"(?i)[\w.$>-]*(?:log|print|console)|[/#*]|.{0,7}$")
# Reads of an environment variable that may not be set.
_ENVIRONMENT: Final = re.compile(
    r"(?:os\.environ(?:\.get)?[\[(]|os\.getenv\(|os\.Getenv\(|process\.env(?:\.|\[)"
    r"|System\.getenv\(|\bENV(?:\.fetch)?[\[(]|\bgetenv\(|Environment\.GetEnvironmentVariable\()"
    r"[\"']?((?!GITHUB_|CI\b|HOME\b|PATH\b|LOCALAPPDATA|DEBUG\b|NODE_ENV|USER\b)[A-Z][A-Z0-9_]{2,})"
)
# `OPEN = "open"`, `Open,`, `case Open`, `Open(1)`
_MEMBER: Final = re.compile(r"(?:case )?([A-Z]\w*)\s*+(?:,|=|\(|;|$)")
# Enumerations whose members are only names.
_NAMES: Final = re.compile(r"(?:Keys?|Names?|Actions?|Events?|Routes?)$")
# `@pytest.mark.skip`, `@Disabled`, `[Ignore]`, `t.Skip(`, `it.skip(`, `xit(`
_SKIP: Final = re.compile(
    r"(?i)^@(?:[a-z]+\.){0,3}(?:skip|xfail|disabled|ignore)\b|^\[(?:Ignore|Explicit)\b"
    r"|^(?:t\.Skip\w*|pytest\.skip|self\.skipTest|(?:\$this->|self::)markTestSkipped)\("
    r"|\b(?:it|test|describe)\.(?:skip|todo|fixme)\(|\bx(?:it|describe|test)\(|->(?:skip|todo)\("
)
# After such a line, a test is skipped on some machines only.
_BRANCH: Final = re.compile(r"(?i)\b(?:if|else|except|catch|case)\b")


def find_consequences(unit: Evidence) -> Iterator[Statement]:
    """Yield the consequences of the change of one unit, at most one per rule.

    A consequence is left out if earlier ones quote all of its names. A unit with a very long line,
    or in a file with very many changed lines, has no consequences.
    """
    versions = ((unit.new, unit.change.added), (unit.old, unit.change.removed))
    size = sum(len(version.changed) for version, _ in versions)
    lines = (version.lines[line] for version, numbers in versions for line in numbers)
    if size > MAX_LINES or any(len(text) > MAX_LINE_CHARS for text in lines):
        return
    quoted: set[str] = set()
    for kind, find in (RULES if is_shipped(unit.change) else TEST_RULES).items():
        if statement := next(find(unit), None):
            spans = " ".join(find_code_spans(statement.text))
            names = set(_NAME.findall(spans)) - {unit.change.short_name}
            if not quoted or not names <= quoted:
                yield statement._replace(implies=True, kind=kind)
            quoted |= names


def find_guarded(unit: Evidence) -> Iterator[Statement]:
    """Find code that lost the condition that guarded it, or got a new one."""
    earlier_by_side = {
        True: _variables_of_conditions(unit.change.old.facts),
        False: _variables_of_conditions(unit.change.new.facts),
    }
    conditions = [(False, fact) for fact in unit.removed(Role.CONDITION) if fits(fact.text)]
    conditions += [(True, fact) for fact in unit.added(Role.CONDITION) if fits(fact.text)]
    for is_added, fact in conditions[:MAX_CONDITIONS]:
        block = (unit.new if is_added else unit.old).blocks.get(fact.line)
        variables = _variables(fact.text)
        if block is None or any(variables <= earlier for earlier in earlier_by_side[is_added]):
            continue
        own_lines, other_lines = (block.added, block.removed)[:: 1 if is_added else -1]
        texts, moved = [text for _, text in own_lines], {text for _, text in other_lines if text}
        code = squeeze("".join(text for line, text in own_lines if line >= fact.line))
        after = code.partition(squeeze(fact.text))[2].lstrip("){:")
        bodies = [t for t in moved if texts.count(t) == 1 and after.startswith(squeeze(t))]
        body = max(bodies, key=len, default="").removesuffix("{").strip()
        is_other = "while" in code[:8] or (is_added and "else" in _variables(" ".join(texts)))
        if moved <= {*texts} and not is_other and not _DULL.match(body):
            body = quote(body if split_arguments(body) is not None else body + "…")
            verb = "now runs only" if is_added else "no longer runs only"
            question = (
                "is it right to skip it otherwise?" if is_added else "does it work otherwise?"
            )
            guard = f"{fact.name or 'when'} {quote(fact.text)}"
            text = f"{body} in {unit.subject} {verb} {guard}: {question}"
            yield about([fact], text, new=is_added)


def _variables_of_conditions(facts: list[Fact]) -> list[set[str]]:
    return [_variables(fact.text) for fact in facts if fact.role is Role.CONDITION]


def _variables(text: str) -> set[str]:
    return set(_VARIABLE.findall(text))


def find_environment(unit: Evidence) -> Iterator[Statement]:
    """Find an environment variable that was not read before."""
    states = {"changed", "comments", "new", "overload", "replaced"}
    if unit.change.state not in states or not unit.change.language:
        return
    removed = [unit.old.lines[line] for line in unit.change.removed]
    for line in unit.change.added:
        match = _ENVIRONMENT.search(unit.new.lines[line].strip())
        if match is None or any(map(_ENVIRONMENT.search, removed)):
            continue
        if squeeze(match[1]) not in unit.old.all_squeezed and fits(match[1]):
            question = "what happens where it is not set?"
            event = "is an environment variable that was not read before"
            yield Statement(
                f"{quote(match[1])} in {unit.subject} {event}: {question}", ((True, line),)
            )


def find_member(unit: Evidence) -> Iterator[Statement]:
    """Find a new member of an enumeration."""
    change, name = unit.change, unit.change.short_name
    words = change.unit.head_tokens if change.unit else ()
    is_enum = any(word.lower().endswith("enum") for word in (change.noun, *words))
    is_renamed = any(_MEMBER.match(text) for lines, _ in unit.blocks() for _, text in lines)
    if not is_enum or is_renamed or change.state != "changed" or _NAMES.search(name):
        return
    for line, code in [row for _, added in unit.blocks() for row in added]:
        member = _MEMBER.match(code)
        if member and member[1] != name and member[1] not in unit.old.words:
            question = "does every `switch` and table over it handle that?"
            text = f"{quote(name)} has the new member {quote(member[1])}: {question}"
            yield Statement(text, ((True, line),))


def find_skipped(unit: Evidence) -> Iterator[Statement]:
    """Find a test that no longer runs."""
    if unit.change.kind is not Kind.TEST or unit.change.state != "changed":
        return
    for block in dict.fromkeys(unit.new.blocks[line] for line in unit.change.added):
        was_skipped = any(_SKIP.search(text) for _, text in block.removed)
        for line, text in () if was_skipped else block.added:
            if _SKIP.search(text) and not _BRANCH.search(unit.new.lines.get(line - 1, "")):
                question = "what has to happen before it runs again?"
                yield Statement(f"{unit.subject} is now skipped: {question}", ((True, line),))


Rule = Callable[[Evidence], Iterator[Statement]]
TEST_RULES: Final[dict[str, Rule]] = {"skipped": find_skipped}
RULES: Final[dict[str, Rule]] = {
    "guard": find_guarded,
    "environment": find_environment,
    "quantity": find_quantity,
    "key": find_key,
    "member": find_member,
    **TEST_RULES,
}
"""Rules in order of precedence, by the name under which `ranking.toml` has their weights."""
