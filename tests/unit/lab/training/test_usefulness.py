"""Training on a corpus of our own: a dozen comments, commits and claims."""

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from crscore.encoders import hashing
from crscore.lab.training import matcher, usefulness
from crscore.lab.training.data import corpus, judged_sentences
from crscore.lab.training.data.corpus import Corpus
from crscore.lab.training.fit.boosting import TreeSettings
from crscore.lab.training.matcher import MatcherSettings
from crscore.matchers.calibrated import weights
from crscore.matchers.calibrated.plugin import Calibrated
from crscore.records import Comment, Kind
from crscore.usefulness import model, reading
from crscore.usefulness.headline import CHANGE_SIZES
from tests.helpers import corpora, useful

ASKED = "Please rename `limit`, it should be plural."


def key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus.read_corpus(corpora.write(tmp_path_factory.mktemp("corpus")))


@pytest.fixture(scope="module", autouse=True)
def judged():
    judgements = {}
    for name in corpora.NAMES:
        for text, good in corpora.SAID:
            for sentence in text.format(name).split(". "):
                judgements[key(sentence.rstrip(".") + ".")] = (
                    (Kind.REQUEST, True) if good else (Kind.PRAISE, False)
                )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judged_sentences, "read_judgements", lambda: judgements)
        small = MatcherSettings(trees=TreeSettings(rounds=4, ensembles=1), axes=3)
        patch.setattr(usefulness.matcher_training, "train", partial(matcher.train, settings=small))
        yield judgements


@pytest.fixture(scope="module")
def both(data: Corpus, judged) -> tuple[model.Weights, Calibrated]:
    return usefulness.train(data, encoder=hashing.Hashing())


@pytest.fixture(scope="module")
def learned(both) -> model.Weights:
    return both[0]


def test_same_corpus_gives_the_same_bytes(data, both) -> None:
    again = usefulness.train(data, encoder=hashing.Hashing())
    assert model.to_bytes(again[0]) == model.to_bytes(both[0])
    assert weights.to_bytes(again[1].weights) == weights.to_bytes(both[1].weights)


def test_matcher_is_learned_with_it(data, both) -> None:
    learned, calibrated = both
    assert calibrated.weights.encoder == learned.encoder
    assert calibrated.weights.data_sha256 == data.study.sha256


def test_weights_say_what_they_were_learned_from(data, learned) -> None:
    assert (learned.encoder, learned.data_sha256) == ("hashing:256", data.sha256)
    assert learned.rarity.documents > 0


def test_layers_fit_the_features(learned) -> None:
    assert learned.about.measures.shape == (useful.TIES, 1)
    assert learned.sentence.measures.shape == (useful.SHAPE, useful.KINDS + 1)
    assert learned.comment.measures.shape == (useful.WHOLE, useful.ASPECTS)
    for layer in (learned.about, learned.sentence, learned.comment):
        for part in (layer.rows, layer.measures, layer.vector, layer.bias):
            assert np.isfinite(part).all()


def test_file_of_it_is_read_again(learned, tmp_path: Path) -> None:
    path = tmp_path / "own.npz"
    path.write_bytes(model.to_bytes(learned))
    assert model.to_bytes(model.read_weights(path)) == path.read_bytes()


def test_judged_sentences_are_told_apart(learned) -> None:
    def read(text: str) -> reading.SentenceReading:
        vector = hashing.Hashing().encode([text])[0]
        return reading.read_sentence(text, vector, learned, about=0.5)

    asked, praised = read(ASKED), read("Nice `bucket`!")
    assert reading.KINDS[int(asked.kinds.argmax())] is Kind.REQUEST
    assert reading.KINDS[int(praised.kinds.argmax())] is Kind.PRAISE
    assert asked.substance > praised.substance


def test_reference_is_of_people_alone_by_size_ascending(data, learned) -> None:
    assert list(learned.reference) == list(CHANGE_SIZES)
    people = sum(post.is_person for post in data.posts)
    assert sum(map(len, learned.reference.values())) == people
    for values in learned.reference.values():
        assert len(values)
        assert (np.diff(values) >= 0).all()
        assert ((values >= 0) & (values <= 1)).all()


def test_size_without_a_comment_has_an_empty_reference(data) -> None:
    small = tuple(post for post in data.posts if len(post.patch) < 100)
    trained, _ = usefulness.train(replace(data, posts=small), encoder=hashing.Hashing())
    sizes = list(map(len, trained.reference.values()))
    assert sizes[0] > 0
    assert sizes[1:] == [0, 0]


def test_text_without_a_sentence_is_left_out(data, learned) -> None:
    blank = replace(data.posts[0], comment=Comment(body="<!-- x -->"))
    more = replace(data, posts=(*data.posts, blank))
    trained, _ = usefulness.train(more, encoder=hashing.Hashing())
    assert model.to_bytes(trained) == model.to_bytes(learned)


def test_proposals_are_split_from_sentences(data) -> None:
    body = "Shorter:\n\n```suggestion\nlimit = 5\n```"
    sentences = usefulness.split_post(replace(data.posts[0], comment=Comment(body=body)))
    assert [sentence.proposal for sentence in sentences] == [False, True]
