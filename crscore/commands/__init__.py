"""Subcommands: each is a module of this package or an entry point of another package.

The entry points are in the group `crscore.commands`. An entry point has the name of its command; in
the name of a subcommand, a dot joins the two words: `code.study` is `crscore code study`.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import re
from typing import Final

import click

from crscore.errors import DependencyError
from crscore.version import entry_points

GROUP: Final = "crscore.commands"
PACKAGE: Final = "crscore-lab"
INSTALL: Final = "pip install 'crscore[validate]'"
RESEARCH: Final = frozenset({"train", "validate", "code.study", "bench.judgements"})
"""Commands of `crscore-lab`. If that package is missing, each command says how to install it."""


# Matches `short_help="..."`, or the first line of the docstring of the function `command`.
_SUMMARY: Final = re.compile(
    r'short_help="(?P<short>[^"]+)"|^def command\([^"]*\) -> \w+:\n    """(?P<first>[^\n"]+)',
    re.MULTILINE,
)


def module_names() -> set[str]:
    """Return the names of the commands that are modules of this package."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return {name for name in names if not name.startswith("_")}


def summarize(name: str) -> str:
    """Return the summary of a command, read from the text of its module."""
    # For `crscore --help`, to import all commands would take 0.15 s, twice the time of the rest.
    module = _find(name).partition(":")[0]
    try:
        spec = importlib.util.find_spec(module) if module else None
        # The loader also reads from a ZIP file. An installation with only bytecode has no source.
        read_source = getattr(spec and spec.loader, "get_source", lambda _: None)
        if match := _SUMMARY.search(read_source(module) or ""):
            return match["short"] or match["first"]
        command = load_command(name)
    except (ImportError, AttributeError) as exc:  # the entry point is wrong
        return f"Cannot be loaded: {exc}"
    return command.get_short_help_str(limit=100) if command else ""


def _find(path: str) -> str:
    """Return the place where a command is defined, as `module:object`; "" for an unknown name."""
    is_module = path in module_names()
    return f"{__name__}.{path}:command" if is_module else entry_points(GROUP).get(path, "")


def command_names(parent: str = "") -> set[str]:
    """Return the subcommands that other packages add to a command, or to `crscore` for ""."""
    paths = RESEARCH.union(entry_points(GROUP))
    split = (path.rpartition(".") for path in paths)
    return {name for prefix, _, name in split if prefix == parent}


def load_command(path: str) -> click.Command | None:
    """Import a command.

    Args:
        path: Name of the command or of its entry point.

    Returns:
        The command; None for an unknown name. For a command of `crscore-lab`, if that package is
        not installed, a command that raises `DependencyError`.
    """
    if place := _find(path):
        existing: click.Command = pkgutil.resolve_name(place)
        return existing
    if path not in RESEARCH:
        return None

    @click.command(
        path.rpartition(".")[2],
        short_help=f"Not installed: {INSTALL}",
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )
    def command(**_options: object) -> None:
        raise DependencyError(PACKAGE, INSTALL)

    return command
