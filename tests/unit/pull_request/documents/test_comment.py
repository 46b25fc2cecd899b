import re

import pytest

from crscore.hosts import sticky
from crscore.pull_request.documents import for_people
from tests.helpers import overviews


def test_three_points_are_shown_and_the_others_are_folded() -> None:
    points = tuple(overviews.point(f"Point {word}.") for word in ("one", "two", "three", "four"))
    together = overviews.replace(overviews.review().together, unaddressed=6)
    actual = overviews.replace(overviews.review(), open=points, together=together)
    openly, folded = for_people.render_comment(actual).split("<details>", 1)
    assert [f"Point {word}." in openly for word in ("one", "two", "three")] == [True] * 3
    assert "Point four." in folded
    assert folded.startswith("<summary>3 more not addressed</summary>")
    assert "*The last 2 of them are not listed.*" in folded


def test_notes_are_folded() -> None:
    openly, folded = for_people.render_comment(overviews.review()).split("<details>", 1)
    assert "One binary file was left out." in folded
    assert "harmonic mean" in folded
    assert "whether it is right counts only where the code refutes it" in folded
    assert "binary" not in openly


def test_one_sentence_says_what_was_found() -> None:
    assert for_people.render_comment(overviews.review()).split("\n")[2] == (
        "Together, 2 reviewers address 4 of 7 points that a review of this change should touch; "
        "sentences about it: 4 of 6."
    )


def test_all_points_addressed_needs_no_list() -> None:
    actual = overviews.review()
    whole = overviews.replace(actual.together, addressed=7, unaddressed=0)
    shown = for_people.render_comment(overviews.replace(actual, together=whole, open=()))
    assert "2 reviewers address 7 of 7 points that" in shown
    assert "Not addressed" not in shown


def test_degrees_are_named_as_such() -> None:
    shown = for_people.render_comment(overviews.learned())
    assert "**Not or hardly addressed (" in shown
    assert "from 0 to 1" in shown


@pytest.fixture(scope="module")
def largest() -> str:
    return for_people.render_comment(overviews.largest())


def test_largest_comment_is_within_the_limit_with_the_most_important_parts(largest: str) -> None:
    body = largest
    marker = sticky.sign("", b"", 10**19, "0" * 16)
    assert 60_000 < len(body) <= for_people.MAX_COMMENT_CHARS - len(marker)
    assert body.count("<details>") == body.count("</details>")
    assert re.search(r"\*Shortened: [\d,]+ items left out to keep within", body)
    # Whole rows, the three points and the signature are there.
    assert body.count("\n| reviewer-") == 200
    assert all(f"- {index} The call `run` is new" in body for index in range(3))
    assert "<sub>Measured at " in body


def test_omitted_items_are_counted(largest: str) -> None:
    body = largest
    actual = re.search(r"\*Shortened: ([\d,]+) items", body)
    assert actual
    # 50 remarks, 500 points, 95 + 100 notes, signature, meaning.
    shown = len(re.findall(r"^- ", body, re.MULTILINE)) + ("harmonic mean" in body)
    assert int(actual[1].replace(",", "")) == 50 + 500 + 95 + 100 + 1 + 1 - shown


def test_one_more_character_of_a_note_never_breaks_the_limit() -> None:
    for length in (10, 1_990):
        notes = tuple("x" * length for _ in range(100))
        actual = overviews.replace(overviews.largest(), notes=notes, reviewers=())
        assert len(for_people.render_comment(actual)) <= for_people.MAX_COMMENT_CHARS
