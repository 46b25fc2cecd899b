"""Find plugins by name. A module that defines `create` is one; its file name is its name."""

from __future__ import annotations

import importlib
import importlib.resources
from typing import TYPE_CHECKING, Final

from crscore.errors import UnknownPluginError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from types import ModuleType

KINDS: Final = {
    "claims": "claims",
    "encoders": "encoders",
    "engines": "llm/engines",
    "matchers": "matchers",
    "reports": "reports",
}
"""Each kind of plugin and its folder in this package."""


def names(kind: str) -> tuple[str, ...]:
    """List the plugins of a kind, sorted, without importing any of them.

    Args:
        kind: One of `KINDS`.

    Returns:
        Names of the folder's modules that define `create`, and of its packages that have a
        `plugin.py`.
    """
    folder = importlib.resources.files("crscore") / KINDS[kind]
    found = (entry.name.removesuffix(".py") for entry in folder.iterdir() if _is_plugin(entry))
    return tuple(sorted(found))


def _is_plugin(entry: Traversable) -> bool:
    if entry.is_dir():
        return entry.joinpath("plugin.py").is_file()
    return entry.name.endswith(".py") and "\ndef create(" in entry.read_text(encoding="utf-8")


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
    folder = KINDS[kind]
    module = f"crscore.{folder.replace('/', '.')}.{name}"
    is_package = (importlib.resources.files("crscore") / folder / name).is_dir()
    return importlib.import_module(f"{module}.plugin" if is_package else module)
