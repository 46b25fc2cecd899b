"""Lengths of functions and sizes of classes, counted by pylint 4.

pylint (GPL-2.0-or-later) runs as a separate program on copies without comments, in an otherwise
empty folder. Exit codes: a sum of bits, of which 32 is wrong usage; 1 is a file it could not read,
which `json2` names as a message. Output: `json2`.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from crscore.errors import DependencyError, ToolFailedError, ToolOutputError
from crscore.static_analysis.pyscent.rules import BY_PYLINT, Rule, Smell, smell
from crscore.static_analysis.pyscent.smells import is_record
from crscore.static_analysis.pyscent.source import Source, blocks, span

INSTALL: Final = "pip install 'crscore[analyzers]'"
_WRONG_USAGE: Final = 32
_MEASURE: Final = re.compile(r"\((\d+)/\d+\)")  # `Too many statements (63/50)`
_MESSAGE_END: Final = 400  # maximum characters of pylint's diagnostics in an error


class Count(NamedTuple):
    """Message of pylint."""

    rule: Rule
    """Rule whose limit is exceeded."""
    line: int
    """Line of the `def` or `class`."""
    measure: int
    """Number that it counted."""


class Counts(NamedTuple):
    """Messages of pylint on one file."""

    counts: tuple[Count, ...] = ()
    """One for each message about a limit."""
    failed: bool = False
    """Whether pylint could not read the file."""


def run_pylint(sources: Sequence[Source], folder: Path) -> tuple[Counts, ...]:
    """Run pylint on copies of the files.

    Args:
        sources: The files.
        folder: An empty folder for the copies.

    Returns:
        The messages on each file, in file order.

    Raises:
        DependencyError: pylint is not installed.
        ToolFailedError: pylint crashed or rejected its arguments.
        ToolOutputError: Its output cannot be read.
    """
    if find_spec("pylint") is None:
        raise DependencyError("pylint", INSTALL)
    names = [f"p{index:05}.py" for index in range(len(sources))]
    work = folder / "work"
    work.mkdir()
    for name, source in zip(names, sources, strict=True):
        (work / name).write_bytes(source.text.encode())
    settings = folder / "settings.toml"
    settings.touch()
    process = subprocess.run(  # noqa: S603
        [sys.executable, *_arguments(settings), *names],
        cwd=work,
        # pylint writes crash reports next to the copies, not to the home folder.
        env={**os.environ, "PYLINTHOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    code = process.returncode
    if code < 0 or code & _WRONG_USAGE:
        stderr_text = process.stderr.decode(errors="replace")[-_MESSAGE_END:]
        raise ToolFailedError("pylint", f"failed with exit code {code}", code, stderr_text)
    try:
        return _by_file(names, json.loads(process.stdout)["messages"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolOutputError("pylint", f"exit code {code}, {error}", code) from error


def _arguments(settings: Path) -> list[str]:
    return [
        # Isolated and with an empty settings file: the analysed code must not choose plugins or
        # options.
        *("-I", "-m", "pylint", f"--rcfile={settings}", "--output-format=json2"),
        *("--persistent=n", "--jobs=1", "--load-plugins="),
        # F and E0001 report a file that pylint cannot read.
        *("--disable=all", f"--enable=F,E0001,{','.join(BY_PYLINT)}"),
        *(f"{rule.option}={rule.limit}" for rule in BY_PYLINT.values()),
    ]


def _by_file(names: Sequence[str], messages: Iterable[dict[str, object]]) -> tuple[Counts, ...]:
    counts: dict[str, list[Count]] = {name: [] for name in names}
    failed = set()
    for message in messages:
        name = Path(str(message["path"])).name
        rule = BY_PYLINT.get(str(message["messageId"]))
        if rule is None:
            failed.add(name)
        else:
            match = _MEASURE.search(str(message["message"]))
            if match is None:
                raise ValueError(f"no count in {message['message']!r}")
            counts[name].append(Count(rule, int(str(message["line"])), int(match[1])))
    return tuple(Counts(tuple(counts[name]), name in failed) for name in names)


def counted(tree: ast.Module, counts: Iterable[Count], *, published: bool = False) -> list[Smell]:
    """Convert pylint's messages to findings.

    A record may have many attributes, since holding them is its purpose; the published tool makes
    no such exception.

    Args:
        tree: The file.
        counts: pylint's messages on it.
        published: Include records.

    Returns:
        One finding per message, at the lines of the function or class.
    """
    at = {
        (node.lineno, isinstance(node, ast.ClassDef)): (name, node) for name, node in blocks(tree)
    }
    smells = []
    for count in counts:
        name, node = at[count.line, count.rule.noun == "class"]
        is_exempt = isinstance(node, ast.ClassDef) and is_record(node) and not published
        if count.rule.id == "many-attributes" and is_exempt:
            continue
        smells.append(smell(count.rule.id, span(node), f"`{name}`", count.measure))
    return smells
