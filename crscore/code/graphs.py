"""Represents code as a graph of its syntax, tokens and names, and compares such graphs."""

import re
from collections import Counter
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.code import libraries
from crscore.code.dataflow import read_names
from crscore.code.syntax_tree import SyntaxTree

# Words of a name: `HTTP`, `Server` and `2` of `HTTPServer2`; `max` and `size` of `max_size`.
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_QUOTES: Final = "'\"`"
# Every edit costs more than this, so this cost decides only between equally good pairs.
_TIE: Final = 1e-3
"""Cost of pairing the first node of one graph with the last node of the other."""


class Edge(IntEnum):
    """Kind of an edge."""

    CHILD = 0
    NEXT_TOKEN = 1
    OCCURRENCE = 2
    """From a name to its variable."""
    SUBTOKEN = 3
    """From a name to each of its words."""
    NEXT_USE = 4
    """From an occurrence of a variable to the next occurrence."""
    ASSIGNED = 5
    """From a name to each name in the value assigned to it."""


class Graph(NamedTuple):
    """Labelled graph."""

    labels: tuple[str, ...]
    """Label of each node: a letter for its kind (`n`ode of the syntax tree, `t`oken, `v`ariable,
    `w`ord), a space, and its type or text."""
    edges: tuple[tuple[int, int, Edge], ...]
    """Start node, end node and kind of each edge; a node is an index of `labels`."""

    @property
    def size(self) -> int:
        """Number of nodes and edges."""
        return len(self.labels) + len(self.edges)


def program_graph(tree: SyntaxTree) -> Graph:
    """Build the graph of a piece of code.

    The graph has a node for each named node of the syntax tree, for each token, for each variable
    and for each distinct word of the names. A string is one token.

    Source:
        Allamanis et al., "Typilus", PLDI 2020, section 5.1.
    """
    labels: list[str] = []
    edges: list[tuple[int, int, Edge]] = []
    node_of: dict[int, int] = {}
    words: list[tuple[int, str]] = []
    in_string: set[int] = set()

    def add(label: str, parent: int) -> int:
        labels.append(label)
        if parent >= 0:
            edges.append((parent, len(labels) - 1, Edge.CHILD))
        return len(labels) - 1

    last = -1
    for position, node in enumerate(tree.nodes):
        is_string = node.type in tree.language.strings
        if is_string or node.parent in in_string:
            in_string.add(position)
        if node.parent in in_string:
            continue
        parent = node_of.get(node.parent, -1)
        if node.is_named or not node.leaf:
            parent = node_of[position] = add(f"n {node.type}", parent)
        if not node.leaf and not is_string:
            continue
        token = node_of[position] = add(f"t {node.text.strip(_QUOTES)}", parent)
        if last >= 0:
            edges.append((last, token, Edge.NEXT_TOKEN))
        last = token
        # PHP and JavaScript have names with a `$`, which `isidentifier` rejects.
        if node.is_named and node.leaf and node.text.replace("$", "_").isidentifier():
            # Each word of a name counts once.
            found_words = dict.fromkeys(word.lower() for word in _WORD.findall(node.text))
            words += [(token, word) for word in found_words]
    texts = dict.fromkeys(word for _, word in words)
    word_nodes = {word: index for index, word in enumerate(texts, len(labels))}
    labels += [f"w {word}" for word in texts]
    edges += [(token, word_nodes[word], Edge.SUBTOKEN) for token, word in words]
    _add_names(tree, node_of, labels, edges)
    return Graph(tuple(labels), tuple(edges))


def _add_names(
    tree: SyntaxTree, node_of: dict[int, int], labels: list[str], edges: list[tuple[int, int, Edge]]
) -> None:
    """Add the variables, the edges from names to them, and the flow of values between names."""
    names, next_uses, assignments = read_names(tree)
    nodes = [node_of.get(name.node, -1) for name in names]  # -1: inside of a string
    variables: dict[int, int] = {}
    for node, name in zip(nodes, names, strict=True):
        if node >= 0 and name.variable not in variables:
            variables[name.variable] = len(labels)
            labels.append(f"v {name.text}")
        edges.append((node, variables.get(name.variable, -1), Edge.OCCURRENCE))
    edges += [(nodes[start], nodes[end], Edge.NEXT_USE) for start, end in next_uses]
    edges += [(nodes[target], nodes[source], Edge.ASSIGNED) for source, target in assignments]
    edges[:] = [edge for edge in edges if min(edge[:2]) >= 0]


def edit_distance(first: Graph, second: Graph) -> int:
    """Return an upper bound of the edit distance of two graphs.

    The nodes are paired by an optimal assignment. A pair costs 1 if the labels differ, and one half
    for each edge that only one of the two nodes has; edges are counted by kind and direction. The
    result is the number of edits that turn one graph into the other if the nodes are paired in this
    way: deleted and inserted nodes and edges, and changed labels. The distance of equal graphs is
    0, and the order of the two graphs does not matter.

    Args:
        first: Graph with at least one node.
        second: Graph with at least one node.

    Returns:
        A number that is at least the edit distance and at most the sum of the two sizes.

    Raises:
        DependencyError: scipy is not installed.

    Source:
        Riesen and Bunke, "Approximate graph edit distance computation by means of bipartite graph
        matching", Image and Vision Computing 27, 2009; in the reduced form of Serratosa, "Fast
        computation of bipartite graph matching", Pattern Recognition Letters 45, 2014.
    """
    # Several assignments may be equally good; sorting gives both argument orders the same one.
    first, second = sorted((first, second))
    cdist = libraries.load("scipy.spatial.distance", "scipy").cdist
    solve = libraries.load("scipy.optimize", "scipy").linear_sum_assignment
    degrees = _degrees(first), _degrees(second)
    codes = {label: code for code, label in enumerate({*first.labels, *second.labels})}
    left, right = (np.array([codes[label] for label in graph.labels]) for graph in (first, second))
    # Pairing two nodes replaces a deletion and an insertion. The pair saves edits if its cost minus
    # the cost of these two edits is negative.
    cost = (left[:, None] != right[None, :]) + cdist(*degrees, "cityblock") / 2
    removal, insertion = (1 + degree.sum(axis=1) / 2 for degree in degrees)
    cost -= removal[:, None] + insertion[None, :]
    # Among equally good pairs, nodes at the same relative position are preferred.
    left_positions, right_positions = (np.arange(len(side)) / len(side) for side in (left, right))
    ties = _TIE * np.abs(left_positions[:, None] - right_positions[None, :])
    # A pair that saves nothing costs 0, as two unpaired nodes do, and is dropped below.
    rows, columns = solve(np.minimum(cost + ties, 0))
    saves = cost[rows, columns] < 0
    pairs = dict(zip(rows[saves].tolist(), columns[saves].tolist(), strict=True))
    relabelled = sum(first.labels[left] != second.labels[right] for left, right in pairs.items())
    mapped = Counter(
        (pairs[start], pairs[end], kind)
        for start, end, kind in first.edges
        if start in pairs and end in pairs
    )
    common = (mapped & Counter(second.edges)).total()
    nodes = len(first.labels) + len(second.labels) - 2 * len(pairs)
    return relabelled + nodes + len(first.edges) + len(second.edges) - 2 * common


def _degrees(graph: Graph) -> npt.NDArray[np.float64]:
    """Count the edges of each node by kind and direction, shape (nodes, 2 · kinds)."""
    counts = np.zeros((len(graph.labels), 2 * len(Edge)))
    for start, end, kind in graph.edges:
        counts[start, 2 * kind] += 1
        counts[end, 2 * kind + 1] += 1
    return counts
