"""Training on a study of our own: the small one, many times over with other names."""

import json
from pathlib import Path

import numpy as np
import pytest

from crscore import Scorer, plugins
from crscore.diff.windows import list_windows
from crscore.encoders import hashing
from crscore.encoders.base import Vectors
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.matchers import calibrated, features
from crscore.records import ReferenceKind
from crscore.usefulness import evidence
from crscore.usefulness.reader import Reader
from crscore_lab.study.attacks.material import split_sentences
from crscore_lab.study.data import study
from crscore_lab.study.data.study import RatedReview
from crscore_lab.training import matcher
from crscore_lab.training.data import study_examples
from crscore_lab.training.fit.boosting import TreeSettings
from crscore_lab.training.matcher import MatcherSettings
from tests.helpers import study as helper
from tests.helpers import useful

NAMES = (
    "limit", "window", "buffer", "queue", "socket", "cursor", "header", "margin", "folder",
    "bucket",
)  # fmt: skip
SMALL = MatcherSettings(trees=TreeSettings(rounds=6, ensembles=2), axes=3)


def many_rows(names=NAMES) -> list[dict]:
    rows = []
    for name in names:
        for row in helper.full_rows():
            text = json.dumps(row).replace("limit", name).replace('"py:', f'"py:{name}')
            rows.append(json.loads(text.replace('"js:', f'"js:{name}')))
    return rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> study.Study:
    path = tmp_path_factory.mktemp("study") / "many.jsonl"
    return study.read_study(helper.write(path, many_rows()))


@pytest.fixture(scope="module")
def learned(data: study.Study):
    return matcher.train(data, encoder=hashing.Hashing(), settings=SMALL)


def test_same_seed_gives_the_same_bytes(data, learned) -> None:
    again = matcher.train(data, encoder=hashing.Hashing(), settings=SMALL)
    assert calibrated.to_bytes(again) == calibrated.to_bytes(learned)


def test_trees_depend_on_the_seed(data, learned) -> None:
    other = matcher.train(data, encoder=hashing.Hashing(), settings=SMALL, seed=1)
    assert other.seed == 1
    assert not np.array_equal(other.trees.value, learned.trees.value)
    np.testing.assert_array_equal(other.statistics.axes, learned.statistics.axes)


def test_reader_judges_what_is_about_the_change(data) -> None:
    example = study_examples.make_examples(data, plugins.create("claims", "structural"))[0]
    sentences = split_sentences(example.text)
    vectors = Vectors(hashing.Hashing())
    claims = [ref.encoded_text for ref in example.references]
    vectors.add([*sentences, *claims, *list_windows(example.diff)])
    about = np.linspace(-1, 1, len(evidence.FEATURES) + 1, dtype=np.float32)
    network = useful.scripted(lambda _: useful.outputs())
    reader = Reader(useful.weights(about=about, network=network), MiniLM(offline=True))
    without, judged = (
        matcher.make_cells(example, sentences, vectors, either).about for either in (None, reader)
    )
    assert (without == 0.5).all()
    assert judged.shape == without.shape
    assert (judged != 0.5).all()


def test_weights_have_the_hash_of_the_data_and_the_encoder(data, learned) -> None:
    assert (learned.data_sha256, learned.seed, learned.encoder) == (
        data.sha256,
        0,
        "hashing:256",
    )
    assert learned.statistics.axes.shape == (3, 256)
    assert learned.trees.depth > 0
    assert learned.decision == matcher.DECISION
    assert learned.trees.feature.max() < len(features.feature_names(3))


def test_trained_weights_can_be_read_and_score(data, learned, tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    path.write_bytes(calibrated.to_bytes(learned))
    own = plugins.create("matchers", "calibrated", {"encoder": "hashing:256", "weights": str(path)})
    change = data.changes[0]
    text = "\n\n".join(review.text for review in change.reviews[:3])
    results = [
        Scorer(encoder="hashing", matcher=candidate, analyzers="none").score(change.patch, text)
        for candidate in (learned, own)
    ]
    assert 0 < results[0].relevance < 1
    np.testing.assert_array_equal(results[0].degrees, results[1].degrees)


def test_scores_rank_reviews_as_people_did(data, learned) -> None:
    scorer = Scorer(encoder="hashing", matcher=learned, analyzers="none")
    pairs = [
        (change.read_diff(), scorer.read_review(review.text), review.ratings[2])
        for change in data.changes[::3]
        for review in change.reviews
        if review.text
    ]
    scores = [result.relevance or 0 for result in scorer.score_many([pair[:2] for pair in pairs])]
    assert np.corrcoef(scores, [rating for *_, rating in pairs])[0, 1] > 0.2


def test_review_is_compared_with_three_lists_and_only_the_edited_one_is_annotated(data) -> None:
    examples = study_examples.make_examples(data, plugins.create("claims", "structural"))
    first = data.changes[0]
    mine = [example for example in examples if example.change == first.id]
    systems = [review.system for review in first.reviews]
    assert [example.system for example in mine] == systems * 3
    assert "ground_truth" in systems
    sources = [{ref.source for ref in example.references} for example in mine[:: len(systems)]]
    assert sources[1:] == [{"structural"}, {"edited"}]
    assert all(example.target.addressed is None for example in mine[: 2 * len(systems)])
    links = {example.system: example.target.addressed for example in mine[2 * len(systems) :]}
    assert links["gpt3.5"] == {0}
    # It addresses row 1 as well, which is a tool's finding.
    assert links["ground_truth"] == {0}


def test_issues_are_left_out_of_examples(data) -> None:
    assert any(ref.kind is ReferenceKind.ISSUE for change in data.changes for ref in change.edited)
    assert any(
        ref.kind is ReferenceKind.ISSUE for change in data.changes for ref in change.recorded
    )
    examples = study_examples.make_examples(data, plugins.create("claims", "structural"))
    assert all(
        ref.kind is not ReferenceKind.ISSUE for example in examples for ref in example.references
    )


def test_likert_ratings_are_scaled_to_0_to_1() -> None:
    review = RatedReview(
        system="s",
        text="t",
        conciseness=1.0,
        comprehensiveness=3.0,
        relevance=5.0,
        addressed=(0, 2),
    )
    # The list that it is compared with has the edited list's rows 0, 2 and 3.
    free, linked = (
        study_examples.make_target(review),
        study_examples.make_target(review, rows=(0, 2, 3)),
    )
    assert free.scores == (0, 0.5, 1)
    assert (free.addressed, linked.addressed) == (None, {0, 1})
    assert free.weight == 1


def test_target_without_annotation_has_no_addressed_references() -> None:
    review = RatedReview(
        system="s", text="t", conciseness=1.0, comprehensiveness=1.0, relevance=1.0
    )
    assert study_examples.make_target(review, rows=(0,)).addressed is None


def test_whole_files_reach_the_diff(data) -> None:
    parsed = data.changes[0].read_diff()
    assert parsed.files[0].new_source == data.changes[0].new_source


def rows_without(**left_out) -> list[dict]:
    return [row | left_out for row in many_rows(NAMES[:6])]


def test_matcher_is_trained_on_a_study_without_recorded_claims(tmp_path: Path) -> None:
    rows = rows_without(llm_claims=[], pseudo_references=[])
    trained = matcher.train(
        study.read_study(helper.write(tmp_path / "s.jsonl", rows)),
        encoder=hashing.Hashing(),
        settings=SMALL,
    )
    assert np.isfinite(trained.statistics.claim).all()


@pytest.mark.parametrize("text", ["", " \n ", "<!-- only hidden -->"])
def test_study_of_blank_reviews_is_an_input_error(tmp_path: Path, text: str) -> None:
    rows = helper.full_rows()
    for row in rows:
        for review in row["reviews"]:
            review["text"] = text
    blank = study.read_study(helper.write(tmp_path / "s.jsonl", rows))
    with pytest.raises(InputError, match="no review that has a sentence"):
        matcher.train(blank, encoder=hashing.Hashing(), settings=SMALL)


@pytest.mark.smoke
def test_matcher_is_trained_on_a_study_of_three_changes(tmp_path: Path) -> None:
    small = study.read_study(helper.write(tmp_path / "s.jsonl", helper.full_rows()))
    trained = matcher.train(small, encoder=hashing.Hashing(), settings=SMALL)
    assert calibrated.to_bytes(trained)


def test_too_few_cells_for_a_split_are_an_input_error(tmp_path: Path) -> None:
    few = study.read_study(helper.write(tmp_path / "few.jsonl", helper.full_rows()[:1]))
    with pytest.raises(InputError, match=r"no tree found a split|nothing can be learned"):
        matcher.train(
            few, encoder=hashing.Hashing(), settings=MatcherSettings(axes=3, negatives=False)
        )


def test_negatives_can_be_left_out(data, learned) -> None:
    bare = MatcherSettings(trees=SMALL.trees, axes=3, negatives=False)
    other = matcher.train(data, encoder=hashing.Hashing(), settings=bare)
    assert not np.array_equal(other.trees.value, learned.trees.value)
