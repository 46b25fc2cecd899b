from __future__ import annotations

import re
import subprocess
import sys

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from crscore import plugins
from crscore.errors import ConfigError
from crscore.records import Result, Stance, Subject
from tests.helpers import results

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def render(*inputs: Result, **options: str) -> str:
    shown: str = plugins.create("reports", "text", options)(inputs)
    return shown


def test_scores_are_shown_with_their_counts() -> None:
    # 4 of 6, 4 of 7 and their harmonic mean 2·(2/3)(4/7)/(2/3+4/7) = 0.615, by hand.
    shown = render(results.review())
    assert re.search(r"Relevance +62 ", shown)
    assert re.search(r"Conciseness +67 .* mean of 6 sentences, 4 on topic", shown)
    assert re.search(r"Comprehensiveness +57 .* mean of 7 pseudo-references", shown)


def test_bar_is_as_long_as_the_score() -> None:
    line = next(row for row in render(results.review()).split("\n") if "Conciseness" in row)
    # 2/3 of 10 columns is 6 whole ones and 5/8 of the next.
    assert "█" * 6 + "▋" + "·" * 3 in line


def test_baselines_are_shown_with_the_scores() -> None:
    assert "  baselines: 48 words, 31 % of the diff's tokens repeated\n" in render(results.review())


def test_verdict_is_the_first_line() -> None:
    shown = render(results.useful(results.review()), width="160")
    assert shown.startswith(
        f"Useful: 83 (63 to 93), better than 83 % of {results.AGAINST}, 41 % of the bots'.\n"
        "  83 points = 42 for remark 1 (critical) + 21 for remark 2 (major) + 11 for "
        "remark 3 (minor) + 9 for 3 others.\n\n"
    )
    assert re.search(r"^  About this change  91 of 100  █+▉·· ", shown, re.MULTILINE)
    assert re.search(r"^  Importance         78 of 100  .* critical: its most", shown, re.MULTILINE)
    assert (
        "  published scores: conciseness 67, comprehensiveness 57, relevance 62 of 100\n"
        "  baselines: 48 words, 31 % of the diff's tokens repeated\n"
        "  3 files changed, +9 −6 · 6 sentences · 3 reviewers\n"
    ) in shown
    assert "Conciseness" not in shown


def test_each_of_several_results_has_its_verdict() -> None:
    shown = render(results.useful(results.review()), results.small())
    assert shown.startswith("Change 1 of 2\nUseful: 83 (63 to 93), better than 83")
    assert "\nChange 2 of 2\nThe review is about the change in 1 of 2 sentences" in shown


def test_useful_abstention_says_why_there_are_no_published_scores() -> None:
    shown = render(results.useful(results.abstained()))
    assert "published scores: none, as there are no sentences to compare with\n" in shown


def test_tables_have_usefulness_with_its_word() -> None:
    shown = render(results.useful(results.review()), width="100")
    assert re.search(r"Reviewer +Useful +About +Importance +Sentences +Words\n", shown)
    assert re.search(r"mira +12 \(0–22\) little use +91 +20 +3 of 3 +31\n", shown)


def test_remark_has_its_level_what_it_adds_and_what_it_is_about() -> None:
    other = results.make_reading(Stance.OTHER, 0.02, subject=Subject.ELSEWHERE)
    about = results.make_reading(Stance.QUESTION, 0.6, subject=Subject.SURROUNDINGS)
    result = results.useful(results.flagged(), results.make_reading(), other, about)
    shown = render(result, width="120")
    assert (
        "  1  Catching `Exception` here hides real bugs, please catch the network error only.\n"
        "     mira on src/shop/client.py:13-15\n"
        "     critical · asks for a change · adds 43 points\n"
    ) in shown
    assert (
        "minor · asks a question · adds 11 points · its surroundings · ⚑ restates the ch" in shown
    )
    assert (
        "  6  Why three retries?\n     mira on src/shop/client.py:13-15\n"
        "     talks about something else · little to answer · ⚑ is no sentence\n"
    ) in shown
    assert "✓" not in shown


def test_remark_that_is_not_actionable_is_dimmed() -> None:
    nothing = results.make_reading(Stance.PRAISE, 0.1)
    shown = render(results.useful(results.small(), nothing, nothing), color="true")
    assert "\x1b[2mRetrying in `fetch` is a good idea.\x1b[0m" in shown


def test_sentence_about_a_topic_names_it() -> None:
    reading = results.make_reading(subject=Subject.CLAIM, reference=3)
    shown = render(results.useful(results.topics(), reading))
    assert "adds 83 points · `Client.fetch`\n" in shown


def test_claim_is_shown_once_even_if_several_sentences_are_about_it() -> None:
    result = results.useful(results.review())
    shown = " ".join(render(result, width="160").split())
    claim = result.references[0].text
    assert [item.reference for item in result.readings].count(0) > 1
    assert shown.count(claim) == 1
    assert len(re.findall(r"adds \d+ points? · R1", shown)) == len(result.readings)


def test_scores_of_degrees_name_what_they_are_means_of() -> None:
    shown = render(results.learned(results.small()), width="100")
    # (0.41075 + 0.1) / 2 and (0.41075 + 0.155 + 0.33) / 3.
    assert re.search(r"Conciseness +26 .* mean of 2 sentences, 1 on topic", shown)
    assert re.search(r"Comprehensiveness +30 .* mean of 3 pseudo-references; 1 of 3", shown)


def test_hardly_addressed_are_listed_without_numbers() -> None:
    shown = render(results.learned(results.small()))
    assert "Not or hardly addressed (2)" in shown
    assert re.search(r"•  The broad `except Exception`", shown)


def test_reviewers_are_compared_when_there_are_several() -> None:
    shown = render(results.review())
    assert re.search(r"mira +60 +100 +43 +3 of 3 +31\n", shown)
    assert re.search(r"unknown author +0 +0 +0 +0 of 1 +5\n", shown)


def test_narrow_table_shows_complete_names_and_scores() -> None:
    shown = render(results.useful(results.review()), width="60")
    assert re.search(r"Reviewer +Useful +About +Importance", shown)
    assert re.search(r"unknown author +12 \(0–22\) little use +91 +20", shown)


def test_single_reviewer_has_no_table() -> None:
    assert "Reviewer" not in render(results.small())


def test_unaddressed_references_are_listed_with_file_and_line() -> None:
    shown = render(results.review())
    assert "Not addressed (3)" in shown
    assert "•  A setting `proxy` is added to `http`, empty by default.\n" in shown
    assert "     config/settings.toml:3\n" in shown


def test_unaddressed_topic_is_listed_with_its_lines() -> None:
    shown = render(results.topics(), width="100")
    assert "Not addressed (3)" in shown
    assert (
        "•  `HostAuthorization`, new, 110 lines: `HostAuthorization` is new.\n"
        "     src/shop/client.py:12-122\n"
        "  •  `old_fetch`, removed, 2 lines: `old_fetch` was removed.\n"
        "     src/shop/legacy.py:1-2 (before)\n"
    ) in shown


def test_review_that_misses_nothing_has_no_such_list() -> None:
    result = results.small()
    assert "Not addressed" not in render(
        replace(
            result,
            reference_matches=tuple(replace(m, matched=True) for m in result.reference_matches),
        )
    )


def test_number_of_unaddressed_points_is_limited() -> None:
    shown = render(results.large(60))
    assert shown.count("•") == 8
    assert "… and 22 more, in the html and json reports" in shown


def test_abstention_shows_dashes_and_the_reason() -> None:
    shown = render(results.abstained())
    assert shown.startswith("No score: there are no sentences to compare with.\n")
    assert re.search(r"Relevance +– ", shown)


def without_references() -> Result:
    comments = (results.Said(results.Comment(body="b"), ("A sentence.",)),)
    return results.make(results.diff_of(results.LEGACY), (), comments, [])


def test_notes_are_for_stderr_alone() -> None:
    shown = render(results.review())
    assert "Note" not in shown
    assert "One binary file was left out" not in shown


def test_short_signature_is_the_last_line() -> None:
    assert render(results.review()).endswith(f"\n\n{results.SHORT_SIGNATURE}\n")


def test_full_signature_is_the_last_line_if_requested() -> None:
    shown = render(results.review(), signature="true")
    assert shown.endswith(f"\n\n{results.SIGNATURE}\n")


def test_several_results_are_numbered() -> None:
    shown = render(results.review(), results.small())
    assert shown.index("Change 1 of 2") < shown.index("Change 2 of 2")


def test_no_line_is_wider_than_the_terminal() -> None:
    for width in ["40", "60", "80", "120"]:
        for make in [
            results.review,
            results.abstained,
            results.hostile,
            results.flagged,
            results.hostile_useful,
            results.hostile_decided,
            lambda: results.useful(results.review()),
        ]:
            lines = render(make(), width=width).rstrip("\n").split("\n")
            # Breaking a runner's command may add a column.
            assert max(map(cell_len, lines)) <= int(width) + 1


def test_text_without_colour_has_no_escape_sequence() -> None:
    assert "\x1b" not in render(results.hostile())


def test_colour_only_adds_colour_sequences() -> None:
    coloured = render(results.review(), color="true")
    plain = "\n".join(row.rstrip() for row in COLOUR.sub("", coloured).split("\n"))
    assert coloured != plain
    assert plain == render(results.review())


def test_environment_does_not_decide_on_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    assert "\x1b" not in render(results.small())


def test_hostile_text_cannot_command_terminal_or_runner() -> None:
    for width in ("40", "67", "100"):
        for make in [results.hostile, results.hostile_useful, results.hostile_decided]:
            shown = render(make(), width=width, color="true")
            rest = COLOUR.sub("", shown)
            assert not re.search(
                "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", rest
            )
            assert not any(row.lstrip().startswith("::") for row in rest.split("\n"))
            assert "##[" not in rest


@pytest.mark.growth
def test_import_and_render_are_quick() -> None:
    """The promise is 120 ms; the factor leaves room for a busy machine."""
    code = (
        "import numpy, time\n"
        "from tests.helpers import results\n"
        "result = results.review()\n"
        "start = time.perf_counter()\n"
        "from crscore.reports import text\n"
        "text.create()([result])\n"
        "print(time.perf_counter() - start)"
    )
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(runs) < 0.360


def test_full_signature_is_never_wrapped() -> None:
    long = replace(results.small(), signature="crscore|" + "x" * 300)
    assert render(long, width="80", signature="true").endswith("\ncrscore|" + "x" * 300 + "\n")


def test_width_is_kept_in_range() -> None:
    for width, used in [("1", "40"), ("9999", "160")]:
        assert render(results.review(), width=width) == render(results.review(), width=used)


def test_wrong_width_is_refused() -> None:
    for values in ["0", "-5", "wide", ""]:
        with pytest.raises(ConfigError, match="report text: width: Expected `int`"):
            render(width=values)


def test_refuted_remark_comes_first_with_what_the_code_says() -> None:
    shown = render(results.decided(), width="160")
    assert "  The code decides 2 of 6 remarks: 1 confirmed, 1 refuted.\n\n" in shown
    assert (
        "Remarks, refuted ones first, then the most valuable (6)\n"
        "  1  Why three retries?\n"
        "     mira on src/shop/client.py:13-15\n"
        "     refuted · asks for a change · adds nothing · R1: "
    ) in shown
    assert (
        "     says that `fetch` tries three times; the code says: `fetch` tries `retries` times in "
        "line 13 (src/shop/client.py:13)\n"
        "  2  Catching `Exception` here hides real bugs, please catch the network error only.\n"
    ) in shown
    assert "     confirmed: `fetch` catches `Exception` (src/shop/client.py:15)\n  3  " in shown


def test_refuted_remark_has_the_tone_of_a_warning() -> None:
    shown = render(results.decided(), color="true")
    assert "\x1b[1;33m1\x1b[0m  Why three retries?" in shown
    assert "\x1b[2;33msays that \x1b[0m" in shown
    assert "\x1b[2;32mconfirmed: \x1b[0m" in shown


def test_places_of_a_receipt_are_limited_and_may_be_none() -> None:
    (line,) = results.REFUTED.lines
    lines = tuple(replace(line, start=at, end=at) for at in range(1, 6))
    shown = render(results.decided(replace(results.REFUTED, lines=lines)), width="160")
    places = ", ".join(f"src/shop/client.py:{at}" for at in (1, 2, 3))
    assert f"times in line 13 ({places} and 2 more) 2 Catching" in " ".join(shown.split())
    shown = render(results.decided(replace(results.REFUTED, lines=())), width="160")
    assert "`fetch` tries `retries` times in line 13\n" in shown
