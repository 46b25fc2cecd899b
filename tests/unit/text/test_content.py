from hypothesis import given
from hypothesis import strategies as st

from crscore.text.content import stems_and_names, words


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


def test_names_are_those_of_several_words_in_small_letters() -> None:
    content = words("`userId`, user_id, User and ID are not `USER_ID` or x1")
    assert content.names == {"userid", "user_id"}


def test_length_counts_stop_words_and_parts_of_names() -> None:
    # rename, user, id, to, user, name; "to" is a stop word.
    content = words("Rename `user_id` to `userName`.")
    assert (content.length, content.content_length, content.code_spans) == (6, 5, 2)
    assert content.topics == {"rename"}


def test_speech_cues() -> None:
    cues = {
        "You should rename it.": {0, 2},
        "Looks good, thanks!": {1},
        "I like it.": {2},
        "It is not used.": {3},
        "It isn't used.": {3},
        "This could lead to a leak.": {0, 4},
        "A plain fact.": set(),
    }
    for text, indices in cues.items():
        assert {index for index, cue in enumerate(words(text).speech) if cue} == indices


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


def test_every_topic_can_be_met() -> None:
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
