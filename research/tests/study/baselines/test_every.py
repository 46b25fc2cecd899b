"""Properties of every baseline, whatever the texts."""

import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import nltk
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import DependencyError
from crscore_lab.study.baselines import bleu, overlap

Score = Callable[[list[str], list[str]], Any]
FAMILIES: dict[str, tuple[Score, float]] = {
    "BLEU": (bleu.score, 100),
    "BLEU without stop words": (partial(bleu.score, ignored=bleu.STOP_WORDS), 100),
    "chrF": (overlap.chrf, 1),
    "chrF++": (partial(overlap.chrf, word_order=overlap.PLUS_PLUS), 1),
    "ROUGE-L": (overlap.rouge_l, 1),
    "edit distance": (overlap.edit_distance, 1),
    "METEOR": (overlap.meteor, 1),
}
TEXTS = [
    "Rename `read_file`.",
    "",
    "\ud83d half a pair",
    "日本 \u202e\x00",
    "?!",
    " \n",
    "word " * 300,
]
family = pytest.mark.parametrize(("score", "top"), FAMILIES.values(), ids=FAMILIES)


@family
def test_score_is_in_range_in_order_and_of_each_pair_alone(score: Score, top: float) -> None:
    hypotheses = [text for text in TEXTS for _ in TEXTS]
    values = score(hypotheses, TEXTS * len(TEXTS))
    assert values.shape == (len(TEXTS) ** 2,)
    assert values.dtype == np.float64
    assert ((values >= 0) & (values <= top)).all()
    assert score([], []).shape == (0,)
    hypotheses = ["close the file", "rename this loop variable", "file"]
    references = ["close a file", "why rename the variable?", "nothing"]
    together = score(hypotheses, references)
    alone = [score([text], [other])[0] for text, other in zip(hypotheses, references, strict=True)]
    assert together.tolist() == alone
    assert len(set(alone)) == len(alone)


@given(texts=st.lists(st.text(max_size=40), min_size=2, max_size=2))
def test_score_of_any_two_texts_is_in_range(texts: list[str]) -> None:
    for score, top in FAMILIES.values():
        assert 0 <= score(texts[:1], texts[1:])[0] <= top


def test_score_needs_neither_data_nor_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("asked for data or for the network")

    monkeypatch.setattr(nltk.data, "find", refuse)
    monkeypatch.setattr(nltk, "download", refuse)
    monkeypatch.setattr(socket, "socket", refuse)
    for score, _ in FAMILIES.values():
        assert score(["closing a file"], ["close a file"])[0] > 0


@pytest.mark.parametrize(
    ("score", "module", "package"),
    [
        (overlap.chrf, "sacrebleu.metrics.chrf", "sacrebleu"),
        (overlap.rouge_l, "rouge_score.rouge_scorer", "rouge-score"),
        (overlap.edit_distance, "rapidfuzz.distance", "rapidfuzz"),
        (overlap.meteor, "nltk.translate.meteor_score", "nltk"),
    ],
)
def test_score_without_its_library_names_the_command(
    score: Score, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DependencyError, match=rf"{package} is not .*crscore\[validate\]"):
        score(["a"], ["a"])
