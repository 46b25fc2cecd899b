import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from crscore.errors import InputError
from crscore.scoring.assembly import abstain, score_cells


def test_published_example_gives_hand_calculated_scores() -> None:
    # 2 of 3 sentences match, 1 of 2 references is matched: 2/3, 1/2, 2*(1/3)/(7/6) = 4/7.
    result = score_cells(np.array([[1, 1, 0], [0, 0, 0]], dtype=np.float32))
    assert result.conciseness == pytest.approx(2 / 3)
    assert result.comprehensiveness == pytest.approx(1 / 2)
    assert result.relevance == pytest.approx(4 / 7)


def test_counts_are_the_sufficient_statistics() -> None:
    result = score_cells(np.array([[1, 1, 0], [0, 0, 0]], dtype=np.float32))
    counts = (
        result.matched_sentences,
        result.sentences,
        result.matched_references,
        result.references,
    )
    assert counts == (2.0, 3, 1.0, 2)


def test_no_match_gives_zero_relevance() -> None:
    result = score_cells(np.zeros((2, 2), dtype=np.float32))
    assert (result.conciseness, result.comprehensiveness, result.relevance) == (0.0, 0.0, 0.0)


def test_degrees_between_zero_and_one_are_averaged() -> None:
    result = score_cells(np.array([[0.5, 0.25]], dtype=np.float32))
    assert result.conciseness == pytest.approx(0.375)
    assert result.comprehensiveness == pytest.approx(0.5)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,)])
def test_empty_side_or_wrong_shape_raises(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="shape"):
        score_cells(np.zeros(shape, dtype=np.float32))


def test_abstention_has_a_reason_and_no_numbers() -> None:
    result = abstain(references=0, sentences=4, reason="nothing")
    values = (result.conciseness, result.comprehensiveness, result.relevance)
    assert values == (None, None, None)
    assert (result.reason, result.sentences) == ("nothing", 4)


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=8),
        elements=st.sampled_from([0.0, 1.0]),
    )
)
def test_relevance_lies_between_the_other_two(degrees: np.ndarray) -> None:
    result = score_cells(degrees)
    low, high = sorted((result.conciseness, result.comprehensiveness))
    assert low - 1e-9 <= result.relevance <= high + 1e-9
