import re

from hypothesis import given
from hypothesis import strategies as st

from crscore.github.actions import commands


def test_message_is_one_line_that_keeps_its_text() -> None:
    line = commands.message("warning", "50 %\r\n::error::x", title="a: b, c\n")

    assert line == "::warning title=a%3A b%2C c%0A::50 %25%0D%0A::error::x"


@given(text=st.text())
def test_any_text_stays_one_line(text: str) -> None:
    assert not re.search(r"[\r\n]", commands.message("error", text, title=text))


def test_shield_has_a_new_token_each_time_and_ends() -> None:
    first, second = (commands.shield_text("::error::x").split("\n") for _ in range(2))

    assert first[0] != second[0]
    mark = first[0].removeprefix("::stop-commands::")
    assert first == [f"::stop-commands::{mark}", "::error::x", f"::{mark}::", ""]
    assert len(mark) > 30
