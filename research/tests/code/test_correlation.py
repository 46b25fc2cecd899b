from __future__ import annotations

import itertools
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy import stats

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.errors import InputError, UnknownPluginError
from crscore_lab.code import correlation
from crscore_lab.code.graded import GradedCode

REFERENCE = "total = sum(row.size for row in rows)"
ANSWERS = [
    ("total = sum(row.size for row in rows)", 4),
    ("total = sum(r.size for r in rows)", 4),
    ("total = max(row.size for row in rows)", 2),
    ("total = len(rows)", 1),
    ("import os", 0),
]


def graded(problems: int = 6, **changes: Any) -> GradedCode:
    rng = np.random.default_rng(0)
    answers = [
        (f"p{n}", *ANSWERS[place]) for n in range(problems) for place in rng.integers(0, 5, 4)
    ]
    fields: dict[str, Any] = {
        "sha256": "0" * 64,
        "kind": "people",
        "samples": tuple(
            Sample(candidate=text, references=(REFERENCE,), language="python")
            for _, text, _ in answers
        ),
        "problems": tuple(problem for problem, *_ in answers),
        "systems": tuple("s" for _ in answers),
        "grades": np.array([float(grade) for *_, grade in answers]),
        "published": tuple({} for _ in answers),
    }
    return GradedCode(**(fields | changes))


def row(study: correlation.CodeStudy, name: str) -> correlation.Agreement:
    return next(agreement for agreement in study.agreements if agreement.metric == name)


def test_correlations_equal_scipy() -> None:
    data = graded()
    metric = metrics.make("rouge_l")
    scores = metric.sentence_scores(metric.statistics(data.samples))
    agreement = row(correlation.correlate(data, ["rouge_l"], resamples=0), "rouge_l")

    assert agreement.pearson.value == pytest.approx(stats.pearsonr(scores, data.grades).statistic)
    assert agreement.spearman.value == pytest.approx(stats.spearmanr(scores, data.grades).statistic)
    assert agreement.kendall_b == pytest.approx(stats.kendalltau(scores, data.grades).statistic)
    assert agreement.kendall.value == correlation.kendall(scores, data.grades, data.problems)
    assert agreement.kendall.low is None


def test_interval_equals_a_bootstrap_that_copies_rows() -> None:
    data = graded(12)
    metric = metrics.make("edit")
    scores = metric.sentence_scores(metric.statistics(data.samples))
    agreement = row(correlation.correlate(data, ["edit"], resamples=2000, seed=1), "edit")
    rng = np.random.default_rng(7)
    problems = np.asarray(data.problems)
    draws: dict[str, list[float]] = {"kendall": [], "pearson": [], "spearman": []}
    for _ in range(1000):
        drawn_problems = rng.choice(np.unique(problems), 12)
        rows = np.concatenate([np.flatnonzero(problems == problem) for problem in drawn_problems])
        copies = [
            f"{n}"
            for n, problem in enumerate(drawn_problems)
            for _ in np.flatnonzero(problems == problem)
        ]
        tau = correlation.kendall(scores[rows], data.grades[rows], copies)
        draws["kendall"].append(tau if tau is not None else np.nan)
        draws["pearson"].append(stats.pearsonr(scores[rows], data.grades[rows]).statistic)
        draws["spearman"].append(stats.spearmanr(scores[rows], data.grades[rows]).statistic)

    for name, values in draws.items():
        estimate = getattr(agreement, name)
        assert [estimate.low, estimate.high] == pytest.approx(
            np.quantile(values, [0.025, 0.975]).tolist(), abs=0.03
        )


def test_baselines_are_listed_below_the_metrics() -> None:
    study = correlation.correlate(graded(), ["bleu"], resamples=20)

    assert [agreement.metric for agreement in study.agreements if not agreement.is_baseline] == [
        "bleu"
    ]
    assert {agreement.metric for agreement in study.agreements[1:]} == {
        "edit",
        "length",
        "constant",
    }


def test_constant_answer_agrees_with_nothing() -> None:
    constant = row(correlation.correlate(graded(), ["bleu"], resamples=20), "constant")

    assert constant.kendall.value == 0
    assert constant.pearson.value is constant.spearman.value is constant.kendall_b is None


def test_equal_grades_give_no_correlation() -> None:
    data = graded()
    study = correlation.correlate(graded(grades=np.ones(len(data.samples))), ["bleu"], resamples=20)

    assert study.pairs == 0
    assert study.agreements[0].kendall.value is None
    assert correlation.render_study(study)


def test_named_metric_that_cannot_judge_is_an_error() -> None:
    data = graded(1)
    long = (Sample(candidate="x" * 300_000, references=("y",)), *data.samples[1:])

    with pytest.raises(InputError, match=r"rouge_l cannot score these samples: .*300,000"):
        correlation.correlate(graded(1, samples=long), ["rouge_l", "bleu"], resamples=0)


def test_report_and_document_have_every_metric() -> None:
    study = correlation.correlate(graded(), ["bleu", "chrf"], resamples=20)
    text = correlation.render_study(study)

    assert all(
        agreement.metric in text and agreement.identity.replace("|", "\\|") in text
        for agreement in study.agreements
    )
    assert msgspec.json.decode(msgspec.json.encode(study), type=correlation.CodeStudy) == study


def test_unknown_metric_is_an_error() -> None:
    with pytest.raises(UnknownPluginError):
        correlation.correlate(graded(), ["blue"])


def by_definition(scores: list[float], grades: list[float], problems: list[str]) -> float:
    """(C - D) / (C + D + T), pair by pair."""
    agreeing = counted = 0
    for left, right in itertools.combinations(range(len(scores)), 2):
        if problems[left] != problems[right] or grades[left] == grades[right]:
            continue
        counted += 1
        difference = scores[left] - scores[right]
        if abs(difference) >= 0.001:
            agreeing += 1 if (difference > 0) == (grades[left] > grades[right]) else -1
    return agreeing / counted


def test_kendall_equals_its_definition() -> None:
    rng = np.random.default_rng(1)
    scores, grades = rng.random(60).round(2), rng.integers(0, 3, 60).astype(float)
    problems = [f"p{number}" for number in rng.integers(0, 7, 60)]

    assert correlation.kendall(scores, grades, problems) == pytest.approx(
        by_definition(scores.tolist(), grades.tolist(), problems)
    )


def test_scores_less_than_a_thousandth_apart_are_ties() -> None:
    tau = correlation.kendall(np.array([0.5, 0.5009]), np.array([0.0, 1.0]), ["a", "a"])

    assert tau == 0


def test_no_pair_of_different_grades_gives_none() -> None:
    assert correlation.kendall(np.array([0.1, 0.9, 0.3]), np.ones(3), ["a", "a", "b"]) is None
