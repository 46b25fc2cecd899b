"""`crscore train usefulness`: from real comments and commits to the weights of the headline.

Three layers are learned, each from what people wrote. *About*: real comments and commit titles with
their own change and with others of the same language or repository; this needs no labels.
*Sentence*: sentences whose kind readers judged (`sentences.tsv`), and claims, which describe.
*Comment*: ratings of comments, and whether the code was changed for them.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore import pipeline, plugins
from crscore.claims.base import ClaimGenerator
from crscore.encoders.base import Encoder
from crscore.errors import InputError
from crscore.lab.training import matcher as matcher_training
from crscore.lab.training.data import judged_sentences
from crscore.lab.training.data.corpus import Corpus, Post
from crscore.lab.training.data.judged_sentences import (
    FOLDS,
    JudgedSentence,
    fold_of,
    sentence_key,
)
from crscore.lab.training.data.study_examples import select_counted
from crscore.lab.training.features.vectors import Vectors
from crscore.lab.training.fit import logistic
from crscore.lab.training.fit.logistic import LayerSettings, Rows
from crscore.matchers.calibrated.plugin import Calibrated
from crscore.pipeline import split_comment
from crscore.records import Kind, PseudoReference, Sentence
from crscore.usefulness import evidence, headline, phrases, reading
from crscore.usefulness.evidence import ChangeEvidence, Rarity
from crscore.usefulness.model import Linear, Weights
from crscore.usefulness.reader import Reader, best_degrees
from crscore.usefulness.reading import KINDS, SentenceReading

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

ABOUT: Final = LayerSettings(strength=1.0)
SENTENCE: Final = LayerSettings(strength=0.3, softmax=len(KINDS))
COMMENT: Final = LayerSettings(strength=0.1, scales=(1.0, 0.3, 2.0), balanced=True)
MIN_CHANGES: Final = 5
"""Fewest changes with a stem for it to be kept."""
NEGATIVES: Final = 2
"""Other changes that a text is compared with."""
CLAIM_WEIGHT: Final = 0.5
"""Weight of a claim among the sentences, relative to 1 for a judged one."""
OUTCOME_WEIGHT: Final = 0.2
"""Weight of a claim that states an outcome."""
MAX_OUTCOME_CLAIMS: Final = 2
"""Claims of a change that state an outcome, among the sentences."""
# Takes "the loop now ends", "`a` was renamed", "no longer checks"; not "the method reads a file".
_OUTCOME: Final = re.compile(
    r"\b(?:now|new|no longer|instead of|gone|removed|renamed|moved|added|imports)\b"
)


@dataclass(slots=True, eq=False)
class _Text:
    """Text on a change: a comment, a title, or a list of claims."""

    post: Post
    sentences: tuple[Sentence, ...]
    """Its sentences, and its proposals of code."""
    fold: int
    references: tuple[PseudoReference, ...]
    """Claims of the change that count."""
    change: ChangeEvidence = field(init=False)
    """Evidence of the change, once its texts are encoded."""
    readings: list[SentenceReading] = field(default_factory=list)

    @property
    def whole(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def outcome_claims(self) -> list[str]:
        """Some of the claims that state what was done."""
        claims = [ref.text for ref in self.references if _OUTCOME.search(ref.text)]
        return claims[:MAX_OUTCOME_CLAIMS]

    def vector(self, vectors: Vectors) -> Floats:
        return evidence.mean_direction(vectors.of([sentence.text for sentence in self.sentences]))


def train(
    corpus: Corpus, *, encoder: Encoder, generator: ClaimGenerator | None = None
) -> tuple[Weights, Calibrated]:
    """Learn the weights, and those of the matcher, which uses *about* like the headline.

    Args:
        corpus: Comments, titles and claims, with their changes.
        encoder: Encoder that the score will use.
        generator: Generator of the claims; `structural` when None.

    Returns:
        The weights of the headline, and the matcher. The same corpus and encoder give the same.

    Raises:
        InputError: There is nothing to learn from.
        DependencyError: scipy or lightgbm is not installed.
    """
    generator = generator or plugins.create("claims", "structural")
    texts = _read_texts(corpus, generator)
    bank = judged_sentences.read_bank()
    vectors = Vectors(encoder)
    vectors.learn(_encoded(texts))
    vectors.learn(sentence.text for sentence in bank)
    rarity = _rarity(texts)
    for text in texts:
        rows = vectors.of([ref.encoded_text for ref in text.references])
        text.change = evidence.collect_evidence(text.post.diff, text.references, rows, vectors)
    # The matcher and the reading of sentences need weights before the last two layers exist.
    none = np.zeros((0, 1), dtype=np.float32)
    empty = Linear(
        phrases={}, rows=none, measures=none, vector=none, bias=np.zeros(1, dtype=np.float32)
    )
    weights = Weights(
        encoder=encoder.identity.partition("@")[0],
        data_sha256=corpus.sha256,
        rarity=rarity,
        about=_learn_about(texts, vectors, rarity),
        sentence=empty,
        comment=empty,
        reference={},
    )
    comments = [text for text in texts if text.post.labels is not None]
    judged = _judged(texts, bank)
    # The comment layer has to learn from readings by models that have not seen the text, as in use.
    _read_held_out(comments, judged, vectors, weights)
    matcher = matcher_training.train(
        corpus.study, encoder=encoder, generator=generator, reader=Reader(weights)
    )
    comment, values = _learn_comments(comments, vectors, weights, matcher)
    sentence = _learn_sentences(judged, vectors)
    return replace(weights, sentence=sentence, comment=comment, reference=values), matcher


def _read_texts(corpus: Corpus, generator: ClaimGenerator) -> list[_Text]:
    generated = generator.generate([post.diff for post in corpus.posts])
    texts = [
        _Text(
            post=post,
            sentences=split_post(post),
            fold=fold_of(post.group),
            references=select_counted(claims.references),
        )
        for post, claims in zip(corpus.posts, generated, strict=True)
    ]
    return [text for text in texts if text.sentences]


def split_post(post: Post) -> tuple[Sentence, ...]:
    """Split a text into its sentences, and its proposals of code."""
    parsed = split_comment(post.comment, post.diff, "markdown")
    return (
        *(Sentence(text=text, comment=0) for text in parsed.sentences),
        *(Sentence(text=text, comment=0, proposal=True) for text in parsed.proposals),
    )


def _encoded(texts: Iterable[_Text]) -> Iterable[str]:
    for text in texts:
        yield from (ref.encoded_text for ref in text.references)
        yield from text.outcome_claims
        yield from evidence.windows(text.post.diff)
        yield from (sentence.text for sentence in text.sentences)


def _rarity(texts: Iterable[_Text]) -> Rarity:
    counts: Counter[str] = Counter()
    changes = {id(text.post.diff): text.post.diff for text in texts}
    for diff in changes.values():
        ground = evidence.read_change_words(diff)
        counts.update(ground.changed | ground.context)
    return Rarity(
        frequency={stem: n for stem, n in sorted(counts.items()) if n >= MIN_CHANGES},
        documents=len(changes),
    )


def _learn_about(texts: Sequence[_Text], vectors: Vectors, rarity: Rarity) -> Linear:
    """Learn to distinguish a text with its own change from the same text with another one."""
    tied = [text for text in texts if text.post.is_tied]
    pools: dict[str, list[_Text]] = {}
    for text in tied:
        pools.setdefault(text.post.pool, []).append(text)
    rng = random.Random(0)
    rows: list[list[float]] = []
    targets: list[float] = []
    weights: list[float] = []
    for text in tied:
        candidates = [
            candidate
            for candidate in pools[text.post.pool]
            # A text on the same patch is about it, too.
            if candidate.post.patch != text.post.patch
        ]
        if not candidates:
            continue
        parts = [(text.whole, text.vector(vectors))]
        # In use, single sentences are judged as well.
        if len(text.sentences) > 1:
            sentence = rng.choice(text.sentences).text
            parts.append((sentence, vectors[sentence]))
        for words, vector in parts:
            for paired in (text, *(rng.choice(candidates) for _ in range(NEGATIVES))):
                change, is_own = paired.change, paired is text
                rows.append(evidence.measure_evidence(words, vector, change, rarity))
                targets.append(float(is_own))
                # Both classes get the same total weight, as do texts with one part and with two.
                weights.append((NEGATIVES if is_own else 1.0) / len(parts))
    if not rows:
        raise InputError("no text of the data can be compared with a change other than its own")
    return logistic.fit_layer(
        Rows([()] * len(rows), np.array(rows), None),
        np.array(targets)[:, None],
        weights=np.array(weights),
        settings=ABOUT,
    )


def _judged(texts: Sequence[_Text], bank: Iterable[JudgedSentence]) -> list[JudgedSentence]:
    judgements = judged_sentences.read_judgements()
    judged: dict[str, JudgedSentence] = {}
    for text in texts:
        for sentence in text.sentences:
            key = sentence_key(sentence.text)
            if key in judgements and not sentence.proposal:
                (kind, acts), weight = judgements[key], 1.0
            elif text.post.kind is not None:
                kind, acts, weight = text.post.kind, False, CLAIM_WEIGHT
            else:
                continue
            # A judgement counts more than a kind that follows from the origin of the text.
            if key not in judged or weight > judged[key].weight:
                judged[key] = JudgedSentence(sentence.text, kind, acts, weight, text.fold)
        for claim in text.outcome_claims if text.post.labels is not None else ():
            judged.setdefault(
                sentence_key(claim),
                JudgedSentence(claim, Kind.DESCRIPTION, False, OUTCOME_WEIGHT, text.fold),
            )
    judged |= {sentence_key(sentence.text): sentence for sentence in bank}
    return [judged[key] for key in sorted(judged)]


def _learn_sentences(judged: Sequence[JudgedSentence], vectors: Vectors) -> Linear:
    texts = [sentence.text for sentence in judged]
    targets = [
        [*(float(sentence.kind is kind) for kind in KINDS), float(sentence.acts)]
        for sentence in judged
    ]
    return logistic.fit_layer(
        Rows(
            list(map(phrases.phrases, texts)),
            np.array(list(map(phrases.measure_shape, texts))),
            vectors.of(texts),
        ),
        np.array(targets),
        weights=np.array([sentence.weight for sentence in judged]),
        settings=SENTENCE,
    )


def _read_held_out(
    comments: Sequence[_Text],
    judged: Sequence[JudgedSentence],
    vectors: Vectors,
    weights: Weights,
) -> None:
    """Read every comment by a model that was not trained on its group."""
    for fold in range(FOLDS):
        training_sentences = [sentence for sentence in judged if sentence.fold != fold]
        fold_weights = replace(weights, sentence=_learn_sentences(training_sentences, vectors))
        for text in comments:
            if text.fold == fold:
                text.readings = [
                    _read_sentence(sentence, text, vectors, fold_weights)
                    for sentence in text.sentences
                ]


def _read_sentence(
    sentence: Sentence, text: _Text, vectors: Vectors, weights: Weights
) -> SentenceReading:
    vector = vectors[sentence.text]
    about = reading.judge_about(sentence.text, vector, text.change, weights)[1]
    return reading.read_sentence(
        sentence.text, vector, weights, about=about, proposal=sentence.proposal
    )


def _learn_comments(
    comments: Sequence[_Text], vectors: Vectors, weights: Weights, matcher: Calibrated
) -> tuple[Linear, dict[str, Floats]]:
    """Learn the ratings of comments; also return the held-out values of comments by people."""
    stacked = np.stack([text.vector(vectors) for text in comments])
    measures = np.array(
        [
            reading.measure_comment(text.whole, vector, text.readings, text.change, weights)[1]
            for text, vector in zip(comments, stacked, strict=True)
        ]
    )
    comment_phrases = [phrases.phrases(text.whole) for text in comments]
    targets = np.array([text.post.labels for text in comments], dtype=np.float64)

    def learn(rows: Sequence[int]) -> Linear:
        return logistic.fit_layer(
            Rows([comment_phrases[row] for row in rows], measures[rows], stacked[rows]),
            targets[rows],
            weights=np.ones(len(rows)),
            settings=COMMENT,
        )

    values: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        layer = learn([row for row, text in enumerate(comments) if text.fold != fold])
        fold_weights = replace(weights, comment=layer)
        for text, vector in zip(comments, stacked, strict=True):
            # The scale shows how a text compares with comments of people.
            if text.fold == fold and text.post.is_person:
                about, aspects = reading.read_comment(
                    text.whole, vector, text.readings, text.change, fold_weights
                )
                degrees = _degrees(text, vectors, weights, matcher)
                value = headline.join_parts(about, text.readings, degrees, aspects)[1]
                values.setdefault(headline.size_of(text.post.diff), []).append(value)
    reference = {
        size: np.sort(np.array(values.get(size, ()), dtype=np.float32))
        for size in headline.CHANGE_SIZES
    }
    return learn(range(len(comments))), reference


def _degrees(text: _Text, vectors: Vectors, weights: Weights, matcher: Calibrated) -> list[float]:
    """Return the degree to which each sentence addresses its best claim."""
    cells = pipeline.compare(
        text.post.diff, text.references, text.sentences, vectors, Reader(weights)
    ).cells
    return best_degrees(matcher.match(cells).degrees)
