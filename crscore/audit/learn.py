"""What one team acts on, learned from its own store, and whether that beats the shipped reader."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.signals import Signal
from crscore.audit.store.comments import read_followed_up
from crscore.audit.store.database import Store
from crscore.errors import InputError
from crscore.review.sentences import split_comment
from crscore.statistics import bootstrap, resampled
from crscore.statistics.logistic import fit_measures
from crscore.usefulness.reader import Reader
from crscore.usefulness.reading import OUTPUTS
from crscore.usefulness.team import Doubles, Team, measure

MIN_COMMENTS: Final = 300
"""Comments that were followed up below which nothing is learned."""
MAX_COMMENTS: Final = 5_000
"""Comments that are read, the newest: habits change, and each takes some milliseconds."""
HELD_OUT: Final = 0.2
"""Share of the comments, the newest, that the weights are measured on."""
_RIDGE: Final = 100.0
"""Penalty of the weights, per standard deviation of their input; that of the bias is none."""
_RESAMPLES: Final = 2_000


class FollowedUp(NamedTuple):
    """Comment of which it is known whether it was acted on."""

    pull: str
    """Name of its pull request."""
    text: str
    """Its sentences."""
    acted_on: bool


def load_followed_up(store: Store) -> list[FollowedUp]:
    """Return the review comments on pull requests that are closed, oldest pull request first.

    Raises:
        StoreError: The store cannot be read.
    """
    rows = read_followed_up(store, Signal.ACTED_ON)
    return [
        FollowedUp(f"{repository}#{number}", " ".join(split_comment(text).sentences), bool(value))
        for repository, number, text, value in rows
    ]


def learn(comments: Sequence[FollowedUp], make_reader: Callable[[], Reader]) -> Team:
    """Learn from the older comments, and measure on the newest.

    Args:
        comments: Comments, oldest first; those of one pull request together.
        make_reader: Loads the shipped reader, once there are enough comments.

    Returns:
        The weights; they are better when `low` is above 0.

    Raises:
        InputError: There are fewer than `MIN_COMMENTS`, or all were acted on, or none.
    """
    if len(comments) < MIN_COMMENTS:
        raise InputError(
            f"nothing is learned yet: of {len(comments):,} comments it is known whether they were "
            f"acted on, and it takes {MIN_COMMENTS}"
        )
    comments = comments[-MAX_COMMENTS:]
    pulls = [comment.pull for comment in comments]
    start = round(len(comments) * (1 - HELD_OUT))
    # A pull request is on one side: its comments are alike.
    start = pulls.index(pulls[start])
    reader = make_reader()
    values = measure(reader.network, [comment.text for comment in comments])
    acted_on = np.array([comment.acted_on for comment in comments])
    return evaluate(values, acted_on, pulls, start, reader.identity)


def evaluate(
    values: Doubles,
    acted_on: npt.NDArray[np.bool_],
    pulls: Sequence[str],
    start: int,
    reader: str,
) -> Team:
    """Learn from the rows before one, and compare with the shipped reader on the others.

    Args:
        values: What `team.measure` returns, shape (N, F).
        acted_on: Shape (N,).
        pulls: Pull request of each row.
        start: First row to measure on.
        reader: Identity of the reader.

    Raises:
        InputError: One of the two parts has no comment that was acted on, or no other.
    """
    tested = acted_on[start:]
    if not all(part.any() and not part.all() for part in (acted_on[:start], tested)):
        raise InputError("nothing is learned: it takes comments that were acted on, and others")
    older = values[:start, :-1], acted_on[:start].astype(np.float64)
    weights = fit_measures(*older, weights=np.ones(start), penalty=_RIDGE).astype(np.float64)
    logits = values[start:] @ weights
    shipped = values[start:, OUTPUTS.index("acted_on")]

    def difference(draws: Doubles) -> Doubles:
        learned, base = (resampled.auc(column, tested, draws) for column in (logits, shipped))
        return learned - base

    clusters = pulls[start:]
    draws = bootstrap.resample(difference, clusters, resamples=_RESAMPLES, seed=0)
    low, high = bootstrap.percentile_interval(draws, clusters=len(set(clusters)))
    once = np.ones((1, len(tested)))
    return Team(
        reader=reader,
        comments=start,
        held_out=len(tested),
        auc=float(resampled.auc(logits, tested, once)[0]),
        shipped_auc=float(resampled.auc(shipped, tested, once)[0]),
        low=-1.0 if low is None else low,
        high=1.0 if high is None else high,
        weights=tuple(weights.tolist()),
    )


def describe(team: Team) -> str:
    """Say what the weights gain, in one sentence."""
    gain = team.auc - team.shipped_auc
    return (
        f"Learned from {team.comments:,} comments. Of two of the {team.held_out:,} newer ones, it "
        f"puts the one that was acted on first in {team.auc:.0%} of cases, the shipped reading in "
        f"{team.shipped_auc:.0%} ({100 * gain:+.0f}, {100 * team.low:+.0f} to "
        f"{100 * team.high:+.0f}): {'better' if team.low > 0 else 'not surely better'}."
    )
