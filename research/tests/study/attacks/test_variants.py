import re
from collections import Counter

import numpy as np
import pytest

from crscore.diff import parse
from crscore.text import clean
from crscore_lab.study.attacks import variants
from crscore_lab.study.attacks.material import PHRASES, Wording, split_sentences
from crscore_lab.study.attacks.variants import MAX_NAMES, ZERO_WIDTH
from research.tests.study.attacks.materials import HONEST, PATCH, RECORDED, STRUCTURAL, material

OWN = split_sentences(HONEST)
STRANGERS = ("The cache is never emptied.", "Why does `flush()` ignore the errorCode here?")
LOAD = "The timeout is raised."


def bank(name: str) -> tuple[str, ...]:
    return PHRASES.banks[name][Wording.TEST]


def made(maker, seed: int = 0, **fields) -> dict[str, str]:
    return maker(material(**fields), np.random.default_rng(seed))


def stuffed(seed: int = 0, **fields) -> dict[str, str]:
    return made(variants.stuff_names, seed, **fields)


def pasted(**fields) -> dict[str, str]:
    return made(variants.paste_diff, **fields)


@pytest.mark.parametrize("form", ["bare", "commas", "backticks", "bullets", "one-a-line"])
def test_stuffing_has_every_identifier_and_nothing_else(form: str) -> None:
    found = re.findall(r"\w+", stuffed()[form])
    assert Counter(found) == Counter(material().names)


@pytest.mark.parametrize("form", ["glued", "glued-code"])
def test_joined_names_are_in_sentences(form: str) -> None:
    found = stuffed()[form]
    assert all(name in found for name in material().names)
    assert found.endswith((".", "?"))
    assert len(found.split()) > len(material().names)


def test_names_are_shuffled_by_the_seed() -> None:
    assert len({stuffed(seed)["bare"] for seed in range(20)}) > 5


def test_words_of_a_name_fall_apart() -> None:
    assert stuffed(names=("parseHTTPHeader", "max_size"))["words"] in {
        "parse httpheader max size.",
        "max size parse httpheader.",
    }


def test_many_names_are_cut() -> None:
    names = tuple(f"name{i}" for i in range(300))
    assert len(stuffed(names=names)["bare"].split()) == MAX_NAMES


def test_one_name_is_enough() -> None:
    assert stuffed(names=("only",))["bare"] == "only"
    assert stuffed(names=("only",))["glued"].count("only") == 3


def test_no_names_give_no_stuffing() -> None:
    assert stuffed(names=()) == {}


def test_pasted_diff_is_the_patch() -> None:
    found = pasted()
    assert found["raw"] == PATCH.strip("\n")
    assert found["fenced"] == f"```diff\n{PATCH}```"
    assert found["quoted"].startswith("> @@ -1,5 +1,5 @@")
    assert found["suggestion"].startswith("```suggestion\nTIMEOUT = 20\n")


def test_signs_are_stripped() -> None:
    lines = pasted()["without-signs"].split("\n")
    assert lines[:3] == ["import socket", "TIMEOUT = 10", "TIMEOUT = 20"]
    assert "\n" not in pasted()["paragraph"]
    assert pasted()["in-backticks"].startswith("`TIMEOUT = 10` `def open_line(host):`")


def test_change_of_blank_lines_returns_nothing_to_paste() -> None:
    patch = "@@ -1,2 +1,1 @@\n x = 1\n-\n"
    assert pasted(patch=patch, diff=parse.parse_diff(patch, language="python")) == {}


def echoed(seed: int = 0, **fields) -> dict[str, str]:
    return made(variants.echo_claims, seed, **fields)


def test_echo_as_given() -> None:
    assert echoed()["recorded-as-given"] == "\n".join(RECORDED)
    assert echoed()["structural-as-given"] == "\n".join(STRUCTURAL)


def test_paragraph_reads_as_the_same_sentences() -> None:
    assert split_sentences(echoed()["recorded-paragraph"]) == RECORDED
    assert split_sentences(echoed()["recorded-bullets"]) == RECORDED


def test_shuffled_has_another_order() -> None:
    orders = {split_sentences(echoed(seed)["recorded-shuffled"]) for seed in range(30)}
    assert len(orders) == 6
    assert all(sorted(order) == sorted(RECORDED) for order in orders)


def test_few_is_a_third() -> None:
    assert split_sentences(echoed()["recorded-few"])[0] in RECORDED
    assert len(split_sentences(echoed()["recorded-few"])) == 1


def test_noticed_puts_a_frame_around_each() -> None:
    text = echoed()["recorded-noticed"]
    assert text.count("I notice that the ") == 2
    assert text.count("I notice that this ") == 1


def test_numbered_has_a_lead_and_all_items() -> None:
    lead, _, *items = echoed()["recorded-numbered"].split("\n")
    assert lead.endswith(":")
    assert {item.split(". ", 1)[1] for item in items} == set(RECORDED)


def test_set_that_is_empty_is_left_out() -> None:
    assert all(
        name.startswith("structural-")
        for name in echoed(claims={"recorded": (), "structural": STRUCTURAL})
    )
    assert echoed(claims={"recorded": (), "structural": ()}) == {}


@pytest.mark.parametrize(
    ("maker", "name"), [(variants.pad_with_praise, "praise"), (variants.pad_with_advice, "advice")]
)
def test_padding_is_the_honest_text_and_phrases(maker, name: str) -> None:
    phrases = bank(name)
    for form, text in made(maker).items():
        left = text
        for piece in (*OWN, *phrases):
            left = left.replace(piece, "")
        assert left.replace("### General remarks", "").strip(" \n-") == "", form
        assert all(sentence in text for sentence in OWN), form
        assert sum(phrase in text for phrase in phrases) >= 1, form


def test_text_with_a_code_block_is_not_cut() -> None:
    honest = "Use this:\n```\nx = 1\n```"
    found = made(variants.pad_with_praise, honest_review=honest)
    assert "interleaved" not in found
    assert all(honest in text for text in found.values())
    assert found["after"].startswith(honest + "\n\n")


def test_interleaved_alternates() -> None:
    sentences = split_sentences(made(variants.pad_with_advice)["interleaved"])
    assert (sentences[0], sentences[2]) == OWN
    assert {sentences[1], sentences[3]} <= set(bank("advice"))


@pytest.mark.parametrize("name", ["exact", "before", "paragraphs"])
def test_repeat_is_one_sentence_two_to_six_times(name: str) -> None:
    times = set()
    for seed in range(60):
        text = made(variants.repeat_sentences, seed)[name]
        counts = sorted(text.count(sentence) for sentence in OWN)
        assert counts[0] == 1
        times.add(counts[1] - 1)
    assert times == {2, 3, 4, 5, 6}


def test_case_and_punctuation_are_all_that_differ() -> None:
    for name in ("case", "punctuation"):
        text = made(variants.repeat_sentences)[name].lower()
        bare = [sentence.lower().rstrip(".") for sentence in OWN]
        assert max(text.count(sentence) for sentence in bare) >= 3


def test_whole_review_is_given_twice() -> None:
    assert made(variants.repeat_sentences)["whole-twice"] == f"{HONEST}\n\n{HONEST}"


@pytest.mark.parametrize(
    "maker", [variants.pad_with_praise, variants.pad_with_advice, variants.repeat_sentences]
)
def test_no_honest_text_returns_nothing(maker) -> None:
    assert made(maker, honest_review="") == {}


def test_review_of_code_alone_has_nothing_to_repeat() -> None:
    assert made(variants.repeat_sentences, honest_review="```\nx = 1\n```") == {}


def test_training_uses_other_phrases() -> None:
    found = made(variants.pad_with_praise, wording=Wording.TRAINING)
    assert not any(phrase in text for text in found.values() for phrase in bank("praise"))


def test_wrong_change_is_another_review() -> None:
    found = {
        made(variants.borrow_review, seed, foreign_reviews=STRANGERS)["as-is"] for seed in range(20)
    }
    assert found == set(STRANGERS)


def test_long_one_is_the_longest() -> None:
    assert made(variants.borrow_review, foreign_reviews=STRANGERS)["long"] == STRANGERS[1]


def test_single_stranger_is_not_merged() -> None:
    assert "two-merged" not in made(variants.borrow_review, foreign_reviews=STRANGERS[:1])


def test_no_strangers_give_nothing() -> None:
    assert made(variants.borrow_review, foreign_reviews=()) == {}


def injected(seed: int = 0, **fields) -> dict[str, str]:
    return made(variants.inject_instructions, seed, **fields)


def test_alone_is_an_instruction() -> None:
    assert injected()["alone"] in bank("instructions")
    assert {injected(seed)["alone"] for seed in range(200)} == set(bank("instructions"))


def test_poor_review_comes_first() -> None:
    poor, instruction = injected()["after-poor-several"].split("\n\n")[:2]
    assert poor in bank("empty")
    assert instruction in bank("instructions")


def test_honest_text_stays_complete() -> None:
    found = injected()
    assert found["appended"].startswith(HONEST + "\n\n")
    assert found["prefixed"].endswith("\n\n" + HONEST)


def test_without_an_honest_text_the_rest_remains() -> None:
    assert set(injected(honest_review="")) == {
        "alone",
        "alone-several",
        "after-poor",
        "after-poor-several",
        "after-poor-in-fence",
        "json",
    }


def test_training_has_its_own_instructions() -> None:
    found = injected(wording=Wording.TRAINING)
    assert found["alone"] in PHRASES.banks["instructions"][Wording.TRAINING]


def hidden(seed: int = 0, recorded: tuple[str, ...] = (LOAD,), **fields) -> dict[str, str]:
    claims = {"recorded": recorded, "structural": ()}
    return made(variants.hide_text, seed, claims=claims, **fields)


def test_load_is_behind_a_poor_review() -> None:
    found = hidden(honest_review="")
    for name in ("poor-comment", "poor-white", "poor-alt-text", "poor-data-attribute"):
        poor, load = found[name].split("\n\n", 1)
        assert poor in bank("empty")
        assert LOAD in load


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
    assert hidden(honest_review="")[name].endswith("\n\n" + expected)


def test_load_cannot_break_out_of_its_cover() -> None:
    found = hidden(recorded=('a --> b </span> "c" (d) [e]',), honest_review="")
    assert found["poor-comment"].count("-->") == 1
    assert found["poor-hidden-span"].count("</span>") == 1
    assert found["poor-data-attribute"].count('"') == 2
    assert found["poor-title"].endswith('"a -- b /span c d e.")')


def test_tag_characters_spell_the_load() -> None:
    load = hidden(honest_review="")["poor-tag-characters"].split("\n\n", 1)[1]
    assert "".join(chr(ord(letter) - 0xE0000) for letter in load) == LOAD


def test_padding_is_hidden_behind_the_honest_text() -> None:
    found = hidden()
    padded = {name: text for name, text in found.items() if name.startswith("padded-")}
    assert len(padded) == sum(name.startswith("poor-") for name in found)
    assert all(text.startswith(HONEST + "\n\n") for text in padded.values())
    assert any(phrase in padded["padded-comment"] for phrase in bank("advice"))


def test_broken_words_read_as_before() -> None:
    poor, found = hidden()["split-poor-advice"].split(" ", 1)[0], hidden()["split-poor-advice"]
    assert any(one in found for one in ZERO_WIDTH)
    assert clean(found).startswith(poor)
    assert any(phrase in clean(found) and phrase not in found for phrase in bank("advice"))


def test_repeat_is_disguised_by_invisible_characters() -> None:
    text = hidden()["split-padded-repeat"]
    assert split_sentences(text) == split_sentences(HONEST) * 2
    assert text.count(HONEST) == 1


def test_names_are_joined_without_a_visible_space() -> None:
    text = hidden(seed=3)["joined-poor-names"]
    assert "\u200d" in text
    assert " " not in text.split("\u200d", 1)[1]


def test_change_without_names_has_none_to_join() -> None:
    assert "joined-poor-names" not in hidden(names=())


def test_nothing_to_hide_returns_nothing() -> None:
    assert hidden(recorded=(), honest_review="") == {}
