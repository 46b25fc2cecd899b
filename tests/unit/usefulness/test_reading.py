import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.diff.windows import list_windows
from crscore.encoders import hashing, minilm
from crscore.records import GIVES_FROM, Stance
from crscore.usefulness import evidence, reading
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.reading import OUTPUTS, RATINGS, STANCES, TunedNetwork
from tests.helpers.useful import outputs, text_reading, weights

PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-limit = 10\n+limit = 20\n"
ACTING = (Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION)


def change() -> ChangeEvidence:
    diff = parse.parse_diff(PATCH)
    encoder = hashing.Hashing()
    return ChangeEvidence(
        words=evidence.read_change_words(diff),
        lines=encoder.encode(list_windows(diff)),
        claims=np.zeros((0, 256), dtype=np.float32),
    )


# A text


@given(
    st.lists(st.floats(-1e30, 1e30), min_size=len(OUTPUTS), max_size=len(OUTPUTS)),
    st.booleans(),
)
def test_all_are_probabilities(logits: list[float], proposal: bool) -> None:
    text = reading.read_text(np.array(logits, dtype=np.float32), proposal=proposal)
    assert (text.stances.dtype, text.ratings.dtype) == (np.float32, np.float32)
    assert (text.stances.shape, text.ratings.shape) == ((len(STANCES),), (len(RATINGS),))
    assert text.stances.sum() == pytest.approx(1, abs=1e-5)
    for values in (text.stances, text.ratings):
        assert ((values >= 0) & (values <= 1)).all()
    assert text.stance in STANCES


def test_outputs_of_nothing_are_a_half() -> None:
    text = reading.read_text(np.zeros(len(OUTPUTS), dtype=np.float32))
    np.testing.assert_allclose(text.stances, 1 / len(STANCES), rtol=1e-6)
    np.testing.assert_array_equal(text.ratings, 0.5)


def test_outputs_are_named_after_the_stances_and_the_ratings() -> None:
    text = text_reading(Stance.QUESTION, gives=0.9, importance=0.2)
    assert text.stance is Stance.QUESTION
    assert text.gives == pytest.approx(0.9)
    assert text.importance == pytest.approx(0.2)
    assert text.clear == 0.5
    with pytest.raises(AttributeError, match="colour"):
        _ = text.colour


def test_reading_is_copied_and_pickled() -> None:
    text = text_reading(gives=0.9)
    for other in (copy.copy(text), pickle.loads(pickle.dumps(text))):
        assert other.gives == text.gives


@pytest.mark.parametrize("stance", STANCES)
def test_text_that_gives_something_has_a_stance_to_answer(stance: Stance) -> None:
    assert text_reading(stance, gives=0.1).stance is stance
    giving = text_reading(stance, gives=GIVES_FROM + 0.01).stance
    assert giving is stance if stance in ACTING else giving in ACTING


def test_proposal_of_code_needs_no_network() -> None:
    text = reading.read_text(outputs(Stance.PRAISE, gives=0.01), proposal=True)
    assert text.stances[STANCES.index(Stance.PROPOSAL)] == text.stances.sum() == 1
    assert text.stance is Stance.PROPOSAL
    assert text.gives == pytest.approx(reading.PROPOSED)
    surer = reading.read_text(outputs(gives=0.99), proposal=True)
    assert surer.gives == pytest.approx(0.99)


def test_reading_leaves_the_outputs_alone() -> None:
    before = outputs(gives=0.01)
    reading.read_text(before, proposal=True)
    np.testing.assert_array_equal(before, outputs(gives=0.01))


def test_author_acts_on_requests_and_on_code_at_hand() -> None:
    request, question = text_reading(Stance.REQUEST), text_reading(Stance.QUESTION)
    vague, named, proposed = (
        reading.judge_acts(text, request, proposes=proposes)
        for text, proposes in (("Use a set.", False), ("Use `set`.", False), ("Use `set`.", True))
    )
    asked = reading.judge_acts("A set?", question, proposes=False)
    assert 0.2 < asked < vague < named < proposed < 0.8


# The network


def test_outputs_are_those_of_the_linear_layer() -> None:
    rng = np.random.default_rng(0)
    head = rng.normal(size=(minilm.DIMENSIONS + 1, len(OUTPUTS))).astype(np.float32)
    means = rng.normal(size=(2, minilm.DIMENSIONS)).astype(np.float32)
    network_weights = weights(head=head)

    class Encoder:
        def tuned_means(self, texts, layers):
            assert layers is network_weights.layers
            return means[: len(texts)]

    network = TunedNetwork(Encoder(), network_weights.layers, head)
    expected = [[row @ head[:-1, at] + head[-1, at] for at in range(len(OUTPUTS))] for row in means]
    np.testing.assert_allclose(network.read(["a", "b"]), expected, rtol=1e-4, atol=1e-4)
    assert network.read([]).shape == (0, len(OUTPUTS))


# About the change


def test_weights_of_nothing_are_undecided() -> None:
    vector = hashing.Hashing().encode(["Why?"])[0]
    assert reading.judge_about("Why?", vector, change(), weights()) == 0.5


def test_evidence_raises_the_probability_for_the_change() -> None:
    about = weights().about.copy()
    about[evidence.FEATURES.index("changed_share")] = 5
    about[-1] = -2
    vector = hashing.Hashing().encode(["x"])[0]
    near, far = (
        reading.judge_about(text, vector, change(), weights(about=about))
        for text in ("The limit.", "The parser.")
    )
    assert near > 0.5 > far


@pytest.mark.parametrize("logit", [-1e9, -30, 0, 30, 1e9, math.inf, -math.inf])
def test_sigmoid_neither_overflows_nor_leaves_0_to_1(logit: float) -> None:
    assert 0 < reading.sigmoid(logit) < 1
