"""The package is importable where the modules and calls of POSIX are missing, as on Windows."""

from __future__ import annotations

import subprocess
import sys

IMPORT_ALL = """
import builtins, importlib, os, pkgutil, signal, sys
import asyncio, concurrent.futures.process, multiprocessing.popen_fork

MISSING = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
real = builtins.__import__

def windows(name, globals=None, *rest, **named):
    # Packages of others have versions for Windows of their own.
    if name in MISSING and str((globals or {}).get("__name__")).startswith("crscore"):
        raise ImportError(f"{name} is not there on Windows")
    return real(name, globals, *rest, **named)

builtins.__import__ = windows
for missing in ("fork", "getpgid", "getuid", "killpg", "setsid"):
    delattr(os, missing)
for missing in ("SIGKILL", "SIGPIPE", "SIGXFSZ", "SIGHUP"):
    delattr(signal, missing)
import crscore
bad = []
for module in pkgutil.walk_packages(crscore.__path__, "crscore."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except Exception as exc:
        bad.append(f"{module.name}: {exc!r}")
print("\\n".join(bad))
"""


def imported(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_module_is_importable_without_posix() -> None:
    assert imported(IMPORT_ALL) == ""
