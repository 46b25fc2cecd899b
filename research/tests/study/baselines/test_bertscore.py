"""Hand-made token vectors for the arithmetic, the real encoder for the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest

from crscore.encoders.base import TokenVectors
from crscore.encoders.minilm import MiniLM
from crscore_lab.study.baselines import bertscore

AXES = {"[": (0, 0, 1), "]": (0, 0, -1), "x": (1, 0, 0), "y": (0, 2, 0), "d": (3, 3, 0)}
AXES |= {"w": (-1, 0, 0), "m": (0, 1, 3), "0": (0, 0, 0)}


@dataclass
class Spelled:
    """An encoder whose tokens are the letters of a text, each with its vector of `AXES`."""

    identity: str = "spelled"
    calls: list[int] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        raise NotImplementedError

    def tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.calls.append(len(texts))
        return [
            TokenVectors(
                np.array([AXES[letter] for letter in f"[{text}]"], dtype=np.float32),
                np.array([True, *[False] * len(text), True]),
            )
            for text in texts
        ]


def one(hypothesis: str, reference: str) -> float:
    return float(bertscore.score([hypothesis], [reference], encoder=Spelled())[0])


def test_score_takes_each_tokens_best_partner_whatever_its_length() -> None:
    # d lies halfway between x and y. Precision: x 1, d 0.71; recall: x 1, y 0.71.
    mean = (1 + np.sqrt(0.5)) / 2
    assert one("xd", "xy") == pytest.approx(mean)


def test_score_is_the_harmonic_mean_of_precision_and_recall() -> None:
    # Precision: x 1, y 0; recall: x 1.
    assert one("xy", "x") == pytest.approx(2 * 0.5 * 1 / (0.5 + 1))


def test_score_lets_a_marker_be_taken_but_not_count() -> None:
    # m is nearer to the first marker, 3/sqrt(10), than to y, 1/sqrt(10).
    precision, recall = 3 / np.sqrt(10), 1 / np.sqrt(10)
    assert one("m", "y") == pytest.approx(2 * precision * recall / (precision + recall))


def test_score_of_opposite_texts_is_zero() -> None:
    assert one("x", "w") == 0


def test_score_of_a_token_without_length_is_zero_and_warns_of_nothing() -> None:
    assert one("0", "x") == 0


@pytest.mark.parametrize(("hypothesis", "reference"), [("", "x"), ("x", ""), ("", "")])
def test_score_of_a_blank_side_is_zero(hypothesis: str, reference: str) -> None:
    assert one(hypothesis, reference) == 0


def test_score_encodes_a_shared_text_once_and_in_blocks() -> None:
    encoder = Spelled()
    count = bertscore.BLOCK + 2
    values = bertscore.score(["x", "y"] * (count // 2), ["x"] * count, encoder=encoder)
    assert encoder.calls == [2, 2]
    assert values.tolist() == [1, 0] * (count // 2)


def test_score_of_no_pair_is_empty_and_encodes_nothing() -> None:
    encoder = Spelled()
    assert bertscore.score([], [], encoder=encoder).shape == (0,)
    assert encoder.calls == []


def test_score_of_the_real_encoder_orders_texts_by_meaning() -> None:
    reference = "Check that the pointer is not null."
    texts = [reference, "The pointer could be null, verify it.", "Add a changelog entry.", " "]
    same, near, far, blank = bertscore.score(
        texts, [reference] * len(texts), encoder=MiniLM(offline=True)
    )
    assert 1 >= same > 0.999
    assert same > near > far + 0.2 > blank == 0
