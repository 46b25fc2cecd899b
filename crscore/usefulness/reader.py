"""Reader of a review: its sentences, its comments, and all of it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.matchers.base import Cells, Judgement
from crscore.records import Aspects, Diff, Flag, Kind, Reading, Sentence, Subject, Usefulness
from crscore.text.content import words
from crscore.usefulness import evidence, headline, model, phrases, reading
from crscore.usefulness.evidence import ChangeEvidence, ChangeWords
from crscore.usefulness.model import Weights
from crscore.usefulness.reading import KINDS, SentenceReading

Floats = npt.NDArray[np.float32]


SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train usefulness`."""
ON_TOPIC: Final = 0.25
"""Probability from which a sentence is about the change."""
SAME_COSINE: Final = 0.5
"""Cosine from which a sentence is about a claim."""
NEAR_COSINE: Final = 0.3
"""The same for a claim that shares a name or a rare word with the sentence."""
RARE_IDF: Final = 3.0
"""Inverse document frequency from which a word is rare: it is in 5 % of changes."""
UNMATCHED: Final = 0.25
"""Degree of a sentence on a change without pseudo-references: that of an ordinary one on topic."""
MAX_PHRASES: Final = 3
"""Most phrases listed for a kind."""
ACTS_FROM: Final = 0.5
"""Substance from which a sentence has one of the actionable kinds."""
EMPTY_BELOW: Final = 0.2
"""Substance below which a sentence can be flagged as a mere description."""
RESTATES_FROM: Final = 0.7
"""Probability of a description from which a sentence is flagged as one."""
_ACTING: Final = tuple(
    KINDS.index(kind) for kind in (Kind.REQUEST, Kind.FAILURE, Kind.PROPOSAL, Kind.QUESTION)
)


class CommentReading(NamedTuple):
    """Parts of the usefulness of one comment."""

    about: float
    readings: list[SentenceReading]
    degrees: list[float]
    aspects: Aspects


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewReading:
    """Readings of all sentences and comments of one change."""

    readings: tuple[Reading, ...]
    """Of each of the S sentences."""
    restates: tuple[bool, ...]
    """For each of them, whether it surely only describes."""
    comments: Mapping[int, CommentReading]
    """Reading of each comment with visible text, by its index."""


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Reader with learned weights."""

    weights: Weights
    file: str = ""
    """Start of the hash of the weights file."""

    @property
    def identity(self) -> str:
        """`usefulness@` with the hashes of the data and of the file."""
        return f"usefulness@{self.weights.data_sha256[:8]}+{self.file}"

    def about(self, units: Sequence[Sentence], columns: Floats, change: ChangeEvidence) -> Floats:
        """Return the probability that each sentence is about the change.

        Args:
            units: The S sentences.
            columns: Their unit vectors, shape (S, D).
            change: The change.

        Returns:
            Shape (S,), each in [0, 1].
        """
        probabilities = [
            reading.judge_about(unit.text, vector, change, self.weights)[1]
            for unit, vector in zip(units, columns, strict=True)
        ]
        return np.array(probabilities, dtype=np.float32)

    def read_sentences(self, cells: Cells) -> tuple[SentenceReading, ...]:
        """Read each of the S sentences alone, before it is matched with the references."""
        return tuple(
            reading.read_sentence(
                sentence.text, vector, self.weights, about=float(about), proposal=sentence.proposal
            )
            for sentence, vector, about in zip(
                cells.sentences, cells.sentence_vectors, cells.about, strict=True
            )
        )

    def read_comments(
        self,
        cells: Cells,
        change: ChangeEvidence,
        sentence_readings: Sequence[SentenceReading],
        judged: Judgement,
    ) -> ReviewReading:
        """Read every comment of one change from its sentences and their matches.

        Args:
            cells: The change's cells.
            change: The change.
            sentence_readings: The reading of each of the S sentences.
            judged: The matcher's judgement.
        """
        readings = [
            # A repetition is still about the change; hidden text is about nothing.
            replace(item, substance=0.0, about=item.about if flag is Flag.REPEATS else 0.0)
            if flag in (Flag.HIDDEN, Flag.REPEATS, Flag.NO_SENTENCE)
            else item
            for item, flag in zip(sentence_readings, judged.flags, strict=True)
        ]
        degrees = best_degrees(judged.degrees)
        comments: dict[int, CommentReading] = {}
        for comment, columns in _visible_columns(cells.sentences).items():
            text = " ".join(cells.sentences[column].text for column in columns)
            vector = evidence.mean_direction(cells.sentence_vectors[columns])
            visible = [readings[column] for column in columns]
            about, aspects = reading.read_comment(text, vector, visible, change, self.weights)
            # Hidden text costs as much as any other empty sentence: it counts where the parts are
            # joined, but not in the reading of the comment.
            counted = [
                column
                for column, sentence in enumerate(cells.sentences)
                if sentence.comment == comment and judged.in_review[column]
            ]
            comments[comment] = CommentReading(
                about,
                [readings[column] for column in counted],
                [degrees[column] for column in counted],
                aspects,
            )
        return ReviewReading(
            readings=tuple(
                self._describe(cells, column, item, change.ground)
                for column, item in enumerate(readings)
            ),
            restates=tuple(
                float(item.kinds[KINDS.index(Kind.DESCRIPTION)]) >= RESTATES_FROM
                and item.substance < EMPTY_BELOW
                for item in readings
            ),
            comments=comments,
        )

    def _describe(
        self, cells: Cells, column: int, sentence_reading: SentenceReading, ground: ChangeWords
    ) -> Reading:
        """Decide a sentence's kind and its subject."""
        substance, about = sentence_reading.substance, sentence_reading.about
        # The kind has to fit the substance: otherwise a request could be shown as a description.
        candidates = _ACTING if substance >= ACTS_FROM else range(len(KINDS))
        kind = max(candidates, key=lambda index: float(sentence_reading.kinds[index]))
        sentence = cells.sentences[column]
        top_phrases: tuple[str, ...] = ()
        if not sentence.proposal:
            top_phrases = self.weights.sentence.top_phrases(
                phrases.phrases(sentence.text), kind, limit=MAX_PHRASES
            )
        reference = self._claim_of(cells, column) if about >= ON_TOPIC else None
        if reference is not None:
            subject = Subject.CLAIM
        elif about < ON_TOPIC:
            subject = Subject.ELSEWHERE
        else:
            in_change = self._rarest(sentence.text, ground.changed)
            around = self._rarest(sentence.text, ground.context | ground.location)
            subject = Subject.CHANGE if in_change >= around else Subject.SURROUNDINGS
        return Reading(
            kind=KINDS[kind],
            substance=substance,
            about=about,
            subject=subject,
            reference=reference,
            phrases=top_phrases,
        )

    def _rarest(self, text: str, stems: frozenset[str]) -> float:
        """Return the highest rarity of the stems that a text shares with others; 0 for none."""
        return max(map(self.weights.rarity.of, words(text).stems & stems), default=0.0)

    def _claim_of(self, cells: Cells, column: int) -> int | None:
        """Return the claim that a sentence is about, if there is one.

        The most similar claim is one only if it says the same, or shares a rare word: in a small
        change, every sentence is similar to some claim.
        """
        cosines = cells.similarity[:, column].tolist()
        counted = [row for row, ref in enumerate(cells.references) if ref.counted]
        # Of equal cosines, the first: references are most informative first.
        best = max(counted, key=lambda row: (cosines[row], -row), default=None)
        if best is None or cosines[best] < NEAR_COSINE:
            return None
        text = cells.references[best].text
        is_claim = (
            cosines[best] >= SAME_COSINE
            or self._rarest(cells.sentences[column].text, words(text).stems) >= RARE_IDF
        )
        return best if is_claim else None

    def rank(self, comments: Sequence[CommentReading], diff: Diff) -> Usefulness | None:
        """Rank some comments of a change together; None for none.

        Each comment counts the same: a review is as useful as its comments are in the mean.
        """
        if not comments:
            return None
        joined = [headline.join_parts(*comment) for comment in comments]
        aspects = {
            name: _mean([getattr(comment.aspects, name) for comment in comments])
            for name in reading.ASPECTS
        }
        return headline.rank(
            _mean([comment.about for comment in comments]),
            _mean([substance for substance, _ in joined]),
            _mean([value for _, value in joined]),
            Aspects(**aspects),
            size=headline.size_of(diff),
            reference=self.weights.reference,
        )


def _visible_columns(sentences: Sequence[Sentence]) -> dict[int, list[int]]:
    """Return the columns of the visible text of each comment."""
    columns: dict[int, list[int]] = {}
    for column, sentence in enumerate(sentences):
        if not sentence.hidden:
            columns.setdefault(sentence.comment, []).append(column)
    return columns


def best_degrees(degrees: Floats) -> list[float]:
    """Return the highest degree of each column, `UNMATCHED` without a row."""
    if not len(degrees):
        return [UNMATCHED] * degrees.shape[1]
    return [float(degree) for degree in degrees.max(axis=0)]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


@lru_cache(maxsize=1)
def shipped() -> Reader | None:
    """Return the reader with the shipped weights."""
    if not SHIPPED.exists():
        return None
    file = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()[:8]
    return Reader(model.read_weights(SHIPPED), file=file)


def reader_for(encoder: str, matcher: str = "calibrated") -> Reader | None:
    """Return the reader of an encoder's vectors; None where none was learned.

    Args:
        encoder: Identity of an encoder: name, model and revision.
        matcher: Identity of the matcher: the reference distribution is of the calibrated one.
    """
    if not matcher.startswith("calibrated"):
        return None
    reader = shipped()
    # The weights name a model, not its revision.
    return reader if reader and encoder.partition("@")[0] == reader.weights.encoder else None
