"""Reader of reviews: what each sentence and each remark gives the author of the change.

sentences   reading.py: the network reads each                      |
remarks     remarks.py divides comments, the network reads each     | Reader.read_texts
both        evidence.py, reading.py: is it about the change         |
remarks     headline.py: what is it worth                           | Reader._compare
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders.base import Encoder
from crscore.encoders.minilm import MiniLM
from crscore.records import GIVES_FROM, MAX_IMPORTANCE, ON_TOPIC, Reading, Remark, Sentence, Subject
from crscore.scoring.cells import Cells
from crscore.text import mask_names
from crscore.usefulness import evidence, headline, model, reading
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.model import Weights
from crscore.usefulness.reading import ReviewReadings, TextReading
from crscore.usefulness.remarks import divide

Floats = npt.NDArray[np.float32]
TextReadings = tuple[list[TextReading], list[TextReading]]
"""Readings of the sentences of a review, and of its remarks, not yet compared with its change."""

SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train usefulness`."""
VERSION: Final = 6
"""Version of the code that applies the weights; part of the signature."""
# In the training data, a text is as likely on another change as on its own; a comment on a changed
# line is more often about it: of the worth of 3,259 real ones, 76 % counts without this, 81 % with
# it. More would let a review of another change of the repository through when it is put on a line:
# with 1.0, 17 % of 30 stood over 25 (`python benchmarks/usefulness.py DATA`).
PLACED: Final = 0.3
"""Log-odds by which a comment on a line of the change is likelier to be about it."""
EMPTY_BELOW: Final = 0.2
"""A sentence is flagged as a mere description only if its rating `gives` is below this."""
RESTATES_FROM: Final = 0.7
"""A sentence is flagged as a mere description only with at least this probability of being one."""


class Reader(msgspec.Struct, frozen=True, eq=False):
    """Reader with learned weights."""

    weights: Weights
    encoder: MiniLM
    """Encoder whose layers were tuned."""
    file: str = ""
    """Start of the hash of the weights file."""

    @property
    def identity(self) -> str:
        """`usefulness@` with the hashes of the data and of the file, and `VERSION`."""
        return f"usefulness@{self.weights.data_sha256[:8]}+{self.file}+{VERSION}"

    def read(
        self,
        reviews: Sequence[tuple[Cells, Floats]],
        divided: Sequence[Iterable[tuple[int, ...]]] = (),
    ) -> list[ReviewReadings]:
        """Read the sentences of reviews, divide them into remarks, and read these.

        Args:
            reviews: The sentences of each review with its change and their vectors, and the unit
                vectors of the change's `diff.windows`, shape (W, D).
            divided: For each review, the sentences of each remark that is known; the rest of such a
                comment is a remark only where it gives the author something to answer. Empty if
                none are known.
        """
        texts = self.read_texts(
            [(cells.sentences, cells.sentence_vectors) for cells, _ in reviews], divided
        )
        return [
            self._compare(cells, windows, *of_review)
            for (cells, windows), of_review in zip(reviews, texts, strict=True)
        ]

    def read_texts(
        self,
        reviews: Sequence[tuple[Sequence[Sentence], Floats]],
        divided: Sequence[Iterable[tuple[int, ...]]] = (),
    ) -> list[TextReadings]:
        """Read the sentences and remarks of reviews without their changes.

        Args:
            reviews: The S sentences of each review, with their unit vectors, shape (S, D).
            divided: As in `read`.
        """
        outputs = self._run(unit.text for units, _ in reviews for unit in units)
        sentences = [
            [
                reading.read_text(unit.text, outputs[unit.text], proposes=unit.proposal)
                for unit in units
            ]
            for units, _ in reviews
        ]
        # A remark is read as one text, as the texts of the scale are. The best of its sentences
        # instead put real comments by bots 4 points too high, and went less with their worth.
        drafts = [
            divide(units, vectors, of_review, fixed)
            for (units, vectors), of_review, fixed in zip(
                reviews, sentences, divided or [()] * len(reviews), strict=True
            )
        ]
        outputs |= self._run(text for row in drafts for _, text in row if text not in outputs)
        return [
            (
                of_review,
                [
                    reading.read_text(
                        text,
                        outputs[text],
                        proposes=any(units[column].proposal for column in columns),
                        columns=columns,
                    )
                    for columns, text in row
                ],
            )
            for (units, _), of_review, row in zip(reviews, sentences, drafts, strict=True)
        ]

    def _run(self, texts: Iterable[str]) -> dict[str, Floats]:
        """Return the network's outputs for each text."""
        distinct = list(dict.fromkeys(texts))
        rows = self.weights.network.read(distinct, self.encoder) if distinct else ()
        return dict(zip(distinct, rows, strict=True))

    def _compare(
        self,
        cells: Cells,
        windows: Floats,
        sentences: Sequence[TextReading],
        remarks: Sequence[TextReading],
    ) -> ReviewReadings:
        """Compare the texts of a review with its change."""
        vectors = cells.sentence_vectors
        change = evidence.collect_evidence(
            cells.diff, cells.references, cells.reference_vectors, windows
        )
        abouts = self.judge_about(cells.sentences, vectors, change).tolist()
        # A description inside a remark that gives something is its premise.
        giving = {
            column for remark in remarks if remark.gives >= GIVES_FROM for column in remark.columns
        }
        return ReviewReadings(
            sentences=tuple(
                Reading(
                    stance=text.stance,
                    gives=text.gives,
                    about=about,
                    subject=Subject.ELSEWHERE
                    if about < ON_TOPIC
                    else evidence.find_subject(text.text, change, self.weights.rarity),
                    reference=None,
                )
                for about, text in zip(abouts, sentences, strict=True)
            ),
            restates=tuple(
                column not in giving
                and text.describes >= RESTATES_FROM
                and text.gives < EMPTY_BELOW
                for column, text in enumerate(sentences)
            ),
            remarks=tuple(self._weigh(remark, cells, change) for remark in remarks),
            aspects=tuple(remark.aspects for remark in remarks),
            masked=tuple(mask_names(remark.text) for remark in remarks),
        )

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
        rarity, weights = self.weights.rarity, self.weights.about
        probabilities = [
            reading.judge_about(unit.text, vector, change, rarity, weights)
            for unit, vector in zip(units, columns, strict=True)
        ]
        return np.array(probabilities, dtype=np.float32)

    def _weigh(self, text: TextReading, cells: Cells, change: ChangeEvidence) -> Remark:
        """Estimate what a remark is worth."""
        units = [cells.sentences[column] for column in text.columns]
        is_placed = units[0].comment in cells.placed
        about = self.judge_remark(text, cells.sentence_vectors, change, is_placed=is_placed)
        return Remark(
            comment=units[0].comment,
            sentences=text.columns,
            stance=text.stance,
            gives=text.gives,
            importance=MAX_IMPORTANCE * text.importance,
            level=text.level,
            about=about,
            worth=headline.weigh_worth(text.worth, about),
            specific=text.aspects.informative,
            acts=text.acts,
            labelled=next((at.position.severity for at in units if at.position.severity), None),
        )

    def judge_remark(
        self, remark: TextReading, vectors: Floats, change: ChangeEvidence, *, is_placed: bool
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
        return reading.judge_about(
            remark.text,
            mean_direction(vectors[list(remark.columns)]),
            change,
            self.weights.rarity,
            self.weights.about,
            shift=PLACED if is_placed else 0.0,
        )


def mean_direction(rows: Floats) -> Floats:
    """Return the unit vector in the direction of the mean of some unit vectors, shape (D,)."""
    total = rows.mean(axis=0)
    unit: Floats = total / max(1e-9, float(np.linalg.norm(total)))
    return unit


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
    return Reader(weights, encoder if isinstance(encoder, MiniLM) else MiniLM(), file=file)
