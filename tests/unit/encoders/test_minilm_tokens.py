import numpy as np
import pytest

from crscore.encoders._pooling import unit_rows
from crscore.encoders.minilm import BEGIN, END, MAX_TOKENS, MiniLM

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


def test_tokens_have_a_vector_for_each_piece_and_both_special_tokens(encoder: MiniLM) -> None:
    lengths = [vectors.shape for vectors in encoder.tokens(TEXTS)]
    # One piece a word here, and one for the question mark; 400 words are cut at 256.
    assert lengths == [(4, 384), (2, 384), (256, 384), (8, 384), (4, 384)]


def test_special_tokens_are_first_and_last_even_if_the_text_is_cut(encoder: MiniLM) -> None:
    for ids in encoder.token_ids(TEXTS, limit=MAX_TOKENS):
        assert [ids.index(BEGIN), ids.index(END)] == [0, len(ids) - 1]


def test_tokens_of_a_text_without_stop_words_have_its_vector_as_their_mean(
    encoder: MiniLM,
) -> None:
    texts = ["loop variable", "word " * 400]
    means = np.stack([vectors.mean(axis=0) for vectors in encoder.tokens(texts)])
    np.testing.assert_allclose(unit_rows(means), encoder.encode(texts), rtol=0, atol=1e-6)


def test_tokens_alone_and_in_a_batch_are_the_same(encoder: MiniLM) -> None:
    together = encoder.tokens(TEXTS)
    for text, vectors in zip(TEXTS, together, strict=True):
        [alone] = encoder.tokens([text])
        np.testing.assert_allclose(vectors, alone, rtol=0, atol=1e-5)


def test_tokens_are_in_the_order_of_the_texts_after_batching(encoder: MiniLM) -> None:
    texts = [f"loop {'word ' * count}" for count in (3, 200, 1, 90, 250, 2)]
    lengths = [len(vectors) for vectors in encoder.tokens(texts)]
    assert lengths == [6, 203, 4, 93, 253, 5]


def test_no_texts_have_no_tokens(encoder: MiniLM) -> None:
    assert encoder.tokens([]) == []
