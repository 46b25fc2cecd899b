"""Learned rule: how likely people are to say that a sentence addresses a reference.

As in the published rule, every sentence is compared with every pseudo-reference, and conciseness
and comprehensiveness are means of the best cells. Only the value of a cell is learned: the sum of
decision trees over cosines, shared names and the lines of the diff. The trees were fitted so that
the published formulas reproduce human ratings of entire reviews, so a degree of 0.5 is the middle
of the human scale.

`docs/design/011-calibrated.md` has the method and its evaluation.
"""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore import arrays
from crscore.errors import InputError
from crscore.matchers import features, guards
from crscore.matchers.base import Cells, Judgement, Matcher
from crscore.matchers.features import TextStatistics
from crscore.matchers.trees import Trees
from crscore.records import Flag

Floats = npt.NDArray[np.float32]

# Since version 5, `guards.py` ignores code comments in the diff. Before, copying a reviewer's
# sentence into a code comment set its degree to 0, for 225 of 1,224 real sentences.
RULES: Final = 5
"""Version of the rules that supplement the trees: which sentences are flagged and have degree 0."""
SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""Output of `crscore train matcher` on the human study."""
FORMAT: Final = 1
"""Version of the file format, incremented if older code would fail on a file or misread it."""
_SCALAR_FIELDS: Final = ("encoder", "data_sha256", "seed", "start", "discount", "decision")
_TREE_ARRAYS: Final = ("roots", "feature", "threshold", "left", "right", "value")
_VECTOR_ARRAYS: Final = ("claim", "remark", "axes", "centre")
_Finite = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


class Calibrated(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Matcher with learned weights; reading a file rejects values outside the annotated ranges."""

    encoder: str
    """Name and model of the encoder whose vectors were used in training."""
    data_sha256: str
    """SHA-256 of the study that the weights were learned from."""
    seed: int
    """Seed of the random numbers used in training."""
    start: _Finite
    """Logit of every cell before the trees' values are added."""
    discount: _Finite
    """Factor of log(1 + words of a comment), which is subtracted from the logits of its cells."""
    decision: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    """Minimum degree at which a sentence addresses a pseudo-reference, in (0, 1)."""
    trees: Trees
    """Trees whose values are added to a cell's logit."""
    statistics: TextStatistics
    """Statistics of the training texts."""
    file: str = ""
    """First eight digits of the SHA-256 of the weights file; empty if there is no file."""

    @property
    def identity(self) -> str:
        """`calibrated@`, version of the rules, hash of the data, seed, and hash of the file.

        The hash of the file is included, because another version of crscore may learn different
        weights from the same data.
        """
        learned = f"calibrated@{RULES}.{self.data_sha256[:8]}.{self.seed}"
        return f"{learned}+{self.file}" if self.file else learned

    def match(self, cells: Cells) -> Judgement:
        """Estimate, for each cell, the probability that the sentence addresses the reference.

        The degree is 0 for a sentence that is hidden, not in English, a repetition, or only code.
        """
        flags = guards.find_flags(cells.sentences, cells.diff)
        # Hidden prose counts as part of the review but does not address anything. A hidden marker,
        # by which a bot recognizes its comment, does not count.
        in_review = tuple(
            not (sentence.hidden and guards.is_machine_marker(sentence.text))
            for sentence in cells.sentences
        )
        logits = self.logits(cells)
        # The best cells of a comment are features of all its cells, so pasted code could raise the
        # degrees of other sentences. Therefore, each cell gets the lower of its logits with and
        # without the code.
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
        return Judgement(degrees=degrees, decision=self.decision, flags=flags, in_review=in_review)

    def logits(self, cells: Cells) -> Floats:
        """Return each cell's logit, shape (R, S): the trees' sum, minus a discount for length."""
        shape = cells.similarity.shape
        if 0 in shape:
            return np.zeros(shape, dtype=np.float32)
        table = features.compute_features(cells, self.statistics)
        summed = self.trees.sum(table.reshape(-1, table.shape[2])).reshape(shape)
        length = table[..., -1]  # log(1 + words of the comment)
        # Without the discount, a comment would gain merely from more words. A discount of more than
        # 0.1 lowers the agreement with people (docs/design/011-calibrated.md).
        logits = summed + self.start - self.discount * length
        return logits.astype(np.float32)


def to_bytes(matcher: Calibrated) -> bytes:
    """Serialize a matcher; the same weights give the same bytes.

    Returns:
        A NumPy archive (`.npz`), without pickled objects.
    """
    statistics, trees = matcher.statistics, matcher.trees
    # Sorted, so that the same weights give the same bytes.
    frequency = dict(sorted(statistics.frequency.items()))
    facts = {name: getattr(matcher, name) for name in _SCALAR_FIELDS} | {
        "format": FORMAT,
        "features": features.feature_names(len(statistics.axes)),
        "depth": trees.depth,
        "documents": statistics.documents,
    }
    return arrays.pack(
        {
            "facts": arrays.from_text(json.dumps(facts, sort_keys=True)),
            "stems": arrays.from_text("\n".join(frequency)),
            "frequency": np.array(list(frequency.values()), dtype=np.int32),
            **{name: getattr(trees, name) for name in _TREE_ARRAYS},
            **{name: getattr(statistics, name) for name in _VECTOR_ARRAYS},
        }
    )


def read_weights(path: Path) -> Calibrated:
    """Read a matcher's weights.

    Args:
        path: File made by `to_bytes`.

    Raises:
        InputError: The file cannot be read, has another format, or was made for other features.
    """

    def parse(content: arrays.Arrays) -> Calibrated:
        facts = json.loads(arrays.to_text(content["facts"]))
        names = list(features.feature_names(len(content["axes"])))
        if facts["format"] != FORMAT or facts["features"] != names:
            raise InputError(f"{path} was made by another version of crscore; train it again")
        _check(content, features=len(names))
        stems, counts = arrays.to_lines(content["stems"]), content["frequency"].tolist()
        statistics = {name: content[name] for name in _VECTOR_ARRAYS} | {
            "frequency": dict(zip(stems, counts, strict=True)),
            "documents": facts["documents"],
        }
        trees = {name: content[name] for name in _TREE_ARRAYS} | {"depth": facts["depth"]}
        return msgspec.convert(facts | {"trees": trees, "statistics": statistics}, Calibrated)

    return arrays.unpack(path, parse, "weights of the calibrated matcher")


def _check(content: arrays.Arrays, *, features: int) -> None:
    """Reject values that would make a run fail later, or make its results undefined."""
    # The file may be the user's (`calibrated:FILE`), or damaged.
    axes, nodes = content["axes"], len(content["value"])
    if axes.ndim != 2 or any(
        content[name].shape != axes.shape[1:] for name in ("claim", "remark", "centre")
    ):
        raise ValueError("the vectors differ in length")
    for name in (*_VECTOR_ARRAYS, "threshold", "value"):
        if content[name].dtype != np.float32 or not np.isfinite(content[name]).all():
            raise ValueError(f"{name} has something other than finite numbers")
    if any(content[name].ndim != 1 for name in (*_TREE_ARRAYS, "frequency")):
        raise ValueError("the trees' arrays are not one-dimensional")
    limits = {"roots": nodes, "left": nodes, "right": nodes, "feature": features}
    for name, limit in (limits | {"frequency": 2**31}).items():
        values = content[name]
        # NumPy would accept a negative index and count it from the end.
        is_inside = not values.size or 0 <= values.min() <= values.max() < limit
        if values.dtype != np.int32 or not is_inside:
            raise ValueError(f"the numbers of {name} are out of range")
    if len({len(content[name]) for name in _TREE_ARRAYS if name != "roots"}) != 1:
        raise ValueError("the trees' arrays differ in length")


_read = lru_cache(maxsize=4)(read_weights)


def knows(encoder: str) -> bool:
    """Return whether the shipped weights were learned from this encoder's vectors.

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
        InputError: The weights cannot be read, or were learned from another encoder's vectors.
    """
    path = Path(weights) if weights else SHIPPED
    learned = _read(path)
    own_encoder = encoder.partition("@")[0]
    if own_encoder != learned.encoder:
        raise InputError(
            f"the calibrated matcher needs the encoder {learned.encoder}, not {own_encoder}; "
            "use --matcher published, or train weights for this encoder (crscore train matcher "
            "DATA -o FILE) and use --matcher calibrated:FILE"
        )
    return replace(learned, file=hashlib.sha256(path.read_bytes()).hexdigest()[:8])
