from __future__ import annotations

import re
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.code import tokens


def test_tranx_splits_camel_case_and_unifies_quotes() -> None:
    # The paper's regular expressions, applied by hand.
    assert tokens.tranx('getName(a_b, "x")') == [
        "get", "Name", "(", "a_b", ",", "`", "x", "`", ")",
    ]  # fmt: skip


@given(st.text(alphabet=st.sampled_from("aZbQ09_ \t\u00a0\x1c\n'\"(é.")))
def test_tranx_equals_the_published_substitutions(text: str) -> None:
    # The four substitutions of the paper, one after the other.
    spaced = re.sub(r"([^A-Za-z0-9_])", r" \1 ", text)
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", spaced)
    spaced = re.sub(r"\s+", " ", spaced).replace('"', "`").replace("'", "`")

    assert tokens.tranx(text) == [token for token in spaced.split(" ") if token]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTPServer2 != naïveName", ["http", "server", "2", "!", "=", "na", "ï", "ve", "name"]),
        ("a.b(c)[0];", ["a", "b", "c", "0"]),
        ("[ ]", ["[", "]"]),
        (" \n", []),
    ],
)
def test_code_keeps_names_and_operators(text: str, expected: list[str]) -> None:
    assert tokens.code(text) == expected


@pytest.mark.parametrize("kind", typing.get_args(tokens.TokenKind))
def test_no_token_holds_white_space(kind: tokens.TokenKind) -> None:
    words = tokens.split("a\u00a0b\tc \x1c d\r\n(e)", kind)
    assert all(token.strip() == token != "" for token in words)
