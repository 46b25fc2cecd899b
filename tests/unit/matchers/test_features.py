import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.encoders import hashing
from crscore.matchers import features
from crscore.matchers.base import Cells
from crscore.matchers.features import DECIMALS, TextStatistics
from crscore.records import PseudoReference, ReferenceKind, Sentence
from crscore.scoring.cells import cosine

PATCH = """@@ -1,2 +1,2 @@
 import time
-limit = 10
+max_limit = 20
"""
ENCODER = hashing.Hashing(dim=16)
DIM, AXES = 16, 2
CLAIMS = ("The limit is raised to 20.", "A test for `max_limit` is missing.")
STRANGE = (
    "",
    " ",
    "\U0001f44d\U0001f3fd",
    "the of and",
    "x" * 10_000,
    "word " * 10_000,
    "half a surrogate \ud83d",
    "\x00\x01",
    "`" * 50,
    "名前を変える",
    "?",
    "1 2 3",
)


def statistics() -> TextStatistics:
    rng = np.random.default_rng(0)
    return TextStatistics(
        frequency={"limit": 5, "test": 3},
        documents=9,
        claim=rng.normal(size=DIM).astype(np.float32) / 4,
        remark=rng.normal(size=DIM).astype(np.float32) / 4,
        axes=rng.normal(size=(AXES, DIM)).astype(np.float32),
        centre=np.zeros(DIM, dtype=np.float32),
    )


def cells(
    sentences: Sequence[str | Sentence],
    claims: Sequence[str | PseudoReference] = CLAIMS,
    patch: str = PATCH,
    about: Sequence[float] | None = None,
) -> Cells:
    columns_text = [
        text if isinstance(text, Sentence) else Sentence(text=text, comment=0) for text in sentences
    ]
    refs = [
        text
        if isinstance(text, PseudoReference)
        else PseudoReference(text=text, kind=ReferenceKind.CLAIM, source="test")
        for text in claims
    ]
    rows = ENCODER.encode([ref.encoded_text for ref in refs])
    columns = ENCODER.encode([sentence.text for sentence in columns_text])
    return Cells(
        diff=parse.parse_diff(patch),
        references=tuple(refs),
        sentences=tuple(columns_text),
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=cosine(rows, columns),
        about=np.array([0.5] * len(columns_text) if about is None else about, dtype=np.float32),
    )


def table(*sentences: str | Sentence, **others) -> np.ndarray:
    return features.compute_features(cells(sentences, **others), statistics())


def column(values: np.ndarray, name: str) -> list[list[float]]:
    return values[..., features.feature_names(AXES).index(name)].tolist()


def test_names_are_distinct_and_as_many_as_columns() -> None:
    names = features.feature_names(AXES)
    assert len(set(names)) == len(names) == table("Why 20?").shape[2]
    assert [name for name in names if "axis" in name] == ["sentence.axis0", "sentence.axis1"]


def test_last_feature_is_the_comments_log_length() -> None:
    # The matcher takes its discount off this one.
    assert features.feature_names(AXES)[-1] == "comment.words"
    values = table("Why 20?", "The limit is low.")
    assert values[..., -1] == pytest.approx(math.log1p(2 + 4), abs=1e-4)


@pytest.mark.parametrize(("claims", "sentences"), [((), ("a",)), (CLAIMS, ()), ((), ())])
def test_empty_side_gives_an_empty_table(claims, sentences) -> None:
    values = table(*sentences, claims=claims)
    assert values.shape[:2] == (len(claims), len(sentences))
    assert values.size == 0


def test_every_cell_knows_its_cosine() -> None:
    change_cells = cells(("The limit is low.", "Why?"))
    values = features.compute_features(change_cells, statistics())
    np.testing.assert_allclose(column(values, "cell.cosine"), change_cells.similarity, atol=6e-5)


def test_values_equal_a_hand_calculation() -> None:
    # Stems: claim 0 {limit, rais, 20}, claim 1 {test, max, limit, mis}; sentence {limit, 20, low}.
    # Rarity of a stem: log(10 / (frequency + 1)).
    limit, rare = math.log(10 / 6), math.log(10)
    values = table("The limit of 20 is low.")
    assert column(values, "cell.shared_sum") == [
        [pytest.approx(math.log1p(limit + rare), abs=1e-4)],
        [pytest.approx(math.log1p(limit), abs=1e-4)],
    ]
    assert column(values, "cell.shared_reference")[0] == [
        pytest.approx((limit + rare) / (limit + 2 * rare), abs=1e-4)
    ]
    # "limit" stands in both claims, "20" in one.
    assert column(values, "cell.shared_unique") == [
        [pytest.approx(math.log1p(limit / 2 + rare), abs=1e-4)],
        [pytest.approx(math.log1p(limit / 2), abs=1e-4)],
    ]
    # Of the sentence, "limit" is on both sides of the change, "20" only on the new one.
    total = limit + 2 * rare
    assert column(values, "sentence.added")[0] == [pytest.approx((limit + rare) / total, abs=1e-4)]
    assert column(values, "sentence.removed")[0] == [pytest.approx(limit / total, abs=1e-4)]
    assert column(values, "sentence.added_only")[0] == [pytest.approx(math.log1p(rare), abs=1e-4)]
    assert column(values, "sentence.foreign_sum")[0] == [pytest.approx(math.log1p(rare), abs=1e-4)]
    assert column(values, "sentence.length")[0] == [pytest.approx(math.log1p(6), abs=1e-4)]
    assert column(values, "sentence.plain")[0] == [pytest.approx(3 / 6, abs=1e-4)]


def test_names_of_the_change_and_foreign_names_are_distinguished() -> None:
    values = table("`max_limit` or `maxRetries` or `minRetries`?")
    assert column(values, "sentence.names_shared")[0] == [pytest.approx(math.log1p(1), abs=1e-4)]
    assert column(values, "sentence.names_foreign")[0] == [pytest.approx(math.log1p(2), abs=1e-4)]
    assert column(values, "cell.names") == [[0.0], [1.0]]


def test_position_and_overlap_count_within_a_comment() -> None:
    first = Sentence(text="The limit is low.", comment=0)
    other = Sentence(text="The limit is low.", comment=1)
    values = table(first, other, Sentence(text="The limit is low.", comment=1))
    assert column(values, "sentence.position")[0] == [0, 0, pytest.approx(math.log(2), abs=1e-4)]
    assert column(values, "sentence.overlap_before")[0] == [0, 0, 1]
    assert column(values, "sentence.sentences")[0] == pytest.approx(
        [0, math.log(2), math.log(2)], abs=1e-4
    )


def test_kind_of_a_reference_is_seen() -> None:
    refs = [
        PseudoReference(text="Same text.", kind=kind, source="test")
        for kind in (ReferenceKind.CLAIM, ReferenceKind.ISSUE, ReferenceKind.IMPLICATION)
    ]
    values = table("Why?", claims=refs)
    assert column(values, "reference.is_implication") == [[0], [0], [1]]


def test_reading_of_a_reference_comes_before_its_text() -> None:
    plain = PseudoReference(text="The limit is raised.", kind=ReferenceKind.CLAIM, source="test")
    coded = PseudoReference(
        text="`x9` changes.", kind=ReferenceKind.CLAIM, source="t", reading="The limit is raised."
    )
    first, other = table("The limit?", claims=[plain]), table("The limit?", claims=[coded])
    np.testing.assert_array_equal(first, other)


def test_single_reference_has_a_neutral_centrality() -> None:
    assert column(table("Why?", claims=CLAIMS[:1]), "reference.central") == [[0.5]]


def test_contrary_is_adding_against_removing() -> None:
    values = table("Why is the check removed?", "A check is added.", claims=["A check was added."])
    assert column(values, "cell.contrary") == [[1, 0]]


def test_comment_does_not_depend_on_other_comments() -> None:
    mine = [Sentence(text=text, comment=3) for text in ("The limit is low.", "Why 20?")]
    alone = table(*mine)
    others = [
        Sentence(text="The limit is raised to 20.", comment=1),
        Sentence(text="A test for `max_limit` is missing.", comment=2),
    ]
    np.testing.assert_array_equal(table(others[0], *mine, others[1])[:, 1:3], alone)
    np.testing.assert_array_equal(table(mine[0], *others, mine[1])[:, [0, 3]], alone)


def test_shown_text_does_not_depend_on_hidden_text() -> None:
    mine = Sentence(text="The limit is low.", comment=0)
    hidden = Sentence(text="The limit is raised to 20.", comment=0, hidden=True)
    np.testing.assert_array_equal(table(mine, hidden)[:, :1], table(mine))


def test_strange_texts_give_finite_numbers() -> None:
    assert np.isfinite(table(*STRANGE, claims=[*STRANGE, *CLAIMS])).all()
    for text in STRANGE:
        assert np.isfinite(table(text, claims=[text])).all()


def test_change_without_lines_gives_finite_numbers() -> None:
    change_cells = cells(("Why?",))
    bare = Cells(
        diff=parse.parse_diff(
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
        ),
        references=change_cells.references,
        sentences=change_cells.sentences,
        reference_vectors=change_cells.reference_vectors,
        sentence_vectors=change_cells.sentence_vectors,
        similarity=change_cells.similarity,
        about=change_cells.about,
    )
    assert np.isfinite(features.compute_features(bare, statistics())).all()


def test_about_of_a_sentence_is_its_own_and_of_a_comment_the_mean() -> None:
    columns_text = [
        Sentence(text="Why 20?", comment=0),
        Sentence(text="Who reads `limit`?", comment=0),
        Sentence(text="Fine.", comment=1),
    ]
    values = table(*columns_text, about=[0.9, 0.1, 0.25])
    assert column(values, "sentence.about")[0] == pytest.approx([0.9, 0.1, 0.25])
    assert column(values, "comment.about")[0] == pytest.approx([0.5, 0.5, 0.25])


def test_values_are_rounded_and_float32() -> None:
    values = table("The limit of 20 is low.", "Why not thirty, as `time` says?")
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, np.round(values, DECIMALS))


def test_last_bits_of_a_cosine_do_not_matter() -> None:
    change_cells = cells(("The limit of 20 is low.", "Why?"))
    moved = change_cells.similarity * np.float32(1 + 2e-7)
    assert (moved != change_cells.similarity).any()
    shaken = Cells(
        diff=change_cells.diff,
        references=change_cells.references,
        sentences=change_cells.sentences,
        reference_vectors=change_cells.reference_vectors,
        sentence_vectors=change_cells.sentence_vectors,
        similarity=moved,
        about=change_cells.about,
    )
    np.testing.assert_array_equal(
        features.compute_features(change_cells, statistics()),
        features.compute_features(shaken, statistics()),
    )


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_any_text_gives_finite_numbers_of_the_right_shape(texts: list[str]) -> None:
    values = table(*texts, claims=texts)
    assert values.shape == (len(texts), len(texts), len(features.feature_names(AXES)))
    assert np.isfinite(values).all()


def test_rarity_adds_up_and_ignores_the_order() -> None:
    usual = statistics()
    assert usual.rarity([]) == 0
    assert usual.rarity(["limit"]) == pytest.approx(math.log(10 / 6))
    assert usual.rarity(["unknown"]) == pytest.approx(math.log(10))
    stems = [f"stem{index}" for index in range(50)] + ["limit", "test"]
    assert usual.rarity(stems) == usual.rarity(stems[::-1]) == usual.rarity(frozenset(stems))
