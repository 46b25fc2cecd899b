"""Words, stems, code spans and cues of texts."""

import base64
import html
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.matchers.features import SENTENCE
from crscore.text import (
    CODE_SPAN,
    ENGLISH,
    IGNORED_PIECES,
    SPEECH,
    code_names,
    find_code_spans,
    mask_secret,
    replace_surrogates,
    split_identifier,
    stem,
    stems_and_names,
    words,
)
from tests.helpers.growth import growth


def test_code_spans_are_between_equal_runs_of_backticks() -> None:
    spans = {
        "no code": [],
        "Use `a` and `b.c()`.": ["a", "b.c()"],
        "``a `quoted` name``": ["a `quoted` name"],
        "`a\nb`": [],
        "one ` alone": [],
        "``": [],
        "` `": [" "],
        "```js```": ["js"],
    }
    assert {text: find_code_spans(text) for text in spans} == spans


def test_spans_can_be_replaced() -> None:
    assert CODE_SPAN.sub("x", "`a` or ``b`` or `c") == "x or x or `c"


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["`", "`a", "` ", "``a ", "`a``"])
def test_time_grows_with_the_length_alone(piece: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        text = piece * (size // len(piece))
        return lambda: find_code_spans(text)

    assert growth(prepare, 10_000) < 12


def test_names_are_the_identifiers_in_code_spans() -> None:
    names = {
        "Call parse here": set(),
        "`parse(x)` and `Parse.All`": {"parse", "all"},
        "`max_limit` or ``a `second` one``": {"max_limit", "second", "one"},
        "`1e10` `été2`": {"été2"},
        "`a` `ab`": set(),
    }
    assert {text: set(code_names(text)) for text in names} == names


def test_stems() -> None:
    stems = {
        "userName": {"user", "nam"},
        "user_name": {"user", "nam"},
        "UserName": {"user", "nam"},
        "USER_NAME": {"user", "nam"},
        "HTTPServer2_port": {"http", "serv", "port"},
        "parseHTTP": {"pars", "http"},
        "`self.max_retries = 30`": {"self", "max", "retr", "30"},
        "$scope.items": {"scop", "item"},
        "the of and": set(),
        "a b c": set(),
        "7": set(),
        "": set(),
        "...": set(),
        "名前": {"名前"},
    }
    assert {text: words(text).stems for text in stems} == stems


def test_names_have_several_words_and_are_in_lower_case() -> None:
    content = words("`userId`, user_id, User and ID are not `USER_ID` or x1")
    assert content.names == {"userid", "user_id"}


def test_length_counts_stop_words_and_parts_of_names() -> None:
    # rename, user, id, to, user, name; "to" is a stop word.
    content = words("Rename `user_id` to `userName`.")
    assert (content.length, content.content_length, content.code_spans) == (6, 5, 2)
    assert content.topics == {"rename"}


def test_speech_cues() -> None:
    cues = {
        "You should rename it.": {"suggests", "personal"},
        "Looks good, thanks!": {"praises"},
        "I like it.": {"personal"},
        "It is not used.": {"denies"},
        "It isn't used.": {"denies"},
        "This could lead to a leak.": {"suggests", "explains"},
        "A plain fact.": set(),
    }
    for text, manners in cues.items():
        assert words(text).speech == manners


def test_speech_cues_have_the_order_of_the_features() -> None:
    start = SENTENCE.index("suggests")
    assert SENTENCE[start : start + len(SPEECH)] == tuple(SPEECH)


def test_question_mark_asks() -> None:
    assert words("Why?").asks
    assert not words("Why").asks


def test_topics() -> None:
    topics = {
        "A parameter is added": "add",
        "Removes the field": "remove",
        "renaming": "rename",
        "It is moved": "move",
        "the imports": "import",
        "returned": "return",
        "throws an exception": "exception",
        "logging": "log",
    }
    for text, topic in topics.items():
        assert topic in words(text).topics


def test_every_topic_can_be_found() -> None:
    every = words(
        "add remove rename change move value import return parameter type test comment condition "
        "exception log class string function"
    )
    assert len(every.topics) == 18


@given(st.text(max_size=60))
def test_line_of_code_has_the_stems_and_names_of_its_words(line: str) -> None:
    assert stems_and_names(line) == (words(line).stems, words(line).names)


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    content = words(text)
    assert content.content_length <= content.length
    assert len(content.stems) <= content.content_length
    assert all(content.stems)


@given(st.text(alphabet="abcXYZ_09 `.?", max_size=40))
def test_space_around_a_text_changes_nothing(text: str) -> None:
    assert words(f" {text} ") == words(text)


def test_english_has_the_179_entries_of_the_published_list() -> None:
    assert len(ENGLISH) == 179


def test_english_has_parts_of_contractions_but_no_content_words() -> None:
    assert {"the", "don", "ll", "t", "shouldn't"} <= ENGLISH
    assert not {"function", "null", "would", "could", "get"} & ENGLISH


def test_ignored_pieces_add_full_stop_and_comma_only() -> None:
    assert sorted(IGNORED_PIECES - ENGLISH) == [",", "."]


def test_name_is_split_at_capitals_digits_and_underscores() -> None:
    parts = {
        "user_id": ["user", "id"],
        "userId2": ["user", "id", "2"],
        "HTTPServer2_name": ["http", "server", "2", "name"],
        "MAX_SIZE": ["max", "size"],
        "$scope.名前": ["scope", "名前"],
        "__init__": ["init"],
        "_": [],
        "": [],
    }
    assert {name: split_identifier(name) for name in parts} == parts


def test_forms_of_a_word_share_their_stem() -> None:
    for family in [
        ("rename", "renames", "renamed", "renaming"),
        ("validate", "validates", "validated", "validating"),
        ("quick", "quickly"),
        ("pass", "passes", "passed"),
        ("stop", "stopped", "stopping"),
        ("limit", "limits", "limited"),
    ]:
        assert len({stem(word) for word in family}) == 1


def test_stem_keeps_three_letters_or_the_word() -> None:
    for word in ("is", "use", "bee", "ings", "s", "", "es"):
        assert len(stem(word)) >= min(3, len(word))


@pytest.mark.parametrize(
    "secret",
    ["ghp_abcdefghijklmnop1234", "glpat-x.y_z/0&1?2+3", 'a"b\\c%d<e>f~~~~', "oooo????~~~~~~"],
)
def test_secret_is_masked_however_it_is_written(secret: str) -> None:
    data = secret.encode()
    forms = [data, quote(secret, safe="").encode(), json.dumps(secret)[1:-1].encode()]
    forms += [json.dumps(secret)[1:-1].replace("/", "\\/").encode(), html.escape(secret).encode()]
    for form in forms:
        assert mask_secret(b"for " + form + b"!", data) == b"for ***!"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in (b"", b"x:", b"me:", b"you:"):
            for after in (b"", b"?", b"\n\n"):
                masked = mask_secret(b"for " + encode(before + data + after), data)
                assert b"***" in masked
                # At each end, at most one character has bits of the secret and of the rest.
                rest = masked.replace(b"for ", b"").replace(b"***", b"").replace(b"=", b"")
                assert len(rest) <= (len(before) * 8 + 5) // 6 + (len(after) * 8 + 5) // 6 + 1


def test_text_without_lone_surrogates_is_unchanged() -> None:
    assert replace_surrogates("naïve 日本 \U0001f600") == "naïve 日本 \U0001f600"
