from __future__ import annotations

import numpy as np
import pytest

from crscore.code.metrics import codebertscore
from crscore.code.metrics.codebertscore import Tokens

PLANE = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0]], np.float32)


def tokens(*rows: int, spelled: str = "abcd") -> Tokens:
    chosen = list(rows)
    return Tokens(
        spelled=tuple(spelled[row] for row in chosen),
        special=np.zeros(len(chosen), bool),
        vectors=PLANE[chosen],
    )


def test_values_by_hand() -> None:
    p, r = (1 + 0.6) / 2, 1.0
    values = codebertscore.align(tokens(0, 1), tokens(0))

    assert values == pytest.approx([p, r, 2 * p * r / (p + r), 10 * p * r / (9 * p + r)])


def test_opposite_tokens_score_0() -> None:
    assert codebertscore.align(tokens(0), tokens(3)).tolist() == [0, 0, 0, 0]


def test_blocks_give_the_same_values_as_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = tokens(0, 1, 2, 3), tokens(2, 1, 0)
    whole = codebertscore.align(*sides)
    monkeypatch.setattr(codebertscore, "_BLOCK", 1)

    assert codebertscore.align(*sides) == pytest.approx(whole)


def test_punctuation_except_operators_is_dropped() -> None:
    words = codebertscore.drop_punctuation(tokens(0, 1, 2, 3, spelled="=%<("))

    assert "".join(words.spelled) == "=%<"


def test_special_tokens_have_no_weight() -> None:
    marked = tokens(0, 1, 2)._replace(special=np.array([True, False, False]))

    assert codebertscore.weights_of(marked).tolist() == [0, 0.5, 0.5]
    assert not codebertscore.weights_of(marked._replace(special=np.ones(3, bool))).any()
