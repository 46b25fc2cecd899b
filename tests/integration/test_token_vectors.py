"""The token vectors beside sentence-transformers itself."""

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from crscore.encoders.minilm import MiniLM
from tests.helpers.sentence_transformer import model_folder

pytestmark = pytest.mark.models  # PyTorch

TEXTS = (
    "You're right, this shouldn't be null; it's the caller's job.",
    "Why not use `dict.setdefault(key, [])` here?",
    "word " * 400,
    "",
    "naïve 日本 \U0001f600 <b>bold</b>",
)


def test_token_vectors_equal_those_of_sentence_transformers() -> None:
    model = SentenceTransformer(str(model_folder()), device="cpu")
    expected = model.encode(list(TEXTS), output_value="token_embeddings")
    found = MiniLM(offline=True).tokens(TEXTS)
    for theirs, ours in zip(expected, found, strict=True):
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=0, atol=1e-5)
