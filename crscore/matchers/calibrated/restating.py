"""Which sentences only say again what the change does.

A restatement is declarative, made of the change's own code and of the words in which changes
are reported, and judges nothing: it asks for nothing, values nothing and takes no stance.
Six features measure this, in the sentence and in its whole comment, and a logistic model
weighs them. It reads words alone and no vectors, so that every encoder gets the same answer.
"""

from __future__ import annotations

import math
import re
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

NAMES: Final = ("coded", "covered", "reports", "infers", "judging", "sentences")
"""The features, in the order of the weights."""
WEIGHTS: Final = (3.177, 2.848, 1.6, 0.767, -7.657, 1.139)
"""Of the features; from `benchmarks/restating.py`."""
BIAS: Final = -1.47
"""Added to the weighted sum; a sum above 0 is a restatement. From the same run."""

MAX_DIFF_CHARS: Final = 200_000
"""Characters that are read of the added and of the removed lines."""
MAX_SENTENCE_CHARS: Final = 2_000
"""Characters that are read of a sentence: unclosed quotes take quadratic time."""
CONTAINED: Final = 0.8
"""Share of a pseudo-reference's words in a sentence from which the sentence repeats it."""
SHORTEST: Final = 4
"""Distinct words below which a pseudo-reference is in many sentences by chance."""
CLAUSE: Final = 14
"""Words of one clause: a cue weighs as much in a long sentence as in one of its clauses."""

# `a.b`, "text", 'text', “text”; not the apostrophes of "don't" and "users' code".
_QUOTED: Final = re.compile(
    r"`[^`]*`|“[^”]*”|(?<!\w)\"[^\"]{1,400}\"|(?<![\w'])'[^'\n]{1,400}'(?!\w)"
)
# "parseHeader", "max_size", "a.b()", "limit", "don't"; code or word is told apart below.
_TOKEN: Final = re.compile(r"[A-Za-z_$@][\w$]*(?:['’][a-z]+\b|(?:[.:]{1,2}[\w$]+)*)(?:\(\))?")
_LOOKS_CODED: Final = re.compile(r"[a-z][A-Z]|\w_|_\w|[$@()]|\w[.:]+\w")
# "I notice that", "we can see", "I have added": the speaker reports.
_NARRATES: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have| can| could)? (?:also )?"
    r"(?:notic\w+|s[ae]e|saw|seen|observ\w+|f[io]u?nd|g[eo]t|add\w*|remov\w+|chang\w+|renam\w+|"
    r"replac\w+|mov\w+|updat\w+|made|delet\w+)\b"
)


def _any_of(patterns: str) -> re.Pattern[str]:
    """Match any of the patterns as whole words; a full stop in one stands for a space."""
    return re.compile(rf"\b(?:{'|'.join(patterns.split())})(?!\w)")


# Wants something of the author: a question, a request, an obligation, a proposal.
_ASKS: Final = (
    re.compile(
        r"\?|^(?:what|how) (?:about|if)\b|^(?:should|could|can|would|is|are|do|does|isn't|don't)\b"
    ),
    _any_of(
        r"""please pls plz why wonder\w* curious suggestion recommend(?:ed|ation)? propose
        consider(?!ed|ing.the|s) (?:i|i'd|would|can|my|a)(?:.\w+)?.suggest let's lets let.us
        (?:make|be).sure double.check feel.free remember.to don't.forget rather prefer\w*
        nit nits nitpick\w* todo should must ought shall needs? ha(?:ve|s).to supposed.to
        want.to worth would.be would(?:.\w+)?.(?:make|help|like|prefer)
        (?:you|we).(?:can|could|may|might)"""
    ),
    # "could be simplified", "can probably be removed", "may be worth", "might be clearer"
    re.compile(
        r"\b(?:can|could|may|might)(?: \w+)? be(?: \w+ly)? (?:remov|simplif|replac|renam|improv|"
        r"combin|extract|avoid|reduc|refactor|short|split|merg|omit|made|mov|delet|inlin|reus|"
        r"clean|written|better|good|help|benefi|more|useful)"
    ),
)
# Values the code.
_VALUES: Final = (
    _any_of(
        r"""good great nice\w* fine well better best clear(?:er|ly)? correct(?!s) appropriat\w+
        useful helpful neat love lgtm thanks? ok okay reasonable sensible makes?.sense
        concise\w* readab\w+ maintainab\w+ efficien\w+ easier simpler straightforward right
        important practice beneficial bad wrong\w* unnecessar\w+ redundan\w+ superfluous
        useless unused missing unclear confus\w+ buggy bugs? typos? error.prone inefficien\w+
        inconsisten\w+ misleading hard(?:er)?.to difficult complex complicated problem\w*
        issues? broken ugly weird odd strange hacky? dangerous unsafe risky concern\w*
        unfortunately careful mistake\w* worse too lacks? lacking forgot\w* overkill unintended
        incorrect\w* invalid hard.?cod\w+ magic outdated obsolete pointless"""
    ),
    re.compile(
        r"(?:\bnot|n't)(?: \w+)? (?:necessary|needed|used|clear|sure|required|recommended|"
        r"consistent|correct|ideal|work|think|like|understand|seem)\b"
    ),
)
# Takes a stance: doubt, objection, or a word to the author.
_SPEAKS: Final = (
    _any_of(
        r"""seems? appears?.to maybe perhaps probably i.think i.believe i.guess i'd i'm not.sure
        afraid looks?.(?:like|good|fine|ok) imo imho apparently you your yours you're you've
        (?:we|i).(?:should|need|do|don't|want|think|would|like|prefer|am|might|may) me us our my
        but however although though even still actually just simply already anyway"""
    ),
)
# Tells what follows, without a word on whether that is wanted.
_INFERS: Final = _any_of(
    r"""impl(?:y|ies|ied|ying|ications?) indicat\w+ suggests suggesting means.that meaning
    expect\w* (?:could|might|may)(?:.potentially)? potential\w* likely possib\w+ ensur\w+
    allow\w* prevent\w* result(?:s|ing)?.in lead(?:s|ing)?.to affects? impacts?"""
)
# Reports a change.
_REPORTS: Final = _any_of(
    r"""chang\w+ add(?:s|ed|ing|ition|itional)? remov\w+ delet\w+ renam\w+ replac\w+
    introduc\w+ updat\w+ modif\w+ drop(?:s|ped)? insert\w+ mov(?:es?|ed|ing) now new newly
    previously formerly earlier before no.longer any.?more instead.of in.place.of used.to.be
    becomes? became gone switch\w* turn(?:s|ed) convert\w+ extend\w* set.to initiali[sz]ed
    diff patch commit revision pull.request author developer appear(?:s|ed)? disappear\w*
    eliminat\w+ strip(?:s|ped)? swap\w* substitut\w+ alter\w* adapt\w* adjust\w* creat\w+
    bring(?:s|ing)? rewr\w+ rework\w* includ\w+ involv\w+"""
)
# A bare verb at the start wants something done, unless the change has done just that.
_ORDERS: Final = _any_of(
    r"""add use make remove delete drop rename change replace move keep put call avoid create
    extract fix check return pass set try revert merge split wrap throw log document update
    convert simplify inline sort introduce insert leave write turn switch include mark declare
    define implement handle catch test import export store reuse get give do don't"""
)
_ADDING: Final = frozenset({"add", "create", "introduce", "insert", "include", "import", "put"})
_REMOVING: Final = frozenset({"remove", "delete", "drop"})


class Features(NamedTuple):
    """What is measured of S sentences."""

    table: Floats
    """Shape (S, 6), columns as in `NAMES`, each finite."""
    excluded: Marks
    """Shape (S,): sentences that judge, or are code without a word; never restatements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What the change and its pseudo-references say."""

    names: frozenset[str]
    """Identifiers of the changed lines that look like code, in small letters."""
    pieces: frozenset[str]
    """Pieces of words in the changed lines."""
    added: str
    """The added lines, as `_dense` makes them."""
    removed: str
    """The removed lines, likewise."""
    references: tuple[tuple[frozenset[str], str], ...]
    """Pieces of words of each pseudo-reference, and its text in small letters."""


class _Measured(NamedTuple):
    coded: float
    covered: float
    reports: float
    infers: float
    judges: float
    is_bare: bool


def restating(cells: Cells) -> tuple[bool, ...]:
    """Say which sentences only restate the change.

    Args:
        cells: One change with its pseudo-references and sentences; either may be empty. The
            vectors and cosines are not read.

    Returns:
        One mark a sentence. The rest of its comment counts: what leads up to a question or
        an opinion is no restatement, unless it repeats a pseudo-reference. Nor is a sentence
        that judges, or one of code alone.
    """
    table, excluded = features(cells)
    found = (table @ np.array(WEIGHTS) + BIAS > 0) & ~excluded
    return tuple(found.tolist())


def features(cells: Cells) -> Features:
    """Measure what tells restatements from remarks.

    `coded` is the share of a sentence's content words that are code; `covered` the share that
    stands in pseudo-references which the sentence repeats; `reports` and `infers` are the
    distinct words for changes and for consequences, a clause. All are in [0, 1]. The other two
    are of the whole comment: `judging` the mean of what asks, values or takes a stance, a
    clause, in [0, 1]; `sentences` the logarithm of their number. A cue that the change's own
    lines or a repeated pseudo-reference contain is not the reviewer's and does not count.

    Args:
        cells: As for `restating`.

    Returns:
        One row a sentence.
    """
    change = _read(cells.diff, cells.references)
    texts = [sentence.text[:MAX_SENTENCE_CHARS] for sentence in cells.sentences]
    found = [_measure(text, change) for text in texts]
    judges = np.array([one.judges for one in found])
    # What is hidden is a comment of its own: it must not speak for what is shown.
    comments = np.array([2 * one.comment + one.hidden for one in cells.sentences])
    table = np.zeros((len(found), len(NAMES)))
    for row, one in enumerate(found):
        table[row, :4] = one[:4]
    for comment in dict.fromkeys(comments.tolist()):
        inside = comments == comment
        table[inside, 4:] = (judges[inside].mean(), math.log(inside.sum()))
    bare = np.array([one.is_bare for one in found], dtype=np.bool_)
    return Features(table, bare | (judges > 0))


def _measure(text: str, change: _Change) -> _Measured:
    plain, code = _parted(text, change.names)
    coded = [piece for piece in split_identifier(code) if piece not in ENGLISH]
    content = coded + [piece for piece in split_identifier(plain) if piece not in ENGLISH]
    count = max(1, len(content))
    known, told = _repeated(text, change)
    clauses = max(1.0, len(text.split()) / CLAUSE)

    def cues(*patterns: re.Pattern[str]) -> frozenset[str]:
        found = {match[0] for pattern in patterns for match in pattern.finditer(plain)}
        return frozenset(cue for cue in found if not told or cue not in told)

    own = cues(*_VALUES, *_SPEAKS) - change.pieces
    judges = len(own) + len(cues(*_ASKS)) + _orders(text, plain, change)
    return _Measured(
        coded=len(coded) / count,
        covered=sum(piece in known for piece in content) / count,
        reports=min(1.0, len({match[0] for match in _REPORTS.finditer(plain)}) / clauses),
        infers=min(1.0, len(cues(_INFERS) - change.pieces) / clauses),
        judges=min(1.0, judges / clauses),
        is_bare=not any(len(word) > 1 for word in _TOKEN.findall(plain)),
    )


def _repeated(text: str, change: _Change) -> tuple[frozenset[str], str]:
    """The word pieces and the texts of the pseudo-references that a sentence repeats."""
    distinct = frozenset(split_identifier(text))
    found = [
        (said, whole)
        for said, whole in change.references
        if len(said) >= SHORTEST and len(said & distinct) >= CONTAINED * len(said)
    ]
    known = frozenset(piece for said, _ in found for piece in said)
    return known, "\n".join(whole for _, whole in found)


def _orders(text: str, plain: str, change: _Change) -> bool:
    """Whether a sentence is an order to do what the change has not done."""
    order = _ORDERS.match(plain)
    if order is None:
        return False
    spans = [_dense(quoted[1:-1]).rstrip("…") for quoted in _QUOTED.findall(text)]
    if not spans:
        return True
    if order[0] in _ADDING:
        return any(span not in change.added for span in spans)
    if order[0] in _REMOVING:
        return any(span not in change.removed or span in change.added for span in spans)
    return spans[0] not in change.removed or spans[-1] not in change.added


def _parted(text: str, names: frozenset[str]) -> tuple[str, str]:
    """The words of a sentence in small letters, and its code.

    "Why is `x` in parseHeader?" gives "why is # in # ?" and "`x` parseHeader".
    """
    code: list[str] = []

    def mask(found: re.Match[str]) -> str:
        code.append(found[0])
        return " # "

    def mask_coded(found: re.Match[str]) -> str:
        token = found[0]
        is_code = _LOOKS_CODED.search(token) is not None or token.lower() in names
        return mask(found) if is_code else token

    plain = _TOKEN.sub(mask_coded, _QUOTED.sub(mask, text)).lower().replace("’", "'")
    return _NARRATES.sub("it says", " ".join(plain.split())), " ".join(code)


def _dense(text: str) -> str:
    """Without white space, and with one kind of quote."""
    return "".join(text.split()).replace("`", "'")


def _read(diff: Diff, references: Iterable[PseudoReference]) -> _Change:
    added = _lines(diff, LineKind.ADDED)
    removed = _lines(diff, LineKind.REMOVED)
    lines = f"{removed}\n{added}"
    tokens = set(_TOKEN.findall(lines))
    return _Change(
        names=frozenset(token.lower() for token in tokens if _LOOKS_CODED.search(token)),
        pieces=frozenset(split_identifier(lines)),
        added=_dense(added),
        removed=_dense(removed),
        references=tuple(
            (frozenset(split_identifier(reference.text)), reference.text.lower())
            for reference in references
        ),
    )


def _lines(diff: Diff, kind: LineKind) -> str:
    lines = (
        line.text
        for file in diff.files
        for hunk in file.hunks
        for line in hunk.lines
        if line.kind is kind
    )
    return "\n".join(lines)[:MAX_DIFF_CHARS]
