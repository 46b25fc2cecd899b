"""Finds consequences of a change that a reviewer should ask about, from both versions of the code.

There is a rule for each kind of consequence. A rule is kept only if readers found its results
useful in at least 7 of 10 cases (docs/design/003-structural-claims.md).
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from crscore.claims.structural.change import is_shipped
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.quoting import Statement, about, can_quote, split_arguments
from crscore.syntax.change import squeeze
from crscore.syntax.outline import Kind, Role
from crscore.text import find_code_spans, quote, split_identifier

# The time of some patterns grows with the square of a line's length.
MAX_LINE_CHARS: Final = 300
"""Maximum characters of a changed line; a unit with a longer line has no consequences."""
# If more lines changed, the file was rewritten, and single lines show no consequences.
MAX_LINES: Final = 1000
"""Maximum changed lines of a file; files with more have no consequences."""
MAX_CONDITIONS: Final = 40
"""Maximum number of added and removed conditions of a unit that are looked at."""
# Longer blocks are rewritten code, or data.
MAX_BLOCK_LINES: Final = 60
"""Maximum removed lines, and added lines, of a block in which literals are compared."""
_NAME: Final = re.compile(r"[\w$]+")
# "count", "$a" and "user" of "not user.is_active"; not "None", "is"
_VARIABLE: Final = re.compile(
    r"(?<![\w$])(?!(?:not|is|in|null|nil|None|[Tt]rue)\b)[A-Za-z_$][\w$]*"
)
# Calls that log, comments, and lines of up to 7 characters are too unimportant to ask about.
_DULL: Final = re.compile(r"(?i)[\w.$>-]*(?:log|print|console)|[/#*]|.{0,7}$")
# Code that reads an environment variable that may not be set. Variables that GitHub Actions or the
# system always sets are excluded:
# https://docs.github.com/en/actions/reference/workflows-and-actions/variables
_ENVIRONMENT: Final = re.compile(
    r"(?:os\.environ(?:\.get)?[\[(]|os\.getenv\(|os\.Getenv\(|process\.env(?:\.|\[)"
    r"|System\.getenv\(|\bENV(?:\.fetch)?[\[(]|\bgetenv\(|Environment\.GetEnvironmentVariable\()"
    r"[\"']?((?!GITHUB_|CI\b|HOME\b|PATH\b|LOCALAPPDATA|DEBUG\b|NODE_ENV|USER\b)[A-Z][A-Z0-9_]{2,})"
)
# `OPEN = "open"`, `Open,`, `case Open`, `Open(1)`
_MEMBER: Final = re.compile(r"(?:case )?([A-Z]\w*)\s*+(?:,|=|\(|;|$)")
# Enumerations that only list names, which code seldom handles one by one.
_NAME_LIST: Final = re.compile(r"(?:Keys?|Names?|Actions?|Events?|Routes?)$")
# `@pytest.mark.skip`, `@Disabled`, `[Ignore]`, `t.Skip(`, `it.skip(`, `xit(`
_SKIP: Final = re.compile(
    r"(?i)^@(?:[a-z]+\.){0,3}(?:skip|xfail|disabled|ignore)\b|^\[(?:Ignore|Explicit)\b"
    r"|^(?:t\.Skip\w*|pytest\.skip|self\.skipTest|(?:\$this->|self::)markTestSkipped)\("
    r"|\b(?:it|test|describe)\.(?:skip|todo|fixme)\(|\bx(?:it|describe|test)\(|->(?:skip|todo)\("
)
# If the line before contains such a word, the test is skipped only under a condition.
_BRANCH: Final = re.compile(r"(?i)\b(?:if|else|except|catch|case)\b")
_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_QUANTITIES: Final = [
    (re.compile(rf"\b(?:{row['words']})\b"), row["higher"], row["lower"])
    for row in _TABLES["quantities"]
]
_KEYS: Final = [
    (re.compile(row["literal"]), re.compile(row["context"]), row["sentence"])
    for row in _TABLES["keys"]
]
# "30", "1_000", "2.5", "30s", "'10'", "10ms"; not "30 s", "v2"
_NUMBER: Final = re.compile(r"[\"']?(\d[\d_]*+(?:\.\d+)?)([A-Za-z]{0,2})[\"']?")
# "60 * " and "24 * 60 * " before a changed number
_FACTORS: Final = re.compile(r"(?<![\w.])(?:\d[\d_.]* \* ){1,4}$")
# " * 1024" and " * 60 * 1000" after a changed number
_PRODUCT: Final = re.compile(r"(?: \* [\w.]+){0,4}")
_QUOTES: Final = re.compile(r"^[\"'`]|[\"'`]$")
# Paths of files whose constants do not affect running code.
_INERT_PATH: Final = re.compile(
    r"(?i)(?:^|[/._-])(?:evals?|lang|locali[sz]\w*|i18n)(?:[/._]|$)|\.(?:c|le|sc)ss$"
)
# One token of code; the group captures a token that is a literal.
_TOKEN: Final = re.compile(
    r"""("(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+'|`[^`]*+`"""
    # A slash begins a regular expression if it cannot be a division.
    r"|(?<=[(=,:?|&] |.[(=,:])/(?![/*])(?:\\.|[^/\\])++/\w*"
    r"|\b(?:[Tt]rue|[Ff]alse)\b|\b\d[\w.]*+)|[A-Za-z_$][\w$]*+|[^\w\s]"
)
# "x = 1  # why", "x = 1; // why"; not "http://host", "#include"
_COMMENT: Final = re.compile(r"\s(?:#|//)\s")
_NAME_BEFORE: Final = re.compile(
    # Code that names the literal after it: `wait: float = Field(default=`, `wait: float = `,
    # `get("wait", `, `wait `, `sleep(`
    r"^(\w+): [\w\[\]|. ]{1,40} = \w+\(default=$"
    r"|([A-Za-z_$][\w$.-]*+)[\"'\])?]*+\s?(?::\s?[\w\[\]|.<>? ]{1,40})?\s?(?::?=|:|=>|\?\?)\s?$"
    r"|(?i:default|get|env|option|property)\w*\(@?[\"']?([\w.]+)[\"']?, $|^([\w-]+)\s$"
    r"|([A-Za-z_$][\w$.]*+)\($"
)
_Line: TypeAlias = tuple[int, str, list[re.Match[str]]]
"""Number of a line, its code without a comment, and its tokens."""


class Edit(NamedTuple):
    """Changed literal in a line that is otherwise the same in both versions."""

    before: str
    """The literal in the old version."""
    after: str
    """The literal in the new version."""
    line: int
    """Number of the line in the new version."""
    prefix: str
    """Code before the literal on the line."""
    suffix: str
    """Code after the literal on the line."""
    name: str
    """Name of the variable, parameter or function that the literal is for; "" if unknown."""


def find_consequences(unit: Evidence) -> Iterator[Statement]:
    """Yield the consequences of the change of one unit, at most one of each rule.

    A consequence is left out if earlier consequences quote all names that it quotes.
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
    """Yield a question about each line that has a new condition or has lost its condition."""
    other_conditions = {
        new: [_variables(fact.text) for fact in part.facts if fact.role is Role.CONDITION]
        for new, part in ((True, unit.change.old), (False, unit.change.new))
    }
    conditions = [(False, fact) for fact in unit.removed(Role.CONDITION) if can_quote(fact.text)]
    conditions += [(True, fact) for fact in unit.added(Role.CONDITION) if can_quote(fact.text)]
    for is_added, fact in conditions[:MAX_CONDITIONS]:
        block = (unit.new if is_added else unit.old).blocks.get(fact.line)
        variables = _variables(fact.text)
        # If a condition of the other version has the same variables, such as
        # `if not a.ready: return`, the code is probably guarded in both versions.
        if block is None or any(variables <= names for names in other_conditions[is_added]):
            continue
        own_lines, other_lines = (block.added, block.removed)[:: 1 if is_added else -1]
        texts, other_texts = [t for _, t in own_lines], {t for _, t in other_lines if t}
        code = squeeze("".join(text for line, text in own_lines if line >= fact.line))
        after = code.partition(squeeze(fact.text))[2].lstrip("){:")
        # Of lines with equal text, it is unknown which one has the condition.
        bodies = [t for t in other_texts if texts.count(t) == 1 and after.startswith(squeeze(t))]
        body = max(bodies, key=len, default="").removesuffix("{").strip()
        # The sentence would be wrong for a loop, which also repeats its body, and for a condition
        # with a new `else`, whose code runs instead.
        is_unclear = "while" in code[:8] or (is_added and "else" in _variables(" ".join(texts)))
        # If the other version of the block has lines that this version lacks, it was rewritten.
        if other_texts <= {*texts} and not is_unclear and not _DULL.match(body):
            body = quote(body if split_arguments(body) is not None else body + "…")
            verb = "now runs only" if is_added else "no longer runs only"
            question = (
                "is it right to skip it otherwise?" if is_added else "does it work otherwise?"
            )
            guard = f"{fact.name or 'when'} {quote(fact.text)}"
            text = f"{body} in {unit.subject} {verb} {guard}: {question}"
            yield about([fact], text, new=is_added)


def _variables(text: str) -> set[str]:
    return set(_VARIABLE.findall(text))


def find_environment(unit: Evidence) -> Iterator[Statement]:
    """Yield a question about each environment variable that the file did not read before."""
    states = {"changed", "comments", "new", "overload", "replaced"}
    if unit.change.state not in states or not unit.change.language:
        return
    removed = [unit.old.lines[line] for line in unit.change.removed]
    for line in unit.change.added:
        match = _ENVIRONMENT.search(unit.new.lines[line].strip())
        # If the read of another variable was removed, the variable may only have a new name.
        if match is None or any(map(_ENVIRONMENT.search, removed)):
            continue
        if squeeze(match[1]) not in unit.old.all_squeezed and can_quote(match[1]):
            question = "what happens where it is not set?"
            event = "is an environment variable that was not read before"
            yield Statement(
                f"{quote(match[1])} in {unit.subject} {event}: {question}", ((True, line),)
            )


def find_member(unit: Evidence) -> Iterator[Statement]:
    """Yield a question about each new member of an enumeration."""
    change, name = unit.change, unit.change.short_name
    words = change.unit.head_tokens if change.unit else ()
    is_enum = any(word.lower().endswith("enum") for word in (change.noun, *words))
    # If a member was removed, a new member may be the same one with a new name.
    is_renamed = any(_MEMBER.match(text) for lines, _ in unit.blocks() for _, text in lines)
    if not is_enum or is_renamed or change.state != "changed" or _NAME_LIST.search(name):
        return
    for line, code in [row for _, added in unit.blocks() for row in added]:
        member = _MEMBER.match(code)
        if member and member[1] != name and member[1] not in unit.old.words:
            question = "does every `switch` and table over it handle that?"
            text = f"{quote(name)} has the new member {quote(member[1])}: {question}"
            yield Statement(text, ((True, line),))


def find_skipped(unit: Evidence) -> Iterator[Statement]:
    """Yield a question about a test that is now skipped."""
    if unit.change.kind is not Kind.TEST or unit.change.state != "changed":
        return
    for block in dict.fromkeys(unit.new.blocks[line] for line in unit.change.added):
        was_skipped = any(_SKIP.search(text) for _, text in block.removed)
        for line, text in () if was_skipped else block.added:
            if _SKIP.search(text) and not _BRANCH.search(unit.new.lines.get(line - 1, "")):
                question = "what has to happen before it runs again?"
                yield Statement(f"{unit.subject} is now skipped: {question}", ((True, line),))


def find_quantity(unit: Evidence) -> Iterator[Statement]:
    """Yield a question about each limit, time or size whose value changed."""
    for edit in _find_edits(unit):
        left = (_FACTORS.search(edit.prefix) or [""])[0]
        right = (_PRODUCT.match(edit.suffix) or [""])[0]
        old, new = (quote(left + number + right) for number in (edit.before, edit.after))
        if question := _ask_about_number(edit):
            text = f"{quote(edit.name)} is now {new} instead of {old}: {question}"
            yield Statement(text, ((True, edit.line),))


def _ask_about_number(edit: Edit) -> str:
    """Return the question about a changed number in `consequences.toml`; "" if there is none."""
    old, new = map(_NUMBER.fullmatch, (edit.before, edit.after))
    if old is None or new is None or old[2] != new[2]:
        return ""
    difference = float(new[1].replace("_", "")) - float(old[1].replace("_", ""))
    words = " ".join(split_identifier(edit.name))
    rows = (row for row in _QUANTITIES if row[0].search(words) and difference)
    return next((higher if difference > 0 else lower for _, higher, lower in rows), "")


def find_key(unit: Evidence) -> Iterator[Statement]:
    """Yield a question about each changed key, address, path or tag.

    Other code or stored data may depend on the old one.
    """
    for edit in _find_edits(unit):
        is_elsewhere = edit.before[0] in "\"'`" and squeeze(edit.before) in unit.new.all_squeezed
        if is_elsewhere or not can_quote(edit.before, edit.after) or _ask_about_number(edit):
            continue
        context = f"{edit.prefix}…{edit.suffix}"
        for literal, surroundings, sentence in _KEYS:
            if surroundings.search(context) and all(map(literal.fullmatch, edit[:2])):
                old, new = (quote(_QUOTES.sub("", text)) for text in edit[:2])
                yield Statement(sentence.format(new=new, old=old), ((True, edit.line),))
                break


def _find_edits(unit: Evidence) -> Iterator[Edit]:
    """Yield the changed literals of lines that are otherwise the same in both versions."""
    is_inert = _INERT_PATH.search(unit.change.file.path)
    if is_inert or unit.change.state not in {"changed", "renamed"}:
        return
    blocks = list(unit.blocks())
    before_texts, after_texts = ({text for b in blocks for _, text in b[side]} for side in (0, 1))
    for removed, added in blocks:
        is_small = 0 < len(removed) <= MAX_BLOCK_LINES and 0 < len(added) <= MAX_BLOCK_LINES
        old, new = (_group_by_template(lines if is_small else ()) for lines in (removed, added))
        for template in [template for template in new if template in old]:
            (_, before, left), (line, after, right) = old[template][-1], new[template][-1]
            pairs = [(a, b) for a, b in zip(left, right, strict=True) if a[0] != b[0]]
            # If another line of the block has the same template, it is unknown which one changed.
            is_sure = len(old[template]) == len(new[template]) == len(pairs) == 1
            if is_sure and before not in after_texts and after not in before_texts:
                start, end = pairs[0][1].span()
                prefix, suffix = after[:start], after[end:]
                # In `wait = 60 * 5`, factors stand between the name and the changed literal.
                stem = prefix.rstrip("0123456789 *._+(@") + " " * prefix.endswith(" ")
                match = _NAME_BEFORE.search(prefix) or _NAME_BEFORE.search(stem)
                name = next(filter(None, match.groups()), "") if match else ""
                yield Edit(pairs[0][0][0], after[start:end], line, prefix, suffix, name)


def _group_by_template(lines: Sequence[tuple[int, str]]) -> dict[tuple[str, ...], list[_Line]]:
    """Group lines by their template, which is their tokens with "" for each literal."""
    groups: dict[tuple[str, ...], list[_Line]] = {}
    for line, text in lines:
        code = _COMMENT.split(text, maxsplit=1)[0].rstrip(",; ")
        if len(code) <= MAX_LINE_CHARS and code[:1] not in {"#", "/", "*"}:
            tokens = list(_TOKEN.finditer(code))
            template = tuple("" if token[1] else token[0] for token in tokens)
            groups.setdefault(template, []).append((line, code, tokens))
    return groups


Rule = Callable[[Evidence], Iterator[Statement]]
TEST_RULES: Final[dict[str, Rule]] = {"skipped": find_skipped}
# Number of cases that readers found useful, on commits that were not used to develop the rules
# (docs/design/003-structural-claims.md): guard 12 of 16, environment 3 of 4, quantity 8 of 10, key
# 12 of 17, member 3 of 3, skipped 4 of 4. Rules for new checks that fail (8 of 15) and for
# swallowed errors (8 of 32) were deleted.
RULES: Final[dict[str, Rule]] = {
    "guard": find_guarded,
    "environment": find_environment,
    "quantity": find_quantity,
    "key": find_key,
    "member": find_member,
    **TEST_RULES,
}
"""Name in `ranking.toml` -> rule; if two rules quote the same names, the earlier one counts."""
