from __future__ import annotations

import math

import numpy as np
import pytest

from crscore.code.metrics import codebertscore
from crscore.code.metrics.codebertscore import Tokens

PLANE = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0]], np.float32)


def tokens(*rows: int, spelled: str = "abcd") -> Tokens:
    chosen = list(rows)
    return Tokens(
        keys=np.array(chosen),
        spelled=tuple(spelled[row] for row in chosen),
        marker=np.zeros(len(chosen), bool),
        vectors=PLANE[chosen],
    )


def aligned(candidate: Tokens, reference: Tokens) -> np.ndarray:
    return codebertscore.align(
        candidate,
        reference,
        candidate_weights=codebertscore.weights_of(candidate, None),
        reference_weights=codebertscore.weights_of(reference, None),
    )


def test_values_by_hand() -> None:
    p, r = (1 + 0.6) / 2, 1.0
    values = aligned(tokens(0, 1), tokens(0))

    assert values == pytest.approx([p, r, 2 * p * r / (p + r), 10 * p * r / (9 * p + r)])


def test_opposite_tokens_score_nothing() -> None:
    assert aligned(tokens(0), tokens(3)).tolist() == [0, 0, 0, 0]


def test_blocks_give_what_one_product_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = aligned(tokens(0, 1, 2, 3), tokens(2, 1, 0))
    monkeypatch.setattr(codebertscore, "_BLOCK", 1)

    assert aligned(tokens(0, 1, 2, 3), tokens(2, 1, 0)) == pytest.approx(whole)


def test_inverse_frequencies_by_the_formula() -> None:
    weights, unseen = codebertscore.inverse_frequencies([[1, 1, 2], [1], [3]])

    assert weights[1] == pytest.approx(math.log(4 / 3))
    assert weights[2] == pytest.approx(math.log(4 / 2))
    assert unseen == pytest.approx(math.log(4))


def test_frequent_tokens_weigh_less() -> None:
    weights = codebertscore.weights_of(tokens(0, 1), ({0: 1.0}, 3.0))

    assert weights.tolist() == [0.25, 0.75]


def test_equal_weights_where_the_only_document_has_every_token() -> None:
    weights = codebertscore.weights_of(tokens(0, 1), codebertscore.inverse_frequencies([[0, 1]]))

    assert weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("punctuation", "expected"),
    [("operators", "=%<"), ("published", ""), ("all", "=%<(")],
)
def test_punctuation(punctuation: str, expected: str) -> None:
    # The published set drops `=`, `%` and `<`; see the module.
    words = codebertscore.drop_punctuation(tokens(0, 1, 2, 3, spelled="=%<("), punctuation)

    assert "".join(words.spelled) == expected
