"""Learns the linear model of phrases, with one ridge regression for each rating."""

import math
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.statistics.ranks import require_scipy
from crscore.usefulness.reading import PHRASED, Phrases, split_phrases
from crscore_lab.training.network import LabelledText

Floats = npt.NDArray[np.float32]

MIN_TEXTS: Final = 6
"""Minimum number of texts that must contain a phrase for the phrase to be kept."""
RIDGE: Final = 1.0
"""Factor of the L2 penalty."""


def learn(rows: Sequence[LabelledText]) -> Phrases:
    """Learn which phrases of labelled texts go with which ratings.

    Raises:
        DependencyError: scipy is not installed.
    """
    require_scipy("optimize")
    sparse, linalg = import_module("scipy.sparse"), import_module("scipy.sparse.linalg")
    counts = Counter(phrase for row in rows for phrase in set(split_phrases(row.text)))
    terms = tuple(sorted(phrase for phrase, count in counts.items() if count >= MIN_TEXTS))
    rarity = np.array([math.log(len(rows) / counts[term]) + 1 for term in terms], np.float32)
    phrases = Phrases(terms, rarity, np.zeros((len(terms) + 1, len(PHRASED)), np.float32))
    measured = [phrases.weigh_phrases(row.text) for row in rows]
    starts = np.cumsum([0, *(len(columns) for columns, _ in measured)])
    columns = np.array([column for columns, _ in measured for column in columns], dtype=np.intp)
    values = np.concatenate([np.zeros(0, np.float32), *(values for _, values in measured)])
    matrix = sparse.csr_matrix((values, columns, starts), shape=(len(rows), len(terms)))
    for at, name in enumerate(PHRASED):
        rated = [row for row, text in enumerate(rows) if name in text.ratings]
        if not rated or not terms:
            continue
        targets = np.array([rows[row].ratings[name] for row in rated])
        shares = np.sqrt([rows[row].weight for row in rated])
        bias = float(np.average(targets, weights=shares**2))
        fitted = linalg.lsqr(
            sparse.diags(shares) @ matrix[rated], shares * (targets - bias), damp=math.sqrt(RIDGE)
        )
        phrases.weights[:-1, at] = fitted[0]
        phrases.weights[-1, at] = bias
    # Rounded to the precision of the weights file.
    return Phrases(terms, _rounded(rarity), _rounded(phrases.weights))


def _rounded(values: Floats) -> Floats:
    return values.astype(np.float16).astype(np.float32)
