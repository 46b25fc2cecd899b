from itertools import pairwise

import pytest
from msgspec.structs import replace

from crscore.pull_request import overview
from crscore.pull_request.overview import Overview
from crscore.records import Importance, ReferenceKind, Severity, Side, Verdict
from crscore.reports import json, view
from tests.helpers import overviews, results


def of(result, people=overviews.PEOPLE, notes=(), **changes) -> Overview:
    return overview.make_overview(overviews.pull(result, **changes), result, people, notes)


def test_the_pull_request_is_named() -> None:
    actual = overviews.review()
    assert (actual.repository, actual.number, actual.url) == ("octo/shop", 12, overviews.URL)
    assert (actual.head, actual.schema) == (overviews.HEAD, "urn:crscore:pull:4")


def test_all_reviewers_together_come_with_counts() -> None:
    whole = overviews.review().together
    # By hand, from the helper's matrix: 4 of 6, 4 of 7, harmonic mean 8/13.
    assert whole.relevance == pytest.approx(8 / 13)
    assert (whole.on_topic, whole.sentences) == (4, 6)
    assert (whole.addressed, whole.unaddressed, whole.points) == (4, 3, 7)


def test_each_reviewer_has_own_scores_and_threads() -> None:
    mira, bot = overviews.review().reviewers
    assert (mira.name, mira.conciseness, mira.sentences, mira.comments) == ("mira", 1.0, 3, 2)
    assert (mira.threads, mira.resolved) == (2, 1)
    assert (bot.is_bot, bot.resolved, bot.outdated) == (True, None, 1)


def test_reviewer_without_a_review_has_a_reason_and_no_zero() -> None:
    row = of(results.review(), (overviews.person("silent"),)).reviewers[0]
    assert (row.relevance, row.conciseness, row.comprehensiveness) == (None, None, None)
    assert row.reason == "nothing to score was written"


def test_abstention_keeps_its_reason() -> None:
    whole = of(results.abstained(), ()).together
    assert (whole.relevance, whole.reason) == (None, "there are no sentences to compare with")
    assert (whole.addressed, whole.unaddressed, whole.points) == (0, 2, 2)


def test_points_without_severity_are_sorted_by_weight() -> None:
    weights = [point.weight for point in of(results.large()).open]
    assert len(weights) == 30
    assert all(a >= b for a, b in pairwise(weights))


@pytest.mark.parametrize("make", [results.review, results.topics, results.flagged])
def test_all_reports_count_the_same_points(make) -> None:
    result = make()
    whole = of(result, ()).together
    points = json.document(result).points
    assert [point.addressed for point in points].count(True) == whole.addressed
    assert len(points) == whole.points == whole.addressed + whole.unaddressed
    assert len(view.list_unaddressed(result)) == whole.unaddressed


def test_unaddressed_topic_is_one_point_at_its_lines() -> None:
    actual = of(results.topics(), ())
    whole = actual.together
    assert (whole.addressed, whole.unaddressed, whole.points) == (1, 3, 4)
    new, removed, single = actual.open
    assert new.text == "`HostAuthorization`, new, 110 lines: `HostAuthorization` is new."
    assert (new.path, new.side, new.line, new.end_line) == (
        "src/shop/client.py", Side.NEW, 12, 122,
    )  # fmt: skip
    assert removed.text.startswith("`old_fetch`, removed, 2 lines: ")
    assert (removed.path, removed.side, removed.line) == ("src/shop/legacy.py", Side.OLD, 1)
    assert (single.text, single.line) == ("The value of `timeout` is 30.", 2)


def test_error_of_a_tool_comes_before_a_heavier_claim() -> None:
    result = overviews.analysed()
    nobody = tuple(replace(match, matched=False) for match in result.reference_matches)
    first, second, *_ = of(replace(result, reference_matches=nobody)).open
    assert (first.kind, first.severity) == (ReferenceKind.ISSUE, Severity.ERROR)
    assert (first.source, first.line, first.end_line) == ("pylint+ruff", 15, 15)
    assert first.weight < second.weight


def test_warning_comes_after_error_and_note_by_its_weight() -> None:
    result = overviews.analysed()
    nobody = tuple(replace(match, matched=False) for match in result.reference_matches)

    def kinds(severity: Severity) -> list[ReferenceKind]:
        actual = tuple(replace(item, severity=severity) for item in result.analysis.findings)
        analysis = replace(result.analysis, findings=actual)
        return [
            point.kind
            for point in of(replace(result, reference_matches=nobody, analysis=analysis)).open[:2]
        ]

    assert kinds(Severity.WARNING) == [ReferenceKind.ISSUE, ReferenceKind.CLAIM]
    # 0.95 is less than the first claim's 1.0.
    assert kinds(Severity.NOTE) == [ReferenceKind.CLAIM, ReferenceKind.ISSUE]


def test_point_on_the_old_side_of_a_rename_is_listed_under_the_new_path() -> None:
    file = replace(results.CLIENT, path="src/new.py", old_path="src/shop/client.py")
    reference = results.reference("Gone.", ("src/shop/client.py", 41, 42), side=Side.OLD)
    result = results.make(results.diff_of(file), [reference], (), [[]])
    (point,) = of(result, ()).open
    assert (point.path, point.listed, point.side) == ("src/shop/client.py", "src/new.py", Side.OLD)


def test_lines_of_the_new_side_are_preferred() -> None:
    spans = (
        *results.reference("x", ("a.py", 1, 2), side=Side.OLD).spans,
        *results.reference("x", ("a.py", 5, 6)).spans,
    )
    reference = replace(results.reference("x"), spans=spans)
    result = results.make(results.diff_of(results.CLIENT), [reference], (), [[]])
    (point,) = of(result, ()).open
    assert (point.side, point.line, point.end_line) == (Side.NEW, 5, 6)


def test_point_on_the_whole_change_has_no_place() -> None:
    (point,) = [item for item in overviews.review().open if "legacy" in item.text]
    assert (point.path, point.listed, point.line) == (None, None, 0)


@pytest.mark.parametrize("path", ["a\u202eb.py", "a\nb.py", "a\x1b[31mb.py", "a\ud800b.py"])
def test_path_that_cannot_be_named_is_shown_clean_and_not_linked(path: str) -> None:
    reference = results.reference("Text.", (path, 3, 4))
    result = results.make(results.diff_of(results.CLIENT), [reference], (), [[]])
    (point,) = of(result, ()).open
    assert point.listed is None
    assert point.path is not None
    assert overview.is_plain(point.path)


def test_amounts_are_cut_and_what_is_left_out_is_counted() -> None:
    people = [overviews.person(f"p{i}") for i in range(205)]
    actual = of(results.large(1_200), people, [f"note {i}" for i in range(150)])
    assert (len(actual.reviewers), actual.other_reviewers) == (200, 5)
    assert (len(actual.open), actual.together.unaddressed) == (500, 600)
    assert (len(actual.notes), actual.notes[-1]) == (100, "And 51 more, left out here.")


def test_long_texts_are_cut_with_a_note() -> None:
    actual = of(results.review(), (overviews.person("n" * 500),), title="t" * 9_000)
    assert len(actual.title) <= 2_000
    assert actual.title.endswith("characters)")
    assert len(actual.reviewers[0].name) <= 100


def test_what_is_missing_makes_it_partial() -> None:
    actual = of(results.review(), missing=("2 of 3 pages of comments could not be read.",))
    assert actual.partial
    assert actual.missing == ("2 of 3 pages of comments could not be read.",)
    assert not overviews.review().partial


def test_notes_are_those_of_the_host_the_run_and_the_result_each_once() -> None:
    actual = of(results.flagged(), notes=("Left out: ci-bot.",))
    assert actual.notes[0] == "Left out: ci-bot."
    assert actual.notes[1].startswith("⚑ 4 sentences flagged: ")
    assert "One binary file was left out." in actual.notes
    twice = overview.make_overview(
        overviews.pull(results.small(), notes=("Same.",)), results.small(), (), ("Same.",)
    )
    assert twice.notes.count("Same.") == 1


def test_usefulness_comes_with_its_verdict_for_all_and_for_each() -> None:
    actual = overviews.useful_review()
    whole = actual.together.usefulness
    assert whole is not None
    assert (whole.standing, whole.word, whole.about, whole.importance) == (83, "useful", 0.91, 0.78)
    assert whole.verdict.startswith(
        f"Useful: 83 (63 to 93), better than 83 % of {results.AGAINST}, 41 % of the bots'. "
        "83 points = "
    )
    mira = actual.reviewers[0].usefulness
    assert mira is not None
    assert (mira.standing, mira.word) == (12, "little use")
    verdict = f"Little use: 12 (0 to 22), better than 12 % of {results.AGAINST}"
    assert mira.verdict == f"{verdict}, 6 % of the bots'."
    assert overviews.review().together.usefulness is None


def test_remarks_are_at_the_places_of_their_comments() -> None:
    first, *_, last = overviews.useful_review().remarks
    assert first.text.startswith("Catching `Exception` here")
    assert first.facts == "critical · asks for a change · adds 42 points"
    assert (first.reviewer, first.listed, first.line, first.end_line) == (
        "mira", "src/shop/client.py", 13, 15,
    )  # fmt: skip
    # It is attached to nothing: the place is that of its claim.
    assert (last.reviewer, last.path, last.line) == ("unknown author", "src/shop/client.py", 11)
    assert overviews.review().remarks == ()


def test_reviewer_without_a_review_has_no_usefulness() -> None:
    row = of(results.useful(results.review()), (overviews.person("silent"),)).reviewers[0]
    assert row.usefulness is None


def test_refuted_remark_comes_first_with_its_proof() -> None:
    actual = overviews.decided()
    refuted, confirmed, unproven, *_ = actual.remarks
    assert (refuted.text, refuted.level) == ("Why three retries?", None)
    assert refuted.facts == "refuted · asks for a change · adds nothing"
    assert refuted.receipt is not None
    assert (refuted.receipt.verdict, refuted.receipt.says) == (
        Verdict.REFUTED, "`fetch` tries three times",
    )  # fmt: skip
    (place,) = refuted.receipt.lines
    assert (place.path, place.listed, place.line) == ("src/shop/client.py",) * 2 + (13,)
    assert confirmed.receipt is not None
    assert (confirmed.receipt.verdict, confirmed.level) == (Verdict.CONFIRMED, Importance.CRITICAL)
    assert unproven.receipt is None


def test_verdict_says_how_many_remarks_the_code_decides() -> None:
    useful = overviews.decided().together.usefulness
    assert useful is not None
    assert useful.verdict.endswith(
        "refuted or with little to answer. The code decides 2 of 6 remarks: 1 confirmed, 1 refuted."
    )


def test_places_of_a_proof_are_cut() -> None:
    receipt = replace(results.REFUTED, lines=results.REFUTED.lines * 5)
    (first, *_) = of(results.decided(receipt)).remarks
    assert first.receipt is not None
    assert len(first.receipt.lines) == overview.MAX_PROOF_PLACES
