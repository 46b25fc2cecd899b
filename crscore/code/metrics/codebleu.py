"""CodeBLEU: mean of BLEU, weighted words, common syntax and common data flow.

Syntax: all sub-trees are compared, including leaves, by the types of their nodes; each counts as
often as both sides have it. Data flow: it consists of the pairs of successive uses of a variable,
and of the pairs of an assigned name and a name in its value. Variables are numbered by their first
appearance, so that their names do not matter.

By default, code is split into parts of names (`tokens.code`), BLEU is smoothed as in sacrebleu, and
the four parts have equal weights, as in the publication. A part that does not apply to the code is
left out, and the weights of the other parts are normalised. The preset `out-of-the-bleu` uses
Python's tokenizer for Python, tranX's tokens for other languages, BLEU without smoothing, and the
weights 0.1, 0.1, 0.4 and 0.4. Its data flow has no assignments, and code that does not parse has no
data flow.

Source:
    Ren et al., "CodeBLEU", arXiv:2009.10297; the preset: Evtikhiev et al., "Out of the BLEU", JSS
    2023, and its code.
"""

import contextlib
import io
import math
import tokenize
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeVar

import numpy as np

from crscore.code import ngrams, tokens
from crscore.code.dataflow import read_names
from crscore.code.metrics.metric import MAX_CHARACTERS, Metric, Preset, pair_metric
from crscore.code.syntax_tree import syntax_tree
from crscore.diff.languages import read_tables
from crscore.syntax.grammars import fingerprint
from crscore.syntax.trees import grammar_of

T = TypeVar("T")

# The published code has the same ratio: 1 for a keyword, 0.2 for another word.
KEYWORD_WEIGHT: Final = 5
"""Weight of a keyword in the weighted words; other words have weight 1."""
# The order of the weights is that of `Parts`.
EQUAL_WEIGHTS: Final = (0.25, 0.25, 0.25, 0.25)
PRESET_WEIGHTS: Final = (0.1, 0.1, 0.4, 0.4)


class Parts(NamedTuple):
    """Parts of the score, each in [0, 1]; None for a part that cannot be computed."""

    ngrams: float
    """BLEU-4."""
    words: float
    """Share of the reference's words that the candidate has, where keywords weigh more; multiplied
    by BLEU's brevity penalty."""
    syntax: float | None
    """Share of the reference's sub-trees that the candidate has; None if the candidate or the
    reference has more than `syntax_tree.MAX_BYTES` bytes, or the reference has no sub-tree."""
    flow: float | None
    """Share of the reference's data flow that the candidate has; None if the candidate or the
    reference is too large, or the reference has no data flow."""

    def combine(self, weights: Sequence[float]) -> float:
        """Return the weighted mean of the parts that are not None."""
        weighted = [
            (value, weight)
            for value, weight in zip(self, weights, strict=True)
            if value is not None
        ]
        return sum(v * weight for v, weight in weighted) / sum(weight for _, weight in weighted)


class _Side(NamedTuple):
    """Tokens of a candidate or reference, and the counts of its sub-trees and data flow, if any."""

    tokens: tuple[str, ...]
    subtrees: Counter[int] | None
    flow: Counter[tuple[bool, int, int]] | None


def compute_parts(
    candidate: str, reference: str, language: str | None, preset: Preset | None = None
) -> Parts:
    """Compute the parts of the score.

    Args:
        candidate: Code with at least one token.
        reference: Code with at least one token.
        language: Language of the candidate and the reference.
        preset: Published variant to compute; None for the default.

    Returns:
        The parts.

    Raises:
        InputError: There is no grammar for the language.
        DependencyError: The grammar's wheel is not installed.

    Example:
        The candidate has two of the reference's four words.

        >>> compute_parts("a = f(c)", "a = g(b)", "python").words
        0.5
    """
    left, right = _read_side(candidate, language, preset), _read_side(reference, language, preset)
    counts = ngrams.References([right.tokens]).statistics(left.tokens)
    bleu = float(ngrams.bleu(np.array([counts]), effective_order=True)[0])
    # Without smoothing, BLEU is 0 if no n-gram of one length is common.
    if preset and 0 in counts[2 : 2 + ngrams.ORDER]:
        bleu = 0.0
    flow = _share(left.flow, right.flow)
    if preset and right.flow is not None and left.flow is None:
        flow = 0.0
    keywords = _keywords(language, preset)

    def weight(words: Counter[str]) -> int:
        return sum(n * (KEYWORD_WEIGHT if word in keywords else 1) for word, n in words.items())

    reference_words = Counter(right.tokens)
    penalty = math.exp(min(0.0, 1 - len(right.tokens) / len(left.tokens)))
    common = weight(Counter(left.tokens) & reference_words)
    words = penalty * common / weight(reference_words)
    return Parts(bleu, words, _share(left.subtrees, right.subtrees), flow)


def _share(candidate: Counter[T] | None, reference: Counter[T] | None) -> float | None:
    """Return the share of the reference's items that the candidate has; None if undefined."""
    if candidate is None or not reference:
        return None
    return (candidate & reference).total() / reference.total()


@lru_cache(maxsize=32)
def _read_side(code: str, language: str | None, preset: Preset | None) -> _Side:
    """Split code and count its items; cached, because a reference may have many candidates."""
    words = tokens.split(code, "tranx" if preset else "code")
    if preset and language == "python":
        # Code that Python's tokenizer cannot read keeps the tokens of tranX. If code does not end
        # with a new line, Python 3.8 and later add an empty NEWLINE token, which is left out.
        with contextlib.suppress(tokenize.TokenError, SyntaxError):
            words = [
                token.string
                for token in tokenize.generate_tokens(io.StringIO(code).readline)
                if token.type != tokenize.NEWLINE or token.string
            ]
    tree = syntax_tree(code, language, whole_file=preset is not None)
    if tree is None:
        return _Side(tuple(words), None, None)
    # The key of a sub-tree is a hash of the types of its nodes; anonymous children are left out.
    keys = [0] * len(tree.nodes)
    for position, children in reversed(list(enumerate(tree.children()))):
        child_keys = tuple(keys[child] for child in children if tree.nodes[child].is_named)
        kind = tree.nodes[position].type.replace("'", '"')  # 'a' and "a" are the same literal
        # These hashes differ between processes, but only their equality matters.
        keys[position] = hash((kind, child_keys))
    if preset and not tree.valid:
        return _Side(tuple(words), Counter(keys), None)
    names, next_uses, assignments = read_names(tree)
    flows = [(False, flow) for flow in next_uses]
    flows += [] if preset else [(True, flow) for flow in assignments]
    variable = [name.variable for name in names]
    flow = Counter((kind, variable[start], variable[end]) for kind, (start, end) in flows)
    return _Side(tuple(words), Counter(keys), flow)


# "Out of the BLEU" weighs the methods of Python's dict like reserved words, because its programs
# take the names in `__builtins__`, which in an imported module is a dict.
_METHODS_OF_DICT: Final = (
    "clear", "copy", "fromkeys", "get", "items", "keys", "pop", "popitem", "setdefault", "update",
    "values",
)  # fmt: skip


@cache
def _keywords(language: str | None, preset: Preset | None) -> frozenset[str]:
    words = read_tables()[grammar_of(language).name]["keywords"].split()
    if preset:
        return frozenset([*words, *_METHODS_OF_DICT])
    return frozenset(word.lower() for word in words)  # the tokens are in lower case, too


def create(*, preset: Preset | None = None) -> Metric:
    """Create the metric; `preset` is the published variant to compute, None for the default."""

    def compare(candidate: str, reference: str, language: str | None) -> float:
        if not candidate.strip() or not reference.strip():
            return float(not candidate.strip() and not reference.strip())
        parts = compute_parts(candidate, reference, language, preset)
        if preset:
            return round(parts.combine(PRESET_WEIGHTS), 3)
        return parts.combine(EQUAL_WEIGHTS)

    return pair_metric(
        "codebleu",
        lambda: f"codebleu|{preset or 'equal'}|grammars:{fingerprint()}",
        compare,
        needs_grammar=True,
        max_characters=MAX_CHARACTERS,
    )
