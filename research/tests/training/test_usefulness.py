"""Training on a corpus of our own: a dozen comments, commits and claims, and a scripted network."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from crscore import plugins
from crscore.encoders import hashing
from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.errors import InputError
from crscore.matchers import calibrated
from crscore.matchers.calibrated import Calibrated
from crscore.records import Comment, Stance
from crscore.usefulness import evidence, model
from crscore.usefulness.headline import BOTS, COMMENTS, KINDS, PEOPLE, REVIEWS
from crscore.usefulness.reading import OUTPUTS, PHRASED, TunedNetwork
from crscore_lab.study.data.study import Study
from crscore_lab.training import matcher, usefulness
from crscore_lab.training.data import corpus, judgements
from crscore_lab.training.data.corpus import Corpus, Post
from crscore_lab.training.data.judgements import FOLDS, Judgement, fold_of, text_key
from crscore_lab.training.fit.boosting import TreeSettings
from crscore_lab.training.matcher import MatcherSettings
from crscore_lab.training.network import LabelledText
from crscore_lab.training.usefulness import AboutRow, CrossFit
from tests.helpers import corpora, useful

ENCODER = hashing.Hashing()
GENERATOR = plugins.create("claims", "structural")
ASKED = "Please close it."


def read(text: str) -> np.ndarray:
    """Outputs of a network for which whatever asks is useful."""
    asks = re.search("please|may be|leaks|why", text.lower()) is not None
    share = 0.9 if asks else 0.1
    stance = Stance.REQUEST if asks else Stance.PRAISE
    return useful.outputs(stance, actionable=share, importance=share, worth=share, functional=share)


class Tuner:
    """Training that keeps the rows of each of its runs."""

    def __init__(self) -> None:
        self.runs: list[list[LabelledText]] = []

    def __call__(self, rows: Sequence[LabelledText], encoder: MiniLM) -> TunedNetwork:
        assert isinstance(encoder, MiniLM)
        self.runs.append(list(rows))
        # The layers name their run.
        layers = TunedLayers({"run": np.full(2, len(self.runs), dtype=np.float16)})
        head = np.ones((3, len(OUTPUTS)), dtype=np.float32)
        return useful.scripted(read, layers=layers, head=head)


def train(data: Corpus) -> tuple[model.Weights, Calibrated]:
    return usefulness.train(data, encoder=ENCODER, tune=Tuner())


def cross_fit(data: Corpus) -> tuple[CrossFit, Tuner]:
    tuner = Tuner()
    fitted = usefulness.cross_fit(data, encoder=ENCODER, generator=GENERATOR, tune=tuner)
    return fitted, tuner


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, own_texts: None) -> Corpus:
    rows = corpora.rows() | {"study": corpora.rows()["study"][:12]}
    return corpus.read_corpus(corpora.write(tmp_path_factory.mktemp("corpus"), rows))


@pytest.fixture(scope="module", autouse=True)
def own_texts():
    judged = {text_key(ASKED): Judgement(Stance.REQUEST, {"actionable": 1.0})}
    small = MatcherSettings(trees=TreeSettings(rounds=4, ensembles=1), axes=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judgements, "read_texts", corpora.own_texts)
        patch.setattr(judgements, "read_sentence_judgements", lambda: judged)
        patch.setattr(usefulness, "TEMPLATES_PER_CHANGE", 2)
        patch.setattr(usefulness.matcher_training, "train", partial(matcher.train, settings=small))
        yield


@pytest.fixture(scope="module")
def both(data: Corpus) -> tuple[model.Weights, Calibrated]:
    return train(data)


@pytest.fixture(scope="module")
def learned(both) -> model.Weights:
    return both[0]


@pytest.fixture(scope="module")
def crossed(data: Corpus) -> tuple[CrossFit, Tuner]:
    return cross_fit(data)


def test_same_corpus_gives_the_same_bytes(data, both) -> None:
    again = train(data)
    assert model.to_bytes(again[0]) == model.to_bytes(both[0])
    assert calibrated.to_bytes(again[1]) == calibrated.to_bytes(both[1])


def test_matcher_has_the_encoder_and_the_data_of_the_weights(data, both) -> None:
    learned, trained = both
    assert trained.encoder == learned.encoder
    assert trained.data_sha256 == data.study.sha256


def test_matcher_is_trained_with_the_learned_reader(data, monkeypatch) -> None:
    readers = []

    def watch(rated: Study, **options: object) -> None:
        readers.append((rated, options["reader"]))

    monkeypatch.setattr(usefulness.matcher_training, "train", watch)
    learned, _ = train(data)
    ((rated, reader),) = readers
    assert rated is data.study
    assert reader.weights is learned
    assert reader.weights.network.layers is learned.network.layers


def test_weights_have_the_hash_of_the_data_and_the_encoder(data, learned) -> None:
    assert (learned.encoder, learned.data_sha256) == ("hashing:256", data.sha256)
    counts = learned.rarity.frequency.values()
    assert usefulness.MIN_CHANGES <= min(counts) <= max(counts) <= learned.rarity.documents


def test_shapes_of_the_weights_match_the_features(learned) -> None:
    assert learned.about.shape == (len(evidence.FEATURES) + 1,)
    assert learned.network.worth.shape == (len(OUTPUTS) + len(PHRASED) + 1,)
    for part in (learned.about, learned.network.worth):
        assert np.isfinite(part).all()
    assert learned.network.worth[:-1].any()


def test_final_network_is_tuned_on_all_texts(learned) -> None:
    # After one for each fold.
    assert learned.network.layers.tensors["run"][0] == FOLDS + 1
    assert learned.network.head.shape == (3, len(OUTPUTS))


def test_written_weights_can_be_read(learned, tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    path.write_bytes(model.to_bytes(learned))
    assert model.to_bytes(model.read_weights(path)) == path.read_bytes()


def test_each_text_is_compared_with_its_own_change_and_others_of_its_pool(data, crossed) -> None:
    rows = crossed[0].about
    by_text: dict[tuple[Post, bool], list[AboutRow]] = {}
    for row in rows:
        by_text.setdefault((row.post, row.is_full_text), []).append(row)
    assert {row.post for row in rows} <= set(data.posts)
    for compared in by_text.values():
        assert [row.is_own for row in compared] == [True, *[False] * usefulness.NEGATIVES]
    totals = [sum(row.weight for row in rows if row.is_own is side) for side in (True, False)]
    assert totals[0] == pytest.approx(totals[1])
    assert all(row.post.is_tied for row in rows)


def test_network_of_a_fold_is_not_tuned_on_texts_of_the_fold(crossed) -> None:
    fitted, tuner = crossed
    assert len(tuner.runs) == len(fitted.readers) == FOLDS
    for fold, seen in enumerate(tuner.runs):
        assert seen == [row for row in fitted.rows if fold_of(row.group) != fold]
        assert 0 < len(seen) < len(fitted.rows)


def test_rows_are_texts_with_labels(crossed) -> None:
    rows = crossed[0].rows
    assert all(row.text.strip() for row in rows)
    assert all(row.stance or row.ratings for row in rows)
    assert not any(np.isnan(value) for row in rows for value in row.ratings.values())


def test_judged_sentence_is_learned_once_and_counts_less(crossed) -> None:
    rows = [row for row in crossed[0].rows if row.text == ASKED]
    assert [row.weight for row in rows] == [usefulness.SENTENCE_WEIGHT]
    assert (rows[0].stance, rows[0].ratings) == (Stance.REQUEST, {"actionable": 1})


def test_comment_that_was_also_judged_without_code_has_the_mean(data, monkeypatch) -> None:
    post = next(post for post in data.posts if "worth" in post.ratings and not post.by_sentence)
    judged = {text_key(post.comment.body.strip()): {"worth": 0.2}}
    monkeypatch.setattr(judgements, "read_words_judgements", lambda: judged)
    row = next(row for row in usefulness._label_texts([post]) if "worth" in row.ratings)
    assert row.ratings["worth"] == pytest.approx((post.ratings["worth"] + 0.2) / 2)
    assert row.weight == post.weight * usefulness.COMMENT_WEIGHT


def test_labels_of_sentences_apply_to_each_sentence(crossed) -> None:
    texts = [row.text for row in crossed[0].rows]
    assert {"The window was 10.", "It is 20 now."} < set(texts)
    # A whole comment of two sentences.
    assert any(re.fullmatch(r"`\w+` leaks when .*\. Please close it\.", text) for text in texts)


def test_worth_is_learned_from_reviews_of_every_kind(crossed) -> None:
    kinds_by_change: dict[str, set[str]] = {}
    for item in (item for fold in crossed[0].candidates for item in fold):
        if item.kind not in KINDS:
            kinds_by_change.setdefault(item.group, set()).add(item.kind)
    assert len(kinds_by_change) == 4
    for kinds in kinds_by_change.values():
        assert {kind.split()[0] for kind in kinds} >= {"senior", "terse", "nits", "generic"}
        assert {"template 0", "template 1"} <= kinds


def test_comments_are_in_the_fold_of_their_group(data, crossed) -> None:
    compared = [
        post
        for post in data.posts
        if post.is_tied and post.pool.startswith(usefulness.COMMENT_POOLS)
    ]
    for fold, candidates in enumerate(crossed[0].candidates):
        comments = [item for item in candidates if item.kind == COMMENTS]
        expected = [post for post in compared if fold_of(post.group) == fold]
        assert len(comments) == len(expected) > 0
        assert {item.group for item in comments} == {post.group for post in expected}


def test_remarks_are_measured_as_for_a_score(crossed) -> None:
    fitted, _ = crossed
    items = [item for fold in fitted.candidates for item in fold]
    assert all(item.remarks for item in items)
    for remark in (remark for item in items for remark in item.remarks):
        assert len(remark.measures) == len(OUTPUTS) + len(PHRASED)
        assert np.isfinite(remark.measures).all()
        assert 0 <= remark.about <= 1
    senior = next(item for item in items if item.kind == "senior")
    praise = next(item for item in items if item.kind == "generic")
    actionable = OUTPUTS.index("actionable")
    assert max(remark.measures[actionable] for remark in senior.remarks) > 1
    assert max(remark.measures[actionable] for remark in praise.remarks) < -1


def test_values_of_people_and_bots_are_ascending(data, learned) -> None:
    values = learned.scale.values
    assert list(values) == [(kind, writer) for kind in KINDS for writer in (PEOPLE, BOTS)]
    people = sum(post.is_person and post.is_tied for post in data.posts)
    assert len(values[COMMENTS, PEOPLE]) == people
    assert len(values[REVIEWS, PEOPLE]) == sum(real.is_person for real in data.reviews) > 0
    for row in values.values():
        assert (np.diff(row) >= 0).all()
        assert ((row >= 0) & (row <= 1)).all()


def test_text_without_a_sentence_is_left_out(data, learned) -> None:
    blank = replace(data.posts[0], comment=Comment(body=""))
    trained, _ = train(replace(data, posts=(*data.posts, blank)))
    assert model.to_bytes(trained) == model.to_bytes(learned)


def test_texts_on_only_one_change_are_an_input_error(data) -> None:
    with pytest.raises(InputError, match="a change other than its own"):
        train(replace(data, posts=data.posts[:1]))


def test_proposals_are_split_from_sentences(data) -> None:
    body = "Shorter:\n\n```suggestion\nlimit = 5\n```"
    sentences = usefulness.split_body(Comment(body=body), data.posts[0].diff)
    assert [sentence.proposal for sentence in sentences] == [False, True]
