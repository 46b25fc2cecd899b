import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from crscore.errors import ConfigError, GenerationError
from crscore.llm import chat_text
from crscore.llm.engines.base import Message
from crscore_lab.training.claims.examples import (
    IGNORED,
    ChatTemplate,
    split_groups,
)

pytestmark = pytest.mark.research

CHAT = (Message(role="user", text="What does it do?"),)
ANSWER = "1. `limit` is 4."
GROUPS = st.lists(st.sampled_from("abcdefghijkl"), max_size=60)


@pytest.fixture
def tokenizer(base):
    return AutoTokenizer.from_pretrained(base)


def test_every_token_of_the_prompt_is_ignored_and_every_one_of_the_answer_learned(tokenizer):
    encoded = ChatTemplate(tokenizer).encode(CHAT, ANSWER)
    text = "<s><|turn|>user\nWhat does it do?</s>\n<|turn|>assistant\n"
    prompt = tokenizer.encode(text, add_special_tokens=False)
    answer = tokenizer.encode(ANSWER, add_special_tokens=False)
    assert list(encoded.ids) == [*prompt, *answer, tokenizer.eos_token_id]
    assert encoded.columns()["labels"] == [IGNORED] * len(prompt) + [
        *answer,
        tokenizer.eos_token_id,
    ]


def test_the_prompt_is_what_the_engine_reads(tokenizer):
    encoded = ChatTemplate(tokenizer).encode(CHAT, ANSWER)
    assert list(encoded.ids[: encoded.prompt]) == chat_text.tokenize_chat(tokenizer, CHAT)


def test_the_answer_does_not_melt_into_the_prompt(tokenizer):
    # One token `()` where the border is between the two: the model would never be asked so.
    tokenizer.chat_template = "{{ messages[0].content }}("
    encoded = ChatTemplate(tokenizer).encode(CHAT, ")")
    whole = tokenizer.encode("What does it do?()", add_special_tokens=False)
    answer = tokenizer.encode(")", add_special_tokens=False)
    assert list(encoded.ids[encoded.prompt : -1]) == answer
    assert list(encoded.ids[:-1]) != whole


def test_the_answer_ends_with_the_token_that_closes_a_turn_where_generation_stops(tokenizer):
    turn = tokenizer.convert_tokens_to_ids("<|turn|>")
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m.role }}:{{ m.content }}<|turn|>\n{% endfor %}"
    )
    assert ChatTemplate(tokenizer, [turn]).encode(CHAT, ANSWER).ids[-1] == turn
    # Generation does not stop there: then the token with which it does.
    assert ChatTemplate(tokenizer).encode(CHAT, ANSWER).ids[-1] == tokenizer.eos_token_id


def test_a_model_without_a_template_is_asked_as_the_engine_asks_it(tokenizer):
    tokenizer.chat_template = None
    encoded = ChatTemplate(tokenizer).encode(CHAT, ANSWER)
    assert list(encoded.ids[: encoded.prompt]) == chat_text.tokenize_chat(tokenizer, CHAT)
    assert encoded.ids[-1] == tokenizer.eos_token_id


def test_a_template_that_takes_no_answers_still_gives_an_end(tokenizer):
    tokenizer.chat_template = (
        "{% if messages[-1].role == 'assistant' %}{{ raise_exception('no') }}{% endif %}"
        "{{ messages[0].content }}"
    )
    assert ChatTemplate(tokenizer).encode(CHAT, ANSWER).ids[-1] == tokenizer.eos_token_id


def test_a_template_that_refuses_the_chat_is_an_error(tokenizer):
    tokenizer.chat_template = "{{ raise_exception('no users') }}"
    with pytest.raises(GenerationError, match="no users"):
        ChatTemplate(tokenizer).encode(CHAT, ANSWER)


def test_a_model_that_cannot_stop_is_refused(tokenizer):
    tokenizer.eos_token = None
    with pytest.raises(GenerationError, match="ends an answer"):
        ChatTemplate(tokenizer)


@given(GROUPS, st.floats(0, 0.99), st.integers(0, 5))
def test_no_group_is_on_both_sides_and_no_row_is_lost(groups, share, seed):
    sides = split_groups(groups, share=share, seed=seed)
    learned, held_out = ({groups[at] for at in side} for side in sides)
    assert not learned & held_out
    assert sorted(sides.train + sides.held_out) == list(range(len(groups)))


@given(GROUPS, st.floats(0.01, 0.99), st.integers(0, 5))
def test_neither_side_is_empty_where_there_are_two_groups(groups, share, seed):
    sides = split_groups(groups, share=share, seed=seed)
    if len(set(groups)) > 1:
        assert sides.train
        assert sides.held_out


def test_a_tenth_of_the_changes_is_held_out():
    names = [str(at) for at in range(200)]
    assert len(split_groups(names, share=0.1, seed=42).held_out) == 20


def test_the_side_of_a_change_does_not_depend_on_the_order_of_rows():
    names = [str(at) for at in range(50)]
    once = {names[at] for at in split_groups(names, share=0.2, seed=1).held_out}
    back = names[::-1]
    assert {back[at] for at in split_groups(back, share=0.2, seed=1).held_out} == once


def test_another_seed_holds_out_others():
    names = [str(at) for at in range(50)]
    assert split_groups(names, share=0.2, seed=1) != split_groups(names, share=0.2, seed=2)


def test_a_share_of_nothing_holds_nothing_out():
    assert split_groups(["a", "b"], share=0, seed=1).held_out == ()


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ConfigError, match="val-split"):
        split_groups(["a"], share=share, seed=1)
