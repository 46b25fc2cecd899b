"""Reader of the sentences and remarks of a review, and of the review itself."""

import hashlib
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.encoders.base import Encoder
from crscore.encoders.minilm import MiniLM
from crscore.matchers.base import Cells, Judgement
from crscore.matchers.calibrated.guards import find_repeats
from crscore.records import (
    GIVES_FROM,
    ON_TOPIC,
    Aspects,
    Comment,
    Diff,
    Flag,
    Reading,
    Receipt,
    Remark,
    Sentence,
    Stance,
    Subject,
    Usefulness,
    Verdict,
)
from crscore.scoring.assembly import group_by_author
from crscore.text import words
from crscore.usefulness import evidence, headline, model, reading
from crscore.usefulness.evidence import ChangeEvidence, ChangeWords
from crscore.usefulness.model import Weights
from crscore.usefulness.reading import STANCES, JoinedNetwork, Network, TextReading, TunedNetwork
from crscore.usefulness.remarks import divide

Floats = npt.NDArray[np.float32]


SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train usefulness`."""
SAME_COSINE: Final = 0.5
"""Minimum cosine of a sentence and the claim that it is about."""
NEAR_COSINE: Final = 0.3
"""Minimum cosine if the claim shares a name or a rare word with the sentence."""
RARE_IDF: Final = 3.0
"""Minimum inverse document frequency of a rare word: in at most 5 % of changes."""
EMPTY_BELOW: Final = 0.2
"""A sentence is flagged as a mere description only if its rating `gives` is below this."""
RESTATES_FROM: Final = 0.7
"""A sentence is flagged as a mere description only with at least this probability of being one."""
ASPECTS: Final = tuple(field.name for field in fields(Aspects))
_UNREAD: Final = (Flag.HIDDEN, Flag.REPEATS, Flag.NO_SENTENCE)
"""Flags of sentences that belong to no remark."""


class RemarkText(NamedTuple):
    """Remark before it is compared with the change."""

    columns: tuple[int, ...]
    """Its sentences and proposals."""
    reading: TextReading
    text: str


class MeasuredRemark(NamedTuple):
    """Remark, compared with the change."""

    parts: list[float]
    """Values of `headline.PARTS`."""
    gives: float
    about: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TextReadings:
    """Readings of all texts of one review, before they are compared with the change."""

    sentences: tuple[TextReading, ...]
    """Reading of each of the S sentences."""
    remarks: tuple[RemarkText, ...]
    """Remarks in the order of the comments."""


class _CommentReading(NamedTuple):
    """Remarks of one comment."""

    remarks: tuple[int, ...]
    """Indices of its remarks."""
    about: float
    aspects: Aspects


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewReading:
    """Readings of all sentences, remarks and comments of one change."""

    readings: tuple[Reading, ...]
    """Reading of each of the S sentences."""
    restates: tuple[bool, ...]
    """For each sentence, whether it almost certainly only describes."""
    remarks: tuple[Remark, ...]
    """Remarks, their sentences given as columns."""
    comments: tuple[Usefulness | None, ...]
    """Usefulness of each comment; None without visible text."""
    reviews: tuple[Usefulness | None, ...]
    """Usefulness of each author's comments together, in order of first appearance."""
    usefulness: Usefulness | None
    """Usefulness of all comments together."""


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """Reader with learned weights."""

    weights: Weights
    network: Network
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
            reading.judge_about(unit.text, vector, change, self.weights)
            for unit, vector in zip(units, columns, strict=True)
        ]
        return np.array(probabilities, dtype=np.float32)

    def read_texts(
        self, reviews: Sequence[tuple[Sequence[Sentence], Floats]]
    ) -> list[TextReadings]:
        """Read the sentences of reviews and divide them into remarks.

        Args:
            reviews: The S sentences of each review, with their unit vectors, shape (S, D).
        """
        outputs = self._read(unit.text for units, _ in reviews for unit in units)
        readings = [
            tuple(reading.read_text(outputs[unit.text], proposal=unit.proposal) for unit in units)
            for units, _ in reviews
        ]
        divided = [
            [
                columns
                for comment in _visible_columns(units).values()
                for columns in divide(comment, units, vectors, texts)
            ]
            for (units, vectors), texts in zip(reviews, readings, strict=True)
        ]
        outputs |= self._read(
            _join(columns, units)
            for (units, _), remarks in zip(reviews, divided, strict=True)
            for columns in remarks
        )
        return [
            TextReadings(
                sentences=texts,
                remarks=tuple(_read_remark(columns, units, texts, outputs) for columns in remarks),
            )
            for (units, _), texts, remarks in zip(reviews, readings, divided, strict=True)
        ]

    def _read(self, texts: Iterable[str]) -> dict[str, Floats]:
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self.network.read(distinct), strict=True)) if distinct else {}

    def read_comments(
        self,
        cells: Cells,
        change: ChangeEvidence,
        texts: TextReadings,
        judged: Judgement,
        receipts: Sequence[Receipt | None],
        by_name: npt.NDArray[np.bool_],
        comments: Sequence[Comment],
    ) -> ReviewReading:
        """Read all comments of one change, and rank them singly, by author and all together.

        Args:
            cells: The change's cells.
            change: The change.
            texts: The readings of its texts.
            judged: The matcher's judgement.
            receipts: Proof for or against each remark of `texts`; None without proof.
            by_name: Pseudo-references whose code a sentence names, shape (R, S).
            comments: The comments.
        """
        # A repetition is still about the change; hidden text counts as off topic.
        abouts = [
            float(about) if flag is Flag.REPEATS or flag not in _UNREAD else 0.0
            for about, flag in zip(cells.about, judged.flags, strict=True)
        ]
        is_read = [flag not in _UNREAD for flag in judged.flags]
        remarks = [
            self._judge(remark, cells, change, abouts, is_read, receipt)
            for remark, receipt in zip(texts.remarks, receipts, strict=True)
        ]
        # A description inside a remark that gives something is its premise.
        giving = {
            column
            for remark in texts.remarks
            if remark.reading.gives >= GIVES_FROM
            for column in remark.columns
        }
        by_comment: dict[int, list[int]] = {}
        for index, remark in enumerate(remarks):
            by_comment.setdefault(remark.comment, []).append(index)
        read = {
            comment: _read_comment(indices, remarks, texts)
            for comment, indices in by_comment.items()
        }

        def rank(indices: Iterable[int]) -> Usefulness | None:
            return self._rank([read[i] for i in indices if i in read], remarks, cells.diff)

        return ReviewReading(
            readings=tuple(
                self._describe(
                    cells, column, text, abouts[column], change.words, is_read[column], by_name
                )
                for column, text in enumerate(texts.sentences)
            ),
            restates=tuple(
                column not in giving
                and float(text.stances[STANCES.index(Stance.DESCRIPTION)]) >= RESTATES_FROM
                and text.gives < EMPTY_BELOW
                for column, text in enumerate(texts.sentences)
            ),
            remarks=tuple(remarks),
            comments=tuple(rank([index]) for index in range(len(comments))),
            reviews=tuple(map(rank, group_by_author(comments).values())),
            usefulness=rank(range(len(comments))),
        )

    def measure(self, remark: RemarkText, cells: Cells, change: ChangeEvidence) -> MeasuredRemark:
        """Compare a remark with the change."""
        columns = list(remark.columns)
        vector = evidence.mean_direction(cells.sentence_vectors[columns])
        whole = reading.judge_about(remark.text, vector, change, self.weights)
        about = max(whole, *(float(cells.about[column]) for column in columns))
        return MeasuredRemark(
            headline.measure_parts(remark.reading, about), remark.reading.gives, about
        )

    def _judge(
        self,
        remark: RemarkText,
        cells: Cells,
        change: ChangeEvidence,
        abouts: Sequence[float],
        is_read: Sequence[bool],
        receipt: Receipt | None,
    ) -> Remark:
        """Compare a remark with the change, and estimate what it is worth."""
        about, gives, worth = max(abouts[column] for column in remark.columns), 0.0, 0.0
        if any(is_read[column] for column in remark.columns):
            parts, gives, about = self.measure(remark, cells, change)
            worth = headline.join_parts(parts, self.weights.worth) if about >= ON_TOPIC else 0.0
        if receipt and receipt.verdict is Verdict.REFUTED:
            worth = 0.0
        importance = reading.weigh_importance(remark.reading)
        return Remark(
            comment=cells.sentences[remark.columns[0]].comment,
            sentences=remark.columns,
            stance=remark.reading.stance,
            gives=gives,
            importance=importance,
            level=headline.name_level(importance),
            about=about,
            worth=worth,
            receipt=receipt,
        )

    def _describe(
        self,
        cells: Cells,
        column: int,
        text: TextReading,
        about: float,
        change_words: ChangeWords,
        is_read: bool,
        by_name: npt.NDArray[np.bool_],
    ) -> Reading:
        """Decide the subject of a sentence."""
        sentence = cells.sentences[column]
        rows = np.flatnonzero(by_name[:, column]).tolist()
        reference = max(rows, key=lambda row: cells.similarity[row, column], default=None)
        if reference is None and about >= ON_TOPIC:
            reference = self._claim_of(cells, column)
        if reference is not None:
            subject = Subject.CLAIM
        elif about < ON_TOPIC:
            subject = Subject.ELSEWHERE
        else:
            in_change = self._rarest(sentence.text, change_words.changed)
            around = self._rarest(sentence.text, change_words.context | change_words.location)
            subject = Subject.CHANGE if in_change >= around else Subject.SURROUNDINGS
        return Reading(
            stance=text.stance,
            gives=text.gives if is_read else 0.0,
            about=about,
            subject=subject,
            reference=reference,
        )

    def _rarest(self, text: str, stems: frozenset[str]) -> float:
        """Return the highest rarity of the stems that a text shares with others; 0 for none."""
        return max(map(self.weights.rarity.of, words(text).stems & stems), default=0.0)

    def _claim_of(self, cells: Cells, column: int) -> int | None:
        """Return the claim that a sentence is about, if there is one.

        The most similar claim counts only if it says the same, or shares a rare word: in a small
        change, every sentence is similar to some claim.
        """
        cosines = cells.similarity[:, column].tolist()
        # The first of equal cosines, because the most informative references come first. An
        # excluded reference may be the subject, too.
        best = max(range(len(cosines)), key=lambda row: (cosines[row], -row), default=None)
        if best is None or cosines[best] < NEAR_COSINE:
            return None
        text = cells.references[best].text
        is_claim = (
            cosines[best] >= SAME_COSINE
            or self._rarest(cells.sentences[column].text, words(text).stems) >= RARE_IDF
        )
        return best if is_claim else None

    def _rank(
        self, comments: Sequence[_CommentReading], remarks: Sequence[Remark], diff: Diff
    ) -> Usefulness | None:
        """Rank some comments of a change together; None without comments."""
        if not comments:
            return None
        indices = [index for comment in comments for index in comment.remarks]
        reference = headline.reference_of(diff, len(comments))
        aspects = {
            name: _mean([getattr(comment.aspects, name) for comment in comments])
            for name in ASPECTS
        }
        return headline.rank(
            {index: remarks[index] for index in indices},
            _mean([comment.about for comment in comments]),
            Aspects(**aspects),
            reference=reference,
            values=self.weights.reference[reference],
        )


def _read_comment(
    indices: Sequence[int], remarks: Sequence[Remark], texts: TextReadings
) -> _CommentReading:
    # The most valuable remark represents its comment.
    best = max(indices, key=lambda index: (remarks[index].worth, -index))
    rated = texts.remarks[best].reading
    return _CommentReading(
        tuple(indices),
        max(remarks[index].about for index in indices),
        Aspects(**{name: getattr(rated, name) for name in ASPECTS}),
    )


def _read_remark(
    columns: Sequence[int],
    units: Sequence[Sentence],
    texts: Sequence[TextReading],
    outputs: Mapping[str, Floats],
) -> RemarkText:
    """Read a remark as one text, or by its best sentence, so that more text never lowers it."""
    text = _join(columns, units)
    proposes = any(units[column].proposal for column in columns)
    whole = reading.read_text(outputs[text], proposal=proposes)
    if whole.gives < GIVES_FROM:
        return RemarkText(tuple(columns), whole, text)
    sentences = [
        reading.read_text(outputs[units[column].text], proposal=proposes)
        for column in columns
        if texts[column].gives >= GIVES_FROM and not units[column].proposal
    ]
    best = max((whole, *sentences), key=lambda candidate: candidate.worth)
    return RemarkText(tuple(columns), best, text)


def _join(columns: Sequence[int], units: Sequence[Sentence]) -> str:
    """Return the text of a remark: its sentences or, without any, its proposals, each once."""
    texts = [units[column].text for column in columns if not units[column].proposal]
    texts = texts or [units[column].text for column in columns]
    # A repeated point would be read as a more important one.
    return " ".join(compress(texts, map(operator.not_, find_repeats(texts))))


def _visible_columns(sentences: Sequence[Sentence]) -> dict[int, list[int]]:
    """Return the columns of the visible text of each comment."""
    columns: dict[int, list[int]] = {}
    for column, sentence in enumerate(sentences):
        if not sentence.hidden:
            columns.setdefault(sentence.comment, []).append(column)
    return columns


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


@lru_cache(maxsize=1)
def _shipped() -> tuple[Weights, str] | None:
    """Return the shipped weights, and the start of their file's hash."""
    if not SHIPPED.exists():
        return None
    return model.read_weights(SHIPPED), hashlib.sha256(SHIPPED.read_bytes()).hexdigest()[:8]


def reader_for(encoder: Encoder, matcher: str = "calibrated") -> Reader | None:
    """Return the reader of an encoder's vectors; None without learned weights for it.

    Args:
        encoder: The encoder.
        matcher: Identity of the matcher: the reader is made for the calibrated one.
    """
    if not matcher.startswith("calibrated"):
        return None
    shipped = _shipped()
    # The weights name a model, not its revision.
    if shipped is None or encoder.identity.partition("@")[0] != shipped[0].encoder:
        return None
    weights, file = shipped
    tuned = TunedNetwork(weights, encoder if isinstance(encoder, MiniLM) else MiniLM())
    return Reader(weights, JoinedNetwork(tuned, weights.phrases), file=file)
