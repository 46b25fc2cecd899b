"""Consequences of changed constants: limits and times, keys, addresses, paths."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crscore.claims.structural.english import Statement, fits
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.change import squeeze
from crscore.text import quote, split_identifier

MAX_LINE_CHARS: Final = 300
"""Maximum characters of a line that is compared."""
MAX_BLOCK_LINES: Final = 60
"""Maximum removed or added lines of a block; longer blocks are rewritten code, or data."""

_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_QUANTITIES: Final = [
    (re.compile(rf"\b(?:{row['words']})\b"), row["higher"], row["lower"])
    for row in _TABLES["quantities"]
]
_KEYS: Final = [
    (re.compile(row["literal"]), re.compile(row["context"]), row["sentence"])
    for row in _TABLES["keys"]
]
_NUMBER: Final = re.compile(r"[\"']?(\d[\d_]*+(?:\.\d+)?)([A-Za-z]{0,2})[\"']?")
_FACTORS: Final = re.compile(r"(?<![\w.])(?:\d[\d_.]* \* ){1,4}$")
_PRODUCT: Final = re.compile(r"(?: \* [\w.]+){0,4}")
_QUOTES: Final = re.compile(r"^[\"'`]|[\"'`]$")
# Files whose constants do not affect running code.
_ASIDE: Final = re.compile(
    r"(?i)(?:^|[/._-])(?:evals?|lang|locali[sz]\w*|i18n)(?:[/._]|$)|\.(?:c|le|sc)ss$"
)
# A token; literals are captured by the group.
_TOKEN: Final = re.compile(
    r"""("(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+'|`[^`]*+`"""
    # A slash begins a regular expression if it cannot be a division.
    r"|(?<=[(=,:?|&] |.[(=,:])/(?![/*])(?:\\.|[^/\\])++/\w*"
    r"|\b(?:[Tt]rue|[Ff]alse)\b|\b\d[\w.]*+)|[A-Za-z_$][\w$]*+|[^\w\s]"
)
_COMMENT: Final = re.compile(r"\s(?:#|//)\s")
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
    """Code before it on the line."""
    rest: str
    """Code after it on the line."""
    name: str
    """Name of the variable or parameter that has this value; may be empty."""


def find_quantity(unit: Evidence) -> Iterator[Statement]:
    """Find a limit, a time or a size whose value changed."""
    for edit in _edits(unit):
        left = (_FACTORS.search(edit.prefix) or [""])[0]
        right = (_PRODUCT.match(edit.rest) or [""])[0]
        old, new = (quote(left + number + right) for number in (edit.before, edit.after))
        if question := _question(edit):
            text = f"{quote(edit.name)} is now {new} instead of {old}: {question}"
            yield Statement(text, ((True, edit.line),))


def _question(edit: Edit) -> str:
    """Return the question that a changed number raises; empty for most numbers."""
    old, new = map(_NUMBER.fullmatch, (edit.before, edit.after))
    if old is None or new is None or old[2] != new[2]:
        return ""
    difference = float(new[1].replace("_", "")) - float(old[1].replace("_", ""))
    words = " ".join(split_identifier(edit.name))
    rows = (row for row in _QUANTITIES if row[0].search(words) and difference)
    return next((higher if difference > 0 else lower for _, higher, lower in rows), "")


def find_key(unit: Evidence) -> Iterator[Statement]:
    """Find a changed key, address, path or tag that other code or stored data may depend on."""
    for edit in _edits(unit):
        is_elsewhere = edit.before[0] in "\"'`" and squeeze(edit.before) in unit.new.all_squeezed
        if is_elsewhere or not fits(edit.before, edit.after) or _question(edit):
            continue
        context = f"{edit.prefix}…{edit.rest}"
        for literal, surroundings, sentence in _KEYS:
            if surroundings.search(context) and all(map(literal.fullmatch, edit[:2])):
                old, new = (quote(_QUOTES.sub("", text)) for text in edit[:2])
                yield Statement(sentence.format(new=new, old=old), ((True, edit.line),))
                break


def _edits(unit: Evidence) -> Iterator[Edit]:
    """Yield the changed literals in lines that are otherwise unchanged."""
    is_aside = _ASIDE.search(unit.change.file.path)
    if is_aside or unit.change.state not in {"changed", "renamed"}:
        return
    blocks = list(unit.blocks())
    before_texts, after_texts = ({text for b in blocks for _, text in b[side]} for side in (0, 1))
    for removed, added in blocks:
        is_small = 0 < len(removed) <= MAX_BLOCK_LINES and 0 < len(added) <= MAX_BLOCK_LINES
        old, new = (_by_template(lines if is_small else ()) for lines in (removed, added))
        for template in [template for template in new if template in old]:
            (_, before, left), (line, after, right) = old[template][-1], new[template][-1]
            pairs = [(a, b) for a, b in zip(left, right, strict=True) if a[0] != b[0]]
            # If there is a second line of the same form, one of the two may only have moved.
            is_sure = len(old[template]) == len(new[template]) == len(pairs) == 1
            if is_sure and before not in after_texts and after not in before_texts:
                start, end = pairs[0][1].span()
                prefix, rest = after[:start], after[end:]
                yield Edit(pairs[0][0][0], after[start:end], line, prefix, rest, _name(prefix))


def _by_template(lines: Sequence[tuple[int, str]]) -> dict[tuple[str, ...], list[_Line]]:
    """Group lines of code that differ only in their literals."""
    groups: dict[tuple[str, ...], list[_Line]] = {}
    for line, text in lines:
        code = _COMMENT.split(text, maxsplit=1)[0].rstrip(",; ")
        if len(code) <= MAX_LINE_CHARS and code[:1] not in {"#", "/", "*"}:
            tokens = list(_TOKEN.finditer(code))
            template = tuple("" if token[1] else token[0] for token in tokens)
            groups.setdefault(template, []).append((line, code, tokens))
    return groups


def _name(prefix: str) -> str:
    # The first factors of a product may separate the name from the literal.
    stem = prefix.rstrip("0123456789 *._+(@") + " " * prefix.endswith(" ")
    match = _NAME_BEFORE.search(prefix) or _NAME_BEFORE.search(stem)
    return next(filter(None, match.groups()), "") if match else ""
