"""The simulated GitHub answers as GitHub describes its own, and our queries are valid for both."""

from __future__ import annotations

import importlib
import json
import pkgutil
import urllib.request
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from graphql import parse, validate

import crscore.github
from tests.helpers.github import description, graph, scenes, serve
from tests.helpers.github.writer import writer_of

if TYPE_CHECKING:
    from tests.helpers.github import Server


class Answer(NamedTuple):
    body: Any
    complaints: list[str]
    """Where it differs from the description."""


def ask(server: Server, path: str, *, method: str = "GET", body: Any = None) -> Answer:
    request = urllib.request.Request(
        server.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {server.token}"},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        data = response.read()
    content = json.loads(data) if data else None
    described = path.partition("?")[0]
    return Answer(content, description.complaints(method, described, response.status, content))


@pytest.mark.hosts
@pytest.mark.parametrize("name", scenes.SCENES)
def test_answers_are_what_github_describes(name: str) -> None:
    world = scenes.SCENES[name]()
    writer = writer_of(world)
    top, number = f"/repos/{writer.repository.full_name}", writer.pull.number
    pull, notes = f"{top}/pulls/{number}", f"{top}/issues/{number}/comments"
    blob = next(iter(writer.repository.history.tree(writer.pull.head).values()))
    read = [
        "/rate_limit",
        *(top, f"{top}/pulls", f"{top}/git/blobs/{blob}"),
        f"{top}/compare/{writer.pull.base}...{writer.pull.head}",
        *(pull, f"{pull}/files?per_page=100", f"{pull}/comments", f"{pull}/reviews", notes),
    ]
    with serve(world) as server:
        answers = {path: ask(server, path) for path in read}
    assert {path: answer.complaints for path, answer in answers.items() if answer.complaints} == {}
    assert all(answer.body for answer in answers.values())


@pytest.mark.hosts
def test_writes_are_what_github_describes() -> None:
    with serve(scenes.shop(), token="secret") as server:
        notes = "/repos/acme/shop/issues/7/comments"
        created = ask(server, notes, method="POST", body={"body": "Hello"})
        comment = f"/repos/acme/shop/issues/comments/{created.body['id']}"
        edited = ask(server, comment, method="PATCH", body={"body": "Hello again"})
        assert created.complaints + edited.complaints == []
        assert ask(server, comment, method="DELETE").body is None
    assert [(write.kind, write.body) for write in server.writes] == [
        ("created", "Hello"),
        ("edited", "Hello again"),
        ("deleted", None),
    ]


def queries() -> dict[str, str]:
    """Collect every query of the package, by the name of its constant."""
    collected = {}
    for module in pkgutil.iter_modules(crscore.github.__path__, "crscore.github."):
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            if name.endswith("_QUERY") and isinstance(value, str):
                collected[name] = value
            if name == "blobs_query":
                collected[name] = value(["a" * 40, "main:a.py"])
            if name == "commits_query":
                collected[name] = value(["a" * 40, "b" * 40])
    return collected


def test_our_queries_are_valid_for_github_and_for_the_simulated_one() -> None:
    collected = queries()
    assert {"PULL_QUERY", "blobs_query"} <= set(collected)
    for name, text in collected.items():
        assert validate(description.graph(), parse(text)) == [], name
        assert validate(graph.schema(), parse(text)) == [], name
