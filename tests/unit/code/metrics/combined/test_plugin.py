from __future__ import annotations

import numpy as np
import pytest

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.code.transforms.mutations import mutants
from crscore.errors import InputError
from crscore.suggestions.sketch import rename

REFERENCE = """def largest(values):
    best = None
    for value in values:
        if best is None or value > best:
            best = value
    return best
"""
OTHER = """def largest(values):
    values = sorted(values)
    if len(values) == 0:
        return None
    return values[len(values) - 1]
"""


def score(candidate: str, *references: str) -> float:
    return metrics.make("combined").sentence(candidate, references, language="python")


def test_nearer_code_scores_higher() -> None:
    near = score(REFERENCE.replace("None or", "None or value == 1 or"), REFERENCE)

    assert 0 < score("def largest(values):\n    pass", REFERENCE) < near < 1


@pytest.mark.parametrize("code", [REFERENCE, OTHER])
def test_renaming_moves_nothing(code: str) -> None:
    renamed = rename(code, "python", seed=5)
    assert renamed != code

    assert score(renamed, REFERENCE) == pytest.approx(score(code, REFERENCE), abs=1e-6)


def test_mutants_of_the_reference_score_lower() -> None:
    made = mutants(REFERENCE, "python")
    assert made

    assert all(score(mutant.code, REFERENCE) < score(REFERENCE, REFERENCE) for mutant in made)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [("", "x", 0), ("x", "# nothing", 0), ("", "\n", 1), ("a = b", "a=b # same", 1)],
)
def test_scores_without_features(candidate: str, reference: str, expected: float) -> None:
    assert score(candidate, reference) == expected


def test_best_of_several_references() -> None:
    ones = [score("a + b", one) for one in ("c", "b + a")]

    assert score("a + b", "c", "b + a") == pytest.approx(max(ones), abs=1e-6)


def test_scores_do_not_depend_on_other_samples() -> None:
    codes = ["x", "return a + b", "f(1)", "def (:", "", "print(" * 30]
    samples = [
        Sample(candidate=one, references=(other,), context="sum", language="python")
        for one in codes
        for other in codes
    ]
    metric = metrics.make("combined")
    together = metric.sentence_scores(metric.statistics(samples))
    alone = [metric.sentence_scores(metric.statistics([one]))[0] for one in samples]

    assert np.allclose(together, alone, rtol=0, atol=1e-5)
    assert ((together >= 0) & (together <= 1)).all()


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (Sample(candidate="x", references=("y",)), "no grammar"),
        (Sample(candidate="x" * 10_001, references=("y",), language="java"), "10,001"),
    ],
)
def test_samples_that_cannot_be_judged(sample: Sample, reason: str) -> None:
    metric = metrics.make("combined")

    assert reason in (metric.inapplicable([sample]) or "")
    with pytest.raises(InputError, match=reason):
        metric.corpus([sample])
