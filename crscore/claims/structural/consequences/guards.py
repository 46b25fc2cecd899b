"""Consequences for conditions: the cases that they take, and the code that they guard."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, about, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.quoting import split_arguments
from crscore.claims.structural.versions import squeeze
from crscore.syntax.outline import Fact, Role

MAX_CONDITIONS: Final = 40
"""Maximum conditions of a unit that are compared with its lines."""
_JOIN: Final = re.compile(r"(&&|\|\||\band\b|\bor\b)")
_BRACKETS: Final = re.compile(r"[\s()]+")
_NEGATED: Final = re.compile(r"(?:!|\bnot) ?\([^()]*$")
_NAME: Final = re.compile(r"(?<![\w$])(?!(?:not|is|in|null|nil|None|[Tt]rue)\b)[A-Za-z_$][\w$]*")
_DULL: Final = re.compile(r"(?i)[\w.$>-]*(?:log|print|console)|[/#*]|.{0,7}$")
_TEXTS: Final = {
    ("and", False): "{} no longer narrows the condition {} in {}: does its code work without that?",
    ("and", True): "{} now narrows the condition {} in {}: what happens when it does not hold?",
    ("or", False): "{} is no longer a case of the condition {} in {}: where is it handled now?",
    ("or", True): "{} is a new case of the condition {} in {}: does all of the branch suit it?",
    ("if", False): "{} in {} no longer runs only {} {}: does it work otherwise?",
    ("if", True): "{} in {} now runs only {} {}: is it right to skip it otherwise?",
}


def _conditions(unit: Evidence, *, new: bool) -> list[Fact]:
    facts = (unit.added if new else unit.removed)(Role.CONDITION)
    return [fact for fact in facts if fits(fact.text)]


def _names(text: str) -> set[str]:
    return set(_NAME.findall(text))


def _extra(short: str, long: str) -> tuple[str, str]:
    """Return the join and the text of the only part that `long` has besides `short`."""
    pieces, skeleton = _JOIN.split(long), _BRACKETS.sub("", short)
    for index, join in ((n, n + step) for n in range(0, len(pieces), 2) for step in (-1, 1)):
        rest = "".join(piece for n, piece in enumerate(pieces) if n not in {index, join})
        if 0 < join < len(pieces) and _BRACKETS.sub("", rest) == skeleton:
            part = pieces[index].strip()
            # The part may open or close brackets around others.
            surplus = part.count("(") - part.count(")")
            part = part[max(surplus, 0) : len(part) + min(surplus, 0)]
            if split_arguments(part) is not None and not _NEGATED.search("".join(pieces[:index])):
                return pieces[join].replace("&&", "and").replace("||", "or"), part
    return "", ""


def find_cases(unit: Evidence) -> Iterator[Statement]:
    """Find a part that a condition no longer has, or has now."""
    for old, new in unit.edited(_conditions(unit, new=False), _conditions(unit, new=True)):
        is_added = len(new.text) > len(old.text)
        # The longer condition is the one with the part.
        versions = ((old, unit.old), (new, unit.new))
        (short, without), (long, having) = versions if is_added else versions[::-1]
        join, part = _extra(short.text, long.text)
        # What other lines check in the other version has only moved.
        names = _names(part) - _names(short.text)
        changed = " ".join(without.lines[line] for line in without.changed)
        is_moved = names and names <= _names(changed)
        is_proven = (unit.is_new if is_added else unit.is_gone)(long.text) and not is_moved
        if is_proven and _names(part) & unit.new.words:
            line = next((line for line in having.changed if line >= long.line), long.line)
            text = _TEXTS[join, is_added].format(quote(part), quote(short.text), unit.subject)
            yield Statement(text, ((is_added, line),))


def find_guarded(unit: Evidence) -> Iterator[Statement]:
    """Find code that a former condition no longer guards, or that a new one guards."""
    earlier_by_side = {
        is_added: [_names(item.text) for item in part.facts if item.role is Role.CONDITION]
        for is_added, part in ((True, unit.change.old), (False, unit.change.new))
    }
    facts = [(new, fact) for new in (False, True) for fact in _conditions(unit, new=new)]
    for is_added, fact in facts[:MAX_CONDITIONS]:
        block = (unit.new if is_added else unit.old).blocks.get(fact.line)
        earlier = earlier_by_side[is_added]
        if block is None or any(_names(fact.text) <= names for names in earlier):
            continue
        own_lines, other_lines = (block.added, block.removed)[:: 1 if is_added else -1]
        texts, moved = [text for _, text in own_lines], {text for _, text in other_lines if text}
        code = squeeze("".join(text for line, text in own_lines if line >= fact.line))
        after = code.partition(squeeze(fact.text))[2].lstrip("){:")
        bodies = [t for t in moved if texts.count(t) == 1 and after.startswith(squeeze(t))]
        body = max(bodies, key=len, default="").removesuffix("{").strip()
        is_other = "while" in code[:8] or (is_added and "else" in _names(" ".join(texts)))
        if moved <= {*texts} and not is_other and not _DULL.match(body):
            body = quote(body if split_arguments(body) is not None else body + "…")
            values = (body, unit.subject, fact.name or "when", quote(fact.text))
            yield about([fact], _TEXTS["if", is_added].format(*values), new=is_added)


RULES: Final = (Rule("case", find_cases), Rule("guard", find_guarded))
