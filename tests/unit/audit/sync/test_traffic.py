from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from crscore.audit.sync.traffic import Meter
from crscore.errors import RateLimitedError, UnavailableError
from crscore.github import graphql
from crscore.github.client import Client
from crscore.hosts.retry import RetryBudget
from tests.helpers.github import faults, scenes
from tests.helpers.github.faults import At, Fault, Kind
from tests.helpers.github.server import serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.helpers.github.server import Server

LIST = "/repos/acme/shop/pulls/7/comments"


class Item(msgspec.Struct):
    id: int


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(scenes.shop(), page_limit=3) as running:
        yield running


def meter(server: Server, **budgets: int) -> Meter:
    retry = RetryBudget(sleep=lambda _: None)
    client = Client(token=server.token, api_url=server.url, retry=retry)
    return Meter(client, **budgets)


def test_list_is_read_page_by_page(server: Server) -> None:
    whole = Client(token=server.token, api_url=server.url).pages(LIST, Item).items
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
