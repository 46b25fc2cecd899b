"""Subcommands: each is a module of this package, or an entry point of another distribution.

The entry points are in the group `crscore.commands`. Each is named after its command; a dot
separates a command from its subcommand: `code.study` is `crscore code study`.
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
"""Commands of `crscore-lab`. If that package is missing, each one says how to install it."""


# `short_help="..."`, or else the first line of the docstring of `command`
_SUMMARY: Final = re.compile(
    r'short_help="(?P<short>[^"]+)"|^def command\([^"]*\) -> \w+:\n    """(?P<first>[^\n"]+)',
    re.MULTILINE,
)


def module_names() -> set[str]:
    """Return the names of the commands that this package has."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return {name for name in names if not name.startswith("_")}


def summarize(name: str) -> str:
    """Return the summary of a command, read from the text of its module."""
    # Importing all commands takes 0.15 s (`crscore --help`), twice the time of everything else.
    module = _find(name).partition(":")[0]
    try:
        spec = importlib.util.find_spec(module) if module else None
        # The loader also reads from a ZIP file. An installation of bytecode alone has no source.
        read_source = getattr(spec and spec.loader, "get_source", lambda _: None)
        if match := _SUMMARY.search(read_source(module) or ""):
            return match["short"] or match["first"]
        command = load_command(name)
    except (ImportError, AttributeError) as exc:  # what an entry point names is gone
        return f"Cannot be loaded: {exc}"
    return command.get_short_help_str(limit=100) if command else ""


def _find(path: str) -> str:
    """Return where a command is defined, as `module:object`; empty for an unknown name."""
    is_own = path in module_names()
    return f"{__name__}.{path}:command" if is_own else entry_points(GROUP).get(path, "")


def command_names(parent: str = "") -> set[str]:
    """Return the subcommands that other packages add to a command; "" is `crscore` itself."""
    paths = RESEARCH.union(entry_points(GROUP))
    split = (path.rpartition(".") for path in paths)
    return {name for prefix, _, name in split if prefix == parent}


def load_command(path: str) -> click.Command | None:
    """Import a command.

    Args:
        path: Name of the command, or of its entry point.

    Returns:
        The command; None for an unknown name. If `crscore-lab` is not installed, its commands are
        replaced by one that raises `DependencyError`.
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
