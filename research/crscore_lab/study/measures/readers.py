"""Compares readers of comments with the comments' outcomes and with simple baselines.

A reader is the network or a language model (`--reader`). An outcome is a fact about a comment that
was found out without a reader: whether experts accepted the comment, whether the code was changed
because of it, or a rating.
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
"""Field of a row: an object, name of an outcome -> value."""
HEADLINE: Final = "headline"
FOLDS: Final = 5
"""Number of folds of the groups; a baseline predicts each fold after training on the others."""
MIN_GROUPS: Final = 10
"""Minimum number of groups for an interval, because bootstrap resamples of fewer groups differ too
little."""
RIDGE: Final = 1.0
"""L2 penalty of the regressions, relative to the squared error summed over the comments."""
BUCKETS: Final = 2**12
"""Number of columns that words are hashed to."""
BATCH: Final = 256
"""Maximum number of comments scored in one call."""
# Number of decimals: without rounding, equal values that differ by a rounding error would not tie.
_DECIMALS: Final = 12


def _headline(result: Result) -> float:
    return 0.0 if result.usefulness is None else result.usefulness.value


def _highest(field: str) -> Callable[[Result], float]:
    return lambda result: max(map(attrgetter(field), result.remarks), default=0.0)


REMARK_FIELDS: Final = ("acts", "specific", "importance")
FIELDS: Final = {HEADLINE: _headline} | {name: _highest(name) for name in REMARK_FIELDS}
"""Scores that a reader gives a comment: the headline, and the highest value of each field in its
remarks."""
FIELD_OF: Final = {"acted_on": "acts", "informative": "specific", "importance": "importance"}
"""Outcome -> the field that predicts this very outcome, compared in addition to the headline."""


class Reader(Struct, frozen=True):
    """Reader and its costs."""

    name: str
    """Name of the reader as in `--reader`."""
    signature: str
    """Everything that determines the scores."""
    comments: Count
    """Number of comments that the reader read; the network read the others."""
    tokens_read: Count
    """Tokens of the requests for 1,000 comments; 0 for the network, or if they are unknown."""
    tokens_written: Count
    """Tokens of the answers for 1,000 comments; 0 for the network, or if they are unknown."""
    price: float | None
    """Price of 1,000 comments; null for the network, or if it is unknown."""


class JudgedOutcome(Struct, frozen=True):
    """Agreement of a reader or a baseline with an outcome."""

    judge: str
    """Name of the reader or baseline."""
    value: float | None
    """AUC or rank correlation; null if undefined."""
    low: float | None
    """Lower end of the 95 % interval of `value`; null with fewer than 10 groups."""
    high: float | None
    """Upper end of the 95 % interval of `value`; null with fewer than 10 groups."""
    minus_first: float | None
    """This value minus the value of the first reader; null if either is undefined."""
    minus_first_low: float | None
    """Lower end of the 95 % interval of `minus_first`; both values share each resample."""
    minus_first_high: float | None
    """Upper end of the 95 % interval of `minus_first`."""


class Outcome(Struct, frozen=True):
    """Agreement of all readers and baselines with one outcome."""

    outcome: str
    """Name of the outcome."""
    writers: str
    """Kind of writer of the comments; `all` for several kinds."""
    field: str
    """Score of the readers: the headline, or the field of `Remark` that predicts this outcome."""
    comments: Count
    """Number of comments with a value of this outcome."""
    positive: Count | None
    """Number of comments whose outcome is 1, if all outcomes are 0 or 1; null for a rating. The
    agreement is an AUC within each kind of writer or, for a rating, a rank correlation."""
    judges: tuple[JudgedOutcome, ...]
    """Agreement of each reader, then of each baseline."""


class ReadersResult(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Agreement of readers with the outcomes of comments."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    sha256: str
    """Hash of the file of comments after decompression."""
    group: str
    """Field by which comments are grouped for the bootstrap and the folds; `patch` for the
    change."""
    groups: Count
    """Number of groups."""
    resamples: Count
    """Number of bootstrap resamples of the groups; 0 for no interval."""
    seed: Count
    """Seed of the bootstrap and the folds."""
    readers: tuple[Reader, ...]
    """Readers in the order of `--reader`."""
    outcomes: tuple[Outcome, ...]
    """Agreement by outcome, field and kind of writer."""


def judge(
    comments: Comments, scorers: Mapping[str, Scorer], resampling: Resampling, group: str | None
) -> ReadersResult:
    """Read comments with several readers, and compare each with the outcomes of the comments.

    Args:
        comments: The comments.
        scorers: Name of a reader -> scorer that uses this reader.
        resampling: Number of bootstrap resamples, and the seed of the bootstrap and the folds.
        group: Field by which comments are grouped; None for the field `group` or, if the comments
            have no such field, for the patch.

    Raises:
        ConfigError: The settings have another encoder or matcher, with which nothing can be read.
        InputError: There is no outcome, an outcome is neither a number nor null, or a comment lacks
            the field `group`.
        CRScoreError: A part of the run failed.
    """
    rows = comments.rows
    group = group or ("group" if "group" in rows[0].fields else None)
    groups = np.array([row.value(group) if group else row.patch for row in rows])
    writers = np.array([str(row.fields.get("writer") or "unknown") for row in rows])
    outcomes = _read_outcomes(comments)
    if any(scorer.parts.reader is None for scorer in scorers.values()):
        raise ConfigError("encoder", "settings", "--reader needs the default encoder and matcher")
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
        baselines = {"words": words} | {
            baseline: predict_held_out(matrix, targets, groups, seed=resampling["seed"])
            for baseline, matrix in matrices.items()
        }
        kinds = {str(kind): known[writers[known] == kind] for kind in np.unique(writers[known])}
        kinds = {"all": known} | kinds if len(kinds) > 1 else kinds
        for field in dict.fromkeys((HEADLINE, FIELD_OF.get(name, HEADLINE))):
            judges = {reader: values[reader][field] for reader in scorers} | baselines
            for kind, rows_of in kinds.items():
                strata = writers[rows_of].tolist() if is_binary else None
                statistic = partial(_agree, targets[rows_of], strata)
                positive = int(targets[rows_of].sum()) if is_binary else None
                judged = _compare(
                    {judge: numbers[rows_of] for judge, numbers in judges.items()},
                    statistic, groups[rows_of].tolist(), resampling,
                )  # fmt: skip
                found.append(Outcome(name, kind, field, len(rows_of), positive, (*judged,)))
    return ReadersResult(
        sha256=comments.sha256,
        group=group or "patch",
        groups=len(set(groups)),
        **resampling,
        readers=tuple(readers),
        outcomes=tuple(found),
    )


def _score_comments(name: str, rows: Sequence[CommentRow], scorer: Scorer) -> dict[str, Doubles]:
    """Return each of `FIELDS` with its value for every comment, in the order of the comments."""
    table = np.zeros((len(rows), len(FIELDS)))
    # Sorted by change, so that most changes are in one batch, which generates their claims once.
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
    """Return the values of each outcome for all rows, NaN for a row without a value.

    Outcomes are the entries of the field `outcomes`, and all fields that are true or false.
    """
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
    """Compute the AUC within each kind of writer, or the rank correlation, in each resample.

    Args:
        targets: Outcome of each of N comments, shape (N,).
        writers: Kind of writer of each comment; None for a rank correlation.
        numbers: Score of each comment, shape (N,).
        weights: How often each of B bootstrap resamples contains each comment, shape (B, N).

    Returns:
        Shape (B,); NaN if undefined.
    """
    if writers is not None:
        # Within a kind, because an AUC over all kinds mostly shows who tells people from bots.
        return resampled.auc(numbers, targets == 1, weights, strata=writers)
    return resampled.spearman(*(resampled.rank(side, weights) for side in (numbers, targets)))


def _compare(
    judges: Mapping[str, Doubles],
    statistic: Callable[[Doubles, Doubles], Doubles],
    groups: Sequence[str],
    resampling: Resampling,
) -> Iterator[JudgedOutcome]:
    """Yield the agreement of each judge, and its difference from that of the first judge."""
    units, base = len(set(groups)), None
    # With one unit, there is no interval.
    units = units if units >= MIN_GROUPS else 1
    for name, numbers in judges.items():
        value = resampled.compute_once(partial(statistic, numbers), len(numbers))
        drawn = bootstrap.resample(partial(statistic, numbers), groups, **resampling)
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
    """Return the TF-IDF vector of each text, with words hashed to `BUCKETS` columns.

    Args:
        texts: N texts.

    Returns:
        Vectors of length 1, shape (N, BUCKETS); zeros for a text without a word.
    """
    counts = np.zeros((len(texts), BUCKETS))
    for row, text in enumerate(texts):
        for word, count in Counter(re.findall(r"\w+", text.casefold())).items():
            counts[row, zlib.crc32(word.encode(errors="replace")) % BUCKETS] += count
    weighted = counts * (np.log((1 + len(texts)) / (1 + (counts > 0).sum(axis=0))) + 1)
    return np.nan_to_num(divide(weighted, np.linalg.norm(weighted, axis=1)[:, None]))


def predict_held_out(matrix: Doubles, targets: Doubles, groups: Names, *, seed: int) -> Doubles:
    """Predict each row's target by a ridge regression that was trained on rows of other groups.

    Args:
        matrix: Features of each row, shape (N, D).
        targets: Shape (N,); NaN for a row that is left out.
        groups: Group of each row; each group is in one of `FOLDS` folds.
        seed: Seed of the assignment of groups to folds.

    Returns:
        Prediction minus the mean target of the training rows, shape (N,). The mean is subtracted
        because it is lower if held-out targets are higher, so that an uninformative regression
        would have an AUC below 0.5. 0 for a row that is left out, and for all rows if there are
        fewer groups than folds.
    """
    known = np.flatnonzero(~np.isnan(targets))
    names, membership = np.unique(groups[known], return_inverse=True)
    predicted = np.zeros(len(targets))
    folds = np.random.default_rng(seed).permutation(len(names))[membership] % FOLDS
    for fold in range(FOLDS if len(names) >= FOLDS else 0):
        training, held_out = known[folds != fold], known[folds == fold]
        centre = matrix[training].mean(axis=0)
        x, y = matrix[training] - centre, targets[training] - targets[training].mean()
        dual = np.linalg.solve(x @ x.T + RIDGE * np.eye(len(y)), y)
        predicted[held_out] = (matrix[held_out] - centre) @ (x.T @ dual)
    return predicted
