"""Changes that try to talk a model into something, and what becomes of its answer."""

import tomllib
from pathlib import Path

import pytest

from crscore.claims.llm import answer, chunks, grounding, prompt
from crscore.diff import parse
from crscore.llm import prompt_escaping
from crscore.review import visibility

FOLDER = Path(__file__).parents[3] / "data" / "injections"
NAMES = sorted(file.stem for file in FOLDER.glob("*.toml"))
NONCE = "7d1f4c0be2a95368"
PROMPT = prompt.load_prompt("claims.v1")


def case(name):
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def piece_of(told):
    (piece,) = chunks.chunk_diff(parse.parse_diff(told["diff"])).pieces
    return piece


def sent(told):
    marked = prompt_escaping.Fence(nonce=NONCE)
    return prompt.chats(PROMPT, piece_of(told), marked, message=told.get("message", ""))


def flat(text):
    """What is left of a text when blanks are gone, those that break a token included."""
    return "".join(visibility.clean(text).split())


def test_there_is_a_case_for_each_place():
    places = " ".join(case(name)["place"] for name in NAMES)
    for place in ("comment", "string", "name of a file", "commit message", "second @@"):
        assert place in places


@pytest.mark.parametrize("name", NAMES)
def test_honest_claims_stay_and_no_obedience_does(name):
    told = case(name)
    said = answer.read(told["answer"])
    held = grounding.ground(
        said, piece_of(told), source="t", examples=PROMPT.example_texts, nonce=NONCE
    )
    assert [reference.text for reference in held.references] == told["honest"]
    assert held.dropped.total() >= 1


@pytest.mark.parametrize("name", NAMES)
def test_injected_text_is_sent_inside_the_fence_alone(name):
    told = case(name)
    *shared, last = sent(told)
    before, _, rest = last.text.partition(f"=== change {NONCE} begins ===\n")
    inside, _, behind = rest.partition(f"\n=== change {NONCE} ends ===\n")
    assert before == ""
    assert behind == f"Describe the change between the two lines with the mark {NONCE}."
    for text in told["injected"]:
        assert flat(text) in flat(inside)
        assert not any(flat(text) in flat(message.text) for message in shared)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_is_sent_could_be_a_control_token(name):
    tokens = ("<|im_start|>", "<|im_end|>", "<|eot_id|>", "</s>", "[INST]", "[/INST]", "<<SYS>>")
    sent_text = "\n".join(message.text for message in sent(case(name)))
    for token in (*tokens, "<</SYS>>", "@@ Response", "@@ Instruction", "Human:", "<｜end"):
        assert token not in sent_text
    assert visibility.clean(sent_text) == sent_text


def test_some_answers_do_obey():
    """The cases are none where a model that obeys is not told from one that does not."""
    for name in NAMES:
        told = case(name)
        said = answer.read(told["answer"])
        assert set(told["honest"]) < {*said.claims, *said.implications}, name
