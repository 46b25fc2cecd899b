import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.encoders import hashing
from crscore.records import Kind
from crscore.usefulness import evidence, phrases, reading
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.model import Weights
from crscore.usefulness.reading import KINDS
from tests.helpers import useful

ENCODER = hashing.Hashing()
PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-limit = 10\n+limit = 20\n"


def change(patch: str = PATCH) -> ChangeEvidence:
    diff = parse.parse_diff(patch)
    return ChangeEvidence(
        ground=evidence.read_change_words(diff),
        lines=ENCODER.encode(evidence.windows(diff)),
        claims=np.zeros((0, 256), dtype=np.float32),
    )


def drawn(seed: int = 0, scale: float = 3) -> Weights:
    """Weights drawn at random."""
    rng = np.random.default_rng(seed)
    weights = useful.weights()

    def shake(name: str):
        layer = getattr(weights, name)
        return replace(
            layer,
            **{
                part: rng.normal(0, scale, getattr(layer, part).shape).astype(np.float32)
                for part in ("rows", "measures", "vector", "bias")
            },
        )

    return replace(weights, **{name: shake(name) for name in ("about", "sentence", "comment")})


def read(text: str, weights: Weights, **others) -> reading.SentenceReading:
    vector = ENCODER.encode([text])[0]
    return reading.read_sentence(text, vector, weights, about=0.5, **others)


@given(st.text(max_size=120), st.integers(0, 20))
def test_all_are_probabilities(text: str, seed: int) -> None:
    weights, vector = drawn(seed), ENCODER.encode([text])[0]
    result = read(text, weights)
    assert result.kinds.shape == (len(KINDS),)
    assert result.kinds.sum() == pytest.approx(1, abs=1e-5)
    assert (result.kinds >= 0).all()
    assert 0 <= result.substance <= 1
    about, aspects = reading.read_comment(text, vector, [result], change(), weights)
    values = (about, *(getattr(aspects, name) for name in reading.ASPECTS))
    assert all(0 <= value <= 1 for value in values)


def test_weights_of_nothing_give_a_half() -> None:
    result = read("Why?", useful.weights())
    assert result.substance == 0.5
    np.testing.assert_allclose(result.kinds, 1 / len(KINDS), rtol=1e-6)
    assert (
        reading.judge_about("Why?", ENCODER.encode(["Why?"])[0], change(), useful.weights())[1]
        == 0.5
    )


def test_phrase_speaks_for_its_kind() -> None:
    result = read("It should be final.", useful.weights())
    assert KINDS[int(result.kinds.argmax())] is KINDS[0]


def test_proposal_of_code_is_told_without_the_weights() -> None:
    result = read("use `x`", drawn(), proposal=True)
    assert result.kinds[KINDS.index(Kind.PROPOSAL)] == 1
    assert result.kinds.sum() == 1
    assert result.substance == reading.PROPOSED


def test_measures_of_a_comment_by_hand() -> None:
    first, second = (read("x", drawn(), proposal=proposal) for proposal in (False, True))
    weak, two = replace(first, substance=0.2), replace(second, substance=0.6)
    summary = dict(zip(reading.SUMMED, reading.summarize_sentences([weak, two]), strict=False))
    assert summary == pytest.approx(
        {
            "mean": 0.4,
            "most": 0.6,
            "any": 1 - 0.8 * 0.4,
            "log_mean": math.log(0.42),
            "count": math.log(3),
            "proposals": math.log(2),
        }
    )
    kinds = reading.summarize_sentences([weak, two])[len(reading.SUMMED) :]
    assert kinds[: len(KINDS)] == pytest.approx(((weak.kinds + two.kinds) / 2).tolist())
    assert kinds[len(KINDS) :] == pytest.approx(np.maximum(weak.kinds, two.kinds).tolist())


def test_no_sentence_has_finite_measures() -> None:
    summary = reading.summarize_sentences([])
    assert len(summary) == len(reading.SUMMED) + 2 * len(KINDS)
    assert all(math.isfinite(value) for value in summary)


def test_measures_are_as_many_as_the_weights_take() -> None:
    vector = ENCODER.encode(["Why?"])[0]
    result = read("Why?", useful.weights())
    measures = reading.measure_comment("Why?", vector, [result], change(), useful.weights())[1]
    assert len(measures) == useful.WHOLE
    assert measures[: len(phrases.SHAPE_FEATURES)] == phrases.measure_shape("Why?")


@pytest.mark.parametrize("logit", [-1e9, -30, 0, 30, 1e9, math.inf, -math.inf])
def test_sigmoid_neither_overflows_nor_leaves_0_to_1(logit: float) -> None:
    assert 0 < reading.sigmoid(logit) < 1
