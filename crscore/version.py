"""Versions and entry points of packages, in a separate module so that any layer can read them.

`importlib.metadata` reads the same files, but takes 20 to 60 ms to import:
https://packaging.python.org/en/latest/specifications/recording-installed-packages/
"""

import contextlib
import functools
import re
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
    """Return the version of a package; empty if it is not installed."""
    if version := _installed().get(package.lower().replace("-", "_")):
        return version
    from importlib import metadata  # noqa: PLC0415  (an installation of another kind)

    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return ""


@functools.cache
def entry_points(group: str) -> dict[str, str]:
    """Return what the installed packages declare for a group, as `module:object` by name."""
    points: dict[str, str] = {}
    for path in reversed(sys.path):
        for file in Path(path).glob("*.*-info/entry_points.txt"):
            with contextlib.suppress(OSError):
                section = file.read_text("utf-8").partition(f"[{group}]\n")[2].partition("\n[")[0]
                points |= re.findall(r"(?m)^([\w.-]+)\s*=\s*([\w.:]+)", section)
    return points
