"""Which pages of a list are asked for, and what becomes of those that fail."""

import pytest

from crscore.errors import UnavailableError
from crscore.github import pages
from crscore.github.pages import MAX_PAGES, Page


class Shelf:
    """A list of numbers in pages of 100, as GitHub links them."""

    def __init__(self, size: int, *, is_sure: bool = True, broken: tuple[int, ...] = ()) -> None:
        self.size = size
        self.is_sure = is_sure
        self.broken = broken
        self.asked: list[int] = []
        self.linked_size = size

    def __call__(self, parameters) -> Page[int]:
        number = int(parameters.get("page", "1"))
        assert parameters["per_page"] == "100"
        self.asked.append(number)
        if number in self.broken:
            raise UnavailableError("GET /x", "GitHub answers 502")
        last = -(-self.linked_size // 100)
        links = {}
        if number < last:
            links = {"next": {"page": str(number + 1)}, "last": {"page": str(last)}}
        items = list(range(self.size))[(number - 1) * 100 : number * 100]
        return Page(items, links, self.is_sure)


@pytest.mark.parametrize("expected", [True, False])
@pytest.mark.parametrize(("size", "least"), [(1, 1), (99, 1), (100, 1), (101, 2), (300, 3)])
def test_no_page_is_asked_for_that_must_be_empty(size: int, least: int, expected: bool) -> None:
    shelf = Shelf(size)
    read = pages.read_pages(shelf, "/x", expected=size if expected else None)
    assert read.items == tuple(range(size))
    assert shelf.asked == list(range(1, least + 1))


def test_nothing_is_asked_for_where_nothing_is_expected() -> None:
    shelf = Shelf(0)
    assert pages.read_pages(shelf, "/x", expected=0) == pages.Pages(items=())
    assert shelf.asked == []


def test_empty_list_takes_one_request() -> None:
    shelf = Shelf(0)
    assert pages.read_pages(shelf, "/x").items == ()
    assert shelf.asked == [1]


def test_links_of_today_beat_what_was_expected() -> None:
    # The files API stops at 3,000 files, whatever the pull request says it has.
    shelf = Shelf(150)
    assert len(pages.read_pages(shelf, "/x", expected=900).items) == 150
    assert shelf.asked == [1, 2]


def test_page_that_fails_is_left_out_and_named() -> None:
    shelf = Shelf(350, broken=(3,))
    read = pages.read_pages(shelf, "/x")
    assert read.items == (*range(200), *range(300, 350))
    assert read.missing == ("/x: page 3: GitHub answers 502",)


def test_first_page_that_fails_costs_only_itself_when_the_size_is_known() -> None:
    read = pages.read_pages(Shelf(250, broken=(1,)), "/x", expected=250)
    assert read.items == tuple(range(100, 250))
    assert read.missing == ("/x: page 1: GitHub answers 502",)


def test_first_page_that_fails_says_that_more_may_be_missing() -> None:
    shelf = Shelf(250, broken=(1,))
    read = pages.read_pages(shelf, "/x")
    assert read.items == ()
    assert read.missing == ("/x: page 1 and any after it: GitHub answers 502",)
    assert shelf.asked == [1]


def test_list_that_grew_meanwhile_is_read_to_its_new_end() -> None:
    shelf = Shelf(250)

    def growing(parameters) -> Page[int]:
        page = shelf(parameters)
        shelf.size = shelf.linked_size = 301
        return page

    assert pages.read_pages(growing, "/x").items == tuple(range(301))


def test_next_is_followed_where_the_end_is_unknown() -> None:
    asked = []

    def ask(parameters) -> Page[int]:
        asked.append(dict(parameters))
        links = {"next": {"after": "c2", "per_page": "100"}} if len(asked) == 1 else {}
        return Page([len(asked)], links, True)

    assert pages.read_pages(ask, "/x").items == (1, 2)
    assert asked == [{"per_page": "100"}, {"per_page": "100", "after": "c2"}]


# Links that were kept with an unchanged page


def test_full_page_with_old_links_is_not_taken_for_the_last() -> None:
    shelf = Shelf(101, is_sure=False)
    shelf.linked_size = 100
    assert pages.read_pages(shelf, "/x").items == tuple(range(101))


def test_full_page_with_old_links_is_the_last_where_the_size_says_so() -> None:
    shelf = Shelf(200, is_sure=False)
    assert len(pages.read_pages(shelf, "/x", expected=200).items) == 200
    assert shelf.asked == [1, 2]


def test_size_of_today_beats_old_links() -> None:
    shelf = Shelf(350, is_sure=False)
    shelf.linked_size = 150
    assert len(pages.read_pages(shelf, "/x", expected=350).items) == 350
    assert shelf.asked == [1, 2, 3, 4]


def test_old_links_do_not_end_a_list_whose_page_fails() -> None:
    shelf = Shelf(350, is_sure=False, broken=(2,))
    shelf.linked_size = 150
    read = pages.read_pages(shelf, "/x", expected=350)
    assert read.items == (*range(100), *range(200, 350))
    assert read.missing == ("/x: page 2: GitHub answers 502",)


def test_page_that_fails_at_an_unknown_end_says_that_more_may_be_missing() -> None:
    shelf = Shelf(350, is_sure=False, broken=(2,))
    shelf.linked_size = 100
    read = pages.read_pages(shelf, "/x")
    assert read.missing == ("/x: page 2 and any after it: GitHub answers 502",)


def test_part_page_with_old_links_is_the_last() -> None:
    shelf = Shelf(150, is_sure=False)
    assert len(pages.read_pages(shelf, "/x").items) == 150
    assert shelf.asked == [1, 2]


# Hosts that lie


@pytest.mark.parametrize("number", ["-1", "x", "", "1e9", "٣", "9" * 30])
def test_last_page_that_is_no_number_is_passed_over(number: str) -> None:
    asked = []

    def ask(parameters) -> Page[int]:
        asked.append(parameters)
        return Page([1], {"last": {"page": number}}, True)

    assert pages.read_pages(ask, "/x").items == (1,)
    assert len(asked) == 1


def test_list_without_end_is_left_and_said_so() -> None:
    def ask(parameters) -> Page[int]:
        return Page([1], {"next": {"after": "again"}}, True)

    read = pages.read_pages(ask, "/x")
    assert len(read.items) == MAX_PAGES
    assert read.missing == (f"/x: pages after {MAX_PAGES} were not asked for",)


def test_list_of_too_many_pages_is_cut_and_said_so() -> None:
    def ask(parameters) -> Page[int]:
        return Page([1], {"last": {"page": "999999999"}}, True)

    read = pages.read_pages(ask, "/x")
    assert len(read.items) == MAX_PAGES
    assert read.missing
