"""Quality gate of a pull request, which compares the scores of its reviewers with thresholds."""

from collections.abc import Sequence
from typing import Final

from crscore.diff.paths import format_paths
from crscore.errors import ConfigError
from crscore.pull_request.overview import Overview, Scores
from crscore.pull_request.reviewers import wildcards
from crscore.pull_request.reviewers.identify import TRUSTED
from crscore.scoring.gate import GateResult, check_thresholds, choose_messages
from crscore.settings import Config

TOGETHER: Final = "together"
"""Value of `fail_on` for the score of all reviewers together."""
EACH_REVIEWER: Final = "each"
"""Value of `fail_on` for the score of each reviewer."""
_ALL: Final = "all reviewers together"


def judge(
    overview: Overview, settings: Config, fail_on: Sequence[str], *, fail_on_partial: bool = False
) -> GateResult:
    """Compare the standing and the relevance of reviewers with thresholds.

    No threshold applies to a partial run, because an incomplete score must not fail a run. People
    whom the repository did not choose count only if `fail_on` has their full name, because anyone
    can comment.

    Args:
        overview: The run.
        settings: Settings with the thresholds, and with the outcome for a reviewer without a score.
        fail_on: `together`, `each`, or patterns of reviewers' names (`*` matches any text).
        fail_on_partial: Whether a partial run fails if there is a threshold.

    Returns:
        The result, with a line for each failure and for each reviewer who could not be judged.
        Without thresholds, it has no lines.

    Raises:
        ConfigError: `fail_on` is empty.
    """
    patterns = [pattern.strip() for pattern in fail_on if pattern.strip()]
    if not patterns:
        raise ConfigError("fail-on", "settings", "must be together, each, or names of reviewers")
    thresholds = settings.thresholds
    if not thresholds:
        return GateResult((), ())
    subject = overview.name
    # A person who can only comment must be able neither to block a pull request nor to let it pass
    # (docs/design/016-pull-request.md).
    if overview.partial:
        lines = (f"{subject} could not be judged: the run is partial",)
        return GateResult(lines, ()) if fail_on_partial else GateResult((), lines)
    failed: list[str] = []
    notices: list[str] = []
    scores_by_name: dict[str, Scores] = {}
    for pattern in patterns:
        matches = _find_scores(overview, pattern)
        scores_by_name |= matches
        if not matches:
            choose_messages(settings.on_nothing, failed, notices).append(
                f"{subject}: {pattern} could not be judged: no such reviewer commented"
            )
    # Outsiders are left out, because otherwise anybody could change the outcome: a template that an
    # outsider pasted raised a poor review from 9 to 99, and an outsider's poor review could fail
    # `each` (docs/design/016-pull-request.md).
    untrusted = {row.name for row in overview.reviewers if not row.is_trusted}
    if any(map(_is_open, patterns)) and (names := sorted(untrusted - scores_by_name.keys())):
        notices.append(
            f"{subject}: the gate does not count {format_paths(names)}: not {TRUSTED}; to count a "
            "person, give the full name in fail-on or authors"
        )
    for name, scores in scores_by_name.items():
        result = check_thresholds(
            name,
            thresholds=thresholds,
            usefulness=scores.usefulness,
            relevance=scores.relevance,
            reason=scores.reason,
            on_nothing=settings.on_nothing,
        )
        failed += [f"{subject}: {line}" for line in result.failed]
        notices += [f"{subject}: {line}" for line in result.notices]
    return GateResult(tuple(failed), tuple(notices))


def _find_scores(overview: Overview, pattern: str) -> dict[str, Scores]:
    if pattern.lower() == TOGETHER:
        if overview.trusted:
            return {"all other reviewers together": overview.trusted}
        return {_ALL: overview.together}
    is_each = pattern.lower() == EACH_REVIEWER
    return {
        row.name: row
        for row in overview.reviewers
        if (is_each or wildcards.matches(pattern, row.name))
        and (row.is_trusted or not _is_open(pattern))
    }


def _is_open(pattern: str) -> bool:
    """Return whether a pattern can match anyone's name."""
    return "*" in pattern or pattern.lower() in (TOGETHER, EACH_REVIEWER)
