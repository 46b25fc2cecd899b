"""Divides a changed file into topics; each changed line belongs to exactly one topic."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from crscore.claims.structural.change import UnitChange, UnitPart, parts_of
from crscore.records import ChangedFile, FileStatus
from crscore.syntax.change import Version, words_of
from crscore.syntax.grammars import Language
from crscore.syntax.outline import Kind, Role

MIN_AGREEMENT = 0.75
"""Minimum share (0 to 1) of common tokens of two bodies that are one unit with a new name."""
MIN_AMBIGUOUS = 0.7
"""Minimum share (0 to 1) of common tokens that makes it uncertain which unit was renamed."""
MIN_MOVED_AGREEMENT = 0.9
"""Minimum share (0 to 1) of common tokens of two bodies in different files that are one unit."""
MAX_PAIRED = 60
"""Maximum new units of a file, and removed units, that are compared with each other."""
# The time of `SequenceMatcher` grows with the square of this number.
MAX_TOKENS = 400
"""Maximum tokens of a body that are compared."""
MIN_TOKENS = 12
"""Minimum tokens of a body that can show that its unit was moved or renamed."""
MAX_JOINED_LINES = 120
"""Maximum changed lines of a new type or file that is one topic together with its members."""
MIN_JOINED_TESTS = 3
"""Minimum number of new tests in one class or file that are joined in one topic."""
_JOINABLE = {"new": frozenset({"new", "overload"}), "removed": frozenset({"removed", "less"})}
"""State of a unit -> states of the members that can join the unit."""
_IMPORTS = frozenset({Role.IMPORT, Role.COMMENT, Role.STRING})
"""Roles of the facts in a group of imports."""


def changes_of(
    file: ChangedFile, language: Language, old: Version, new: Version
) -> list[UnitChange]:
    """Divide a changed file whose language has a grammar into topics.

    Args:
        file: The file.
        language: Language of the file.
        old: Old version of the file.
        new: New version of the file.

    Returns:
        Topics in file order. Every changed line that is not blank is in exactly one topic.
    """
    before, after = parts_of(old, language), parts_of(new, language)
    before = _align_names(before, after)
    changes: dict[str, UnitChange] = {}
    for key in dict.fromkeys([*after, *before]):
        old_part, new_part = before.get(key, UnitPart()), after.get(key, UnitPart())
        unit = next(iter(new_part.units or old_part.units), None)
        change = UnitChange(
            file=file,
            name=key,
            kind=unit.kind if unit is not None else Kind.FILE,
            noun=unit.noun if unit is not None else "file",
            state="changed",
            old=old_part,
            new=new_part,
            language=language.name,
            added=list(new_part.lines),
            removed=list(old_part.lines),
        )
        if change.size:
            _set_state(change, old, new, language)
            changes[key] = change
    # A unit in which only blank lines changed is left out, unless there are only such units.
    with_code = {
        key: change
        for key, change in changes.items()
        if any(new.lines[line].strip() for line in change.added)
        or any(old.lines[line].strip() for line in change.removed)
    }
    is_whole = file.status in {FileStatus.ADDED, FileStatus.DELETED}
    return group_changes(with_code or changes, is_whole=is_whole)


def _set_state(change: UnitChange, old: Version, new: Version, language: Language) -> None:
    """Set the state of a unit, such as `new` or `renamed`."""
    key, old_part, new_part = change.name, change.old, change.new
    # `declares` parses the whole file, so the name is first looked up in the words of the version.
    if key and not old_part.units and new_part.is_declared_in_change:
        is_overload = change.short_name in old.words and old.declares(key, language)
        change.state = "overload" if is_overload else "new"
        return
    if key and not new_part.units and old_part.is_declared_in_change:
        has_overload = change.short_name in new.words and new.declares(key, language)
        change.state = "less" if has_overload else "removed"
        return
    if key and old_part.units and new_part.units:
        name = old_part.units[0].name
        change.before = name if name != new_part.units[0].name else ""
    last = change.before.rpartition(".")[2]
    if change.before and last != change.short_name:
        change.before = last
        # If one version mentions both names, these may be two units, of which one replaced the
        # other.
        is_proven = last not in new.words and change.short_name not in old.words
        change.state = "renamed" if is_proven and change.kind is not Kind.TEST else "replaced"
    elif old_part.tokens == new_part.tokens and not _has_new_words(change, old, new):
        is_layout = _find_comments(old_part) == _find_comments(new_part)
        change.state = "layout" if is_layout else "comments"
        if key and change.removed and _is_moved(change, old, new):
            # The members of a type are topics that say whether they moved, so the type need not.
            change.state = "changed" if change.kind is Kind.TYPE else "place"


def _find_comments(part: UnitPart) -> list[str]:
    return [fact.text for fact in part.facts if fact.role is Role.COMMENT]


def _is_moved(change: UnitChange, old: Version, new: Version) -> bool:
    """Return whether the changed lines of a unit have only moved to another place of the file."""
    removed = Counter(old.lines[line].strip() for line in change.removed)
    added = Counter(new.lines[line].strip() for line in change.added)
    if removed != added or not any(removed):
        return False
    blocks = {id(block): block for line in change.removed if (block := old.blocks[line])}
    # Commas and semicolons at the end are ignored, because the last item of a list may lack one.
    texts = [text.rstrip(",;") for text in removed if text]
    return not any(text in block.added_texts for block in blocks.values() for text in texts)


def _has_new_words(change: UnitChange, old: Version, new: Version) -> bool:
    """Return whether words changed outside of comments, as in macros, which the grammar ignores."""
    comments = " ".join([*_find_comments(change.old), *_find_comments(change.new)])
    comment_words = set(words_of(comments).split())
    left, right = (
        {word for line in lines for word in words_of(version.lines[line]).split()} - comment_words
        for version, lines in ((old, change.removed), (new, change.added))
    )
    return bool(change.removed) and bool(change.added) and left != right


def _align_names(before: dict[str, UnitPart], after: dict[str, UnitPart]) -> dict[str, UnitPart]:
    """Return the parts of the old version, keyed by the units' names in the new version.

    A unit was renamed if the new version has a unit with almost the same body.
    """
    removed = _find_unmatched(before, after)[:MAX_PAIRED]
    pairs: list[tuple[bool, float, int, str, str]] = []
    similar_counts: Counter[str] = Counter()
    for index, (new_key, new) in enumerate(_find_unmatched(after, before)[:MAX_PAIRED]):
        for old_key, old in removed:
            if old.units[0].noun != new.units[0].noun or old.parent != new.parent:
                continue
            old_name, new_name = (key.rpartition(".")[2] for key in (old_key, new_key))
            is_other_name = old_name != new_name
            score = _measure_agreement(old, new)
            if old_name.lower() == new_name.lower():  # only upper and lower case differ
                score = 1.0
            similar_counts.update([old_key, new_key] if score >= MIN_AMBIGUOUS else [])
            if score >= MIN_AGREEMENT:
                pairs.append((is_other_name, -score, index, old_key, new_key))
    new_keys: dict[str, str] = {}
    # Pairs of units with the same name come first, then those that have most tokens in common.
    for is_other_name, minus_score, _, old_key, new_key in sorted(pairs):
        # If another unit is similar to one of the pair, it is uncertain which unit was renamed.
        is_only = not is_other_name or similar_counts[old_key] == similar_counts[new_key] == 1
        is_clear = is_only or -minus_score >= MIN_MOVED_AGREEMENT
        if is_clear and old_key not in new_keys and new_key not in new_keys.values():
            new_keys[old_key] = new_key
    if not new_keys:
        return before
    return {_rename(key, new_keys): part for key, part in before.items()}


def _find_unmatched(
    parts: dict[str, UnitPart], other_parts: dict[str, UnitPart]
) -> list[tuple[str, UnitPart]]:
    """Return the units that only one version has and whose declarations are changed lines."""
    missing = {
        key for key in parts if key and (key not in other_parts or not other_parts[key].units)
    }
    return [(k, part) for k, part in parts.items() if k in missing and part.is_declared_in_change]


def _rename(key: str, new_keys: dict[str, str]) -> str:
    """Return the key of a unit with the new name of the unit or of a unit around it."""
    ancestor = key
    while ancestor:
        if ancestor in new_keys:
            return new_keys[ancestor] + key[len(ancestor) :]
        ancestor = ancestor.rpartition(".")[0]
    return key


def join_moved(changes: Sequence[UnitChange]) -> list[UnitChange]:
    """Join each unit that was removed from one file with the same unit that was added to another.

    Args:
        changes: Changes of all files; those of units that moved are updated.

    Returns:
        The changes without those that removed a unit which moved.
    """
    removed: dict[str, list[UnitChange]] = {}
    for change in changes:
        if change.state == "removed" and change.name:
            removed.setdefault(change.short_name.lower(), []).append(change)
    moved_ids: set[int] = set()
    for change in changes:
        candidates = removed.get(change.short_name.lower(), []) if change.state == "new" else []
        for candidate in candidates[:MAX_PAIRED]:
            is_alike = candidate.kind is change.kind and candidate.file is not change.file
            if id(candidate) in moved_ids or not is_alike:
                continue
            if _measure_agreement(candidate.old, change.new) >= MIN_MOVED_AGREEMENT:
                moved_ids.add(id(candidate))
                change.state, change.before, change.origin = "moved", candidate.name, candidate
                break
    return [change for change in changes if id(change) not in moved_ids]


def _measure_agreement(old: UnitPart, new: UnitPart) -> float:
    """Return the share (0 to 1) of tokens that two units have in common, in the same order.

    The names of the units are ignored. The result is 0 for short bodies and those with too few
    common tokens.
    """
    names = {unit.name.rpartition(".")[2] for unit in (*old.units, *new.units)}
    left, right = (
        [token for token in part.tokens[:MAX_TOKENS] if token not in names] for part in (old, new)
    )
    total = len(left) + len(right)
    common = 2 * (Counter(left) & Counter(right)).total()
    # Counting common tokens in any order is much faster and gives an upper bound of the ratio.
    if min(len(left), len(right)) < MIN_TOKENS or common < MIN_AGREEMENT * total:
        return 0.0
    # `autojunk` would ignore frequent tokens of long bodies:
    # https://docs.python.org/3/library/difflib.html#difflib.SequenceMatcher
    return SequenceMatcher(None, left, right, autojunk=False).ratio()


def group_changes(changes: Mapping[str, UnitChange], *, is_whole: bool) -> list[UnitChange]:
    """Join the changes of one file into topics.

    Args:
        changes: Changes by qualified name, in file order; "" names the file itself.
        is_whole: Whether the whole file is new or removed.

    Returns:
        The topics, in file order. If all members of a removed unit are also removed, they belong to
        its topic. The same holds for the new members of a new function and of another new unit of
        at most `MAX_JOINED_LINES` changed lines.
    """
    # Collect the members of each changed unit. An unchanged unit is no topic, so its members belong
    # to the changed unit around it.
    members_of: dict[str, list[str]] = {}
    for key, change in changes.items():
        parent = (change.new if change.new.units else change.old).parent
        while parent and (parent not in changes or parent == key):
            parent = parent.rpartition(".")[0]
        if key:
            members_of.setdefault(parent, []).append(key)
    if is_whole and "" in changes:
        changes[""].state = "removed" if changes[""].removed else "new"
    order = {key: index for index, key in enumerate(changes)}
    absorbed = _absorb_imports(changes, members_of.get("", []), is_whole=is_whole)
    for key, change in changes.items():
        if key in absorbed or change.state not in _JOINABLE:
            continue
        names = _find_members(key, members_of)
        members = [changes[name] for name in sorted(names, key=order.__getitem__)]
        size = change.size + sum(member.size for member in members)
        is_small = change.state == "removed" or size <= MAX_JOINED_LINES
        # A function is one topic with the functions inside it, whatever its size.
        if (is_small or change.kind is Kind.FUNCTION) and all(
            member.state in _JOINABLE[change.state] for member in members
        ):
            unit_names = {unit.name for unit in change.members}
            for member in members:
                outer = (member.name[:end] for end, sign in enumerate(member.name) if sign == ".")
                if member.unit is not None and unit_names.isdisjoint(outer):
                    change.members.append(member.unit)
                    unit_names.add(member.unit.name)
            _merge(change, members)
            absorbed |= names
    return _join_tests([change for key, change in changes.items() if key not in absorbed])


def _find_members(key: str, members: Mapping[str, list[str]]) -> set[str]:
    """Return the keys of all units inside a unit, at any depth."""
    below: set[str] = set()
    stack = list(members.get(key, ()))
    while stack:
        name = stack.pop()
        if name not in below and name != key:
            below.add(name)
            stack.extend(members.get(name, ()))
    return below


def _absorb_imports(
    changes: Mapping[str, UnitChange], top_level: Sequence[str], *, is_whole: bool
) -> set[str]:
    """Join changed lines outside of all units, if they are imports, with the largest changed unit.

    Returns the keys of the changes that were joined with another one.
    """
    if "" not in changes or not top_level:
        return set()
    file = changes[""]
    main = changes[max(top_level, key=lambda name: changes[name].size)]
    roles = {fact.role for fact in (*file.new.facts, *file.old.facts)}
    # In C and C++, a line without facts is a macro before a declaration or a directive such as
    # `#endif`, which counts like an import.
    is_imports = roles <= _IMPORTS and (Role.IMPORT in roles or file.language in {"c", "cpp"})
    # If a new or removed file has a single unit, all other lines of the file belong to that unit.
    if not (is_whole and len(top_level) == 1) and (not is_imports or file.size > main.size):
        return set()
    lines = [(True, line) for line in file.added] + [(False, line) for line in file.removed]
    main.lines_outside = frozenset(lines)
    main.added = sorted({*main.added, *file.added})
    main.removed = sorted({*main.removed, *file.removed})
    return {""}


def _merge(change: UnitChange, joined: Sequence[UnitChange]) -> None:
    all_changes = (change, *joined)
    for part, parts in (
        (change.new, [source.new for source in all_changes]),
        (change.old, [source.old for source in all_changes]),
    ):
        part.facts = [fact for source in parts for fact in source.facts]
        part.tokens = [token for source in parts for token in source.tokens]
    change.added = sorted({line for source in all_changes for line in source.added})
    change.removed = sorted({line for source in all_changes for line in source.removed})


def _join_tests(changes: list[UnitChange]) -> list[UnitChange]:
    """Join the new tests of one class or file, if there are at least `MIN_JOINED_TESTS`."""
    by_parent: dict[str, list[UnitChange]] = {}
    for change in changes:
        if change.kind is Kind.TEST and change.state == "new":
            by_parent.setdefault(change.new.parent, []).append(change)
    joined: set[int] = set()
    for parent, tests in by_parent.items():
        if len(tests) >= MIN_JOINED_TESTS:
            first = tests[0]
            first.members = [unit for test in tests for unit in test.new.units[:1]]
            _merge(first, tests[1:])
            first.name, first.noun = parent, "tests"
            joined.update(map(id, tests[1:]))
    return [change for change in changes if id(change) not in joined]
