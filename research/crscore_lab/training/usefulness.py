"""Learns the weights of the headline, for `crscore train usefulness`.

- *About* is learned from real comments and commit titles, each paired with its own change and with
  other changes of the same language or repository. This needs no labels.
- The *network* learns the stance, importance and other ratings of texts.
- *Worth* is learned from readers' judgements of comments. Its inputs are readings by networks that
  have not seen the comments.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import structs

from crscore import plugins
from crscore.claims.base import ClaimGenerator
from crscore.diff.windows import list_windows
from crscore.encoders.base import Encoder, Vectors
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.matchers.calibrated import Calibrated
from crscore.records import Comment, Diff, PseudoReference, Sentence
from crscore.review.read import parse_comment, sentences_of
from crscore.usefulness import evidence, headline
from crscore.usefulness.evidence import ChangeEvidence, Rarity
from crscore.usefulness.model import Scale, Weights
from crscore.usefulness.reader import Reader, doubt, mean_direction
from crscore.usefulness.reading import TunedNetwork
from crscore_lab.training import logistic, network, phrases, worth
from crscore_lab.training import matcher as matcher_training
from crscore_lab.training.data import judgements, templates
from crscore_lab.training.data.corpus import Corpus, Post
from crscore_lab.training.data.judgements import FOLDS, fold_of, text_key
from crscore_lab.training.data.study_examples import select_counted
from crscore_lab.training.network import LabelledText
from crscore_lab.training.worth import Candidate, MeasuredRemark

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

MIN_CHANGES: Final = 5
"""Minimum number of changes that must contain a stem for the stem to be kept."""
NEGATIVES: Final = 2
"""Number of other changes that a text is compared with."""
SENTENCE_WEIGHT: Final = 0.7
"""Weight of a judged sentence, relative to 1 for a judged comment."""
COMMENT_WEIGHT: Final = 1.5
"""Weight of a real comment that was judged, relative to 1 for a text of our own."""
COMMENT_POOLS: Final = ("rated", "acted", "categories", "accepted")
"""Prefixes of the pools of real comments."""
TEMPLATES_PER_CHANGE: Final = 4
"""Maximum number of templates that are filled for each change."""

_NO_DIFF: Final = Diff(files=(), sha256="")

Learn = Callable[[Sequence[LabelledText], MiniLM], TunedNetwork]


@dataclass(slots=True, eq=False)
class _Change:
    """A change with its claims."""

    diff: Diff
    references: tuple[PseudoReference, ...]
    evidence: ChangeEvidence | None = None
    """Evidence of the change; set when the texts of the change are encoded."""


@dataclass(slots=True, eq=False)
class _Text:
    """Text on a change: a comment, a title, or a review."""

    post: Post
    sentences: tuple[Sentence, ...]
    change: _Change

    @property
    def full_text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)

    def vector(self, vectors: Vectors) -> Floats:
        return mean_direction(vectors.of([sentence.text for sentence in self.sentences]))


def train(
    corpus: Corpus,
    *,
    encoder: Encoder,
    generator: ClaimGenerator | None = None,
    tune: Learn = network.tune,
) -> tuple[Weights, Calibrated]:
    """Learn the weights of the headline, and train the matcher, which uses *about*.

    Args:
        corpus: Comments, titles and claims, with their changes.
        encoder: Encoder that the score will use.
        generator: Generator of the claims; `structural` if None.
        tune: Function that tunes the encoder on labelled texts.

    Returns:
        The weights of the headline, and the matcher.

    Raises:
        InputError: There is nothing to learn from.
        DependencyError: scipy, lightgbm, torch or transformers is not installed.
    """
    generator = generator or plugins.create("claims", "structural")
    fitted = cross_fit(corpus, encoder=encoder, generator=generator, tune=tune)
    candidates = [item for fold in fitted.candidates for item in fold]
    learned = worth.fit(candidates)
    final = tune(fitted.rows, _choose_tunable(encoder))
    weights = replace(
        fitted.weights,
        network=structs.replace(final, phrases=phrases.learn(fitted.rows), worth=learned),
        scale=worth.make_scale(candidates, learned),
        guide=worth.collect_judged_values(candidates),
    )
    matcher = matcher_training.train(
        corpus.study,
        encoder=encoder,
        generator=generator,
        reader=Reader(weights, _choose_tunable(encoder)),
    )
    return weights, matcher


class AboutRow(NamedTuple):
    """A text, compared with its own change or with another one."""

    measures: list[float]
    is_own: bool
    weight: float
    post: Post
    is_full_text: bool
    """Whether the full text was compared, not one of its sentences."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossFit:
    """Training data of the worth: texts with readings by networks that have not seen them."""

    rows: list[LabelledText]
    """Training data of the network."""
    about: list[AboutRow]
    """Training data of *about*."""
    weights: Weights
    """The weights, without those of the network and of the worth."""
    readers: list[Reader]
    """For each fold, a reader whose network has not seen the texts of the fold."""
    candidates: list[list[Candidate]]
    """For each fold, its comments, real reviews and written reviews."""


def cross_fit(
    corpus: Corpus, *, encoder: Encoder, generator: ClaimGenerator, tune: Learn = network.tune
) -> CrossFit:
    """For each fold, tune a network on the other folds and measure the fold's texts with it.

    Raises:
        InputError, DependencyError: As in `train`.
    """
    changes = _Changes(generator)
    texts = _read_texts(corpus, changes)
    vectors = Vectors(encoder)
    rarity = _learn_changes(texts, changes, vectors)
    about = list(_compare_changes(texts, vectors, rarity))
    weights = Weights(
        encoder=encoder.identity.partition("@")[0],
        data_sha256=corpus.sha256,
        rarity=rarity,
        about=fit_about(about),
        network=network.UNTUNED,
        scale=Scale(values={}, spread={}),
        guide={},
    )
    rows = list(_label_texts(corpus.posts))
    fitted = CrossFit(rows=rows, about=about, weights=weights, readers=[], candidates=[])
    for fold in range(FOLDS):
        learning = [row for row in rows if fold_of(row.group) != fold]
        held_out = structs.replace(
            tune(learning, _choose_tunable(encoder)), phrases=phrases.learn(learning)
        )
        reader = Reader(replace(weights, network=held_out), _choose_tunable(encoder))
        judge = _Judge(reader, changes, vectors)
        fitted.readers.append(reader)
        fitted.candidates.append(judge.measure_remarks(_list_compared(corpus, texts, fold)))
    return fitted


def _choose_tunable(encoder: Encoder) -> MiniLM:
    return encoder if isinstance(encoder, MiniLM) else MiniLM()


class _Changes(dict[str, _Change]):
    """Hash of a change -> the change."""

    def __init__(self, generator: ClaimGenerator) -> None:
        super().__init__()
        self._generator = generator

    def add(self, diffs: Iterable[Diff]) -> None:
        """Add the changes that are new, and generate their claims."""
        new = list({diff.sha256: diff for diff in diffs if diff.sha256 not in self}.values())
        for diff, claims in zip(new, self._generator.generate(new), strict=True):
            self[diff.sha256] = _Change(diff, select_counted(claims.references))


def _read_texts(corpus: Corpus, changes: _Changes) -> list[_Text]:
    tied = [post for post in corpus.posts if post.is_tied and post.diff is not None]
    changes.add(post.diff for post in tied if post.diff)
    texts = [
        _Text(post, split_body(post.comment, post.diff), changes[post.diff.sha256])
        for post in tied
        if post.diff
    ]
    return [text for text in texts if text.sentences]


def split_body(comment: Comment, diff: Diff | None) -> tuple[Sentence, ...]:
    """Split a text into its sentences and its proposals of code."""
    parsed = parse_comment(comment, diff or Diff(files=(), sha256=""), "markdown")
    return sentences_of([parsed])


def _label_texts(posts: Iterable[Post]) -> Iterator[LabelledText]:
    """Yield full texts, and the sentences that were judged, with their known labels."""
    judged = judgements.read_sentence_judgements()
    by_words = judgements.read_words_judgements()
    texts_read: set[str] = set()
    for post in posts:
        sentences = [unit.text for unit in split_body(post.comment, post.diff) if not unit.hidden]
        ratings = {name: value for name, value in post.ratings.items() if not math.isnan(value)}
        # Readers who saw the code judged by facts that are not in the text. The mean of their
        # judgement and one of the text alone is easier to learn: on held-out texts, the rank
        # correlation with the judgement with the code rose from 0.27 to 0.29 for the worth, and
        # from 0.39 to 0.42 for the importance.
        from_text = by_words.get(text_key(post.comment.body.strip()), {})
        for name, value in from_text.items():
            ratings[name] = (value + ratings.get(name, value)) / 2
        has_labels = post.stance is not None or bool(ratings)
        for text in sentences:
            judgement = judged.get(text_key(text))
            if judgement and text not in texts_read:
                texts_read.add(text)
                yield LabelledText(
                    text=text, group=post.group, stance=judgement.stance,
                    ratings=judgement.ratings, weight=SENTENCE_WEIGHT,
                )  # fmt: skip
        if has_labels and sentences:
            for text in sentences if post.by_sentence else [" ".join(sentences)]:
                yield LabelledText(
                    text=text, group=post.group, stance=post.stance,
                    ratings=ratings, weight=post.weight * (COMMENT_WEIGHT if from_text else 1.0),
                )  # fmt: skip


def _learn_changes(texts: Sequence[_Text], changes: _Changes, vectors: Vectors) -> Rarity:
    """Encode all texts, collect the evidence of all changes, and count their stems."""
    vectors.add(sentence.text for text in texts for sentence in text.sentences)
    vectors.add(_texts_of(changes.values()))
    for change in changes.values():
        change.evidence = _collect(change, vectors)
    return _count_rarity(changes.values())


def _collect(change: _Change, vectors: Vectors) -> ChangeEvidence:
    rows = vectors.of([ref.encoded_text for ref in change.references])
    windows = vectors.of(list_windows(change.diff))
    return evidence.collect_evidence(change.diff, change.references, rows, windows)


def _texts_of(changes: Iterable[_Change]) -> Iterator[str]:
    for change in changes:
        yield from (ref.encoded_text for ref in change.references)
        yield from list_windows(change.diff)


def _count_rarity(changes: Iterable[_Change]) -> Rarity:
    counts: Counter[str] = Counter()
    documents = 0
    for change in changes:
        words = evidence.read_change_words(change.diff)
        counts.update(words.changed | words.context)
        documents += 1
    return Rarity(
        frequency={stem: n for stem, n in sorted(counts.items()) if n >= MIN_CHANGES},
        documents=documents,
    )


def _compare_changes(
    texts: Sequence[_Text], vectors: Vectors, rarity: Rarity
) -> Iterator[AboutRow]:
    """Compare each text with its own change and with others of its pool."""
    pools: dict[str, list[_Text]] = {}
    for text in texts:
        pools.setdefault(text.post.pool, []).append(text)
    rng = random.Random(0)
    for text in texts:
        candidates = [
            candidate
            for candidate in pools[text.post.pool]
            # A text on the same patch is about the same change.
            if candidate.post.patch != text.post.patch
        ]
        if not candidates:
            continue
        parts = [(text.full_text, text.vector(vectors))]
        # A sentence of the text is compared, too, because the reader also judges single sentences.
        if len(text.sentences) > 1:
            sentence = rng.choice(text.sentences).text
            parts.append((sentence, vectors[sentence]))
        for words, vector in parts:
            for paired in (text, *(rng.choice(candidates) for _ in range(NEGATIVES))):
                if paired.change.evidence is not None:
                    is_own = paired is text
                    yield AboutRow(
                        evidence.measure_evidence(words, vector, paired.change.evidence, rarity),
                        is_own,
                        # The own and the other changes get the same total weight, and so does each
                        # text, whether it has one part or two.
                        (NEGATIVES if is_own else 1.0) / len(parts),
                        text.post,
                        words is parts[0][0],
                    )


def fit_about(rows: Sequence[AboutRow]) -> Floats:
    """Learn to distinguish a text with its own change from the same text with another change.

    Raises:
        InputError: There is nothing to learn from.
    """
    if not rows:
        raise InputError("no text of the data can be compared with a change other than its own")
    return logistic.fit_logistic(
        np.array([row.measures for row in rows]),
        np.array([float(row.is_own) for row in rows]),
        weights=np.array([row.weight for row in rows]),
    )


_Compared = tuple[Candidate, Diff | None, tuple[Comment, ...]]
"""Text to learn from, without its remarks; its change, if that is known; and its comments."""


def _list_compared(corpus: Corpus, texts: Sequence[_Text], fold: int) -> Iterator[_Compared]:
    """Yield the texts of a fold from which the worth is learned."""
    rng = random.Random(fold)
    for text in texts:
        post = text.post
        if fold_of(post.group) == fold and post.pool.startswith(COMMENT_POOLS):
            worths = [post.ratings["worth"]] if "worth" in post.ratings else []
            candidate = Candidate(
                kind=headline.COMMENTS, is_person=post.is_person, worths=worths,
                ratings=post.ratings, group=post.group,
            )  # fmt: skip
            yield candidate, text.change.diff, (post.comment,)
    for real in corpus.reviews:
        if fold_of(real.repository) == fold:
            candidate = Candidate(
                kind=headline.REVIEWS, is_person=real.is_person, worths=real.worths,
                group=real.repository,
            )  # fmt: skip
            yield candidate, real.diff, real.comments
    reviews = [review for review in corpus.written if fold_of(review.repository) == fold]
    unseen = [row for row in judgements.read_texts("templates") if fold_of(row["text"]) == fold]
    count = min(len(unseen), TEMPLATES_PER_CHANGE)
    for review in reviews:
        texts_by_kind = dict(review.texts)
        for number, template in enumerate(rng.sample(unseen, count)):
            filled = templates.fill(template["text"], review.patch, rng)
            texts_by_kind[f"template {number}"] = filled
        for kind, body in texts_by_kind.items():
            group = review.diff.sha256
            yield Candidate(group=group, kind=kind), review.diff, (Comment(body=body),)


class _Judge:
    """Measures the remarks of texts."""

    def __init__(self, reader: Reader, changes: _Changes, vectors: Vectors) -> None:
        self._reader = reader
        self._changes = changes
        self._vectors = vectors

    def measure_remarks(self, compared: Iterable[_Compared]) -> list[Candidate]:
        """Add the measured remarks to the candidates, and return the candidates."""
        items = list(compared)
        self._changes.add(diff for _, diff, _ in items if diff)
        units = [
            sentences_of(
                [parse_comment(comment, diff or _NO_DIFF, "markdown") for comment in comments]
            )
            for _, diff, comments in items
        ]
        for (_, diff, _), sentences in zip(items, units, strict=True):
            if diff:
                change = self._changes[diff.sha256]
                self._vectors.add(ref.encoded_text for ref in change.references)
                self._vectors.add(list_windows(diff))
            self._vectors.add(sentence.text for sentence in sentences)
        readings = self._reader.read_texts(
            [
                (sentences, self._vectors.of([unit.text for unit in sentences]))
                for sentences in units
            ]
        )
        for (candidate, diff, _), sentences, read in zip(items, units, readings, strict=True):
            remarks = read[1]
            rows = self._vectors.of([unit.text for unit in sentences])
            # A text whose change is not in the data is assumed to be about the change.
            abouts = [1.0] * len(remarks)
            if diff:
                own_evidence = _collect(self._changes[diff.sha256], self._vectors)
                # All real comments of the data are on a line of their change.
                is_placed = candidate.kind in headline.KINDS
                abouts = doubt(
                    [
                        self._reader.judge_remark(remark, rows, own_evidence, is_placed=is_placed)
                        for remark in remarks
                    ]
                )
            if remarks:
                texts = [remark.text for remark in remarks]
                measures = self._reader.weights.network.raw_outputs(texts, self._reader.encoder)
                candidate.remarks += map(MeasuredRemark, measures, abouts)
        return [candidate for candidate, _, _ in items]
