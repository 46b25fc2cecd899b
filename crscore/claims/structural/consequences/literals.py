"""Literals that a change has exchanged: lines that differ in one number, text or pattern."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from crscore.claims.structural.evidence import Evidence

MAX_LINE = 300
"""Characters of a line up to which it is compared."""

MAX_LINES = 60
"""Removed or added lines of a block up to which they are compared; more are rewritten, or data."""

_ASIDE: Final = re.compile(
    r"(?i)(?:^|[/._-])(?:evals?|lang|locali[sz]\w*|i18n)(?:[/._]|$)|\.(?:c|le|sc)ss$"
)
"""Files whose constants no running code depends on."""
_TOKEN: Final = re.compile(
    r"""("(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+'|`[^`]*+`"""
    # A slash begins a pattern where no value can end before it.
    r"|(?<=[(=,:?|&] |.[(=,:])/(?![/*])(?:\\.|[^/\\])++/\w*"
    r"|\b(?:[Tt]rue|[Ff]alse)\b|\b\d[\w.]*+)|[A-Za-z_$][\w$]*+|[^\w\s]"
)
"""A token; a literal is in the group."""
_NOTE: Final = re.compile(r"\s(?:#|//)\s")
_NAME_BEFORE: Final = re.compile(
    # `wait: float = Field(default=`, `wait: float = `, `get("wait", `, `wait `, `sleep(`
    r"^(\w+): [\w\[\]|. ]{1,40} = \w+\(default=$"
    r"|([A-Za-z_$][\w$.-]*+)[\"'\])?]*+\s?(?::\s?[\w\[\]|.<>? ]{1,40})?\s?(?::?=|:|=>|\?\?)\s?$"
    r"|(?i:default|get|env|option|property)\w*\(@?[\"']?([\w.]+)[\"']?, $|^([\w-]+)\s$"
    r"|([A-Za-z_$][\w$.]*+)\($"
)
_Line: TypeAlias = tuple[int, str, list[re.Match[str]]]
"""Number, code and tokens."""


class Edit(NamedTuple):
    """The only literal that differs between two lines."""

    before: str
    after: str
    line: int
    """Line of the new version."""
    prefix: str
    """Code in front of it."""
    rest: str
    """Code behind it."""
    name: str
    """Name of what it is the value of, or of the function that it is passed to; may be empty."""


def edits(unit: Evidence) -> Iterator[Edit]:
    """Yield the literals of a unit that have another value in a line that is otherwise the same."""
    is_aside = _ASIDE.search(unit.change.file.path)
    if is_aside or unit.change.state not in {"changed", "renamed"}:
        return
    # What the default of a public parameter means to callers is another rule's.
    units = [declared for declared in unit.change.new.units if declared.public]
    defaults = {(item.name, item.default) for declared in units for item in declared.parameters}
    blocks = list(unit.blocks())
    before_texts, after_texts = ({text for b in blocks for _, text in b[side]} for side in (0, 1))
    for removed, added in blocks:
        is_small = 0 < len(removed) <= MAX_LINES and 0 < len(added) <= MAX_LINES
        old, new = (_by_template(lines if is_small else ()) for lines in (removed, added))
        for template in [template for template in new if template in old]:
            (_, before, left), (line, after, right) = old[template][-1], new[template][-1]
            pairs = [(a, b) for a, b in zip(left, right, strict=True) if a[0] != b[0]]
            # With a second line of the same form, one of them may only have moved.
            is_sure = len(old[template]) == len(new[template]) == len(pairs) == 1
            if is_sure and before not in after_texts and after not in before_texts:
                start, end = pairs[0][1].span()
                literals, name = (pairs[0][0][0], after[start:end]), _name(after[:start])
                if (name, literals[1]) not in defaults:
                    yield Edit(*literals, line, after[:start], after[end:], name)


def _by_template(lines: Sequence[tuple[int, str]]) -> dict[tuple[str, ...], list[_Line]]:
    """Group lines of code that differ in nothing but their literals."""
    groups: dict[tuple[str, ...], list[_Line]] = {}
    for line, text in lines:
        code = _NOTE.split(text, maxsplit=1)[0].rstrip(",; ")
        if len(code) <= MAX_LINE and code[:1] not in {"#", "/", "*"}:
            tokens = list(_TOKEN.finditer(code))
            template = tuple("" if token[1] else token[0] for token in tokens)
            groups.setdefault(template, []).append((line, code, tokens))
    return groups


def _name(prefix: str) -> str:
    # The first factors of a product are not what follows a name.
    stem = prefix.rstrip("0123456789 *._+(@") + " " * prefix.endswith(" ")
    match = _NAME_BEFORE.search(prefix) or _NAME_BEFORE.search(stem)
    return next(filter(None, match.groups()), "") if match else ""
