import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.usefulness import phrases
from tests.helpers.growth import growth

PUMPED = (
    "a.",
    "`",
    "``a",
    "@a",
    "_",
    "aB",
    "a_",
    "--",
    "http://",
    "$",
    "a(",
    "'t",
    "<a",
    "名 ",
    "\n",
)


def value(text: str, name: str) -> float:
    return float(phrases.measure_shape(text)[phrases.SHAPE_FEATURES.index(name)])


def test_code_of_any_form_is_one_word() -> None:
    for code in ("`a b`", "```a```", "fooBar", "foo_bar", "a.b.c", "call()", "--flag", "`a` `b`"):
        assert phrases.tokenize(f"Use {code} here.") == ["use", "<code>", "here", "."]


def test_addresses_users_and_numbers_have_a_word_each() -> None:
    tokens = phrases.tokenize("See https://a.b/c?d, @jane-doe: 12 or 3")
    assert tokens == ["see", "<url>", "<user>", ":", "<number>", "or", "<number>"]


def test_mail_address_is_no_mention() -> None:
    assert "<user>" not in phrases.tokenize("write to me@home")


def test_quote_marks_of_typesetters_are_read_as_plain() -> None:
    assert phrases.phrases("don’t") == phrases.phrases("don't")


def test_start_is_marked_but_is_no_phrase() -> None:
    assert phrases.phrases("Why not?") >= {"^ why", "^ why not", "why not ?", "?"}
    assert "^" not in phrases.phrases("Why not?")
    assert phrases.phrases("") == phrases.phrases(" \n") == set()


def test_shape_measures_the_form() -> None:
    assert value("Why?", "asks_last") == 1
    assert value("Why? Because.", "asks_last") == 0
    assert value("`a` is `b`", "code_share") == pytest.approx(2 / 3)
    assert value("I doubt it", "first_person") == 1
    assert value("isn't it", "negated") == value("never", "negated") == 1
    assert value("your call:", "second_person") == value("your call:", "colon_last") == 1
    assert value("@jane", "mentions") == value("Use 3", "digits") == 1


@given(st.text(max_size=300))
def test_any_text_has_phrases_and_a_finite_shape(text: str) -> None:
    assert len(phrases.measure_shape(text)) == len(phrases.SHAPE_FEATURES)
    assert all(0 <= value < 100 for value in phrases.measure_shape(text))
    for phrase in phrases.phrases(text):
        assert 1 <= len(phrase.split(" ")) <= phrases.MAX_PHRASE_WORDS
        assert "\n" not in phrase


@given(st.text(max_size=200))
def test_letter_case_after_the_first_pass_makes_no_other_phrase(text: str) -> None:
    assert all(phrase == phrase.lower() for phrase in phrases.phrases(text))


@pytest.mark.parametrize("piece", PUMPED)
def test_time_is_linear_on_pumped_text(piece: str) -> None:
    def prepare(size: int):
        text = piece * size
        return lambda: (phrases.phrases(text), phrases.measure_shape(text))

    # Only the start of a text is read, so that even a regex that backtracks is bounded.
    assert growth(prepare, 50_000) < 8


def test_only_the_start_of_a_text_is_read() -> None:
    text = "x " * (phrases.MAX_CHARS // 2)
    for piece in PUMPED:
        assert phrases.phrases(text + piece * 50) == phrases.phrases(text)
