import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.static_analysis.wording import resolve_links, shorten
from tests.helpers.growth import slowness


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        # capital and full stop
        ("unexpected constant condition", "Unexpected constant condition."),
        ("Already one.", "Already one."),
        ("Is it used?", "Is it used?"),
        ("don't do this", "Don't do this."),
        ("trailing colon:", "Trailing colon."),
        ("`os` imported but unused", "`os` imported but unused."),
        ("useEffect has a missing dependency", "useEffect has a missing dependency."),
        ("eval() runs code", "eval() runs code."),
        ("max_len is never read", "max_len is never read."),
        # the first sentence
        ("One thing. Another thing.", "One thing."),
        ("Variable 'y' is unused. Use '_'.", "Variable `y` is unused."),
        ("Upgrade to 3.11 or later. Then go on.", "Upgrade to 3.11 or later."),
        ("Call os.path.join, e.g. With a base. Next.", "Call os.path.join, e.g. With a base."),
        ("Use `a. B` there. Next.", "Use `a. B` there."),
        ("Line one\nline two.\n\nNext paragraph.", "Line one line two."),
        ("Found these:\n- a\n- b", "Found these."),
        ("Wrong call\r\n```py\nf()\n```\nmore", "Wrong call."),
        # Markdown
        ("**Bold** and *soft* words", "Bold and soft words."),
        ("2 ** 3 and 4 ** 5 differ", "2 ** 3 and 4 ** 5 differ."),
        ("The glob *.py matches *.pyi", "The glob *.py matches *.pyi."),
        ("snake_case_name stays", "snake_case_name stays."),
        # names in quotation marks
        ("Expected '===' here", "Expected '===' here."),
        ('Method "a.b()" is empty', "Method `a.b()` is empty."),
        ("It's John's value 'x'", "It's John's value `x`."),
        ("The text 'two words' stays", "The text 'two words' stays."),
        ("Keep `code with 'x' inside`", "Keep `code with 'x' inside`."),
        # nothing
        ("", ""),
        (" \n\t", ""),
        ("...", ""),
        ("```", ""),
    ],
)
def test_message_becomes_a_sentence(message: str, sentence: str) -> None:
    assert shorten(message) == sentence


def test_long_sentence_is_cut_at_a_word() -> None:
    short = shorten("word " * 100)
    assert short.endswith("word…")
    assert 190 < len(short) <= 200


def test_cut_leaves_no_code_span_open() -> None:
    short = shorten("word " * 37 + "`" + "name " * 20 + "`")
    assert short.count("`") % 2 == 0
    assert short.endswith("word…")


def test_one_long_word_is_cut_too() -> None:
    assert len(shorten("x" * 5_000)) == 200


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["[", "*", "`", "'a", "[a](", "\\[", "<b", "a.", "(((", "\n- "])
def test_hostile_message_is_read_in_time(piece: str) -> None:
    start = time.process_time()
    shorten(resolve_links(piece * 50_000))
    assert time.process_time() - start < 0.5 * slowness()


@given(st.text() | st.text("`*[]()'\". \nab1", max_size=60))
def test_any_text_becomes_one_line_or_nothing(message: str) -> None:
    short = shorten(message)
    assert len(short) <= 200
    assert "\n" not in short
    assert not short or short[-1] in ".!?…"
    assert short == short.strip()
