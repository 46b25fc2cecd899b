import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from crscore.diff import parse
from crscore.diff.windows import list_windows
from crscore.encoders import hashing, minilm
from crscore.records import (
    ACTIONABLE_FROM,
    ON_TOPIC,
    Importance,
    Reading,
    Remark,
    Sentence,
    Stance,
    Subject,
)
from crscore.usefulness import evidence, reader
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.model import Weights
from crscore.usefulness.reader import Reader
from crscore.usefulness.reading import OUTPUTS, STANCES, ReviewReadings
from tests.helpers.useful import network, outputs, text_reading, weights

PROBABILITY = st.floats(0, 1)
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
def test_all_values_of_a_reading_are_probabilities(logits: list[float], proposes: bool) -> None:
    text = reader.read_text("Why?", np.array(logits, dtype=np.float32), proposes=proposes)
    aspects = structs.astuple(text.aspects)
    rated = text.actionable, text.importance, text.worth, text.acts, text.describes
    for value in (*rated, *aspects):
        assert isinstance(value, float)
        assert 0 <= value <= 1
    assert text.stance in STANCES
    assert text.level is reader.name_level(text.importance)


def test_outputs_of_zero_are_probabilities_of_a_half() -> None:
    text = reader.read_text("Why?", np.zeros(len(OUTPUTS), dtype=np.float32))
    aspects = structs.astuple(text.aspects)
    assert {text.actionable, text.importance, text.worth, *aspects} == {0.5}
    assert text.describes == pytest.approx(1 / len(STANCES))


def test_outputs_are_named_after_the_stances_and_the_ratings() -> None:
    text = text_reading(Stance.QUESTION, actionable=0.9, importance=0.2, clear=0.7)
    assert text.stance is Stance.QUESTION
    assert text.actionable == pytest.approx(0.9)
    assert text.importance == pytest.approx(0.2)
    assert (text.aspects.clear, text.aspects.relevant) == (pytest.approx(0.7), 0.5)
    assert text_reading(Stance.DESCRIPTION).describes > 0.99


def test_remark_about_how_the_code_works_is_more_important() -> None:
    plain, functional, formal = (
        text_reading(importance=0.4, functional=share).importance for share in (0.5, 0.9, 0.1)
    )
    assert formal < plain < functional
    assert plain == pytest.approx(0.4)


def test_levels_fall_with_the_importance() -> None:
    levels = [reader.name_level(value) for value in np.linspace(1, 0, 101)]
    assert list(dict.fromkeys(levels)) == list(Importance)
    for threshold, level in reader.LEVELS:
        assert reader.name_level(threshold) is level


@pytest.mark.parametrize("stance", STANCES)
def test_actionable_text_has_a_stance_to_answer(stance: Stance) -> None:
    assert text_reading(stance, actionable=0.1).stance is stance
    asking = text_reading(stance, actionable=ACTIONABLE_FROM + 0.01).stance
    assert asking is stance if stance in ACTING else asking in ACTING


def test_proposal_of_code_is_actionable_whatever_the_network_reads() -> None:
    text = reader.read_text("x", outputs(Stance.PRAISE, actionable=0.01), proposes=True)
    assert text.stance is Stance.PROPOSAL
    assert text.actionable == pytest.approx(reader.PROPOSED)
    surer = reader.read_text("x", outputs(actionable=0.99), proposes=True)
    assert surer.actionable == pytest.approx(0.99)


def test_reading_does_not_change_the_outputs() -> None:
    before = outputs(actionable=0.01)
    reader.read_text("x", before, proposes=True)
    np.testing.assert_array_equal(before, outputs(actionable=0.01))


def test_acts_rises_with_requests_and_code() -> None:
    vague, named, proposed = (
        reader.read_text(text, outputs(), proposes=proposes).acts
        for text, proposes in (("Use a set.", False), ("Use `set`.", False), ("Use `set`.", True))
    )
    asked = reader.read_text("A set?", outputs(Stance.QUESTION)).acts
    assert 0.2 < asked < vague < named < proposed < 0.8


# The network


def test_outputs_are_those_of_the_linear_layer() -> None:
    rng = np.random.default_rng(0)
    head = rng.normal(size=(minilm.DIMENSIONS + 1, len(OUTPUTS))).astype(np.float32)
    means = rng.normal(size=(2, minilm.DIMENSIONS)).astype(np.float32)
    tuned = network(head=head)

    class Encoder:
        def tuned_means(self, texts, layers):
            assert layers is tuned.layers
            return means[: len(texts)]

    expected = [[row @ head[:-1, at] + head[-1, at] for at in range(len(OUTPUTS))] for row in means]
    measures = tuned.raw_outputs(["a", "b"], Encoder())
    np.testing.assert_allclose(measures[:, : len(OUTPUTS)], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(measures[:, len(OUTPUTS) :], tuned.phrases.read(["a", "b"]))
    assert tuned.read([], Encoder()).shape == (0, len(OUTPUTS))


# About the change


def judge(text: str, vector: np.ndarray, learned: Weights) -> float:
    texts = [Sentence(text=text, comment=0)]
    abouts, _ = Reader(learned, minilm.MiniLM()).judge_about(texts, vector[None], change())
    return float(abouts[0])


def test_weights_of_zero_give_probabilities_of_a_half() -> None:
    vector = hashing.Hashing().encode(["Why?"])[0]
    assert judge("Why?", vector, weights()) == 0.5


def test_evidence_raises_the_probability_for_the_change() -> None:
    about = weights().about.copy()
    about[evidence.FEATURES.index("changed_share")] = 5
    about[-1] = -2
    vector = hashing.Hashing().encode(["x"])[0]
    near, far = (
        judge(text, vector, weights(about=about)) for text in ("The limit.", "The parser.")
    )
    assert near > 0.5 > far


@given(st.lists(st.floats(0, 1), max_size=5))
def test_other_remarks_never_raise_the_probability_of_one(abouts: list[float]) -> None:
    lowered = reader.doubt(abouts)

    assert len(lowered) == len(abouts)
    assert all(now <= before for now, before in zip(lowered, abouts, strict=True))


def test_remark_keeps_its_probability_if_others_are_on_topic() -> None:
    assert reader.doubt([0.4]) == [0.4]
    assert reader.doubt([0.4, 0.9, 0.7])[0] == 0.4


def test_remark_is_doubted_if_others_are_on_another_change() -> None:
    assert reader.doubt([0.8, 0.1, 0.2])[0] == pytest.approx(0.62, abs=0.01)


@given(st.permutations([0.05, 0.3, 0.6, 0.9]))
def test_doubt_does_not_depend_on_the_order(abouts: list[float]) -> None:
    assert sorted(reader.doubt(abouts)) == pytest.approx(sorted(reader.doubt(sorted(abouts))))


@given(PROBABILITY, PROBABILITY, PROBABILITY)
def test_worth_rises_with_its_expectation_and_with_about(first, second, about) -> None:
    less, more = sorted((first, second))
    worths = [reader.weigh_worth(expected, about) for expected in (less, more)]
    assert 1 <= worths[0] <= worths[1] <= 5
    worths = [reader.weigh_worth(about, probability) for probability in (less, more)]
    assert 1 <= worths[0] <= worths[1] <= 5


def test_remark_about_something_else_is_worth_nothing() -> None:
    assert reader.weigh_worth(1.0, ON_TOPIC - 0.01) == 1
    assert reader.weigh_worth(1.0, reader.SURELY_ABOUT) == 5


def test_remarks_of_other_authors_do_not_lower_a_worth() -> None:
    worth = reader.weigh_worth(0.5, 0.8)
    remarks = [
        Remark(
            comment=comment, sentences=(comment,), stance=Stance.REQUEST, actionable=0.9,
            importance=2, level=Importance.MAJOR, about=about, worth=worth, specific=0.5, acts=0.5,
        )
        for comment, about in enumerate((0.8, 0.1, 0.1))
    ]  # fmt: skip
    reading = Reading(
        stance=Stance.REQUEST, actionable=0.9, about=0.8, subject=Subject.CHANGE, reference=None
    )
    read = ReviewReadings(
        sentences=(reading,) * 3, restates=(False,) * 3, remarks=tuple(remarks),
        aspects=(text_reading().aspects,) * 3, masked=("a", "b", "c"),
    )  # fmt: skip
    assert reader.discount_off_topic(read, {"a": [0], "b": [1, 2]}).remarks[0].worth == worth
    together = reader.discount_off_topic(read, {"a": [0, 1, 2]}).remarks[0]
    assert together.about == pytest.approx(0.57, abs=0.01)
    assert together.worth == pytest.approx(1 + 2 * together.about / reader.SURELY_ABOUT)


@pytest.mark.parametrize("logit", [-1e9, -30, 0, 30, 1e9, math.inf, -math.inf])
def test_sigmoid_neither_overflows_nor_leaves_0_to_1(logit: float) -> None:
    assert 0 < reader.sigmoid(logit) < 1
