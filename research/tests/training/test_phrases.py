"""Ratings that are read from the words of a text."""

import numpy as np
import pytest

from crscore.encoders.minilm import MiniLM
from crscore.text import mask_names
from crscore.usefulness.reading import (
    MIN_PROBABILITY,
    OUTPUTS,
    PHRASED,
    Phrases,
    split_phrases,
)
from crscore_lab.training import phrases as training
from crscore_lab.training.network import LabelledText
from tests.helpers.growth import growth
from tests.helpers.useful import outputs, scripted

ENCODER = MiniLM(offline=True)
IMPORTANCE = PHRASED.index("importance")


def model(**weights: float) -> Phrases:
    """Model of single words; each rating of a text without them is 0.5."""
    columns = np.array([*weights.values(), 0.5], dtype=np.float32)[:, None]
    return Phrases(
        tuple(weights), np.ones(len(weights), np.float32), columns.repeat(len(PHRASED), axis=1)
    )


@pytest.mark.parametrize(
    "other",
    ["`parse_all` is never closed", "parseAll() is never closed", "a.read_file is never closed"],
)
def test_names_in_code_are_one_word(other: str) -> None:
    assert split_phrases(other) == split_phrases("`f` is never closed")


def test_plain_words_are_not_masked() -> None:
    assert "x" not in split_phrases("The Parser leaks, i.e. it is never closed. See above.")


def test_known_phrases_change_the_ratings() -> None:
    low, none, high = model(typo=-0.3, leak=0.4).read(["A typo.", "Hello", "A leak."])[
        :, IMPORTANCE
    ]
    assert low < none == 0 < high


def test_ratings_are_probabilities() -> None:
    logits = model(leak=50.0).read(["leak"])
    assert np.allclose(1 / (1 + np.exp(-logits)), 1 - MIN_PROBABILITY)


def test_no_texts_have_no_ratings() -> None:
    assert model(leak=1.0).read([]).shape == (0, len(PHRASED))


def test_only_phrased_ratings_are_averaged() -> None:
    alone = outputs(importance=0.9, actionable=0.9)[None]
    no_weights = np.zeros(len(OUTPUTS) + len(PHRASED) + 1, dtype=np.float32)
    network = scripted(lambda _: alone[0], phrases=model(leak=0.0), worth=no_weights)
    joined = network.read(["a leak"], ENCODER)
    worth = OUTPUTS.index("worth")
    assert joined[0, worth] == 0  # of all columns with their weights
    at = [OUTPUTS.index(name) for name in PHRASED if name != "worth"]
    others = np.delete(np.arange(len(OUTPUTS)), [*at, worth])
    np.testing.assert_array_equal(joined[:, others], alone[:, others])
    np.testing.assert_allclose(joined[:, at], alone[:, at] / 2, atol=1e-6)


def test_learned_phrases_distinguish_the_texts() -> None:
    rows = [
        LabelledText(text=text.format(number), group=str(number), ratings={"importance": rating})
        for number in range(20)
        for text, rating in (("`f{}` is never closed.", 1.0), ("typo in name {}", 0.0))
    ]
    severe, trivial = training.learn(rows).read(["`g` is never closed.", "a typo"])
    assert severe[IMPORTANCE] > 0 > trivial[IMPORTANCE]
    # Nothing was said about the other ratings.
    assert severe[PHRASED.index("functional")] == trivial[PHRASED.index("functional")]


def test_no_texts_give_no_phrases() -> None:
    assert training.learn([]).terms == ()


@pytest.mark.growth
def test_splitting_takes_linear_time() -> None:
    for unit in ("`a", "a_", "aB.", "x()"):
        assert growth(lambda size, unit=unit: lambda: mask_names(unit * size), 2_000) < 8
