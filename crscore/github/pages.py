"""A list that comes in pages: which ones to ask for, and what to make of those that fail.

The number of pages comes from what page 1 links to, or from how many items there are said to be.
Where the links were kept with an unchanged page they may be old, because a list grows at its end:
a full page then says nothing of what follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from crscore.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

PAGE_ITEMS = 100
"""Items of a page: the most that GitHub gives."""
MAX_PAGES = 300
"""Most pages read of one list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages(Generic[T]):
    """A list, as far as it could be had."""

    items: tuple[T, ...]
    """In the order of the pages; one that moved between two requests may be there twice."""
    missing: tuple[str, ...] = ()
    """Which pages could not be had and why; empty when the list is whole."""


class Page(NamedTuple, Generic[T]):
    """One page."""

    items: list[T]
    """What is on it."""
    links: Mapping[str, Mapping[str, str]]
    """Parameters of the pages it links to, by relation: `next`, `last`."""
    is_sure: bool
    """True when GitHub sent the links now; False when they were kept with the page."""


def read_pages(
    ask: Callable[[Mapping[str, str]], Page[T]], what: str, *, expected: int | None = None
) -> Pages[T]:
    """Read all pages, each on its own.

    Args:
        ask: Gives the page for these parameters, or raises `HostError`.
        what: What the list is, for `missing`.
        expected: How many items there are, where that is known; 0 asks for nothing.

    Returns:
        The items that were had, and why others were not.
    """
    items: list[T] = []
    missing: list[str] = []
    due = None if expected is None else -(-expected // PAGE_ITEMS)
    last, number = (1 if due is None else due), 0
    following: Mapping[str, str] = {}
    while number < last or following:
        if number == MAX_PAGES:
            missing.append(f"{what}: pages after {MAX_PAGES} were not asked for")
            break
        number += 1
        parameters = following or ({"page": str(number)} if number > 1 else {})
        following = {}
        try:
            page = ask({"per_page": str(PAGE_ITEMS), **parameters})
        except HostError as exc:
            is_end = number >= last and (due is None or number > due)
            which = f"page {number} and any after it" if is_end else f"page {number}"
            missing.append(f"{what}: {which}: {exc.reason}")
            continue
        items += page.items
        if number == 1:
            last = _last(page, due)
        if number >= last:
            following = _following(page, number, due)
    return Pages(items=tuple(items), missing=tuple(missing))


def _last(page: Page[T], due: int | None) -> int:
    """Number of the last page, as page 1 tells it; what is said now beats what was expected."""
    number = page.links.get("last", {}).get("page", "")
    linked = int(number) if number.isascii() and number.isdecimal() and len(number) < 10 else 1
    return linked if page.is_sure or due is None else due


def _following(page: Page[T], number: int, due: int | None) -> Mapping[str, str]:
    """Parameters of the page after the last one known; empty when there is none."""
    if page.is_sure or "next" in page.links:
        return page.links.get("next", {})
    may_go_on = len(page.items) >= PAGE_ITEMS and (due is None or number < due)
    return {"page": str(number + 1)} if may_go_on else {}
