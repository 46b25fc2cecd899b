"""`crscore train usefulness`: from real comments and commits to the weights of the headline.

Three layers are learned, each on what people wrote. *About*: real comments and commit titles beside
their own change and beside others of the same language or repository; this needs no labels.
*Sentence*: sentences whose kind readers judged (`sentences.tsv`), and claims, which describe.
*Comment*: what raters said of comments, and whether the code was changed for them.
"""

from __future__ import annotations

import hashlib
import importlib.resources
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
from crscore.lab.training import linear, samples
from crscore.lab.training import matcher as matchers
from crscore.lab.training.corpus import Corpus, Post
from crscore.lab.training.linear import Recipe, Rows
from crscore.lab.training.samples import Vectors
from crscore.matchers.calibrated.plugin import Calibrated
from crscore.pipeline import split_comment
from crscore.records import Kind, PseudoReference, Sentence
from crscore.usefulness import evidence, headline, phrases, reading
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.model import Linear, Weights
from crscore.usefulness.reader import Reader, best_degrees
from crscore.usefulness.reading import KINDS, ChangeEvidence, SentenceReading

Array = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]

ABOUT: Final = Recipe(strength=1.0)
SENTENCE: Final = Recipe(strength=0.3, softmax=len(KINDS))
COMMENT: Final = Recipe(strength=0.1, scales=(1.0, 0.3, 2.0), balanced=True)
FOLDS: Final = 6
SEEN_IN: Final = 5
"""Fewest changes with a stem for it to be kept."""
OTHERS: Final = 2
"""Other changes that a text is laid beside."""
ACTS_FROM: Final = 2
"""Judgement from which a sentence gives something to act on."""
CLAIM_WEIGHT: Final = 0.5
"""Weight of a claim among the sentences, beside 1 for a judged one."""
BANK_WEIGHT: Final = 3.0
DONE_WEIGHT: Final = 0.2
MAX_DONE_CLAIMS: Final = 2
"""Claims of a change that tell what was done, among the sentences."""
_DONE: Final = re.compile(
    r"\b(?:now|new|no longer|instead of|gone|removed|renamed|moved|added|imports)\b"
)


@dataclass(slots=True, eq=False)
class _Text:
    """Text on a change: a comment, a title, or a list of claims."""

    post: Post
    units: tuple[tuple[str, bool], ...]
    """Its sentences, and its proposals (True)."""
    fold: int
    references: tuple[PseudoReference, ...] = ()
    """Claims of the change that count."""
    done_claims: tuple[str, ...] = ()
    """Some of the claims that tell what was done, as they are written."""
    change: ChangeEvidence = field(init=False)
    """Evidence of the change, once its texts are encoded."""
    read: list[SentenceReading] = field(default_factory=list)

    @property
    def whole(self) -> str:
        return " ".join(text for text, _ in self.units)

    def vector(self, vectors: Vectors) -> Floats:
        return evidence.mean(vectors.of([text for text, _ in self.units]))


def train(
    corpus: Corpus, *, encoder: Encoder, generator: ClaimGenerator | None = None
) -> tuple[Weights, Calibrated]:
    """Learn the weights, and those of the matcher, which reads *about* as the headline reads it.

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
    vectors = Vectors(encoder)
    vectors.learn(_encoded(texts))
    vectors.learn(text for text, _, _ in _rows("bank.tsv"))
    rarity = _rarity(texts)
    for text in texts:
        rows = vectors.of([ref.encoded_text for ref in text.references])
        text.change = reading.collect_evidence(text.post.diff, text.references, rows, vectors)
    about = _learn_about(texts, vectors, rarity)
    empty = Linear(
        phrases={},
        rows=np.zeros((0, 1), dtype=np.float32),
        measures=np.zeros((0, 1), dtype=np.float32),
        vector=np.zeros((0, 1), dtype=np.float32),
        bias=np.zeros(1, dtype=np.float32),
    )
    weights = Weights(
        encoder=encoder.identity.partition("@")[0],
        data_sha256=corpus.sha256,
        rarity=rarity,
        about=about,
        sentence=empty,
        comment=empty,
        reference={},
    )
    comments = [text for text in texts if text.post.labels is not None]
    judged = _judged(texts)
    _read_held_out(comments, judged, vectors, weights)
    matcher = matchers.train(
        corpus.study, encoder=encoder, generator=generator, reader=Reader(weights)
    )
    comment, values = _learn_comments(comments, vectors, weights, matcher)
    learned = replace(
        weights,
        sentence=_learn_sentences(judged, vectors),
        comment=comment,
        reference=values,
    )
    return learned, matcher


def _read_texts(corpus: Corpus, generator: ClaimGenerator) -> list[_Text]:
    made = generator.generate([post.diff for post in corpus.posts])
    texts = []
    for post, claims in zip(corpus.posts, made, strict=True):
        chosen = samples.select_counted(claims.references)
        texts.append(
            _Text(
                post=post,
                units=_split(post),
                fold=fold_of(post.group),
                references=chosen,
                done_claims=tuple(one.text for one in chosen if _DONE.search(one.text))[
                    :MAX_DONE_CLAIMS
                ],
            )
        )
    return [text for text in texts if text.units]


def _split(post: Post) -> tuple[tuple[str, bool], ...]:
    """Split a text into its sentences, and its proposals of code (True)."""
    parsed = split_comment(post.comment, post.diff, "markdown")
    return (
        *((text, False) for text in parsed.sentences),
        *((text, True) for text in parsed.proposals),
    )


def fold_of(group: str) -> int:
    """Return the fold of a group, from 0 to `FOLDS` - 1."""
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) % FOLDS


def _encoded(texts: Iterable[_Text]) -> Iterable[str]:
    for text in texts:
        yield from (ref.encoded_text for ref in text.references)
        yield from text.done_claims
        yield from evidence.windows(text.post.diff)
        yield from (unit for unit, _ in text.units)


def _rarity(texts: Iterable[_Text]) -> Rarity:
    counts: Counter[str] = Counter()
    changes = {id(text.post.diff): text.post.diff for text in texts}
    for diff in changes.values():
        ground = evidence.read_change_words(diff)
        counts.update(ground.changed | ground.context)
    return Rarity(
        frequency={stem: n for stem, n in sorted(counts.items()) if n >= SEEN_IN},
        documents=len(changes),
    )


def _learn_about(texts: Sequence[_Text], vectors: Vectors, rarity: Rarity) -> Linear:
    """Learn to tell a text beside its own change from the same beside another."""
    own = [text for text in texts if text.post.is_tied]
    alike: dict[str, list[_Text]] = {}
    for text in own:
        alike.setdefault(text.post.alike, []).append(text)
    rng = random.Random(0)
    rows: list[list[float]] = []
    targets: list[float] = []
    weights: list[float] = []
    for text in own:
        others = [one for one in alike[text.post.alike] if one.post.patch != text.post.patch]
        if not others:
            continue
        units = [(text.whole, text.vector(vectors))]
        if len(text.units) > 1:
            unit = rng.choice(text.units)[0]
            units.append((unit, vectors[unit]))
        for unit, vector in units:
            for other in (text, *(rng.choice(others) for _ in range(OTHERS))):
                change = other.change
                rows.append(
                    evidence.measure_evidence(
                        unit, vector, change.ground, rarity, change.lines, change.claims
                    )
                )
                targets.append(float(other is text))
                weights.append((OTHERS if other is text else 1.0) / len(units))
    if not rows:
        raise InputError("no text of the data can be laid beside a change other than its own")
    return linear.fit_layer(
        Rows([()] * len(rows), np.array(rows), None),
        np.array(targets)[:, None],
        weights=np.array(weights),
        recipe=ABOUT,
    )


@dataclass(frozen=True, slots=True)
class _Judged:
    """A sentence whose kind is known."""

    text: str
    kind: Kind
    acts: bool
    weight: float
    fold: int


def read_judgements() -> dict[str, tuple[Kind, bool]]:
    """Read the judged sentences: start of a hash -> kind, and whether there is to act on."""
    return {
        key: (Kind[kind.upper()], int(acts) >= ACTS_FROM)
        for key, kind, acts in _rows("sentences.tsv")
    }


def _rows(name: str) -> Iterable[list[str]]:
    text = importlib.resources.files(__package__).joinpath(name).read_text("utf-8")
    return (line.split("\t") for line in text.splitlines() if not line.startswith("#"))


def _judged(texts: Sequence[_Text]) -> list[_Judged]:
    known = read_judgements()
    found: dict[str, _Judged] = {}
    for text in texts:
        for unit, proposal in text.units:
            key = hashlib.sha256(unit.encode()).hexdigest()[:12]
            if key in known and not proposal:
                (kind, acts), weight = known[key], 1.0
            elif text.post.kind is not None:
                kind, acts, weight = text.post.kind, False, CLAIM_WEIGHT
            else:
                continue
            if key not in found or weight > found[key].weight:
                found[key] = _Judged(unit, kind, acts, weight, text.fold)
        for unit in text.done_claims if text.post.labels is not None else ():
            key = hashlib.sha256(unit.encode()).hexdigest()[:12]
            if key not in found:
                found[key] = _Judged(unit, Kind.DESCRIPTION, False, DONE_WEIGHT, text.fold)
    for sentence, named, given in _rows("bank.tsv"):
        key, kind = hashlib.sha256(sentence.encode()).hexdigest()[:12], Kind[named.upper()]
        acts = int(given) >= ACTS_FROM
        found[key] = _Judged(sentence, kind, acts, BANK_WEIGHT, fold_of(sentence))
    return [found[key] for key in sorted(found)]


def _learn_sentences(judged: Sequence[_Judged], vectors: Vectors) -> Linear:
    targets = np.array(
        [[*(float(one.kind is kind) for kind in KINDS), float(one.acts)] for one in judged]
    )
    return linear.fit_layer(
        Rows(
            [phrases.phrases(one.text) for one in judged],
            np.array([phrases.shape(one.text) for one in judged]),
            vectors.of([one.text for one in judged]),
        ),
        targets,
        weights=np.array([one.weight for one in judged]),
        recipe=SENTENCE,
    )


def _read_held_out(
    comments: Sequence[_Text], judged: Sequence[_Judged], vectors: Vectors, weights: Weights
) -> None:
    """Read every comment by a model that saw nothing of its group."""
    for fold in range(FOLDS):
        learned = replace(
            weights,
            sentence=_learn_sentences([one for one in judged if one.fold != fold], vectors),
        )
        for text in comments:
            if text.fold == fold:
                text.read = _read_units(text, vectors, learned)


def _read_units(text: _Text, vectors: Vectors, weights: Weights) -> list[SentenceReading]:
    found = []
    for unit, proposal in text.units:
        vector = vectors[unit]
        about = reading.judge_about(unit, vector, text.change, weights)[1]
        found.append(reading.read_sentence(unit, vector, weights, about=about, proposal=proposal))
    return found


def _learn_comments(
    comments: Sequence[_Text], vectors: Vectors, weights: Weights, matcher: Calibrated
) -> tuple[Linear, dict[str, Floats]]:
    """Learn what people would say of comments; also value the comments of people, held out."""
    wholes = [text.whole for text in comments]
    stacked = np.stack([text.vector(vectors) for text in comments])
    measured = np.array(
        [
            reading.measure_comment(text.whole, vector, text.read, text.change, weights)[1]
            for text, vector in zip(comments, stacked, strict=True)
        ]
    )
    found = [phrases.phrases(whole) for whole in wholes]
    targets = np.array([text.post.labels for text in comments], dtype=np.float64)

    def learn(rows: Sequence[int]) -> Linear:
        return linear.fit_layer(
            Rows([found[row] for row in rows], measured[rows], stacked[rows]),
            targets[rows],
            weights=np.ones(len(rows)),
            recipe=COMMENT,
        )

    values: dict[str, list[float]] = {}
    for fold in range(FOLDS):
        layer = learn([row for row, text in enumerate(comments) if text.fold != fold])
        learned = replace(weights, comment=layer)
        for text, vector in zip(comments, stacked, strict=True):
            if text.fold == fold and text.post.is_person:
                about, aspects = reading.read_comment(
                    text.whole, vector, text.read, text.change, learned
                )
                degrees = _degrees(text, vectors, weights, matcher)
                value = headline.join_parts(about, text.read, degrees, aspects)[1]
                values.setdefault(headline.size_of(text.post.diff), []).append(value)
    reference = {
        size: np.sort(np.array(values.get(size, ()), dtype=np.float32)) for size in headline.SIZES
    }
    return learn(range(len(comments))), reference


def _degrees(text: _Text, vectors: Vectors, weights: Weights, matcher: Calibrated) -> list[float]:
    """Return how far each sentence addresses its best claim."""
    units = tuple(
        Sentence(text=unit, comment=0, proposal=proposal) for unit, proposal in text.units
    )
    cells, _ = pipeline.compare(text.post.diff, text.references, units, vectors, Reader(weights))
    return best_degrees(matcher.match(cells).degrees)
