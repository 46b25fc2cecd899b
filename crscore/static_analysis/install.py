"""Installing the tools of npm: exact versions by hash, no install scripts, into one folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crscore.errors import ToolFailedError, ToolNotFoundError

if TYPE_CHECKING:
    from crscore.static_analysis.analyzer import Analyzer

LOCK = "package-lock.json"
PACKAGE = "package.json"
_COMMAND = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_SECONDS = 600


def is_of_npm(one: Analyzer) -> bool:
    """Say whether a tool comes from npm: its folder has a lock file then."""
    return (one.folder / LOCK).is_file()


def install(one: Analyzer, tools: Path) -> Path:
    """Install a tool of npm, or replace it.

    The lock file names the hash of every package, and no package runs a script while it is
    installed. The folder appears when everything is in it.

    Args:
        one: A tool with a lock file.
        tools: The folder with a folder for each tool.

    Returns:
        The tool's folder.

    Raises:
        ToolNotFoundError: There is no npm.
        ToolFailedError: npm failed, or the folder cannot be written.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise ToolNotFoundError("npm", "Node.js 20 or later, from your system or nodejs.org")
    target = tools / one.name
    try:
        tools.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=tools, prefix=f".{one.name}-") as folder:
            made = Path(folder) / "made"
            made.mkdir()
            for name in (PACKAGE, LOCK):
                shutil.copyfile(one.folder / name, made / name)
            _run([npm, *_COMMAND], made, one.name)
            if target.exists():
                target.rename(Path(folder) / "replaced")
            made.rename(target)
    except OSError as exc:
        raise ToolFailedError(one.name, f"cannot be put into {target}: {exc.strerror}") from exc
    return target


def _run(command: list[str], folder: Path, name: str) -> None:
    # Not in the sandbox: npm has to reach the registry that the user's own settings name.
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments
            command,
            cwd=folder,
            env=dict(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise ToolFailedError(name, f"was not installed within {_SECONDS} s") from exc
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", errors="replace").strip()
        last = said.splitlines()[-1] if said else "npm says nothing"
        raise ToolFailedError(
            name, f"could not be installed: {last}", done.returncode, said[-2000:]
        )
