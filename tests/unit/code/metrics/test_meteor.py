from __future__ import annotations

import random
from pathlib import Path

import pytest

from crscore.code import metrics
from crscore.code.metrics import meteor

needs_wordnet = pytest.mark.models  # scripts/install-system-tools.sh installs it
# The example of nltk's documentation, https://www.nltk.org/api/nltk.translate.meteor_score.html
GUIDE = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
REFERENCE = (
    "It is a guide to action that ensures that the military will forever heed Party commands"
)


@needs_wordnet
def test_documented_example_has_0_6944() -> None:
    score = metrics.make("meteor", tokens="whitespace", synonyms=True).sentence(GUIDE, [REFERENCE])

    assert round(score, 4) == 0.6944


@needs_wordnet
def test_synonyms_are_aligned() -> None:
    with_synonyms, without = metrics.make("meteor", synonyms=True), metrics.make("meteor")

    assert with_synonyms.sentence("begin(x)", ["start(x)"]) > without.sentence(
        "begin(x)", ["start(x)"]
    )
    assert with_synonyms.identity != without.identity


def test_caches_do_not_change_scores() -> None:
    from nltk.translate.meteor_score import single_meteor_score  # noqa: PLC0415 (takes 2 s)

    rng = random.Random(1)
    words = ["read", "reading", "file", "files", "open", "Opened", "(", ")", "x"]
    texts = [[rng.choice(words) for _ in range(rng.randint(1, 12))] for _ in range(60)]
    metric = metrics.make("meteor", tokens="whitespace")

    for candidate, reference in zip(texts[::2], texts[1::2], strict=True):
        expected = single_meteor_score(reference, candidate, wordnet=meteor.NO_SYNONYMS)
        assert metric.sentence(" ".join(candidate), [" ".join(reference)]) == expected


def test_two_equal_words_score_by_hand() -> None:
    # P = R = 1, one chunk of two words: 1 - 0.5 * (1 / 2) ** 3.
    assert metrics.make("meteor").sentence("a b", ["c", "a b"]) == 0.9375


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"), [("", "a", 0), ("a", "", 0), ("", " ", 1)]
)
def test_empty_sides_have_a_score(candidate: str, reference: str, expected: float) -> None:
    assert metrics.make("meteor").sentence(candidate, [reference]) == expected


def test_machine_without_wordnet_has_no_synonyms(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(meteor, "DEBIAN", Path(str(tmp_path)) / "none")
    monkeypatch.setattr("nltk.data.path", [])
    meteor.find_wordnet.cache_clear()
    metric = metrics.make("meteor", synonyms=True)

    try:
        assert metric.sentence("begin", ["start"]) == 0
        assert "no wordnet" in metric.identity
    finally:
        meteor.find_wordnet.cache_clear()
