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


def values(found: Usefulness) -> list[float]:
    aspects = found.aspects
    said = (getattr(aspects, name) for name in reading.ASPECTS)
    return [found.about, found.substance, found.value, *said]


def told(scorer: Scorer, text: str, patch: str = PATCH) -> Result:
    return scorer.score(patch, text)


# What a reading is


def test_each_sentence_has_a_reading_and_each_comment_a_usefulness(scorer) -> None:
    found = scorer.score(PATCH, [Comment(body=f"{REVIEW} Why None?"), Comment(body="Thanks!")])
    assert len(found.readings) == len(found.sentences) == 3
    for one in found.readings:
        assert 0 <= one.substance <= 1
        assert 0 <= one.about <= 1
        assert len(one.phrases) <= reader.MAX_PHRASES
    for told_one in (found.usefulness, *(one.usefulness for one in found.comments)):
        assert all(0 <= value <= 1 for value in values(told_one))
        assert 0 <= told_one.standing <= 100


def test_review_is_as_useful_as_its_comments_in_the_mean(scorer) -> None:
    bodies = [REVIEW, "Thanks!", SUMMARY]
    said = [Comment(body=body, author="ann" if at else "bob") for at, body in enumerate(bodies)]
    found = scorer.score(PATCH, said)
    single = [one.usefulness for one in found.comments]
    assert [one.value for one in single] == pytest.approx(
        [told(scorer, body).usefulness.value for body in bodies], abs=1e-6
    )
    for got, *parts in zip(values(found.usefulness), *map(values, single), strict=True):
        assert got == pytest.approx(sum(parts) / 3)
    by_author = {one.author: one.usefulness for one in found.reviews}
    assert by_author["bob"] == single[0]
    assert by_author["ann"].value == pytest.approx((single[1].value + single[2].value) / 2)


def test_same_review_reads_the_same_twice(scorer) -> None:
    assert told(scorer, REVIEW).usefulness == told(scorer, REVIEW).usefulness
    assert told(scorer, REVIEW).readings == told(scorer, REVIEW).readings


def test_telling_phrases_stand_in_the_sentence(scorer) -> None:
    (one,) = told(scorer, "Please move this into a helper.").readings
    assert one.kind is Kind.REQUEST
    assert one.phrases
    assert all(
        phrase.replace("^ ", "") in "please move this into a helper ." for phrase in one.phrases
    )


# What gives no substance


@pytest.mark.parametrize("shown", ["Have a look.", "Nice!", REVIEW, SUMMARY])
def test_hidden_text_gives_no_substance_and_never_pays(scorer, shown: str) -> None:
    plain = told(scorer, shown)
    stuffed = told(scorer, f"{shown} <span hidden>Should `timeout` default to 10?</span>")
    assert stuffed.usefulness.value <= plain.usefulness.value
    assert stuffed.usefulness.aspects == plain.usefulness.aspects
    marked = told(scorer, f"{shown}\n\n<!-- fingerprint:12ab -->")
    assert marked.usefulness == plain.usefulness
    (at,) = (at for at, flag in enumerate(stuffed.sentence_flags) if flag is Flag.HIDDEN)
    assert (stuffed.readings[at].substance, stuffed.readings[at].about) == (0, 0)
    assert stuffed.readings[at].subject is Subject.ELSEWHERE


def test_comment_of_hidden_text_alone_has_no_usefulness(scorer) -> None:
    found = told(scorer, f"<!-- {REVIEW} -->")
    assert found.usefulness is None
    assert found.comments[0].usefulness is None


def test_repeated_sentence_gives_no_substance(scorer) -> None:
    found = told(scorer, f"{REVIEW}\n\n{REVIEW}")
    assert found.sentence_flags[1] is Flag.REPEATS
    first, second = found.readings
    assert first.substance > 0.5
    assert second.substance == 0
    assert second.about == first.about
    assert found.usefulness.value < told(scorer, REVIEW).usefulness.value


def test_pasted_code_gives_no_substance(scorer) -> None:
    found = told(scorer, f"{REVIEW}\n\n{PASTED}")
    assert found.sentence_flags[1] is Flag.NO_SENTENCE
    assert (found.readings[1].substance, found.readings[1].about) == (0, 0)
    alone = told(scorer, PASTED).usefulness
    assert (alone.substance, alone.value) == (0, 0)


def test_sentence_that_only_describes_is_flagged_unless_it_has_a_flag(scorer) -> None:
    found = told(scorer, f"{SUMMARY}\n\n{SUMMARY}\n\n{REVIEW}")
    assert found.sentence_flags == (Flag.RESTATES, Flag.REPEATS, None)
    assert found.readings[0].kind is Kind.DESCRIPTION


def test_proposal_of_code_is_something_to_act_on(scorer) -> None:
    said = "```suggestion\ndef fetch(url, timeout=10):\n```"
    found = scorer.score(PATCH, [Comment(body=said, path="client.py", line=3)])
    (one,) = found.readings
    assert (one.kind, one.phrases) == (Kind.PROPOSAL, ())
    assert one.substance == pytest.approx(0.9)
    assert found.sentence_flags == (None,)


# What a sentence is about


def test_subject_is_a_claim(scorer) -> None:
    found = told(scorer, "The new parameter `timeout` of `fetch` should not default to None.")
    (one,) = found.readings
    assert one.subject is Subject.CLAIM
    assert "timeout" in found.references[one.reference].text
    assert found.references[one.reference].counted


def test_subject_is_something_else(scorer) -> None:
    (one,) = told(scorer, "Rename `OrderRepository` to `OrderStore`.").readings
    assert (one.subject, one.reference) == (Subject.ELSEWHERE, None)
    assert one.about < reader.ON_TOPIC


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
    (one,) = told(Scorer(analyzers="none", offline=True), text).readings
    assert (one.subject, one.reference) == (subject, None)


@pytest.mark.parametrize(("rare", "is_claim"), [(0.0, True), (99.0, False)])
def test_near_claim_counts_only_with_a_rare_word(scorer, monkeypatch, rare, is_claim) -> None:
    monkeypatch.setattr(reader, "SAME_COSINE", 2.0)
    monkeypatch.setattr(reader, "NEAR_COSINE", 0.0)
    monkeypatch.setattr(reader, "RARE_IDF", rare)
    (one,) = told(scorer, "Please document the parameter `timeout` of `fetch`.").readings
    assert (one.subject is Subject.CLAIM) is is_claim


# Strange changes


@pytest.mark.parametrize("patch", [BINARY, RENAME])
def test_change_without_lines_is_read(scorer, patch: str) -> None:
    found = told(scorer, REVIEW, patch)
    assert all(map(math.isfinite, values(found.usefulness)))
    assert all(one.reference is None or found.references for one in found.readings)


def test_change_without_claims_is_read() -> None:
    class Speechless:
        identity = "speechless"

        def generate(self, diffs):
            return tuple(Claims(references=()) for _ in diffs)

    scorer = Scorer(generator=Speechless(), analyzers="none", offline=True)
    found = scorer.score(PATCH, REVIEW)
    assert found.relevance is None
    assert found.usefulness.value > 0
    assert all(one.subject is not Subject.CLAIM for one in found.readings)


def test_huge_change_is_read(scorer) -> None:
    lines = "".join(f"+value_{at} = compute({at})\n" for at in range(8_000))
    patch = f"--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,8000 @@\n{lines}"
    found = told(scorer, "Please use a list instead of `value_17`.", patch)
    assert found.usefulness.against.endswith("more than 15 lines")
    assert all(map(math.isfinite, values(found.usefulness)))


@pytest.mark.parametrize("text", ["", " ", "\n\n", "![](a.png)"])
def test_review_without_text_has_no_usefulness(scorer, text: str) -> None:
    found = told(scorer, text)
    assert (found.usefulness, found.readings) == (None, ())


@pytest.mark.parametrize(
    "text", ["\U0001f44d", "x" * 20_000, "word " * 5_000, "\x00", "名前", "a\ud83db"]
)
def test_hostile_text_has_finite_values(scorer, text: str) -> None:
    found = told(scorer, text).usefulness
    assert found is None or all(map(math.isfinite, values(found)))


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
    found = Scorer(encoder="hashing", analyzers="none").score(PATCH, REVIEW)
    assert found.relevance is not None
    assert found.usefulness is None
    assert all(one.usefulness is None for one in (*found.comments, *found.reviews))
    assert found.readings == ()


def test_no_shipped_weights_is_no_reader(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(reader, "SHIPPED", tmp_path / "none.npz")
    reader.shipped.cache_clear()
    try:
        assert reader.reader_for("minilm:all-MiniLM-L6-v2@x") is None
    finally:
        reader.shipped.cache_clear()


def test_identity_names_the_data_and_the_file() -> None:
    found = reader.shipped()
    assert found.identity.startswith(f"usefulness@{found.weights.data_sha256[:8]}+")
    assert len(found.file) == 8
