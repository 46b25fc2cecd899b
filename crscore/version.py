"""Versions and entry points of installed packages, which modules of every layer read.

The files are read here, because `importlib.metadata` takes 20 to 60 ms to import. Their format:
https://packaging.python.org/en/latest/specifications/recording-installed-packages/
"""

import contextlib
import functools
import re
import sys
from collections.abc import Iterable
from pathlib import Path

__version__ = "0.1.0"

# Matches `name = module` and `name = module : object`, which `[extras]` may follow.
_POINT = re.compile(
    r"^[ \t]*([^\s=#][^=\n]*+)=[ \t]*([\w.]+)(?:[ \t]*:[ \t]*([\w.]+))?", re.MULTILINE
)


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
    from importlib import metadata  # noqa: PLC0415  (slow; finds other kinds of installation)

    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return ""


@functools.cache
def entry_points(group: str) -> dict[str, str]:
    """Return the entry points of a group: name -> `module:object`.

    The object is empty if the entry point is the module itself: `module:`.
    """
    points: dict[str, str] = {}
    for text in _read_declarations(group):
        sections = re.split(r"(?m)^[ \t]*\[(.*)\][ \t]*$", text)
        body = dict(zip(sections[1::2], sections[2::2], strict=True)).get(group, "")
        for name, module, item in _POINT.findall(body):
            points.setdefault(name.rstrip(), f"{module}:{item}")
    return points


def _read_declarations(group: str) -> Iterable[str]:
    """Return the text of each package's `entry_points.txt`; "" for a package without this file.

    If the path has two copies of a package, only the first one counts, even without the file.
    """
    if any(Path(path).suffix == ".egg" or Path(path).is_file() for path in sys.path):
        from importlib import metadata  # noqa: PLC0415  (slow; also reads ZIP files and eggs)

        points = metadata.entry_points(group=group)
        return [f"[{group}]\n{point.name} = {point.value}" for point in points]
    texts: dict[str, str] = {}
    for path in sys.path:
        for folder in Path(path).glob("*.*-info"):
            package = re.sub(r"[-_.]+", "_", folder.stem.partition("-")[0]).lower()
            if package not in texts:
                texts[package] = ""
                with contextlib.suppress(OSError):
                    texts[package] = (folder / "entry_points.txt").read_text("utf-8")
    return texts.values()
