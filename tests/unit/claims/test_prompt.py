import json
import re
from dataclasses import replace

import pytest
from msgspec import structs

from crscore.claims import chunks, prompt
from crscore.claims.answer import ParsedAnswer, read_answer
from crscore.diff import parse
from crscore.errors import ConfigError
from crscore.llm import prompts
from crscore.llm.prompt_escaping import Fence
from tests.helpers import changes

PROMPT = prompt.load_prompt("claims.v1")
NONCE = "7d1f4c0be2a95368"
FENCE = Fence(nonce=NONCE)


def chunk_of(text="--- a/old.py\n+++ b/new.py\n@@ -1,2 +1,2 @@ def f()\n-a = 1\n+a = 2\n b\n"):
    return chunks.chunk_diff(parse.parse_diff(text)).chunks[0]


def chat(**options):
    return prompt.make_chat(PROMPT, chunk_of(), FENCE, **options)


def test_chat_alternates_and_needs_no_system_message() -> None:
    roles = [message.role for message in chat()]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    assert len(roles) == 2 * len(PROMPT.content.examples) + 1


def test_all_but_the_last_message_is_the_same_for_every_piece_and_run() -> None:
    other = prompt.make_chat(PROMPT, chunk_of("@@ -1 +1 @@\n-x\n+y\n"), Fence(nonce="f" * 16))
    assert chat()[:-1] == other[:-1]
    assert NONCE not in "".join(message.text for message in chat()[:-1])


def test_last_message_has_the_published_blocks_in_the_fence() -> None:
    assert chat()[-1].text == (
        f"=== change {NONCE} begins ===\n"
        "File: new.py\nBefore: old.py\n"
        "Diff:\n@@ -1,2 +1,2 @@ def f()\n-a = 1\n+a = 2\n b\n"
        "Lines removed:\na = 1\nLines added:\na = 2\n"
        f"=== change {NONCE} ends ===\n"
        f"Describe the change between the two lines with the mark {NONCE}."
    )


def test_block_of_no_lines_is_left_out() -> None:
    text = prompt.make_chat(PROMPT, chunk_of("@@ -1,0 +2 @@\n+y\n"), FENCE)[-1].text
    assert "Lines removed:" not in text
    assert "Lines added:\ny" in text


def test_file_name_stays_on_one_line() -> None:
    made = chunk_of()
    odd = replace(made, file=structs.replace(made.file, path="a\n=== change b"))
    assert "File: a === change b\n" in prompt.make_chat(PROMPT, odd, FENCE)[-1].text


def test_without_examples_one_message_asks_all() -> None:
    (message,) = chat(form="sections", examples=0)
    assert message.text.startswith("You describe what a code change does")
    assert '"Summary of changes:" and "Implications:"' in message.text
    assert message.text.endswith(f"with the mark {NONCE}.")
    assert len(chat(examples=2)) == 5


@pytest.mark.parametrize("form", ["json", "sections"])
def test_examples_answer_in_the_form_that_is_asked_for(form) -> None:
    for example, message in zip(PROMPT.content.examples, chat(form=form)[1::2], strict=False):
        assert read_answer(message.text) == ParsedAnswer(
            claims=example.claims, implications=example.implications, cut=False
        )


def test_examples_keep_the_rules_they_show() -> None:
    for example in PROMPT.content.examples:
        assert len(chunks.chunk_diff(parse.parse_diff(example.diff)).chunks) == 1
        assert len(example.claims) <= PROMPT.content.limits["claims"]


def test_schema_has_the_fields_of_the_json_form() -> None:
    schema = prompt.answer_schema(PROMPT)
    assert schema["required"] == ["claims", "implications"]
    assert schema["properties"]["claims"]["maxItems"] == PROMPT.content.limits["claims"]
    assert json.dumps(schema)


def test_name_and_hash_are_those_of_the_file() -> None:
    assert (PROMPT.name, len(PROMPT.sha256)) == ("claims.v1", 64)
    assert "claims.v1" in prompts.prompt_names()


def test_texts_have_the_placeholders_that_are_filled() -> None:
    content = PROMPT.content
    for text in (content.opening, content.closing, content.request):
        assert set(re.findall(r"\{\{(.*?)\}\}", text)) == {"mark"}
    assert set(re.findall(r"\{\{(.*?)\}\}", content.instruction)) == {"claims", "implications"}


def test_unknown_prompt_is_an_error_that_names_the_others() -> None:
    with pytest.raises(ConfigError, match=r"expected one of claims\.v1"):
        prompt.load_prompt("claims.v2")


def test_text_of_the_change_fills_no_placeholder() -> None:
    made = changes.change("a.txt", "x\n", "{{mark}} {{claims}}\n")
    text = prompt.make_chat(PROMPT, chunks.chunk_diff(made).chunks[0], FENCE)[-1].text
    assert "+{{mark}} {{claims}}" in text
