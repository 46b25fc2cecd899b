"""Computes the probability that a finding is about a known problem, by a logistic model.

The upper layers of the encoder were trained to give similar vectors to texts that make the same
point, and dissimilar vectors to texts that make different points about the same code.

Each pair of a finding and a problem is measured by the cosine of the two texts, by how well each
token of one text is matched in the other, and by the rare words that the texts share. It is also
measured by how much these measures exceed those for the change's other problems and for the bot's
other findings, because a finding that fits all problems fits none. No measure depends on another
bot.

Rules then adjust the result. Texts that share names from code, but no other words, have the same
subject but do not make the same point. A finding of one word that the problem does not contain
makes no point. A comment of a few words on the lines of the problem needs less evidence. Texts in
another language, which the encoder cannot read, are compared by the code that they name and by
their location.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore import arrays
from crscore.bench.records import Finding, Problem
from crscore.encoders.minilm import MiniLM, TunedLayers
from crscore.errors import InputError
from crscore.review.read import is_english
from crscore.text import code_names, mask_names, stems_and_names
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.reader import logit

Doubles = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

SHIPPED: Final = Path(__file__).with_name("weights.npz")
"""File of the model's weights, which `crscore train bench` writes."""
FORMAT: Final = 2
"""Version of the format of this file."""
RULES: Final = 3
"""Version of the rules below, which adjust the learned logit."""
# The amount is not learned, because the judgements in the training data have no locations. It is
# too small to make a match by itself.
LOCATION_LOGIT: Final = 0.5
"""Amount added to the logit for the same location, and subtracted for another file."""
# The location of a terse finding says what the finding is about. With this amount, "check err" has
# a probability of 0.72 instead of 0.37, and "nit: spacing" on the same line only 0.3.
TERSE_LOGIT: Final = 1.5
"""Amount added to the logit for the same location if the finding is terse."""
TERSE_WORDS: Final = 6
"""Maximum number of words of a terse finding."""
# The amount is not learned, because judges saw few such texts. Without it, 4 of 10 findings that
# make another point about the same name match; with it, none does (`benchmarks/points.jsonl`;
# docs/design/029-golden-sets.md).
UNCLAIMED_LOGIT: Final = 2.0
"""Amount subtracted from the logit of two texts that share names from code and no other word."""
# The encoder gives all short texts similar vectors, so "LGTM" would match "off by one".
EMPTY_LOGIT: Final = 6.0
"""Amount subtracted from the logit if a finding has at most one word, and the problem lacks it."""
COMMON: Final = 0.01
"""Shared words whose rarities add up to at most this are too common to count."""
NEAR_LINES: Final = 3
"""A finding at most this many lines away from a problem is at the same location."""
# The last bits of a vector depend on the machine and on the other texts of the batch, but must not
# decide whether a pair matches.
DECIMALS: Final = 4
"""Number of decimals to which a measure is rounded."""
LEAST_SHARE: Final = 4
"""`least_covered` is the mean over those tokens of the problem that the finding matches worst: a
fourth of the tokens if this is 4.
"""
LIKENESS: Final = (
    "cosine", "problem_covered", "finding_covered", "least_covered", "words_of_problem",
    "words_of_finding", "words",
)  # fmt: skip
"""Measures of the similarity of two texts."""
LEADS: Final = 4
"""For the first `LEADS` of `LIKENESS`, there are two more features: how much the measure exceeds
that of the next best problem, and that of the next best finding.
"""
FEATURES: Final = (
    *LIKENESS,
    *(f"{name}_over_problems" for name in LIKENESS[:LEADS]),
    *(f"{name}_over_findings" for name in LIKENESS[:LEADS]),
    "finding_length", "problem_length",
)  # fmt: skip
ALONE: Final = 0.25
"""Value that a measure is assumed to have for the next best problem or finding if there is none."""


class TextView(NamedTuple):
    """Vectors and word stems of a text, prepared for comparisons."""

    vector: Vectors
    """Unit vector of the mean of the token vectors, shape (D,)."""
    tokens: Vectors
    """Unit vectors of the text's tokens, shape (L, D), L at least 1."""
    stems: Mapping[str, float]
    """Stem of each word, with how rare the stem is in review comments."""
    claimed: frozenset[str]
    """Stems that occur outside of code and names, which say what the text claims."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairModel:
    """Model of the probability that a finding is about a problem."""

    encoder: str
    """Name and model of the encoder."""
    data_sha256: str
    """SHA-256 of the points and judgements that the weights were learned from."""
    layers: TunedLayers
    """Upper layers of the encoder, trained to distinguish points about the same code."""
    weights: tuple[float, ...]
    """Weight of each of `FEATURES`."""
    bias: float
    threshold: float
    """Minimum probability of a match, at which missed and false matches are equally frequent."""
    band: tuple[float, float]
    """The two probabilities between which a decision is unsure."""
    file: str = ""
    """First eight digits of the SHA-256 of the weights file."""

    @property
    def identity(self) -> str:
        """The model's part of a signature: hashes of data and file, and version of the rules."""
        return f"pairs@{self.data_sha256[:8]}+{self.file}+rules:{RULES}"

    def probabilities(
        self,
        findings: Sequence[Finding],
        problems: Sequence[Problem],
        views: Mapping[str, TextView],
    ) -> Doubles:
        """Return how probable it is that each of a bot's findings is about each problem.

        Args:
            findings: F findings.
            problems: G problems.
            views: View of each finding's and each problem's text, keyed by the text.

        Returns:
            Probabilities in [0, 1], shape (F, G).
        """
        table = measure_pairs(*([views[row.text] for row in side] for side in (findings, problems)))
        logits = table @ np.array(self.weights) + self.bias
        for row, finding in enumerate(findings):
            for column, problem in enumerate(problems):
                if is_english(finding.text) and is_english(problem.text):
                    sides = views[finding.text], views[problem.text]
                    logits[row, column] += shift_location(finding, problem)
                    logits[row, column] -= lack_of_claim(finding.text, *sides)
                else:
                    logits[row, column] = logit(compare_code(finding, problem))
        return sigmoid(logits).round(DECIMALS)


def sigmoid(logits: Doubles) -> Doubles:
    """Return the probabilities, each in (0, 1), that correspond to logits."""
    # `exp` overflows above 709. At a logit of 30, the probability is 1 to 13 digits.
    odds: Doubles = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return odds


def compare_locations(finding: Finding, problem: Problem) -> int:
    """Compare the locations of a finding and a problem.

    Returns:
        1 for the same location; -1 for different files; 0 for other lines of one file, or if one of
        the two has no location.
    """
    if not finding.path or not problem.path:
        return 0
    # Paths of sets and of bots may start at different folders: "price.py" may be "cart/price.py".
    shorter, longer = sorted((finding.path.strip("/"), problem.path.strip("/")), key=len)
    if not f"/{longer}".endswith(f"/{shorter}"):
        return -1
    if finding.line is None or problem.line is None:
        return 0
    first = (problem.start_line or problem.line) - NEAR_LINES
    return int(first <= finding.line <= problem.line + NEAR_LINES)


def shift_location(finding: Finding, problem: Problem) -> float:
    """Return the amount to add to the logit of a pair because of the locations."""
    is_terse = len(finding.text.split()) <= TERSE_WORDS
    return {1: TERSE_LOGIT if is_terse else LOCATION_LOGIT, 0: 0.0, -1: -LOCATION_LOGIT}[
        compare_locations(finding, problem)
    ]


def lack_of_claim(text: str, finding: TextView, problem: TextView) -> float:
    """Return the amount to subtract from a pair's logit because the texts share no claim.

    It is `EMPTY_LOGIT` if the finding has at most one word, which the problem does not contain;
    `UNCLAIMED_LOGIT` if the texts share names from code, but no other word that is rare; otherwise
    0.

    Args:
        text: Text of the finding.
        finding: View of the finding's text.
        problem: View of the problem's text.
    """
    shared = finding.stems.keys() & problem.stems.keys()
    if not shared and len(text.split()) <= 1:
        return EMPTY_LOGIT
    claimed = finding.claimed & problem.claimed
    if not (finding.claimed and problem.claimed) or shared <= claimed:
        return 0.0
    # The stems are sorted, so that the last bits of the sum do not depend on the order of a set.
    rarity = sum(problem.stems[stem] for stem in sorted(claimed))
    return UNCLAIMED_LOGIT if rarity <= COMMON else 0.0


def compare_code(finding: Finding, problem: Problem) -> float:
    """Return the probability that two texts make the same point, judged only by the code they name.

    The texts may be in any language. Two shared names from code are good evidence at the same
    location. One shared name at the same location, or two if a location is unknown or is elsewhere
    in the file, are just enough for a match; the location alone is not enough. Other texts match
    only if they are equal.

    Example:
        >>> finding = Finding(change="1", bot="a", text="`charge` gibt `lock` nicht frei")
        >>> compare_code(finding, Problem(text="`lock` n'est pas libéré par `charge`"))
        0.6
    """
    location = compare_locations(finding, problem)
    if finding.text == problem.text and location >= 0:
        return 1.0
    shared = min(2, len(code_names(finding.text) & code_names(problem.text)))
    return {(1, 0): 0.3, (1, 1): 0.6, (0, 2): 0.6, (1, 2): 0.9}.get((location, shared), 0.0)


def view_texts(
    texts: Iterable[str], encoder: MiniLM, rarity: Rarity, layers: TunedLayers | None
) -> dict[str, TextView]:
    """Return the view of each text, keyed by the text; a view takes about 50 KB of memory.

    Args:
        texts: Any texts; equal ones are encoded once.
        encoder: Encoder that the pair model was trained with.
        rarity: How rare each word stem is in review comments.
        layers: Upper layers that replace those of the encoder; None to keep them.
    """
    # The texts are sorted, so that the batches, and with them the last bits of the vectors, do not
    # depend on the order of the findings.
    distinct = sorted(set(texts))
    views: dict[str, TextView] = {}
    for text, vectors in zip(distinct, encoder.tokens(distinct, layers), strict=True):
        tokens = vectors[1:-1]  # without the special tokens
        if not is_english(text):
            # The encoder reads only English. Other texts are known to make the same point only if
            # they are equal, so each gets a random vector, with a seed that depends on the text.
            seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
            tokens = np.random.default_rng(seed).standard_normal((1, tokens.shape[1]), np.float32)
        # An empty text has only the special tokens.
        if not len(tokens):
            tokens = np.zeros((1, tokens.shape[1]), dtype=np.float32)
        mean = tokens.sum(axis=0)
        stems = stems_and_names(text)[0]
        lengths = np.linalg.norm(tokens, axis=1, keepdims=True)
        views[text] = TextView(
            vector=mean / max(1e-9, float(np.linalg.norm(mean))),
            tokens=tokens / np.maximum(lengths, 1e-9),
            stems={stem: rarity.of(stem) for stem in sorted(stems)},
            claimed=stems_and_names(mask_names(text))[0] & stems,
        )
    return views


def measure_pairs(findings: Sequence[TextView], problems: Sequence[TextView]) -> Doubles:
    """Measure how similar each of a bot's findings is to each problem of a change.

    Args:
        findings: Views of F findings.
        problems: Views of G problems.

    Returns:
        The features of each pair, shape (F, G, len(FEATURES)).
    """
    shape = (len(findings), len(problems))
    if 0 in shape:
        return np.zeros((*shape, len(FEATURES)))
    likeness = np.stack([_likeness(findings, problem) for problem in problems], axis=1)
    likeness = likeness.round(DECIMALS)
    leading = likeness[..., :LEADS]
    lengths = np.empty((*shape, 2))
    lengths[..., 0] = np.log([len(view.tokens) for view in findings])[:, None]
    lengths[..., 1] = np.log([len(view.tokens) for view in problems])
    return np.concatenate(
        [likeness, leading - _next_best(leading, 1), leading - _next_best(leading, 0), lengths],
        axis=2,
    )


def _likeness(findings: Sequence[TextView], problem: TextView) -> Doubles:
    """Measure how similar F findings are to a problem; return an array (F, len(LIKENESS))."""
    counts = np.array([len(view.tokens) for view in findings])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    cosines = problem.tokens @ np.concatenate([view.tokens for view in findings]).T
    covered = np.maximum.reduceat(cosines, starts, axis=1)
    least = np.sort(covered, axis=0)[: max(1, len(covered) // LEAST_SHARE)]
    shared = np.array(
        [sum(problem.stems[stem] for stem in view.stems if stem in problem.stems)
         for view in findings]
    )  # fmt: skip
    of_findings = np.array([sum(view.stems.values()) for view in findings])
    return np.stack(
        [
            # A weakness: the encoder gives opposite claims similar vectors. Two texts, of which one
            # asks for the first of two recorders and the other for the second, have a probability
            # of 0.99 (docs/design/029-golden-sets.md).
            np.stack([view.vector for view in findings]) @ problem.vector,
            covered.mean(axis=0),
            np.add.reduceat(cosines.max(axis=0), starts) / counts,
            least.mean(axis=0),
            # + 1e-6, because the sum is 0 for a text without a rare word.
            shared / (sum(problem.stems.values()) + 1e-6),
            shared / (of_findings + 1e-6),
            np.log1p(shared),
        ],
        axis=1,
    ).astype(np.float64)


def _next_best(likeness: Doubles, axis: int) -> Doubles:
    """Return, for each value, the largest of the other values along an axis, or `ALONE`."""
    if likeness.shape[axis] == 1:
        return np.full_like(likeness, ALONE)
    top = np.sort(likeness, axis=axis).take([-1, -2], axis=axis)
    best, second = top.take([0], axis=axis), top.take([1], axis=axis)
    return np.where(likeness == best, second, best)


def assign(probabilities: Doubles) -> dict[int, int]:
    """Match each finding with at most one problem, the most probable pair first.

    Args:
        probabilities: Probability that each finding is about each problem, shape (F, G).

    Returns:
        The index of each matched finding, mapped to the index of its problem: min(F, G) pairs, the
        most probable pair first. Of equally probable pairs, the one with the lowest indexes comes
        first.

    Example:
        >>> assign(np.array([[0.9, 0.8], [0.7, 0.1]]))
        {0: 0, 1: 1}
    """
    # The assignment with the highest sum of probabilities was no better
    # (docs/design/029-golden-sets.md).
    matches: dict[int, int] = {}
    problems: set[int] = set()
    for cell in np.argsort(-probabilities, axis=None, kind="stable").tolist():
        row, column = divmod(cell, probabilities.shape[1])
        if row not in matches and column not in problems:
            matches[row] = column
            problems.add(column)
            if len(matches) == min(probabilities.shape):
                break
    return matches


@lru_cache(maxsize=2)
def read_model(path: Path = SHIPPED) -> PairModel:
    """Read a pair model from its file of weights.

    Raises:
        InputError: The file cannot be read, or was made by another version of crscore.
    """

    def parse(content: arrays.Arrays) -> PairModel:
        facts = json.loads(arrays.to_text(content.pop("facts")))
        if facts.pop("format") != FORMAT or tuple(facts.pop("features")) != FEATURES:
            raise InputError(f"{path} was made by another version of crscore; train it again")
        facts |= {"weights": tuple(facts["weights"]), "band": tuple(facts["band"])}
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        return PairModel(**facts, layers=TunedLayers(content), file=digest)

    return arrays.unpack(path, parse, "weights of the pair model")
