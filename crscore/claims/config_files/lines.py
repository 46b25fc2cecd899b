"""Claims about files in languages without a reader, from the names in the changed lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.claims.config_files.words import code, listed, quote_text, replaced
from crscore.records import LineKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.records import DiffLine, Hunk

MAX_LINE: Final = 2_000
_PAIRED: Final = 60
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
_KEYWORD_LIST: Final = (
    "abstract and as async await begin bool boolean break case catch char class const "
    "continue def default defer do double elif else elsif end enum export extends extension "
    "extern false final finally float fn for foreach from fun func function go guard if impl "
    "implements import in inline int interface internal is it let local long loop match mod "
    "module mut namespace new nil none not null object of open operator or out override "
    "package private proc protected protocol pub public readonly ref return sealed self short "
    "static string struct super switch sub template then this throw throws trait true try "
    "type typedef union unless unsafe until use using val var virtual void when where while "
    "with yield "
)
_KEYWORDS: Final = frozenset(_KEYWORD_LIST.split())
_COMMENT: Final = re.compile(
    r"\s*(?://+|#+(?!\[|include|define|if|end)|--+|/?\*+|;+|%+|<!--)\s*(.*)$"
)
_IMPORT: Final = re.compile(
    r"\s*(?:pub\s+)?(?:#?\s*import|#\s*include|use|using|require|from|open|library)\b\s*\(?(.+)$"
)
_DEFINITION: Final = re.compile(
    r"\s*(?:[\w()@]+\s+){0,5}?"
    r"(fun|func|fn|def|sub|function|proc|defn|macro|class|struct|enum|interface|trait|protocol|"
    r"object|module|record|type|resource|variable|message|service|rpc|table)\s+"
    r"[\"(]?([A-Za-z_$][\w$.:-]*)"
)
_RETURN: Final = re.compile(r"\s*return\b\s*(.*)$")
_CONDITION: Final = re.compile(
    r"\s*(?:\}\s*)?(?:else\s+)?(if|elif|elsif|while|when|guard|unless|until|for|match|switch)\b(.*)$"
)
_ASSIGNMENT: Final = re.compile(
    r"\s*(?:(?:let|var|val|const|mut|my|local|final|static|private|public|pub)\s+)*"
    r"([A-Za-z_$][\w$.]*)(?:\s*:\s*[^=]{1,80})?\s*(?::=|<-|=)(?!=)\s*(.+)$"
)
_CALL: Final = re.compile(r"(?<![\w$.:!?])([A-Za-z_$][\w$.:!?]*)\s*\(([^()]{0,120})")
_NOUNS: Final = {
    "fun": "function", "func": "function", "fn": "function", "def": "function", "sub": "function",
    "proc": "function", "defn": "function", "rpc": "procedure",
}  # fmt: skip


class LineClaim(NamedTuple):
    """One claim about a run of lines."""

    text: str
    weight: float
    lines: tuple[DiffLine, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    removed: tuple[DiffLine, ...]
    added: tuple[DiffLine, ...]
    place: str
    """Name of the enclosing definition; "" when none is visible."""

    @property
    def lines(self) -> tuple[DiffLine, ...]:
        return self.removed + self.added


def describe_lines(hunks: Sequence[Hunk]) -> Iterator[LineClaim]:
    """Describe each run of changed lines.

    Args:
        hunks: The hunks of one file.

    Yields:
        One claim for each run, in order.
    """
    for hunk in hunks:
        for run in _runs(hunk):
            claim = _describe_run(run)
            if claim is not None:
                yield claim


def _runs(hunk: Hunk) -> Iterator[_Run]:
    match = _DEFINITION.match(hunk.section)
    scopes = [(0, match[2])] if match else []
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in hunk.lines:
        if line.kind is LineKind.CONTEXT:
            if removed or added:
                yield _run(removed, added, scopes)
                removed, added = [], []
            header = _DEFINITION.match(line.text[:MAX_LINE])
            if header:
                indent = _indent(line)
                scopes = [scope for scope in scopes if scope[0] < indent]
                scopes.append((indent, header[2]))
        else:
            (removed if line.kind is LineKind.REMOVED else added).append(line)
    if removed or added:
        yield _run(removed, added, scopes)


def _run(
    removed: Sequence[DiffLine], added: Sequence[DiffLine], scopes: Sequence[tuple[int, str]]
) -> _Run:
    """Return the definition that all lines are indented under."""
    indents = [_indent(line) for line in (*removed, *added) if line.text.strip()]
    least = min(indents, default=0)
    place = next((name for indent, name in reversed(scopes) if indent < least), "")
    return _Run(removed=tuple(removed), added=tuple(added), place=place)


def _indent(line: DiffLine) -> int:
    return len(line.text) - len(line.text.lstrip())


def names_in(lines: Sequence[DiffLine], limit: int = 6) -> tuple[str, ...]:
    """Return the identifiers in some lines, without keywords, in order of appearance."""
    found: dict[str, None] = {}
    for line in lines[:_PAIRED]:
        for name in _NAME.findall(line.text[:MAX_LINE]):
            if len(name) > 1 and name.lower() not in _KEYWORDS:
                found[name] = None
                if len(found) == limit:
                    return tuple(found)
    return tuple(found)


def _describe_run(run: _Run) -> LineClaim | None:
    removed = [text for line in run.removed if (text := line.text[:MAX_LINE].strip())]
    added = [text for line in run.added if (text := line.text[:MAX_LINE].strip())]
    if not removed and not added:
        return None
    names = names_in((*run.added, *run.removed))
    place = f" in {code(run.place)}" if run.place else ""
    if [one.split() for one in removed] == [one.split() for one in added]:
        around = f" around {listed([code(name) for name in names], 3)}" if names else place
        return LineClaim(f"Only the white space changes{around}.", 0.15, run.lines, names)
    if removed and added:
        text, weight = _changed(removed, added, place)
    else:
        text, weight = _one_sided(added or removed, place, is_added=bool(added))
    return LineClaim(text, weight, run.lines, names)


def _changed(removed: list[str], added: list[str], place: str) -> tuple[str, float]:
    kept = set(removed) & set(added)
    old = [one for one in removed if one not in kept]
    new = [one for one in added if one not in kept]
    if not old and not new:
        return f"The order of lines such as {code(added[0])} changes{place}.", 0.3
    if not old or not new:
        return _one_sided(new or old, place, is_added=bool(new))
    return _rewritten(old, new, place)


def _rewritten(old: list[str], new: list[str], place: str) -> tuple[str, float]:
    if len(old) == len(new) == 1:
        return _line_changed(old[0], new[0], place)
    renamed = _renamed(old, new)
    if renamed:
        return f"{code(renamed[0])} is renamed to {code(renamed[1])}{place}.", 0.7
    after = [action for one in new[:_PAIRED] if (action := _action(one))]
    gone = _subjects(old, new)
    if after:
        end = f", in place of code with {listed([code(one) for one in gone], 3)}" if gone else ""
        return f"The changed code{place} now {listed(after, 3)}{end}.", 0.6
    subjects = [code(one) for one in _subjects(new, [])]
    if subjects:
        text = f"Lines dealing with {listed(subjects, 4)} are changed{place}."
    else:
        text = f"Lines such as {code(old[0])} become {code(new[0])}{place}."
    return text, 0.35


def _line_changed(old: str, new: str, place: str) -> tuple[str, float]:  # noqa: PLR0911  (one for each form)
    if (was := _COMMENT.match(old)) and (now := _COMMENT.match(new)):
        return (
            f"A comment{place} now says {quote_text(now[1])} instead of {quote_text(was[1])}.",
            0.3,
        )
    if (was := _CONDITION.match(old)) and (now := _CONDITION.match(new)):
        test = code(_test_of(now[2]))
        return (
            f"The condition{place} now checks {test} instead of {code(_test_of(was[2]))}.",
            0.7,
        )
    if (was := _RETURN.match(old)) and (now := _RETURN.match(new)):
        return f"The code{place} now returns {code(now[1])} instead of {code(was[1])}.", 0.7
    if (was := _ASSIGNMENT.match(old)) and (now := _ASSIGNMENT.match(new)) and was[1] == now[1]:
        values = f"{code(now[2])} instead of {code(was[2])}"
        return f"{code(now[1])}{place} is now set to {values}.", 0.65
    if (was := _DEFINITION.match(old)) and (now := _DEFINITION.match(new)) and was[2] == now[2]:
        noun = _NOUNS.get(now[1], now[1])
        return f"The declaration of the {noun} {code(now[2])} changes to {code(new)}.", 0.7
    part = replaced(old, new)
    if not part.old:
        return f"The line {code(old, 70)}{place} now also has {code(part.new)}.", 0.55
    if not part.new:
        return f"The line {code(old, 70)}{place} no longer has {code(part.old)}.", 0.55
    return (
        f"{code(part.old)} is replaced by {code(part.new)} in the line {code(new, 70)}{place}.",
        0.6,
    )


def _renamed(old: list[str], new: list[str]) -> tuple[str, str] | None:
    """Return the one name that differs in every line, when nothing else differs."""
    if len(old) != len(new) or len(old) > _PAIRED:
        return None
    found = {replaced(was, now) for was, now in zip(old, new, strict=True)}
    if len(found) != 1:
        return None
    was, now = found.pop()
    return (was, now) if _NAME.fullmatch(was) and _NAME.fullmatch(now) else None


def _one_sided(lines: list[str], place: str, *, is_added: bool) -> tuple[str, float]:
    verb = "added" if is_added else "removed"
    comments = [match[1] for one in lines if (match := _COMMENT.match(one))]
    if len(comments) == len(lines):
        return f"A comment is {verb}{place}: {quote_text(' '.join(comments))}.", 0.3
    kept = [one for one in lines if not _COMMENT.match(one)]
    imports = [match[1].strip(" ;\"'()<>{") for one in kept if (match := _IMPORT.match(one))]
    if len(imports) == len(kept):
        noun = "An import" if len(imports) == 1 else "Imports"
        verb = f"{'is' if len(imports) == 1 else 'are'} {verb}"
        return f"{noun} of {listed([code(one, 60) for one in imports])} {verb}.", 0.45
    definitions = [match for one in kept if (match := _DEFINITION.match(one))]
    if definitions:
        parts = [f"the {_NOUNS.get(one[1], one[1])} {code(one[2])}" for one in definitions]
        what = listed(list(dict.fromkeys(parts)))
        plural = "are" if len(set(parts)) > 1 else "is"
        return f"{what[0].upper()}{what[1:]} {plural} {verb}{place}.", 0.75
    actions = [action for one in kept[:_PAIRED] if (action := _action(one))]
    if actions:
        adverb = "now" if is_added else "no longer"
        return f"The code{place} {adverb} {listed(list(dict.fromkeys(actions)), 3)}.", 0.6
    names = _subjects(kept, [])
    if not names:
        return f"The line {code(kept[0])} is {verb}{place}.", 0.2
    return f"Lines dealing with {listed([code(one) for one in names], 4)} are {verb}{place}.", 0.4


def _action(line: str) -> str | None:  # noqa: PLR0911  (one for each form)
    """Describe one line in the third person."""
    if _COMMENT.match(line):
        return None
    if match := _RETURN.match(line):
        return f"returns {code(match[1].rstrip(';'), 60)}" if match[1].strip(" ;") else None
    if _DEFINITION.match(line):
        return f"declares {code(line.rstrip(' {'), 80)}"
    if match := _CONDITION.match(line):
        return f"checks {code(_test_of(match[2]), 60)}" if _test_of(match[2]) else None
    if match := _ASSIGNMENT.match(line):
        # a value that begins on this line and ends on another
        value = "" if match[2] in "{[(" else f" to {code(match[2].rstrip(';'), 60)}"
        return f"sets {code(match[1])}{value}"
    if (match := _CALL.search(line)) and match[1].lower() not in _KEYWORDS:
        arguments = match[2].strip()
        return f"calls {code(match[1])}" + (f" with {code(arguments, 50)}" if arguments else "")
    return None


def _test_of(text: str) -> str:
    """Return the condition after its keyword: `(x > 1) return y` checks `x > 1`."""
    text = text.strip(" {:")
    if not text.startswith("("):
        return text
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            after = text[at + 1 :].strip()
            # `(a) && (b)` goes on, `(a) return b` does not
            return text if after and after[0] in "&|=<>+-*/.?" else text[1:at]
    return text


def _subjects(lines: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return the names in some lines and not in others, in order."""
    known = {name for one in other for name in _NAME.findall(one)}
    found: dict[str, None] = {}
    for one in lines[:_PAIRED]:
        for name in _NAME.findall(one):
            if len(name) > 1 and name.lower() not in _KEYWORDS and name not in known:
                found[name] = None
    return list(found)
