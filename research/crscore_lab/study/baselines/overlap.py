"""Word-overlap baselines, each computed by its library; no data is downloaded."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from crscore.code import libraries, wordnet

Floats = npt.NDArray[np.float64]

INSTALL = "pip install 'crscore[validate]'"
load = partial(libraries.load, install=INSTALL)
version = partial(libraries.version, install=INSTALL)
PLUS_PLUS = 2
"""The longest word n-gram of chrF++; chrF has none."""


def chrf(hypotheses: Sequence[str], references: Sequence[str], *, word_order: int = 0) -> Floats:
    """Score each text against its reference with chrF or chrF++, by sacrebleu (tried with 2.6).

    Args:
        hypotheses: N texts.
        references: The reference of each.
        word_order: Longest word n-gram: 0 for chrF, 2 for chrF++.

    Returns:
        Shape (N,), each in [0, 1]; higher is more similar. F with recall weighing twice as much,
        over character n-grams of 1 to 6, spaces left out. A blank side gives 0.

    Raises:
        DependencyError: sacrebleu is not installed.

    Source:
        Popović, WMT 2015 (chrF) and WMT 2017 (chrF++).

    Example:
        >>> chrf(["ab", "", "ab"], ["ab", "ab", "cd"]).tolist()
        [1.0, 0.0, 0.0]
    """
    metric = load("sacrebleu.metrics.chrf", "sacrebleu").CHRF(word_order=word_order)
    pairs = zip(hypotheses, references, strict=True)
    return np.array(
        [metric.sentence_score(text, [reference]).score / 100 for text, reference in pairs],
        dtype=np.float64,
    )


def rouge_l(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Score each text against its reference with ROUGE-L, by rouge-score (tried with 0.1.2).

    Args:
        hypotheses: N texts.
        references: The reference of each.

    Returns:
        Shape (N,), each in [0, 1]; higher is more similar. F1 of the longest common subsequence of
        words, which are runs of ASCII letters and digits in lower case; those of more than three
        letters are stemmed. A side without such a word gives 0.

    Raises:
        DependencyError: rouge-score is not installed.

    Source:
        Lin, Text Summarization Branches Out 2004.

    Example:
        Two of three words in order on both sides.

        >>> rouge_l(["close open files"], ["close a file"]).round(3).tolist()
        [0.667]
    """
    scorer = load("rouge_score.rouge_scorer", "rouge-score").RougeScorer(
        ["rougeL"], use_stemmer=True
    )
    pairs = zip(hypotheses, references, strict=True)
    return np.array(
        [scorer.score(reference, text)["rougeL"].fmeasure for text, reference in pairs],
        dtype=np.float64,
    )


def edit_distance(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Compute each text's normalised edit distance to its reference.

    By rapidfuzz (tried with 3.14).

    Args:
        hypotheses: N texts.
        references: The reference of each.

    Returns:
        Shape (N,), each in [0, 1]; a distance, so higher is *less* similar, and agreement with
        people is a negative correlation. Levenshtein's insertions, deletions and replacements of
        characters over the length of the longer text; 0 for two empty texts.

    Raises:
        DependencyError: rapidfuzz is not installed.

    Source:
        Levenshtein 1966.

    Example:
        >>> edit_distance(["lock", "", "same"], ["lick", "abc", "same"]).tolist()
        [0.25, 1.0, 0.0]
    """
    distance = load("rapidfuzz.distance", "rapidfuzz").Levenshtein.normalized_distance
    pairs = zip(hypotheses, references, strict=True)
    return np.array([distance(text, reference) for text, reference in pairs], dtype=np.float64)


def meteor(hypotheses: Sequence[str], references: Sequence[str]) -> Floats:
    """Score each text against its reference with METEOR without synonyms.

    By nltk (tried with 3.10).

    METEOR aligns equal words, then words of equal stem, then synonyms. The synonyms come from
    WordNet, which nltk downloads; nothing is downloaded here, so that stage finds nothing.

    Args:
        hypotheses: N texts.
        references: The reference of each.

    Returns:
        Shape (N,), each in [0, 1); higher is more similar. The mean of precision and recall over
        aligned words (recall weighs nine times as much), less up to half of it for words in another
        order. Words are runs of letters and digits, or of other characters, in lower case. 0 for a
        pair without an aligned word or with a blank side.

    Raises:
        DependencyError: nltk is not installed.

    Source:
        Lavie and Agarwal, WMT 2007, without the synonyms: alpha 0.9, beta 3, gamma 0.5.

    Example:
        One chunk of three words: 1 - 0.5 * (1 / 3) ** 3.

        >>> meteor(["Close the files"], ["closing the file"]).round(4).tolist()
        [0.9815]
    """
    score = load("nltk.translate.meteor_score", "nltk").single_meteor_score
    split = load("nltk.tokenize", "nltk").wordpunct_tokenize
    stemmer = load("nltk.stem.porter", "nltk").PorterStemmer()
    pairs = zip(hypotheses, references, strict=True)
    return np.array(
        [
            # nltk takes the reference first.
            score(split(reference), split(text), stemmer=stemmer, wordnet=wordnet.NoSynonyms())
            for text, reference in pairs
        ],
        dtype=np.float64,
    )
