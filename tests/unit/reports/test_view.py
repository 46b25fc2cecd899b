import pytest
from msgspec.structs import replace

from crscore.records import (
    Analysis,
    Comment,
    Finding,
    Flag,
    Holds,
    LineSpan,
    Reading,
    RemarkReading,
    Scope,
    ScopeKind,
    Severity,
    Share,
    Side,
    Stance,
    Subject,
    ToolRun,
    ToolState,
    Topic,
    TopicState,
)
from crscore.reports import view
from tests.helpers import results


@pytest.mark.parametrize(("value", "shown"), [(None, "–"), (0.314, "31 %")])
def test_share_is_a_percentage(value: float | None, shown: str) -> None:
    assert view.percent(value) == shown


def test_basis_names_the_counts() -> None:
    # By hand from the matrix: sentence 1 is above 0.65 twice, sentence 2 never.
    rows = view.published_measures(results.small())
    assert [row.basis for row in rows[1:]] == [
        "mean of 2 sentences, 1 on topic",
        "mean of 3 pseudo-references; 2 of 3 points addressed",
    ]


def test_basis_of_a_mean_does_not_read_like_a_share() -> None:
    # Half of each cosine, 0.41 and 0.10 at best: the first is over the decision of 0.35, so is
    # no pseudo-reference but the first.
    rows = view.published_measures(results.learned(results.small()))
    assert [row.basis for row in rows[1:]] == [
        "mean of 2 sentences, 1 on topic",
        "mean of 3 pseudo-references; 1 of 3 points addressed",
    ]
    assert rows[1].value == pytest.approx((0.8215 + 0.2) / 2 / 2)


def test_basis_of_an_abstention_counts_nothing() -> None:
    rows = view.published_measures(results.learned(results.abstained()))
    assert [row.basis for row in rows[1:]] == [
        "mean of 0 sentences, 0 on topic",
        "mean of 2 pseudo-references; 0 of 2 points addressed",
    ]


def test_number_of_a_pair_is_its_degree_or_cosine() -> None:
    small = results.small()
    learned = results.learned(small)
    assert view.strength(small, small.sentence_matches[0]) == "0.82"
    assert view.strength(learned, learned.sentence_matches[0]) == "41"


def test_verdict_says_how_useful_and_against_what() -> None:
    verdict = f"Useful: 83 (63 to 93), better than 83 % of {results.AGAINST}"
    verdict += ", 41 % of the bots'."
    assert view.verdict(results.standing(83)) == verdict
    empty = results.standing(83, importance=0.0)
    assert view.verdict(empty) == f"{verdict} It gives the author nothing to answer."
    assert "better than nearly all of" in view.verdict(results.standing(100))


def test_off_topic_review_is_better_than_nothing() -> None:
    value = results.standing(0, "off topic")
    assert view.verdict(value) == "Off topic: nothing in it is about this change."
    assert view.standing(value) is None
    result = results.useful(results.small(), whole=value)
    assert view.sum_of_value(result) == ""


PRAISE = results.make_reading(Stance.PRAISE, 0.1)
OFF_TOPIC = results.make_reading(about=0.1)


@pytest.mark.parametrize(
    ("readings", "shown"),
    [
        # Shares of 0.4, 0.2, 0.1, 0.05, 0.025 and 0.0125; the largest rests are rounded up.
        (
            (),
            "83 points = 42 for remark 1 (critical) + 21 for remark 2 (major) "
            "+ 11 for remark 3 (minor) + 9 for 3 others",
        ),
        (
            (PRAISE,),
            "83 points = 22 for remark 1 (major) + 11 for remark 2 (minor) "
            "+ 5 for remark 3 (nit) + 4 for 2 others + 41 for 1 remark with little to "
            "answer",
        ),
        ((PRAISE,) * 6, "83 points = 83 for 6 remarks with little to answer"),
    ],
)
def test_standing_is_the_sum_of_the_remarks_points(
    readings: tuple[Reading, ...], shown: str
) -> None:
    assert view.sum_of_value(results.useful(results.review(), *readings)) == shown


def test_remarks_that_are_not_actionable_reduce_the_value() -> None:
    result = results.useful(results.small(), results.make_reading(), PRAISE)
    value = replace(
        result.usefulness, shares=(Share(remark=0, value=0.4), Share(remark=1, value=0.0))
    )
    value = replace(value, value=0.38)
    assert view.sum_of_value(replace(result, usefulness=value)) == (
        "83 points = 87 for remark 1 (critical) − 4 for 1 remark with little to answer"
    )


def test_remarks_with_nothing_to_answer_are_last() -> None:
    ranked = view.rank_remarks(results.useful(results.review(), PRAISE, OFF_TOPIC))
    assert [remark.sentences for remark, _ in ranked[4:]] == [(0,), (1,)]
    assert [view.describe_remark(*item) for item in ranked[3:]] == [
        "nit · asks for a change · adds 1 point",
        "praises · little to answer",
        "asks for a change · not about this change",
    ]
    assert view.rank_remarks(results.review()) == []


def test_topic_of_an_actionable_remark_is_not_listed_as_unaddressed() -> None:
    claim = results.make_reading(subject=Subject.CLAIM, reference=1)
    names = [
        [item.topic.name for _, item in view.list_unaddressed(result) if item.topic]
        for result in (results.topics(), results.useful(results.topics(), claim))
    ]
    assert names == [["HostAuthorization", "old_fetch"], ["old_fetch"]]


def test_importance_is_that_of_the_most_important_actionable_remark() -> None:
    result = results.useful(results.review(), PRAISE)
    assert view.importance(result) == "major: its most important remark"
    nothing = results.useful(results.small(), PRAISE, PRAISE)
    assert view.importance(nothing) == "no remark gives the author something to answer"


def test_remark_is_about_the_first_claim_that_its_sentences_are_about() -> None:
    claim = results.make_reading(subject=Subject.CLAIM, reference=1, about=0.5)
    result = results.useful(results.review(), results.make_reading(), claim)
    remark = replace(result.remarks[0], sentences=(0, 1))
    assert view.find_subject_reading(result, remark) == claim
    assert view.find_subject_reading(result, result.remarks[0]) == result.readings[0]


def test_comment_without_a_text_has_dashes_in_a_table_of_usefulness() -> None:
    result = results.useful(results.small())
    assert view.score_cells(result, result.comments[0]) == ("61 (41–71) useful", "91", "78")
    empty = replace(result.comments[0], usefulness=None)
    assert view.score_cells(result, empty) == ("–", "–", "–")


def test_remark_with_a_limited_worth_says_so() -> None:
    result = results.useful(results.small())
    ((remark, points), *_) = view.rank_remarks(result)
    reading = RemarkReading(
        stance=Stance.REQUEST, importance=2, worth=5, specific=1, acts=1, holds=Holds.OPEN,
        line=None, why="",
    )  # fmt: skip
    limited = replace(remark, worth=3.25, reading=reading)
    told = " · 5 of 5 by a language model, counts as 3.2, as the network's reading allows no more"
    assert view.describe_remark(limited, points) == view.describe_remark(remark, points) + told
    same = replace(remark, worth=5.0, reading=reading)
    assert "language model" not in view.describe_remark(same, points)


def test_flag_of_a_sentence_has_a_mark() -> None:
    assert view.flag(results.flagged(), 2) == "⚑ restates the change"
    assert view.flag(results.flagged(), 0) is None


def test_flags_are_counted_the_most_frequent_first() -> None:
    flags = (None, Flag.HIDDEN, Flag.REPEATS, None, Flag.REPEATS, None)
    shown = view.describe_flags(results.learned(results.review(), flags))
    assert shown == (
        "⚑ 3 sentences flagged: repeats an earlier sentence (2), is hidden from readers (1).",
    )
    assert view.describe_flags(results.review()) == ()


def test_sentences_of_a_reviewer_are_counted_by_the_whole_change() -> None:
    # mira's: half of 0.8123 and 0.7423 is over 0.35, half of 0.6820 is not.
    learned = results.learned(results.review())
    assert view.ratio_of_review(learned, learned.reviews[0]) == "2 of 3"
    assert view.ratio_of_review(results.review(), results.review().reviews[0]) == "3 of 3"


def test_reviewer_who_abstained_has_no_sentence_on_topic() -> None:
    result = results.review()
    lost = replace(result.reviews[0].scores, relevance=None, reason="nothing to say")
    review = replace(result.reviews[0], scores=lost)
    assert view.ratio_of_review(result, review) == "0 of 3"


def test_legend_says_what_the_numbers_are() -> None:
    cosine = view.legend(results.small(), "✓")
    assert "cosine similarity" in cosine
    assert "✓ marks 0.65 or more" in cosine
    degree = view.legend(results.learned(results.small()), "✓")
    assert "The number, from 0 to 100, says how well" in degree
    assert "mean of the sentences' numbers" in degree
    assert "threshold" not in degree


def test_change_is_counted_over_all_files() -> None:
    assert view.describe_size(results.review()) == "3 files changed, +9 −6"


@pytest.mark.parametrize(
    ("span", "shown"),
    [
        (LineSpan(path="a.py", side=Side.NEW, start=3, end=3), "a.py:3"),
        (LineSpan(path="a.py", side=Side.NEW, start=3, end=9), "a.py:3-9"),
        (LineSpan(path="a.py", side=Side.OLD, start=3, end=3), "a.py:3 (before)"),
        (LineSpan(path="", side=Side.NEW, start=3, end=3), "line:3"),
    ],
)
def test_span_is_named_by_path_and_line(span: LineSpan, shown: str) -> None:
    assert view.place(span) == shown


def test_spans_over_the_limit_are_counted() -> None:
    item = results.reference("x", ("a", 1, 1), ("b", 2, 2), ("c", 3, 3))
    assert view.places(item, max_places=2) == "a:1, b:2 and 1 more"


def test_old_side_is_not_named_if_there_is_a_new_side() -> None:
    spans = (
        LineSpan(path="a", side=Side.OLD, start=1, end=1),
        LineSpan(path="a", side=Side.NEW, start=2, end=2),
    )
    item = replace(results.reference("x"), spans=spans)
    assert view.places(item, max_places=2) == "a:2"


def test_reference_without_lines_is_about_the_whole_change() -> None:
    assert view.places(results.reference("x")) == "whole change"


def test_unaddressed_points_are_sorted_by_weight() -> None:
    # 3, 6 and 7 of the list have no similarity above 0.65; 8 is not counted.
    actual = view.list_unaddressed(results.review())
    assert actual == tuple((at, results.REFERENCES[at]) for at in (2, 5, 6))


def test_unaddressed_are_ordered_by_weight() -> None:
    result = results.abstained()
    light, heavy = result.references[1], result.references[0]
    swapped = replace(result, references=(light, heavy))
    assert view.list_unaddressed(swapped) == ((1, heavy), (0, light))


def test_unaddressed_topic_is_one_point_with_the_text_of_its_heaviest_claim() -> None:
    actual = view.list_unaddressed(results.topics())
    assert [(at, item.text, view.places(item)) for at, item in actual] == [
        (
            1,
            "`HostAuthorization`, new, 110 lines: `HostAuthorization` is new.",
            "src/shop/client.py:12-122",
        ),
        (
            4,
            "`old_fetch`, removed, 2 lines: `old_fetch` was removed.",
            "src/shop/legacy.py:1-2 (before)",
        ),
        (6, "The value of `timeout` is 30.", "config/settings.toml:2"),
    ]


def test_topic_is_known_by_its_value() -> None:
    result = results.topics()
    copied = tuple(
        replace(item, topic=item.topic and replace(item.topic)) for item in result.references
    )
    assert view.list_unaddressed(replace(result, references=copied)) == view.list_unaddressed(
        result
    )


def test_topic_without_a_counted_claim_is_not_unaddressed() -> None:
    result = results.topics()
    uncounted = tuple(
        replace(item, counted=item.topic is not results.HOSTS) for item in result.references
    )
    actual = view.list_unaddressed(replace(result, references=uncounted))
    assert results.HOSTS not in [item.topic for _, item in actual]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({}, "`run`, new, 110 lines"),
        ({"state": TopicState.LAYOUT, "lines": 1}, "`run`, only layout, 1 line"),
        ({"state": TopicState.MOVED, "lines": 0}, "`run`, moved"),
        ({"name": ""}, "this class, new, 110 lines"),
        ({"name": "\x00\u200b"}, "this class, new, 110 lines"),
        ({"name": "a`, b\n`c"}, "`a', b 'c`, new, 110 lines"),
        ({"name": "n" * 400}, f"`{'n' * 120}… (+280 characters)`, new, 110 lines"),
    ],
)
def test_topic_is_named_with_state_and_lines(change, shown: str) -> None:
    assert view.label(replace(results.topic("run", ("a.py", 1, 2)), **change)) == shown


@pytest.mark.parametrize(
    ("comment", "shown"),
    [
        (Comment(body=""), "(unattached)"),
        (Comment(body="", path="a"), "a"),
        (Comment(body="", path="a", line=4), "a:4"),
        (Comment(body="", path="a", line=4, start_line=4), "a:4"),
        (Comment(body="", path="a", line=4, start_line=2), "a:2-4"),
        (Comment(body="", path="a", line=4, side=Side.OLD), "a:4 (before)"),
    ],
)
def test_comment_has_its_location(comment: Comment, shown: str) -> None:
    assert view.comment_place(comment) == shown


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        (Scope(kind=ScopeKind.HUNK, path="a", hunk=0), "hunk 1"),
        (Scope(kind=ScopeKind.HUNK, path="a"), "–"),
        (Scope(kind=ScopeKind.FILE, path="a"), "file"),
        (Scope(kind=ScopeKind.DIFF), "whole change"),
    ],
)
def test_scope_is_named(scope: Scope, shown: str) -> None:
    assert view.scope(scope) == shown


def test_reviewer_without_a_name_is_called_unknown() -> None:
    assert (view.author(None), view.author("mira")) == ("unknown author", "mira")


def test_note_of_the_diff_and_of_the_run_is_shown_once() -> None:
    result = replace(results.review(), notes=("One binary file was left out.", "Second."))
    shown = ("One binary file was left out.", "Second.")
    assert view.notes(result) == shown


def test_file_as_a_whole_is_named_without_a_line() -> None:
    span = LineSpan(path="a.py", side=Side.OLD, start=0, end=0)
    assert view.place(span) == "a.py (before)"


def test_comment_that_abstained_says_why_among_the_notes() -> None:
    review = results.review()
    lost = replace(review.comments[0].scores, relevance=None, reason="its file is binary")
    comments = (replace(review.comments[0], scores=lost), *review.comments[1:])
    changed = view.notes(replace(review, comments=comments))
    assert (
        changed[-1] == "No score for the comment on src/shop/client.py:13-15: its file is binary."
    )


def run_of(tool: str, state: ToolState = ToolState.RAN, **more: object) -> ToolRun:
    values = {"version": "1.0", "files": 1} | more
    return ToolRun(tool=tool, state=state, **values)


def finding(**more: object) -> Finding:
    values = {"tool": "ruff", "rule": "F401", "path": "a.py", "line": 1, "end_line": 1}
    values |= {"message": "m", "text": "Unused.", "severity": Severity.NOTE, "in_change": True}
    return Finding(**{**values, **more})


def test_analysis_without_tools_is_not_mentioned() -> None:
    assert view.describe_analysis(Analysis()) == ()


def test_analysis_names_the_tools_that_reported() -> None:
    tools = (run_of("semgrep", files=0), run_of("pmd", ToolState.MISSING, version=None, files=0))
    assert view.describe_analysis(Analysis(tools=tools)) == (
        "Static analysis by semgrep 1.0: 0 of 0 findings counted.",
    )


def test_shortened_reference_has_the_last_name_and_no_file() -> None:
    def short(text: str, about: Topic) -> str:
        return view.shorten_reference(results.reference(text, ("a/b.py", 3, 4), topic=about))

    method = results.topic("A.run", ("a/b.py", 3, 8), lines=5, noun="function")
    assert short("The function `A.run` in `a/b.py` now calls `go`.", method) == (
        "`run` now calls `go`."
    )
    # The suffix of a file is no last name.
    file = results.topic("a/b.py", ("a/b.py", 1, 9), lines=9, noun="file")
    assert short("The new file `a/b.py` (9 lines) defines `A`.", file) == (
        "`b.py` (9 lines) defines `A`."
    )


def test_refuted_remark_comes_first_without_a_level() -> None:
    ranked = view.rank_remarks(results.decided())
    assert [remark.sentences for remark, _ in ranked[:3]] == [(1,), (0,), (2,)]
    assert view.describe_remark(*ranked[0]) == "refuted · asks for a change · adds nothing"
    assert view.describe_remark(*ranked[1]) == "critical · asks for a change · adds 58 points"


def test_title_of_the_remarks_says_how_they_are_ordered() -> None:
    decided, undecided = results.decided().remarks, results.useful(results.review()).remarks
    assert view.remarks_title(decided) == "Remarks, refuted ones first, then the most valuable"
    assert view.remarks_title(undecided) == "Remarks, the most valuable first"


def test_sum_names_refuted_remarks_with_those_with_little_to_answer() -> None:
    result = results.decided()
    shown = view.sum_of_value(result)
    assert shown.startswith("83 points = 58 for remark 2 (critical) + 15 for remark 3 (minor)")
    assert shown.endswith(" − 3 for 1 remark refuted or with little to answer")
    remarks = (*result.remarks[:-1], replace(result.remarks[-1], actionable=0.1))
    shown = view.sum_of_value(replace(result, remarks=remarks))
    assert shown.endswith(" − 1 for 2 remarks refuted or with little to answer")


def test_remarks_with_a_verdict_are_counted() -> None:
    result = results.decided()
    assert view.count_verdicts(result) == "The code decides 2 of 6 remarks: 1 confirmed, 1 refuted."
    single = replace(result, remarks=result.remarks[1:2])
    assert view.count_verdicts(single) == "The code decides 1 of 1 remark: 1 refuted."
    assert view.count_verdicts(results.useful(results.review())) == ""
