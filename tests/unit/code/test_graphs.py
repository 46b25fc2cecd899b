from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.code.graphs import Edge, Graph, edit_distance, program_graph
from crscore.code.syntax_tree import syntax_tree

CODE = (
    "x = 1",
    "[f(x, 1, 2), f(x, 1, 2), (x, y)]",
    "def maxSize(rows):\n    return max(len(row) for row in rows)",
    "for row in rows:\n    if row:\n        n += 1",
)


def graph(code: str, language: str = "python") -> Graph:
    """Return the graph of code."""
    tree = syntax_tree(code, language)
    assert tree is not None
    return program_graph(tree)


def test_graph_has_syntax_tokens_variables_and_words() -> None:
    graph_of_code = graph("maxSize = maxSize")

    assert sorted(graph_of_code.labels) == [
        "n assignment",
        "n expression_statement",
        "n identifier",
        "n identifier",
        "n module",
        "t =",
        "t maxSize",
        "t maxSize",
        "v maxSize",
        "w max",
        "w size",
    ]
    # Child: 2 to the assignment, 3 from it, 2 to the names' tokens. Next: maxSize = maxSize.
    # Each name has one variable and two words. The second is the next use of the first.
    counted = {kind: sum(edge[2] == kind for edge in graph_of_code.edges) for kind in Edge}
    assert list(counted.values()) == [7, 2, 2, 4, 1, 1]


def test_string_is_one_token_without_quotes() -> None:
    assert [label for label in graph("f('a b')").labels if label.startswith("t")] == [
        "t f",
        "t (",
        "t a b",
        "t )",
    ]


def test_another_name_costs_three_edits() -> None:
    # The labels of the token, the variable and the word.
    assert edit_distance(graph("f(a)"), graph("f(b)")) == 3


def test_added_argument_costs_its_nodes_and_edges() -> None:
    # `f(a)` has beside `f()` a node, its token, variable and word; for them 2 child edges, an
    # occurrence and a word; and from ( to a and from a to ) instead of from ( to ).
    assert edit_distance(graph("f()"), graph("f(a)")) == 4 + 4 + 3


@pytest.mark.parametrize("code", CODE)
def test_equal_graphs_have_no_distance(code: str) -> None:
    assert edit_distance(graph(code), graph(code)) == 0


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(CODE, 2)))
def test_order_does_not_matter(first: str, second: str) -> None:
    assert edit_distance(graph(first), graph(second)) == edit_distance(graph(second), graph(first))


_GRAPHS = st.builds(
    lambda labels, edges: Graph(
        tuple(labels), tuple((a % len(labels), b % len(labels), kind) for a, b, kind in edges)
    ),
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.sampled_from(Edge)),
        max_size=5,
        unique=True,
    ),
)


def _least_edits(first: Graph, second: Graph) -> int:
    """Return the least edits over all ways to pair the nodes."""
    best = first.size + second.size
    count = max(len(first.labels), len(second.labels))
    for order in itertools.permutations(range(count)):
        pairs = {
            left: right
            for left, right in enumerate(order[: len(first.labels)])
            if right < len(second.labels)
        }
        left = list(second.edges)
        edits = sum(first.labels[a] != second.labels[b] for a, b in pairs.items())
        edits += len(first.labels) + len(second.labels) - 2 * len(pairs)
        for start, end, kind in first.edges:
            edge = (pairs.get(start, -1), pairs.get(end, -1), kind)
            if edge in left:
                left.remove(edge)
            else:
                edits += 1
        best = min(best, edits + len(left))
    return best


@given(_GRAPHS, _GRAPHS)
def test_distance_is_an_upper_bound_of_the_least_edits(first: Graph, second: Graph) -> None:
    assert _least_edits(first, second) <= edit_distance(first, second) <= first.size + second.size
