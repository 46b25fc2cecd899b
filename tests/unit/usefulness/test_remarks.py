"""Division of comments into remarks, with readings and vectors set by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.records import Comment, Position, Sentence, Stance
from crscore.review.read import parse_comment
from crscore.usefulness import remarks
from crscore.usefulness.reading import TextReading
from tests.helpers.growth import growth
from tests.helpers.useful import text_reading

DIFF = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-limit = 10\n+limit = 20\n")
ACTIONABLE = text_reading(actionable=0.9)
EMPTY = text_reading(actionable=0.1)
EMPTY_TEXTS = (
    "Hi!", "Hello there,", "Thanks for the work!", "Overall this is fine.", "Review", "Details",
    "Well done.", "Let me know what you think.", "A few comments:", "For example:", "It is slow.",
    "The cache is shared.", "Cheers", "Great work!",
)  # fmt: skip
"""Texts that give their reader nothing to answer; all others do."""
PROBLEM = "The pool leaks."
"""Text that names a problem; all others ask for a change."""
SUGGESTION = "```suggestion\nlimit = 30\n```"


def read_text(text: str) -> TextReading:
    if text == PROBLEM:
        return text_reading(Stance.PROBLEM, actionable=0.9)
    return EMPTY if text in EMPTY_TEXTS else ACTIONABLE


def split(body: str) -> tuple[Sentence, ...]:
    comment = Comment(body=body, path="a.py", line=1)
    parsed = parse_comment(comment, DIFF, "markdown")
    return tuple(
        Sentence(text=text, comment=0, proposal=proposal, position=position)
        for texts, positions, proposal in (
            (parsed.sentences, parsed.positions, False),
            (parsed.proposals, parsed.proposal_positions, True),
        )
        for text, position in zip(texts, positions, strict=True)
    )


def divide(body: str, *, cosine: float = 0.0) -> list[list[str]]:
    """The texts of each remark; any two sentences have the same cosine."""
    sentences = split(body)
    count = len(sentences)
    vectors = np.sqrt(1 - cosine) * np.eye(count, count + 1)
    vectors[:, -1] = np.sqrt(cosine)
    texts = [sentence.text for sentence in sentences]
    divided = remarks.divide(sentences, vectors.astype(np.float32), [*map(read_text, texts)], ())
    return [[texts[column] for column in columns] for columns, _ in divided]


# Sentences of one paragraph


def test_points_of_one_paragraph_are_separate_remarks() -> None:
    assert divide("Rename the limit. Add a test for the parser.") == [
        ["Rename the limit."],
        ["Add a test for the parser."],
    ]


@pytest.mark.parametrize(
    ("request_text", "count"),
    [("Close every connection.", 1), ("Also rename the limit.", 2), ("Finally, add a test.", 2)],
)
def test_request_after_a_problem_belongs_to_the_problem(request_text: str, count: int) -> None:
    assert len(divide(f"{PROBLEM} {request_text}")) == count


def test_praise_is_in_no_remark() -> None:
    praise = text_reading(Stance.PRAISE, actionable=0.1)
    sentences = split("Rename the limit.\n\nA lovely parser.")
    assert remarks.divide_comment(
        range(2), sentences, np.eye(2, dtype=np.float32), [ACTIONABLE, praise]
    ) == [[0]]


def test_sentence_with_a_similar_meaning_continues_the_remark() -> None:
    together = [["Rename the limit.", "Call the limit a maximum."]]
    assert divide("Rename the limit. Call the limit a maximum.", cosine=0.9) == together


def test_sentence_that_shares_a_name_continues_the_remark() -> None:
    body = "Rename `max_limit`. Callers read `config.max_limit` at import."
    assert len(divide(body)) == 1
    assert len(divide(body.replace("config.max_limit", "config.retries"))) == 2


@pytest.mark.parametrize("start", ["This", "It", "Otherwise it", "So that", "E.g. this", "Because"])
def test_sentence_that_refers_back_continues_the_remark(start: str) -> None:
    for space in (" ", "\n\n"):
        assert len(divide(f"Rename the limit.{space}{start} breaks callers.")) == 1


def test_word_that_only_begins_like_a_pronoun_does_not_refer_back() -> None:
    assert len(divide("Rename the limit.\n\nItems are lost.")) == 2


def test_sentence_that_is_not_actionable_belongs_to_the_remark_before_it() -> None:
    assert divide("Rename the limit. The cache is shared. Add a test.") == [
        ["Rename the limit.", "The cache is shared."],
        ["Add a test."],
    ]
    assert len(divide("The cache is shared. Rename the limit.")) == 1


# Blocks


def test_each_item_of_a_list_is_a_remark() -> None:
    body = "- Rename the limit.\n- Rename the parser.\n1. Add a test."
    assert len(divide(body, cosine=0.9)) == 3


def test_paragraph_that_is_not_actionable_belongs_to_the_remark_before_it() -> None:
    assert divide("Rename the limit.\n\nThe cache is shared.\n\nAdd a test.") == [
        ["Rename the limit.", "The cache is shared."],
        ["Add a test."],
    ]


def test_actionable_paragraph_does_not_continue_one_that_is_not() -> None:
    assert len(divide("The cache is shared.\n\nRename the limit.")) == 2


def test_comment_without_layout_is_one_block() -> None:
    sentences = [Sentence(text=text, comment=0) for text in ("Rename it.", "Add a test.")]
    divided = remarks.divide_comment(
        range(2), sentences, np.eye(2, dtype=np.float32), [ACTIONABLE, EMPTY]
    )
    assert divided == [[0, 1]]


# Frames

BODIES = (
    "Rename the limit.",
    "Rename the limit. The cache is shared.\n\nAdd a test.",
    "- Rename the limit.\n- Add a test.",
    f"Rename the limit.\n{SUGGESTION}",
    SUGGESTION,
    "**Rename the limit.**",
    "The cache is shared.",
    "Please use a list here:\n```\n[]\n```",
)
OPENINGS = (
    "# Review", "**Details**", "Hi!", "Hello there,", "Thanks for the work!", "A few comments:",
    "<details><summary>Details</summary></details>", "Overall this is fine.",
)  # fmt: skip
CLOSINGS = ("Well done.", "Let me know what you think.", "Cheers", "Great work!", "## Details")


@pytest.mark.parametrize("body", BODIES)
def test_greeting_and_sign_off_change_no_remark(body: str) -> None:
    plain = divide(body)
    assert plain
    for opening in OPENINGS:
        assert divide(f"{opening}\n\n{body}") == plain, opening
    for closing in CLOSINGS:
        assert divide(f"{body}\n\n{closing}") == plain, closing


def test_greeting_in_the_same_paragraph_is_in_no_remark() -> None:
    assert divide("Hi! Rename the limit.") == [["Rename the limit."]]


def test_heading_begins_a_remark() -> None:
    assert len(divide("Rename the limit.\n\nThe cache is shared.")) == 1
    assert len(divide("Rename the limit.\n\n## Details\n\nThe cache is shared.")) == 2
    assert len(divide("Rename the limit.\n\n## Details\n\nThis breaks callers.")) == 2


def test_bold_text_within_a_paragraph_is_not_a_heading() -> None:
    assert divide("**Rename the limit.** Add a test.") == [["Rename the limit."], ["Add a test."]]


@pytest.mark.parametrize(
    ("body", "divided"),
    [
        ("**Rename the limit.** **Add a test.**", [["Rename the limit."], ["Add a test."]]),
        ("**Rename the limit.**", [["Rename the limit."]]),
        ("# Review\n\n**Rename the limit.**\n\nHi!", [["Rename the limit."]]),
        ("# Review\n\nGreat work!", [["Great work!"]]),
        ("Hi!", [["Hi!"]]),
        ("# Review", [["Review"]]),
        ("# Review\n\n## Details", [["Review"], ["Details"]]),
    ],
)
def test_comment_of_only_frames_has_a_remark(body: str, divided: list[list[str]]) -> None:
    assert divide(body) == divided


def test_lead_in_that_asks_for_a_change_is_not_a_frame() -> None:
    body = "Rename the limit.\n\nPlease use a list here:\n```\n[]\n```\n\nAdd a test."
    assert ["Please use a list here:"] in divide(body)
    assert divide("Please address the following:\n\n- Add a test.") == [["Add a test."]]


def test_long_sentence_is_not_a_greeting() -> None:
    text = "Thanks " + "so " * remarks.MAX_LEAD_IN_WORDS + "much."
    sentence = Sentence(text=text, comment=0)
    assert not remarks.is_frame(sentence, EMPTY)
    assert remarks.is_frame(Sentence(text="Thanks so much.", comment=0), EMPTY)


# Code


def test_suggestion_belongs_to_the_remark_before_it() -> None:
    first, second = divide(f"Rename the limit.\n{SUGGESTION}\n\nAdd a test.")
    assert first == ["Rename the limit.", "change `limit = 20` to `limit = 30`"]
    assert second == ["Add a test."]
    assert divide(f"Add a test.\n\nRename the limit.\n{SUGGESTION}")[1] == first


def test_suggestion_at_the_start_belongs_to_the_text_after_it() -> None:
    assert len(divide(f"{SUGGESTION}\nRename the limit.\n\nThe cache is shared.")) == 1


def test_suggestion_under_a_title_belongs_to_the_remark_before_it() -> None:
    folded = f"<details><summary>Details</summary>\n\n{SUGGESTION}\n\n</details>"
    first, second = divide(f"Rename the limit.\n\n{folded}\n\nAdd a test.")
    assert len(first) == 2
    assert second == ["Add a test."]


@pytest.mark.parametrize("title", ["📝 Committable suggestion", "🤖 Prompt for AI Agents"])
def test_suggestion_of_a_dropped_section_belongs_to_the_remark_before_it(title: str) -> None:
    folded = (
        f"<details><summary>{title}</summary>\n\n> ‼️ **IMPORTANT**\n\n{SUGGESTION}\n\n</details>"
    )
    divided = divide(f"Rename the limit.\n\n{folded}\n\nAdd a test.\n\nAdd a note.")
    assert [len(remark) for remark in divided] == [2, 1, 1]


def test_suggestion_without_text_is_a_remark() -> None:
    assert divide(SUGGESTION) == [["change `limit = 20` to `limit = 30`"]]


# Anything


@given(
    st.lists(
        st.builds(
            Sentence,
            text=st.sampled_from(["It fails.", "Thanks!", "Rename `x`.", "Notes:", "Why?", ""]),
            comment=st.just(0),
            proposal=st.booleans(),
            position=st.builds(Position, st.integers(0, 3), st.booleans()),
        ),
        min_size=1,
        max_size=8,
    ),
    st.data(),
)
def test_each_sentence_is_in_one_remark_at_most(sentences: list[Sentence], data) -> None:
    count = len(sentences)
    readings = [data.draw(st.sampled_from([ACTIONABLE, EMPTY])) for _ in sentences]
    vectors = np.eye(count, dtype=np.float32)
    divided = remarks.divide_comment(range(count), sentences, vectors, readings)
    columns = [column for remark in divided for column in remark]
    assert divided
    assert all(remark == sorted(set(remark)) and remark for remark in divided)
    assert len(columns) == len(set(columns))
    # A proposal is never left out.
    assert all(column in columns for column, sentence in enumerate(sentences) if sentence.proposal)


@pytest.mark.growth
@pytest.mark.parametrize("text", ["Rename it.", "Use `x`.", "Use `{}`.", "This fails."])
def test_time_is_linear_in_the_sentences_of_a_paragraph(text: str) -> None:
    def prepare(size: int):
        sentences = [Sentence(text=text.format(f"name{at}"), comment=0) for at in range(size)]
        vectors = np.full((size, 4), 0.5, dtype=np.float32)
        readings = [ACTIONABLE] * size
        return lambda: remarks.divide_comment(range(size), sentences, vectors, readings)

    assert growth(prepare, 500) < 8
