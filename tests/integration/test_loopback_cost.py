"""Costs of GraphQL queries, computed by hand from GitHub's rules."""

from __future__ import annotations

import pytest
from graphql import parse

from tests.helpers.github import cost, graph, scenes, serve
from tests.integration.test_loopback_github import query

THREADS = "pullRequest(number: 1) { reviewThreads(first: $n) { nodes { comments(first: %d) "
THREADS += "{ nodes { id } } } } }"


def priced(text: str, **variables: object) -> cost.Price:
    return cost.price(graph.schema(), parse(text), variables)


@pytest.mark.parametrize(
    ("size", "inner", "requests", "nodes", "points"),
    [
        (1, 1, 2, 2, 1),  # 1 + 1
        (50, 20, 51, 1_050, 1),  # 1 + 50 requests; 50 + 50 * 20 nodes
        (100, 1, 101, 200, 1),  # 1.01 points
    ],
)
def test_connection_costs_a_request_for_each_parent(
    size: int, inner: int, requests: int, nodes: int, points: int
) -> None:
    inside = THREADS % inner
    found = priced(
        f'query($n: Int!) {{ repository(owner: "a", name: "b") {{ {inside} }} }}', n=size
    )
    assert (found.requests, found.nodes, found.points) == (requests, nodes, points)


@pytest.mark.parametrize(("requests", "points"), [(0, 1), (149, 1), (150, 2), (5_101, 51)])
def test_points_are_rounded_hundredths(requests: int, points: int) -> None:
    assert cost.Price(requests=requests, nodes=0).points == points


def test_aliases_and_fragments_add_up() -> None:
    text = """query($n: Int = 100) { repository(owner: "a", name: "b") {
    one: pullRequest(number: 1) { ...P } two: pullRequest(number: 2) { ...P } } }
    fragment P on PullRequest { comments(first: 10) { nodes { id } }
    ... on PullRequest { reviewThreads(last: $n) { nodes { comments(first: 5) { nodes { id } } } } }
    }"""
    found = priced(text)
    # Each pull request: comments 1, threads 1, their comments 100.
    assert found.requests == 2 * 102
    assert found.nodes == 2 * (10 + 100 + 100 * 5)
    assert found.points == 2


def test_server_counts_points_and_tells_them() -> None:
    text = """{ rateLimit { cost limit remaining used resetAt }
    repository(owner: "acme", name: "shop") { pullRequest(number: 7) {
    reviewThreads(first: 100) { nodes { comments(first: 10) { nodes { id } }
    more: comments(first: 20) { nodes { id } } } } } } }"""
    with serve(scenes.shop(), token="secret", clock=lambda: 1_760_000_000.0) as server:
        query(server, "{ viewer { login } }")
        told = query(server, text)["data"]["rateLimit"]
        assert [server.points, server.budget.used["graphql"]] == [3, 3]
    # 1 + 100 + 100 requests are 2.01 points; the first query cost the least there is.
    assert told == {
        "cost": 2,
        "limit": 5_000,
        "remaining": 4_997,
        "used": 3,
        "resetAt": "2025-10-09T09:53:20Z",
    }


def test_query_for_too_many_nodes_is_refused() -> None:
    aliases = " ".join(
        f"a{at}: reviewThreads(first: 100) {{ nodes {{ comments(first: 100) "
        "{ nodes { id } } } }"
        for at in range(50)
    )
    inside = f"pullRequest(number: 7) {{ {aliases} }}"
    text = f'{{ repository(owner: "acme", name: "shop") {{ {inside} }} }}'
    with serve(scenes.shop(), token="secret") as server:
        answer = query(server, text)
    assert "data" not in answer
    (error,) = answer["errors"]
    assert error["type"] == "MAX_NODE_LIMIT_EXCEEDED"
    assert "up to 505,000 possible nodes" in error["message"]
