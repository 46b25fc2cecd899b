from __future__ import annotations

import pytest

from crscore.code.metrics.combined.pieces import take_apart
from crscore.errors import InputError
from crscore.suggestions.sketch import rename

PROMPT = "def total(numbers):\n    '''Add up.'''\n"
BODY = "result = 0\n    for one in numbers:\n        result += one  # add\n    return result"


def test_names_comments_and_layout_are_gone() -> None:
    piece = take_apart(BODY, "python", PROMPT)

    assert " ".join(piece.tokens) == ("result = 0 for item in arg_0 : result += item return result")
    assert piece.text == "var = 0 for var in arg_0 : var += var return var"


def test_renaming_changes_nothing() -> None:
    code = PROMPT + "    " + BODY
    other = rename(code, "python", seed=3)
    assert other != code

    assert take_apart(code, "python", "") == take_apart(other, "python", "")


def test_code_without_its_indentation_is_read_in_its_context() -> None:
    indented = "    " + BODY
    assert take_apart(BODY, "python", PROMPT) == take_apart(indented, "python", PROMPT)


def test_kinds_and_calls() -> None:
    piece = take_apart("x.push(-1, 'a') or len(x)", "python", "")

    assert piece.of_kind("number") == {"1": 1}
    assert piece.of_kind("text") == {"'a'": 1}
    assert piece.of_kind("operator") == {"-": 1, "or": 1}
    assert piece.calls == {"push": 1, "len": 1}


@pytest.mark.parametrize(
    ("code", "unfinished"),
    [("pass  # TODO", True), ("raise NotImplementedError", True), ("return 1", False)],
)
def test_unfinished(code: str, unfinished: bool) -> None:
    assert take_apart(code, "python", "").unfinished is unfinished


def test_what_does_not_parse() -> None:
    assert take_apart("def (:", "python", "").errors > 0
    assert take_apart("return 1", "python", "").errors == 0


def test_language_without_grammar() -> None:
    with pytest.raises(InputError, match="no grammar"):
        take_apart("x", None, "")
