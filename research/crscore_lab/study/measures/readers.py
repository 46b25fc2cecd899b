"""Readers of comments beside what became of the comments, and beside simple floors.

A reader is the network or a language model (`--reader`). An outcome is what is known of a comment
from elsewhere: whether experts accepted it, whether the code was changed for it, or a rating.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.errors import ConfigError, InputError
from crscore.readers.model import Usage
from crscore.records import Result
from crscore.reports.fields import Count
from crscore.scorer import Scorer
from crscore.scoring import signature
from crscore.statistics import bootstrap, paired, resampled
from crscore.version import __version__
from crscore_lab.study.data.comments import CommentRow, Comments
from crscore_lab.study.measures.separation import Estimate, Getter, Pair, score_pairs

Floats = npt.NDArray[np.float64]

SCHEMA: Final = "urn:crscore:readers:1"
"""Schema identifier of the document."""
OUTCOMES: Final = "outcomes"
"""Field of a row: an object of outcomes by name."""
HEADLINE: Final = "headline"
AUC: Final = "AUC"
RANK: Final = "rank correlation"
MIN_ROWS: Final = 10
"""Minimum comments of one kind of writer for a line of its own."""
FOLDS: Final = 5
"""Number of parts of the groups; a floor judges each part after learning on the others."""
RIDGE: Final = 1.0
"""Weight of the ridge, in rows."""
BUCKETS: Final = 2**12
"""Number of columns that words are hashed to."""


def _highest(field: str) -> Getter:
    return lambda result: max((getattr(remark, field) for remark in result.remarks), default=0.0)


def _headline(result: Result) -> float:
    return 0.0 if result.usefulness is None else result.usefulness.value


FIELDS: Final[Mapping[str, Getter]] = {
    HEADLINE: _headline,
    **{name: _highest(name) for name in ("acts", "specific", "importance")},
}
"""Numbers that a reader gives a comment, the highest of its remarks; 0 without any."""
FIELD_OF: Final = {"acted_on": "acts", "informative": "specific", "importance": "importance"}
"""Outcome -> the field that asks for the same, shown in addition to the headline."""


class Reader(Struct, frozen=True, kw_only=True):
    """Reader and what it costs."""

    name: str
    """As in `--reader`."""
    signature: str
    """Everything that determines the scores."""
    comments: Count
    """Comments that it read; the network read the others."""
    tokens_read: float | None
    """Tokens of the requests for 1,000 comments; null if there are none or they are unknown."""
    tokens_written: float | None
    """Tokens of the answers for 1,000 comments."""
    price: float | None
    """Price of 1,000 comments; null without `--reader-price`."""


class Judged(Struct, frozen=True, kw_only=True):
    """One judge on one outcome."""

    judge: str
    """Reader or floor."""
    agreement: Estimate
    """AUC or rank correlation."""


class ReaderDifference(Struct, frozen=True, kw_only=True):
    """Difference of two readers on the same comments."""

    first: str
    second: str
    difference: float | None
    """Second minus first."""
    low: float | None
    """Lower end of the 95 % interval; both readers share every draw."""
    high: float | None


class OutcomeAgreement(Struct, frozen=True, kw_only=True):
    """Agreement of all judges with one outcome."""

    outcome: str
    writers: str
    """Kind of writer; `all`: of several kinds."""
    field: str
    """Number of the readers: the headline, or the field that asks for this outcome."""
    measure: str
    """`AUC` for an outcome of 0 and 1, within one kind of writer; else `rank correlation`."""
    comments: Count
    """Comments with this outcome."""
    positive: Count | None
    """Those with 1; null for a rating."""
    judges: tuple[Judged, ...]
    differences: tuple[ReaderDifference, ...]


class ReadersResult(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Readers beside outcomes of comments."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    sha256: str
    """Hash of the unpacked file."""
    comments: Count
    group: str
    """Field whose values the bootstrap and the folds draw; `patch` for the change."""
    groups: Count
    """Number of its values."""
    resamples: Count
    """Number of draws; 0 for no interval."""
    seed: Count
    """Seed of every draw."""
    readers: tuple[Reader, ...]
    outcomes: tuple[OutcomeAgreement, ...]


def judge(
    comments: Comments,
    scorers: Mapping[str, Scorer],
    *,
    group: str | None,
    resamples: int,
    seed: int,
    progress: Callable[[str], None] = lambda _: None,
) -> ReadersResult:
    """Read comments with several readers, and compare each with the outcomes of the comments.

    Args:
        comments: The comments.
        scorers: Reader -> a scorer with it.
        group: Field whose values are drawn; None for `group`, if there is one, or the patch.
        resamples: Draws of every bootstrap; 0 for no interval.
        seed: Seed of draws and folds.
        progress: Called with a line for each finished batch.

    Raises:
        ConfigError: The encoder is one without a reader.
        InputError: There is no outcome, or one is neither a number nor null.
        CRScoreError: A part of the run failed.
    """
    rows = comments.rows
    group = group or ("group" if "group" in rows[0].fields else None)
    groups = [row.value(group) if group else row.patch for row in rows]
    outcomes = _read_outcomes(comments)
    readers, values = [], {}
    for name, scorer in scorers.items():
        if scorer.parts.reader is None:
            expected = "readers are compared only with the default encoder and matcher"
            raise ConfigError("encoder", "settings", expected)
        pairs = [Pair(row, row) for row in range(len(rows))]
        values[name], _ = score_pairs(rows, pairs, scorer, progress, FIELDS)
        readers.append(_describe_reader(name, scorer, len(rows)))
    encoder = next(iter(scorers.values())).parts.encoder
    texts = [row.text for row in rows]
    matrices = {"TF-IDF": weigh_words(texts), "vector": encoder.encode(texts).astype(np.float64)}
    found = []
    for name, targets in outcomes.items():
        known = ~np.isnan(targets)
        floors = {"words": np.array([len(text.split()) for text in texts], np.float64)} | {
            floor: np.full(len(rows), np.nan) for floor in matrices
        }
        is_binary = bool(np.isin(targets[known], (0, 1)).all())
        known_groups = [groups[row] for row in np.flatnonzero(known)]
        for floor, matrix in matrices.items():
            floors[floor][known] = predict_held_out(
                matrix[known], targets[known], known_groups, seed=seed, is_binary=is_binary
            )
        for field in dict.fromkeys((HEADLINE, FIELD_OF.get(name, HEADLINE))):
            judges = {reader: values[reader][field] for reader in scorers} | floors
            for writers, chosen in _split_writers(rows, known).items():
                found.append(
                    _agree(
                        (name, writers, field),
                        targets[chosen],
                        {judge: numbers[chosen] for judge, numbers in judges.items()},
                        [groups[row] for row in chosen],
                        [_writer(rows[row]) for row in chosen],
                        [*scorers],
                        bootstrap.Resampling(resamples=resamples, seed=seed),
                        is_binary=is_binary,
                    )
                )
    return ReadersResult(
        sha256=comments.sha256,
        comments=len(rows),
        group=group or "patch",
        groups=len(set(groups)),
        resamples=resamples,
        seed=seed,
        readers=tuple(readers),
        outcomes=tuple(found),
    )


def _read_outcomes(comments: Comments) -> dict[str, Floats]:
    """Return each row's value of each outcome: those in `outcomes`, and labels."""
    outcomes: dict[str, Floats] = {}
    for index, row in enumerate(comments.rows):
        of_row: Any = row.fields.get(OUTCOMES, {})
        if not isinstance(of_row, dict):
            raise InputError(f"{row.location}: {OUTCOMES}: expected an object")
        for name, value in {
            **{name: row.label(name) for name in comments.labels},
            **of_row,
        }.items():
            if not isinstance(value, int | float | None):
                raise InputError(f"{row.location}: {OUTCOMES}.{name}: expected a number or null")
            column = outcomes.setdefault(name, np.full(len(comments.rows), np.nan))
            column[index] = np.nan if value is None else value
    outcomes = {name: column for name, column in outcomes.items() if not np.isnan(column).all()}
    if not outcomes:
        raise InputError(
            'the comments have no outcome; a row needs "outcomes": {"accepted": 1, ...}, or a '
            "field that is true or false"
        )
    return outcomes


def _writer(row: CommentRow) -> str:
    return row.value("writer") if "writer" in row.fields else ""


def _split_writers(
    rows: Sequence[CommentRow], known: npt.NDArray[np.bool_]
) -> dict[str, npt.NDArray[np.intp]]:
    """Return the rows with an outcome: all, and those of each kind of writer with enough."""
    chosen = np.flatnonzero(known)
    writers = np.array([_writer(rows[row]) for row in chosen.tolist()])
    names, counts = np.unique(writers, return_counts=True)
    if len(names) == 1:
        return {str(names[0]) or "all": chosen}
    large = [str(name) for name in names[counts >= MIN_ROWS] if name]
    return {"all": chosen} | {name: chosen[writers == name] for name in large}


def _agree(
    names: tuple[str, str, str],
    targets: Floats,
    judges: Mapping[str, Floats],
    groups: Sequence[str],
    writers: Sequence[str],
    readers: Sequence[str],
    draws: bootstrap.Resampling,
    *,
    is_binary: bool,
) -> OutcomeAgreement:
    def agreement(numbers: Floats, weights: Floats) -> Floats:
        if np.isnan(numbers).any():
            return np.full(len(weights), np.nan)
        if is_binary:
            # Pooled figures mostly tell people from bots.
            return resampled.auc(numbers, targets == 1, weights, strata=writers)
        return resampled.spearman(*(resampled.rank(side, weights) for side in (numbers, targets)))

    clusters = len(set(groups))
    values: dict[str, float | None] = {}
    drawn: dict[str, Floats] = {}
    judged = []
    for name, numbers in judges.items():
        value = float(agreement(numbers, np.ones((1, len(targets))))[0])
        values[name] = None if np.isnan(value) else value
        drawn[name] = bootstrap.resample(partial(agreement, numbers), groups, **draws)
        low, high = bootstrap.percentile_interval(drawn[name], clusters=clusters)
        judged.append(
            Judged(judge=name, agreement=Estimate(value=values[name], low=low, high=high))
        )
    differences = []
    for first, second in combinations(readers, 2):
        a, b = values[first], values[second]
        difference = None if a is None or b is None else b - a
        test = paired.compare(difference, drawn[second] - drawn[first], units=clusters)
        differences.append(
            ReaderDifference(
                first=first,
                second=second,
                difference=difference,
                low=test.low,
                high=test.high,
            )
        )
    outcome, kind, field = names
    return OutcomeAgreement(
        outcome=outcome,
        writers=kind,
        field=field,
        measure=AUC if is_binary else RANK,
        comments=len(targets),
        positive=int(targets.sum()) if is_binary else None,
        judges=tuple(judged),
        differences=tuple(differences),
    )


def _describe_reader(name: str, scorer: Scorer, comments: int) -> Reader:
    model = scorer.parts.model
    usage = Usage(comments=comments) if model is None else model.usage
    read, written = (
        count / usage.comments * 1000 if usage.comments and usage.read else None
        for count in (usage.read, usage.written)
    )
    readings = {} if model is None else {"readings": model.identity}
    return Reader(
        name=name,
        signature=signature.render_signature({**scorer.parts.signature, **readings}),
        comments=usage.comments,
        tokens_read=read,
        tokens_written=written,
        price=None if model is None else usage.price(model.prices),
    )


def weigh_words(texts: Sequence[str]) -> Floats:
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
    rarity = np.log((1 + len(texts)) / (1 + (counts > 0).sum(axis=0))) + 1
    weighted: Floats = counts * rarity
    lengths = np.linalg.norm(weighted, axis=1, keepdims=True)
    return weighted / np.where(lengths > 0, lengths, 1.0)


def predict_held_out(
    matrix: Floats, targets: Floats, groups: Sequence[str], *, seed: int, is_binary: bool
) -> Floats:
    """Predict each row's target by a ridge regression on the rows of other groups.

    Args:
        matrix: Shape (N, D).
        targets: Shape (N,).
        groups: Group of each row, which is in one of `FOLDS` parts.
        seed: Seed of the parts.
        is_binary: Whether the targets are 0 and 1, both of which get the same weight.

    Returns:
        Shape (N,), without the mean of the rows learned from: it is lower where the targets held
        out are higher, which would put a regression that knows nothing below a coin. NaN if there
        are fewer groups than parts, or a part leaves only one class to learn from.
    """
    names, membership = np.unique(np.asarray(groups), return_inverse=True)
    predicted = np.full(len(targets), np.nan)
    if len(names) < FOLDS:
        return predicted
    parts = np.random.default_rng(seed).permutation(len(names))[membership] % FOLDS
    for part in range(FOLDS):
        learned = parts != part
        x, y = matrix[learned], targets[learned]
        share = y.mean()
        if is_binary and share in (0, 1):
            return np.full(len(targets), np.nan)
        weights = np.where(y == 1, 0.5 / share, 0.5 / (1 - share)) if is_binary else np.ones(len(y))
        centre = np.average(x, axis=0, weights=weights)
        roots = np.sqrt(weights)
        scaled = (x - centre) * roots[:, None]
        residuals = (y - np.average(y, weights=weights)) * roots
        dual = np.linalg.solve(scaled @ scaled.T + RIDGE * np.eye(len(y)), residuals)
        predicted[~learned] = (matrix[~learned] - centre) @ (scaled.T @ dual)
    return predicted
