"""Reads reviews: what each sentence and each remark gives the author of the change.

1. `Reader.read_texts`: the network (`reading.py`) reads each sentence, `remarks.py` divides the
   comments into remarks, and the network reads each remark.
2. `Reader._compare`: `evidence.py` measures whether each sentence and each remark is about the
   change, and the remarks get their worth.
3. `discount_off_topic`: remarks lose worth if their author's other remarks are off topic.
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
"""Readings of the sentences and of the remarks of a review, before the comparison with its change.
"""

SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train usefulness`."""
VERSION: Final = 6
"""Version of the code that applies the weights; part of the signature."""
# In training, half of the weight is on texts that are compared with another change, but a real
# comment on a changed line is more often about the change. Without this shift, 3,259 real comments
# keep 76 % of their worth, with the shift 81 %. A larger shift would also raise reviews of another
# change of the repository: with 1.0, 17 % of 30 such reviews that were put on changed lines had a
# standing over 25 (`python benchmarks/usefulness.py DATA`).
PLACED_SHIFT: Final = 0.3
"""Added to the log-odds of being about the change if the comment is on a line of the change."""
EMPTY_BELOW: Final = 0.2
"""A sentence is flagged as a mere description only if its rating `actionable` is below this."""
RESTATES_FROM: Final = 0.7
"""A sentence is flagged as a mere description only with at least this probability of being one."""
SURELY_ABOUT: Final = 0.7
"""Minimum probability of being about the change with which a remark keeps all of its worth."""
DOUBT: Final = 0.5
"""Factor of the mean log-odds of an author's other remarks. If this mean is negative, its product
with the factor is added to the log-odds of a remark. With 1, the standing of a review would change
more if the review were rephrased as questions."""
MAX_DOUBT: Final = 4.0
"""Maximum absolute value of the log-odds of one remark in that mean."""
FUNCTIONAL_WEIGHT: Final = 0.4
"""Weight, in the importance, of the rating that a remark is about how the code works."""
# Chosen so that each level is as frequent as in ratings by people.
LEVELS: Final = (
    (0.88, Importance.CRITICAL),
    (0.66, Importance.MAJOR),
    (0.38, Importance.MINOR),
    (0.0, Importance.NIT),
)
"""Minimum importance for each level, highest first."""
PROPOSED: Final = 0.9
"""Minimum `actionable` of a proposal of code, whatever the network reads."""
ACTING: Final = (Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION)
"""Stances of a remark that gives the author something to answer."""
# These consequences are critical, whether they are named in a statement, a request or a question.
# Readers gave four real comments that name one of them an importance of 4 and a worth of 4; without
# this rule, the comments would have 3.5 and 2.5.
SECURITY: Final = re.compile(
    r"\b(?:(?:sql|command|shell|code|html|script|template|ldap)[- ]injections?|xss|cross[- ]site"
    r"|csrf|ssrf|(?:path|directory) traversal|(?:remote|arbitrary) code|privilege escalation"
    r"|data loss|los(?:es?|ing) (?:\w+ )?data)\b",
    re.IGNORECASE,
)
"""Names of the gravest consequences."""
SECURITY_IMPORTANCE: Final = 0.9
"""Minimum importance of a remark that names such a consequence and has a stance of `ACTING`."""
SECURITY_WORTH: Final = 0.5
"""Added to the log-odds of the worth of such a remark."""


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
        """Read the sentences of reviews, divide the comments into remarks, and read the remarks.

        Args:
            reviews: For each review, the sentences and the change with their vectors, and the unit
                vectors of the change's `diff.windows`, shape (W, D).
            authors: For each review, the comments of each author.
        """
        read = self.read_undiscounted(reviews)
        return [discount_off_topic(*of_review) for of_review in zip(read, authors, strict=True)]

    def read_undiscounted(
        self,
        reviews: Sequence[tuple[Cells, Floats]],
        known_remarks: Sequence[Iterable[tuple[int, ...]]] = (),
    ) -> list[ReviewReadings]:
        """Read reviews in which some remarks are known; then call `discount_off_topic`.

        Args:
            reviews: As in `read`.
            known_remarks: For each review, the remarks that are known, as in `remarks.divide`.
                Empty if none are known in any review.
        """
        texts = self.read_texts(
            [(cells.sentences, cells.sentence_vectors) for cells, _ in reviews], known_remarks
        )
        return [
            self._compare(cells, windows, *of_review)
            for (cells, windows), of_review in zip(reviews, texts, strict=True)
        ]

    def read_texts(
        self,
        reviews: Sequence[tuple[Sequence[Sentence], Floats]],
        known_remarks: Sequence[Iterable[tuple[int, ...]]] = (),
    ) -> list[TextReadings]:
        """Read the sentences and remarks of reviews without their changes.

        Args:
            reviews: The S sentences of each review, with their unit vectors, shape (S, D).
            known_remarks: As in `read_undiscounted`.
        """
        outputs = self._run(unit.text for units, _ in reviews for unit in units)
        sentences = [
            [read_text(unit.text, outputs[unit.text], proposes=unit.proposal) for unit in units]
            for units, _ in reviews
        ]
        # A remark is read as one text, like the texts of the scale. When the best of its sentences
        # was read instead, the standings of real comments by bots were 4 points too high, and
        # agreed less with the worth that readers gave.
        drafts = [
            divide(units, vectors, of_review, fixed)
            for (units, vectors), of_review, fixed in zip(
                reviews, sentences, known_remarks or [()] * len(reviews), strict=True
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
                        proposes=any(units[index].proposal for index in indices),
                        indices=indices,
                    )
                    for indices, text in row
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
        # A description inside an actionable remark is not flagged, because it is the premise.
        actionable = {
            at for item in remarks if item.actionable >= ACTIONABLE_FROM for at in item.indices
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
                index not in actionable
                and text.describes >= RESTATES_FROM
                and text.actionable < EMPTY_BELOW
                for index, text in enumerate(sentences)
            ),
            remarks=tuple(self._weigh(remark, cells, change) for remark in remarks),
            aspects=tuple(remark.aspects for remark in remarks),
            masked=tuple(mask_names(remark.text) for remark in remarks),
        )

    def judge_about(
        self, units: Sequence[Sentence], vectors: Floats, change: ChangeEvidence
    ) -> tuple[Floats, list[Subject]]:
        """Judge whether each sentence is about the change.

        Args:
            units: The S sentences.
            vectors: Unit vectors of the sentences, shape (S, D).
            change: The change.

        Returns:
            The probabilities that the sentences are about the change, shape (S,), each in [0, 1];
            and the subject of each sentence, `CHANGE` or `SURROUNDINGS`, which holds only if the
            sentence is about the change and not about a claim.
        """
        judged = [
            self._judge(unit.text, vector, change)
            for unit, vector in zip(units, vectors, strict=True)
        ]
        probabilities = np.array([about for about, _ in judged], dtype=np.float32)
        return probabilities, [subject for _, subject in judged]

    def _weigh(self, text: TextReading, cells: Cells, change: ChangeEvidence) -> Remark:
        """Compare a remark with the change, and return it with its worth for the author."""
        units = [cells.sentences[index] for index in text.indices]
        is_placed = units[0].comment in cells.line_comments
        about = self.judge_remark(text, cells.sentence_vectors, change, is_placed=is_placed)
        return Remark(
            comment=units[0].comment,
            sentences=text.indices,
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
            is_placed: Whether the remark's comment is on a line of the change.
        """
        # The remark is judged as a whole, because one of its sentences may share a word with the
        # change by chance. When the best of its sentences decided, real reviews that were put on
        # another change kept 46 % of their worth instead of 35 %.
        vector = mean_direction(vectors[list(remark.indices)])
        return self._judge(remark.text, vector, change, shift=PLACED_SHIFT if is_placed else 0.0)[0]

    def _judge(
        self, text: str, vector: Floats, change: ChangeEvidence, *, shift: float = 0.0
    ) -> tuple[float, Subject]:
        """Return the probability that a text is about the change, and the subject of the text.

        `vector` is the text's unit vector, shape (D,). `shift` is added to the log-odds.
        """
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
    """Return the reader for an encoder and a matcher; None if there are no weights for them.

    Args:
        encoder: The encoder.
        matcher: Identity of the matcher. There are weights only for the calibrated matcher.
    """
    if not matcher.startswith("calibrated"):
        return None
    weights, file = _shipped()
    # The weights are for all revisions of the encoder's model, because standings hardly depend on
    # the revision: with `int8`, they change by 1.3 of 100 on average (docs/design/005-encoders.md).
    if encoder.identity.partition("@")[0] != weights.encoder:
        return None
    return Reader(weights, encoder if isinstance(encoder, MiniLM) else MiniLM(), file=file)


def read_text(
    text: str, outputs: Floats, *, proposes: bool = False, indices: tuple[int, ...] = ()
) -> TextReading:
    """Convert the network's outputs for a text to a reading of the text.

    Args:
        text: A sentence or a remark.
        outputs: Outputs of the network, shape (len(OUTPUTS),).
        proposes: Whether the text is or contains a proposal of code that was read from a block.
        indices: Indices of the sentences and proposals of a remark.
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
    # An actionable text gets one of these stances, because a request must not be shown as, for
    # example, a description.
    candidates = ACTING if rated["actionable"] >= ACTIONABLE_FROM else STANCES
    # Authors follow a request more often than a question, and a remark that quotes or proposes code
    # more often than another. The weights are set by hand, because the network's output `acted_on`
    # has learned who wrote: in its training data, authors act on 79 % of comments by people and on
    # 20 % of those by bots, and among unseen comments by bots, its AUC was only 0.29
    # (docs/design/010-usefulness.md).
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
        indices=indices,
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
    """Return the level of an importance in [0, 1]."""
    return next(level for threshold, level in LEVELS if importance >= threshold)


def weigh_worth(expected: float, about: float) -> float:
    """Return the worth of a remark, 1 to 5.

    Args:
        expected: Expected worth of the remark if it is about the change, in [0, 1].
        about: Probability that the remark is about the change.
    """
    return LEAST_WORTH + (MAX_WORTH - LEAST_WORTH) * expected * trust(about)


def trust(about: float) -> float:
    """Return the share of its worth that a remark keeps, in [0, 1].

    Args:
        about: Probability that the remark is about the change.
    """
    return min(1.0, about / SURELY_ABOUT) if about >= ON_TOPIC else 0.0


def discount_off_topic(read: ReviewReadings, authors: Authors) -> ReviewReadings:
    """Lower the worth of remarks whose author's other remarks are about something else.

    Args:
        read: The readings of a review.
        authors: The comments of each author of the review.
    """
    remarks = list(read.remarks)
    for comments in map(frozenset, authors.values()):
        of_author = [at for at, remark in enumerate(remarks) if remark.comment in comments]
        abouts = doubt([remarks[at].about for at in of_author])
        for at, about in zip(of_author, abouts, strict=True):
            remark = remarks[at]
            # A remark that a language model read keeps its worth, because the model saw the code
            # and judged whether the remark is about it.
            if remark.reading is None and about < remark.about:
                old_trust = trust(remark.about)
                share = trust(about) / old_trust if old_trust else 0.0
                worth = LEAST_WORTH + (remark.worth - LEAST_WORTH) * share
                remarks[at] = replace(remark, about=about, worth=worth)
    return replace(read, remarks=tuple(remarks))


def doubt(abouts: Sequence[float]) -> list[float]:
    """Lower the probability of each remark whose author's other remarks are about something else.

    A remark about another change may share words with this change by chance, but all remarks of an
    author rarely do. The other remarks never raise a probability, because several remarks on topic
    must not help one that is off topic.

    Args:
        abouts: Probability that each of an author's remarks is about the change.

    Returns:
        The lowered probabilities, in the same order.
    """
    # With this rule, real reviews that are put on another change of their repository keep 26 % of
    # their worth instead of 35 %. On their own change, they keep 81 % with and without the rule
    # (`python benchmarks/usefulness.py DATA`).
    logits = [max(-MAX_DOUBT, min(MAX_DOUBT, logit(about))) for about in abouts]
    neighbours = max(1, len(logits) - 1)
    means = [DOUBT * (math.fsum(logits) - value) / neighbours for value in logits]
    return [
        min(about, sigmoid(logit(about) + mean)) if mean < 0 else about
        for about, mean in zip(abouts, means, strict=True)
    ]


def logit(probability: float) -> float:
    """Return the log-odds of a probability, limited to about -9 to 9."""
    bounded = min(1 - 1e-4, max(1e-4, probability))
    return math.log(bounded / (1 - bounded))


def sigmoid(logit: float) -> float:
    """Return the probability of a logit, in (0, 1)."""
    # `exp` overflows from 710 on; beyond 30, the probability differs from 0 or 1 by less than
    # 1e-13.
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
