import numpy as np
import pytest
import scipy.stats

from crscore.errors import InputError
from crscore_lab.statistics import ranks
from crscore_lab.study.data import saved_runs
from crscore_lab.study.data.saved_runs import ReviewKey, SavedReview, SavedRun
from crscore_lab.study.measures import comparison
from crscore_lab.study.measures.comparison import Comparison, Difference
from tests.helpers.slow_bootstrap import interval_of_rows

CHANGES, SYSTEMS = 40, ("gpt3.5", "llama3", "lstm")
KEYS = [ReviewKey(f"c{i:02}", system, 0) for i in range(CHANGES) for system in SYSTEMS]
RNG = np.random.default_rng(2)
HUMAN = RNG.integers(1, 6, (len(KEYS), 3)).astype(float)
GOOD = HUMAN + RNG.normal(0, 1, HUMAN.shape)
POOR = HUMAN + RNG.normal(0, 6, HUMAN.shape)


def run(values: np.ndarray = GOOD, name: str = "a.json", **fields: object) -> SavedRun:
    options: dict = {"signature": name, "sha256": "00", "metric": "m"} | fields
    human = options.pop("human", HUMAN)
    keys = options.pop("keys", KEYS)
    return SavedRun(
        name=name,
        reviews={
            key: SavedReview(change=key.change, system=key.system, human=tuple(h), scores=tuple(v))
            for key, h, v in zip(keys, human, values, strict=True)
        },
        **options,
    )


def compared(first: SavedRun, second: SavedRun, resamples: int = 200) -> Comparison:
    return comparison.compare(first, second, resamples=resamples, seed=0)


def row(found: Comparison, statistic: str = "Spearman", name: str = "pooled") -> Difference:
    wanted = (statistic, "relevance", name)
    return next(
        one for one in found.differences if (one.statistic, one.dimension, one.slice) == wanted
    )


def test_values_and_difference_are_those_of_the_two_runs() -> None:
    one = row(compared(run(POOR), run(GOOD, "b.json")))
    first = scipy.stats.spearmanr(POOR[:, 2], HUMAN[:, 2]).statistic
    second = scipy.stats.spearmanr(GOOD[:, 2], HUMAN[:, 2]).statistic
    assert (one.first, one.second) == (pytest.approx(first), pytest.approx(second))
    assert one.difference == pytest.approx(second - first)


def test_better_run_is_named_whichever_comes_first() -> None:
    good, poor = run(GOOD), run(POOR, "b.json")
    for statistic in ("Spearman", "same-diff pair accuracy"):
        assert row(compared(poor, good), statistic).better == "second"
        assert row(compared(good, poor), statistic).better == "first"
    assert row(compared(poor, good)).p < 0.001


def test_order_of_the_runs_changes_only_the_sign_of_a_difference() -> None:
    good, poor = run(GOOD), run(POOR, "b.json")
    one, other = row(compared(poor, good)), row(compared(good, poor))
    assert one.difference == pytest.approx(-other.difference)
    assert (one.low, one.high) == (pytest.approx(-other.high), pytest.approx(-other.low))
    assert (one.p, one.changes_needed) == (pytest.approx(other.p), other.changes_needed)


def test_interval_is_that_of_the_plain_paired_bootstrap() -> None:
    one = row(compared(run(POOR), run(GOOD, "b.json")))
    slow = interval_of_rows(
        lambda rows: (
            ranks.spearman(GOOD[rows, 2], HUMAN[rows, 2])
            - ranks.spearman(POOR[rows, 2], HUMAN[rows, 2])
        ),
        [key.change for key in KEYS],
        resamples=200,
        seed=0,
    )
    assert (one.low, one.high) == pytest.approx(slow)


def test_interval_of_two_similar_runs_is_narrow_because_they_are_paired() -> None:
    # A little noise on top of the same values: the errors of the runs go together.
    near = GOOD + np.random.default_rng(5).normal(0, 0.5, GOOD.shape)
    one = row(compared(run(near), run(GOOD, "b.json")))
    alone = interval_of_rows(
        lambda rows: ranks.spearman(GOOD[rows, 2], HUMAN[rows, 2]),
        [key.change for key in KEYS],
        resamples=200,
        seed=0,
    )
    assert one.high - one.low < (alone[1] - alone[0]) / 1.5


def test_changes_needed_follow_from_the_spread_of_the_draws() -> None:
    one = row(compared(run(POOR), run(GOOD, "b.json"), resamples=400))
    # The interval is about 2 * 1.96 standard errors wide.
    error = (one.high - one.low) / 3.92
    expected = CHANGES * (2.8016 * error / one.difference) ** 2
    assert one.changes_needed == pytest.approx(expected, rel=0.25, abs=1.5)


def test_identical_runs_have_no_difference() -> None:
    found = compared(run(), run(GOOD, "b.json"))
    assert {one.difference for one in found.differences} == {0.0}
    assert {(one.p, one.better, one.changes_needed) for one in found.differences} == {
        (1.0, None, None)
    }


def test_without_resamples_the_values_have_no_interval() -> None:
    one = row(compared(run(POOR), run(GOOD, "b.json"), resamples=0))
    assert one.difference > 0
    assert (one.low, one.high, one.p, one.better, one.changes_needed) == (None,) * 5


def test_rows_of_one_run_alone_are_left_out_and_counted() -> None:
    short = run(GOOD[:60], "b.json", keys=KEYS[:60], human=HUMAN[:60])
    found = compared(run(POOR), short)
    assert (found.reviews, found.changes) == (60, 20)
    assert (found.first.left_out, found.second.left_out) == (60, 0)
    known = scipy.stats.spearmanr(POOR[:60, 2], HUMAN[:60, 2]).statistic
    assert row(found).first == pytest.approx(known)
    assert "lacks reviews of the other" in found.warnings[0]


def test_other_data_is_compared_on_what_both_have_with_a_warning() -> None:
    other = run(GOOD[30:], "b.json", keys=KEYS[30:], human=HUMAN[30:], sha256="11")
    found = compared(run(POOR), other)
    assert found.reviews == 90
    assert found.warnings == (
        "the runs are over different data: only the reviews that both have are compared",
    )


def test_review_with_other_ratings_is_left_out_with_a_warning() -> None:
    rated = HUMAN.copy()
    rated[0] = 6 - rated[0] + (rated[0] == 3)
    found = compared(run(POOR), run(GOOD, "b.json", human=rated, sha256="11"))
    assert found.reviews == len(KEYS) - 1
    assert "their human ratings differ between runs: 1" in " ".join(found.warnings)


def test_same_signature_of_both_runs_is_a_warning() -> None:
    found = compared(run(signature="s"), run(GOOD, "b.json", signature="s"))
    assert found.warnings == ("both runs have the same signature",)


def test_runs_without_a_common_review_are_an_error() -> None:
    other = run(GOOD, "b.json", keys=[key._replace(change=key.change + "x") for key in KEYS])
    with pytest.raises(InputError, match=r"a\.json and b\.json share no review"):
        compared(run(), other)


def test_relevance_comes_first_and_pooled_spearman_leads() -> None:
    found = compared(run(POOR), run(GOOD, "b.json"), resamples=0)
    assert [(one.statistic, one.slice) for one in found.differences[:5]] == [
        ("Spearman", "pooled"),
        ("Spearman", "without-junk"),
        ("Spearman", "within-system"),
        ("same-diff pair accuracy", "pooled"),
        ("same-diff pair accuracy", "without-junk"),
    ]
    assert [one.dimension for one in found.differences[::5]] == [
        "relevance", "comprehensiveness", "conciseness",
    ]  # fmt: skip


def test_constant_metric_has_no_difference() -> None:
    one = row(compared(run(np.zeros_like(GOOD)), run(GOOD, "b.json")))
    assert (one.first, one.difference, one.better) == (None, None, None)
    assert one.second is not None


def test_run_on_its_own_training_data_is_named_in_a_comparison() -> None:
    found = compared(run(POOR), run(GOOD, "b.json", is_trained_on_data=True))
    assert found.warnings == (f"b.json: {saved_runs.TRAINED_ON_DATA}",)
