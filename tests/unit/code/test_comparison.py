from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from crscore.code import comparison
from crscore.code.samples import Sample
from crscore.errors import ConfigError, InputError
from crscore.reports import layout
from crscore.statistics.paired import holm

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
    (row,) = comparison.compare(RIGHT, WRONG, ["chrf"], resamples=100).metrics

    assert (row.better, row.wins, row.losses) == (1, 1, 0)
    assert row.first == 100
    assert row.difference == row.first - row.second


def test_order_of_systems_changes_only_the_sign() -> None:
    (forth,) = comparison.compare(RIGHT, NEARLY, ["bleu"], resamples=50).metrics
    (back,) = comparison.compare(NEARLY, RIGHT, ["bleu"], resamples=50).metrics

    assert (forth.difference, forth.better, forth.wins) == (
        -back.difference,
        -back.better,
        back.losses,
    )


def test_system_is_not_better_than_itself() -> None:
    (row,) = comparison.compare(NEARLY, NEARLY, ["rouge_l"], resamples=50).metrics

    assert (row.better, row.difference, row.wins, row.losses) == (0, 0, 0, 0)


def test_p_values_are_corrected_for_the_number_of_metrics() -> None:
    mixed = [*RIGHT[:8], *WRONG[8:]]
    weaker = [*WRONG[:5], *RIGHT[5:6], *WRONG[6:]]
    names = ["chrf", "edit", "rouge_l"]
    rows = comparison.compare(mixed, weaker, names, resamples=400).metrics
    p_values = [row.p for row in rows]

    assert [row.corrected_p for row in rows] == list(holm([p or 0.0 for p in p_values]))
    assert [row.better for row in rows] == [int((row.corrected_p or 0) < 0.05) for row in rows]
    (single,) = comparison.compare(mixed, weaker, ["chrf"], resamples=400).metrics
    assert single.p == single.corrected_p == rows[0].p


def test_few_problems_are_a_warning() -> None:
    assert "only 12 problems" in comparison.compare(RIGHT, WRONG, ["edit"], resamples=9).notes[0]
    sides = [
        [replace(sample, id=f"{n}-{sample.id}") for n in range(3) for sample in side]
        for side in (RIGHT, WRONG)
    ]
    assert comparison.compare(*sides, ["edit"], resamples=9).notes == ()


def test_samples_are_paired_by_id() -> None:
    document = comparison.compare(RIGHT, RIGHT[::-1], ["edit"], resamples=10)

    assert (document.samples, document.problems, document.metrics[0].difference) == (12, 12, 0)


def test_pair_without_an_id_is_a_separate_problem() -> None:
    first, second = (
        [replace(side[0], id="1"), replace(side[1], id=None)] for side in (RIGHT, WRONG)
    )
    document = comparison.compare(first, second, ["edit"], resamples=10)

    assert document.problems == 2


def test_samples_of_a_problem_are_resampled_together() -> None:
    document = comparison.compare([*RIGHT, *RIGHT], [*WRONG, *WRONG], ["edit"], resamples=10)

    assert (document.samples, document.problems) == (24, 12)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            RIGHT,
            WRONG[:-1],
            "A has 1 sample that the other system lacks, the first with the id 'p11'",
        ),
        (
            RIGHT[1:],
            WRONG,
            "B has 1 sample that the other system lacks, the first with the id 'p0'",
        ),
        ([], [], "no samples"),
        (
            RIGHT[:1],
            [Sample(candidate="a", references=("b",), id="p0")],
            "the systems' references of sample p0 differ",
        ),
        (
            [replace(RIGHT[0], id=None)],
            [Sample(candidate="a", references=("b",))],
            "the systems' references of sample 1 differ",
        ),
    ],
)
def test_samples_that_cannot_be_paired_are_an_error(
    first: list[Sample], second: list[Sample], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        comparison.compare(first, second, ["edit"])


def test_unknown_preset_is_an_error() -> None:
    with pytest.raises(ConfigError, match="preset"):
        comparison.compare(RIGHT, WRONG, ["bleu"], preset="bleu-out")


def test_report_and_document_have_every_metric() -> None:
    document = comparison.compare(
        RIGHT, WRONG, ["bleu", "edit"], labels=("new", "old"), resamples=20
    )
    text = layout.to_text(comparison.comparison_report(document))

    assert "new against old" in text
    assert all(row.identity in text for row in document.metrics)
    assert (
        msgspec.json.decode(msgspec.json.encode(document), type=comparison.CodeComparison)
        == document
    )
