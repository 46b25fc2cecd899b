"""The reader in whole runs: the shipped weights and the packaged encoder."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from crscore import Scorer
from crscore.encoders import hashing, minilm
from crscore.records import (
    OFF_TOPIC,
    ON_TOPIC,
    Claims,
    Comment,
    Flag,
    Importance,
    Remark,
    Result,
    Stance,
    Subject,
    Usefulness,
)
from crscore.scoring import assembly
from crscore.usefulness import headline, reader
from crscore.usefulness.headline import ASPECTS

PATCH = """--- a/client.py
+++ b/client.py
@@ -1,7 +1,9 @@
 import requests
 telemetry = requests.Session()
-def fetch(url):
-    return requests.get(url).json()
+def fetch(url, timeout=None):
+    reply = requests.get(url, timeout=timeout)
+    reply.raise_for_status()
+    return reply.json()

"""
BINARY = """diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
"""
RENAME = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
REVIEW = "`raise_for_status` raises on a 404 now, which the callers of `fetch` do not expect."
SUMMARY = "This change adds a `timeout` parameter to `fetch`."
REQUEST = "Could you add a test for the new `timeout` parameter?"
PASTED = "reply = requests.get(url, timeout=timeout)"


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer(analyzers="none", offline=True)


@pytest.fixture(scope="module")
def plain(scorer: Scorer) -> Callable[[str], Result]:
    """Score a text once for all tests."""
    return functools.cache(functools.partial(score_text, scorer))


def values(usefulness: Usefulness) -> list[float]:
    aspects = usefulness.aspects
    rated = (getattr(aspects, name) for name in ASPECTS)
    return [usefulness.about, usefulness.importance, usefulness.value, *rated]


def texts_of(result: Result) -> list[list[str]]:
    return [[result.sentences[at].text for at in remark.sentences] for remark in result.remarks]


def rated(remark: Remark) -> list[float]:
    return [remark.actionable, remark.importance / 4, remark.about, (remark.worth - 1) / 4]


def score_text(scorer: Scorer, text: str, patch: str = PATCH) -> Result:
    return scorer.score(patch, text)


# What a reading is


def test_each_sentence_has_a_reading_and_each_comment_a_usefulness(scorer) -> None:
    result = scorer.score(PATCH, [Comment(body=f"{REVIEW} Why None?"), Comment(body="Thanks!")])
    assert len(result.readings) == len(result.sentences) == 3
    for item in result.readings:
        assert 0 <= item.actionable <= 1
        assert 0 <= item.about <= 1
    for usefulness in (result.usefulness, *(item.usefulness for item in result.comments)):
        assert all(0 <= value <= 1 for value in values(usefulness))
        assert 0 <= usefulness.standing <= 100


def test_each_comment_has_its_remarks(scorer) -> None:
    bodies = [f"# Review\n\n{REVIEW}\n\n{REQUEST}", "Thanks!", SUMMARY]
    result = scorer.score(PATCH, [Comment(body=body) for body in bodies])
    assert texts_of(result) == [[REVIEW], [REQUEST], ["Thanks!"], [SUMMARY]]
    assert [remark.comment for remark in result.remarks] == [0, 0, 1, 2]
    for remark in result.remarks:
        assert all(0 <= value <= 1 for value in rated(remark))
        assert remark.level is reader.name_level(remark.importance / 4)
        assert {result.sentences[at].comment for at in remark.sentences} == {remark.comment}
    for index, comment in enumerate(result.comments):
        assert {share.remark for share in comment.usefulness.shares} == {
            at for at, remark in enumerate(result.remarks) if remark.comment == index
        }
    assert sorted(share.remark for share in result.usefulness.shares) == [0, 1, 2, 3]


def test_remark_is_read_as_one_text_and_not_by_its_best_sentence(scorer) -> None:
    sentences = (REVIEW, "This is only about old proxies, so it hardly matters.")
    (joined,) = score_text(scorer, " ".join(sentences)).remarks
    review = scorer.parts.reader
    text = " ".join(sentences)
    (outputs,) = review.weights.network.read([text], review.encoder)
    expected = reader.read_text(text, outputs)
    assert joined.importance / 4 == pytest.approx(expected.importance, abs=1e-4)
    assert joined.specific == pytest.approx(expected.aspects.informative, abs=1e-4)


def test_review_of_several_comments_has_the_remarks_of_all(scorer) -> None:
    bodies = [REVIEW, "Thanks!", SUMMARY]
    comments = [Comment(body=body, author="ann" if at else "bob") for at, body in enumerate(bodies)]
    result = scorer.score(PATCH, comments)
    single = [item.usefulness for item in result.comments]
    assert [item.value for item in single] == pytest.approx(
        [score_text(scorer, body).usefulness.value for body in bodies], abs=1e-4
    )
    shares, price, value = headline.sum_up(dict(enumerate(result.remarks)))
    whole = result.usefulness
    assert (whole.shares, whole.taken_off, whole.value) == (shares, price, value)
    assert whole.against.endswith("reviews by people and bots")
    assert values(whole)[3:] == pytest.approx(np.mean([values(item)[3:] for item in single], 0))
    by_author = {item.author: item.usefulness for item in result.reviews}
    assert by_author["bob"].value == single[0].value
    assert {share.remark for share in by_author["ann"].shares} == {1, 2}


@pytest.mark.parametrize("frame", ["# Review", "Hello!", "Thanks for the work!", "A few comments:"])
@pytest.mark.parametrize("body", [REVIEW, f"{REVIEW}\n\n{REQUEST}", SUMMARY])
def test_heading_greeting_or_lead_in_changes_no_remark(
    scorer, plain, frame: str, body: str
) -> None:
    bare, framed = plain(body), score_text(scorer, f"{frame}\n\n{body}")
    assert texts_of(framed) == texts_of(bare)
    for remark, other in zip(framed.remarks, bare.remarks, strict=True):
        assert rated(remark) == pytest.approx(rated(other), abs=1e-4)
    assert framed.usefulness.value == pytest.approx(bare.usefulness.value, abs=1e-4)


def test_another_remark_lowers_the_value_by_its_deduction_at_most(scorer) -> None:
    body = "- Rename `OrderRepository`."
    for text in (REVIEW, REQUEST, "`Invoice` leaks a lock.", "Is `fetch` called in a loop?"):
        before = score_text(scorer, body)
        body += f"\n- {text}"
        after = score_text(scorer, body)
        assert texts_of(after) == [*texts_of(before), [text]]
        least = before.usefulness.value - headline.EMPTY_DEDUCTION
        assert after.usefulness.value >= least - 1e-4


# What is not actionable


@pytest.mark.parametrize("shown", ["Have a look.", "Nice!", REVIEW, SUMMARY])
def test_hidden_text_is_not_actionable_and_never_raises_the_score(scorer, shown: str) -> None:
    plain = score_text(scorer, shown)
    stuffed = score_text(scorer, f"{shown} <span hidden>Should `timeout` default to 10?</span>")
    assert stuffed.usefulness.value == pytest.approx(plain.usefulness.value, abs=1e-4)
    marked = score_text(scorer, f"{shown}\n\n<!-- fingerprint:12ab -->")
    assert marked.usefulness.standing == plain.usefulness.standing
    (at,) = (at for at, flag in enumerate(stuffed.sentence_flags) if flag is Flag.HIDDEN)
    assert (stuffed.readings[at].actionable, stuffed.readings[at].about) == (0, 0)
    assert stuffed.readings[at].subject is Subject.ELSEWHERE
    assert all(at not in remark.sentences for remark in stuffed.remarks)
    assert texts_of(stuffed) == texts_of(plain)


def test_comment_of_only_hidden_text_has_no_usefulness(scorer) -> None:
    result = score_text(scorer, f"<!-- {REVIEW} -->")
    assert result.usefulness is None
    assert result.comments[0].usefulness is None


def test_repeated_sentence_is_not_actionable(scorer) -> None:
    result = score_text(scorer, f"{REVIEW}\n\n{REVIEW}")
    assert result.sentence_flags[1] is Flag.REPEATS
    first, second = result.readings
    assert first.actionable > 0.5
    assert second.actionable == 0
    assert second.about == first.about
    assert [remark.worth > 1 for remark in result.remarks] == [True, False]
    assert result.usefulness.taken_off > 0
    assert result.usefulness.value < score_text(scorer, REVIEW).usefulness.value


@pytest.mark.parametrize(("authors", "counted"), [("aaaa", 2), ("abab", 4)])
def test_remark_with_other_names_is_a_repetition_from_the_third_of_its_author_on(
    scorer, authors: str, counted: int
) -> None:
    names = ("fetch", "requests.get", "reply.json", "raise_for_status")
    comments = [
        Comment(body=f"`{name}` raises on a 404 now, which its callers do not expect.", author=who)
        for name, who in zip(names, authors, strict=True)
    ]
    result = scorer.score(PATCH, comments)
    assert [remark.worth > 1 for remark in result.remarks] == [at < counted for at in range(4)]
    repeats = [flag is Flag.REPEATS for flag in result.sentence_flags]
    assert repeats == [at >= counted for at in range(4)]


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("This is an SQL injection: `url` comes from the request.", Importance.CRITICAL),
        ("Could `url` lead to an SQL injection?", Importance.CRITICAL),
        ("Please escape `url`, otherwise this is an SQL injection.", Importance.CRITICAL),
        ("The new `timeout` prevents an SQL injection.", Importance.MINOR),
        ("Please rename `reply` to `response`.", Importance.NIT),
    ],
)
def test_named_security_problem_is_critical(scorer, text: str, level: Importance) -> None:
    (remark,) = score_text(scorer, text).remarks
    assert remark.level is level


def test_repetition_within_a_remark_changes_nothing(scorer) -> None:
    once = score_text(scorer, REVIEW).usefulness
    twice = score_text(scorer, f"{REVIEW} Again, {REVIEW[0].lower()}{REVIEW[1:]}").usefulness
    assert twice.value == pytest.approx(once.value, abs=0.01)


def test_pasted_code_is_not_actionable(scorer) -> None:
    result = score_text(scorer, f"{REVIEW}\n\n{PASTED}")
    assert result.sentence_flags[1] is Flag.NO_SENTENCE
    assert (result.readings[1].actionable, result.readings[1].about) == (0, 0)
    alone = score_text(scorer, PASTED)
    (remark,) = alone.remarks
    assert (remark.actionable, remark.about, remark.worth) == (0, 0, 1)
    assert (alone.usefulness.value, alone.usefulness.word) == (0, OFF_TOPIC)


def test_remark_about_something_else_is_worth_nothing(scorer) -> None:
    result = score_text(scorer, "Rename `OrderRepository` to `OrderStore`.")
    (remark,) = result.remarks
    assert remark.actionable > 0.5
    assert remark.about < ON_TOPIC
    assert (remark.worth, result.usefulness.value) == (1, 0)
    assert result.usefulness.word == OFF_TOPIC


def test_sentence_that_only_describes_is_flagged_unless_it_has_a_flag(scorer) -> None:
    result = score_text(scorer, f"{SUMMARY}\n\n{SUMMARY}\n\n{REVIEW}")
    assert result.sentence_flags == (Flag.RESTATES, Flag.REPEATS, None)
    assert result.readings[0].stance is Stance.DESCRIPTION


def test_proposal_of_code_is_actionable(scorer) -> None:
    comments = "```suggestion\ndef fetch(url, timeout=10):\n```"
    result = scorer.score(PATCH, [Comment(body=comments, path="client.py", line=3)])
    (item,) = result.readings
    assert item.stance is Stance.PROPOSAL
    assert item.actionable >= reader.PROPOSED - 1e-6
    (remark,) = result.remarks
    assert remark.stance is Stance.PROPOSAL
    assert result.sentence_flags == (None,)


# What a sentence is about


def test_subject_is_a_claim(scorer) -> None:
    usefulness = score_text(
        scorer, "The new parameter `timeout` of `fetch` should not default to None."
    )
    (item,) = usefulness.readings
    assert item.subject is Subject.CLAIM
    assert "timeout" in usefulness.references[item.reference].text
    assert usefulness.references[item.reference].counted


def test_subject_is_something_else(scorer) -> None:
    (item,) = score_text(scorer, "Rename `OrderRepository` to `OrderStore`.").readings
    assert (item.subject, item.reference) == (Subject.ELSEWHERE, None)
    assert item.about < ON_TOPIC


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Who reads the json?", Subject.CHANGE),
        ("Who closes telemetry?", Subject.SURROUNDINGS),
        ("Who reads it?", Subject.CHANGE),
    ],
)
def test_subject_without_a_claim_is_where_its_rarest_word_is(
    monkeypatch, text: str, subject: Subject
) -> None:
    # No claim is near and every sentence is on topic.
    monkeypatch.setattr(assembly, "SAME_COSINE", 2.0)
    monkeypatch.setattr(assembly, "NEAR_COSINE", 2.0)
    monkeypatch.setattr(reader, "ON_TOPIC", 0.0)
    (item,) = score_text(Scorer(analyzers="none", offline=True), text).readings
    assert (item.subject, item.reference) == (subject, None)


@pytest.mark.parametrize(("rare", "is_claim"), [(0.0, True), (99.0, False)])
def test_near_claim_counts_only_with_a_rare_word(scorer, monkeypatch, rare, is_claim) -> None:
    monkeypatch.setattr(assembly, "SAME_COSINE", 2.0)
    monkeypatch.setattr(assembly, "NEAR_COSINE", 0.0)
    monkeypatch.setattr(assembly, "RARE_IDF", rare)
    (item,) = score_text(scorer, "Please document the new timeout.").readings
    assert (item.subject is Subject.CLAIM) is is_claim


# Strange changes


@pytest.mark.parametrize("patch", [BINARY, RENAME])
def test_change_without_lines_is_read(scorer, patch: str) -> None:
    result = score_text(scorer, REVIEW, patch)
    assert (result.usefulness is None) == (patch is BINARY)
    assert bool(result.remarks) == (patch is not BINARY)


def test_change_without_claims_is_read() -> None:
    class Speechless:
        identity = "speechless"

        def generate(self, diffs):
            return tuple(Claims(references=()) for _ in diffs)

    scorer = Scorer(generator=Speechless(), analyzers="none", offline=True)
    result = scorer.score(PATCH, REVIEW)
    assert result.relevance is None
    assert result.usefulness.value > 0
    assert all(item.subject is not Subject.CLAIM for item in result.readings)


@pytest.mark.hostile
def test_huge_change_is_read(scorer) -> None:
    lines = "".join(f"+value_{at} = compute({at})\n" for at in range(8_000))
    patch = f"--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,8000 @@\n{lines}"
    result = score_text(scorer, "Please use a list instead of `value_17`.", patch)
    assert all(map(math.isfinite, values(result.usefulness)))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "![](a.png)"])
def test_review_without_text_has_no_usefulness(scorer, text: str) -> None:
    result = score_text(scorer, text)
    assert (result.usefulness, result.readings) == (None, ())


@pytest.mark.parametrize(
    "text", ["\U0001f44d", "x" * 20_000, "word " * 5_000, "\x00", "名前", "a\ud83db"]
)
def test_hostile_text_has_finite_values(scorer, text: str) -> None:
    usefulness = score_text(scorer, text).usefulness
    assert usefulness is None or all(map(math.isfinite, values(usefulness)))


def test_mean_is_of_length_1_and_of_nothing_common_is_finite() -> None:
    rows = np.array([[1, 0], [0, 1]], dtype=np.float32)
    np.testing.assert_allclose(reader.mean_direction(rows), [0.5**0.5] * 2, rtol=1e-6)
    assert not reader.mean_direction(np.array([[1, 0], [-1, 0]], dtype=np.float32)).any()


# Which encoder


@dataclass(frozen=True)
class Named:
    """Encoder of any name."""

    identity: str

    def encode(self, texts):
        return hashing.Hashing().encode(texts)


def test_reader_exists_only_for_its_encoder() -> None:
    encoder = minilm.MiniLM(offline=True)
    assert reader.reader_for(encoder).encoder is encoder
    name = encoder.identity.partition("@")[0]
    assert reader.reader_for(Named(f"{name}@other-revision")) is not None
    for other in ("hashing:256", f"{name}-large", ""):
        assert reader.reader_for(Named(other)) is None
    assert reader.reader_for(encoder, "published") is None
    assert reader.reader_for(encoder, "calibrated@5.ab.0+cd") is not None


def test_result_with_another_encoder_has_no_usefulness() -> None:
    result = Scorer(encoder="hashing", analyzers="none").score(PATCH, REVIEW)
    assert result.relevance is not None
    assert result.usefulness is None
    assert all(item.usefulness is None for item in (*result.comments, *result.reviews))
    assert result.readings == ()


def test_identity_names_the_data_and_the_file() -> None:
    shipped = reader.reader_for(minilm.MiniLM(offline=True))
    data = shipped.weights.data_sha256[:8]
    assert shipped.identity == f"usefulness@{data}+{shipped.file}+{reader.VERSION}"
    assert len(shipped.file) == 8
