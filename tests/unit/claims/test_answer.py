import json
import time

import pytest

from crscore.claims.answer import ParsedAnswer, read_answer
from crscore.errors import MalformedAnswerError
from tests.helpers.growth import slowness


def claims(raw: str, **options: bool) -> tuple[str, ...]:
    return read_answer(raw, **options).claims


def both(raw: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    answer = read_answer(raw)
    return answer.claims, answer.implications


GOOD = (("`a` is new.", "`b` is gone."), ("Callers of `b` break.",))


@pytest.mark.parametrize(
    "raw",
    [
        '{"claims": ["`a` is new.", "`b` is gone."], "implications": ["Callers of `b` break."]}',
        '```json\n{"claims": ["`a` is new.", "`b` is gone."],\n "implications":'
        ' ["Callers of `b` break."]}\n```\nI hope this helps!',
        'Sure, here it is:\n{"claims": ["1. `a` is new.", "- `b` is gone."], "implications": '
        '["Callers of `b` break."], "confidence": 0.9}',
        '{"claims": ["`a` is new.", "`b` is gone.",], "implications": ["Callers of `b` break.",],}',
        '{"claims": ["`a` is\nnew.", "`b`\tis gone."], "implications": ["Callers of `b` break."]}',
        "Summary of changes:\n1. `a` is new.\n2. `b` is gone.\n\nImplications:\n"
        "1. Callers of `b` break.",
        "**Summary of Changes:**\n\n1. `a` is new.\n2. `b` is gone.\n\n**Implications:**\n\n"
        "1. Callers of `b` break.\n",
        "### Summary of Changes\n- **`a`** is new.\n- `b` is gone.\n### Implications\n"
        "* Callers of `b` break.\n\nLet me know if you need more detail.",
        "## 1. Summary of the changes\n1. `a` is new.\n1. `b` is gone.\n## 2. Possible "
        "Implications\n1) Callers of `b` break.\n\nIn summary, this change is small.",
        "Here is the summary:\n\n**Summary of changes**:\n\n1. **Addition of a name**:\n"
        "   - `a` is new.\n2. **Removal**: `b` is gone.\n\n**Implications**:\n\n"
        "1. **Broken callers:** Callers of `b` break.",
        "#### Summary of Changes\n\n**In the module**:\n* `a` is new.\n\n#### Other module\n"
        "* `b` is gone.\n\n---\n\nImplications\n\n1.\n   Callers of `b` break.",
        "```markdown\nSummary of changes:\n1. `a` is new.\n2. `b` is gone.\nImplications:\n"
        "1. Callers of `b` break.\n```",
        "Summary of changes:\r\n1. `a` is new.\r\n```python\na = 1\n```\r\n2. `b` is gone.\r\n\r\n"
        "Implications: Callers of `b` break.\r\n",
        "Summary: `a` is new. `b` is gone.\nImplications: Callers of `b` break.",
        "Changes:\n(1) `a` is new.\n(2) `b` is gone.\nImplications:\n(1) Callers\nof `b` break.",
    ],
)
def test_every_form_of_an_answer_has_the_same_claims(raw: str) -> None:
    assert both(raw) == GOOD


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ('{"claims": ["`a` is new.", "`b` is go', ("`a` is new.",)),
        ('{"claims": ["`a` is new.", "`b` is gone."', ("`a` is new.", "`b` is gone.")),
        ('{"claims": ["`a` is new."], "implica', ("`a` is new.",)),
        ('{"claims": ["`a` is new." "`b` is gone."]', ("`a` is new.", "`b` is gone.")),
        ('{"claims": [', ()),
    ],
)
def test_json_that_is_cut_off_keeps_its_complete_items(raw: str, kept: tuple[str, ...]) -> None:
    answer = read_answer(raw, whole=False)
    assert (answer.claims, answer.cut) == (kept, True)
    assert read_answer(raw).cut


def test_what_is_no_claim_in_json_is_left_out() -> None:
    answer = read_answer('{"claims": ["`a`.", 3, null, {"x": "y"}, [], ""], "notes": ["z"]}')
    assert answer == ParsedAnswer(claims=("`a`.",), implications=(), cut=False)


def test_json_string_with_a_wrong_escape_is_kept() -> None:
    assert claims(r'{"claims": ["Matches `\d` now.", "Quotes \"a\" now."]}') == (
        r"Matches `\d` now.",
        'Quotes "a" now.',
    )


def test_complete_json_is_not_cut_by_what_follows_it() -> None:
    assert not read_answer(
        '{"claims": ["`a` is new."], "implications": []}\nAnd th', whole=False
    ).cut


@pytest.mark.parametrize(
    ("raw", "kept", "whole"),
    [
        ("1. `a` is new.\n2. `b` is", ("`a` is new.",), True),
        ("1. `a` is new.\n2. `b` is gone, and", ("`a` is new.",), True),
        ("1. `a` is new.\n2. `b", ("`a` is new.",), True),
        ("1. `a` is new.\n2. `b` is gone.", ("`a` is new.",), False),
        ("1. `a` is new.\n2. `b` is gone.\n", ("`a` is new.", "`b` is gone."), False),
        ("1. `a` is new.\n2.", ("`a` is new.",), True),
        ("The `a` is new. The `b` is", ("The `a` is new.",), True),
        ("- Adds `a`\n- Removes `b`", ("Adds `a`", "Removes `b`"), True),
        ("Adds a name", ("Adds a name",), True),
    ],
)
def test_incomplete_claim_is_left_out(raw: str, kept: tuple[str, ...], whole: bool) -> None:
    answer = read_answer(raw, whole=whole)
    assert answer.claims == kept


def test_prose_is_cut_into_sentences() -> None:
    raw = (
        "The code changes add `retry. Now` to the client. It waits for 2.5 seconds, e.g. after "
        "a timeout. \n\nAdditionally, `close()` is called."
    )
    assert claims(raw) == (
        "The code changes add `retry. Now` to the client.",
        "It waits for 2.5 seconds, e.g. after a timeout.",
        "Additionally, `close()` is called.",
    )


def test_item_of_several_sentences_is_one_claim() -> None:
    assert claims("1. Raises the limit to 2. It was 1.") == ("Raises the limit to 2. It was 1.",)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("1. **Improved readability**: `a` is short.", "`a` is short."),
        ("1. **Name:** `a` is short.", "`a` is short."),
        ("1. **The `run` method**: Now takes `n`.", "The `run` method: Now takes `n`."),
        ("1. **kwargs and **args are `x`.", "**kwargs and **args are `x`."),
        ("1. It is **not** `a ** b` any more.", "It is not `a ** b` any more."),
        ("1. `__init__` is **`private`**.", "`__init__` is `private`."),
        ("- 1. `a` is new.", "`a` is new."),
        ("> 1. `a` is new.", "`a` is new."),
        ("a) `a` is new.", "`a` is new."),
        ("1.2. `a` is new.", "`a` is new."),
        ("3 parameters of `f` are new.", "3 parameters of `f` are new."),
        ("-1 is returned by `f`.", "-1 is returned by `f`."),
        ("1. Implications of `f` are logged.", "Implications of `f` are logged."),
    ],
)
def test_numbers_labels_and_marks_go_and_code_stays(raw: str, text: str) -> None:
    assert claims(raw) == (text,)


def test_prose_around_a_list_is_left_out() -> None:
    raw = (
        "Five new routes have been added to the cluster API. The routes are:\n1. `a`, a GET.\n\n"
        "`render` now builds the page from these parts:\n- `head` comes first.\n\nI hope it helps!"
    )
    assert claims(raw) == ("`a`, a GET.", "`head` comes first.")


@pytest.mark.parametrize("raw", ["", " \n", "1.\n2.\n---", "{}", "[]", "```\n```", "**Summary:**"])
def test_answer_without_a_sentence_has_no_claims(raw: str) -> None:
    answer = read_answer(raw)
    assert (answer.claims, answer.implications) == ((), ())


def test_invisible_characters_go() -> None:
    assert claims("1. `a`\u200b is\u202e new.") == ("`a` is new.",)


@pytest.mark.growth
@pytest.mark.parametrize(
    "raw",
    [
        "[" * 1_000_000,
        '{"claims":' + "[" * 1_000_000,
        '{"claims": ["' + "a" * 1_000_000,
        '{"claims": ["a"' + ', "a"' * 250_000,
        '{"claims": {' * 90_000,
        '"a": "' * 170_000,
        "a. " * 333_333,
        "`a. B" * 200_000,
        "- " * 500_000,
        "**a" * 333_333,
        "**a** " * 160_000,
        "1.\n" * 333_333,
        "a:\n" * 333_333,
        " " * 1_000_000,
        "\n" * 1_000_000,
        "#" * 1_000_000,
        "```\n" * 250_000,
        "A. B " * 200_000,
        "<think>\n" * 130_000,
        "</think>" * 130_000,
        "</think" + " " * 1_000_000,
        "<|channel|>final" * 60_000,
        "<|end|>" + " " * 1_000_000,
        "<|end|> " * 130_000,
        "<|end|> " * 120_000 + "x",
        '{"' * 500_000,
        '{"a":[' * 160_000,
        '{"a":"' * 160_000,
        '{"a": "b"}' * 100_000,
        '["a"]\n' * 160_000,
        '{"a": ["b" ' + " " * 1_000_000,
    ],
    ids=lambda raw: raw[:12],
)
def test_hostile_answer_takes_linear_time(raw: str) -> None:
    start = time.process_time()
    read_answer(raw)
    assert time.process_time() - start < 2 * slowness()


JSON_ANSWER = '{"claims": ["`n` is 5."], "implications": ["Less is kept."]}'
DRAFT = '{"claims": ["`n` may be 7.", "`m` is gone."]}'


@pytest.mark.parametrize(
    "thought",
    [
        f"<think>\nFirst: {DRAFT}\nNo, 5.\n</think>\n\n",
        f"<think>{DRAFT}</think>",
        # The chat template of some models writes the opening tag of the reasoning.
        f"The user wants JSON: {DRAFT}\n</think>\n",
        f"<thinking>\n1. `n` may be 7.\n{DRAFT}</thinking>\n",
        f"<reasoning>{DRAFT}</reasoning>",
        f"<Think>{DRAFT}</THINK >",
        f"<think>{DRAFT}</think>\n<think>{DRAFT}</think>\n",
        f"<think>The diff closes a `</think>` itself. {DRAFT}</think>\n",
        f"[THINK]{DRAFT}[/THINK]",
        f"<seed:think>{DRAFT}</seed:think>",
        f"◁think▷{DRAFT}◁/think▷",
        f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>",
        f"<|begin_of_thought|>{DRAFT}<|end_of_thought|>\n",
        f"<|channel>thought\n{DRAFT}<channel|>",
        f"<reason>{DRAFT}</reason>",
        f"<chain_of_thought>{DRAFT}</chain_of_thought>",
        f"<reasoning-content>{DRAFT}</reasoning-content>",
        f"<m_think effort='2'>{DRAFT}</m_think><answer>",
        f'<details type="reasoning" done="true">\n<summary>5 s</summary>\n{DRAFT}\n</details>\n',
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant"
        "<|channel|>final<|message|>",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|>"
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>",
    ],
)
def test_reasoning_is_no_answer(thought: str) -> None:
    for written in (JSON_ANSWER, "1. `n` is 5.\n\nImplications:\n1. Less is kept."):
        answer = read_answer(thought + written)
        assert (answer.claims, answer.implications) == (("`n` is 5.",), ("Less is kept.",))
        assert not answer.cut


@pytest.mark.parametrize(
    "raw",
    [
        f"<think>\nFirst: {DRAFT}\n",
        f"  \n<thinking>{DRAFT}",
        f"<think>a</think>\n<think>{DRAFT}",
        f"[THINK]\n{DRAFT}\n",
        f"◁think▷{DRAFT}",
        f"<think>a</think><think>{DRAFT}",
        f"<|START_THINKING|>{DRAFT}",
        f"<|channel>thought\n{DRAFT}",
        f'<details type="reasoning">\n{DRAFT}',
        f"<|channel|>analysis<|message|>{DRAFT}",
        f"<|start|>assistant<|channel|>analysis<|message|>{DRAFT}<|end|>",
        "<think>" + "a" * 300_000,
    ],
    ids=lambda raw: str(raw)[:20],
)
def test_unfinished_thought_is_an_answer_cut_off(raw: str) -> None:
    for whole in (True, False):
        answer = read_answer(raw, whole=whole)
        assert (answer.claims, answer.implications, answer.cut) == ((), (), True)


@pytest.mark.parametrize(
    "raw",
    [
        f"Let me think. {DRAFT}\nThe limit is 5, so:\n```json\n{JSON_ANSWER}\n```",
        f"{DRAFT}\n{JSON_ANSWER}\nI hope this helps.",
        f'{{"claims": ["`n` may\n```\nNo:\n```json\n{JSON_ANSWER}\n```',
        f'{DRAFT}\n{{"answer": {JSON_ANSWER}, "confidence": 0.9}}',
        f'{JSON_ANSWER}\n{{"claims": 2, "note": "two of each"}}',
        f"Use {{braces}} and {{'claims': 1}}.\n{JSON_ANSWER}",
    ],
)
def test_last_json_with_claims_is_the_answer(raw: str) -> None:
    answer = read_answer(raw, no_prose=True)
    assert answer == ParsedAnswer(claims=("`n` is 5.",), implications=("Less is kept.",), cut=False)


def test_last_sections_are_the_answer() -> None:
    draft = "Summary of changes:\n1. `n` may be 7.\n\nImplications:\n1. More is kept.\n\n"
    final = "**Summary of Changes:**\n1. `n` is 5.\n\n**Implications:**\n1. Less is kept.\n"
    assert both(f"{draft}No, the limit is 5:\n\n{final}") == both(final)


@pytest.mark.parametrize(
    "raw",
    [f"Let me think. {DRAFT}\nBut `n`", f"<think>{DRAFT}</think>\nWell: {DRAFT}\nOr rather"],
)
def test_draft_before_text_that_is_cut_off_is_no_answer(raw: str) -> None:
    assert read_answer(raw, whole=False) == ParsedAnswer(claims=(), implications=(), cut=True)


@pytest.mark.parametrize("tag", ["</think>", "<think>", "[/THINK]", "</seed:think>", "<channel|>"])
def test_tag_in_a_string_of_json_is_a_quotation(tag: str) -> None:
    for text in (f"Cuts {tag} off.", f"Cuts\n{tag} off."):
        answer = read_answer(json.dumps({"claims": [text, "`n` is 5."]}).replace("\\n", "\n"))
        assert answer.claims == (f"Cuts {tag} off.", "`n` is 5.")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("I cannot say.", "the answer has no JSON: 'I cannot say.'"),
        ("", "the answer has no JSON"),
        ("1. `n` is 5.", "the answer has no JSON: '1. `n` is 5.'"),
        (f"<think>{DRAFT}</think>I cannot say.", "the answer has no JSON: 'I cannot say.'"),
        ('{"error": "busy"}', "the JSON of the answer does not fit (it has no list of claims): "),
        ("<think>I wonder", "the answer broke off before its end"),
    ],
)
def test_prose_is_no_answer_where_json_was_asked_for(raw: str, message: str) -> None:
    with pytest.raises(MalformedAnswerError) as caught:
        read_answer(raw, no_prose=True)
    assert str(caught.value).startswith(message)


def test_reasoning_may_be_longer_than_an_answer() -> None:
    assert claims(f"<think>{'a' * 300_000}</think>{JSON_ANSWER}") == ("`n` is 5.",)


def test_answer_cut_off_after_reasoning_keeps_its_complete_claims() -> None:
    answer = read_answer(f'<think>{DRAFT}</think>{{"claims": ["`n` is 5.", "`m` is go', whole=False)
    assert (answer.claims, answer.cut) == (("`n` is 5.",), True)


@pytest.mark.parametrize(
    "raw",
    [
        '{"claims": ["Cuts `<think>` and `</think>` off.", "`n` is 5."]}',
        "1. Cuts `<think>` and `</think>` off.\n2. `n` is 5.",
        "1. Cuts `<think>` and `</think>` off.\n2. `n` is 5.<|end|>\n",
        "1. Cuts `<think>` and `</think>` off.\n2. `n` is 5.<|return|>",
    ],
)
def test_claim_may_quote_the_tags_of_reasoning(raw: str) -> None:
    assert claims(raw) == ("Cuts `<think>` and `</think>` off.", "`n` is 5.")
