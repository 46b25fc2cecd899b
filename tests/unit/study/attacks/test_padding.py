import numpy as np
import pytest

from crscore.study.attacks.material import Wording, units
from crscore.study.attacks.padding import boilerplates, praises, repeats
from crscore.study.attacks.phrases import BOILERPLATE, PRAISE
from tests.unit.study.attacks.materials import HONEST, material

OWN = units(HONEST)


def made(maker, seed: int = 0, **fields) -> dict[str, str]:
    return dict(maker(material(**fields), np.random.default_rng(seed)))


@pytest.mark.parametrize(("maker", "bank"), [(praises, PRAISE), (boilerplates, BOILERPLATE)])
def test_padding_is_the_honest_text_and_phrases(maker, bank) -> None:
    for name, text in made(maker).items():
        left = text
        for piece in (*OWN, *bank.test):
            left = left.replace(piece, "")
        assert left.replace("### General remarks", "").strip(" \n-") == "", name
        assert all(sentence in text for sentence in OWN), name
        assert sum(phrase in text for phrase in bank.test) >= 1, name


def test_text_with_a_code_block_is_not_cut() -> None:
    honest = "Use this:\n```\nx = 1\n```"
    found = made(praises, honest=honest)
    assert "interleaved" not in found
    assert all(honest in text for text in found.values())
    assert found["after"].startswith(honest + "\n\n")


def test_interleaved_alternates() -> None:
    sentences = units(made(boilerplates)["interleaved"])
    assert (sentences[0], sentences[2]) == OWN
    assert {sentences[1], sentences[3]} <= set(BOILERPLATE.test)


@pytest.mark.parametrize("name", ["exact", "before", "paragraphs"])
def test_repeat_is_one_sentence_two_to_six_times(name: str) -> None:
    times = set()
    for seed in range(60):
        text = made(repeats, seed)[name]
        counts = sorted(text.count(sentence) for sentence in OWN)
        assert counts[0] == 1
        times.add(counts[1] - 1)
    assert times == {2, 3, 4, 5, 6}


def test_case_and_punctuation_are_all_that_differ() -> None:
    for name in ("case", "punctuation"):
        text = made(repeats)[name].lower()
        bare = [sentence.lower().rstrip(".") for sentence in OWN]
        assert max(text.count(sentence) for sentence in bare) >= 3


def test_synonyms_change_the_words() -> None:
    text = made(repeats, honest="This method should use less code.")["synonyms"]
    assert "ought to" in text


def test_whole_review_is_given_twice() -> None:
    assert made(repeats)["whole-twice"] == f"{HONEST}\n\n{HONEST}"


@pytest.mark.parametrize("maker", [praises, boilerplates, repeats])
def test_no_honest_text_gives_nothing(maker) -> None:
    assert made(maker, honest="") == {}


def test_review_of_code_alone_has_nothing_to_repeat() -> None:
    assert made(repeats, honest="```\nx = 1\n```") == {}


def test_training_uses_other_phrases_and_fewer_forms() -> None:
    found = made(praises, wording=Wording.TRAINING)
    assert "section" not in found
    assert not any(phrase in text for text in found.values() for phrase in PRAISE.test)
