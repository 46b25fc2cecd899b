"""Writes a few sentences about one topic; the most informative sentence comes first."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from crscore.claims.structural.change import UnitChange
from crscore.claims.structural.consequences import find_consequences
from crscore.claims.structural.evidence import MIN_PARTIAL_OVERLAP, Evidence, last_component
from crscore.claims.structural.headline import (
    informative_calls,
    is_dull,
    label,
    mentioned_names,
    summarize,
)
from crscore.claims.structural.quoting import (
    Line,
    Statement,
    about,
    agreement,
    can_quote,
    compare_arguments,
    innermost,
    join_items,
    join_quoted,
    message_of,
    prose_of,
    split_arguments,
    write_exchange,
)
from crscore.syntax.change import Version, words_of
from crscore.syntax.outline import DECLARED, Fact, Kind, Role
from crscore.text import quote, split_identifier

MAX_CLAIMS = 4
"""Maximum number of claims about one topic."""
MAX_CLAIMS_OF_TEST = 2
"""Maximum number of claims about one changed test."""
MAX_IMPLICATIONS = 2
"""Maximum number of implications about one topic."""
FEW_WORDS = 3
"""A comment about a unit is quoted if it has more words than this besides the name."""
TINY = 4
"""Maximum changed lines of a new unit about which only the summary and its comment are written."""
_TRIVIAL = frozenset({"true", "false", "none", "null", "nil", "self", "this", "0", "1", "err"})
"""Returned values that are not worth a sentence."""
_SUMMARIZED = frozenset({"layout", "place", "moved", "removed", "overload", "less"})
"""States of units about which only the summary is written."""
# The order is that of the sentences about a new function.
_VERBS = {
    Role.CONDITION: "checks",
    Role.RAISE: "raises",
    Role.CATCH: "catches",
    Role.CALL: "calls",
    Role.RETURN: "returns",
}
MAX_QUOTED_SIZE = 12
"""Maximum changed lines of a unit whose lines are quoted even if other sentences are about it."""
MAX_ARGUMENT_CHARS = 160
"""Maximum total characters of the changed arguments of a call that are quoted."""
MAX_QUOTED_LINES = 2
"""Maximum number of a unit's added lines that are quoted."""
MAX_VALUES = 3
"""Maximum number of sentences about changed values of one unit."""
MAX_LISTED_ITEMS = 3
"""Maximum number of arguments, texts, conditions or values that one sentence lists."""
MAX_NAMES_LOOKED_UP = 500
"""Maximum number of names of a unit that are looked up in the text of the other version."""
_NAME = re.compile(r"[\w$]+")


def write_statements(change: UnitChange, old: Version, new: Version) -> list[Statement]:
    """Return the sentences about one topic; the most informative claim comes first.

    Args:
        change: The topic.
        old: Old version of the topic's file.
        new: New version of the topic's file.

    Returns:
        From 1 to `MAX_CLAIMS` claims and then at most `MAX_IMPLICATIONS` implications.
    """
    unit = Evidence(change, old, new)
    return [*_claims(unit), *islice(find_consequences(unit), MAX_IMPLICATIONS)]


def _claims(unit: Evidence) -> list[Statement]:
    """Return the claims about one unit: a summary, details or both."""
    change = unit.change
    summary = Statement(summarize(change))
    if change.state in _SUMMARIZED or change.noun == "tests":
        return [summary]
    if change.state == "new":
        first = [summary, *_quote_description(change)]
        return first if change.size <= TINY else [*first, *_describe_code(change)][:MAX_CLAIMS]
    limit = MAX_CLAIMS_OF_TEST if change.kind is Kind.TEST else MAX_CLAIMS
    statements = list(islice(write_details(unit), limit))
    if not statements and change.state == "changed":
        return [summary if change.before else Statement(summary.text + mentioned_names(change))]
    if change.state not in {"changed", "comments"} or not statements:
        return [summary, *statements][:MAX_CLAIMS]
    # The first sentence about a topic names its file.
    text = statements[0].text.replace(label(change), label(change, full=True), 1)
    return [statements[0]._replace(text=text), *statements[1:]]


def _quote_description(change: UnitChange) -> Iterator[Statement]:
    """Yield a sentence that quotes a new unit's docstring or comment, if there is one."""
    unit = change.unit
    if unit is None or not unit.name:
        return
    names = {unit.name.lower(), *split_identifier(unit.name)}
    for fact in change.new.facts:
        is_above = unit.start <= fact.line < unit.head
        # A docstring is a string below the name of the unit.
        is_inside = unit.head <= fact.line <= unit.end and fact.text.startswith(('"', "'"))
        if fact.role is Role.COMMENT and (is_above or is_inside):
            sentence = next(iter(prose_of(fact.text)), "")
            if len(set(words_of(sentence).lower().split()) - names) > FEW_WORDS:
                yield about([fact], f"{label(change)} is described as “{sentence}”")
                return


def _describe_code(change: UnitChange) -> Iterator[Statement]:
    """Yield sentences with the conditions, errors, calls and returned values of a new function."""
    if change.kind is not Kind.FUNCTION:  # only the members of a type have them
        return
    for role, verb in _VERBS.items():
        facts = [fact for fact in change.new.facts if fact.role is role]
        if role is Role.CALL:
            facts = informative_calls(facts)
        by_text = role in {Role.CONDITION, Role.RETURN}
        facts = [fact for fact in facts if can_quote(fact.text if by_text else fact.name)]
        if role is Role.RETURN:  # "returns `true`" says little
            facts = [fact for fact in facts if fact.text.lower() not in _TRIVIAL]
        if not facts:
            continue
        if role is Role.CONDITION:
            listing = join_items(list(dict.fromkeys(map(condition, facts))), 3)
        else:
            listing = join_quoted([fact.text if by_text else fact.name for fact in facts])
        yield about(facts, f"{label(change)} {verb} {listing}")


def write_details(unit: Evidence) -> Iterator[Statement]:
    """Yield sentences about the differences between both versions; the most informative is first.

    A sentence is left out if earlier sentences are about all of its lines.
    """
    covered: set[Line] = set()
    texts: set[str] = set()
    for writer in _WRITERS:
        for statement in writer(unit):
            is_covered = bool(statement.lines) and covered.issuperset(statement.lines)
            if statement.text not in texts and not is_covered:
                covered.update(statement.lines)
                texts.add(statement.text)
                yield statement._replace(kind=writer.__name__)
    if unit.change.size <= MAX_QUOTED_SIZE or not texts:
        yield from _quote_lines(unit, covered)


def condition(fact: Fact) -> str:
    """Return a condition as quoted code; that of `unless` is negated."""
    return f"that not {quote(fact.text)}" if fact.name == "unless" else quote(fact.text)


def _names(facts: Sequence[Fact]) -> str:
    return join_quoted([fact.name for fact in facts])


def _texts(facts: Sequence[Fact]) -> str:
    return join_quoted([fact.text for fact in facts], MAX_LISTED_ITEMS)


def _overloads(unit: Evidence) -> Iterator[Statement]:
    """Report new overloads of a function, with their parameters."""
    old, new = unit.change.old.units, unit.change.new.units
    if not len(new) > len(old) > 0 or unit.change.kind is not Kind.FUNCTION:
        return
    old_parameters = [overload.parameters for overload in old]
    for overload in new:
        if overload.parameters and overload.parameters not in old_parameters:
            names = join_quoted([item.name for item in overload.parameters])
            text = f"{unit.subject} has a new overload that takes {names}"
            yield Statement(text, ((True, overload.head),))


def _signature(unit: Evidence) -> Iterator[Statement]:
    """Report new and removed parameters, and new default values and types of parameters."""
    change = unit.change
    if len(change.old.units) != 1 or len(change.new.units) != 1 or change.kind not in DECLARED:
        return
    old, new = change.old.units[0], change.new.units[0]
    if not old.head or not new.head:  # only the header of a hunk shows the unit
        return
    subject, texts = unit.subject, list[str]()
    before = {item.name: item for item in old.parameters}
    after = {item.name for item in new.parameters}
    added = [item for item in new.parameters if item.name not in before]
    removed = join_quoted([name for name in before if name not in after])
    names = join_quoted([item.name for item in added])
    if added and removed:
        texts.append(f"{subject} now takes {names} instead of {removed}")
    elif added:
        nouns = f"parameter{'s' * (len(added) > 1)} {names}"
        qualifier = "optional " if all(item.optional for item in added) else ""
        texts.append(f"{subject} takes the new {qualifier}{nouns}")
    elif removed:
        # If there are several names, the list contains "and".
        nouns = f"parameter{'s' * (' and ' in removed)} {removed}"
        texts.append(f"{subject} no longer takes the {nouns}")
    for item in new.parameters:
        former, name = before.get(item.name, item), quote(item.name)
        if former.default != item.default and can_quote(former.default, item.default):
            values = f"{quote(item.default)} instead of {quote(former.default)}"
            texts.append(f"the default of {name} in {subject} is now {values}")
        if former.type != item.type and can_quote(former.type, item.type):
            types = f"{quote(item.type)} instead of {quote(former.type)}"
            texts.append(f"the parameter {name} of {subject} now has the type {types}")
    yield from (Statement(text, ((True, new.head),)) for text in texts)


def _raised(unit: Evidence) -> Iterator[Statement]:
    """Report the errors that a unit now raises or no longer raises, and new messages of errors."""
    yield from _report_exchanged(unit, Role.RAISE, "raises")
    for fact in unit.added(Role.RAISE):
        message = message_of(fact.text)
        if fact.name and message and unit.is_new(message):
            yield unit.statement(
                f"raises {quote(fact.name)} with the new message “{message}”", [fact]
            )


def _caught(unit: Evidence) -> Iterator[Statement]:
    """Report the errors that a unit now catches or no longer catches."""
    yield from _report_exchanged(unit, Role.CATCH, "catches")


def _report_exchanged(unit: Evidence, role: Role, verb: str) -> Iterator[Statement]:
    """Report the names of the facts of one role that only one version of a unit has."""
    added = [fact for fact in unit.added(role) if fact.name and unit.is_new(fact.name)]
    removed = [fact for fact in unit.removed(role) if fact.name and unit.is_gone(fact.name)]
    if added:
        instead = f" instead of {_names(removed)}" if removed else ""
        message = message_of(added[0].text) if role is Role.RAISE and len(added) == 1 else ""
        quoted = f" with the message “{message}”" if message and not removed else ""
        yield unit.statement(f"now {verb} {_names(added)}{instead}{quoted}", added)
    elif removed:
        yield unit.statement(f"no longer {verb} {_names(removed)}", removed, new=False)


def _conditions(unit: Evidence) -> Iterator[Statement]:
    """Report edited, new and removed conditions."""
    added, removed = unit.added(Role.CONDITION), unit.removed(Role.CONDITION)
    paired = unit.pair_edits(removed, added)
    quotable = [
        pair for pair in paired if can_quote(*(fact.text for fact in pair)) and unit.is_edit(*pair)
    ]
    for old, edited in quotable[:2]:
        text = f"the condition {condition(old)} in {unit.subject} is now {condition(edited)}"
        yield about([edited], text)
    dropped, alone = unit.find_unpaired(removed, added, paired)
    # A removed condition that shares words with a new one may still be checked as a part of it.
    parts = {
        id(old) for old in dropped for new in added if agreement(old, new) >= MIN_PARTIAL_OVERLAP
    }
    for unpaired, new, verb in ((alone, True, "now checks"), (dropped, False, "no longer checks")):
        facts = [fact for fact in unpaired if can_quote(fact.text) and id(fact) not in parts]
        if facts:
            conditions = join_items(list(dict.fromkeys(map(condition, facts))), MAX_LISTED_ITEMS)
            yield unit.statement(f"{verb} {conditions}", facts[:MAX_LISTED_ITEMS], new=new)


def _returned(unit: Evidence) -> Iterator[Statement]:
    """Report the values that a function now returns or no longer returns."""
    if unit.change.kind is Kind.TYPE:  # its members return, not the type
        return
    # The code is compared without white space, so "return a" is "returna".
    added = [f for f in unit.added(Role.RETURN) if f.text and unit.is_new(f"return{f.text}")]
    removed = [f for f in unit.removed(Role.RETURN) if f.text and unit.is_gone(f"return{f.text}")]
    if len(added) == len(removed) == 1:
        exchanged = write_exchange(removed[0].text, added[0].text)
        # If only the difference of long code is quoted, the sentence says "a value with `x`".
        part = "" if quote(added[0].text) in exchanged else "a value with "
        if exchanged:
            yield unit.statement(f"now returns {part}{exchanged}", added)
        return
    added, removed = ([f for f in facts if can_quote(f.text)] for facts in (added, removed))
    if added:
        yield unit.statement(f"now returns {_texts(added)}", added)
    elif removed:
        yield unit.statement(f"no longer returns {_texts(removed)}", removed, new=False)


def _arguments(unit: Evidence) -> Iterator[Statement]:
    """Report the calls that both versions make, but with different arguments."""
    for old, new in _pair_names(unit, Role.CALL):
        added, removed = compare_arguments(old.text, new.text)
        changed = [*added, *removed]
        if not changed or not can_quote(*changed) or len("".join(changed)) > MAX_ARGUMENT_CHARS:
            continue
        passes = ""
        if len(added) == len(removed) == 1:
            exchanged = write_exchange(removed[0], added[0])
            part = "" if quote(added[0]) in exchanged else "a value with "
            passes = f"now passes {part}{exchanged}"
        elif not removed and len(added) <= MAX_LISTED_ITEMS:
            passes = f"now also passes {join_quoted(added)}"
        elif not added and len(removed) <= MAX_LISTED_ITEMS:
            passes = f"no longer passes {join_quoted(removed)}"
        if passes:
            text = f"the call to {quote(new.name)} in {unit.subject} {passes}"
            yield about([new], text)


def _pair_names(unit: Evidence, role: Role, *, inner: bool = False) -> Iterator[tuple[Fact, Fact]]:
    """Yield pairs of a removed and an added fact with the same name, if no other fact has the name.

    With `inner`, a collection is left out if one of its entries changed.
    """
    removed, added = unit.removed(role), unit.added(role)
    removed, added = (innermost(removed), innermost(added)) if inner else (removed, added)
    before, after = (Counter(fact.name for fact in facts) for facts in (removed, added))
    old = {fact.name: fact for fact in removed}
    for fact in added:
        if before[fact.name] == after[fact.name] == 1 and unit.are_adjacent(old[fact.name], fact):
            yield old[fact.name], fact


def _values(unit: Evidence) -> Iterator[Statement]:
    """Report the names that both versions bind, but to different values."""
    count = 0
    names = Counter(fact.name for fact in unit.change.new.facts if fact.role is Role.ASSIGN)
    for old, new in _pair_names(unit, Role.ASSIGN, inner=True):
        if names[new.name] > 1 and unit.change.kind in {Kind.TYPE, Kind.FILE}:
            continue  # a macro in two branches, or the same key in several objects
        exchanged = write_exchange(old.text, new.text) if old.text and new.text else ""
        if exchanged and can_quote(new.name) and count < MAX_VALUES:
            count += 1
            verb = "is now" if quote(new.text) in exchanged else "now has"
            yield about([new], f"{quote(new.name)} in {unit.subject} {verb} {exchanged}")


def _bound(unit: Evidence) -> Iterator[Statement]:
    """Report the names that a function newly sets, or that a type or file has gained or lost."""
    if unit.change.kind in {Kind.FUNCTION, Kind.TEST}:
        old_values = {fact.text for fact in unit.removed(Role.ASSIGN)}
        for fact in _find_unique_bindings(unit, new=True):
            # Nothing is reported if the value had another name or if the old version has the name.
            is_old = fact.text in old_values or last_component(fact.name) in unit.old.words
            if can_quote(fact.text) and fact.name != fact.text and not is_old:
                yield unit.statement(f"now sets {quote(fact.name)} to {quote(fact.text)}", [fact])
        return
    added, removed = (_find_unique_bindings(unit, new=new) for new in (True, False))
    if added and len(added) == len(removed) and all(map(unit.are_adjacent, removed, added)):
        yield unit.statement(f"now has {_names(added)} instead of {_names(removed)}", added)
        return
    for facts, new, verb in ((added, True, "now has"), (removed, False, "no longer has")):
        if facts:
            names = join_quoted([fact.name for fact in facts], 5)
            yield unit.statement(f"{verb} {names}", facts, new=new)


def _find_unique_bindings(unit: Evidence, *, new: bool) -> list[Fact]:
    """Return the bindings whose names only the new version has or, without `new`, only the old."""
    facts = unit.added(Role.ASSIGN) if new else unit.removed(Role.ASSIGN)
    facts = unit.find_unmentioned(innermost(facts), new=new)
    is_unique = unit.is_new if new else unit.is_gone
    skip_lookup = len(facts) > MAX_NAMES_LOOKED_UP
    return [f for f in facts if can_quote(f.name) and (skip_lookup or is_unique(f.name))]


def _calls(unit: Evidence) -> Iterator[Statement]:
    """Report the functions that a unit now calls or no longer calls."""
    added = unit.find_unmentioned(unit.added(Role.CALL), new=True)
    removed = unit.find_unmentioned(unit.removed(Role.CALL), new=False)
    added, removed = ([f for f in facts if can_quote(f.name)] for facts in (added, removed))
    if unit.change.kind in {Kind.TYPE, Kind.FILE} and not unit.old.is_whole:
        removed = []  # unknown lines of the file may still call them
    if added:
        instead = f" and no longer {_names(removed)}" if removed else ""
        # `_names` lists at most four names, so the statement is about the lines of these.
        yield unit.statement(f"now calls {_names(added)}{instead}", added[:4])
    elif removed:
        yield unit.statement(f"no longer calls {_names(removed)}", removed[:4], new=False)


def _more_calls(unit: Evidence) -> Iterator[Statement]:
    """Report additional calls of functions that the unit already called before."""
    added, removed = unit.added(Role.CALL), unit.removed(Role.CALL)
    names = Counter(fact.name for fact in added) - Counter(fact.name for fact in removed)
    old_names = {last_component(fact.name) for fact in removed}  # perhaps of another object
    for fact in added:
        if last_component(fact.name) in old_names or not names[fact.name] or is_dull(fact.name):
            continue
        # The second form is a call of Ruby without parentheses.
        if unit.is_new(f"{fact.name}({fact.text})") and unit.is_new(f"{fact.name} {fact.text}"):
            arguments = f" with {quote(fact.text)}" if fact.text else ""
            if can_quote(fact.text or fact.name):
                yield unit.statement(f"has a new call of {quote(fact.name)}{arguments}", [fact])


def _imports(unit: Evidence) -> Iterator[Statement]:
    """Report the imports that a unit gained or lost."""
    for new, verb in ((True, "now imports"), (False, "no longer imports")):
        facts = unit.added(Role.IMPORT) if new else unit.removed(Role.IMPORT)
        modules: dict[str, list[Fact]] = {}
        for fact in facts:
            if can_quote(fact.name):
                modules.setdefault(fact.text, []).append(fact)
        # Names that are imported from modules come before modules.
        phrases = [
            _names(names) + (f" from {quote(module)}" if module else "")
            for module, names in sorted(modules.items(), key=lambda item: not item[0])
        ]
        if phrases:
            yield unit.statement(f"{verb} {join_items(phrases, MAX_LISTED_ITEMS)}", facts, new=new)


def _strings(unit: Evidence) -> Iterator[Statement]:
    """Report new, removed and edited strings."""
    added, removed = unit.added(Role.STRING), unit.removed(Role.STRING)
    paired = unit.pair_edits(removed, added)
    removed, added = (
        # Strings of several lines cannot be quoted in a sentence.
        [f for f in part if len(f.text) > len('"ab"') and can_quote(f.text) and '"""' not in f.text]
        for part in (removed, added)
    )
    removed, added = unit.find_unpaired(removed, added, paired)
    for facts, new, verb in ((added, True, "now has"), (removed, False, "no longer has")):
        if facts:
            noun = "text" if len(facts) == 1 else "texts"
            yield unit.statement(f"{verb} the {noun} {_texts(facts)}", facts, new=new)
    for old, edited in paired[:2]:
        is_proven = unit.is_gone(old.text) and unit.is_new(edited.text)
        if is_proven and can_quote(old.text, edited.text) and old.text != edited.text:
            text = f"the text {quote(old.text)} in {unit.subject} is now {quote(edited.text)}"
            yield about([edited], text)


def _comments(unit: Evidence) -> Iterator[Statement]:
    """Quote the first sentence of the comments that the old version does not have."""
    for fact in unit.added(Role.COMMENT):
        for sentence in prose_of(fact.text):
            if words_of(sentence) not in unit.old.word_text:
                yield about([fact], f"a comment in {unit.subject} now says “{sentence}”")
                return


def _quote_lines(unit: Evidence, covered: set[Line]) -> Iterator[Statement]:
    """Quote changed lines that no other sentence is about."""
    count = 0
    comments = [f.text for f in unit.change.new.facts if f.role is Role.COMMENT and "/*" in f.text]
    prose = words_of(" ".join(comments))
    # The declaration of a renamed unit is not quoted, because the summary has the new name.
    heads = {(True, declared.head) for declared in unit.change.new.units if unit.change.before}
    for removed, added in unit.blocks():
        for index, (line, text) in enumerate(added):
            if (True, line) in covered | heads or not _is_complete(text) or not unit.is_new(text):
                continue
            if words_of(text) in prose:  # the line is part of a comment
                continue
            # In a block with as many added as removed lines, each added line replaces a removed
            # one.
            old = removed[index][1] if len(removed) == len(added) else ""
            exchanged = write_exchange(old, text) if old and unit.is_gone(old) else ""
            noun = "the line " if not exchanged or quote(text) in exchanged else ""
            count += 1
            if count > MAX_QUOTED_LINES:
                return
            sentence = f"{unit.subject} now has {noun}{exchanged or quote(text)}"
            yield Statement(sentence, ((True, line),))
        # Removed lines are quoted only if the block has no added lines.
        for line, text in () if added else removed:
            if (False, line) not in covered and _is_complete(text) and unit.is_gone(text):
                sentence = f"{unit.subject} no longer has the line {quote(text)}"
                yield Statement(sentence, ((False, line),))


def _is_complete(text: str) -> bool:
    """Return whether a line is complete code with several words that can be quoted alone."""
    is_code = split_arguments(text) is not None and text[:1] not in "#/*"
    return is_code and can_quote(text) and len(_NAME.findall(text)) > 1


# The name of a function is the kind of its sentences, which has a weight in `ranking.toml`. Kinds
# that are rarely useful are kept, because without seven of them, 707 of 2,200 scores change: what
# the encoder reads for a claim depends on the lines of the other claims
# (docs/design/003-structural-claims.md).
_WRITERS = (
    _overloads, _signature, _raised, _caught, _conditions, _returned, _arguments, _values, _bound,
    _calls, _more_calls, _imports, _strings, _comments,
)  # fmt: skip
