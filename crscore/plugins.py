"""From a plugin's name to its module. The file name is the plugin name; there is no other list."""

from __future__ import annotations

import importlib
import importlib.resources
from typing import TYPE_CHECKING

from crscore.errors import UnknownPluginError

if TYPE_CHECKING:
    from types import ModuleType

KINDS = ("claims", "encoders", "engines", "matchers", "reports")
"""The folders that hold plugins."""


def names(kind: str) -> tuple[str, ...]:
    """List the plugins of a kind, sorted, without importing any of them.

    Args:
        kind: One of `KINDS`.

    Returns:
        Module names in the folder, without `base` and without names that start with `_`.
    """
    folder = importlib.resources.files("crscore") / kind
    found = (entry.name.removesuffix(".py") for entry in folder.iterdir() if _is_module(entry.name))
    return tuple(sorted(name for name in found if name != "base" and not name.startswith("_")))


def _is_module(file_name: str) -> bool:
    return file_name.endswith(".py")


def load(kind: str, name: str) -> ModuleType:
    """Import one plugin.

    Args:
        kind: One of `KINDS`.
        name: A name that `names(kind)` lists.

    Returns:
        The module; its `create(options)` makes the plugin.

    Raises:
        UnknownPluginError: No such plugin; the error lists the ones there are.
    """
    known = names(kind)
    if name not in known:
        raise UnknownPluginError(kind, name, known)
    return importlib.import_module(f"crscore.{kind}.{name}")
