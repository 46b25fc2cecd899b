import json
import pickle
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import crscore
from crscore import Comment, Config, Scorer
from crscore.diff import parse
from crscore.encoders import hashing
from crscore.encoders.minilm import MiniLM
from crscore.errors import (
    ConfigError,
    GenerationError,
    InputError,
    LimitError,
    ModelNotFoundError,
    UnknownPluginError,
)
from crscore.matchers.published import Published
from crscore.records import Claims, Diff, Flag, Result, ScopeKind
from tests.helpers import scripted_llm

PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-limit = 10\n+limit = 20\n"
OTHER = PATCH.replace("limit", "offset")
REVIEW = "The limit of 20 is too high."


class Counting:
    """The hashing encoder, keeping what it was asked."""

    def __init__(self) -> None:
        self.inner = hashing.Hashing()
        self.identity = self.inner.identity
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        return self.inner.encode(texts)


@pytest.fixture
def scorer() -> Scorer:
    return Scorer(encoder="hashing", analyzers="none")


def test_diff_and_review_can_be_texts(scorer: Scorer) -> None:
    assert scorer.score(PATCH, REVIEW).relevance is not None


def test_parsed_input_gives_the_same_result_as_text(scorer: Scorer) -> None:
    parsed = scorer.score(parse.parse_diff(PATCH), Comment(body=REVIEW))
    assert parsed.scores == scorer.score(PATCH, REVIEW).scores


def test_requests_to_a_model_have_no_lone_surrogates(monkeypatch: pytest.MonkeyPatch) -> None:
    patch = PATCH.replace("a.py", "\udcff.py").replace("= 20", "= '\ud800'")
    review = [Comment(body="Why \ud83d `limit`?", path="\udcff.py", line=1)]
    answer = scripted_llm.well('{"claims": ["\ud800"], "implications": []}')
    with scripted_llm.serve(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        made = Scorer(analyzers="none", claims="openai:m", reader="openai:m", cache=False)
        made.score(patch, review)
        sent = [asked.body["messages"] for asked in server.chats()]
    assert len(sent) == 2
    text = json.dumps(sent, ensure_ascii=False)
    assert "limit" in text
    assert re.search("[\ud800-\udfff]", text) is None


def test_list_of_comments_is_a_review(scorer: Scorer) -> None:
    found = scorer.score(PATCH, [Comment(body=REVIEW, author="a"), Comment(body="Why?")])
    assert [review.author for review in found.reviews] == ["a", None]


def test_diff_and_review_can_be_bytes(scorer: Scorer) -> None:
    assert scorer.score(PATCH.encode(), REVIEW.encode()).relevance is not None


def test_many_pairs_encode_every_text_once_in_two_calls() -> None:
    encoder = Counting()
    pairs = [
        (PATCH, REVIEW),
        (OTHER, REVIEW),
        (PATCH, "Why 20?"),
        (parse.parse_diff(PATCH), REVIEW),
    ]
    results = Scorer(encoder=encoder, analyzers="none").score_many(pairs)
    of_changes, of_reviews = encoder.calls
    encoded = [*of_changes, *of_reviews]
    assert len(encoded) == len(set(encoded))
    assert [r.scores for r in results] == [
        Scorer(encoder="hashing", analyzers="none").score(*p).scores for p in pairs
    ]


def test_equal_diffs_of_many_pairs_are_parsed_once(scorer: Scorer) -> None:
    first, second = scorer.score_many([(PATCH, REVIEW), (PATCH, "Why?")])
    assert first.diff is second.diff


def test_complete_files_are_added_to_the_diff(scorer: Scorer) -> None:
    both = {"a.py": ("limit = 10\n", "limit = 20\n")}
    found = scorer.score(PATCH, REVIEW, sources=both)
    assert found.diff.files[0].new_source == "limit = 20\n"


def test_bare_hunk_takes_language_and_path(scorer: Scorer) -> None:
    hunk = "@@ -1 +1 @@\n-a\n+b\n"
    assert scorer.read_diff(hunk, path="x/a.rb").files[0].language == "ruby"
    assert scorer.read_diff(hunk, language="go").files[0].language == "go"


def test_hunk_cut_at_a_comment_is_scored_with_a_note(scorer: Scorer) -> None:
    found = scorer.score("@@ -7,9 +7,12 @@\n x = 1\n-limit = 10\n+limit = 20", REVIEW, path="a.py")
    assert found.relevance is not None
    assert any("last hunk was cut" in note for note in found.notes)


def test_hunk_cut_before_any_change_abstains_and_says_so(scorer: Scorer) -> None:
    comment = Comment(body=REVIEW, path="a.py", line=7)
    found = scorer.score("@@ -7,9 +7,12 @@\n x = 1", comment, path="a.py")
    assert found.scores.reason == "no pseudo-references for the diff, which shows no changed line"
    assert found.comments[0].scores.relevance is None


def test_comment_on_a_hunk_without_changes_is_scored_on_its_file(scorer: Scorer) -> None:
    change = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n x = 1\n@@ -7 +7 @@\n-limit = 10\n+limit = 20\n"
    found = scorer.score(change, Comment(body=REVIEW, path="a.py", line=1))
    assert found.comments[0].scope.kind is ScopeKind.FILE
    assert found.comments[0].scores.relevance is not None


def test_file_with_a_line_over_the_limit_leaves_the_others_scored(scorer: Scorer) -> None:
    long = f"--- a/b.min.js\n+++ b/b.min.js\n@@ -1 +1 @@\n-x\n+{'x' * 100_000}\n"
    found = scorer.score(long + PATCH, [Comment(body=REVIEW), Comment(body="No.", path="b.min.js")])
    assert found.scores == scorer.score(PATCH, [Comment(body=REVIEW), Comment(body="No.")]).scores
    assert "max_line_length" in (found.comments[1].scores.reason or "")
    alone = scorer.score(long, REVIEW).scores
    assert alone.relevance is None
    assert "max_line_length, which is 100,000" in (alone.reason or "")


def test_overrides_change_single_settings() -> None:
    made = Scorer(Config(encoder="hashing", max_claims=3), threshold=0.25, analyzers="none")
    assert (made.settings.max_claims, made.parts.threshold) == (3, 0.25)


def test_threshold_of_the_encoder_is_the_default(scorer: Scorer) -> None:
    assert scorer.parts.threshold == 0.5


def test_default_matcher_is_calibrated_if_it_knows_the_encoder() -> None:
    made = Scorer(analyzers="none")
    assert made.parts.matcher.identity.startswith("calibrated@5.")
    assert made.parts.threshold is None
    keys = list(made.parts.signature)
    expected = ["version", "encoder", "claims", "analyzers", "matcher", "reader", "verdicts"]
    assert keys == [*expected, "splitter", "language", "max_claims", "max_issues"]
    assert made.parts.signature["reader"].startswith("usefulness@")


@pytest.mark.parametrize(
    "given", [{"encoder": "hashing"}, {"threshold": 0.31}, {"matcher": "published"}]
)
def test_published_matcher_is_used_if_calibrated_does_not_fit(given: dict) -> None:
    made = Scorer(**given)
    assert made.parts.matcher.identity == "published"
    assert made.parts.threshold is not None


@pytest.mark.parametrize("given", [{"encoder": "hashing"}, {"matcher": "published"}])
def test_reader_needs_its_encoder_and_the_calibrated_matcher(given: dict) -> None:
    assert Scorer(analyzers="none").parts.reader is not None
    other = Scorer(**given, analyzers="none").parts
    assert other.reader is None
    assert "reader" not in other.signature


def test_calibrated_matcher_takes_no_threshold() -> None:
    with pytest.raises(ConfigError, match="has no effect on the matcher calibrated"):
        Scorer(matcher="calibrated", threshold=0.4, analyzers="none")


def test_calibrated_matcher_is_refused_for_an_unknown_encoder() -> None:
    with pytest.raises(InputError, match="needs the encoder minilm:all-MiniLM-L6-v2, not hashing"):
        Scorer(matcher="calibrated", encoder="hashing", analyzers="none")


def test_matcher_may_be_an_object() -> None:
    made = Scorer(matcher=Published(threshold=0.9), encoder="hashing", analyzers="none")
    assert made.parts.matcher == Published(threshold=0.9)


def test_signature_names_every_part(scorer: Scorer) -> None:
    keys = list(scorer.parts.signature)
    expected = ["version", "encoder", "claims", "analyzers", "matcher", "tau", "splitter"]
    assert keys == [*expected, "max_claims", "max_issues"]


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": 0.1},
        {"splitter": "paper"},
        {"max_claims": 2},
        {"max_issues": 1},
    ],
)
def test_signature_changes_with_what_changes_the_score(scorer: Scorer, change: dict) -> None:
    other = Scorer(**{"encoder": "hashing", **change})
    assert other.parts.signature != scorer.parts.signature


def test_same_input_twice_gives_the_same_result(scorer: Scorer) -> None:
    first, second = scorer.score(PATCH, REVIEW), scorer.score(PATCH, REVIEW)
    assert (first.references, first.scores) == (second.references, second.scores)
    assert first.similarity.tolist() == second.similarity.tolist()


def test_limits_of_the_settings_apply() -> None:
    small = Scorer(encoder="hashing", max_diff_bytes=10, max_review_bytes=5, analyzers="none")
    with pytest.raises(LimitError, match="max_diff_bytes"):
        small.score(PATCH, "x")
    with pytest.raises(LimitError, match="max_review_bytes"):
        small.read_review(REVIEW)


def test_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRSCORE_THRESHOLD", "0.9")
    assert Scorer(encoder="hashing", analyzers="none").parts.threshold == 0.5


def test_wrong_setting_raises() -> None:
    with pytest.raises(ConfigError, match="treshold"):
        Scorer(treshold=0.5, analyzers="none")
    with pytest.raises(UnknownPluginError, match="word2vec"):
        Scorer(encoder="word2vec", analyzers="none")


def test_model_and_revision_reach_the_encoder() -> None:
    made = Scorer(encoder="st:some/model", revision="abc", threshold=0.5, analyzers="none")
    assert made.parts.encoder.identity == "st:some/model@abc"


def test_paper_preset_is_the_published_setting() -> None:
    made = crscore.Scorer(preset="paper", analyzers="none")
    named = made.parts.signature
    assert named["encoder"].startswith("st:mixedbread-ai/mxbai-embed-large-v1")
    assert (named["tau"], named["splitter"], named["matcher"]) == ("0.7314", "paper", "published")


def test_unknown_splitter_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="axe"):
        Scorer(splitter="axe", analyzers="none")


@pytest.mark.parametrize(
    ("untrusted", "trust", "kept"),
    [(False, False, False), (True, False, True), (True, True, False)],
)
def test_untrusted_code_is_confined_unless_a_setting_trusts_it(
    untrusted: bool, trust: bool, kept: bool
) -> None:
    scorer = Scorer(encoder="hashing", untrusted=untrusted, trust=trust)
    assert scorer.parts.analyzers.untrusted is kept  # type: ignore[attr-defined]


def test_error_of_one_diff_is_kept_and_the_others_are_scored() -> None:
    scorer = Scorer(encoder="hashing", analyzers="none")
    pairs = [(PATCH, "Why?"), ("no diff", "Why?"), (PATCH, "Why not?")]
    first, bad, last = scorer.score_many(pairs, on_error="keep")
    assert isinstance(bad, InputError)
    assert isinstance(first, Result)
    assert isinstance(last, Result)
    with pytest.raises(InputError):
        scorer.score_many(pairs)


def test_error_that_concerns_all_pairs_ends_the_run(tmp_path: Path) -> None:
    scorer = Scorer(encoder=MiniLM(folder=tmp_path), analyzers="none")
    with pytest.raises(ModelNotFoundError):
        scorer.score_many([(PATCH, "Why?"), (OTHER, "How?")], on_error="keep")


def test_error_of_a_part_concerns_only_the_change_that_caused_it() -> None:
    class Refuses:
        """Generator that fails when one of the changes has a second file."""

        identity = "refuses"

        def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
            if any(len(diff.files) > 1 for diff in diffs):
                raise GenerationError("two files")
            return tuple(Claims(references=()) for _ in diffs)

    both = PATCH + PATCH.replace("a.py", "b.py")
    scorer = Scorer(encoder="hashing", analyzers="none", generator=Refuses())
    found = scorer.score_many([(PATCH, "Why?"), (both, "Why?"), (OTHER, "How?")], on_error="keep")
    assert [type(one).__name__ for one in found] == ["Result", "GenerationError", "Result"]


def test_scorer_and_result_can_be_pickled(scorer: Scorer) -> None:
    result = scorer.score(PATCH, REVIEW)
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again is not result
    assert again != replace(result, similarity=result.similarity + 1)
    assert again != replace(result, similarity=result.similarity[:0])
    assert again != replace(result, notes=("Other.",))
    copied = pickle.loads(pickle.dumps(scorer))
    assert copied.score(PATCH, REVIEW) == scorer.score(PATCH, REVIEW)


def test_result_is_short_in_a_console() -> None:
    result = Scorer(analyzers="none").score(PATCH, "The limit is <b>wrong</b>: it breaks callers.")
    assert len(repr(result)) < 100
    assert f"standing={result.standing}" in repr(result)


def test_review_in_another_language_has_no_score_but_its_code_is_addressed() -> None:
    scorer = Scorer(analyzers="none")
    patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-x = 1\n"
    patch += "+def charge(amount):\n+    return post(amount)\n"
    german = (
        "Die Antwort von `charge` wird nie geprüft.\n```suggestion\n    return post(amount, 3)\n```"
    )
    english = "The answer of `charge` is never checked, so an unpaid order looks paid."
    unread, read = (
        Comment(body=body, path="a.py", line=2, author=author)
        for body, author in ((german, "eva"), (english, "ann"))
    )
    reason = "the text is not in English, so it was not read"

    alone = scorer.score(patch, [unread])
    assert (alone.standing, alone.relevance, alone.scores.reason) == (None, None, reason)
    assert (alone.comments[0].usefulness, alone.remarks, alone.notes) == (None, (), ())
    assert set(alone.sentence_flags) == {Flag.NOT_ENGLISH}
    assert alone.comments[0].suggestions[0].applies
    assert any(match.matched for match in alone.reference_matches)

    both, only_read = scorer.score(patch, [unread, read]), scorer.score(patch, [read])
    assert (both.standing, both.scores) == (only_read.standing, only_read.scores)
    assert both.notes == ("Text in 1 of 2 comments was not read: it is not in English.",)
    assert [review.scores.reason for review in both.reviews] == [reason, None]


def test_encoder_of_other_languages_reads_them() -> None:
    result = Scorer(encoder="hashing", threshold=0.5, analyzers="none").score(
        "@@ -1 +1 @@\n-x = 1\n+x = 2\n", "Die Antwort wird nie geprüft."
    )
    assert result.scores.reason is None
