"""Run a module as a user without rights; as root, in a process that drops them.

python -m tests.helpers.ordinary_user [--no-namespaces] MODULE [ARGUMENT...]
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

NOBODY = 65534
_ROOT = Path(__file__).parents[2]
_NEW_MOUNTS, _NEW_USERS, _BIND, _PRIVATE = 0x20000, 0x10000000, 0x1000, 0x44000


def run_module(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module of this checkout with its arguments as an ordinary user."""
    return subprocess.run(
        (sys.executable, "-m", __name__, *arguments),
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def _drop_rights(*, namespaces: bool) -> None:
    """Become `nobody`, to whom the folders of the interpreter and of the checkout are opened.

    Without `namespaces`, that user can make none, as in most containers.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    paths = (sys.base_prefix, sys.prefix, str(_ROOT))
    closed = {_closed_parent(Path(path)) for path in paths} - {None}
    if closed and libc.unshare(_NEW_MOUNTS) != 0:
        sys.exit("the interpreter cannot be shown to another user here")
    if closed:
        libc.mount(b"none", b"/", None, _PRIVATE, None)
    opened = [os.open(path, os.O_PATH) for path in paths]
    for parent in closed:
        libc.mount(b"tmpfs", os.fsencode(parent), b"tmpfs", 0, b"mode=755")
    for path, descriptor in zip(paths, opened, strict=True):
        if not Path(path).exists():
            Path(path).mkdir(parents=True)
            libc.mount(b"/proc/self/fd/%d" % descriptor, path.encode(), None, _BIND, None)
        os.close(descriptor)
    os.setgroups([])
    if not namespaces:
        reading, writing = os.pipe()
        process = os.getpid()
        if (writer := os.fork()) == 0:  # only a process outside may map two users
            os.read(reading, 1)
            for name in ("uid_map", "gid_map"):
                Path(f"/proc/{process}/{name}").write_text(f"0 0 1\n{NOBODY} {NOBODY} 1")
            os._exit(0)
        libc.unshare(_NEW_USERS)
        os.write(writing, b"x")
        os.waitpid(writer, 0)
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def _closed_parent(path: Path) -> Path | None:
    """Return the outermost folder of a path that other users cannot enter."""
    parents = [path, *path.parents][::-1]
    return next((parent for parent in parents if not parent.stat().st_mode & 1), None)


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--no-namespaces"]
    if os.geteuid() == 0:
        _drop_rights(namespaces=arguments == sys.argv[1:])
    os.environ.update(HOME="/nonexistent", PYTHONDONTWRITEBYTECODE="1")
    os.execv(sys.executable, (sys.executable, "-m", *arguments))
