"""Readers of comments beside what became of the comments, and beside simple floors.

A reader is the network or a language model (`--reader`). An outcome is what is known of a comment
from elsewhere: whether experts accepted it, whether the code was changed for it, or a rating.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore import progress
from crscore.errors import ConfigError, InputError
from crscore.readers.model import Effort
from crscore.records import Comment, Result
from crscore.reports.fields import Count
from crscore.scorer import Scorer
from crscore.scoring.assembly import render_signature
from crscore.statistics import bootstrap, paired
from crscore.statistics.intervals import Doubles
from crscore.statistics.resampled import divide
from crscore.version import __version__
from crscore_lab.statistics import resampled
from crscore_lab.statistics.resampled import Resampling
from crscore_lab.study.data.comments import CommentRow, Comments

Names = npt.NDArray[np.str_]

SCHEMA: Final = "urn:crscore:readers:1"
"""Schema identifier of the document."""
OUTCOMES: Final = "outcomes"
"""Field of a row: an object of outcomes by name."""
HEADLINE: Final = "headline"
FOLDS: Final = 5
"""Number of parts of the groups; a floor judges each part after learning on the others."""
MIN_GROUPS: Final = 10
"""Minimum groups for an interval: draws of a few groups differ too little."""
RIDGE: Final = 1.0
"""Weight of the ridge, in rows."""
BUCKETS: Final = 2**12
"""Number of columns that words are hashed to."""
BATCH: Final = 256
"""Number of comments scored in one call."""
# Equal numbers that differ by rounding have to be ties.
_DECIMALS: Final = 12


def _headline(result: Result) -> float:
    return 0.0 if result.usefulness is None else result.usefulness.value


def _highest(field: str) -> Callable[[Result], float]:
    return lambda result: max(map(attrgetter(field), result.remarks), default=0.0)


REMARK_FIELDS: Final = ("acts", "specific", "importance")
FIELDS: Final = {HEADLINE: _headline} | {name: _highest(name) for name in REMARK_FIELDS}
"""Numbers that a reader gives a comment: the headline, and the highest of its remarks."""
FIELD_OF: Final = {"acted_on": "acts", "informative": "specific", "importance": "importance"}
"""Outcome -> the field that asks for the same, shown in addition to the headline."""


class Reader(Struct, frozen=True):
    """Reader and what it costs."""

    name: str
    """As in `--reader`."""
    signature: str
    """Everything that determines the scores."""
    comments: Count
    """Comments that it read; the network read the others."""
    tokens_read: Count
    """Tokens of the requests for 1,000 comments; 0 if there are none or they are unknown."""
    tokens_written: Count
    """Tokens of the answers for 1,000 comments."""
    price: float | None
    """Price of 1,000 comments; null if it is unknown."""


class JudgedOutcome(Struct, frozen=True):
    """JudgedOutcome of a reader or a floor with an outcome."""

    judge: str
    """Reader or floor."""
    value: float | None
    """AUC or rank correlation; null where it is undefined."""
    low: float | None
    """Lower end of the 95 % interval; null with fewer than `MIN_GROUPS` groups."""
    high: float | None
    minus_first: float | None
    """This value minus that of the first reader."""
    minus_first_low: float | None
    """Lower end of the 95 % interval of the difference, for which both share every draw."""
    minus_first_high: float | None


class Outcome(Struct, frozen=True):
    """JudgedOutcome of all readers and floors with one outcome."""

    outcome: str
    writers: str
    """Kind of writer; `all`: of several kinds."""
    field: str
    """Number of the readers: the headline, or the field that asks for this outcome."""
    comments: Count
    """Comments with a value of this outcome."""
    positive: Count | None
    """Those with 1, where it is 0 or 1, and the agreement an AUC within one kind of writer; null
    for a rating, where the agreement is a rank correlation."""
    judges: tuple[JudgedOutcome, ...]


class ReadersResult(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Readers beside outcomes of comments."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    sha256: str
    """Hash of the unpacked file."""
    group: str
    """Field whose values the bootstrap and the folds draw; `patch` for the change."""
    groups: Count
    """Number of its values."""
    resamples: Count
    """Number of draws; 0 for no interval."""
    seed: Count
    """Seed of every draw."""
    readers: tuple[Reader, ...]
    outcomes: tuple[Outcome, ...]


def judge(
    comments: Comments, scorers: Mapping[str, Scorer], draws: Resampling, group: str | None
) -> ReadersResult:
    """Read comments with several readers, and compare each with the outcomes of the comments.

    Args:
        comments: The comments.
        scorers: Reader -> a scorer with it.
        draws: Draws of every bootstrap; the seed is that of the folds, too.
        group: Field whose values are drawn; None for `group`, if there is one, or the patch.

    Raises:
        ConfigError: The encoder is one without a reader.
        InputError: There is no outcome, or one is neither a number nor null.
        CRScoreError: A part of the run failed.
    """
    rows = comments.rows
    group = group or ("group" if "group" in rows[0].fields else None)
    groups = np.array([row.value(group) if group else row.patch for row in rows])
    writers = np.array([str(row.fields.get("writer") or "unknown") for row in rows])
    outcomes = _read_outcomes(comments)
    if any(scorer.parts.reader is None for scorer in scorers.values()):
        raise ConfigError("encoder", "settings", "only the default encoder and matcher read")
    values, readers = {}, []
    for name, scorer in scorers.items():
        values[name] = _score_comments(name, rows, scorer)
        readers.append(_describe(name, scorer, len(rows)))
    texts = [row.text for row in rows]
    words = np.array([len(text.split()) for text in texts], np.float64)
    vectors = next(iter(scorers.values())).parts.encoder.encode(texts).astype(np.float64)
    matrices = {"TF-IDF": weigh_words(texts), "vector": vectors}
    found = []
    for name, targets in outcomes.items():
        known = np.flatnonzero(~np.isnan(targets))
        is_binary = bool(np.isin(targets[known], (0, 1)).all())
        floors = {"words": words} | {
            floor: predict_held_out(matrix, targets, groups, seed=draws["seed"])
            for floor, matrix in matrices.items()
        }
        kinds = {str(kind): known[writers[known] == kind] for kind in np.unique(writers[known])}
        kinds = {"all": known} | kinds if len(kinds) > 1 else kinds
        for field in dict.fromkeys((HEADLINE, FIELD_OF.get(name, HEADLINE))):
            judges = {reader: values[reader][field] for reader in scorers} | floors
            for kind, rows_of in kinds.items():
                strata = writers[rows_of].tolist() if is_binary else None
                statistic = partial(_agree, targets[rows_of], strata)
                positive = int(targets[rows_of].sum()) if is_binary else None
                judged = _compare(
                    {judge: numbers[rows_of] for judge, numbers in judges.items()},
                    statistic, groups[rows_of].tolist(), draws,
                )  # fmt: skip
                found.append(Outcome(name, kind, field, len(rows_of), positive, (*judged,)))
    return ReadersResult(
        sha256=comments.sha256,
        group=group or "patch",
        groups=len(set(groups)),
        **draws,
        readers=tuple(readers),
        outcomes=tuple(found),
    )


def _score_comments(name: str, rows: Sequence[CommentRow], scorer: Scorer) -> dict[str, Doubles]:
    """Return each of `FIELDS` for every comment, in order."""
    table = np.zeros((len(rows), len(FIELDS)))
    # Comments on one change are in one batch, so that its claims are written once.
    order = sorted(range(len(rows)), key=lambda row: rows[row].patch)
    with progress.track(f"reading with {name}", len(order)) as advance:
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            pairs = ((rows[row].diff, (Comment(body=rows[row].text),)) for row in batch)
            for row, result in zip(batch, scorer.score_many(pairs), strict=True):
                table[row] = [get(result) for get in FIELDS.values()]
            advance(len(batch))
    return dict(zip(FIELDS, np.round(table, _DECIMALS).T, strict=True))


def _read_outcomes(comments: Comments) -> dict[str, Doubles]:
    """Return each row's value of each outcome: in `outcomes`, or a field of true and false."""
    fields = [row.fields for row in comments.rows]
    labels = [name for row in fields for name in row if isinstance(row[name], bool)]
    outcomes: dict[str, Doubles] = {}
    for index, row in enumerate(comments.rows):
        of_row: Any = row.fields.get(OUTCOMES) or {}
        if not isinstance(of_row, dict):
            raise InputError(f"{row.location}: {OUTCOMES}: expected an object")
        for name, value in ({name: row.fields.get(name) for name in labels} | of_row).items():
            if not isinstance(value, int | float | None):
                field = f"{OUTCOMES}.{name}" if name in of_row else name
                raise InputError(f"{row.location}: {field}: expected a number or null")
            if value is not None:
                outcomes.setdefault(name, np.full(len(comments.rows), np.nan))[index] = value
    if not outcomes:
        raise InputError('no comment has an outcome, such as "outcomes": {"accepted": 1}')
    return outcomes


def _agree(
    targets: Doubles, writers: Sequence[str] | None, numbers: Doubles, weights: Doubles
) -> Doubles:
    """Compute the AUC, within one kind of writer, or the rank correlation in each draw."""
    if writers is not None:
        # Pooled figures mostly tell people from bots.
        return resampled.auc(numbers, targets == 1, weights, strata=writers)
    return resampled.spearman(*(resampled.rank(side, weights) for side in (numbers, targets)))


def _compare(
    judges: Mapping[str, Doubles],
    statistic: Callable[[Doubles, Doubles], Doubles],
    groups: Sequence[str],
    draws: Resampling,
) -> Iterator[JudgedOutcome]:
    """Compare each judge with the first."""
    units, base = len(set(groups)), None
    units = units if units >= MIN_GROUPS else 1
    for name, numbers in judges.items():
        value = resampled.of_all_rows(partial(statistic, numbers), len(numbers))
        drawn = bootstrap.resample(partial(statistic, numbers), groups, **draws)
        base = base or (value, drawn)
        difference = None if value is None or base[0] is None else value - base[0]
        test = paired.compare(difference, drawn - base[1], units=units)
        interval = bootstrap.percentile_interval(drawn, clusters=units)
        yield JudgedOutcome(name, value, *interval, *test[:3])


def _describe(name: str, scorer: Scorer, comments: int) -> Reader:
    model = scorer.parts.model
    parts = {**scorer.parts.signature, **({"readings": model.identity} if model else {})}
    effort = model.effort if model else Effort(read=comments)
    per_thousand = 1000 / (effort.read or 1)
    return Reader(
        name,
        render_signature(parts),
        effort.read,
        round(effort.tokens_read * per_thousand),
        round(effort.tokens_written * per_thousand),
        effort.price(model.prices) if model else None,
    )


def weigh_words(texts: Sequence[str]) -> Doubles:
    """Return the TF-IDF vector of each text, of length 1, with words hashed to `BUCKETS` columns.

    Args:
        texts: N texts.

    Returns:
        Shape (N, BUCKETS); zeros for a text without a word.
    """
    counts = np.zeros((len(texts), BUCKETS))
    for row, text in enumerate(texts):
        for word, count in Counter(re.findall(r"\w+", text.casefold())).items():
            counts[row, zlib.crc32(word.encode(errors="replace")) % BUCKETS] += count
    weighted = counts * (np.log((1 + len(texts)) / (1 + (counts > 0).sum(axis=0))) + 1)
    return np.nan_to_num(divide(weighted, np.linalg.norm(weighted, axis=1)[:, None]))


def predict_held_out(matrix: Doubles, targets: Doubles, groups: Names, *, seed: int) -> Doubles:
    """Predict each row's target by a ridge regression on the rows of other groups.

    Args:
        matrix: Shape (N, D).
        targets: Shape (N,); NaN for a row that is left out.
        groups: Group of each row, which is in one of `FOLDS` parts.
        seed: Seed of the parts.

    Returns:
        Shape (N,), without the mean of the rows learned from: it is lower where the targets held
        out are higher, which would put a regression that knows nothing below a coin. 0 for a row
        that is left out, or if there are fewer groups than parts.
    """
    known = np.flatnonzero(~np.isnan(targets))
    names, membership = np.unique(groups[known], return_inverse=True)
    predicted = np.zeros(len(targets))
    parts = np.random.default_rng(seed).permutation(len(names))[membership] % FOLDS
    for part in range(FOLDS if len(names) >= FOLDS else 0):
        learned, held = known[parts != part], known[parts == part]
        centre = matrix[learned].mean(axis=0)
        x, y = matrix[learned] - centre, targets[learned] - targets[learned].mean()
        dual = np.linalg.solve(x @ x.T + RIDGE * np.eye(len(y)), y)
        predicted[held] = (matrix[held] - centre) @ (x.T @ dual)
    return predicted
