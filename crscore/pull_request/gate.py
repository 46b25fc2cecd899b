"""Quality gate for a pull request, off unless a threshold is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from crscore.errors import ConfigError
from crscore.pull_request.reviewers import wildcards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.pull_request.overview import Overview, Scores

TOGETHER: Final = "together"
"""All reviewers together."""
EACH: Final = "each"
"""Every reviewer separately."""


class Verdict(NamedTuple):
    """Result of the gate."""

    failed: tuple[str, ...]
    """Reviewers below the threshold, one sentence each; empty when all pass."""
    notices: tuple[str, ...]
    """Reasons the gate could not be applied, one sentence each."""


def judge(
    found: Overview,
    *,
    fail_under: float | None,
    fail_on: Sequence[str],
    fail_on_partial: bool = False,
) -> Verdict:
    """Compare the relevance of reviewers with a threshold.

    An abstention passes with a notice. A partial run applies no threshold: an incomplete number
    must not fail a run.

    Args:
        found: The run.
        fail_under: Relevance below which it fails, in [0, 1]; None for no gate.
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
    if fail_under is None:
        return Verdict((), ())
    place = f"{found.repository}#{found.number}"
    if found.partial:
        line = f"{place}: the gate was not applied: the run is partial"
        return Verdict((line,), ()) if fail_on_partial else Verdict((), (line,))
    failed = []
    notices = [
        f"{place}: the gate was not applied to {name}: no such reviewer spoke"
        for name in wanted
        if not _rows(found, name)
    ]
    chosen = dict(pair for name in wanted for pair in _rows(found, name))
    for name, scores in chosen.items():
        if scores.relevance is None:
            notices.append(f"{place}: the gate was not applied to {name}: {scores.reason}")
        elif scores.relevance < fail_under:
            failed.append(
                f"{place}: relevance of {name} is {scores.relevance:.3f}, below {fail_under:g}"
            )
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
