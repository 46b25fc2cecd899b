"""Claims about one changed file."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from crscore.claims.config_files import commands, data, markup
from crscore.claims.config_files.compare import Action, Change, compare
from crscore.claims.config_files.describe import Describer
from crscore.claims.config_files.lines import describe_lines, names_in
from crscore.claims.config_files.model import CONTAINERS, MAX_DEPTH, Entry, Kind, Line, regions
from crscore.claims.config_files.rules import implication_of
from crscore.claims.config_files.words import code, listed
from crscore.records import LineKind, LineSpan, PseudoReference, ReferenceKind, Side
from crscore.text.code_spans import find_code_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crscore.records import ChangedFile

SOURCE: Final = "structural"
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]+")
_PROSE: Final = frozenset({Kind.TEXT, Kind.COMMENT})
_MAX_TOGETHER: Final = 8
_READERS: Final[Mapping[str, Callable[[Sequence[Line]], list[Entry]]]] = {
    "yaml": data.read_yaml,
    "json": data.read_json,
    "toml": data.read_ini,
    "ini": data.read_ini,
    "properties": data.read_ini,
    "xml": markup.read_xml,
    "html": markup.read_html,
    "css": markup.read_css,
    "markdown": markup.read_prose,
    "rst": markup.read_prose,
    "text": markup.read_prose,
    "dockerfile": commands.read_dockerfile,
    "makefile": commands.read_makefile,
    "shell": commands.read_shell,
    "sql": commands.read_sql,
    "gomod": commands.read_gomod,
    "gosum": commands.read_gomod,
    "ignore": commands.read_patterns,
    "csv": commands.read_rows,
}
_CONFIG: Final = frozenset({"yaml", "json", "toml", "ini", "properties"})
_ALONE: Final = frozenset({Action.MOVED, Action.RENAMED})
_SECTIONED: Final = frozenset({"yaml", "toml", "ini", "makefile", "shell"})
_REQUIREMENTS: Final = re.compile(r"(?i)(?:requirements|constraints)[\w.-]*\.(?:txt|in)$")
_DEPENDENCIES: Final = re.compile(
    r"(?i)dependencies$|^(?:require|require-dev|resolutions|overrides|packages|requires|"
    r"install_requires|tests_require|dependency-groups)$|"
    r"(?:^|\.)(?:optional-dependencies|dependency-groups|extras_require|dependencies)(?:\.|$)"
)
_WEIGHTS: Final = {
    Kind.DEPENDENCY: 0.9,
    Kind.IMAGE: 0.9,
    Kind.COLUMN: 0.85,
    Kind.STATEMENT: 0.85,
    Kind.SETTING: 0.75,
    Kind.COMMAND: 0.75,
    Kind.FUNCTION: 0.75,
    Kind.TARGET: 0.75,
    Kind.SECTION: 0.7,
    Kind.RULE: 0.65,
    Kind.ELEMENT: 0.65,
    Kind.HEADING: 0.6,
    Kind.ITEM: 0.55,
    Kind.TEXT: 0.5,
    Kind.PATTERN: 0.5,
    Kind.CODE: 0.45,
    Kind.COMMENT: 0.25,
}
_FACTORS: Final = {
    Action.CHANGED: 1.0,
    Action.RENAMED: 0.95,
    Action.REMOVED: 0.95,
    Action.ADDED: 0.9,
    Action.MOVED: 0.6,
}


def claims_of(file: ChangedFile) -> tuple[PseudoReference, ...]:
    """Describe the changes of a file by its keys, rules, headings or commands.

    Args:
        file: Any changed file; one without hunks has no claims. The names around a key come from
            the whole file when it is known, else from the hunk.

    Returns:
        Claims and implications, most informative first; related lines share one claim.
        Their spans cover changed lines only.
    """
    if not file.hunks:
        return ()
    reader = _reader_of(file)
    found = _describe_by_lines(file) if reader is None else _describe_by_entries(file, reader)
    unique: dict[str, PseudoReference] = {}
    for one in found:
        unique.setdefault(one.text, one)
    return tuple(sorted(unique.values(), key=lambda one: -one.weight))


def _reader_of(file: ChangedFile) -> Callable[[Sequence[Line]], list[Entry]] | None:
    if _REQUIREMENTS.search(file.path):
        return commands.read_requirements
    return _READERS.get(file.language or "")


def _describe_by_lines(file: ChangedFile) -> list[PseudoReference]:
    return [
        PseudoReference(
            text=claim.text,
            kind=ReferenceKind.CLAIM,
            source=SOURCE,
            spans=_spans(
                file,
                [line.old for line in claim.lines if line.old],
                [line.new for line in claim.lines if line.new],
            ),
            identifiers=claim.names,
            weight=claim.weight,
        )
        for claim in describe_lines(file.hunks)
    ]


def _describe_by_entries(
    file: ChangedFile, reader: Callable[[Sequence[Line]], list[Entry]]
) -> list[PseudoReference]:
    sides = [
        [
            _as_dependency(one)
            for region in regions(file, side, with_section=_is_section_around(file))
            for one in reader(region)
        ]
        for side in (Side.OLD, Side.NEW)
    ]
    changes, rearranged = compare(*sides)
    is_list = reader is commands.read_requirements
    language = "requirements" if is_list else file.language
    describer = Describer(language=language, file_name=file.path.rpartition("/")[2])
    blocks, rest = _fold(changes)
    found = [
        _reference(file, describer.describe_block(head, inside), [head, *inside], _weight(head))
        for head, inside in blocks
    ]
    for group in _groups(rest):
        text = describer.describe(group[0]) if len(group) == 1 else describer.describe_group(group)
        found.append(_reference(file, text, group, _weight(group[0])))
    is_config = file.language in _CONFIG
    for change in changes:
        if implied := implication_of(change, is_config=is_config):
            made = _reference(file, implied.text, [change], implied.weight)
            found.append(replace(made, kind=ReferenceKind.IMPLICATION))
    if found:
        return found
    # only what no reader looks at, such as a closing bracket, or the order and the spaces
    return [_layout(file, rearranged)] if _is_layout(file) else _describe_by_lines(file)


def _is_section_around(file: ChangedFile) -> bool:
    """Return True when the heading of a hunk contains the hunk's indented lines.

    git prints the last preceding line that begins with a letter. In YAML and similar formats that
    is the enclosing key; in a stylesheet or a document it may have been closed long before. git
    skips keys that begin with a dot, as in GitLab's files.
    """
    return file.language in _SECTIONED and ".gitlab" not in file.path


def _as_dependency(one: Entry) -> Entry:
    """Convert a setting or an item of a list of dependencies to a dependency."""
    # an item may stand one level deeper: optional-dependencies -> a group -> items
    around = one.where[-1:] if one.name else one.where[-2:]
    if not any(_DEPENDENCIES.search(name) for name in around):
        return one
    if one.kind is Kind.SETTING:
        return replace(one, kind=Kind.DEPENDENCY)
    named = commands.requirement_of(one.value) if one.kind is Kind.ITEM else None
    if named is None:
        return one
    return replace(one, kind=Kind.DEPENDENCY, name=named[0], value=named[1])


def _fold(changes: Sequence[Change]) -> tuple[list[tuple[Change, list[Change]]], list[Change]]:
    """Merge additions or removals into an enclosing entry that was added or removed with them."""
    heads: dict[tuple[Action, tuple[str, ...]], tuple[Change, list[Change]]] = {}
    for change in changes:
        one = change.entry
        if one.kind in CONTAINERS and change.action in {Action.ADDED, Action.REMOVED}:
            heads.setdefault((change.action, (*one.where, one.name)), (change, []))
    leading = {id(head) for head, _ in heads.values()}
    rest: list[Change] = []
    inner: set[int] = set()
    for change in changes:
        where = change.entry.where
        around = (heads.get((change.action, where[:end])) for end in range(1, len(where) + 1))
        outermost = next((head for head in around if head and head[0] is not change), None)
        if outermost and len(where) < MAX_DEPTH:
            outermost[1].append(change)
            inner.add(id(change))
        elif id(change) not in leading:
            rest.append(change)
    return [head for head in heads.values() if id(head[0]) not in inner], rest


def _groups(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Yield two changed entries separately, all other neighbours as groups."""
    for group in _neighbours(changes):
        if len(group) == 2 and group[0].action is Action.CHANGED:
            yield group[:1]
            yield group[1:]
        else:
            yield group


def _neighbours(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Group neighbours of one kind that changed the same way in the same place."""
    group: list[Change] = []
    for change in changes:
        if group and (len(group) == _MAX_TOGETHER or not _belong(group[-1], change)):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _belong(one: Change, other: Change) -> bool:
    same = (one.action, one.entry.kind, one.entry.where) == (
        other.action,
        other.entry.kind,
        other.entry.where,
    )
    if not same or one.action in _ALONE or one.entry.kind is Kind.STATEMENT:
        return False
    if one.action is Action.CHANGED:
        return one.entry.kind is Kind.DEPENDENCY
    return other.entry.block == one.entry.block


def _weight(change: Change) -> float:
    return _WEIGHTS[change.entry.kind] * _FACTORS[change.action]


def _reference(
    file: ChangedFile, text: str, changes: Sequence[Change], weight: float
) -> PseudoReference:
    old = [number for one in changes if one.old for number in one.old.changed]
    new = [number for one in changes if one.new for number in one.new.changed]
    names: dict[str, None] = {}
    for one in changes:
        for side in (one.new, one.old):
            if side and side.name:
                names[side.name] = None
    first = changes[0].entry
    if not first.name and first.kind not in _PROSE:
        # of a statement, only what the sentence names: the rest is mostly SQL's own words
        shown = " ".join(find_code_spans(text)) if first.kind is Kind.STATEMENT else first.value
        names.update(dict.fromkeys(_NAME.findall(shown[:200])[:5]))
    names.update(dict.fromkeys(first.where[-1:]))
    return PseudoReference(
        text=text,
        kind=ReferenceKind.CLAIM,
        source=SOURCE,
        spans=_spans(file, old, new),
        identifiers=tuple(names)[:8],
        weight=round(weight, 4),
    )


def _is_layout(file: ChangedFile) -> bool:
    """Return True when only white space or the order of the words differs."""
    old, new = (
        [word for line in file.lines(kind) for word in line.text.split()]
        for kind in (LineKind.REMOVED, LineKind.ADDED)
    )
    return "".join(old) == "".join(new) or sorted(old) == sorted(new)


def _layout(file: ChangedFile, rearranged: Sequence[Entry]) -> PseudoReference:
    changed = file.lines(LineKind.ADDED, LineKind.REMOVED)
    names = list(dict.fromkeys(one.name for one in rearranged if one.name))[:4]
    about = f" of {listed([code(one) for one in names])}" if names else ""
    return PseudoReference(
        text=f"Only the layout or the order{about} changes and no value does.",
        kind=ReferenceKind.CLAIM,
        source=SOURCE,
        spans=_spans(
            file,
            [line.old for line in changed if line.old],
            [line.new for line in changed if line.new],
        ),
        identifiers=tuple(names) or names_in(changed),
        weight=0.15,
    )


def _spans(file: ChangedFile, old: Iterable[int], new: Iterable[int]) -> tuple[LineSpan, ...]:
    """Join line numbers into spans; a context line in between ends a span."""
    spans: list[LineSpan] = []
    sides = ((Side.OLD, file.old_path or file.path, old), (Side.NEW, file.path, new))
    for side, path, numbers in sides:
        for number in sorted(set(numbers)):
            last = spans[-1] if spans else None
            if last and last.side is side and last.end == number - 1:
                spans[-1] = replace(last, end=number)
            else:
                spans.append(LineSpan(path=path, side=side, start=number, end=number))
    return tuple(spans)
