"""Sentences that only restate what the change does.

A restatement is declarative, consists of the change's own code and of words that report changes,
and contains no request, value judgement or stance. Six features measure this in the sentence and in
its whole comment, and a logistic model weighs them (`restating.toml`). Only words are used, no
vectors, so the encoder has no effect.
"""

from __future__ import annotations

import importlib.resources
import math
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from crscore.records import LineKind
from crscore.text.stopwords import ENGLISH
from crscore.text.words import split_identifier

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from crscore.matchers.base import Cells
    from crscore.records import Diff, PseudoReference

    Floats = npt.NDArray[np.float64]
    Marks = npt.NDArray[np.bool_]

_RULE: Final = tomllib.loads(
    importlib.resources.files(__package__).joinpath("restating.toml").read_text(encoding="utf-8")
)
WEIGHTS: Final[dict[str, float]] = _RULE["fitted"]["weights"]
"""Feature -> weight, in column order."""
BIAS: Final[float] = _RULE["fitted"]["bias"]
"""Bias of the weighted sum; a sum above 0 is a restatement."""

MAX_DIFF_CHARS: Final = 200_000
"""Maximum characters read of the added and of the removed lines."""
MAX_SENTENCE_CHARS: Final = 2_000
"""Maximum characters read of a sentence: unclosed quotes take quadratic time."""
CONTAINED: Final = 0.8
"""Share of a pseudo-reference's words in a sentence from which the sentence repeats it."""
SHORTEST: Final = 4
"""Minimum distinct words of a pseudo-reference; a shorter one matches many sentences by chance."""
CLAUSE: Final = 14
"""Words of one clause: a cue has the same weight in a long sentence as in one of its clauses."""

# `a.b`, "text", 'text', “text”; not the apostrophes of "don't" and "users' code".
_QUOTED: Final = re.compile(
    r"`[^`]*`|“[^”]*”|(?<!\w)\"[^\"]{1,400}\"|(?<![\w'])'[^'\n]{1,400}'(?!\w)"
)
# "parseHeader", "max_size", "a.b()", "limit", "don't": code and plain words.
_TOKEN: Final = re.compile(r"[A-Za-z_$@][\w$]*(?:['’][a-z]+\b|(?:[.:]{1,2}[\w$]+)*)(?:\(\))?")
_LOOKS_CODED: Final = re.compile(r"[a-z][A-Z]|\w_|_\w|[$@()]|\w[.:]+\w")
# "I notice that", "we can see", "I have added": the author reports.
_NARRATES: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have| can| could)? (?:also )?"
    r"(?:notic\w+|s[ae]e|saw|seen|observ\w+|f[io]u?nd|g[eo]t|add\w*|remov\w+|chang\w+|renam\w+|"
    r"replac\w+|mov\w+|updat\w+|made|delet\w+)\b"
)


def _compile_cues(*kinds: str) -> tuple[re.Pattern[str], ...]:
    patterns = []
    for kind in kinds:
        cues = "|".join(_RULE[kind]["cues"].split())
        patterns += [rf"\b(?:{cues})(?!\w)", *_RULE[kind].get("patterns", ())]
    return tuple(map(re.compile, patterns))


_OPINIONS: Final = _compile_cues("values", "speaks")
_ASKS: Final = _compile_cues("asks")
_INFERS: Final = _compile_cues("infers")
_REPORTS: Final = _compile_cues("reports")
_ORDERS: Final = _compile_cues("orders")[0]


class Features(NamedTuple):
    """Features of S sentences."""

    table: Floats
    """Shape (S, 6), columns as in `WEIGHTS`, each finite."""
    excluded: Marks
    """Shape (S,): sentences that judge, or are only code; never restatements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """Words of the change and of its pseudo-references."""

    names: frozenset[str]
    """Identifiers of the changed lines that look like code, in lower case."""
    words: frozenset[str]
    """Words in the changed lines."""
    added: str
    """Added lines, normalized by `_squeeze`."""
    removed: str
    """Removed lines, likewise."""
    references: tuple[tuple[frozenset[str], str], ...]
    """Words of each pseudo-reference, and its text in lower case."""


def find_restatements(cells: Cells) -> tuple[bool, ...]:
    """Return which sentences only restate the change.

    Args:
        cells: One change with its pseudo-references and sentences; either may be empty. The
            vectors and cosines are not read.

    Returns:
        One mark per sentence. The whole comment counts: a sentence that leads up to a question or
        an opinion is not a restatement, unless it repeats a pseudo-reference. Nor is a sentence
        that judges, or one that is only code.
    """
    table, excluded = measure_sentences(cells)
    marks = (table @ np.array(list(WEIGHTS.values())) + BIAS > 0) & ~excluded
    return tuple(marks.tolist())


def measure_sentences(cells: Cells) -> Features:
    """Compute the features that distinguish restatements from remarks.

    `coded` is the share of a sentence's content words that are code; `covered` the share that is in
    pseudo-references which the sentence repeats; `reports` and `infers` are the distinct words for
    changes and for consequences, per clause. All are in [0, 1]. The other two are of the whole
    comment: `judging` the mean number of cues of asking, value and stance per clause, in [0, 1];
    `sentences` the logarithm of their number. Cues of value, stance and consequence that the
    changed lines contain do not count, nor do these and cues of asking in a repeated
    pseudo-reference.

    Args:
        cells: Cells, as for `find_restatements`.

    Returns:
        One row per sentence.
    """
    change = _read_change(cells.diff, cells.references)
    measured = [_measure(one.text[:MAX_SENTENCE_CHARS], change) for one in cells.sentences]
    table = np.zeros((len(measured), len(WEIGHTS)))
    table[:, :5] = np.array(measured).reshape(-1, 6)[:, :5]
    judges = table[:, 4].copy()
    # Hidden text is a separate comment: it must not affect the visible text.
    comments = np.array([2 * one.comment + one.hidden for one in cells.sentences])
    for comment in np.unique(comments):
        inside = comments == comment
        table[inside, 4:] = (judges[inside].mean(), math.log(inside.sum()))
    bare = np.array([is_bare for *_, is_bare in measured], dtype=np.bool_)
    return Features(table, bare | (judges > 0))


def _measure(text: str, change: _Change) -> tuple[float, ...]:
    """Return `coded`, `covered`, `reports`, `infers`, judging cues, and whether all is code."""
    plain, code = _split_code(text, change.names)
    coded = [word for word in split_identifier(code) if word not in ENGLISH]
    content = coded + [word for word in split_identifier(plain) if word not in ENGLISH]
    known, repeated = _find_repeated(text, change)
    clauses = max(1.0, len(text.split()) / CLAUSE)

    def find(patterns: Iterable[re.Pattern[str]]) -> set[str]:
        return {match[0] for pattern in patterns for match in pattern.finditer(plain)}

    def find_own(patterns: Iterable[re.Pattern[str]]) -> set[str]:
        return {cue for cue in find(patterns) if cue not in repeated}

    opinions, infers = find_own(_OPINIONS) - change.words, find_own(_INFERS) - change.words
    judges = len(opinions) + len(find_own(_ASKS)) + _is_order(text, plain, change)
    return (
        len(coded) / max(1, len(content)),
        sum(word in known for word in content) / max(1, len(content)),
        min(1.0, len(find(_REPORTS)) / clauses),
        min(1.0, len(infers) / clauses),
        min(1.0, judges / clauses),
        not any(len(word) > 1 for word in _TOKEN.findall(plain)),
    )


def _find_repeated(text: str, change: _Change) -> tuple[set[str], str]:
    """Return the words and the texts of the pseudo-references that a sentence repeats."""
    distinct = frozenset(split_identifier(text))
    found = [
        (words, reference)
        for words, reference in change.references
        if len(words) >= SHORTEST and len(words & distinct) >= CONTAINED * len(words)
    ]
    return set().union(*(words for words, _ in found)), "\n".join(whole for _, whole in found)


def _is_order(text: str, plain: str, change: _Change) -> bool:
    """Return whether a sentence demands something that the change has not done."""
    order = _ORDERS.match(plain)
    if order is None:
        return False
    spans = [_squeeze(quoted[1:-1]).rstrip("…") for quoted in _QUOTED.findall(text)]
    if not spans:
        return True
    if order[0] in _RULE["orders"]["adding"]:
        return any(span not in change.added for span in spans)
    if order[0] in _RULE["orders"]["removing"]:
        return any(span not in change.removed or span in change.added for span in spans)
    return spans[0] not in change.removed or spans[-1] not in change.added


def _split_code(text: str, names: frozenset[str]) -> tuple[str, str]:
    """Split a sentence into its plain words, in lower case, and its code.

    "Why is `x` in parseHeader?" gives "why is # in # ?" and "`x` parseHeader".
    """
    code: list[str] = []

    def mask(found: re.Match[str]) -> str:
        code.append(found[0])
        return " # "

    def mask_coded(found: re.Match[str]) -> str:
        is_code = _LOOKS_CODED.search(found[0]) is not None or found[0].lower() in names
        return mask(found) if is_code else found[0]

    plain = _TOKEN.sub(mask_coded, _QUOTED.sub(mask, text)).lower().replace("’", "'")
    return _NARRATES.sub("it says", " ".join(plain.split())), " ".join(code)


def _squeeze(text: str) -> str:
    """Return a text without white space, and with one kind of quote."""
    return "".join(text.split()).replace("`", "'")


def _read_change(diff: Diff, references: Iterable[PseudoReference]) -> _Change:
    added, removed = (
        "\n".join(_lines(diff, kind))[:MAX_DIFF_CHARS]
        for kind in (LineKind.ADDED, LineKind.REMOVED)
    )
    lines = f"{removed}\n{added}"
    tokens = set(_TOKEN.findall(lines))
    return _Change(
        names=frozenset(token.lower() for token in tokens if _LOOKS_CODED.search(token)),
        words=frozenset(split_identifier(lines)),
        added=_squeeze(added),
        removed=_squeeze(removed),
        references=tuple(
            (frozenset(split_identifier(one.text)), one.text.lower()) for one in references
        ),
    )


def _lines(diff: Diff, kind: LineKind) -> list[str]:
    hunks = (hunk for file in diff.files for hunk in file.hunks)
    return [line.text for hunk in hunks for line in hunk.lines if line.kind is kind]
