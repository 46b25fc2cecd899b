"""Quality gate of an audit: has a bot become worse than a baseline?

It fails only if the drop is significant and larger than a set minimum.
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
"""Default minimum drop that fails, 0 to 100."""
# Slack allows 3,000 characters: https://docs.slack.dev/reference/block-kit/blocks/section-block
_MAX_TEXT_CHARS: Final = 2_900
"""Maximum characters of a section."""


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

    A bot fails if its usefulness dropped significantly and by more than the minimum. The reader
    makes the same error on a bot in both periods, so the margin is only that of the choice of pull
    requests; it is wider if there are several bots. After a partial run the gate is not applied,
    because an incomplete score must not fail a run.

    Args:
        now: The period to judge.
        baseline: A number from 0 to 100, or an earlier period of the same signature; None for none.
        minimum_drop: A drop of at most this does not fail, 0 to 100.
        fail_under_low: Minimum of the low end of the bot's interval, which includes the reader's
            error; None for none.
        reviewers: Names of bots, or patterns with `*`.
        on_nothing: Outcome for a bot without a score: `pass`, `fail` or `skip`.

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
        return GateResult((), (f"the gate was not applied: {partial}",))
    if isinstance(baseline, Overview) and baseline.signature != now.signature:
        reason = "the earlier scores have other settings or another version"
        return GateResult((), (f"the gate was not applied: {reason}",))
    failed: list[str] = []
    notices: list[str] = []
    unapplied = choose_messages(on_nothing, failed, notices)
    bots = _matching_bots(now, reviewers)
    if not bots:
        unapplied.append("the gate was not applied: no bot wrote in the period")
    # Bonferroni: the chance that any bot fails by accident stays below the significance level.
    width = NormalDist().inv_cdf(1 - SIGNIFICANCE / max(1, len(bots)) / 2)
    for bot in bots:
        before = _before(baseline, bot.name)
        if bot.usefulness is None or before is None:
            when = "in the period" if bot.usefulness is None else "before"
            unapplied.append(
                f"the gate was not applied to {bot.name}: too few scored pull requests {when}"
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


def _matching_bots(now: Overview, patterns: Sequence[str]) -> list[Reviewer]:
    bots = [reviewer for reviewer in now.reviewers if reviewer.is_bot]
    matches = [bot for bot in bots if wildcards.matches_any(patterns, bot.name)]
    if bots and not matches:
        names = ", ".join(bot.name for bot in bots)
        raise ConfigError("reviewer", "gate", f"matches no bot; there are: {names}")
    return matches


def _before(baseline: float | Overview | None, name: str) -> tuple[float, float] | None:
    """Return the usefulness to compare with, and its standard error; None if there is none."""
    if not isinstance(baseline, Overview):
        # Without a baseline, the earlier usefulness is taken as 0, and nothing is below 0. So only
        # the low end of the interval can fail.
        return (0.0 if baseline is None else baseline, 0.0)
    rows = (row for row in baseline.reviewers if row.name == name and row.usefulness)
    return next(
        ((row.usefulness.value, row.usefulness_error) for row in rows if row.usefulness), None
    )


def _section(text: str) -> dict[str, Any]:
    if len(text) > _MAX_TEXT_CHARS:
        # Cut at a line end, so that no escaped character is split.
        text = text[:_MAX_TEXT_CHARS].rpartition("\n")[0] + "\n• …"
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _escape(text: str) -> str:
    """Escape the characters of Slack's links and mentions."""
    # https://docs.slack.dev/messaging/formatting-message-text/#escaping
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
