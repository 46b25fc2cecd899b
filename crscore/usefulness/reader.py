"""Reader of reviews: what each sentence and each remark gives the author of the change.

sentences   reading.py: the network reads each                      |
remarks     remarks.py divides comments, the network reads each     | Reader.read_texts
both        evidence.py: is it about the change                     |
remarks     what is it worth                                        | Reader._compare
remarks     are its author's other remarks about something else     | doubt_remarks
"""

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.encoders.base import Encoder
from crscore.encoders.minilm import MiniLM
from crscore.records import (
    ACTIONABLE_FROM,
    LEAST_WORTH,
    MAX_IMPORTANCE,
    MAX_WORTH,
    ON_TOPIC,
    Aspects,
    Importance,
    Reading,
    Remark,
    Sentence,
    Stance,
    Subject,
)
from crscore.scoring.cells import Cells
from crscore.text import find_code_spans, mask_names
from crscore.usefulness import model
from crscore.usefulness.evidence import FEATURES, ChangeEvidence, collect_evidence, measure_evidence
from crscore.usefulness.model import Weights
from crscore.usefulness.reading import RATINGS, STANCES, Authors, ReviewReadings, TextReading
from crscore.usefulness.remarks import divide

Floats = npt.NDArray[np.float32]
TextReadings = tuple[list[TextReading], list[TextReading]]
"""Readings of the sentences of a review, and of its remarks, not yet compared with its change."""

SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train usefulness`."""
VERSION: Final = 6
"""Version of the code that applies the weights; part of the signature."""
# In the training data, a text is as likely on another change as on its own, but a real comment on a
# changed line is more often about the change. Of the worth of 3,259 real comments, 76 % is kept
# without this shift, 81 % with it. A larger shift would let a review of another change of the
# repository through when it is put on a line: with 1.0, 17 % of 30 such reviews had a standing over
# 25 (`python benchmarks/usefulness.py DATA`).
PLACED: Final = 0.3
"""Log-odds by which a comment on a line of the change is likelier to be about it."""
EMPTY_BELOW: Final = 0.2
"""A sentence is flagged as a mere description only if its rating `actionable` is below this."""
RESTATES_FROM: Final = 0.7
"""A sentence is flagged as a mere description only with at least this probability of being one."""
SURELY_ABOUT: Final = 0.7
"""Minimum probability of being about the change at which a remark keeps its whole worth."""
DOUBT: Final = 0.5
"""Share of the mean log-odds of an author's other remarks that may lower those of a remark. With 1,
the standing of a review that is rephrased as questions moves farther."""
MAX_DOUBT: Final = 4.0
"""Maximum size of the log-odds of one of an author's other remarks."""
FUNCTIONAL_WEIGHT: Final = 0.4
"""Weight, in the importance, of the rating that a remark is about how the code works."""
# Each level is as frequent as in ratings by people.
LEVELS: Final = (
    (0.88, Importance.CRITICAL),
    (0.66, Importance.MAJOR),
    (0.38, Importance.MINOR),
    (0.0, Importance.NIT),
)
"""Minimum importance for each level, highest first."""
PROPOSED: Final = 0.9
"""Minimum probability, by rule, that a proposal of code gives the author something to answer."""
ACTING: Final = (Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION)
"""Stances of a remark that gives the author something to answer."""
# These consequences are critical in whatever mood they are named. Readers gave four real comments
# that name one an importance of 4 and a worth of 4; without this rule, they would have 3.5 and 2.5.
SECURITY: Final = re.compile(
    r"\b(?:(?:sql|command|shell|code|html|script|template|ldap)[- ]injections?|xss|cross[- ]site"
    r"|csrf|ssrf|(?:path|directory) traversal|(?:remote|arbitrary) code|privilege escalation"
    r"|data loss|los(?:es?|ing) (?:\w+ )?data)\b",
    re.IGNORECASE,
)
"""Names of the gravest consequences."""
SECURITY_IMPORTANCE: Final = 0.9
"""Minimum importance of a remark that names one of these consequences and asks for something."""
SECURITY_WORTH: Final = 0.5
"""Log-odds by which a remark that names one of these consequences is worth more."""


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
        self, reviews: Sequence[tuple[Cells, Floats]], authors: Sequence[Authors]
    ) -> list[ReviewReadings]:
        """Read the sentences of reviews, divide them into remarks, and read these.

        Args:
            reviews: The sentences of each review with its change and their vectors, and the unit
                vectors of the change's `diff.windows`, shape (W, D).
            authors: The authors of each review.
        """
        read = self.read_divided(reviews)
        return [doubt_remarks(*of_review) for of_review in zip(read, authors, strict=True)]

    def read_divided(
        self,
        reviews: Sequence[tuple[Cells, Floats]],
        divided: Sequence[Iterable[tuple[int, ...]]] = (),
    ) -> list[ReviewReadings]:
        """Read reviews some of whose remarks are known; `doubt_remarks` is applied later.

        Args:
            reviews: As in `read`.
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
            divided: As in `read_divided`.
        """
        outputs = self._run(unit.text for units, _ in reviews for unit in units)
        sentences = [
            [read_text(unit.text, outputs[unit.text], proposes=unit.proposal) for unit in units]
            for units, _ in reviews
        ]
        # A remark is read as one text, like the texts of the scale. Reading the best of its
        # sentences put real comments by bots 4 points too high, and agreed less with their worth.
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
                    read_text(
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
        change = collect_evidence(cells.diff, cells.references, cells.reference_vectors, windows)
        abouts, subjects = self.judge_about(cells.sentences, cells.sentence_vectors, change)
        # A description inside an actionable remark is its premise.
        actionable = {
            at for item in remarks if item.actionable >= ACTIONABLE_FROM for at in item.columns
        }
        return ReviewReadings(
            sentences=tuple(
                Reading(
                    stance=text.stance,
                    actionable=text.actionable,
                    about=about,
                    subject=Subject.ELSEWHERE if about < ON_TOPIC else subject,
                    reference=None,
                )
                for text, about, subject in zip(sentences, abouts.tolist(), subjects, strict=True)
            ),
            restates=tuple(
                column not in actionable
                and text.describes >= RESTATES_FROM
                and text.actionable < EMPTY_BELOW
                for column, text in enumerate(sentences)
            ),
            remarks=tuple(self._weigh(remark, cells, change) for remark in remarks),
            aspects=tuple(remark.aspects for remark in remarks),
            masked=tuple(mask_names(remark.text) for remark in remarks),
        )

    def judge_about(
        self, units: Sequence[Sentence], columns: Floats, change: ChangeEvidence
    ) -> tuple[Floats, list[Subject]]:
        """Judge whether each sentence is about the change.

        Args:
            units: The S sentences.
            columns: Their unit vectors, shape (S, D).
            change: The change.

        Returns:
            The probabilities, shape (S,), each in [0, 1], and where in the change the subject of
            each sentence is, if it is about the change and about no claim.
        """
        judged = [
            self._judge(unit.text, vector, change)
            for unit, vector in zip(units, columns, strict=True)
        ]
        probabilities = np.array([about for about, _ in judged], dtype=np.float32)
        return probabilities, [subject for _, subject in judged]

    def _weigh(self, text: TextReading, cells: Cells, change: ChangeEvidence) -> Remark:
        """Estimate what a remark is worth."""
        units = [cells.sentences[column] for column in text.columns]
        is_placed = units[0].comment in cells.line_comments
        about = self.judge_remark(text, cells.sentence_vectors, change, is_placed=is_placed)
        return Remark(
            comment=units[0].comment,
            sentences=text.columns,
            stance=text.stance,
            actionable=text.actionable,
            importance=MAX_IMPORTANCE * text.importance,
            level=text.level,
            about=about,
            worth=weigh_worth(text.worth, about),
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
        # The remark is judged as a whole. Judged by the best of its sentences, one of which may
        # share a word with the change by chance, real reviews kept 46 instead of 35 % of their
        # worth on another change.
        vector = mean_direction(vectors[list(remark.columns)])
        return self._judge(remark.text, vector, change, shift=PLACED if is_placed else 0.0)[0]

    def _judge(
        self, text: str, vector: Floats, change: ChangeEvidence, *, shift: float = 0.0
    ) -> tuple[float, Subject]:
        """Judge one text with its unit vector, shape (D,); `shift` is added to the log-odds."""
        measures = measure_evidence(text, vector, change, self.weights.rarity)
        weights = self.weights.about
        about = sigmoid(float(np.dot(weights[:-1], measures) + weights[-1]))
        by_name = dict(zip(FEATURES, measures, strict=True))
        around = max(by_name["context_rarest"], by_name["place_rarest"])
        subject = Subject.CHANGE if by_name["changed_rarest"] >= around else Subject.SURROUNDINGS
        return sigmoid(logit(about) + shift) if shift else about, subject


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


def read_text(
    text: str, outputs: Floats, *, proposes: bool = False, columns: tuple[int, ...] = ()
) -> TextReading:
    """Read a text from its outputs of the network.

    Args:
        text: A sentence or a remark.
        outputs: Shape (len(OUTPUTS),).
        proposes: Whether it is or contains a proposal of code that was read from a block.
        columns: Sentences and proposals of a remark.
    """
    split = len(STANCES)
    ratings = (1 / (1 + np.exp(-np.clip(outputs[split:], -30, 30)))).astype(np.float32)
    # The maximum is subtracted, because `exp` of a large logit overflows.
    odds = np.exp(outputs[:split] - outputs[:split].max())
    stances = odds / odds.sum()
    if proposes:
        stances = np.array([stance is Stance.PROPOSAL for stance in STANCES], dtype=np.float32)
        ratings[RATINGS.index("actionable")] = max(PROPOSED, ratings[RATINGS.index("actionable")])
    rated = dict(zip(RATINGS, ratings.tolist(), strict=True))
    by_stance = dict(zip(STANCES, stances, strict=True))
    # Without this choice, a request could be shown as a description.
    candidates = ACTING if rated["actionable"] >= ACTIONABLE_FROM else STANCES
    # Authors do what they can do at once: a request rather than a question, with the code in it.
    # The weights are set by hand: the network's output `acted_on` learned who writes. In its data,
    # authors act on 79 % of comments by people and on 20 % of those by bots, so that its AUC
    # within bots was 0.29, held out (docs/design/010-usefulness.md).
    asks = by_stance[Stance.REQUEST] + by_stance[Stance.PROPOSAL]
    spans = math.log1p(len(find_code_spans(text)))
    # A remark is more important if it is about how the code works.
    importance = sigmoid(
        logit(rated["importance"]) + FUNCTIONAL_WEIGHT * logit(rated["functional"])
    )
    stance = max(candidates, key=by_stance.__getitem__)
    worth = rated["worth"]
    if stance in ACTING and SECURITY.search(text):
        importance = max(importance, SECURITY_IMPORTANCE)
        worth = sigmoid(logit(worth) + SECURITY_WORTH)
    return TextReading(
        text=text,
        columns=columns,
        stance=stance,
        actionable=rated["actionable"],
        importance=importance,
        level=name_level(importance),
        worth=worth,
        aspects=Aspects(**{name: rated[name] for name in Aspects.__struct_fields__}),
        acts=sigmoid((spans + 2 * asks + proposes) / 2 - 1.2),
        describes=float(by_stance[Stance.DESCRIPTION]),
    )


def name_level(importance: float) -> Importance:
    """Return the level of an importance, which is a share of the scale."""
    return next(level for threshold, level in LEVELS if importance >= threshold)


def weigh_worth(expected: float, about: float) -> float:
    """Return the worth of a remark, 1 to 5.

    Args:
        expected: Its expected worth if it is about the change, as a share of the scale, in [0, 1].
        about: Probability that it is about the change.
    """
    return LEAST_WORTH + (MAX_WORTH - LEAST_WORTH) * expected * trust(about)


def trust(about: float) -> float:
    """Return the share of its worth that a remark keeps, by its probability to be on topic.

    The share is in [0, 1].
    """
    return min(1.0, about / SURELY_ABOUT) if about >= ON_TOPIC else 0.0


def doubt_remarks(read: ReviewReadings, authors: Authors) -> ReviewReadings:
    """Lower the worth of remarks whose author's other remarks are about something else.

    Args:
        read: The readings of a review.
        authors: Its authors.
    """
    remarks = list(read.remarks)
    for comments in map(frozenset, authors.values()):
        of_author = [at for at, remark in enumerate(remarks) if remark.comment in comments]
        abouts = doubt([remarks[at].about for at in of_author])
        for at, about in zip(of_author, abouts, strict=True):
            before = remarks[at]
            # A language model has judged by the code whether its remark is on topic.
            if before.reading is None and about < before.about:
                counted = trust(before.about)
                share = trust(about) / counted if counted else 0.0
                worth = LEAST_WORTH + (before.worth - LEAST_WORTH) * share
                remarks[at] = replace(before, about=about, worth=worth)
    return replace(read, remarks=tuple(remarks))


def doubt(abouts: Sequence[float]) -> list[float]:
    """Lower the probability of each remark whose author's other remarks are about something else.

    A remark about another change may share words with this change by chance, but rarely do all
    remarks of an author. The other remarks never raise a probability: remarks on topic must not
    carry one that is off topic.

    Args:
        abouts: Probability that each of an author's remarks is about the change.
    """
    # If real reviews are put on another change of the same repository, they keep 26 % of their
    # worth instead of 35 %; on their own change, they keep 81 % as before
    # (`python benchmarks/usefulness.py DATA`).
    logits = [max(-MAX_DOUBT, min(MAX_DOUBT, logit(about))) for about in abouts]
    neighbours = max(1, len(logits) - 1)
    means = [DOUBT * (math.fsum(logits) - value) / neighbours for value in logits]
    return [
        min(about, sigmoid(logit(about) + mean)) if mean < 0 else about
        for about, mean in zip(abouts, means, strict=True)
    ]


def logit(probability: float) -> float:
    """Return the log-odds of a probability, within about -9 and 9."""
    bounded = min(1 - 1e-4, max(1e-4, probability))
    return math.log(bounded / (1 - bounded))


def sigmoid(logit: float) -> float:
    """Return the probability of a logit, within (0, 1)."""
    # `exp` overflows from 710 on; beyond 30, the probability differs from 0 or 1 by less than
    # 1e-13.
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
