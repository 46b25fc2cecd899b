"""Loading the libraries of the baselines when, and only when, they are needed."""

from __future__ import annotations

import importlib
from importlib import metadata
from typing import TYPE_CHECKING

from crscore.errors import DependencyError

if TYPE_CHECKING:
    from types import ModuleType

INSTALL = "pip install 'crscore[validate]'"


def load(module: str, package: str) -> ModuleType:
    """Import a module of a library.

    Args:
        module: What to import.
        package: Its name in the package index, for the message.

    Raises:
        DependencyError: The library is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as exc:
        raise DependencyError(package, INSTALL) from exc


def version(package: str) -> str:
    """Name a library with its version: `sacrebleu 2.6.0`.

    Args:
        package: Its name in the package index.

    Raises:
        DependencyError: The library is not installed.
    """
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError as exc:
        raise DependencyError(package, INSTALL) from exc
