"""Consequences of other ways through a function: what it skips, does first, or does elsewhere."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule, is_function
from crscore.claims.structural.consequences.removals import dropped, is_gone, matches
from crscore.claims.structural.english import Statement, fits, quote, quoted
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.headline import is_dull
from crscore.claims.structural.quoting import split_arguments
from crscore.records import LineKind
from crscore.syntax.outline import Fact, Role

MAX_LINES_TO_EXIT: Final = 4
"""Lines from a condition to the exit that it guards."""
MAX_LINES_AFTER: Final = 12
"""Lines behind an exit that are searched for what it skips."""
_EXIT: Final = re.compile(
    r"(?:^|[){:] ?|\bthen )(return|continue|break|next)\b(.*?)(?: (?:if|unless)\b(?!.* else ).*)?$"
)
_DULL: Final = re.compile(r"!?ok|!?err|err [!=]= nil|error|!?\w{1,2}")
_FAILURE: Final = re.compile(r"(?i)\berr\b|error|reject|fail|memory|-E[A-Z]")
_CALL: Final = re.compile(r"((?:new )?[A-Za-z_$][\w$.]*(?:(?:->|::|\?\.)\w+)*)\(")
_BOUND: Final = re.compile(r"(?:(?:const|let|var|final|auto) )?[\w$.>:, -]*:?")
_LOG: Final = re.compile(r"(?i)log|print|debug|trace|console")
_BRANCH: Final = re.compile(r"\b(?:if|unless|elif|elsif)\b")
_WORDS: Final = re.compile(r"if|for|while|switch|return|elif|catch|func(?:tion)?|def|and|or|not")


def _conditions(unit: Evidence) -> list[Fact]:
    """Return the new conditions of a function that say something, where nothing was before."""
    return [
        fact
        for fact in (unit.added(Role.CONDITION) if is_function(unit) else ())
        if fits(fact.text) and not _DULL.fullmatch(fact.text) and unit.is_new(fact.text)
        # Neither of a value "a ? b : c" nor of a `switch`:
        if _BRANCH.search(unit.new.lines[fact.line])
        if (block := unit.new.blocks.get(fact.line)) and not block.removed
    ]


def _calls(texts: list[str]) -> list[str]:
    """Return the names of what lines call."""
    names = [name for text in texts for name in _CALL.findall(text.partition("//")[0])]
    return [
        name for name in dict.fromkeys(names) if not _WORDS.fullmatch(name) and not is_dull(name)
    ]


def _exit(unit: Evidence, fact: Fact) -> tuple[int, str, str] | None:
    """Return the line, the word and the value of the exit that a new condition guards."""
    lines, added = unit.new.lines, set(unit.change.added)
    for line in range(fact.line, fact.line + MAX_LINES_TO_EXIT):
        text = lines.get(line, "").strip().rstrip("; }")
        if line not in added or (line > fact.line and re.match(r"\}|(?:el)?if\b|else|for\b", text)):
            return None
        if match := _EXIT.search(text):
            return line, match[1], match[2].strip()
    return None


def _indent(text: str) -> int:
    """Return the characters of white space before a line."""
    return len(text) - len(text.lstrip())


def find_skipped(unit: Evidence) -> Iterator[Statement]:
    """Find an early exit that a new condition brings before code that was there."""
    lines, added = unit.new.lines, set(unit.change.added)
    for fact in _conditions(unit):
        way_out = _exit(unit, fact)
        if way_out is None or _FAILURE.search(way_out[2]) or not fits(way_out[2] or "-"):
            continue
        line, word, value = way_out
        end = max((u.end for u in unit.change.new.units), default=0)
        after = []
        for n in range(line + 1, min(end, line + MAX_LINES_AFTER) + 1):
            text = lines.get(n, "")
            if text.strip() and _indent(text) < _indent(lines[fact.line]):
                break  # the end of the block
            if not matches("aside", text.strip()):
                after.append((n, text.strip()))
        if not after or after[0][0] in added or re.match(r"\}? ?(?:else|el)", after[0][1]):
            continue
        guarded = _calls([lines[n] for n in range(fact.line, line + 1)])
        names = [n for n in _calls([t for n, t in after if n not in added]) if n not in guarded]
        skipped = quoted(names[:2]) if names else quote(after[0][1])
        name, case = quote(unit.change.short_name), f"{fact.name or 'when'} {quote(fact.text)}"
        question = "do all its callers expect that?" if value else "is it right to leave that out?"
        if word == "return":
            text = f"{name} now returns {quote(value) or 'early'} {case}, without {skipped}"
        else:
            text = f"a loop in {name} now skips {skipped} {case}"
        yield Statement(f"{text}: {question}", ((True, fact.line), (True, line)))


def find_moved(unit: Evidence) -> Iterator[Statement]:
    """Find a call that now comes before or after another one."""
    if not is_function(unit):
        return
    old = {unit.old.lines[n].strip(): n for n in unit.change.removed}
    new = {unit.new.lines[n].strip(): n for n in unit.change.added}
    moved = [text for text in old if text in new and _is_step(text)]
    # In another block it also runs in other cases.
    moved = [text for text in moved if unit.old.lines[old[text]] == unit.new.lines[new[text]]]
    if not moved:
        return
    context = [
        (line.old or 0, line.new or 0, line.text.strip())
        for line in unit.change.file.lines(LineKind.CONTEXT)
        if _is_step(line.text.strip())
        and any(u.start <= (line.new or 0) <= u.end for u in unit.change.new.units)
    ]
    for text in moved:
        for before, after, unmoved in context:
            down = before > old[text] and after < new[text]
            up = before < old[text] and after > new[text]
            if (down or up) and unmoved != text:
                first, last = map(quote, (unmoved, text) if down else (text, unmoved))
                event = f"{last} now comes after {first} in {unit.subject}"
                yield Statement(f"{event}: does the order matter?", ((True, new[text]),))
                break


def _is_step(text: str) -> bool:
    """Return whether a line is one call, or binds the result of one."""
    name, _, value = text.rstrip(";").rpartition(" = ")
    is_call = matches("call", value) and _BOUND.fullmatch(name)
    return bool(is_call) and split_arguments(text.rstrip(";")) is not None and fits(text)


def find_dropped(unit: Evidence) -> Iterator[Statement]:
    """Find a call that a function no longer makes."""
    for lines in dropped(unit):
        for line, text in lines[:1] if len(lines) <= 2 else ():
            name = _calls([text])[:1]
            is_call = name and matches("call", text) and _is_step(text)
            last = name[0].rpartition(".")[2] if name else ""
            is_proven = is_call and is_gone(unit, f"{last}(")
            if is_proven and not _LOG.search(text):
                event = f"{unit.subject} no longer calls {quote(text)}"
                yield Statement(f"{event}: what did it do that is still needed?", ((False, line),))


RULES: Final = (
    Rule("skipped-code", find_skipped),
    Rule("order", find_moved),
    Rule("dropped", find_dropped),
)
