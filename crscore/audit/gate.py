"""Quality gate of an audit: has a bot become worse than a baseline?

It fails only if the drop is significant and larger than a set minimum.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Final, NamedTuple

from crscore.audit.compare import format_score
from crscore.audit.overview import Estimate, Night, Overview
from crscore.audit.tables import SCORES
from crscore.errors import ConfigError
from crscore.pull_request.reviewers import wildcards
from crscore.scoring.gate import lines_of_nothing
from crscore.statistics.paired import SIGNIFICANCE

MINIMUM_DROP: Final = 3.0
"""Default minimum drop that fails, 0 to 100."""
_MAX_TEXT_CHARS: Final = 2_900
"""Maximum characters of a section; Slack allows 3,000."""


class GateResult(NamedTuple):
    """Result of the gate."""

    failed: tuple[str, ...]
    """Bots that fail, one sentence each; empty if all pass."""
    notices: tuple[str, ...]
    """Reasons why the gate was not applied, one sentence each."""


def judge(
    now: Overview,
    *,
    baseline: float | Overview,
    minimum_drop: float = MINIMUM_DROP,
    measure: str = "usefulness",
    reviewers: Sequence[str] = ("*",),
    on_nothing: str = "pass",
) -> GateResult:
    """Compare the mean of each bot with a baseline.

    If the baseline is a number, a bot fails if the interval of its mean lies below it; if it is an
    earlier period, if the interval of the difference lies below 0. The intervals are widened for
    the number of bots, and the drop must also be larger than the minimum. After a partial run the
    gate is not applied: an incomplete score must not fail a run.

    Args:
        now: The period to judge.
        baseline: A number from 0 to 100, or an earlier period of the same signature.
        minimum_drop: Maximum drop that does not fail, 0 to 100.
        measure: One of `tables.SCORES`.
        reviewers: Names of bots, or patterns with `*`.
        on_nothing: Outcome for a bot without a score: `pass`, `fail` or `skip`.

    Raises:
        ConfigError: A value is out of range, or a name matches no bot.
    """
    _check(measure, baseline, minimum_drop)
    partial = why_partial(now.nights)
    if partial is not None:
        return GateResult((), (f"the gate was not applied: {partial}",))
    if isinstance(baseline, Overview) and baseline.signature != now.signature:
        reason = "the earlier scores have other settings or another version"
        return GateResult((), (f"the gate was not applied: {reason}",))
    failed: list[str] = []
    notices: list[str] = []
    unapplied = lines_of_nothing(on_nothing, failed, notices)
    bots = _estimates_of_bots(now, measure, reviewers)
    if not bots:
        unapplied.append("the gate was not applied: no bot wrote in the period")
    # Bonferroni: the chance that any bot fails by accident stays below the significance level.
    widening = _quantile(SIGNIFICANCE / max(1, len(bots))) / _quantile(SIGNIFICANCE)
    for name, estimate in bots:
        before = _baseline_estimate(baseline, name, measure)
        if estimate is None or before is None:
            when = "in the period" if estimate is None else "before"
            unapplied.append(
                f"the gate was not applied to {name}: too few scored pull requests {when}"
            )
            continue
        drop = before.value - estimate.value
        # The means are independent, so the squares of the intervals' half-widths add up.
        margin = math.hypot(estimate.high - estimate.value, before.value - before.low)
        if drop > widening * margin and drop > minimum_drop:
            failed.append(
                f"{name}: {measure} {format_score(estimate.value)} (95 % interval "
                f"{format_score(estimate.low)} to {format_score(estimate.high)}) is "
                f"{format_score(drop)} below {format_score(before.value)}"
            )
    return GateResult(tuple(failed), tuple(notices))


def why_partial(nights: Sequence[Night]) -> str | None:
    """Return why the last run of `sync` or `score` is incomplete; None if both are complete."""
    if not nights:
        return "there is no run since the first day of the period"
    # A later run of the same kind replaces an earlier one, which it completed.
    last_by_kind = {night.kind: night for night in nights}
    for night in last_by_kind.values():
        if night.partial is not None:
            return f"the {night.kind} of {night.night} is partial: {night.partial}"
    return None


def webhook_message(result: GateResult, *, title: str, link: str = "") -> dict[str, Any]:
    """Return a message in Slack's format.

    Args:
        result: Result of the gate.
        title: Repositories and period.
        link: Address of the report; empty if there is none.
    """
    state = "failed" if result.failed else "passed"
    if result.notices and not result.failed:
        state = "passed, not applied everywhere"
    lines = (*result.failed, *result.notices)
    return slack_message(f"Audit of {title}: the gate {state}", lines, link=link)


def slack_message(head: str, lines: Sequence[str], *, link: str = "") -> dict[str, Any]:
    """Return a message with a heading and lines in Slack's format.

    Args:
        head: The heading.
        lines: One paragraph each.
        link: Address of the report; empty if there is none.
    """
    head = _escape(head)
    text = "\n".join(f"• {_escape(line)}" for line in lines)
    blocks = [_section(f"*{head}*")]
    if text:
        blocks.append(_section(text))
    if link:
        blocks.append(_section(f"<{_escape(link)}|Report>"))
    return {"text": head, "blocks": blocks}


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(1 - level / 2)


def _check(measure: str, baseline: float | Overview, minimum_drop: float) -> None:
    if measure not in SCORES:
        raise ConfigError("measure", "gate", f"must be one of: {', '.join(SCORES)}")
    if not isinstance(baseline, Overview) and not 0 <= baseline <= 100:
        raise ConfigError("baseline", "gate", "must be a number from 0 to 100")
    if not 0 <= minimum_drop <= 100:
        raise ConfigError("minimum-drop", "gate", "must be a number from 0 to 100")


def _estimates_of_bots(
    now: Overview, measure: str, patterns: Sequence[str]
) -> list[tuple[str, Estimate | None]]:
    bots = [reviewer for reviewer in now.reviewers if reviewer.is_bot]
    matches = [bot for bot in bots if wildcards.matches_any(patterns, bot.name)]
    if bots and not matches:
        names = ", ".join(bot.name for bot in bots)
        raise ConfigError("reviewer", "gate", f"matches no bot; there are: {names}")
    return [(bot.name, getattr(bot, measure)) for bot in matches]


def _baseline_estimate(baseline: float | Overview, name: str, measure: str) -> Estimate | None:
    if not isinstance(baseline, Overview):
        return Estimate(value=baseline, low=baseline, high=baseline)
    estimates = (
        getattr(reviewer, measure) for reviewer in baseline.reviewers if reviewer.name == name
    )
    return next(estimates, None)


def _section(text: str) -> dict[str, Any]:
    if len(text) > _MAX_TEXT_CHARS:
        # Cut at a line end, so that no escaped character is split.
        text = text[:_MAX_TEXT_CHARS].rpartition("\n")[0] + "\n• …"
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _escape(text: str) -> str:
    """Escape the characters of Slack's links and mentions."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
