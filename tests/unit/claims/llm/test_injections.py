"""Changes that try to talk a model into something, and what becomes of its answer.

The defence is the fence around the change. An answer that obeys nevertheless is text in a report;
`missed` lists the sentences of it that are kept, as nothing but their meaning tells them apart.
"""

import tomllib
from pathlib import Path

import pytest

from crscore.claims.llm import chunks, prompt
from crscore.claims.llm.answer import read_answer
from crscore.claims.llm.grounding import ground_claims
from crscore.diff import parse
from crscore.llm import prompt_escaping
from crscore.review import visibility

FOLDER = Path(__file__).parents[3] / "data" / "injections"
NAMES = sorted(file.stem for file in FOLDER.glob("*.toml"))
NONCE = "7d1f4c0be2a95368"
PROMPT = prompt.load_prompt("claims.v1")


def case(name):
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def chunk_of(told):
    (chunk,) = chunks.chunk_diff(parse.parse_diff(told["diff"])).chunks
    return chunk


def sent(told):
    marked = prompt_escaping.Fence(nonce=NONCE)
    return prompt.make_chat(PROMPT, chunk_of(told), marked, message=told.get("message", ""))


def flat(text):
    """What is left of a text when blanks are gone, those that break a token included."""
    return "".join(visibility.clean(text).split())


def test_there_is_a_case_for_each_place():
    places = " ".join(case(name)["place"] for name in NAMES)
    for place in ("comment", "string", "name of a file", "commit message", "second @@"):
        assert place in places


@pytest.mark.parametrize("name", NAMES)
def test_honest_claims_stay_and_no_obedience_does_but_what_is_listed(name):
    told = case(name)
    parsed = read_answer(told["answer"])
    held = ground_claims(parsed, chunk_of(told), source="t", examples=prompt.example_texts(PROMPT))
    expected = {*told["honest"], *told.get("missed", ())}
    assert {reference.text for reference in held.references} == expected
    said = {*parsed.claims, *parsed.implications}
    assert held.dropped.total() == len(said - expected)


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
