"""Whether a pull request passes: off unless a threshold is given."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.pull_request.overview import Overview, Scores

TOGETHER: Final = "together"
"""All reviewers together."""
EACH: Final = "each"
"""Every reviewer."""


class Verdict(NamedTuple):
    """What the gate says."""

    failed: tuple[str, ...]
    """Who is below the threshold, one sentence each; empty when all pass."""
    notices: tuple[str, ...]
    """Where the gate could not be applied, one sentence each."""


def judge(found: Overview, *, fail_under: float | None, fail_on: Sequence[str]) -> Verdict:
    """Hold the relevance of reviewers against a threshold.

    What abstained passes with a notice, and so does everything when the run is partial: a number
    that is not whole must stop nobody.

    Args:
        found: The run.
        fail_under: Relevance below which it fails, in [0, 1]; None for no gate.
        fail_on: `together`, `each`, or patterns of reviewers' names (`*` is any text).

    Returns:
        Who fails.
    """
    if fail_under is None:
        return Verdict((), ())
    place = f"{found.repository}#{found.number}"
    if found.partial:
        return Verdict((), (f"{place}: the gate was not applied: the run is partial",))
    failed, notices = [], []
    chosen = dict(_chosen(found, fail_on))
    for name, scores in chosen.items():
        if scores.relevance is None:
            notices.append(f"{place}: the gate was not applied to {name}: {scores.reason}")
        elif scores.relevance < fail_under:
            failed.append(
                f"{place}: relevance of {name} is {scores.relevance:.3f}, below {fail_under:g}"
            )
    if not chosen:
        notices.append(f"{place}: the gate was not applied: none of these reviewers spoke")
    return Verdict(tuple(failed), tuple(notices))


def _chosen(found: Overview, fail_on: Sequence[str]) -> Iterator[tuple[str, Scores]]:
    if TOGETHER in fail_on:
        yield "all reviewers together", found.together
    for row in found.reviewers:
        if EACH in fail_on or any(
            fnmatchcase(row.name.lower(), pattern.lower()) for pattern in fail_on
        ):
            yield row.name, row
