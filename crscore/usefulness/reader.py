"""Reader of a review: its sentences, its comments, and all of it."""

from __future__ import annotations

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
from crscore.usefulness.evidence import ChangeWords
from crscore.usefulness.model import Weights
from crscore.usefulness.reading import KINDS, ChangeEvidence, SentenceReading

Floats = npt.NDArray[np.float32]


SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train usefulness`."""
ON_TOPIC: Final = 0.25
"""Probability from which a sentence is told to be about the change."""
SAME_COSINE: Final = 0.5
"""Cosine from which a sentence is about what a claim says."""
NEAR_COSINE: Final = 0.3
"""The same for a claim that shares a name or a rare word with the sentence."""
RARE_IDF: Final = 3.0
"""Inverse document frequency from which a word is rare: it is in 5 % of changes."""
UNMATCHED: Final = 0.25
"""Degree of a sentence on a change without pseudo-references: that of an ordinary one on topic."""
MAX_PHRASES: Final = 3
"""Most phrases told for a kind."""
ACTS_FROM: Final = 0.5
"""Substance from which a sentence has one of the kinds that ask or tell something."""
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
    read: list[SentenceReading]
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

        Returns:
            The readings.
        """
        read = [
            replace(one, substance=0.0, about=0.0 if flag is not Flag.REPEATS else one.about)
            if flag in (Flag.HIDDEN, Flag.REPEATS, Flag.NO_SENTENCE)
            else one
            for one, flag in zip(sentence_readings, judged.flags, strict=True)
        ]
        best = best_degrees(judged.degrees)
        parts: dict[int, CommentReading] = {}
        for comment, columns in _visible(cells.sentences).items():
            # Hidden text says nothing, but it is paid for like any other empty sentence: it counts
            # where the parts are joined, and not in what is said of the comment.
            inside = [
                column
                for column, unit in enumerate(cells.sentences)
                if unit.comment == comment and judged.kept[column]
            ]
            whole = " ".join(cells.sentences[column].text for column in columns)
            vector = evidence.mean(cells.sentence_vectors[columns])
            seen = [read[column] for column in columns]
            about, aspects = reading.read_comment(whole, vector, seen, change, self.weights)
            parts[comment] = CommentReading(
                about,
                [read[column] for column in inside],
                [best[column] for column in inside],
                aspects,
            )
        return ReviewReading(
            readings=tuple(
                self._tell(cells, at, one, change.ground) for at, one in enumerate(read)
            ),
            restates=tuple(
                float(one.kinds[KINDS.index(Kind.DESCRIPTION)]) >= RESTATES_FROM
                and one.substance < EMPTY_BELOW
                for one in read
            ),
            comments=parts,
        )

    def _tell(
        self, cells: Cells, column: int, one: SentenceReading, ground: ChangeWords
    ) -> Reading:
        """Say what a sentence does and what it is about."""
        among = _ACTING if one.substance >= ACTS_FROM else range(len(KINDS))
        kind = max(among, key=lambda at: float(one.kinds[at]))
        sentence = cells.sentences[column]
        saw: tuple[str, ...] = ()
        if not sentence.proposal:
            found = phrases.phrases(sentence.text)
            saw = self.weights.sentence.top_phrases(found, kind, most=MAX_PHRASES)
        reference = self._claim_of(cells, column) if one.about >= ON_TOPIC else None
        if reference is not None:
            subject = Subject.CLAIM
        elif one.about < ON_TOPIC:
            subject = Subject.ELSEWHERE
        else:
            stems = words(sentence.text).stems
            near = [
                max(map(self.weights.rarity.of, stems & there), default=0.0)
                for there in (ground.changed, ground.context | ground.place)
            ]
            subject = Subject.CHANGE if near[0] >= near[1] else Subject.SURROUNDINGS
        return Reading(
            kind=KINDS[kind],
            substance=one.substance,
            about=one.about,
            subject=subject,
            reference=reference,
            phrases=saw,
        )

    def _claim_of(self, cells: Cells, column: int) -> int | None:
        """Return the claim that a sentence is about, if there is one.

        The most similar claim is one only if it says the same, or shares a rare word: in a small
        change, some claim is near to everything.
        """
        counted = [at for at, one in enumerate(cells.references) if one.counted]
        if not counted:
            return None
        best = max(counted, key=lambda at: (float(cells.similarity[at, column]), -at))
        cosine = float(cells.similarity[best, column])
        if cosine >= SAME_COSINE:
            return best
        if cosine < NEAR_COSINE:
            return None
        shared = (
            words(cells.sentences[column].text).stems & words(cells.references[best].text).stems
        )
        rare = any(self.weights.rarity.of(stem) >= RARE_IDF for stem in shared)
        return best if rare else None

    def rank(self, parts: Sequence[CommentReading], diff: Diff) -> Usefulness | None:
        """Place some comments of a change together; None for none.

        Each comment counts the same: a review is as useful as its comments are in the mean.
        """
        if not parts:
            return None
        joined = [headline.join_parts(*one) for one in parts]
        aspects = [one.aspects for one in parts]
        return headline.rank(
            _mean([one.about for one in parts]),
            _mean([substance for substance, _ in joined]),
            _mean([value for _, value in joined]),
            Aspects(
                **{name: _mean([getattr(one, name) for one in aspects]) for name in reading.ASPECTS}
            ),
            size=headline.size_of(diff),
            reference=self.weights.reference,
        )


def _visible(units: Sequence[Sentence]) -> dict[int, list[int]]:
    """Return the columns of the visible text of each comment."""
    found: dict[int, list[int]] = {}
    for column, unit in enumerate(units):
        if not unit.hidden:
            found.setdefault(unit.comment, []).append(column)
    return found


def best_degrees(degrees: Floats) -> list[float]:
    """Return the highest degree of each column, `UNMATCHED` without a row."""
    if not len(degrees):
        return [UNMATCHED] * degrees.shape[1]
    return [float(one) for one in degrees.max(axis=0)]


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
    found = shipped()
    return found if found and encoder.partition("@")[0] == found.weights.encoder else None
