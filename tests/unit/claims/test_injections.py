"""Changes with instructions to a model, against which the fence around the change protects."""

import tomllib
from pathlib import Path

import pytest

from crscore.claims import chunks, prompt
from crscore.diff import parse
from crscore.llm import prompt_escaping
from crscore.text import clean

FOLDER = Path(__file__).parents[2] / "data" / "injections"
NAMES = sorted(file.stem for file in FOLDER.glob("*.toml"))
NONCE = "7d1f4c0be2a95368"
PROMPT = prompt.load_prompt("claims.v1")


def read_case(name):
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def chunk_of(case):
    (chunk,) = chunks.chunk_diff(parse.parse_diff(case["diff"])).chunks
    return chunk


def chat_about(case):
    return prompt.make_chat(PROMPT, chunk_of(case), prompt_escaping.Fence(nonce=NONCE))


def flat(text):
    """Return a text without white space, also without that inside tokens."""
    return "".join(clean(text).split())


def test_there_is_a_case_for_each_place():
    places = " ".join(read_case(name)["place"] for name in NAMES)
    for place in ("comment", "string", "name of a file", "second @@"):
        assert place in places


@pytest.mark.parametrize("name", NAMES)
def test_injected_text_is_sent_inside_the_fence_alone(name):
    case = read_case(name)
    *shared, last = chat_about(case)
    before, _, after = last.text.partition(f"=== change {NONCE} begins ===\n")
    inside, _, after = after.partition(f"\n=== change {NONCE} ends ===\n")
    assert before == ""
    assert after == f"Describe the change between the two lines with the mark {NONCE}."
    for text in case["injected"]:
        assert flat(text) in flat(inside)
        assert not any(flat(text) in flat(message.text) for message in shared)
    tokens = ("<|im_start|>", "<|im_end|>", "<|eot_id|>", "</s>", "[INST]", "[/INST]", "<<SYS>>")
    chat = "\n".join(message.text for message in (*shared, last))
    for token in (*tokens, "<</SYS>>", "@@ Response", "@@ Instruction", "Human:", "<｜end"):
        assert token not in chat
    assert clean(chat) == chat
