"""Quality gate of an audit: did the usefulness of a bot drop below a baseline?

The gate fails only if the drop is significant and larger than a minimum, or if the interval of the
usefulness goes below a limit.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Final

from crscore.audit.compare import format_score
from crscore.audit.overview import Night, Overview, Reviewer
from crscore.errors import ConfigError
from crscore.pull_request.reviewers import wildcards
from crscore.scoring.gate import GateResult, choose_messages
from crscore.statistics.paired import SIGNIFICANCE

MINIMUM_DROP: Final = 3.0
"""Default largest drop that does not fail, in points of usefulness (0 to 100)."""
# Slack allows 3,000 characters: https://docs.slack.dev/reference/block-kit/blocks/section-block
_MAX_TEXT_CHARS: Final = 2_900
"""Maximum number of characters of a section in a message."""


def judge(
    now: Overview,
    *,
    baseline: float | Overview | None,
    minimum_drop: float = MINIMUM_DROP,
    fail_under_low: float | None = None,
    reviewers: Sequence[str] = ("*",),
    on_nothing: str = "pass",
) -> GateResult:
    """Compare the mean usefulness of each bot with a baseline.

    A bot fails if its usefulness dropped significantly and by more than the minimum. The margin for
    significance includes the error from the choice of pull requests, and is wider if there are
    several bots. It does not include the error of the network that reads the comments, because this
    error is the same in both periods. After a partial run, no bot is judged, because
    incomplete scores must not fail a bot.

    Args:
        now: The period to judge.
        baseline: A usefulness score from 0 to 100, or the overview of an earlier period; None for
            no baseline.
        minimum_drop: Largest drop that does not fail, 0 to 100.
        fail_under_low: A bot fails if the low end of the interval of its usefulness is below this,
            0 to 100. This interval includes the error of the network. None for no such limit.
        reviewers: Names of bots, or patterns with `*`.
        on_nothing: Outcome for a bot that cannot be judged, because its usefulness in one of the
            periods is unknown: `pass` (with a notice), `fail` or `skip` (without a notice).

    Returns:
        The failures and the notices. Notices say who could not be judged, and why.

    Raises:
        ConfigError: A value is out of range, or a name matches no bot.
    """
    for key, value in (
        ("baseline", baseline if isinstance(baseline, float) else None),
        ("minimum-drop", minimum_drop),
        ("fail-under-low", fail_under_low),
    ):
        if value is not None and not 0 <= value <= 100:
            raise ConfigError(key, "gate", "must be a number from 0 to 100")
    partial = why_partial(now.nights)
    if partial is not None:
        return GateResult((), (f"no bot could be judged: {partial}",))
    if isinstance(baseline, Overview) and baseline.signature != now.signature:
        state = "made with other settings or another version" if baseline.signature else "missing"
        return GateResult((), (f"no bot could be judged: the earlier scores are {state}",))
    failed: list[str] = []
    notices: list[str] = []
    unjudged = choose_messages(on_nothing, failed, notices)
    bots = _matching_bots(now, reviewers)
    if not bots:
        unjudged.append("no bot could be judged: none commented in the period")
    # With the correction of Bonferroni, the chance that any bot fails by accident stays below the
    # significance level.
    width = NormalDist().inv_cdf(1 - SIGNIFICANCE / max(1, len(bots)) / 2)
    for bot in bots:
        before = _find_baseline(baseline, bot.name)
        if bot.usefulness is None or before is None:
            when = "" if bot.usefulness is None else "earlier "
            unjudged.append(
                f"{bot.name} could not be judged: too few scored pull requests in the {when}period"
            )
            continue
        value, low = bot.usefulness.value, bot.usefulness.low
        drop = before[0] - value
        margin = width * math.hypot(bot.usefulness_error, before[1])
        if drop > max(margin, minimum_drop):
            failed.append(
                f"{bot.name}: usefulness {format_score(value)} is {format_score(drop)} below "
                f"{format_score(before[0])}; up to {format_score(margin)} can be chance"
            )
        if fail_under_low is not None and low < fail_under_low:
            failed.append(
                f"{bot.name}: usefulness {format_score(value)} may be as low as "
                f"{format_score(low)}, below fail-under-low {fail_under_low:g}"
            )
    return GateResult(tuple(failed), tuple(notices))


def why_partial(nights: Sequence[Night]) -> str | None:
    """Return why the last run of `sync` or `score` is incomplete; None if both are complete."""
    if not nights:
        return "there is no run since the first day of the period"
    # Only the last run of each kind counts, because it completes the earlier runs.
    last_by_kind = {run.kind: run for run in nights}
    for run in last_by_kind.values():
        if run.partial is not None:
            return f"the {run.kind} of {run.night} is partial: {run.partial}"
    return None


def webhook_message(result: GateResult, *, title: str, link: str = "") -> dict[str, Any]:
    """Return a message about the result of the gate, in Slack's format.

    Args:
        result: Result of the gate.
        title: Repositories and period of the audit.
        link: Address of the report; empty if there is none.
    """
    state = "failed" if result.failed else "passed"
    if result.notices and not result.failed:
        state = "passed, but could not judge everything"
    lines = (*result.failed, *result.notices)
    return slack_message(f"Audit of {title}: the gate {state}", lines, link=link)


def slack_message(head: str, lines: Sequence[str], *, link: str = "") -> dict[str, Any]:
    """Return a message with a heading and lines in Slack's format.

    Args:
        head: The heading.
        lines: Texts that are shown as a list.
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


def _matching_bots(now: Overview, patterns: Sequence[str]) -> list[Reviewer]:
    bots = [reviewer for reviewer in now.reviewers if reviewer.is_bot]
    matches = [bot for bot in bots if wildcards.matches_any(patterns, bot.name)]
    if bots and not matches:
        names = ", ".join(bot.name for bot in bots)
        raise ConfigError("reviewer", "gate", f"matches no bot; the bots are: {names}")
    return matches


def _find_baseline(baseline: float | Overview | None, name: str) -> tuple[float, float] | None:
    """Return the usefulness to compare a bot with, and its standard error; None if unknown."""
    if not isinstance(baseline, Overview):
        # Without a baseline, the earlier usefulness is taken as 0. No usefulness is below 0, so a
        # bot can fail only because of `fail_under_low`.
        return (0.0 if baseline is None else baseline, 0.0)
    rows = (row for row in baseline.reviewers if row.name == name and row.usefulness)
    return next(
        ((row.usefulness.value, row.usefulness_error) for row in rows if row.usefulness), None
    )


def _section(text: str) -> dict[str, Any]:
    if len(text) > _MAX_TEXT_CHARS:
        # Cut the text at the end of a line, so that no escaped character is split.
        text = text[:_MAX_TEXT_CHARS].rpartition("\n")[0] + "\n• …"
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _escape(text: str) -> str:
    """Escape the characters of Slack's links and mentions."""
    # https://docs.slack.dev/messaging/formatting-message-text/#escaping
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
