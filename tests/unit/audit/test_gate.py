from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from crscore.audit.coverage import rate
from crscore.audit.gate import GateResult, judge, webhook_message
from crscore.audit.overview import Coverage, Escaped, Estimate, Night, Noise, Overview, Reviewer
from crscore.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


def night(kind: str = "score", day: int = 1, partial: str | None = None) -> Night:
    return Night(
        night=f"2026-03-{day:02}",
        kind=kind,
        pulls=9,
        failed=0,
        partial=partial,
        rest_requests=0,
        graphql_points=0,
        seconds=1.0,
    )


def overview(
    value: float | None,
    low: float = 0,
    high: float = 0,
    *,
    nights: Sequence[Night] = (night(),),
    signature: str = "one",
    name: str = "otter",
) -> Overview:
    none = rate(0, 0)
    estimate = None if value is None else Estimate(value=value, low=low, high=high)
    otter = Reviewer(
        name=name,
        is_bot=True,
        pulls=30,
        comments=60,
        comments_per_pull=None,
        usefulness=estimate,
        relevance=None,
        conciseness=None,
        comprehensiveness=None,
        importance=None,
        remarks={},
        abstained=0,
        rank=(1, 1),
        coverage=Coverage(reviewed=none, last_head=none, green_unreviewed=None, skips=()),
        noise=Noise(share=none, nothing=0, repeat=0, restates=0, praise=0),
        acted_on=(),
        decision=None,
        trend=(),
        changes=(),
    )
    return Overview(
        since="2026-03-01",
        until="2026-03-31",
        signature=signature,
        other_signatures=(),
        detect=5,
        pulls=30,
        merged=30,
        scored=30,
        pending=0,
        failed=0,
        repositories=(),
        reviewers=(otter,),
        verdicts=(),
        best=(),
        worst=(),
        gaps=(),
        escaped=Escaped(
            days=30,
            pulls=0,
            complete=0,
            unknown=(),
            fixed=none,
            changed=none,
            near=none,
            reviewers=(),
            missed=(),
        ),
        nights=tuple(nights),
        notes=(),
    )


@pytest.mark.parametrize(
    ("value", "low", "high", "fails"),
    [
        (50, 46, 54, True),  # below 60, and by 10
        (50, 39, 61, False),  # 60 is in the interval
        (57, 56, 58, False),  # below, but by 3 only, which is not more than the minimum
        (70, 66, 74, False),
    ],
)
def test_the_gate_fails_below_the_baseline_by_more_than_the_minimum(
    value: float, low: float, high: float, fails: bool
) -> None:
    result = judge(overview(value, low, high), baseline=60, minimum_drop=3)

    assert (bool(result.failed), result.notices) == (fails, ())


def test_a_failure_says_by_how_much() -> None:
    assert judge(overview(50, 46, 54), baseline=60).failed == (
        "otter: usefulness 50 (95 % interval 46 to 54) is 10 below 60",
    )


@pytest.mark.parametrize(
    ("before", "fails"),
    [
        # 10 lower; the arms are the root of 4² + 4² = 5.7, and of 4² + 10² = 10.8.
        (overview(60, 56, 64), True),
        (overview(60, 50, 70), False),
    ],
)
def test_a_period_before_has_its_own_uncertainty(before: Overview, fails: bool) -> None:
    assert bool(judge(overview(50, 46, 54), baseline=before).failed) == fails


@pytest.mark.parametrize(
    ("nights", "reason"),
    [
        ((), "there is no run"),
        ((night(partial="rate limit"),), "the score of 2026-03-01 is partial: rate limit"),
        ((night("sync", partial="budget"), night(day=2)), "the sync of 2026-03-01 is partial"),
    ],
)
def test_a_partial_night_fails_nothing(nights: Sequence[Night], reason: str) -> None:
    result = judge(overview(10, 9, 11, nights=nights), baseline=60)

    assert result.failed == ()
    assert reason in result.notices[0]


def test_a_partial_night_that_was_completed_does_not_matter() -> None:
    nights = (night(partial="budget"), night(day=2))

    assert judge(overview(10, 9, 11, nights=nights), baseline=60).failed


def test_other_signatures_are_not_compared() -> None:
    result = judge(overview(10, 9, 11), baseline=overview(60, 59, 61, signature="two"))

    assert result.failed == ()
    assert "other settings" in result.notices[0]


@pytest.mark.parametrize(
    ("now", "before", "when"),
    [(overview(None), 60.0, "in the period"), (overview(5, 4, 6), overview(None), "before")],
)
def test_unknown_numbers_fail_nothing(now: Overview, before: float | Overview, when: str) -> None:
    result = judge(now, baseline=before)

    assert result == GateResult(
        (), (f"the gate was not applied to otter: too few scored pull requests {when}",)
    )


@pytest.mark.parametrize(
    ("on_nothing", "lengths"), [("pass", (0, 1)), ("fail", (1, 0)), ("skip", (0, 0))]
)
@pytest.mark.parametrize("has_bots", [True, False])
def test_a_bot_without_a_number_does_what_is_asked(
    on_nothing: str, lengths: tuple[int, int], *, has_bots: bool
) -> None:
    now = overview(None) if has_bots else replace(overview(None), reviewers=())
    result = judge(now, baseline=50, on_nothing=on_nothing)
    assert tuple(map(len, result)) == lengths


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"baseline": 101}, "baseline"),
        ({"baseline": 5, "minimum_drop": -1}, "minimum-drop"),
        ({"baseline": 5, "measure": "beauty"}, "measure"),
        ({"baseline": 5, "reviewers": ("hare",)}, "reviewer"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError, match=key):
        judge(overview(50, 46, 54), **options)


def test_the_message_escapes_what_comes_from_outside() -> None:
    failing = judge(overview(50, 46, 54, name="<!channel> & co"), baseline=60)

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
    alone = overview(50, 46, 54)
    two = replace(alone, reviewers=(*alone.reviewers, *overview(80, 79, 81, name="hare").reviewers))

    assert judge(alone, baseline=54.5).failed
    assert not judge(two, baseline=54.5).failed
    assert judge(two, baseline=54.5, reviewers=("otter",)).failed
