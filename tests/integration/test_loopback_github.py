"""The GitHub on this machine is held to GitHub's own descriptions of its interfaces."""

from __future__ import annotations

import importlib
import json
import pkgutil
import urllib.error
import urllib.request
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    parse,
    validate,
)

import crscore.github
from tests.helpers.github import description, graph, scenes, serve
from tests.helpers.github.state import Repository, Rules
from tests.helpers.github.writer import writer_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.helpers.github import Server

TOKEN = "secret"


class Answered(NamedTuple):
    status: int
    body: Any
    headers: Any


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(scenes.shop(), token=TOKEN) as running:
        yield running


def ask(
    server: Server,
    path: str,
    *,
    method: str = "GET",
    body: Any = None,
    token: str | None = TOKEN,
    headers: dict[str, str] | None = None,
) -> Answered:
    request = urllib.request.Request(
        server.url + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            data, status, got = answer.read(), answer.status, answer.headers
    except urllib.error.HTTPError as exc:
        with exc:
            data, status, got = exc.read(), exc.code, exc.headers
    return Answered(status, json.loads(data) if data else None, got)


def commits(server: Server) -> tuple[str, str]:
    pull = server.world.repositories[0].pulls[7]
    return pull.base, pull.head


ROUTES = [
    "/repos/acme/shop",
    "/repos/acme/shop/pulls",
    "/repos/acme/shop/pulls/7",
    "/repos/acme/shop/pulls/7/files",
    "/repos/acme/shop/pulls/7/comments",
    "/repos/acme/shop/pulls/7/reviews",
    "/repos/acme/shop/issues/7/comments",
    "/repos/acme/shop/compare/main...discounts",
    "/repos/acme/shop/compare/{base}...{head}",
    "/repos/acme/shop/commits/{head}/pulls",
    "/repos/acme/shop/contents/shop/cart.py",
    "/repos/acme/shop/git/blobs/{blob}",
    "/rate_limit",
]


@pytest.mark.parametrize("route", ROUTES)
def test_answer_is_what_github_describes(server: Server, route: str) -> None:
    base, head = commits(server)
    blob = server.world.repositories[0].history.tree(head)["shop/cart.py"]
    path = route.format(base=base, head=head, blob=blob)
    answer = ask(server, path)
    assert answer.status == 200
    assert answer.body
    assert description.complaints("GET", path, 200, answer.body) == []


def test_writes_answer_what_github_describes(server: Server) -> None:
    path = "/repos/acme/shop/issues/7/comments"
    made = ask(server, path, method="POST", body={"body": "Hello"})
    assert (made.status, description.complaints("POST", path, 201, made.body)) == (201, [])
    one = f"/repos/acme/shop/issues/comments/{made.body['id']}"
    edited = ask(server, one, method="PATCH", body={"body": "Hello again"})
    assert (edited.status, description.complaints("PATCH", one, 200, edited.body)) == (200, [])
    gone = ask(server, one, method="DELETE")
    assert (gone.status, gone.body) == (204, None)
    assert [(write.kind, write.body) for write in server.writes] == [
        ("created", "Hello"),
        ("edited", "Hello again"),
        ("deleted", None),
    ]


def test_the_description_notices_what_is_missing(server: Server) -> None:
    path = "/repos/acme/shop/pulls/7/comments"
    body = ask(server, path).body
    del body[3]["original_commit_id"]
    body[4]["user"] = "nadia"
    found = description.complaints("GET", path, 200, body)
    assert any("original_commit_id" in line for line in found)
    assert any(line.startswith("$[4].user") for line in found)


@pytest.mark.parametrize(
    ("path", "method", "body", "token", "status", "message"),
    [
        ("/repos/acme/shop/pulls/7", "GET", None, "wrong", 401, "Bad credentials"),
        ("/repos/acme/nothing", "GET", None, TOKEN, 404, "Not Found"),
        ("/repos/acme/shop/pulls/8", "GET", None, TOKEN, 404, "Not Found"),
        ("/repos/acme/shop/contents/x", "GET", None, TOKEN, 404, "Not Found"),
        ("/repos/acme/shop/compare/main...x", "GET", None, TOKEN, 404, "Not Found"),
        ("/repos/acme/shop/commits/x/pulls", "GET", None, TOKEN, 422, "No commit found"),
        ("/repos/acme/shop/issues/7/comments", "POST", {"body": "x"}, None, 401, "Requires"),
        ("/repos/acme/shop/issues/7/comments", "POST", {"body": "é" * 65_537}, TOKEN, 422, "Val"),
        ("/repos/acme/shop/issues/7/comments", "POST", {}, TOKEN, 422, "Validation Failed"),
    ],
)
def test_refusals_are_what_github_describes(
    server: Server, path: str, method: str, body: Any, token: str | None, status: int, message: str
) -> None:
    answer = ask(server, path, method=method, body=body, token=token)
    assert answer.status == status
    assert answer.body["message"].startswith(message)
    if "/commits/x/" not in path:  # described with 409 only, and answered with 422
        assert description.complaints(method, path, status, answer.body) == []
    assert server.writes == []


def test_comment_of_the_greatest_length_is_taken(server: Server) -> None:
    path = "/repos/acme/shop/issues/7/comments"
    assert ask(server, path, method="POST", body={"body": "é" * 65_536}).status == 201


def test_read_only_token_reads_and_writes_nothing() -> None:
    path = "/repos/acme/shop/issues/7/comments"
    with serve(scenes.shop(), token=TOKEN, permissions="read") as server:
        assert ask(server, path).status == 200
        refused = ask(server, path, method="POST", body={"body": "x"})
    assert refused.status == 403
    assert refused.body["message"] == "Resource not accessible by integration"
    assert description.complaints("POST", path, 403, refused.body) == []


def test_private_repository_is_not_there_without_a_token() -> None:
    world = scenes.shop()
    world.repositories[0].private = True
    world.repositories.append(Repository(owner="acme", name="shop2", id=90_000_002))
    with serve(world, token=TOKEN) as server:
        assert ask(server, "/repos/acme/shop2", token=None).status == 200
        assert ask(server, "/repos/acme/shop", token=None).status == 404
        assert ask(server, "/repos/acme/shop").status == 200


def test_pages_are_linked_by_the_repositorys_number() -> None:
    with serve(scenes.shop(), token=TOKEN, page_limit=5) as server:
        found, path = [], "/repos/acme/shop/pulls/7/comments?per_page=100"
        while path:
            answer = ask(server, path)
            found += [item["id"] for item in answer.body]
            assert "/repositories/90000001/" in answer.headers["Link"]
            links = dict(
                reversed(part.strip().removeprefix("<").split('>; rel="'))
                for part in (answer.headers["Link"] or "").split(",")
            )
            path = links.get('next"', "").removeprefix(server.url)
        whole = [line.id for line in server.world.repositories[0].pulls[7].lines][:-1]
    assert found == whole
    # The log has every page by the repository's name.
    assert {entry.path for entry in server.log} == {"/repos/acme/shop/pulls/7/comments"}
    assert len(server.log) == 3


def test_unchanged_answer_costs_nothing(server: Server) -> None:
    path = "/repos/acme/shop/pulls/7/reviews"
    first = ask(server, path)
    again = ask(server, path, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status, again.body) == (304, None)
    assert again.headers["X-RateLimit-Used"] == first.headers["X-RateLimit-Used"] == "1"
    assert [entry.conditional for entry in server.log] == [False, True]
    server.world.repositories[0].pulls[7].reviews[0].body = "Edited"
    assert ask(server, path, headers={"If-None-Match": first.headers["ETag"]}).status == 200


def test_list_that_grows_keeps_the_etag_of_its_first_page() -> None:
    path = "/repos/acme/shop/issues/7/comments?per_page=4"
    with serve(scenes.shop(), token=TOKEN) as server:
        first = ask(server, path)
        assert first.headers["Link"] is None
        writer_of(server.world).say(None, "One more")
        again = ask(server, path, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status == 304
    assert 'page=2>; rel="last"' in again.headers["Link"]
    assert again.headers["ETag"] is None


def test_unchanged_answer_costs_a_stranger_one_request(server: Server) -> None:
    path = "/repos/acme/shop/pulls/7/reviews"
    etag = ask(server, path, token=None).headers["ETag"]
    again = ask(server, path, token=None, headers={"If-None-Match": etag})
    assert (again.status, again.headers["X-RateLimit-Used"]) == (304, "2")


def test_rest_and_graphql_have_limits_of_their_own(server: Server) -> None:
    ask(server, "/repos/acme/shop")
    query(server, "{ viewer { login } }")
    ask(server, "/rate_limit")
    limits = ask(server, "/rate_limit").body["resources"]  # asking for it costs nothing
    assert [limits[name]["used"] for name in ("core", "graphql")] == [1, 1]


def test_former_name_leads_to_the_repository(server: Server) -> None:
    server.world.repositories[0].formerly = ("acme/store",)
    answer = ask(server, "/repos/acme/store/pulls/7/files?per_page=2")
    assert len(answer.body) == 2
    assert [entry.status for entry in server.log] == [301, 200]


def test_pull_requests_are_found_and_sorted() -> None:
    world = scenes.shop()
    (repository,) = world.repositories
    older = replace(repository.pulls[7], number=2, at=1, notes=[], lines=[], reviews=[])
    repository.pulls[2] = older
    shut = replace(older, number=9, at=2, state="closed", head_ref="shut")
    repository.pulls[9] = shut

    def found(server: Server, query: str) -> list[int]:
        return [one["number"] for one in ask(server, f"/repos/acme/shop/pulls?{query}").body]

    with serve(world, token=TOKEN) as server:
        assert found(server, "") == [7, 2]
        assert found(server, "state=all&sort=updated") == [2, 9, 7]
        assert found(server, "state=all&sort=updated&direction=desc") == [7, 9, 2]
        assert found(server, "state=all&head=acme:shut") == [9]
        assert found(server, "head=other:discounts") == []


def test_comment_may_come_back_with_the_line_ends_of_a_form() -> None:
    with serve(scenes.shop(), token=TOKEN, rules=Rules(web_line_ends=True)) as server:
        path = "/repos/acme/shop/issues/7/comments"
        made = ask(server, path, method="POST", body={"body": "one\ntwo  \n\n"})
    assert made.body["body"] == "one\r\ntwo"


def test_hourly_limit_ends_at_its_time() -> None:
    now = [1_000.0]
    rules = Rules(requests=2)
    with serve(scenes.shop(), token=TOKEN, rules=rules, clock=lambda: now[0]) as server:
        assert [ask(server, "/repos/acme/shop").status for _ in range(3)] == [200, 200, 403]
        refused = ask(server, "/repos/acme/shop")
        assert refused.headers["X-RateLimit-Remaining"] == "0"
        assert "rate limit exceeded" in refused.body["message"]
        assert description.complaints("GET", "/repos/acme/shop", 403, refused.body) == []
        now[0] = float(refused.headers["X-RateLimit-Reset"])
        assert ask(server, "/repos/acme/shop").status == 200


def remarks(server: Server) -> dict[str, dict[str, Any]]:
    """The line comments by a word of their text."""
    listed = ask(server, "/repos/acme/shop/pulls/7/comments").body
    words = ("Money", "as HTML", "Thanks", "Draft", "invoice job", "codes=[]", "suggestion")
    return {word: one for word in words for one in listed if word in one["body"]}


def test_comment_whose_line_changed_is_out_of_date(server: Server) -> None:
    _, head = commits(server)
    first = server.world.repositories[0].pulls[7].heads[0]
    old = remarks(server)["Money"]
    assert (old["line"], old["position"], old["original_line"]) == (None, None, 17)
    assert (old["commit_id"], old["original_commit_id"]) == (first, first)
    assert old["diff_hunk"].endswith("+    return price * (1 - rate_of(code))")
    moved = remarks(server)["as HTML"]
    assert (moved["line"], moved["commit_id"], moved["original_commit_id"]) == (13, head, first)


def test_comment_on_a_file_has_no_line_and_is_not_out_of_date(server: Server) -> None:
    one = remarks(server)["Thanks"]
    assert (one["subject_type"], one["line"], one["original_line"]) == ("file", None, None)
    assert one["position"] == 1


def test_pending_review_is_seen_by_its_author_only(server: Server) -> None:
    pull = server.world.repositories[0].pulls[7]
    reviews = ask(server, "/repos/acme/shop/pulls/7/reviews").body
    assert "PENDING" not in {review["state"] for review in reviews}
    assert "Draft" not in remarks(server)
    server.world.viewer = next(
        review.author for review in pull.reviews if review.state == "PENDING"
    )
    reviews = ask(server, "/repos/acme/shop/pulls/7/reviews").body
    assert "PENDING" in {review["state"] for review in reviews}
    assert "Draft" in remarks(server)


def test_deleted_account_is_no_user(server: Server) -> None:
    assert remarks(server)["invoice job"]["user"] is None


def test_hunk_agrees_with_the_patch(server: Server) -> None:
    files = ask(server, "/repos/acme/shop/pulls/7/files").body
    patches = {row["filename"]: row["patch"] for row in files}
    current = [
        remark for remark in remarks(server).values() if remark["position"] and remark["diff_hunk"]
    ]
    assert len(current) > 3
    for one in current:
        if one["original_commit_id"] == one["commit_id"]:
            assert patches[one["path"]].startswith(one["diff_hunk"])
            assert one["diff_hunk"].count("\n") == one["position"]


def test_file_list_agrees_with_the_totals_and_the_blobs(server: Server) -> None:
    pull = ask(server, "/repos/acme/shop/pulls/7").body
    rows = ask(server, "/repos/acme/shop/pulls/7/files").body
    assert pull["changed_files"] == len(rows) == 5
    assert pull["additions"] == sum(row["additions"] for row in rows)
    for row in rows:
        added = [line for line in row["patch"].split("\n") if line.startswith("+")]
        assert len(added) == row["additions"]
        assert pull["head"]["sha"] in row["contents_url"]
    renamed = next(row for row in rows if row["status"] == "renamed")
    assert (renamed["previous_filename"], renamed["filename"]) == ("web/utils.js", "web/format.js")


def query(server: Server, text: str, **variables: Any) -> Any:
    body = {"query": text, "variables": variables}
    return ask(server, "/graphql", method="POST", body=body).body


def test_threads_know_what_rest_does_not(server: Server) -> None:
    answer = query(
        server,
        """{ repository(owner: "acme", name: "shop") { pullRequest(number: 7) {
        reviewThreads(first: 3) { totalCount pageInfo { hasNextPage endCursor } nodes {
        isResolved isOutdated comments(first: 9) { nodes {
        databaseId fullDatabaseId isMinimized author { login } } } } } } } }""",
    )
    threads = answer["data"]["repository"]["pullRequest"]["reviewThreads"]
    assert threads["totalCount"] == 7
    assert threads["pageInfo"]["hasNextPage"] is True
    first, second, _ = threads["nodes"]
    assert (first["isResolved"], first["isOutdated"]) == (True, True)
    assert (second["isResolved"], second["isOutdated"]) == (False, False)
    spoken = first["comments"]["nodes"][0]
    # REST says coderabbitai[bot]; the id is too great for GraphQL's Int.
    assert spoken["author"] == {"login": "coderabbitai"}
    assert spoken["databaseId"] is None
    listed = {one["id"] for one in ask(server, "/repos/acme/shop/pulls/7/comments").body}
    assert int(spoken["fullDatabaseId"]) in listed


def test_unknown_things_are_errors_with_status_200(server: Server) -> None:
    answer = query(server, '{ repository(owner: "acme", name: "none") { id } }')
    assert answer["data"] == {"repository": None}
    assert answer["errors"][0]["type"] == "NOT_FOUND"
    assert "errors" in query(server, "{ nonsense }")


def test_our_schema_is_a_part_of_githubs() -> None:
    real, ours = description.graph(), graph.schema()
    wanted = {name: kind for name, kind in ours.type_map.items() if not name.startswith("__")}
    for name, kind in wanted.items():
        theirs = real.type_map[name]
        assert type(theirs) is type(kind), name
        if isinstance(kind, GraphQLEnumType):
            assert set(kind.values) == set(theirs.values)
        if not isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            continue
        assert {one.name for one in kind.interfaces} <= {one.name for one in theirs.interfaces}
        for field, own in kind.fields.items():
            assert str(own.type) == str(theirs.fields[field].type), f"{name}.{field}"
            for argument, value in own.args.items():
                known = theirs.fields[field].args[argument]
                assert str(value.type) == str(known.type), f"{name}.{field}({argument})"


def queries() -> dict[str, str]:
    """Every query of the package, by the name of its constant."""
    found = {}
    for module in pkgutil.iter_modules(crscore.github.__path__, "crscore.github."):
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            if name.endswith("_QUERY") and isinstance(value, str):
                found[name] = value
            if name == "blobs_query":
                found[name] = value(["a" * 40, "main:a.py"])
            if name == "commits_query":
                found[name] = value(["a" * 40, "b" * 40])
    return found


def test_our_queries_are_valid_for_github_and_for_us() -> None:
    found = queries()
    assert {"PULL_QUERY", "DETAILS_QUERY", "blobs_query", "commits_query"} <= set(found)
    for name, text in found.items():
        assert validate(description.graph(), parse(text)) == [], name
        assert validate(graph.schema(), parse(text)) == [], name
