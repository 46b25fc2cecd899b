"""What every matcher promises (`crscore/matchers/base.py`)."""

from pathlib import Path

import numpy as np
import pytest

from crscore import plugins
from crscore.diff import parse
from crscore.encoders import minilm
from crscore.matchers.base import Cells, Matcher
from crscore.records import Flag, PseudoReference, ReferenceKind, Sentence
from crscore.scoring.cells import cosine

PATCH = """--- a/a.py
+++ b/a.py
@@ -1 +1,2 @@
-limit = 10
+limit = 20
+retries = 3
"""
CLAIMS = ("The limit is raised from 10 to 20.", "A constant `retries` is added.")
SAID = (
    Sentence(text="Why is the limit 20?", comment=0),
    Sentence(text="`retries` is never used.", comment=0),
    Sentence(text="Have a nice day.", comment=1),
    Sentence(text="", comment=1),
    Sentence(text="half a surrogate \ud83d pair \U0001f469\u200d\U0001f4bb", comment=2),
    Sentence(text="word " * 3_000, comment=2),
    Sentence(text="The limit is raised from 10 to 20.", comment=1, hidden=True),
    Sentence(text="fingerprint:ab12", comment=0, hidden=True),
)
ENCODER = minilm.MiniLM(offline=True)


@pytest.fixture(params=plugins.names("matchers"))
def matcher(request: pytest.FixtureRequest) -> Matcher:
    takes = plugins.options_class(plugins.load("matchers", request.param)).__struct_fields__
    choices = {"encoder": ENCODER.identity, "threshold": 0.6}
    options = {key: value for key, value in choices.items() if key in takes}
    matcher: Matcher = plugins.create("matchers", request.param, options)
    return matcher


@pytest.fixture(scope="module")
def vectors() -> dict[str, np.ndarray]:
    texts = [*CLAIMS, *(sentence.text for sentence in SAID)]
    return dict(zip(texts, ENCODER.encode(texts), strict=True))


def cells(vectors, sentences=SAID, claims=CLAIMS, kind=ReferenceKind.CLAIM) -> Cells:
    def stack(texts) -> np.ndarray:
        rows = [vectors[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 384), dtype=np.float32)

    rows, columns = stack(claims), stack([sentence.text for sentence in sentences])
    cosines = cosine(rows, columns)
    about = np.full(len(sentences), 0.5, dtype=np.float32)
    for array in (rows, columns, cosines, about):
        array.setflags(write=False)
    return Cells(
        diff=parse.parse_diff(PATCH),
        references=tuple(PseudoReference(text=text, kind=kind, source="test") for text in claims),
        sentences=tuple(sentences),
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=cosines,
        about=about,
    )


@pytest.mark.parametrize("kind", ReferenceKind)
def test_degrees_are_float32_in_0_to_1_one_a_cell(matcher: Matcher, vectors, kind) -> None:
    judgement = matcher.match(cells(vectors, kind=kind))
    assert judgement.degrees.dtype == np.float32
    assert judgement.degrees.shape == (len(CLAIMS), len(SAID))
    assert np.isfinite(judgement.degrees).all()
    assert judgement.degrees.min() >= 0
    assert judgement.degrees.max() <= 1


def test_each_sentence_has_a_flag_or_none_and_is_kept_or_not(matcher: Matcher, vectors) -> None:
    judgement = matcher.match(cells(vectors))
    assert len(judgement.flags) == len(judgement.in_review) == len(SAID)
    assert all(flag is None or isinstance(flag, Flag) for flag in judgement.flags)
    assert all(type(value) is bool for value in judgement.in_review)


def test_shown_text_is_always_kept_and_a_machines_mark_never(matcher: Matcher, vectors) -> None:
    judgement = matcher.match(cells(vectors))
    assert judgement.in_review[:6] == (True,) * 6
    assert not judgement.in_review[7]


def test_hidden_text_never_raises_the_score(matcher: Matcher, vectors) -> None:
    judgement = matcher.match(cells(vectors))
    for index, sentence in enumerate(SAID):
        if sentence.hidden and judgement.in_review[index]:
            assert not judgement.degrees[:, index].any()


@pytest.mark.parametrize(("sentences", "claims"), [((), CLAIMS), (SAID, ()), ((), ())])
def test_empty_side_is_judged(matcher: Matcher, vectors, sentences, claims) -> None:
    judgement = matcher.match(cells(vectors, sentences, claims))
    assert judgement.degrees.shape == (len(claims), len(sentences))
    assert len(judgement.flags) == len(judgement.in_review) == len(sentences)


def test_same_cells_give_the_same_judgement(matcher: Matcher, vectors) -> None:
    first, second = (matcher.match(cells(vectors)) for _ in range(2))
    np.testing.assert_array_equal(first.degrees, second.degrees)
    assert (first.flags, first.in_review) == (second.flags, second.in_review)


def test_cells_are_left_alone(matcher: Matcher, vectors) -> None:
    change_cells = cells(vectors)
    before = change_cells.similarity.copy()
    matcher.match(change_cells)
    np.testing.assert_array_equal(change_cells.similarity, before)


def test_judgement_may_be_cut_by_its_columns(matcher: Matcher, vectors) -> None:
    # The pipeline keeps columns and makes the rest read-only: the degrees must be its own.
    change_cells = cells(vectors)
    judgement = matcher.match(change_cells)
    assert not np.shares_memory(judgement.degrees, change_cells.similarity)


def test_decision_is_between_0_and_1(matcher: Matcher, vectors) -> None:
    assert 0 < matcher.match(cells(vectors)).decision < 1


def test_identity_is_stable_and_begins_with_the_plugins_name(
    matcher: Matcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = matcher.identity
    monkeypatch.chdir(tmp_path)
    assert matcher.identity == before
    assert before.partition("@")[0] in plugins.names("matchers")


def test_comment_is_not_lifted_by_another_comment(matcher: Matcher, vectors) -> None:
    alone = matcher.match(cells(vectors, SAID[:2])).degrees
    np.testing.assert_array_equal(matcher.match(cells(vectors)).degrees[:, :2], alone)
