from __future__ import annotations

import pytest

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.errors import InputError


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        ("kitten", ["sitting"], 1 - 3 / 7),  # the textbook distance of 3
        ("a + b", ["c", "a + b\n"], 1),
        ("", ["abc"], 0),
        ("abc", [" "], 0),
        ("", ["\n"], 1),
    ],
)
def test_similarity_to_the_best_reference(
    candidate: str, references: list[str], expected: float
) -> None:
    assert metrics.make("edit").sentence(candidate, references) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["edit", "rouge_l"])
def test_code_that_would_take_minutes_is_refused(name: str) -> None:
    metric = metrics.make(name)
    sample = Sample(candidate="x" * 200_001, references=("y",))

    assert "200,001" in (metric.find_obstacle([sample]) or "")
    with pytest.raises(InputError, match="cannot score these samples: code of 200,001 characters"):
        metric.statistics([sample])
