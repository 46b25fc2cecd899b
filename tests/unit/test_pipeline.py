"""The straight path and every empty side, with claims and vectors set by hand."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest
from msgspec import structs
from msgspec.structs import replace

from crscore import pipeline
from crscore.diff import parse
from crscore.encoders.minilm import MiniLM
from crscore.matchers.base import Cells, Judgement, Matcher
from crscore.matchers.published import Published
from crscore.records import (
    Analysis,
    Claims,
    Comment,
    Diff,
    Effect,
    Finding,
    Flag,
    LineSpan,
    Position,
    PseudoReference,
    ReferenceKind,
    Result,
    ScopeKind,
    Severity,
    Side,
    ToolRun,
    ToolState,
    Topic,
    TopicState,
)
from crscore.usefulness.reader import Reader
from tests.helpers import useful

PATCH = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1 +1 @@
-x = 1
+x = 2
@@ -10 +10 @@
-y = 1
+y = 2
diff --git a/b.py b/b.py
--- a/b.py
+++ b/b.py
@@ -1 +1 @@
-z = 1
+z = 2
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
"""
DIFF = parse.parse_diff(PATCH)


class Words:
    """One axis a word: texts that share words are similar, and the cosine is easy to see."""

    identity = "words"

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(tuple(texts))
        words = ["alpha", "beta", "gamma", "other"]
        rows = np.array([[w in t.lower().strip(".").split() for w in words] for t in texts], float)
        return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)).astype("f4")


class Fixed:
    """Gives the same claims for every diff, and counts the calls."""

    identity = "fixed"

    def __init__(self, *references: PseudoReference) -> None:
        self.references = references
        self.seen: list[int] = []

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        self.seen.append(len(diffs))
        return tuple(Claims(references=self.references, notes=("a note.",)) for _ in diffs)


def about(name: str, path: str, line: int, weight: float = 1.0) -> PseudoReference:
    return PseudoReference(
        text=name,
        kind=ReferenceKind.CLAIM,
        source="fixed",
        spans=(LineSpan(path=path, side=Side.NEW, start=line, end=line),),
        weight=weight,
    )


CLAIMS = (about("alpha", "a.py", 1), about("beta", "a.py", 10), about("gamma", "b.py", 1))


class Halves:
    """Gives half of the cosine; hidden text of one word is left out, more of it is odd."""

    identity = "halves"

    def match(self, cells: Cells) -> Judgement:
        return Judgement(
            degrees=(np.maximum(cells.similarity, 0) / 2).astype(np.float32),
            decision=0.5,
            flags=tuple(Flag.HIDDEN if one.hidden else None for one in cells.sentences),
            in_review=tuple(not one.hidden or " " in one.text for one in cells.sentences),
        )


Analyzing = AbstractContextManager[Callable[[], tuple[Analysis, ...]]]


class Silent:
    """Finds nothing wrong."""

    def analyzing(self, diffs: Sequence[Diff]) -> Analyzing:
        return nullcontext(lambda: tuple(Analysis() for _ in diffs))


def parts(
    *claims: PseudoReference, limit: int | None = 12, matcher: Matcher | None = None
) -> pipeline.Parts:
    return pipeline.Parts(
        generator=Fixed(*claims),
        analyzers=Silent(),
        encoder=Words(),
        matcher=matcher or Published(threshold=0.5),
        reader=None,
        splitter="markdown",
        max_claims=limit,
        max_issues=3,
        threshold=None if matcher else 0.5,
        signature={"version": "test"},
    )


class Finds:
    """Gives the same findings for every diff."""

    def __init__(self, *findings: Finding, state: ToolState = ToolState.RAN) -> None:
        run = ToolRun(tool="toy", version="1.2", state=state, files=1)
        self.analysis = Analysis(findings=findings, tools=(run,), notes=("found.",))

    def analyzing(self, diffs: Sequence[Diff]) -> Analyzing:
        return nullcontext(lambda: tuple(self.analysis for _ in diffs))


def finding(text: str, path: str, line: int, **marks: bool) -> Finding:
    return Finding(
        tool="toy",
        rule="r",
        path=path,
        line=line,
        end_line=line,
        message=text,
        text=text,
        severity=Severity.WARNING,
        **({"in_change": True} | marks),
    )


def score(*comments: Comment | str, claims=CLAIMS, limit: int | None = 12, change=DIFF) -> Result:
    texts = tuple(Comment(body=c) if isinstance(c, str) else c for c in comments)
    return pipeline.run([pipeline.ReviewedChange(change, texts)], parts(*claims, limit=limit))[0]


def test_review_is_scored_by_the_published_formulas() -> None:
    # Of alpha, beta, other 2 of 3 are on topic; of alpha, beta, gamma 2 of 3 are addressed.
    found = score("Alpha. Beta. Other.")
    assert found.conciseness == pytest.approx(2 / 3)
    assert found.comprehensiveness == pytest.approx(2 / 3)
    assert found.relevance == pytest.approx(2 / 3)


def test_matrix_has_a_row_per_reference_and_a_column_per_sentence() -> None:
    found = score("Alpha. Other.")
    assert found.similarity.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_matches_name_the_best_partners() -> None:
    found = score("Beta. Other.")
    assert [(m.index, m.matched) for m in found.sentence_matches] == [(1, True), (0, False)]
    assert [(m.index, m.matched) for m in found.reference_matches][1] == (0, True)


def test_name_of_a_claims_code_addresses_the_claim_without_a_score() -> None:
    topic = Topic(
        name="Cart.add_item", noun="method", state=TopicState.CHANGED, lines=1,
        place=LineSpan(path="a.py", side=Side.NEW, start=1, end=1),
    )  # fmt: skip
    claims = (about("beta", "a.py", 10), replace(about("gamma", "a.py", 1), topic=topic))
    found = score("Call `add_item` twice.", claims=claims)
    assert [(m.index, m.degree, m.matched) for m in found.sentence_matches] == [(1, 0.0, True)]
    assert [m.matched for m in found.reference_matches] == [False, True]
    assert (found.conciseness, found.comprehensiveness) == (0.0, 0.0)


def test_unattached_comment_is_scored_against_the_whole_diff() -> None:
    (comment,) = score("Alpha.").comments
    assert comment.scope.kind is ScopeKind.DIFF
    assert comment.scores.comprehensiveness == pytest.approx(1 / 3)


def test_comment_on_a_hunk_is_scored_against_that_hunk() -> None:
    (comment,) = score(Comment(body="Alpha.", path="a.py", line=1)).comments
    assert (comment.scores.conciseness, comment.scores.comprehensiveness) == (1.0, 1.0)
    assert comment.references == (0,)


def test_comment_on_the_wrong_hunk_addresses_nothing_there() -> None:
    (comment,) = score(Comment(body="Beta.", path="a.py", line=1)).comments
    assert comment.scores.relevance == 0.0


def test_review_of_attached_comments_is_scored_against_the_whole_diff() -> None:
    found = score(Comment(body="Alpha.", path="a.py", line=1), Comment(body="other.", path="b.py"))
    assert found.conciseness == pytest.approx(1 / 2)
    assert found.comprehensiveness == pytest.approx(1 / 3)


def test_hunk_without_claims_falls_back_to_its_file() -> None:
    comment = Comment(body="Alpha.", path="a.py", line=10)
    found = score(comment, claims=(CLAIMS[0], CLAIMS[2])).comments[0]
    assert (found.scope.kind, found.references) == (ScopeKind.FILE, (0,))


def test_file_without_claims_abstains() -> None:
    found = score(Comment(body="Gamma.", path="b.py", line=1), claims=CLAIMS[:2]).comments[0]
    assert (found.scores.relevance, found.scores.reason) == (None, "no pseudo-references for b.py")


def test_comment_outside_the_diff_abstains() -> None:
    found = score(Comment(body="Alpha.", path="c.py", line=1)).comments[0]
    assert found.scores.relevance is None
    assert "c.py, which the diff does not change" in (found.scores.reason or "")


def test_comment_on_a_binary_file_abstains() -> None:
    found = score(Comment(body="Alpha.", path="logo.png")).comments[0]
    assert found.scores.relevance is None
    assert "binary" in (found.scores.reason or "")


def test_only_binary_files_abstain() -> None:
    change = parse.parse_diff(PATCH[PATCH.index("diff --git a/logo") :])
    found = score("Alpha.", change=change)
    assert found.relevance is None
    assert "binary" in (found.scores.reason or "")


@pytest.mark.parametrize("text", ["", "   \n", "```\n...\n```"])
def test_review_without_a_sentence_abstains(text: str) -> None:
    found = score(text)
    assert (found.relevance, found.scores.reason) == (None, "no sentence in the review text")
    assert found.scores.references == 3


def test_no_comment_at_all_abstains() -> None:
    found = score()
    assert (found.relevance, found.reviews, found.comments) == (None, (), ())


def test_change_without_claims_abstains() -> None:
    found = score("Alpha.", claims=())
    assert (found.relevance, found.scores.reason) == (None, "no pseudo-references for the diff")
    assert found.sentence_matches[0].index is None


def test_authors_are_scored_separately_and_together() -> None:
    found = score(
        Comment(body="Alpha.", author="ann"),
        Comment(body="other.", author="bot"),
        Comment(body="Beta.", author="ann"),
    )
    assert [(r.author, r.comments) for r in found.reviews] == [("ann", (0, 2)), ("bot", (1,))]
    assert [r.scores.conciseness for r in found.reviews] == [1.0, 0.0]
    assert found.conciseness == pytest.approx(2 / 3)


def test_claims_over_the_limit_do_not_count_for_the_diff() -> None:
    found = score("Alpha.", limit=1)
    assert (found.comprehensiveness, len(found.references)) == (1.0, 1)


def test_claims_over_the_limit_count_for_a_comment_on_their_hunk() -> None:
    found = score(Comment(body="Beta.", path="a.py", line=10), limit=1)
    assert found.comments[0].scores.relevance == 1.0
    assert [ref.counted for ref in found.references] == [True, False]
    assert found.comprehensiveness == 0.0


def test_suggested_code_is_kept_separate_and_described_in_one_sentence() -> None:
    body = "Alpha.\n\n```suggestion\nx = 3\n```\n"
    found = score("Other.", Comment(body=body, path="a.py", line=1), "<!-- unseen -->")
    assert [(s.text, s.comment, s.proposal, s.hidden) for s in found.sentences] == [
        ("Other.", 0, False, False),
        ("Alpha.", 1, False, False),
        ("change `x = 2` to `x = 3`", 1, True, False),
    ]
    (suggestion,) = found.comments[1].suggestions
    assert (suggestion.code, suggestion.applies, suggestion.parses) == ("x = 3", True, True)
    assert suggestion.effect is Effect.BEHAVIOUR
    assert found.comments[1].sentences == (1, 2)


def test_comment_without_words_is_scored_by_its_suggestion() -> None:
    found = score(Comment(body="```suggestion\nalpha \n```", path="b.py", line=1))
    assert [s.text for s in found.sentences] == ["change `z = 2` to `alpha`"]
    assert found.comments[0].scores.reason is None


def test_comment_without_a_path_is_on_the_only_file() -> None:
    change = parse.parse_diff("@@ -1 +1 @@\n-x = 1\n+x = 2\n")
    found = score("```suggestion\nx = 3\n```", change=change)
    assert [s.text for s in found.sentences] == ["change `x = 2` to `x = 3`"]
    assert score("```suggestion\nx = 3\n```").sentences[0].text == "use `x = 3`"


def test_published_splitter_ignores_proposals() -> None:
    made = replace(parts(*CLAIMS), splitter="paper")
    pair = pipeline.ReviewedChange(DIFF, (Comment(body="`a` -> `b`\n```suggestion\nx\n```"),))
    found = pipeline.run([pair], made)[0]
    assert [s.text for s in found.sentences] == ["`a` -> `b`", "```suggestion", "x", "```"]
    assert not any(s.proposal for s in found.sentences)


def test_notes_of_the_diff_and_the_claims_reach_the_result() -> None:
    assert "a note." in score("Alpha.").notes


def test_many_pairs_generate_claims_once_per_diff_and_encode_equal_texts_once() -> None:
    made = parts(*CLAIMS)
    pairs = [
        pipeline.ReviewedChange(DIFF, (Comment(body=text),))
        for text in ("Alpha.", "Alpha. Beta.", "Gamma.")
    ]
    results = pipeline.run(pairs, made)
    assert made.generator.seen == [1]
    of_changes, of_reviews = made.encoder.calls
    encoded = [*of_changes, *of_reviews]
    assert sorted(encoded) == sorted(set(encoded))
    assert [r.comprehensiveness for r in results] == pytest.approx([1 / 3, 2 / 3, 1 / 3])


def test_result_of_a_pair_is_the_same_alone_and_among_others() -> None:
    pairs = [
        pipeline.ReviewedChange(DIFF, (Comment(body=text),))
        for text in ("Alpha.", "Alpha. Beta. Other.")
    ]
    together = pipeline.run(pairs, parts(*CLAIMS))[1]
    assert together.scores == score("Alpha. Beta. Other.").scores


def test_no_pairs_have_no_results() -> None:
    assert pipeline.run([], parts()) == ()


def test_encoder_reads_the_field_reading_of_a_reference() -> None:
    spoken = replace(CLAIMS[0], text="`a` := 1", reading="alpha")
    assert score("Alpha.", claims=(spoken,)).relevance == 1.0


def judged(*texts: str) -> Result:
    pair = pipeline.ReviewedChange(DIFF, tuple(Comment(body=text) for text in texts))
    return pipeline.run([pair], parts(*CLAIMS, matcher=Halves()))[0]


def test_scores_of_a_matcher_with_degrees_are_their_means() -> None:
    # alpha and beta reach 1/2 each, other nothing; of the three claims two do.
    found = judged("Alpha. Beta. Other.")
    assert found.conciseness == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert found.comprehensiveness == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert found.scores.matched_sentences == 1.0
    assert found.threshold is None


def test_degree_at_the_decision_is_matched() -> None:
    found = judged("Alpha. Alpha beta.")
    # "alpha beta" has cosine 0.707 with each of the two.
    assert [(m.index, m.matched) for m in found.sentence_matches] == [(0, True), (0, False)]
    assert found.sentence_matches[1].degree == pytest.approx(0.7071 / 2, abs=1e-4)
    assert found.sentence_matches[1].similarity == pytest.approx(0.7071, abs=1e-4)


def test_hidden_text_that_a_matcher_keeps_follows_its_comment() -> None:
    found = judged("Alpha.<!-- beta gamma -->", "Other.<!-- marker -->")
    shown = [(one.text, one.comment, one.hidden) for one in found.sentences]
    assert shown == [("Alpha.", 0, False), ("beta gamma", 0, True), ("Other.", 1, False)]
    assert found.sentence_flags == (None, Flag.HIDDEN, None)
    assert found.similarity.shape == found.degrees.shape == (3, 3)
    assert found.comments[0].sentences == (0, 1)


def test_published_matcher_leaves_hidden_text_out() -> None:
    found = score("Alpha.<!-- beta gamma -->")
    assert [one.text for one in found.sentences] == ["Alpha."]
    assert found.sentence_flags == (None,)


# Remarks


NETWORK = useful.scripted(lambda _: useful.outputs(actionable=0.9))
READER = Reader(useful.weights(network=NETWORK), MiniLM(offline=True))
"""Finds that each sentence is actionable, and may be about the change."""


def read(*texts: str, change: Diff = DIFF) -> Result:
    pair = pipeline.ReviewedChange(change, tuple(Comment(body=text) for text in texts))
    return pipeline.run([pair], replace(parts(*CLAIMS, matcher=Halves()), reader=READER))[0]


def test_review_of_only_binary_files_has_no_usefulness() -> None:
    result = read("Alpha.", change=parse.parse_diff(PATCH[PATCH.index("diff --git a/logo") :]))
    assert "binary" in (result.scores.reason or "")
    assert (result.usefulness, result.comments[0].usefulness) == (None, None)
    assert (result.readings, result.remarks) == ((), ())


def test_remarks_name_the_sentences_of_the_result() -> None:
    result = read("- Alpha.<!-- beta gamma -->\n- Beta.", "# Other\n\nGamma.\n\n`alpha` -> `beta`")
    texts = [[result.sentences[at].text for at in remark.sentences] for remark in result.remarks]
    assert texts == [["Alpha."], ["Beta."], ["Gamma.", "change `alpha` to `beta`"]]
    assert [remark.comment for remark in result.remarks] == [0, 0, 1]
    assert len(result.readings) == len(result.sentences)


def test_sentences_keep_their_positions() -> None:
    result = read("# Alpha\n\nBeta. Gamma.\n\nBeta.")
    assert [sentence.position for sentence in result.sentences] == [
        Position(0, is_heading=True),
        Position(1),
        Position(1),
        Position(2),
    ]


def test_published_splitter_reads_one_block() -> None:
    made = replace(parts(*CLAIMS), splitter="paper")
    (result,) = pipeline.run([pipeline.ReviewedChange(DIFF, (Comment(body="Alpha\nbeta"),))], made)
    assert [sentence.position for sentence in result.sentences] == [Position()] * 2


def test_comment_without_text_has_no_remark() -> None:
    result = read("Alpha.", "<!-- beta gamma -->", "")
    assert [remark.comment for remark in result.remarks] == [0]
    assert [item.usefulness is None for item in result.comments] == [False, True, True]
    assert result.usefulness.against.endswith("reviews by people and bots")


def test_texts_of_all_pairs_are_read_together() -> None:
    calls: list[tuple[str, ...]] = []

    class Counts(useful.ScriptedNetwork):
        def read(self, texts: Sequence[str], encoder: MiniLM) -> np.ndarray:
            calls.append(tuple(texts))
            return super().read(texts, encoder)

    weights = useful.weights(network=Counts(**structs.asdict(NETWORK)))
    made = replace(parts(*CLAIMS), reader=replace(READER, weights=weights))
    pairs = [
        pipeline.ReviewedChange(DIFF, (Comment(body=text),))
        for text in ("Alpha.", "Beta.", "Alpha.")
    ]
    results = pipeline.run(pairs, made)
    # One call for the sentences; a remark of one sentence is not read again.
    assert calls == [("Alpha.", "Beta.")]
    assert results[0].remarks == results[2].remarks


def test_matrices_cannot_be_written_to() -> None:
    found = judged("Alpha.")
    with pytest.raises(ValueError, match="read-only"):
        found.degrees[0, 0] = 1


# Findings


def analysed(*findings: Finding, said: tuple[Comment | str, ...] = ("Gamma.",), **more) -> Result:
    texts = tuple(Comment(body=c) if isinstance(c, str) else c for c in said)
    made = replace(parts(*more.pop("claims", CLAIMS[:1])), **more)
    if "analyzers" not in more:
        made = replace(made, analyzers=Finds(*findings))
    return pipeline.run([pipeline.ReviewedChange(DIFF, texts)], made)[0]


def test_finding_on_a_changed_line_is_a_reference() -> None:
    found = analysed(finding("gamma", "b.py", 1))
    assert [(one.text, one.kind) for one in found.references] == [
        ("alpha", ReferenceKind.CLAIM),
        ("gamma", ReferenceKind.ISSUE),
    ]
    assert found.comprehensiveness == pytest.approx(1 / 2)
    assert found.conciseness == 1.0


@pytest.mark.parametrize("marks", [{"in_change": False}, {"pre_existing": True}])
def test_finding_outside_the_change_is_no_reference(marks) -> None:
    found = analysed(finding("gamma", "b.py", 1, **marks))
    assert [one.text for one in found.references] == ["alpha"]
    assert [one.counted for one in found.analysis.findings] == [False]


def test_comment_on_a_hunk_is_compared_with_the_issues_of_that_hunk() -> None:
    issues = (finding("beta", "a.py", 10), finding("gamma", "a.py", 1))
    on = Comment(body="Beta.", path="a.py", line=10)
    found = analysed(*issues, said=(on,))
    (comment,) = found.comments
    assert [found.references[index].text for index in comment.references] == ["beta"]
    assert comment.scores.relevance == 1.0


def test_issues_do_not_use_up_the_limit_of_claims() -> None:
    issues = (finding("beta", "a.py", 10), finding("gamma", "b.py", 1))
    found = analysed(*issues, claims=CLAIMS, max_claims=1)
    assert [one.text for one in found.references if one.counted] == ["alpha", "beta", "gamma"]


def test_issues_of_a_hunk_are_limited() -> None:
    issues = [finding(word, "a.py", 1) for word in ("alpha", "beta", "gamma")]
    found = analysed(*issues, claims=(), max_issues=2)
    assert len(found.references) == 2
    assert [one.counted for one in found.analysis.findings].count(True) == 2


def test_signature_names_the_tools_and_what_is_partial() -> None:
    assert analysed().signature == "crscore|version:test|claims:fixed|analyzers:toy@1.2"
    lost = analysed(analyzers=Finds(state=ToolState.MISSING))
    assert lost.signature == "crscore|version:test|claims:fixed|analyzers:partial"
    none = analysed(analyzers=Silent()).signature
    assert none == "crscore|version:test|claims:fixed|analyzers:none"


def test_notes_of_the_analysis_are_in_the_result() -> None:
    assert "found." in analysed().notes


def test_implication_that_repeats_an_issue_is_left_out_once_per_diff() -> None:
    both = replace(about("gamma", "b.py", 1), kind=ReferenceKind.IMPLICATION)
    made = replace(parts(CLAIMS[0], both), analyzers=Finds(finding("gamma", "b.py", 1)))
    pairs = [
        pipeline.ReviewedChange(DIFF, (Comment(body=text),))
        for text in ("Alpha.", "Beta.", "Gamma.")
    ]
    for found in pipeline.run(pairs, made):
        assert [one.kind for one in found.references] == [
            ReferenceKind.CLAIM,
            ReferenceKind.ISSUE,
        ]
    # One call to compare, two for all that is scored: the changes and the reviews.
    assert len(made.encoder.calls) == 3


OLDER = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -30 +30 @@\n-w = 1\n+w = 2\n")


class ByVersion(Fixed):
    """Claims `gamma` of the older version and the given claims of every other change."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        older = (about("gamma", "a.py", 30),)
        return tuple(Claims(references=older if one == OLDER else self.references) for one in diffs)


def judge_outdated(
    *bodies: str, matcher: Matcher | None = None, reader: Reader | None = None
) -> Result:
    """Score comments, the first of which was written on an older version."""
    made = replace(parts(matcher=matcher), generator=ByVersion(*CLAIMS[:2]), reader=reader)
    texts = tuple(
        Comment(body=body, path="a.py", line=30 if index == 0 else 1, outdated=index == 0)
        for index, body in enumerate(bodies)
    )
    return pipeline.run([pipeline.ReviewedChange(DIFF, texts, {0: OLDER})], made)[0]


def test_comment_on_an_older_version_is_scored_against_that_version() -> None:
    item = judge_outdated("Gamma.").comments[0]
    assert (item.scope.kind, item.scores.relevance) == (ScopeKind.ORIGINAL, 1.0)
    assert item.references == ()


def test_sentence_on_an_older_version_counts_without_addressing_this_version() -> None:
    result = judge_outdated("Gamma.", "Alpha.")
    assert (result.conciseness, result.comprehensiveness) == (1.0, 0.5)
    assert (result.sentence_matches[0].index, result.sentence_matches[0].matched) == (None, True)


def test_comment_on_an_older_version_can_address_this_version() -> None:
    result = judge_outdated("Beta.")
    assert result.comprehensiveness == 0.5
    assert result.comments[0].scores.relevance == 0.0


def test_older_version_does_not_raise_other_comments() -> None:
    result = judge_outdated("Other.", "Gamma.")
    assert result.conciseness == 0.0


def test_comment_on_an_older_version_has_the_usefulness_that_it_has_there() -> None:
    bodies = ("Alpha.\n\n- Gamma.\n- Beta.", "Alpha.")
    result = judge_outdated(*bodies[::-1], reader=READER)
    alone = read(*bodies[1:], change=OLDER)
    outdated, other = (item.usefulness for item in result.comments)
    assert outdated == alone.comments[0].usefulness
    turned = judge_outdated(*bodies, reader=READER)
    assert {share.remark for share in turned.comments[0].usefulness.shares} == {0, 1, 2}
    assert {share.remark for share in turned.comments[1].usefulness.shares} == {3}
    assert {share.remark for share in other.shares} == {1, 2, 3}


def test_remarks_of_an_older_version_have_their_index_in_the_result() -> None:
    # The second comment is the outdated one: its remarks come after that of the first.
    comments = (Comment(body="Alpha."), Comment(body="Beta.\n\n- Gamma.", outdated=True))
    made = replace(parts(matcher=Halves()), generator=ByVersion(*CLAIMS), reader=READER)
    result = pipeline.run([pipeline.ReviewedChange(DIFF, comments, {1: OLDER})], made)[0]
    assert {share.remark for share in result.comments[1].usefulness.shares} == {1, 2}


def test_hidden_text_of_an_older_version_is_raised_by_its_degree_only() -> None:
    result = judge_outdated("Gamma.\n\n<!-- beta other -->", matcher=Halves())
    shown = [
        (one.text, match.degree)
        for one, match in zip(result.sentences, result.sentence_matches, strict=True)
    ]
    assert shown[0] == ("Gamma.", 0.5)


def test_claims_about_originals_come_from_the_same_call_as_the_changes() -> None:
    made = parts(*CLAIMS)
    pair = pipeline.ReviewedChange(DIFF, (Comment(body="Gamma.", path="a.py"),), {0: OLDER})
    pipeline.run([pair], made)
    assert made.generator.seen == [2]


MISSING = replace(DIFF.files[2], path="big.py", is_binary=False, missing="the host did not show it")


def test_comment_on_a_file_that_the_host_did_not_show_abstains() -> None:
    change = replace(DIFF, files=(DIFF.files[0], MISSING))
    texts = (Comment(body="Alpha.", path="big.py", line=3), Comment(body="Alpha."))
    result = pipeline.run([pipeline.ReviewedChange(change, texts)], parts(*CLAIMS))[0]
    assert result.comments[0].scores.relevance is None
    assert "big.py: the host did not show it" in (result.comments[0].scores.reason or "")
    assert result.relevance is not None


def test_change_without_shown_text_abstains() -> None:
    change = replace(DIFF, files=(MISSING,))
    result = pipeline.run(
        [pipeline.ReviewedChange(change, (Comment(body="Alpha."),))], parts(*CLAIMS)
    )[0]
    assert result.relevance is None
    assert "did not show" in (result.scores.reason or "")


def test_damaged_characters_are_counted_in_a_note() -> None:
    comments = (Comment(body="Caf\ufffd?"), Comment(body="Why?"))
    result = pipeline.run([pipeline.ReviewedChange(DIFF, comments)], parts(*CLAIMS))[0]
    assert "Characters of 1 comment could not be decoded; save the review as UTF-8." in result.notes


# Time limit


def test_sentences_over_the_limit_are_left_out_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crscore.review.read.MAX_SENTENCES", 4)
    comments = (Comment(body="Why? How? Who?"), Comment(body="When? Where?"), Comment(body=""))
    result = pipeline.run([pipeline.ReviewedChange(DIFF, comments)], parts(*CLAIMS))[0]
    assert [sentence.text for sentence in result.sentences] == ["Why?", "How?", "Who?", "When?"]
    assert result.notes[-1].startswith(
        "4 of 5 sentences are scored; the last sentences of the author"
    )
    assert len(result.comments) == 3


def test_long_review_does_not_crowd_out_the_sentences_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("crscore.review.read.MAX_SENTENCES", 4)
    flood = [Comment(body="Why? How?", author="flood") for _ in range(3)]
    comments = (*flood, Comment(body="What? And who?", author="mira"))
    result = pipeline.run([pipeline.ReviewedChange(DIFF, comments)], parts(*CLAIMS))[0]
    assert [sentence.comment for sentence in result.sentences] == [0, 0, 3, 3]
