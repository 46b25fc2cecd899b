"""Ready worlds to serve."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING

from tests.helpers.github import large as _large
from tests.helpers.github import odd as _odd
from tests.helpers.github import shop as _shop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.helpers.github.state import World


def shop() -> World:
    """A small pull request with every kind of comment: see `shop.py`."""
    return deepcopy(_made(_shop.shop))


def large(files: int = 120, changed_lines: int = 3_000, comments: int = 300) -> World:
    """A pull request of a given size: see `large.py`."""
    return deepcopy(_made(_large.large, files, changed_lines, comments))


def fork() -> World:
    """A pull request from a stranger's fork."""
    return deepcopy(_made(_odd.fork))


def unseen_patches() -> World:
    """A pull request whose file list hides a part of the change: see `odd.py`."""
    return deepcopy(_made(_odd.unseen_patches))


def hostile() -> World:
    """A pull request in which every text attacks its reader."""
    return deepcopy(_made(_odd.hostile))


@cache
def _made(make: Callable[..., World], *numbers: int) -> World:
    """Made once: git takes longer to write a history than a copy takes."""
    return make(*numbers)


SCENES: Mapping[str, Callable[[], World]] = {
    "fork": fork,
    "hostile": hostile,
    "large": large,
    "shop": shop,
    "unseen_patches": unseen_patches,
}
"""By name, as `--scene` takes them."""
