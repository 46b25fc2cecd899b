from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from crscore.audit.sync import traffic
from crscore.audit.sync.traffic import Meter
from crscore.errors import RateLimitedError, UnavailableError
from crscore.github import graphql
from crscore.github.client import Client
from crscore.hosts.http import Page, Traffic, WaitBudget
from tests.helpers.github import faults, scenes
from tests.helpers.github.faults import At, Fault, Kind
from tests.helpers.github.server import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.helpers.github.server import Server

LIST = "/repos/acme/shop/pulls/7/comments"


class Item(msgspec.Struct):
    id: int


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(scenes.shop(), page_limit=3) as running:
        yield running


def meter(server: Server, **budgets: int) -> Meter:
    budget = WaitBudget(sleep=lambda _: None)
    client = Client(token=server.token, api_url=server.url, budget=budget)
    return Meter(client, **budgets)


def test_list_is_read_page_by_page(server: Server) -> None:
    whole = Client(token=server.token, api_url=server.url).pages(LIST, Item)
    server.log.clear()
    used = meter(server)
    pages = list(used.pages(LIST, Item))
    assert [item for page in pages for item in page] == list(whole)
    assert used.requests == len(pages) == len(server.log) == -(-len(whole) // 3)


def test_page_without_items_that_others_follow_is_an_error(server: Server) -> None:
    server.faults = faults.Places([At(pattern="page=2", fault=Fault(kind=Kind.EMPTY))])
    with pytest.raises(UnavailableError, match="page 2 of the list has no items"):
        list(meter(server).pages(LIST, Item))


def test_first_page_without_items_that_others_follow_is_an_error(server: Server) -> None:
    server.faults = faults.Places([At(pattern="comments", fault=Fault(kind=Kind.EMPTY))])
    with pytest.raises(UnavailableError, match="page 1 of the list has no items"):
        list(meter(server).pages(LIST, Item))


def test_requests_end_with_the_budget(server: Server) -> None:
    used = meter(server, max_requests=2)
    with pytest.raises(RateLimitedError, match="the budget of 2 requests is spent"):
        list(used.pages(LIST, Item))
    assert (used.requests, len(server.log)) == (2, 2)


def test_failed_requests_count(server: Server) -> None:
    server.faults = faults.Places([At(pattern="comments", fault=Fault(kind=Kind.CUT_AFTER))])
    used = meter(server)
    with pytest.raises(UnavailableError):
        used.get(LIST, list[Item])
    assert used.requests == len(server.log)


def test_points_end_with_the_budget(server: Server) -> None:
    used = meter(server, max_points=0)
    with pytest.raises(RateLimitedError, match="the budget of 0 points is spent"):
        used.graphql(graphql.THREAD_STATES_QUERY, {"ids": []})
    assert server.log == []


class Endless:
    """A host whose lists have no end, each page later than the one before."""

    traffic = Traffic()

    def __init__(self) -> None:
        self.sent = 0

    def page(self, *_: object) -> Page[tuple[str, int]]:
        self.sent += 1
        return Page(((f"{self.sent:012}", self.sent),), has_more=True, total=None)


@pytest.mark.parametrize("time", [None, lambda item: item[0]])
def test_list_without_an_end_is_left_to_the_next_run(time: Callable | None) -> None:
    host = Endless()
    with pytest.raises(UnavailableError, match="are left to the next run"):
        list(Meter(host).pages(LIST, tuple, {"since": ""}, time=time))
    assert host.sent == traffic.MAX_PAGES


def test_cursors_in_a_circle_end() -> None:
    page = {"hasNextPage": True, "endCursor": "same"}
    empty = {"nodes": []}
    node = {
        "id": "P", "additions": 1, "deletions": 0, "commits": empty, "timeline": empty,
        "threads": empty, "reviews": empty,
        "comments": {"nodes": [{"fullDatabaseId": "1"}], "pageInfo": page},
    }  # fmt: skip
    answer = msgspec.convert({"nodes": [node], "rateLimit": {"cost": 1}}, graphql.Nodes)
    first = answer.nodes[0]
    assert first is not None
    lists = {"comments": graphql.DETAILS["comments"]}
    with pytest.raises(UnavailableError, match="more than 300 pages"):
        graphql.read_rest(lambda *_: answer, first, lists)
