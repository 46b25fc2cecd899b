"""Quality gate for a pull request, off unless a threshold is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from crscore.errors import ConfigError
from crscore.pull_request.overview import Overview, Scores
from crscore.pull_request.reviewers import wildcards

TOGETHER: Final = "together"
"""All reviewers together."""
EACH: Final = "each"
"""Every reviewer separately."""
NO_WEIGHTS: Final = "the encoder has no weights for it"
"""Why a text that has scores has no usefulness."""


class Verdict(NamedTuple):
    """Result of the gate."""

    failed: tuple[str, ...]
    """Reviewers below the threshold, one sentence each; empty when all pass."""
    notices: tuple[str, ...]
    """Reasons the gate could not be applied, one sentence each."""


def judge(
    found: Overview,
    *,
    fail_under: float | None = None,
    fail_under_relevance: float | None = None,
    fail_on: Sequence[str],
    fail_on_partial: bool = False,
) -> Verdict:
    """Compare the standing and the relevance of reviewers with thresholds.

    A partial run applies no threshold: an incomplete number must not fail a run.

    Args:
        found: The run.
        fail_under: Standing below which it fails, in [0, 100]; None for no gate.
        fail_under_relevance: Relevance below which it fails, in [0, 1]; None for no gate.
        fail_on: `together`, `each`, or patterns of reviewers' names (`*` is any text).
        fail_on_partial: With a threshold, a run that is partial fails.

    Returns:
        The reviewers that fail, and notices.

    Raises:
        ConfigError: `fail_on` matches no reviewer.
    """
    wanted = [name.strip() for name in fail_on if name.strip()]
    if not wanted:
        raise ConfigError("fail-on", "settings", "must be together, each, or names of reviewers")
    if fail_under is None and fail_under_relevance is None:
        return Verdict((), ())
    place = f"{found.repository}#{found.number}"
    if found.partial:
        line = f"{place}: the gate was not applied: the run is partial"
        return Verdict((line,), ()) if fail_on_partial else Verdict((), (line,))
    failed: list[str] = []
    notices = [
        f"{place}: the gate was not applied to {name}: no such reviewer spoke"
        for name in wanted
        if not _rows(found, name)
    ]
    chosen = dict(pair for name in wanted for pair in _rows(found, name))
    for name, scores in chosen.items():
        one = compare(
            name,
            standing=None if scores.usefulness is None else scores.usefulness.standing,
            relevance=scores.relevance,
            reason=scores.reason,
            fail_under=fail_under,
            fail_under_relevance=fail_under_relevance,
        )
        failed += [f"{place}: {line}" for line in one.failed]
        notices += [f"{place}: {line}" for line in one.notices]
    return Verdict(tuple(failed), tuple(notices))


def compare(
    name: str,
    *,
    standing: int | None,
    relevance: float | None,
    reason: str | None,
    fail_under: float | None,
    fail_under_relevance: float | None,
) -> Verdict:
    """Compare the numbers of one text with the thresholds; it passes with a notice without one.

    Args:
        name: The text, in messages.
        standing: Its standing, 0 to 100; None when it is not known.
        relevance: Its relevance, in [0, 1]; None for an abstention.
        reason: Why there is no score; None when there is one.
        fail_under: Standing below which it fails; None for no gate.
        fail_under_relevance: Relevance below which it fails; None for no gate.
    """
    failed, notices = [], []
    for what, value, flag, limit in (
        ("usefulness", standing, "fail-under", fail_under),
        ("relevance", relevance, "fail-under-relevance", fail_under_relevance),
    ):
        if limit is not None and value is None:
            why = reason or NO_WEIGHTS
            notices.append(f"the gate was not applied to {name}: no {what}, {why}")
        if limit is not None and value is not None and value < limit:
            failed.append(f"{what} of {name} is {value:.4g}, below {flag} {limit:g}")
    return Verdict(tuple(failed), tuple(notices))


def _rows(found: Overview, wanted: str) -> list[tuple[str, Scores]]:
    if wanted.lower() == TOGETHER:
        return [("all reviewers together", found.together)]
    everybody = wanted.lower() == EACH
    return [
        (row.name, row)
        for row in found.reviewers
        if everybody or wildcards.matches(wanted, row.name)
    ]
