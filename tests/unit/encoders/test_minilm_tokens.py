import numpy as np
import pytest

from crscore.encoders._pooling import unit_rows
from crscore.encoders.minilm import MiniLM

TEXTS = (
    "loop variable",
    "",
    "word " * 400,
    "Why is the loop there?",
    "loop variable",
)


@pytest.fixture
def encoder() -> MiniLM:
    return MiniLM(offline=True)


def test_tokens_have_one_vector_a_piece_and_the_two_markers(encoder: MiniLM) -> None:
    lengths = [token.vectors.shape for token in encoder.tokens(TEXTS)]
    # One piece a word here, and one for the question mark; 400 words are cut at 256.
    assert lengths == [(4, 384), (2, 384), (256, 384), (8, 384), (4, 384)]


def test_tokens_mark_the_first_and_the_last_also_of_a_cut_text(encoder: MiniLM) -> None:
    for token in encoder.tokens(TEXTS):
        last = len(token.vectors) - 1
        assert np.flatnonzero(token.marker).tolist() == [0, last]
        assert token.marker.shape == (last + 1,)


def test_tokens_of_a_text_without_stop_words_have_its_vector_as_their_mean(
    encoder: MiniLM,
) -> None:
    texts = ["loop variable", "word " * 400]
    means = np.stack([token.vectors.mean(axis=0) for token in encoder.tokens(texts)])
    np.testing.assert_allclose(unit_rows(means), encoder.encode(texts), rtol=0, atol=1e-6)


def test_tokens_alone_and_in_a_batch_are_the_same(encoder: MiniLM) -> None:
    together = encoder.tokens(TEXTS)
    for text, token in zip(TEXTS, together, strict=True):
        [alone] = encoder.tokens([text])
        np.testing.assert_allclose(token.vectors, alone.vectors, rtol=0, atol=1e-5)


def test_tokens_are_those_of_the_text_also_when_batches_are_reordered(encoder: MiniLM) -> None:
    texts = [f"loop {'word ' * count}" for count in (3, 200, 1, 90, 250, 2)]
    lengths = [len(token.vectors) for token in encoder.tokens(texts)]
    assert lengths == [6, 203, 4, 93, 253, 5]


def test_no_texts_have_no_tokens(encoder: MiniLM) -> None:
    assert encoder.tokens([]) == []
