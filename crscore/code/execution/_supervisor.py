"""Two processes in one sandbox: the tests, and the program that they test.

    the tests <- values as text -> the program (no other open file, its own Landlock domain)
        stderr -> this process: the result as one line of JSON on stdout

Started by its path inside the sandbox, so it imports nothing of the package but `_launch.py`, by
its path too. The tests never share a process with the program: whatever it changes, prints or ends
concerns its own process, and the tests pass where theirs exits with 0. The second Landlock domain
keeps the program from the memory, the open files and the folder of the tests, and on Linux 6.12 and
later from sending them signals. Where the kernel cannot do that, nothing is run.

Lines that the tests print to stderr before they begin: `ready` when all that they need is in
memory, after which their folder is deleted and the program is started; `started` when the program
has answered, from which the time is counted.

Arguments: path of `_launch.py`, seconds for starting, seconds for the tests, folder of the tests,
folder of the program, `--`, the command of the tests, `--`, the command of the program.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time

UNCONFINED = "unconfined"
"""Result where the kernel does not keep a program from its tests."""

_PR_SET_DUMPABLE = 4
_IN, _OUT = 3, 4
"""Descriptors of the channel, in both processes."""
_KEPT = 2_000
"""Characters kept of what the tests print last."""


class _Over(Exception):  # noqa: N818  (a limit, not an error)
    """Raised when the time is over, or the tests ended."""


class _Errors:
    """What the tests print to stderr."""

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.text = b""

    def read(self, until: float) -> bool:
        """Read more; return False at the end."""
        left = until - time.monotonic()
        if left <= 0 or not select.select([self.stream], [], [], left)[0]:
            raise _Over("timed out")
        more = os.read(self.stream, 1 << 16)
        self.text = (self.text + more)[-4 * _KEPT :]
        return bool(more)

    def wait_for(self, line: bytes, until: float) -> None:
        """Read until the text begins with a line, and remove it."""
        while not self.text.startswith(line + b"\n"):
            if not self.read(until):
                raise _Over("failed: " + self.end())
        self.text = self.text[len(line) + 1 :]

    def end(self) -> str:
        """Return the last of it that fits."""
        text = self.text.decode("utf-8", "replace").strip()
        return text[-_KEPT:] or "the tests ended"


def main(arguments: list[str]) -> None:
    """Run the tests of one program."""
    launch, start_s, seconds, tests_folder, program_folder, _, *commands = arguments
    dashes = commands.index("--")
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    to_tests, to_program, said = os.pipe(), os.pipe(), os.pipe()
    tests = os.fork()
    if tests == 0:
        _become(commands[:dashes], tests_folder, to_tests[0], to_program[1], said[1])
    errors = _Errors(said[0])
    os.close(said[1])
    try:
        errors.wait_for(b"ready", time.monotonic() + float(start_s))
        _delete(tests_folder)
        supervisor = os.getpid()
        confined = os.pipe()
        if os.fork() == 0:
            if not _leave(launch, supervisor, tests, program_folder):
                os.write(confined[1], b"no")
                os._exit(1)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            command = commands[dashes + 1 :]
            _become(command, program_folder, to_program[0], to_tests[1], nowhere)
        for end in (*to_tests, *to_program, confined[1]):
            os.close(end)
        if os.read(confined[0], 2):  # nothing where the command took over
            raise _Over(UNCONFINED)
        errors.wait_for(b"started", time.monotonic() + float(start_s))
        until = time.monotonic() + float(seconds)
        while errors.read(until):
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(tests, 0)[1])
        result = "passed" if status == 0 else f"failed: {errors.end()}"
    except _Over as exc:
        result = str(exc)
    os.write(1, json.dumps({"result": result}).encode() + b"\n")
    os._exit(0)


def _leave(launch: str, caller: int, tests: int, folder: str) -> bool:
    """Enter a domain of its own, and return whether that keeps it from the tests."""
    sys.path.insert(0, os.path.dirname(launch))  # noqa: PTH120  (pathlib would be slow to import)
    import _launch  # type: ignore[import-not-found]  # noqa: PLC0415

    _launch._confine(caller, [folder])
    try:
        os.open(f"/proc/{tests}/mem", os.O_RDONLY)
    except PermissionError:
        return True
    return False


def _become(command: list[str], folder: str, source: int, sink: int, errors: int) -> None:
    """Become a command with the channel, and with no other open file."""
    # Away from the numbers that they get, in whatever order these are.
    source, sink, errors = (os.dup2(one, 100 + at) for at, one in enumerate((source, sink, errors)))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for old, new in ((errors, 1), (errors, 2), (source, _IN), (sink, _OUT)):
        os.dup2(old, new)
    os.closerange(_OUT + 1, 1024)
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    try:
        os.execvp(command[0], command)  # noqa: S606  (there is no shell on purpose)
    finally:
        os._exit(127)


def _delete(folder: str) -> None:
    for place, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(place, name))  # noqa: PTH108, PTH118  (as above)
        for name in folders:
            os.rmdir(os.path.join(place, name))  # noqa: PTH106, PTH118


if __name__ == "__main__":
    main(sys.argv[1:])
