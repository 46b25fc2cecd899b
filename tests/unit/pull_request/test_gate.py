"""The gate: off by default, and it stops nobody with a number that is not whole."""

import pytest
from msgspec import structs

from crscore.errors import ConfigError
from crscore.pull_request import gate
from crscore.scoring.gate import GateResult
from crscore.settings import Config
from tests.helpers import overviews


def judge(actual, fail_on: str, limit: float | None = 0.5) -> GateResult:
    return gate.judge(actual, Config(fail_under_relevance=limit), fail_on.split(","))


def scored(**scores: float | None):
    """An overview whose reviewers have these relevances; `together` is one of the names."""
    actual = overviews.review()
    row = actual.reviewers[0]
    rows = tuple(
        structs.replace(
            row, name=name, relevance=value, reason=None if value is not None else "said nothing"
        )
        for name, value in scores.items()
        if name != "together"
    )
    together = structs.replace(actual.together, relevance=scores.get("together", 0.9))
    return structs.replace(actual, together=together, reviewers=rows, missing=())


def test_without_a_threshold_everything_passes() -> None:
    assert judge(scored(together=0.0), "together", None) == ((), ())


def test_together_below_the_threshold_fails_and_says_by_how_much() -> None:
    verdict = judge(scored(together=0.42), "together")
    assert len(verdict.failed) == 1
    assert "all reviewers together is 0.42, below fail-under-relevance 0.5" in verdict.failed[0]


def test_relevance_equal_to_the_threshold_passes() -> None:
    assert judge(scored(together=0.5), "together").failed == ()


def test_together_ignores_single_reviewers() -> None:
    assert judge(scored(together=0.9, bot=0.1), "together").failed == ()


def test_each_names_every_reviewer_below() -> None:
    verdict = judge(scored(together=0.9, bot=0.1, mira=0.2, jonas=0.8), "each")
    assert [("bot" in line, "mira" in line) for line in verdict.failed] == [
        (True, False),
        (False, True),
    ]


def test_patterns_choose_reviewers_whatever_their_case() -> None:
    verdict = judge(scored(CodeRabbit=0.1, mira=0.1), "code*")
    assert len(verdict.failed) == 1


def test_abstention_passes_with_a_notice() -> None:
    verdict = judge(scored(bot=None), "bot")
    assert verdict.failed == ()
    assert "said nothing" in verdict.notices[0]


def test_partial_run_fails_no_gate_and_says_so() -> None:
    actual = structs.replace(scored(together=0.0), missing=("A page is missing.",))
    verdict = judge(actual, "together,each")
    assert (verdict.failed, len(verdict.notices)) == ((), 1)
    assert "partial" in verdict.notices[0]


def test_gate_on_a_reviewer_without_a_post_says_so() -> None:
    verdict = judge(scored(mira=0.1), "copilot")
    assert verdict.failed == ()
    assert "copilot could not be judged: no such reviewer commented" in verdict.notices[0]


@pytest.mark.parametrize(
    ("on_nothing", "lengths"), [("pass", (0, 1)), ("fail", (1, 0)), ("skip", (0, 0))]
)
@pytest.mark.parametrize("name", ["copilot", "bot"])
def test_reviewer_without_a_score_is_judged_by_on_nothing(
    name: str, on_nothing: str, lengths: tuple[int, int]
) -> None:
    actual = scored(bot=None)
    verdict = gate.judge(actual, Config(fail_under_relevance=0.3, on_nothing=on_nothing), [name])
    assert tuple(map(len, verdict)) == lengths


def test_each_name_without_a_match_is_reported() -> None:
    verdict = judge(scored(mira=0.9), "mira,mira_k")
    assert (verdict.failed, len(verdict.notices)) == ((), 1)


@pytest.mark.parametrize("name", ["Together", "EACH", "coderabbitai[bot]"])
def test_names_are_read_whatever_their_case_and_brackets(name: str) -> None:
    actual = scored(together=0.1, **{"coderabbitai[bot]": 0.1})
    assert judge(actual, name).failed


@pytest.mark.parametrize("names", ["", " , "])
def test_empty_choice_is_an_error(names: str) -> None:
    with pytest.raises(ConfigError):
        judge(scored(), names)


def test_partial_run_fails_if_requested() -> None:
    actual = structs.replace(scored(), missing=("A page is missing.",))
    verdict = gate.judge(actual, Config(fail_under=10), ["together"], fail_on_partial=True)
    assert "partial" in verdict.failed[0]


def useful(*standings: int | None):
    """An overview whose reviewers stand so; all together stand at 50."""
    actual = overviews.useful_review()
    rows = tuple(
        overviews.reviewer(
            f"r{at}", usefulness=None if item is None else overviews.useful(standing=item)
        )
        for at, item in enumerate(standings)
    )
    together = structs.replace(actual.together, usefulness=overviews.useful(standing=50))
    return structs.replace(actual, together=together, reviewers=rows)


@pytest.mark.parametrize(("limit", "failed"), [(51, 1), (50, 0), (0, 0)])
def test_standing_below_the_threshold_fails(limit: int, failed: int) -> None:
    verdict = gate.judge(useful(), Config(fail_under=limit), ["together"])
    assert (len(verdict.failed), verdict.notices) == (failed, ())


def test_standing_that_fails_is_reported() -> None:
    verdict = gate.judge(useful(4, 90), Config(fail_under=30), ["each"])
    assert verdict.failed == ("octo/shop#12: usefulness of r0 is 4, below fail-under 30",)


def test_reviewer_without_a_standing_passes_with_a_notice() -> None:
    verdict = gate.judge(useful(None), Config(fail_under=30), ["each"])
    assert verdict.failed == ()
    assert verdict.notices == (
        "octo/shop#12: r0 could not be judged: no usefulness "
        "(the encoder has no usefulness weights)",
    )


def test_both_thresholds_are_applied() -> None:
    actual = useful(4)  # its relevance is 0.5
    settings = Config(fail_under=30, fail_under_relevance=0.6)
    assert len(gate.judge(actual, settings, ["each"]).failed) == 2


@pytest.mark.parametrize(
    ("fail_on", "subjects"),
    [
        ("together", ["all other reviewers together"]),
        ("each", ["bot"]),
        ("b*", ["bot"]),
        ("b*,Bo", ["bot", "bo"]),
        ("bo", ["bo"]),
    ],
)
def test_people_whom_the_repository_did_not_choose_count_by_full_name_only(
    fail_on: str, subjects: list[str]
) -> None:
    actual = scored(together=0.9, bot=0.1, bo=0.2)
    bot, stranger = actual.reviewers
    actual = structs.replace(
        actual,
        trusted=structs.replace(actual.together, relevance=0.1),
        reviewers=(bot, structs.replace(stranger, is_trusted=False)),
    )
    verdict = judge(actual, fail_on)
    assert [line.split(" of ")[1].split(" is ")[0] for line in verdict.failed] == subjects
    assert bool(verdict.notices) is ("bo" not in subjects)
    assert all("does not count 'bo': not an owner" in line for line in verdict.notices)


def test_only_some_of_many_outsiders_are_named() -> None:
    actual = scored(**{f"r{at}": 0.9 for at in range(9)})
    rows = [structs.replace(row, is_trusted=False) for row in actual.reviewers]
    verdict = judge(structs.replace(actual, reviewers=tuple(rows)), "each")
    assert "'r0', 'r1', 'r2' and 6 more: not" in verdict.notices[-1]
