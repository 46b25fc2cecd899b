from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from crscore.audit.coverage import rate
from crscore.audit.gate import judge, webhook_message
from crscore.audit.overview import (
    Comments,
    Coverage,
    Escaped,
    Estimate,
    Night,
    Overview,
    Reviewer,
)
from crscore.errors import ConfigError
from crscore.scoring.gate import GateResult

if TYPE_CHECKING:
    from collections.abc import Sequence


def night(kind: str = "score", day: int = 1, partial: str | None = None) -> Night:
    return Night(night=f"2026-03-{day:02}", kind=kind, partial=partial)


def overview(
    value: float | None,
    error: float = 0,
    *,
    low: float = 0,
    nights: Sequence[Night] = (night(),),
    signature: str = "one",
    name: str = "otter",
) -> Overview:
    none = rate(0, 0)
    estimate = None if value is None else Estimate(value=value, low=low, high=100)
    otter = Reviewer(
        name=name,
        is_bot=True,
        pulls=30,
        silent=0,
        comments=Comments(
            total=0, kinds={}, mattered={}, fixed_formulas=0, fixed=0, answered=0, resolved=0
        ),
        usefulness=estimate,
        usefulness_error=error,
        minutes=0,
        price=None,
        price_basis="",
        abstained=0,
        coverage=Coverage(
            reviewed=none, last_head=none, green_unreviewed=None, skips={}, hours=None
        ),
        points=None,
        decision=None,
        facts=(),
        examples={},
        changes=(),
    )
    return Overview(
        since="2026-03-01",
        until="2026-03-31",
        signature=signature,
        other_signatures=(),
        detect=5,
        recommendation="",
        pulls=30,
        merged=30,
        scored=30,
        pending=0,
        failed=0,
        repositories=(),
        reviewers=(otter,),
        verdicts=(),
        escaped=Escaped(days=30, pulls=0, fixed=none, reviewers=(), missed=()),
        nights=tuple(nights),
        notes=(),
    )


@pytest.mark.parametrize(
    ("value", "error", "fails"),
    [
        (50, 2, True),  # below 60, and by 10
        (50, 5.5, False),  # 10 can be chance: 1.96 times 5.5
        (57, 0.5, False),  # below, but by 3 only, which is not more than the minimum
        (70, 2, False),
    ],
)
def test_the_gate_fails_below_the_baseline_by_more_than_the_minimum(
    value: float, error: float, fails: bool
) -> None:
    result = judge(overview(value, error), baseline=60.0, minimum_drop=3)

    assert (bool(result.failed), result.notices) == (fails, ())


def test_a_failure_says_by_how_much() -> None:
    assert judge(overview(50, 2), baseline=60.0).failed == (
        "otter: usefulness 50 is 10 below 60; up to 3.9 can be chance",
    )


@pytest.mark.parametrize(("low", "fails"), [(44, True), (46, False)])
def test_gate_fails_if_the_low_end_is_below_its_limit(low: float, fails: bool) -> None:
    result = judge(overview(50, 2, low=low), baseline=None, fail_under_low=45)

    said = ("otter: usefulness 50 may be as low as 44, below fail-under-low 45",)
    assert result.failed == (said if fails else ())


@pytest.mark.parametrize(
    ("before", "fails"),
    [
        # The drop is 10. The margin is 1.96 times the square root of 2² + 2², or of 2² + 5².
        (overview(60, 2), True),
        (overview(60, 5), False),
    ],
)
def test_baseline_period_has_its_own_uncertainty(before: Overview, fails: bool) -> None:
    assert bool(judge(overview(50, 2), baseline=before).failed) == fails


@pytest.mark.parametrize(
    ("nights", "reason"),
    [
        ((), "there is no run"),
        ((night(partial="rate limit"),), "the score of 2026-03-01 is partial: rate limit"),
        ((night("sync", partial="budget"), night(day=2)), "the sync of 2026-03-01 is partial"),
    ],
)
def test_a_partial_night_fails_nothing(nights: Sequence[Night], reason: str) -> None:
    result = judge(overview(10, 0.5, nights=nights), baseline=60.0)

    assert result.failed == ()
    assert reason in result.notices[0]


def test_a_partial_night_that_was_completed_does_not_matter() -> None:
    nights = (night(partial="budget"), night(day=2))

    assert judge(overview(10, 0.5, nights=nights), baseline=60.0).failed


def test_other_signatures_are_not_compared() -> None:
    result = judge(overview(10, 0.5), baseline=overview(60, 0.5, signature="two"))

    assert result.failed == ()
    assert "other settings" in result.notices[0]


@pytest.mark.parametrize(
    ("now", "before", "when"),
    [(overview(None), 60.0, ""), (overview(5, 0.5), overview(None), "earlier ")],
)
def test_unknown_numbers_fail_nothing(now: Overview, before: float | Overview, when: str) -> None:
    result = judge(now, baseline=before)

    assert result == GateResult(
        (), (f"otter could not be judged: too few scored pull requests in the {when}period",)
    )


@pytest.mark.parametrize(
    ("on_nothing", "lengths"), [("pass", (0, 1)), ("fail", (1, 0)), ("skip", (0, 0))]
)
@pytest.mark.parametrize("has_bots", [True, False])
def test_bot_without_a_usefulness_has_the_chosen_outcome(
    on_nothing: str, lengths: tuple[int, int], *, has_bots: bool
) -> None:
    now = overview(None) if has_bots else replace(overview(None), reviewers=())
    result = judge(now, baseline=50.0, on_nothing=on_nothing)
    assert tuple(map(len, result)) == lengths


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"baseline": 101.0}, "baseline"),
        ({"baseline": 5.0, "minimum_drop": -1}, "minimum-drop"),
        ({"baseline": 5.0, "fail_under_low": 101}, "fail-under-low"),
        ({"baseline": 5.0, "reviewers": ("hare",)}, "reviewer"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        judge(overview(50, 2), **options)


def test_the_message_escapes_what_comes_from_outside() -> None:
    failing = judge(overview(50, 2, name="<!channel> & co"), baseline=60.0)

    message = webhook_message(failing, title="acme/<web>", link="https://example.org/a?b=1&c=2")

    text = msgspec.json.encode(message).decode()
    assert "&lt;!channel&gt; &amp; co" in text
    assert "<!channel>" not in text
    assert message["text"] == "Audit of acme/&lt;web&gt;: the gate failed"
    assert message["blocks"][-1]["text"]["text"] == "<https://example.org/a?b=1&amp;c=2|Report>"


def test_a_long_message_is_cut_between_lines() -> None:
    lines = tuple(f"bot-{number} & co: usefulness is lower" for number in range(200))

    text = webhook_message(GateResult(lines, ()), title="x")["blocks"][1]["text"]["text"]

    assert len(text) <= 3_000
    assert text.endswith("is lower\n• …")


def test_the_chance_of_a_wrong_failure_is_that_of_all_bots_together() -> None:
    alone = overview(50, 2)
    two = replace(alone, reviewers=(*alone.reviewers, *overview(80, 0.5, name="hare").reviewers))

    assert judge(alone, baseline=54.2).failed
    assert not judge(two, baseline=54.2).failed
    assert judge(two, baseline=54.2, reviewers=("otter",)).failed
