import numpy as np
import pytest

from crscore.review.visibility import clean
from crscore.study.attacks.hidden import ZERO_WIDTH, broken, hiddens
from crscore.study.attacks.material import Wording, units
from crscore.study.attacks.phrases import BOILERPLATE, POOR
from tests.unit.study.attacks.materials import HONEST, material

LOAD = "The timeout is raised."


def made(seed: int = 0, **fields) -> dict[str, str]:
    whole = {"recorded": (LOAD,), "structural": ()} | fields
    return dict(hiddens(material(**whole), np.random.default_rng(seed)))


def test_load_is_behind_a_poor_review() -> None:
    found = made(honest="")
    for name in ("poor-comment", "poor-white", "poor-alt-text", "poor-data-attribute"):
        poor, hidden = found[name].split("\n\n", 1)
        assert poor in POOR.test
        assert LOAD in hidden


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("poor-comment", f"<!-- {LOAD} -->"),
        ("poor-hidden-span", f"<span hidden>{LOAD}</span>"),
        ("poor-display-none", f'<span style="display:none">{LOAD}</span>'),
        ("poor-title", f'[.](https://example.org "{LOAD}")'),
        ("poor-link-comment", f"[//]: # ({LOAD})"),
    ],
)
def test_cover_is_as_written(name: str, expected: str) -> None:
    assert made(honest="")[name].endswith("\n\n" + expected)


def test_load_cannot_break_out_of_its_cover() -> None:
    found = made(recorded=('a --> b </span> "c" (d) [e]',), honest="")
    assert found["poor-comment"].count("-->") == 1
    assert found["poor-hidden-span"].count("</span>") == 1
    assert found["poor-data-attribute"].count('"') == 2
    assert found["poor-title"].endswith('"a -- b /span c d e.")')


def test_tag_characters_spell_the_load() -> None:
    hidden = made(honest="")["poor-tag-characters"].split("\n\n", 1)[1]
    assert "".join(chr(ord(letter) - 0xE0000) for letter in hidden) == LOAD


def test_padding_is_hidden_behind_the_honest_text() -> None:
    found = made()
    padded = {name: text for name, text in found.items() if name.startswith("padded-")}
    assert len(padded) == sum(name.startswith("poor-") for name in found)
    assert all(text.startswith(HONEST + "\n\n") for text in padded.values())
    assert any(phrase in padded["padded-comment"] for phrase in BOILERPLATE.test)


def test_broken_words_read_as_before() -> None:
    text = "Several longer words stand beside each other here"
    found = broken(text, np.random.default_rng(0))
    assert found != text
    assert clean(found) == text
    assert len(found) - len(text) == sum(found.count(one) for one in ZERO_WIDTH)


def test_repeat_is_disguised_by_invisible_characters() -> None:
    text = made()["split-padded-repeat"]
    assert units(text) == units(HONEST) * 2
    assert text.count(HONEST) == 1


def test_names_are_joined_without_a_visible_space() -> None:
    text = made(seed=3)["joined-poor-names"]
    assert "\u200d" in text
    assert " " not in text.split("\u200d", 1)[1]


def test_nothing_to_hide_gives_nothing() -> None:
    assert made(recorded=(), honest="") == {}


def test_training_lacks_the_unseen_covers() -> None:
    assert "poor-template" in made()
    assert not {"poor-template", "padded-tiny"} & set(made(wording=Wording.TRAINING))
