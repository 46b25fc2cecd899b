"""Versions and entry points of packages, in a separate module so that any layer can read them.

`importlib.metadata` reads the same files, but takes 20 to 60 ms to import:
https://packaging.python.org/en/latest/specifications/recording-installed-packages/
"""

import contextlib
import functools
import re
import sys
from collections.abc import Iterable
from pathlib import Path

__version__ = "0.1.0"

# `name = module` or `name = module : object`, maybe with `[extras]` behind
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
    from importlib import metadata  # noqa: PLC0415  (an installation of another kind)

    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return ""


@functools.cache
def entry_points(group: str) -> dict[str, str]:
    """Return what the installed packages declare for a group, as `module:object` by name.

    The object is empty if the module itself is meant, as in `module:`.
    """
    points: dict[str, str] = {}
    for text in _declarations(group):
        sections = re.split(r"(?m)^[ \t]*\[(.*)\][ \t]*$", text)
        body = dict(zip(sections[1::2], sections[2::2], strict=True)).get(group, "")
        for name, module, item in _POINT.findall(body):
            points.setdefault(name.rstrip(), f"{module}:{item}")
    return points


def _declarations(group: str) -> Iterable[str]:
    """Return what each package declares, as the text of `entry_points.txt`.

    Of two copies of a package, only the first on the path counts, even if it has no such file.
    """
    if any(Path(path).suffix == ".egg" or Path(path).is_file() for path in sys.path):
        from importlib import metadata  # noqa: PLC0415  (it also reads ZIP files and eggs)

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
