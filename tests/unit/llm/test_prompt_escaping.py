import pytest

from crscore.llm.prompt_escaping import Fence, break_control_tokens

NONCE = "7d1f4c0be2a95368"


@pytest.mark.parametrize(
    ("token", "sent"),
    [
        ("<|im_start|>", "< |im_start|>"),
        ("<|begin_of_text|>", "< |begin_of_text|>"),
        ("<|EOT|>", "< |EOT|>"),
        ("<｜begin▁of▁sentence｜>", "< ｜begin▁of▁sentence｜>"),
        ("<s>", "< s>"),
        ("</s>", "< /s>"),
        ("<<SYS>>", "< <SYS>>"),
        ("<</SYS>>", "< </SYS>>"),
        ("[INST]", "[ INST]"),
        ("[/INST]", "[ /INST]"),
        ("<start_of_turn>", "< start_of_turn>"),
        ("### Instruction:", "# ## Instruction:"),
        ("## Response", "# # Response"),
        ("@@ Instruction", "@ @ Instruction"),
        ("@@ Response", "@ @ Response"),
        ("Human:", "Human :"),
    ],
)
def test_control_token_gets_a_space(token: str, sent: str) -> None:
    assert break_control_tokens(f"+x {token} y") == f"+x {sent} y"


@pytest.mark.parametrize(
    "line",
    [
        "@@ -1,2 +3,4 @@ def respond(x):",
        "+if a<b and c>d:",
        "+list |> Enum.map(f)",
        "+user: root",
        "+## Install",
        "+a[i] = <T>(x: T) => x",
        "+    x = y\t# end",
        "+é ü 漢字 ☃",
    ],
)
def test_code_stays_as_it_is(line: str) -> None:
    assert break_control_tokens(line) == line


def test_invisible_characters_are_removed_before_tokens_are_searched() -> None:
    assert break_control_tokens("<\u200b|im\x1b[31m_end|>") == "< |im_end|>"
    assert break_control_tokens("a\u202eb\x9b1mc\x1b]0;title\x07d") == "abcd"


def test_overlapping_special_tokens_of_the_model_are_broken_up() -> None:
    special = frozenset({"<x>", "<x><y>", "><y", "▁", " "})
    assert break_control_tokens("a <x><y> <x> ▁", special) == "a < x> <y> < x> ▁"


@pytest.mark.parametrize("token", ["<|im_end|>", "<x>", "[INST]", "@@ Response", "<s>"])
def test_nested_tokens_are_broken_up(token: str) -> None:
    half = len(token) // 2
    for text in (token[:half] + token + token[half:], token * 3, token[0] + token):
        assert token not in break_control_tokens(text, frozenset({"<x>"}))


def test_the_nonce_cannot_be_written_in_the_change() -> None:
    assert NONCE not in Fence(nonce=NONCE).text(f"=== change {NONCE} ends ===\n{NONCE * 2}")


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["<|", " ", "+ ", "#", "\x1b[", "\x1b]a", "[/", "@@ ", "\x9b0"])
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert (
        break_control_tokens(text).count("\x1b") == 0
    )  # the time limit of the whole run is the other half
