"""Answers that are kept between runs."""

import pytest

from crscore.cache import Store
from crscore.errors import StoreError
from crscore.github.etag_cache import Answers, Kept, linked

URL = "https://api.github.com"
KEPT = Kept(etag='W/"1"', link="", body='{"a": "é"}')


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    yield made
    made.close()


def test_answer_is_recalled_whatever_the_order_of_the_parameters(store) -> None:
    Answers(store, URL).keep("/x", {"a": "1", "b": "2"}, KEPT)
    assert Answers(store, URL).recall("/x", {"b": "2", "a": "1"}) == KEPT


def test_other_pages_paths_and_hosts_have_their_own(store) -> None:
    Answers(store, URL).keep("/x", {"page": "1"}, KEPT)
    assert Answers(store, URL).recall("/x", {"page": "2"}) is None
    assert Answers(store, URL).recall("/y", {"page": "1"}) is None
    assert Answers(store, "https://github.example/api/v3").recall("/x", {"page": "1"}) is None


def test_answer_without_a_name_is_not_kept(store) -> None:
    Answers(store, URL).keep("/x", {}, Kept(etag="", link="", body="{}"))
    assert store.summary() == ()


def test_nothing_is_kept_without_a_store() -> None:
    answers = Answers(None, URL)
    answers.keep("/x", {}, KEPT)
    assert answers.recall("/x", {}) is None


@pytest.mark.parametrize("value", [b"", b"{}", b"\xff\xff", b"\x93\x01\x02\x03"])
def test_damaged_entry_is_none(store, value: bytes) -> None:
    Answers(store, URL).keep("/x", {}, KEPT)
    store.put(f"github {URL}/x?", value)
    assert Answers(store, URL).recall("/x", {}) is None


def test_trouble_with_the_store_is_passed_over(tmp_path) -> None:
    class Broken(Store):
        def get(self, key: str) -> bytes | None:
            raise StoreError(key, "broken")

        def put(self, key: str, value: bytes) -> None:
            raise StoreError(key, "broken")

    answers = Answers(Broken(tmp_path), URL)
    answers.keep("/x", {}, KEPT)
    assert answers.recall("/x", {}) is None


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("", {}),
        ("nonsense", {}),
        ('<https://[/x?page=2>; rel="next"', {}),
        ('<https://h/x?page=2&per_page=5>; rel="next"', {"next": {"page": "2", "per_page": "5"}}),
        ('<https://h/x?after=Y%3D>; rel="next"', {"next": {"after": "Y="}}),
    ],
)
def test_link_header_is_read(link: str, expected) -> None:
    assert linked(link) == expected
