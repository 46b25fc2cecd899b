"""Ready worlds to serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.helpers.github.large import large
from tests.helpers.github.odd import fork, hostile, unseen_patches
from tests.helpers.github.shop import shop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.helpers.github.state import World

SCENES: Mapping[str, Callable[[], World]] = {
    "fork": fork,
    "hostile": hostile,
    "large": large,
    "shop": shop,
    "unseen_patches": unseen_patches,
}
"""By name, as `--scene` takes them."""

__all__ = ["SCENES", "fork", "hostile", "large", "shop", "unseen_patches"]
