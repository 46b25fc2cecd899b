"""Reader of reviews: what each sentence and each remark gives the author of the change."""

import hashlib
import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders.base import Encoder
from crscore.encoders.minilm import MiniLM
from crscore.matchers.guards import find_repeats
from crscore.records import (
    GIVES_FROM,
    MAX_IMPORTANCE,
    ON_TOPIC,
    Aspects,
    Reading,
    Remark,
    Sentence,
    Stance,
    Subject,
)
from crscore.scoring.cells import Cells
from crscore.text import words
from crscore.usefulness import evidence, headline, model, reading
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.model import Weights
from crscore.usefulness.reading import (
    STANCES,
    JoinedNetwork,
    Network,
    ReviewReadings,
    TextReading,
    TunedNetwork,
    logit,
    sigmoid,
)
from crscore.usefulness.remarks import divide

Floats = npt.NDArray[np.float32]


SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train usefulness`."""
VERSION: Final = 5
"""Version of the code that applies the weights; part of the signature."""
# The weights are learned where a text is as likely on another change as on its own. Who comments on
# a line has that change in view: of 3,259 real comments, all of which are on such a line, 76 % of
# the worth counts without it, 88 % with it. Its price: on a line, a review of another change of the
# repository stands over 25 on 17 % of 30 commits instead of 3 %.
PLACED: Final = 1.0
"""Log-odds by which a comment on a line of the change is likelier to be about it."""
EMPTY_BELOW: Final = 0.2
"""A sentence is flagged as a mere description only if its rating `gives` is below this."""
RESTATES_FROM: Final = 0.7
"""A sentence is flagged as a mere description only with at least this probability of being one."""


class RemarkText(NamedTuple):
    """Remark before it is compared with the change."""

    columns: tuple[int, ...]
    """Its sentences and proposals."""
    reading: TextReading
    text: str
    proposes: bool
    """Whether it has a proposal of code."""


class TextReadings(NamedTuple):
    """Readings of all texts of one review, before they are compared with the change."""

    sentences: tuple[TextReading, ...]
    """Reading of each of the S sentences."""
    remarks: tuple[RemarkText, ...]
    """Remarks in the order of the comments."""


class Reader(msgspec.Struct, frozen=True, eq=False):
    """Reader with learned weights."""

    weights: Weights
    network: Network
    file: str = ""
    """Start of the hash of the weights file."""

    @property
    def identity(self) -> str:
        """`usefulness@` with the hashes of the data and of the file, and `VERSION`."""
        return f"usefulness@{self.weights.data_sha256[:8]}+{self.file}+{VERSION}"

    def read(
        self,
        reviews: Sequence[tuple[Cells, Floats]],
        divided: Sequence[Mapping[int, Sequence[tuple[int, ...]]]] = (),
    ) -> list[ReviewReadings]:
        """Read the sentences of reviews, divide them into remarks, and read these.

        Args:
            reviews: The sentences of each review with its change and their vectors, and the unit
                vectors of the change's `diff.windows`, shape (W, D).
            divided: For each review, the sentences of remarks that are known, by comment; the rest
                of such a comment is a remark only where it gives the author something to answer.
                Empty if none are known.
        """
        texts = self.read_texts(
            [(cells.sentences, cells.sentence_vectors) for cells, _ in reviews], divided
        )
        return [
            self._compare(cells, windows, read)
            for (cells, windows), read in zip(reviews, texts, strict=True)
        ]

    def read_texts(
        self,
        reviews: Sequence[tuple[Sequence[Sentence], Floats]],
        divided: Sequence[Mapping[int, Sequence[tuple[int, ...]]]] = (),
    ) -> list[TextReadings]:
        """Read the sentences and remarks of reviews without their changes.

        Args:
            reviews: The S sentences of each review, with their unit vectors, shape (S, D).
            divided: As in `read`.
        """
        outputs = self._read(unit.text for units, _ in reviews for unit in units)
        readings = [
            tuple(reading.read_text(outputs[unit.text], proposal=unit.proposal) for unit in units)
            for units, _ in reviews
        ]
        drafts = []
        for (units, vectors), texts, fixed in zip(
            reviews, readings, divided or [{}] * len(reviews), strict=True
        ):
            visible: dict[int, list[int]] = {}
            for column, unit in enumerate(units):
                if not (unit.hidden or unit.unread):
                    visible.setdefault(unit.comment, []).append(column)
            # A remark is read as one text, as the texts of the scale are. The best of its sentences
            # instead put real comments by bots 4 points too high, and went less with their worth.
            drafts.append(
                [
                    (columns, _join(columns, units), any(units[at].proposal for at in columns))
                    for comment in sorted({*visible, *fixed})
                    for columns in _divide(
                        visible.get(comment, ()), fixed.get(comment, ()), units, vectors, texts
                    )
                ]
            )
        outputs |= self._read(text for row in drafts for _, text, _ in row if text not in outputs)
        return [
            TextReadings(
                texts,
                tuple(
                    RemarkText(
                        tuple(columns),
                        reading.read_text(outputs[text], proposal=proposes),
                        text,
                        proposes,
                    )
                    for columns, text, proposes in remarks
                ),
            )
            for (units, _), texts, remarks in zip(reviews, readings, drafts, strict=True)
        ]

    def _read(self, texts: Iterable[str]) -> dict[str, Floats]:
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self.network.read(distinct), strict=True)) if distinct else {}

    def judge_about(
        self, units: Sequence[Sentence], columns: Floats, change: ChangeEvidence
    ) -> Floats:
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

    def judge_remark(
        self, remark: RemarkText, vectors: Floats, change: ChangeEvidence, *, is_placed: bool
    ) -> float:
        """Return the probability that a remark is about the change.

        Args:
            remark: The remark.
            vectors: Unit vectors of the S sentences of the review, shape (S, D).
            change: The change.
            is_placed: Whether its comment is on a line of the change.
        """
        # As a whole: by the best of its sentences, of which one may share a word with the change by
        # chance, 46 instead of 35 % of the worth of real reviews counted on another change.
        vector = evidence.mean_direction(vectors[list(remark.columns)])
        about = reading.judge_about(remark.text, vector, change, self.weights)
        return sigmoid(logit(about) + PLACED) if is_placed else about

    def _compare(self, cells: Cells, windows: Floats, texts: TextReadings) -> ReviewReadings:
        """Compare the texts of a review with its change."""
        vectors = cells.sentence_vectors
        change = evidence.collect_evidence(
            cells.diff, cells.references, cells.reference_vectors, windows
        )
        abouts = self.judge_about(cells.sentences, vectors, change)
        # A description inside a remark that gives something is its premise.
        giving = {
            column
            for remark in texts.remarks
            if remark.reading.gives >= GIVES_FROM
            for column in remark.columns
        }
        return ReviewReadings(
            sentences=tuple(
                Reading(
                    stance=text.stance,
                    gives=text.gives,
                    about=float(about),
                    subject=self._place(unit.text, float(about), change),
                    reference=None,
                )
                for unit, about, text in zip(cells.sentences, abouts, texts.sentences, strict=True)
            ),
            restates=tuple(
                column not in giving
                and float(text.stances[STANCES.index(Stance.DESCRIPTION)]) >= RESTATES_FROM
                and text.gives < EMPTY_BELOW
                for column, text in enumerate(texts.sentences)
            ),
            remarks=tuple(
                self._weigh(
                    remark,
                    cells.sentences,
                    self.judge_remark(
                        remark,
                        vectors,
                        change,
                        is_placed=cells.sentences[remark.columns[0]].comment in cells.placed,
                    ),
                )
                for remark in texts.remarks
            ),
            aspects=tuple(
                Aspects(relevant=text.relevant, informative=text.informative, clear=text.clear)
                for _, text, *_ in texts.remarks
            ),
        )

    def _place(self, text: str, about: float, change: ChangeEvidence) -> Subject:
        """Return where in the change the subject of a sentence is, if it is no claim."""
        if about < ON_TOPIC:
            return Subject.ELSEWHERE
        stems, of_change = words(text).stems, change.words
        around = stems & (of_change.context | of_change.location)
        is_in_change = self.weights.rarity.highest(
            stems & of_change.changed
        ) >= self.weights.rarity.highest(around)
        return Subject.CHANGE if is_in_change else Subject.SURROUNDINGS

    def _weigh(self, remark: RemarkText, sentences: Sequence[Sentence], about: float) -> Remark:
        """Estimate what a remark is worth."""
        text = remark.reading
        importance = reading.weigh_importance(text)
        positions = [sentences[column].position for column in remark.columns]
        return Remark(
            comment=sentences[remark.columns[0]].comment,
            sentences=remark.columns,
            stance=text.stance,
            gives=text.gives,
            importance=MAX_IMPORTANCE * importance,
            level=headline.name_level(importance),
            about=about,
            worth=headline.weigh_worth(text.worth, about),
            specific=text.informative,
            acts=reading.judge_acts(remark.text, text, proposes=remark.proposes),
            labelled=next((at.severity for at in positions if at.severity), None),
        )


def _divide(
    columns: Sequence[int],
    fixed: Sequence[tuple[int, ...]],
    units: Sequence[Sentence],
    vectors: Floats,
    readings: Sequence[TextReading],
) -> list[Sequence[int]]:
    """Divide a comment into remarks, some of which are known."""
    if not fixed:
        return [*divide(columns, units, vectors, readings)]
    rest = [column for column in columns if not any(column in remark for remark in fixed)]
    rest_remarks = divide(rest, units, vectors, readings) if rest else []
    giving = [
        remark
        for remark in rest_remarks
        if any(readings[column].gives >= GIVES_FROM for column in remark)
    ]
    return sorted([*fixed, *giving], key=min)


def _join(columns: Sequence[int], units: Sequence[Sentence]) -> str:
    """Return the text of a remark: its sentences or, without any, its proposals, each once."""
    texts = [units[column].text for column in columns if not units[column].proposal]
    texts = texts or [units[column].text for column in columns]
    # A repeated point would be read as a more important one.
    return " ".join(compress(texts, map(operator.not_, find_repeats(texts))))


@lru_cache(maxsize=1)
def _shipped() -> tuple[Weights, str]:
    """Return the shipped weights, and the start of their file's hash."""
    with SHIPPED.open("rb") as file:
        return model.read_weights(SHIPPED), hashlib.file_digest(file, "sha256").hexdigest()[:8]


def reader_for(encoder: Encoder, matcher: str = "calibrated") -> Reader | None:
    """Return the reader of an encoder's vectors; None without learned weights for it.

    Args:
        encoder: The encoder.
        matcher: Identity of the matcher: the reader is made for the calibrated one.
    """
    if not matcher.startswith("calibrated"):
        return None
    weights, file = _shipped()
    # The weights name a model, not its revision: with `int8`, a standing moves by 1.3 of 100 on
    # average (docs/design/005-encoders.md).
    if encoder.identity.partition("@")[0] != weights.encoder:
        return None
    encoder = encoder if isinstance(encoder, MiniLM) else MiniLM()
    tuned = TunedNetwork(encoder, weights.layers, weights.head)
    return Reader(weights, JoinedNetwork(tuned, weights.phrases, weights.worth), file=file)
