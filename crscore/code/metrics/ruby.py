"""RUBY: similarity of program graphs, or else of syntax trees, or else of tokens.

The score is 1 - edit distance / size on the first level that applies: program graphs, if both sides
parse and have at most `MAX_PAIRS` pairs of nodes; node types of the syntax trees, if both sides
parse; otherwise tokens, split as in tranX. The edit distance of graphs is an upper bound, not the
result of a search with a time limit. With the preset `out-of-the-bleu`, code counts as parsed only
if it is a whole file.

Source:
    Tran et al., "Does BLEU score work for code migration?", ICPC 2019; Evtikhiev et al., "Out of
    the BLEU", JSS 2023, where edges of trees cost nothing, so that the distance of two trees
    depends only on how many nodes of each type they have.
"""

from collections import Counter
from functools import lru_cache
from typing import Final

from crscore.code import libraries, tokens
from crscore.code.graphs import Graph, edit_distance, program_graph
from crscore.code.metrics.metric import MAX_CHARACTERS, Metric, Preset, pair_metric
from crscore.code.syntax_tree import SyntaxTree, syntax_tree
from crscore.syntax.grammars import fingerprint

# Graphs are needed: with trees alone, the correlation with the authors' values falls from 0.954 to
# 0.825 (`benchmarks/code_trees.py`). The published program searches for each improvement of
# the distance for one second, so its result depends on the machine.
MAX_PAIRS: Final = 1_000_000
"""Maximum product of the numbers of nodes of two graphs; comparing them takes about 50 ms."""


@lru_cache(maxsize=32)
def _read(code: str, language: str | None, whole_file: bool) -> tuple[SyntaxTree, Graph] | None:
    """Return the tree and the graph of code; None if it does not parse or has no tokens.

    The result is cached, because a reference may have many candidates.
    """
    tree = syntax_tree(code, language, whole_file=whole_file)
    # The tree of blank code, or of code with only comments, has only a root.
    has_token = tree is not None and any(node.leaf for node in tree.nodes[1:])
    return (tree, program_graph(tree)) if tree and tree.valid and has_token else None


def graph_similarity(candidate: Graph, reference: Graph) -> float:
    """Return 1 - upper bound of the edit distance / number of nodes and edges of both."""
    return 1 - edit_distance(candidate, reference) / (candidate.size + reference.size)


def tree_similarity(candidate: SyntaxTree, reference: SyntaxTree) -> float:
    """Return 1 - edit distance of the named nodes / number of named nodes of both.

    Edges cost nothing, so the least distance pairs as many nodes of the same type as possible.
    """
    left, right = (
        Counter(node.type for node in tree.nodes if node.is_named)
        for tree in (candidate, reference)
    )
    longer = max(left.total(), right.total())
    return 1 - (longer - (left & right).total()) / (left.total() + right.total())


def token_similarity(candidate: str, reference: str) -> float:
    """Return 1 - edit distance of the tokens / number of tokens of the longer side.

    Raises:
        DependencyError: rapidfuzz is not installed.

    Example:
        >>> token_similarity("a = b", "a = c")
        0.6666666666666667
    """
    levenshtein = libraries.load("rapidfuzz.distance", "rapidfuzz").Levenshtein
    left, right = tokens.tranx(candidate), tokens.tranx(reference)
    longer = max(len(left), len(right), 1)
    return 1 - int(levenshtein.distance(left, right)) / longer


def create(*, preset: Preset | None = None) -> Metric:
    """Create the metric; a preset selects the published variant, which parses only whole files."""

    def identify() -> str:
        # If several assignments are equally good, another version of scipy may choose another.
        scipy = libraries.version("scipy")
        return f"ruby|{preset or 'fragments'}|grammars:{fingerprint()}|{scipy}"

    def compare(candidate: str, reference: str, language: str | None) -> float:
        whole_file = preset is not None
        left, right = (_read(code, language, whole_file) for code in (candidate, reference))
        if left is None or right is None:
            score = token_similarity(candidate, reference)
        elif len(left[1].labels) * len(right[1].labels) <= MAX_PAIRS:
            score = graph_similarity(left[1], right[1])
        else:
            score = tree_similarity(left[0], right[0])
        return round(score, 3) if preset else score

    return pair_metric("ruby", identify, compare, needs_grammar=True, max_characters=MAX_CHARACTERS)
