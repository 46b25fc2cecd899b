"""Runs the commands of one program in the sandbox."""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from crscore.sandbox.run import Completed, Limits, run

MEMORY_BYTES: Final = 1 << 30
OUTPUT_BYTES: Final = 1 << 22
MAX_PROCESSES: Final = 64
# Nix and Guix keep programs and libraries in `/nix/store` and `/gnu/store`.
_SYSTEM_FOLDERS: Final = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
# These are read by the dynamic loader, `datetime`, Debian's Java, and Node.js and `ssl`.
_SYSTEM_FILES: Final = ("ld.so.cache", "ld.so.conf*", "localtime", "java*", "ssl/openssl.cnf")
"""Patterns of files below `/etc` that a program may read."""
_DEVICES: Final = ("/dev/zero", "/dev/random", "/dev/urandom")
_ENVIRONMENT: Final = ("PATH", "LANG", "LC_ALL", "JAVA_HOME")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Private folder and time limit of a program."""

    folder: Path
    seconds: float
    """Maximum wall time of a command, in seconds."""

    def run(
        self,
        *command: str,
        tool: str,
        seconds: float | None = None,
        launcher: Path | None = None,
        secret: bytes = b"",
    ) -> Completed:
        """Run a command in the sandbox.

        Args:
            *command: The program and its arguments.
            tool: Name of the program in errors.
            seconds: Maximum wall time; None for the limit of the box.
            launcher: See `crscore.sandbox.run.run`.
            secret: See `crscore.sandbox.run.run`.

        Raises:
            ToolNotFoundError: The program is missing.
            ToolFailedError: The program exceeded a limit, or was killed.
        """
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        home = str(self.folder)
        return run(
            command,
            tool=tool,
            folder=self.folder,
            environment={**environment, "HOME": home, "TMPDIR": home, "OMP_NUM_THREADS": "1"},
            limits=Limits(
                seconds=seconds or self.seconds,
                memory_bytes=MEMORY_BYTES,
                output_bytes=OUTPUT_BYTES,
                processes=MAX_PROCESSES,
                readable=_readable_paths(),
            ),
            launcher=launcher,
            secret=secret,
        )


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder for a program, and in the end remove it with everything in it."""
    folder = Path(tempfile.mkdtemp(prefix="crscore-"))
    try:
        yield folder
    finally:
        # `shutil.rmtree` fails for folders nested more deeply than Python can recurse, and a path
        # may be longer than the system accepts: https://github.com/python/cpython/issues/89727
        # So nested folders are moved to the top first.
        pending = [folder]
        while pending:
            current = pending.pop()
            with contextlib.suppress(OSError), os.scandir(current) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        if not entry.is_dir(follow_symlinks=False):
                            Path(entry.path).unlink()
                            continue
                        Path(entry.path).chmod(0o700)
                        moved = folder / secrets.token_hex()
                        Path(entry.path).rename(moved)
                        pending.append(moved)
            if current != folder:
                with contextlib.suppress(OSError):
                    current.rmdir()
        with contextlib.suppress(OSError):
            folder.rmdir()


@cache
def _readable_paths() -> tuple[str, ...]:
    """Return the paths that programs and their tools may read, apart from their own folders."""
    programs = (shutil.which(name) for name in ("g++", "java", "javac", "node"))
    # `/opt/node/bin/node` needs the libraries below `/opt/node`.
    installed = {_installation(Path(program).resolve()) for program in programs if program}
    interpreter = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    files = (str(path) for pattern in _SYSTEM_FILES for path in Path("/etc").glob(pattern))
    return (*_SYSTEM_FOLDERS, *sorted(installed | interpreter), *_DEVICES, *files)


def _installation(program: Path) -> str:
    """Return the folder of an installed program.

    If the folder is `~/.local` or contains the user's home, return only the program.
    """
    folder = program.parent.parent
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  (a user may have none)
    return str(program if home.is_relative_to(folder) or folder == home / ".local" else folder)
