"""Versions, in a separate module so that any layer can read them."""

import contextlib
import functools
import sys
from pathlib import Path

__version__ = "0.1.0"


@functools.cache
def _installed() -> dict[str, str]:
    """Return the versions of the installed packages, by the names of their `.dist-info` folders."""
    folders = (folder for path in reversed(sys.path) for folder in Path(path).glob("*.dist-info"))
    parts = (folder.stem.rpartition("-") for folder in folders)
    return {name.lower().replace("-", "_"): version for name, _, version in parts}


def version_of(package: str) -> str:
    """Return the version of a package; empty if it is not installed.

    `importlib.metadata` reads the same names, but takes 20 ms to import:
    https://packaging.python.org/en/latest/specifications/recording-installed-packages/
    """
    if version := _installed().get(package.lower().replace("-", "_")):
        return version
    from importlib import metadata  # noqa: PLC0415  (an installation of another kind)

    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return ""
