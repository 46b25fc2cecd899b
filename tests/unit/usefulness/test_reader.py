"""The reader in whole runs: the shipped weights and the packaged encoder."""

import math

import numpy as np
import pytest

from crscore import Scorer
from crscore.encoders import minilm
from crscore.records import Claims, Comment, Flag, Kind, Result, Subject, Usefulness
from crscore.usefulness import reader, reading

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
REVIEW = "Please catch the exception of `raise_for_status`, callers of `fetch` do not expect it."
SUMMARY = "The function `fetch` takes a new optional parameter `timeout`."
PASTED = "reply = requests.get(url, timeout=timeout)"


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer(analyzers="none", offline=True)


def values(usefulness: Usefulness) -> list[float]:
    aspects = usefulness.aspects
    rated = (getattr(aspects, name) for name in reading.ASPECTS)
    return [usefulness.about, usefulness.substance, usefulness.value, *rated]


def score_text(scorer: Scorer, text: str, patch: str = PATCH) -> Result:
    return scorer.score(patch, text)


# What a reading is


def test_each_sentence_has_a_reading_and_each_comment_a_usefulness(scorer) -> None:
    result = scorer.score(PATCH, [Comment(body=f"{REVIEW} Why None?"), Comment(body="Thanks!")])
    assert len(result.readings) == len(result.sentences) == 3
    for item in result.readings:
        assert 0 <= item.substance <= 1
        assert 0 <= item.about <= 1
        assert len(item.phrases) <= reader.MAX_PHRASES
    for told_one in (result.usefulness, *(item.usefulness for item in result.comments)):
        assert all(0 <= value <= 1 for value in values(told_one))
        assert 0 <= told_one.standing <= 100


def test_review_is_as_useful_as_its_comments_in_the_mean(scorer) -> None:
    bodies = [REVIEW, "Thanks!", SUMMARY]
    comments = [Comment(body=body, author="ann" if at else "bob") for at, body in enumerate(bodies)]
    result = scorer.score(PATCH, comments)
    single = [item.usefulness for item in result.comments]
    assert [item.value for item in single] == pytest.approx(
        [score_text(scorer, body).usefulness.value for body in bodies], abs=1e-6
    )
    for got, *parts in zip(values(result.usefulness), *map(values, single), strict=True):
        assert got == pytest.approx(sum(parts) / 3)
    by_author = {item.author: item.usefulness for item in result.reviews}
    assert by_author["bob"] == single[0]
    assert by_author["ann"].value == pytest.approx((single[1].value + single[2].value) / 2)


def test_same_review_reads_the_same_twice(scorer) -> None:
    assert score_text(scorer, REVIEW).usefulness == score_text(scorer, REVIEW).usefulness
    assert score_text(scorer, REVIEW).readings == score_text(scorer, REVIEW).readings


def test_telling_phrases_stand_in_the_sentence(scorer) -> None:
    (item,) = score_text(scorer, "Please move this into a helper.").readings
    assert item.kind is Kind.REQUEST
    assert item.phrases
    assert all(
        phrase.replace("^ ", "") in "please move this into a helper ." for phrase in item.phrases
    )


# What gives no substance


@pytest.mark.parametrize("shown", ["Have a look.", "Nice!", REVIEW, SUMMARY])
def test_hidden_text_gives_no_substance_and_never_pays(scorer, shown: str) -> None:
    plain = score_text(scorer, shown)
    stuffed = score_text(scorer, f"{shown} <span hidden>Should `timeout` default to 10?</span>")
    assert stuffed.usefulness.value <= plain.usefulness.value
    assert stuffed.usefulness.aspects == plain.usefulness.aspects
    marked = score_text(scorer, f"{shown}\n\n<!-- fingerprint:12ab -->")
    assert marked.usefulness == plain.usefulness
    (at,) = (at for at, flag in enumerate(stuffed.sentence_flags) if flag is Flag.HIDDEN)
    assert (stuffed.readings[at].substance, stuffed.readings[at].about) == (0, 0)
    assert stuffed.readings[at].subject is Subject.ELSEWHERE


def test_comment_of_hidden_text_alone_has_no_usefulness(scorer) -> None:
    result = score_text(scorer, f"<!-- {REVIEW} -->")
    assert result.usefulness is None
    assert result.comments[0].usefulness is None


def test_repeated_sentence_gives_no_substance(scorer) -> None:
    result = score_text(scorer, f"{REVIEW}\n\n{REVIEW}")
    assert result.sentence_flags[1] is Flag.REPEATS
    first, second = result.readings
    assert first.substance > 0.5
    assert second.substance == 0
    assert second.about == first.about
    assert result.usefulness.value < score_text(scorer, REVIEW).usefulness.value


def test_pasted_code_gives_no_substance(scorer) -> None:
    result = score_text(scorer, f"{REVIEW}\n\n{PASTED}")
    assert result.sentence_flags[1] is Flag.NO_SENTENCE
    assert (result.readings[1].substance, result.readings[1].about) == (0, 0)
    alone = score_text(scorer, PASTED).usefulness
    assert (alone.substance, alone.value) == (0, 0)


def test_sentence_that_only_describes_is_flagged_unless_it_has_a_flag(scorer) -> None:
    result = score_text(scorer, f"{SUMMARY}\n\n{SUMMARY}\n\n{REVIEW}")
    assert result.sentence_flags == (Flag.RESTATES, Flag.REPEATS, None)
    assert result.readings[0].kind is Kind.DESCRIPTION


def test_proposal_of_code_is_something_to_act_on(scorer) -> None:
    comments = "```suggestion\ndef fetch(url, timeout=10):\n```"
    result = scorer.score(PATCH, [Comment(body=comments, path="client.py", line=3)])
    (item,) = result.readings
    assert (item.kind, item.phrases) == (Kind.PROPOSAL, ())
    assert item.substance == pytest.approx(0.9)
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
    assert item.about < reader.ON_TOPIC


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Who reads the json?", Subject.CHANGE),
        ("Who closes telemetry?", Subject.SURROUNDINGS),
        ("Who reads it?", Subject.CHANGE),
    ],
)
def test_subject_without_a_claim_is_where_its_rarest_word_stands(
    monkeypatch, text: str, subject: Subject
) -> None:
    # No claim is near and every sentence is on topic.
    monkeypatch.setattr(reader, "SAME_COSINE", 2.0)
    monkeypatch.setattr(reader, "NEAR_COSINE", 2.0)
    monkeypatch.setattr(reader, "ON_TOPIC", 0.0)
    (item,) = score_text(Scorer(analyzers="none", offline=True), text).readings
    assert (item.subject, item.reference) == (subject, None)


@pytest.mark.parametrize(("rare", "is_claim"), [(0.0, True), (99.0, False)])
def test_near_claim_counts_only_with_a_rare_word(scorer, monkeypatch, rare, is_claim) -> None:
    monkeypatch.setattr(reader, "SAME_COSINE", 2.0)
    monkeypatch.setattr(reader, "NEAR_COSINE", 0.0)
    monkeypatch.setattr(reader, "RARE_IDF", rare)
    (item,) = score_text(scorer, "Please document the parameter `timeout` of `fetch`.").readings
    assert (item.subject is Subject.CLAIM) is is_claim


# Strange changes


@pytest.mark.parametrize("patch", [BINARY, RENAME])
def test_change_without_lines_is_read(scorer, patch: str) -> None:
    result = score_text(scorer, REVIEW, patch)
    assert all(map(math.isfinite, values(result.usefulness)))
    assert all(item.reference is None or result.references for item in result.readings)


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


def test_huge_change_is_read(scorer) -> None:
    lines = "".join(f"+value_{at} = compute({at})\n" for at in range(8_000))
    patch = f"--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,8000 @@\n{lines}"
    result = score_text(scorer, "Please use a list instead of `value_17`.", patch)
    assert result.usefulness.against.endswith("more than 15 lines")
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


# Which encoder


def test_reader_is_for_its_encoder_alone() -> None:
    name = minilm.MiniLM(offline=True).identity.partition("@")[0]
    assert reader.reader_for(f"{name}@other-revision") is reader.shipped()
    assert reader.reader_for("hashing:256") is None
    assert reader.reader_for(f"{name}-large") is None
    assert reader.reader_for("") is None
    assert reader.reader_for(name, "published") is None
    assert reader.reader_for(name, "calibrated@4.ab.0+cd") is reader.shipped()


def test_best_degree_of_a_sentence_is_a_usual_one_without_claims() -> None:
    degrees = np.array([[0.5, 0.0], [0.25, 0.75]], dtype=np.float32)
    assert reader.best_degrees(degrees) == [0.5, 0.75]
    assert reader.best_degrees(degrees[:0]) == [reader.UNMATCHED] * 2
    assert reader.best_degrees(degrees[:, :0]) == []


def test_other_encoder_gives_results_without_usefulness() -> None:
    result = Scorer(encoder="hashing", analyzers="none").score(PATCH, REVIEW)
    assert result.relevance is not None
    assert result.usefulness is None
    assert all(item.usefulness is None for item in (*result.comments, *result.reviews))
    assert result.readings == ()


def test_no_shipped_weights_is_no_reader(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(reader, "SHIPPED", tmp_path / "none.npz")
    reader.shipped.cache_clear()
    try:
        assert reader.reader_for("minilm:all-MiniLM-L6-v2@x") is None
    finally:
        reader.shipped.cache_clear()


def test_identity_names_the_data_and_the_file() -> None:
    shipped = reader.shipped()
    assert shipped.identity.startswith(f"usefulness@{shipped.weights.data_sha256[:8]}+")
    assert len(shipped.file) == 8
