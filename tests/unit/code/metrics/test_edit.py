from __future__ import annotations

import pytest

from crscore.code import metrics


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
