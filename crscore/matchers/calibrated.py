"""Learned rule: the probability that people say that a sentence addresses a reference.

The published structure is unchanged: every sentence is compared with every pseudo-reference, and
conciseness and comprehensiveness are means of the best cells. Only the value of a cell is learned:
the sum of a few decision trees over cosines, shared names and the lines of the diff. They were
trained through the published formulas on human ratings, so that 0.5 is the middle of the human
scale.
`docs/design/011-calibrated.md` has the method and its evaluation.
"""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.errors import InputError
from crscore.matchers import features, guards, weights
from crscore.matchers.base import Cells, Judgement, Matcher
from crscore.matchers.weights import Weights
from crscore.records import Flag

Floats = npt.NDArray[np.float32]

# Since version 5, `guards.py` ignores prose of the change. Before, 225 of 1,224 real sentences lost
# their degree when the author copied them into a comment of the change.
RULES: Final = 5
"""Version of the rules that supplement the trees: flags, and the degree allowed by each flag."""
SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train matcher` on the human study."""


class Calibrated(msgspec.Struct, frozen=True, eq=False):
    """Matcher with learned weights."""

    weights: Weights
    file: str = ""
    """First digits of the hash of the weights file; empty if there is no file."""

    @property
    def identity(self) -> str:
        """`calibrated@`, version of the rules, hash of the data, seed, and hash of the file.

        The hash of the file is needed, because another version may learn different weights from the
        same data.
        """
        learned = f"calibrated@{RULES}.{self.weights.data_sha256[:8]}.{self.weights.seed}"
        return f"{learned}+{self.file}" if self.file else learned

    def match(self, cells: Cells) -> Judgement:
        """Estimate for every cell the probability that people judge it to be addressed.

        A sentence that is hidden, repeats another or is only code does not address any reference.
        """
        flags = guards.find_flags(cells.sentences, cells.diff)
        # Hidden prose stays in the review but does not address anything. A hidden marker, which a
        # bot uses to find its comment again, is not part of the review.
        in_review = tuple(
            not (sentence.hidden and guards.is_machine_marker(sentence.text))
            for sentence in cells.sentences
        )
        logits = self.logits(cells)
        # The best cells of a comment are features of all its cells, so pasted code could raise the
        # degrees of other sentences: each takes the lower of its logits with and without the code.
        # The discount for the comment's length stays.
        clean = [column for column, flag in enumerate(flags) if flag is not Flag.NO_SENTENCE]
        if 0 < len(clean) < len(flags):
            without_code = replace(
                cells,
                sentences=tuple(cells.sentences[column] for column in clean),
                sentence_vectors=cells.sentence_vectors[clean],
                similarity=cells.similarity[:, clean],
                about=cells.about[clean],
            )
            logits[:, clean] = np.minimum(logits[:, clean], self.logits(without_code))
        unflagged = np.array([flag is None for flag in flags], dtype=np.float32)
        degrees = (1 / (1 + np.exp(-logits))).astype(np.float32) * unflagged
        return Judgement(
            degrees=degrees, decision=self.weights.decision, flags=flags, in_review=in_review
        )

    def logits(self, cells: Cells) -> Floats:
        """Return the sum of the trees minus the discount for length, shape (R, S)."""
        shape = cells.similarity.shape
        if 0 in shape:
            return np.zeros(shape, dtype=np.float32)
        table = features.compute_features(cells, self.weights.background)
        summed = self.weights.trees.sum(table.reshape(-1, table.shape[2])).reshape(shape)
        length = table[..., -1]  # the comment's log-length
        # Words alone must not pay. A discount of more than 0.1 lowers the agreement with people
        # (docs/design/011-calibrated.md).
        logits = summed + self.weights.start - self.weights.discount * length
        return logits.astype(np.float32)


@lru_cache(maxsize=4)
def _read(path: Path) -> Weights:
    return weights.read_weights(path)


def knows(encoder: str) -> bool:
    """Return whether the shipped weights were learned on this encoder's vectors.

    Args:
        encoder: Identity of an encoder: name, model and revision.
    """
    return SHIPPED.exists() and encoder.partition("@")[0] == _read(SHIPPED).encoder


def create(*, encoder: str, weights: str | None = None) -> Matcher:
    """Create the matcher.

    Args:
        encoder: Identity of the run's encoder.
        weights: File of the weights; None for the shipped ones.

    Raises:
        InputError: The weights cannot be read, or were learned on another encoder's vectors.
    """
    path = Path(weights) if weights else SHIPPED
    learned = _read(path)
    own_encoder = encoder.partition("@")[0]
    if own_encoder != learned.encoder:
        raise InputError(
            f"the calibrated matcher needs the encoder {learned.encoder}, not {own_encoder}; "
            "use --matcher published, or train one (crscore train matcher DATA -o FILE) and use "
            "--matcher calibrated:FILE"
        )
    return Calibrated(learned, file=hashlib.sha256(path.read_bytes()).hexdigest()[:8])
