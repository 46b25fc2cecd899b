import pytest
from transformers import AutoTokenizer

from crscore.errors import GenerationError
from crscore.llm import chat_text
from crscore.llm.engines.base import Message
from crscore.training.claims.encode import IGNORED, Encoded, Template, padded

CHAT = (Message(role="user", text="What does it do?"),)
ANSWER = "1. `limit` is 4."


@pytest.fixture
def tokenizer(base):
    return AutoTokenizer.from_pretrained(base)


def test_every_token_of_the_prompt_is_ignored_and_every_one_of_the_answer_learned(tokenizer):
    encoded = Template(tokenizer).encode(CHAT, ANSWER)
    text = "<s><|turn|>user\nWhat does it do?</s>\n<|turn|>assistant\n"
    prompt = tokenizer.encode(text, add_special_tokens=False)
    answer = tokenizer.encode(ANSWER, add_special_tokens=False)
    assert list(encoded.ids) == [*prompt, *answer, tokenizer.eos_token_id]
    assert list(encoded.labels) == [IGNORED] * len(prompt) + [*answer, tokenizer.eos_token_id]


def test_the_prompt_is_what_the_engine_reads(tokenizer):
    encoded = Template(tokenizer).encode(CHAT, ANSWER)
    assert list(encoded.ids[: encoded.prompt]) == chat_text.ids(tokenizer, CHAT)


def test_the_answer_does_not_melt_into_the_prompt(tokenizer):
    # One token `()` where the border is between the two: the model would never be asked so.
    tokenizer.chat_template = "{{ messages[0].content }}("
    encoded = Template(tokenizer).encode(CHAT, ")")
    whole = tokenizer.encode("What does it do?()", add_special_tokens=False)
    said = tokenizer.encode(")", add_special_tokens=False)
    assert list(encoded.ids[encoded.prompt : -1]) == said
    assert list(encoded.ids[:-1]) != whole


def test_the_answer_ends_with_the_token_that_closes_a_turn_where_generation_stops(tokenizer):
    turn = tokenizer.convert_tokens_to_ids("<|turn|>")
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m.role }}:{{ m.content }}<|turn|>\n{% endfor %}"
    )
    assert Template(tokenizer, [turn]).encode(CHAT, ANSWER).ids[-1] == turn
    # Generation does not stop there: then the token with which it does.
    assert Template(tokenizer).encode(CHAT, ANSWER).ids[-1] == tokenizer.eos_token_id


def test_a_model_without_a_template_is_asked_as_the_engine_asks_it(tokenizer):
    tokenizer.chat_template = None
    encoded = Template(tokenizer).encode(CHAT, ANSWER)
    assert list(encoded.ids[: encoded.prompt]) == chat_text.ids(tokenizer, CHAT)
    assert encoded.ids[-1] == tokenizer.eos_token_id


def test_a_template_that_takes_no_answers_still_gives_an_end(tokenizer):
    tokenizer.chat_template = (
        "{% if messages[-1].role == 'assistant' %}{{ raise_exception('no') }}{% endif %}"
        "{{ messages[0].content }}"
    )
    assert Template(tokenizer).encode(CHAT, ANSWER).ids[-1] == tokenizer.eos_token_id


def test_a_template_that_refuses_the_chat_is_an_error(tokenizer):
    tokenizer.chat_template = "{{ raise_exception('no users') }}"
    with pytest.raises(GenerationError, match="no users"):
        Template(tokenizer).encode(CHAT, ANSWER)


def test_a_model_that_cannot_stop_is_refused(tokenizer):
    tokenizer.eos_token = None
    with pytest.raises(GenerationError, match="ends an answer"):
        Template(tokenizer)


def test_rows_of_a_batch_are_filled_up_on_the_right_and_not_learned_there():
    made = padded([Encoded(ids=(5, 6), prompt=1), Encoded(ids=(7, 8, 9, 4), prompt=3)], pad=0)
    assert made == {
        "input_ids": [[5, 6, 0, 0], [7, 8, 9, 4]],
        "attention_mask": [[1, 1, 0, 0], [1, 1, 1, 1]],
        "labels": [[IGNORED, 6, IGNORED, IGNORED], [IGNORED, IGNORED, IGNORED, 4]],
    }
