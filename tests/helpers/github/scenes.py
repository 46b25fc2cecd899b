"""Ready worlds to serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.helpers.github.shop import shop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.helpers.github.state import World

SCENES: Mapping[str, Callable[[], World]] = {"shop": shop}
"""By name, as `--scene` takes them."""

__all__ = ["SCENES", "shop"]
