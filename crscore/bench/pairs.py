"""Probability that a finding is about a known problem: a logistic model of their similarity.

Each pair is measured by the cosine of the two texts, by how well each token of one is
matched in the other, and by the rare words that they share; the same without the code that they
name, as texts with one subject can make two points; then by the lead of these measures over the
same measures for the change's other problems and the bot's other findings, as a finding that fits
all problems fits none. Each measure has a second weight, which counts as far as the finding is
short. No measure depends on another bot. A location shifts the result. Texts that the encoder
cannot read are compared by the code that they name and by their location.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.bench.records import Finding, Problem
from crscore.encoders.minilm import BEGIN, END, MAX_TOKENS, MiniLM
from crscore.errors import InputError
from crscore.review.language import is_english
from crscore.text import code_names, mask_names, split_code, stems_and_names
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.reading import logit

Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

SHIPPED: Final = Path(__file__).with_name("weights.json")
"""Output of `crscore train bench`."""
FORMAT: Final = 2
"""Version of the file of weights."""
RULES: Final = 3
"""Version of the rules below, which shift what the weights give, and of the measures."""
LOCATION_LOGITS: Final = {1: 1.25, 0: 0.0, -1: -0.5}
"""Amount added to the logit for the same location, none, and another file. It is not learned,
because the judgements have no locations. On the line of a problem, six terse comments about it
("close this", .17 without the line) are just hits, and six others ("indentation", at most .14) are
not (`tests/unit/bench/test_pairs.py`)."""
NEAR_LINES: Final = 3
"""Maximum number of lines between a finding and a problem at the same location."""
DECIMALS: Final = 4
"""Number of decimals of a measure, as its last bits depend on the machine and on the batch."""
LEAST_SHARE: Final = 4
"""One in this many tokens counts among the least covered."""
LIKENESS: Final = (
    "cosine", "problem_covered", "finding_covered", "least_covered", "claim_cosine",
    "claim_problem_covered", "claim_finding_covered", "claim_least_covered", "words_of_problem",
    "words_of_finding", "words", "claimed_of_problem", "claimed_of_finding", "claimed", "code",
    "only_code",
)  # fmt: skip
"""Measures of the similarity of two texts: of claims, without their code."""
LEADS: Final = 4
"""Number of the first measures whose lead over other problems and findings is a feature, too."""
_MEASURES: Final = (
    *LIKENESS,
    *(f"{name}_over_problems" for name in LIKENESS[:LEADS]),
    *(f"{name}_over_findings" for name in LIKENESS[:LEADS]),
    "finding_length", "problem_length",
)  # fmt: skip
FEATURES: Final = (*_MEASURES, *(f"short_{name}" for name in _MEASURES), "short")
SHORT_TOKENS: Final = 25.0
"""Number of tokens at which a finding is half short. Findings that a model extracted have 19 to 75,
people's own comments 2 to 20: one shared word decides there, and little here."""
SHORT_SPREAD: Final = 5.0
ONLY_CODE: Final = 8.0
"""Rarity of shared code at which texts without another word in common share all that they can."""
ALONE: Final = 0.25
"""Similarity assumed for the next best problem or finding if there is no other."""


class TextView(NamedTuple):
    """Vectors and stems of a text, for comparison."""

    vector: Vectors
    """Unit vector of the mean of the token vectors, shape (D,)."""
    claim: Vectors
    """The same without the tokens of code; of all tokens if it has only code."""
    tokens: Vectors
    """Unit vectors of its tokens, shape (L, D), L at least 1."""
    claim_tokens: Vectors
    """The same without the tokens of code."""
    stems: Mapping[str, float]
    """Stem -> rarity."""
    claimed: frozenset[str]
    """The stems outside of code and names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairModel:
    """Learned weights."""

    encoder: str
    """Name and model of the encoder."""
    data_sha256: str
    """Hash of the judgements that the weights were learned from."""
    weights: tuple[float, ...]
    """Weight of each of `FEATURES`."""
    bias: float
    threshold: float
    """Minimum probability of a match, chosen for as many misses as false matches."""
    band: tuple[float, float]
    """Probabilities between which a decision is unsure."""
    file: str = ""
    """First digits of the hash of the file of weights."""

    @property
    def identity(self) -> str:
        """`pairs@` with the hashes of the data and of the file, and the version of the rules."""
        return f"pairs@{self.data_sha256[:8]}+{self.file}+rules:{RULES}"

    def probabilities(
        self,
        findings: Sequence[Finding],
        problems: Sequence[Problem],
        views: Mapping[str, TextView],
    ) -> Floats:
        """Return the probability of each pair of a bot's F findings and the G problems.

        Args:
            findings: The findings.
            problems: The problems.
            views: View of each text.

        Returns:
            Shape (F, G), each in [0, 1].
        """
        table = measure_pairs(*([views[row.text] for row in side] for side in (findings, problems)))
        logits = table @ np.array(self.weights) + self.bias
        for row, finding in enumerate(findings):
            for column, problem in enumerate(problems):
                if is_english(finding.text) and is_english(problem.text):
                    logits[row, column] += LOCATION_LOGITS[compare_locations(finding, problem)]
                else:
                    logits[row, column] = logit(compare_code(finding, problem))
        return sigmoid(logits).round(DECIMALS)


def sigmoid(logits: Floats) -> Floats:
    """Return the probabilities of logits, each in (0, 1)."""
    odds: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return odds


def compare_locations(finding: Finding, problem: Problem) -> int:
    """Return 1 for the same location, -1 for another file, and 0 if one has no location."""
    if not finding.path or not problem.path:
        return 0
    shorter, longer = sorted((finding.path.strip("/"), problem.path.strip("/")), key=len)
    if not f"/{longer}".endswith(f"/{shorter}"):
        return -1
    if finding.line is None or problem.line is None:
        return 0
    first = (problem.start_line or problem.line) - NEAR_LINES
    return int(first <= finding.line <= problem.line + NEAR_LINES)


def compare_code(finding: Finding, problem: Problem) -> float:
    """Return the probability that texts in any language are about the same, by their code alone.

    Two names in common at the same location are good evidence; one there, or two elsewhere, are
    just enough for a match, the location alone is not. Other texts match only if they are equal.

    Example:
        >>> finding = Finding(change="1", bot="a", text="`charge` gibt `lock` nicht frei")
        >>> compare_code(finding, Problem(text="`lock` n'est pas libéré par `charge`"))
        0.5
    """
    location = compare_locations(finding, problem)
    if finding.text == problem.text and location >= 0:
        return 1.0
    shared = min(2, len(code_names(finding.text) & code_names(problem.text)))
    return {(1, 0): 0.3, (1, 1): 0.5, (0, 2): 0.5, (1, 2): 0.9}.get((location, shared), 0.0)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    units: Vectors = rows / np.maximum(lengths, 1e-9)
    return units


def view_texts(texts: Iterable[str], encoder: MiniLM, rarity: Rarity) -> dict[str, TextView]:
    """Read texts for comparison, with 100 KB of memory for each.

    Args:
        texts: Any texts; equal ones are encoded once.
        encoder: Encoder whose vectors the weights were learned on.
        rarity: Rarity of stems.
    """
    # Sorted, so that batches, and with them the last bits, do not depend on the findings' order.
    distinct = sorted(set(texts))
    divided = [split_code(text) for text in distinct]
    parts = sorted({part for row in divided for part, _ in row})
    ids = dict(zip(parts, encoder.pieces(parts), strict=True))
    # The tokens of the whole text: the tokenizer splits at the ends of code anyway.
    rows = [[id_ for part, _ in row for id_ in ids[part]][: MAX_TOKENS - 2] for row in divided]
    vectors = encoder.encode_pieces([[BEGIN, *row, END] for row in rows])
    flags = [[is_code for part, is_code in row for _ in ids[part]] for row in divided]
    return {
        text: _view(text, tokens[1:-1], np.array(is_code[: len(tokens) - 2], dtype=bool), rarity)
        for text, tokens, is_code in zip(distinct, vectors, flags, strict=True)
    }


def _view(text: str, tokens: Vectors, is_code: npt.NDArray[np.bool_], rarity: Rarity) -> TextView:
    if not is_english(text):
        # A random direction, as only equal texts are known to make the same point.
        seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        tokens = np.random.default_rng(seed).standard_normal((1, tokens.shape[1]), np.float32)
        is_code = np.zeros(1, dtype=bool)
    if not len(tokens):
        tokens, is_code = np.zeros((1, tokens.shape[1]), dtype=np.float32), np.zeros(1, dtype=bool)
    claim = tokens if is_code.all() else tokens[~is_code]
    stems = stems_and_names(text)[0]
    return TextView(
        vector=_unit(tokens.sum(axis=0)),
        claim=_unit(claim.sum(axis=0)),
        tokens=_unit(tokens),
        claim_tokens=_unit(claim),
        stems={stem: rarity.of(stem) for stem in sorted(stems)},
        claimed=stems_and_names(mask_names(text))[0] & stems,
    )


def measure_pairs(findings: Sequence[TextView], problems: Sequence[TextView]) -> Floats:
    """Measure the similarity of each of a bot's findings and each problem of a change.

    Args:
        findings: The F findings.
        problems: The G problems.

    Returns:
        Shape (F, G, len(FEATURES)).
    """
    shape = (len(findings), len(problems))
    if 0 in shape:
        return np.zeros((*shape, len(FEATURES)))
    likeness = np.stack([_likeness(findings, problem) for problem in problems], axis=1)
    likeness = likeness.round(DECIMALS)
    leading = likeness[..., :LEADS]
    tokens = np.empty((*shape, 2))
    tokens[..., 0] = np.array([len(view.tokens) for view in findings])[:, None]
    tokens[..., 1] = [len(view.tokens) for view in problems]
    leads = [leading - _next_best(leading, 1), leading - _next_best(leading, 0)]
    measures = np.concatenate([likeness, *leads, np.log(tokens)], axis=2)
    short = sigmoid((SHORT_TOKENS - tokens[..., :1]) / SHORT_SPREAD)
    return np.concatenate([measures, short * measures, short], axis=2)


def _likeness(findings: Sequence[TextView], problem: TextView) -> Floats:
    """Measure the similarity of findings and a problem, shape (F, len(LIKENESS))."""
    vectors = np.stack([view.vector for view in findings])
    claims = np.stack([view.claim for view in findings])
    return np.column_stack(
        [
            vectors @ problem.vector,
            _cover([view.tokens for view in findings], problem.tokens),
            claims @ problem.claim,
            _cover([view.claim_tokens for view in findings], problem.claim_tokens),
            [_compare_words(view, problem) for view in findings],
        ]
    ).astype(np.float64)


def _cover(findings: Sequence[Vectors], problem: Vectors) -> Vectors:
    """Return how well the tokens of a problem, of each finding, and the least are covered."""
    counts = np.array([len(tokens) for tokens in findings])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    cosines = problem @ np.concatenate(findings).T
    covered = np.maximum.reduceat(cosines, starts, axis=1)
    least = np.sort(covered, axis=0)[: max(1, len(covered) // LEAST_SHARE)]
    of_findings = np.add.reduceat(cosines.max(axis=0), starts) / counts
    return np.stack([covered.mean(axis=0), of_findings, least.mean(axis=0)], axis=1)


def _compare_words(finding: TextView, problem: TextView) -> list[float]:
    """Measure the shared stems by their rarity: of all words, of the claim, and of code."""

    def total(stems: Iterable[str], view: TextView = problem) -> float:
        # `fsum`, as the undefined order of a set could change the last bit of a plain sum.
        return math.fsum(view.stems[stem] for stem in stems)

    shared = finding.stems.keys() & problem.stems.keys()
    words, claimed = total(shared), total(finding.claimed & problem.claimed)
    code = words - claimed
    return [
        words / (total(problem.stems) + 1e-6),
        words / (total(finding.stems, finding) + 1e-6),
        math.log1p(words),
        claimed / (total(problem.claimed) + 1e-6),
        claimed / (total(finding.claimed, finding) + 1e-6),
        math.log1p(claimed),
        math.log1p(max(0.0, code)),
        min(1.0, code / ONLY_CODE) if claimed < 1 / 100 else 0.0,
    ]


def _next_best(likeness: Floats, axis: int) -> Floats:
    """Return the largest of the other values along an axis; `ALONE` if there is no other."""
    if likeness.shape[axis] == 1:
        return np.full_like(likeness, ALONE)
    top = np.sort(likeness, axis=axis).take([-1, -2], axis=axis)
    best, second = top.take([0], axis=axis), top.take([1], axis=axis)
    return np.where(likeness == best, second, best)


class Match(NamedTuple):
    """Finding and the problem matched with it."""

    finding: int
    problem: int
    probability: float


def assign(probabilities: Floats) -> list[Match]:
    """Match findings and problems, the most probable pair first.

    Args:
        probabilities: Shape (F, G).

    Returns:
        At most min(F, G) pairs, the most probable first; among equally probable pairs, the first
        rows come first.

    Example:
        >>> [match[:2] for match in assign(np.array([[0.9, 0.8], [0.7, 0.1]]))]
        [(0, 0), (1, 1)]
    """
    matches: list[Match] = []
    findings: set[int] = set()
    problems: set[int] = set()
    for cell in np.argsort(-probabilities, axis=None, kind="stable").tolist():
        row, column = divmod(cell, probabilities.shape[1])
        if row not in findings and column not in problems:
            findings.add(row)
            problems.add(column)
            matches.append(Match(row, column, float(probabilities[row, column])))
            if len(matches) == min(probabilities.shape):
                break
    return matches


def to_bytes(model: PairModel) -> bytes:
    """Serialize weights; the same weights give the same bytes."""
    facts = asdict(model) | {"format": FORMAT, "features": FEATURES}
    del facts["file"]
    return (json.dumps(facts, indent=1, sort_keys=True) + "\n").encode()


@lru_cache(maxsize=2)
def read_model(path: Path = SHIPPED) -> PairModel:
    """Read weights.

    Raises:
        InputError: The file cannot be read, or was made by another version.
    """
    try:
        content = path.read_bytes()
        facts = json.loads(content)
        if facts.pop("format") != FORMAT or tuple(facts.pop("features")) != FEATURES:
            raise InputError(f"{path} was made by another version of crscore; train it again")
        facts |= {"weights": tuple(facts["weights"]), "band": tuple(facts["band"])}
        return PairModel(**facts, file=hashlib.sha256(content).hexdigest()[:8])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise InputError(f"{path} cannot be read as weights of the pair model: {exc}") from exc
