import re

import pytest

from crscore.pull_request.documents import for_people
from tests.helpers import overviews


def test_pull_request_scores_and_points_are_shown() -> None:
    shown = for_people.render_terminal([overviews.review()], width=100)
    assert shown.startswith("octo/shop#12 · Retry failed requests\n")
    assert re.search(r"^  Together +62 +67 +57 +3 +–$", shown, re.MULTILINE)
    assert re.search(r"^  mira +60 +100 +43 +2 +1 of 2$", shown, re.MULTILINE)
    assert "Not addressed (3)\n" in shown
    assert "     src/shop/client.py:17\n" in shown
    assert shown.endswith(f"\n\n{overviews.results.SHORT_SIGNATURE}\n")
    whole = for_people.render_terminal([overviews.review()], signature=True)
    assert whole.endswith(f"\n\n{overviews.results.SIGNATURE}\n")


@pytest.mark.parametrize("width", [60, 100])
def test_verdict_and_usefulness_are_reported(width: int) -> None:
    shown = for_people.render_terminal([overviews.useful_review()], width=width)
    joined = " ".join(shown.split())
    assert "(minor) + 9 for 3 others. Together, 2 reviewers" in joined
    assert "Remarks, the most valuable first (6) • Catching `Exception` here" in joined
    assert "critical · asks for a change · adds 42 points · mira" in joined
    assert (
        "Published scores of all reviewers: conciseness 67, comprehensiveness 57, relevance"
        in joined
    )
    assert max(map(len, shown.split("\n")[:-2])) <= width
    if width == 100:
        assert re.search(r"^  Together +83 \(63–93\) useful +91 +78 +3 +–$", shown, re.MULTILINE)
        assert re.search(
            r"^  mira +12 \(0–22\) little use +91 +20 +2 +1 of 2$", shown, re.MULTILINE
        )


@pytest.mark.parametrize("width", [60, 80, 160])
def test_names_and_scores_are_complete_at_any_width(width: int) -> None:
    row = overviews.reviewer("coderabbit", is_bot=True, outdated=1)
    actual = overviews.useful_review()
    actual = overviews.replace(actual, reviewers=(*actual.reviewers, row))
    shown = for_people.render_terminal([actual], width=width)
    table = shown[shown.index("  Reviewer") : shown.index("Scores are from 0")]
    assert "…" not in table
    assert "coderabbit (bot)" in table
    assert ("outdated)" in table) is (width >= 80)


def test_unaddressed_topics_are_listed_once() -> None:
    shown = for_people.render_terminal([overviews.topics()], width=100)
    assert "Not addressed (3)\n" in shown
    assert (
        "•  `HostAuthorization`, new, 110 lines: `HostAuthorization` is new.\n"
        "     src/shop/client.py:12-122\n"
    ) in shown
    assert "Client.fetch" not in shown


def test_plain_text_has_no_sequences_and_coloured_text_has() -> None:
    assert "\x1b" not in for_people.render_terminal([overviews.review()])
    assert "\x1b[" in for_people.render_terminal([overviews.review()], color=True)


def test_partial_result_is_reported_before_the_numbers() -> None:
    actual = overviews.replace(overviews.review(), missing=("2 files could not be read.",))
    shown = for_people.render_terminal([actual])
    assert shown.index("Partial: 2 files could not be read.") < shown.index("  Together")


def test_row_without_a_score_says_why() -> None:
    row = overviews.reviewer("kit", reason="no sentence in the review text", **overviews.NOTHING)
    shown = for_people.render_terminal([overviews.replace(overviews.review(), reviewers=(row,))])
    assert re.search(r"^  kit +– +– +– +3 +1 of 2$", shown, re.MULTILINE)
    assert "No score for kit: no sentence in the review text." in shown


def test_no_review_yet() -> None:
    shown = for_people.render_terminal([overviews.nobody()])
    assert "There is no review to score yet; it should address 2 points." in shown
    assert "Together" not in shown


def test_hidden_items_are_counted() -> None:
    shown = for_people.render_terminal([overviews.largest()], width=120)
    assert "… and 4,992 more, in the report" in shown
    assert "… and 3 more\n" in shown
    assert "Note" not in shown
    assert "Partial: and 95 more, in the notes" in shown


@pytest.mark.parametrize("width", [20, 60, 80, 400])
def test_lines_are_within_the_width(width: int) -> None:
    shown = for_people.render_terminal([overviews.review()], width=width)
    assert max(map(len, shown.split("\n"))) <= min(max(width, 60), 160)


def test_hostile_texts_cannot_command_a_terminal_or_a_runner() -> None:
    shown = for_people.render_terminal([overviews.hostile()])
    assert not set(shown) & set("\x1b\x9b\x07\u202e\u200b\u2028\ud800\x00\r")
    assert not any(line.lstrip().startswith("::") for line in shown.split("\n"))
    assert "##[" not in shown
    # rich's own mark-up is text, too.
    assert "[link](https://evil.example/x)" in shown.replace("\n", "")


def test_several_are_below_each_other() -> None:
    assert for_people.render_terminal([overviews.review()] * 2).count("octo/shop#12 · ") == 2


def test_refuted_remark_comes_first_in_the_tone_of_a_warning() -> None:
    shown = " ".join(for_people.render_terminal([overviews.decided()], width=100).split())
    assert (
        "then the most valuable (6) • Why three retries? src/shop/client.py:13-15 refuted · asks "
        "for a change · adds nothing · mira says that `fetch` tries three times; the code says: "
    ) in shown
    assert (
        "adds 58 points · mira confirmed: `fetch` catches `Exception` (src/shop/client.py:15)"
        in shown
    )
    assert "\x1b[2;33msays that " in for_people.render_terminal([overviews.decided()], color=True)
