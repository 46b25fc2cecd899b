from __future__ import annotations

import msgspec
import pytest

from crscore.code.samples import Sample
from crscore.errors import ConfigError, InputError
from crscore.lab.study.code import compare
from crscore.reports import layout

REFERENCE = ("total = sum(row.size for row in rows)",)


def samples(*candidates: str) -> list[Sample]:
    return [
        Sample(candidate=text, references=REFERENCE, id=f"p{n}")
        for n, text in enumerate(candidates)
    ]


RIGHT = samples(*["total = sum(row.size for row in rows)"] * 12)
NEARLY = samples(*["total = sum(r.size for r in rows)"] * 12)
WRONG = samples(*["import os"] * 12)


def test_clear_difference_is_significant() -> None:
    (found,) = compare.compare(RIGHT, WRONG, ["chrf"], resamples=100).metrics

    assert (found.better, found.wins, found.losses) == (1, 1, 0)
    assert found.first == 100
    assert found.difference == found.first - found.second
    assert found.verdict.startswith("would convince people")
    assert found.disagreement == 0  # Table 4: chrF, 10 points and more


def test_order_of_systems_changes_the_sign_only() -> None:
    (one,) = compare.compare(RIGHT, NEARLY, ["bleu"], resamples=50).metrics
    (two,) = compare.compare(NEARLY, RIGHT, ["bleu"], resamples=50).metrics

    assert (one.difference, one.better, one.wins) == (-two.difference, -two.better, two.losses)


def test_system_is_no_better_than_itself() -> None:
    (found,) = compare.compare(NEARLY, NEARLY, ["rouge_l"], resamples=50).metrics

    assert (found.better, found.difference, found.wins) == (0, 0, 0)
    assert found.disagreement == 0.72  # Table 4: ROUGE-L, not significant
    assert "72 %" in found.verdict


def test_small_difference_does_not_convince() -> None:
    # One letter of two hundred in every sample: all resamples are won, by less than 2 points.
    text = "; ".join(f"value{n} = compute({n})" for n in range(10))
    right = [Sample(candidate=text, references=(text,), id=str(n)) for n in range(5)]
    nearly = [Sample(candidate=text + "x", references=(text,), id=str(n)) for n in range(5)]
    (found,) = compare.compare(right, nearly, ["chrf"], resamples=50).metrics

    assert (found.better, found.disagreement) == (1, 0.052)  # Table 4: chrF, below 2 points
    assert 0 < found.difference < 2
    assert found.verdict.startswith("too small to convince people")


def test_rate_below_two_points_joins_pairs_told_and_not_told_apart() -> None:
    # chrF, Table 4: (5.2 % of 248 + 64.7 % of 218) / 466, by hand.
    assert compare.RATES["chrf"].small == pytest.approx((0.052 * 248 + 0.647 * 218) / 466)


def test_stricter_test_needs_more_wins() -> None:
    mixed = [*RIGHT[:7], *WRONG[7:]]
    other = [*WRONG[:3], *RIGHT[3:8], *WRONG[8:]]
    lenient = compare.compare(mixed, other, ["chrf"], resamples=400)
    strict = compare.compare(mixed, other, ["chrf"], resamples=400, two_sided=True)

    assert (lenient.needed, strict.needed) == (0.95, 0.975)
    assert lenient.metrics[0].wins == strict.metrics[0].wins


def test_metric_without_a_study_says_so() -> None:
    (found,) = compare.compare(RIGHT, WRONG, ["edit"], resamples=50).metrics

    assert found.disagreement is None
    assert "nobody has studied" in found.verdict


def test_samples_are_paired_by_id() -> None:
    found = compare.compare(RIGHT, RIGHT[::-1], ["exact"], resamples=10)

    assert (found.samples, found.problems, found.metrics[0].difference) == (12, 12, 0)


def test_several_samples_of_a_problem_are_drawn_together() -> None:
    found = compare.compare([*RIGHT, *RIGHT], [*WRONG, *WRONG], ["exact"], resamples=10)

    assert (found.samples, found.problems) == (24, 12)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (RIGHT, WRONG[:-1], "A has 1 sample without a partner, the first one 'p11'"),
        (RIGHT[1:], WRONG, "B has 1 sample without a partner, the first one 'p0'"),
        ([], [], "no samples"),
        (
            RIGHT[:1],
            [Sample(candidate="a", references=("b",), id="p0")],
            "the references of 'p0' differ",
        ),
    ],
)
def test_samples_that_are_no_pairs_are_an_error(
    first: list[Sample], second: list[Sample], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        compare.compare(first, second, ["exact"])


def test_unknown_preset_is_an_error() -> None:
    with pytest.raises(ConfigError, match="preset"):
        compare.compare(RIGHT, WRONG, ["bleu"], preset="bleu-out")


def test_report_and_document_have_every_metric() -> None:
    found = compare.compare(RIGHT, WRONG, ["bleu", "edit"], labels=("new", "old"), resamples=20)
    text = layout.to_text(compare.comparison_report(found))

    assert "new against old" in text
    assert all(one.identity in text and one.verdict[:30] in text for one in found.metrics)
    assert msgspec.json.decode(msgspec.json.encode(found), type=compare.CodeComparison) == found
