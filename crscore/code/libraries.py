"""Imports the optional libraries of the metrics."""

import importlib
from importlib import metadata
from types import ModuleType
from typing import Final

from crscore.errors import DependencyError, requires

INSTALL: Final = "pip install 'crscore[code]'"


def load(module: str, package: str, install: str = INSTALL) -> ModuleType:
    """Import a module of a library.

    Args:
        module: Module to import.
        package: Name of the library in the package index, for the message.
        install: Command that installs the library.

    Raises:
        DependencyError: The library is not installed.
    """
    with requires(package, install):
        return importlib.import_module(module)


def version(package: str, install: str = INSTALL) -> str:
    """Return a library's name and version: `sacrebleu 2.6.0`.

    Args:
        package: Name of the library in the package index.
        install: Command that installs the library.

    Raises:
        DependencyError: The library is not installed.
    """
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError as exc:
        raise DependencyError(package, install) from exc
