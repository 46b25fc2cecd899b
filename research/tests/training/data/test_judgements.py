import re

import pytest

from crscore.records import Stance
from crscore_lab.training.data import judgements
from crscore_lab.training.data.corpus import FUNCTIONAL, SEVERITIES

KINDS = {"senior", "terse", "nits", "summary", "generic", "invented"}


def test_groups_are_in_all_folds() -> None:
    folds = [judgements.fold_of(str(at)) for at in range(200)]
    assert set(folds) == set(range(judgements.FOLDS))
    assert folds == [judgements.fold_of(str(at)) for at in range(200)]


def test_key_depends_on_the_text_and_its_hunk() -> None:
    keys = {
        judgements.text_key(text, hunk)
        for text in ("Why?", "Why not?")
        for hunk in (None, "", "@@ -1 +1 @@", "@@ -2 +2 @@")
    }
    assert len(keys) == 8
    assert all(re.fullmatch("[0-9a-f]{12}", key) for key in keys)


@pytest.mark.parametrize(
    ("importance", "worth", "ratings"),
    [
        (0, 1, {"actionable": 0.0, "importance": 0.0, "worth": 0.0}),
        (0.5, 2, {"actionable": 0.0, "importance": 0.125, "worth": 0.25}),
        (0.75, 3, {"actionable": 1.0, "importance": 0.1875, "worth": 0.5}),
        (4, 5, {"actionable": 1.0, "importance": 1.0, "worth": 1.0}),
    ],
)
def test_judgement_is_scaled_to_0_to_1(importance, worth, ratings) -> None:
    assert judgements.make_judgement("question", importance, worth) == (Stance.QUESTION, ratings)


def test_shipped_judgements_can_be_read() -> None:
    comments = judgements.read_comment_judgements()
    sentences = judgements.read_sentence_judgements()
    assert min(len(comments), len(sentences)) > 3_000
    whole = {"actionable", "importance", "worth"}
    for judged, names in ((comments, [whole]), (sentences, [whole, {"actionable"}])):
        assert {judgement.stance for judgement in judged.values()} == set(Stance)
        for key, judgement in judged.items():
            assert re.fullmatch("[0-9a-f]{12}", key)
            assert judgement.ratings.keys() in names
            assert all(0 <= rating <= 1 for rating in judgement.ratings.values())


def test_judgements_without_code_can_be_read() -> None:
    judged = judgements.read_words_judgements()
    assert len(judged) > 3_000
    for key, ratings in judged.items():
        assert re.fullmatch("[0-9a-f]{12}", key)
        assert ratings.keys() == {"importance", "worth"}
        assert all(0 <= rating <= 1 for rating in ratings.values())


def test_no_text_was_judged_twice() -> None:
    for name in ("remarks.tsv", "sentences.tsv", "words.tsv"):
        keys = [row[0] for row in judgements._rows(name)]
        assert len(keys) == len(set(keys)), name


@pytest.mark.parametrize("name", ["comments", "reviews", "templates", "wordings", "written"])
def test_texts_written_for_training_are_complete(name: str) -> None:
    rows = judgements.read_texts(name)
    assert len(rows) >= 60
    assert len({frozenset(row) for row in rows}) == 1
    for row in rows:
        assert all(value for value in row.values() if value != 0), row
        assert all(
            0 <= point["importance"] <= judgements.MAX_IMPORTANCE
            for point in (row, *row.get("points", ()))
            if "importance" in point
        )


def test_written_reviews_are_of_every_fold_and_kind() -> None:
    reviews = judgements.read_texts("reviews")
    assert {judgements.fold_of(row["repository"]) for row in reviews} == set(
        range(judgements.FOLDS)
    )
    assert all(row.keys() > KINDS for row in reviews)


def test_severities_and_categories_are_probabilities() -> None:
    assert all(0 <= value <= 1 for value in (*SEVERITIES.values(), *FUNCTIONAL.values()))
