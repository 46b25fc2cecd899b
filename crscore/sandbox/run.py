"""Runs tools on untrusted code; no other module starts their processes.

    run() -> _launch.py (drops privileges and remains the tool's parent) -> the tool

A tool reads untrusted code, and attackers have exploited tools to run such code. So each tool gets
a process group that it cannot leave. The group is always killed at the end, because a tool may have
left a child behind. Privileges are dropped by a separate program, `_launch.py`, and not between
fork and exec, because tools are started from threads, where Python code between fork and exec can
deadlock. `process_group.py` watches the limits on the whole group: output, and the number, memory
and disk space of the processes. This module watches the wall time.

A tool gets only the given environment, not the caller's. With Landlock (Linux), a tool can write
only to its folder and to the folders that HOME and TMPDIR name. If `Limits.readable` is given, a
tool can read only these folders and the paths of `Limits.readable`. On macOS, the network is not
denied, a process may leave the group, and neither the number nor the total memory of the processes
is limited. On Windows, no tool is run.
"""

import contextlib
import errno
import math
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from crscore.errors import ToolFailedError, ToolNotFoundError
from crscore.sandbox._launch import filter_program, has_landlock
from crscore.sandbox.process_group import Group, Watch, format_size, wait_until_gone

_LAUNCHER = Path(__file__).with_name("_launch.py")
_CHECK_INTERVAL_S = 0.05
"""Maximum seconds to wait for output before the limits are checked."""
# The kernel limits each process (RLIMIT_DATA). The sum over the group is checked every 0.05 to
# 0.25 s; the kernel's limit is higher, so that usually the check ends the tool and
# gives the reason.
_KERNEL_MEMORY_FACTOR = 2
"""Kernel's memory limit of each process, as a multiple of `Limits.memory_bytes`."""
_NOT_EXECUTABLE = frozenset(
    {errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EISDIR, errno.ELOOP}
)
"""Values of errno that mean that a program is missing or not executable."""
Completed = subprocess.CompletedProcess[bytes]
"""Exit code and output of a tool that ended by itself; the code may be any from 0 to 255."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Resource limits of a tool and of all processes that it starts."""

    seconds: float
    """Maximum wall-clock time in seconds, above 0."""
    memory_bytes: int
    """Maximum bytes of memory of all processes together; none of them gets more than twice that."""
    output_bytes: int
    """Maximum bytes of stdout and stderr together, and maximum growth of the writable folders."""
    processes: int
    """Maximum number of processes at once, at least 1."""
    readable: tuple[str, ...] = ()
    """Paths that the tool may read besides its writable folders; if empty, all paths."""


def run(
    command: Sequence[str],
    *,
    tool: str,
    folder: Path,
    environment: Mapping[str, str],
    limits: Limits,
    launcher: Path | None = None,
    secret: bytes = b"",
) -> Completed:
    """Run a tool without a shell and within limits, and wait for its end.

    When this function returns or raises, no process of the tool is left.

    Args:
        command: The program and its arguments; a name without a slash is looked up on the PATH of
            `environment`.
        tool: Name of the tool, for errors.
        folder: Absolute path of the tool's current folder.
        environment: All environment variables of the tool. HOME and TMPDIR, if given, are private
            folders that the tool may write to.
        limits: Resource limits.
        launcher: Python file that is run instead of `_launch.py`, with the same arguments.
        secret: Standard input of the launcher. The secret is neither on a command line nor in a
            file with a name. A `launcher` must keep the secret from untrusted code.

    Returns:
        Exit code and output of the tool.

    Raises:
        ToolNotFoundError: The program is missing or not executable.
        ToolFailedError: The tool exceeded a limit or was ended by a signal or `stop_all`; or no
            tool can be run on this system, or the tool could not be started for another reason,
            such as a command line that is too long.
    """
    if os.name != "posix":
        # Without process groups, the children of a tool could not be ended.
        raise ToolFailedError(tool, "cannot run safely on this system: use Linux, macOS or WSL")
    homes = filter(None, map(environment.get, ("HOME", "TMPDIR")))
    writable = (str(folder), *homes)
    watch = Watch(
        writable,
        processes=limits.processes,
        memory=limits.memory_bytes,
        written=limits.output_bytes,
    )
    # The kernel limits the processor time, in case this process hangs and does not check the wall
    # time. On N cores, the processor time of a tool grows up to N times faster than the wall time.
    seconds = math.ceil(limits.seconds) * (os.cpu_count() or 1) + 1
    # The kernel lets a file grow one byte beyond the limit, so that `check_written` sees the excess
    # and gives the reason.
    ceilings = (seconds, _KERNEL_MEMORY_FACTOR * limits.memory_bytes, limits.output_bytes + 1)
    readable = os.pathsep.join(limits.readable)
    locale = environment.get("LC_CTYPE", "")
    arguments = (str(launcher or _LAUNCHER), *map(str, ceilings), locale, readable, *writable, "--")
    try:
        with _start_launcher(arguments, command, folder, environment, secret) as group:
            failure = _follow(group, watch, limits)
            group.kill()
            before = -1
            # Read what is left in the pipes, until a round reads nothing.
            while group.printed != before and group.printed <= limits.output_bytes:
                before = group.printed
                for stream in group.output:
                    group.read_available(stream)
            status = group.read_status()
    except OSError as exc:  # command line too long, no such folder, too many processes
        reason = f"could not be started: {exc.strerror}"
        raise ToolFailedError(tool, reason) from exc
    stdout, stderr = (bytes(text) for text in group.output.values())
    # The tool may have exceeded a limit between the last check and its end.
    failure = failure or _check_output(group, limits) or watch.check_written()
    if group.stopped:
        failure = "was stopped"
    if status is not None and status[0] == b"refused" and int(status[1]) in _NOT_EXECUTABLE:
        raise ToolNotFoundError(tool, f"the program {command[0]} is missing or not executable")
    code, end_failure = _explain_end(status, group.process.returncode)
    failure = failure or end_failure
    if failure is not None:
        raise ToolFailedError(tool, failure)
    return Completed(command, code, stdout, stderr)


def stop_all() -> None:
    """Stop every running tool, in all threads.

    A caller that is interrupted calls this because its threads would otherwise wait for their
    tools. The calls of `run` in these threads raise `ToolFailedError`; later calls are not
    affected.
    """
    with _lock:
        for group in _groups:
            group.stopped = True
            group.kill()


def can_confine(platform: str = sys.platform, machine: str | None = None) -> bool:
    """Return whether this kind of system can deny the network to a tool, without starting one.

    `network_denied` finds out whether the system really does.

    Args:
        platform: Name of the system as in `sys.platform`.
        machine: Processor architecture as in `uname -m`; None for that of this machine.

    Example:
        >>> can_confine("linux", "x86_64"), can_confine("linux", "riscv64"), can_confine("win32")
        (True, False, False)
    """
    if platform != "linux":
        return False
    machine = os.uname().machine if machine is None else machine
    return sys.maxsize > 2**32 and filter_program(machine) is not None


# Only a test shows whether the network is denied, because a kernel may lack seccomp and a container
# may forbid it.
@cache
def network_denied() -> bool:
    """Return whether this machine really denies the network to a tool.

    The first call in a process starts a tool that tries to open a socket, which takes about 50 ms.
    Later calls return the same result.
    """
    code = "import _socket\ntry: _socket.socket(2, 1)\nexcept PermissionError: print('denied')"
    limits = Limits(seconds=20.0, memory_bytes=1 << 28, output_bytes=1 << 16, processes=4)
    with tempfile.TemporaryDirectory() as folder:
        try:
            completed = run(
                (sys.executable, "-I", "-S", "-c", code),
                tool="python",
                folder=Path(folder),
                environment={},
                limits=limits,
            )
        except (ToolFailedError, ToolNotFoundError):
            return False
    return completed.stdout.strip() == b"denied"


def can_run_code() -> bool:
    """Return whether `crscore code run` can deny its programs the network and other files."""
    return network_denied() and has_landlock()


_lock = threading.Lock()
_groups: set[Group] = set()
"""Process groups of the tools that run now; `stop_all` kills them."""


@contextlib.contextmanager
def _start_launcher(
    arguments: Sequence[str],
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    secret: bytes,
) -> Iterator[Group]:
    """Start the launcher with a command; when the `with` block ends, kill the whole group."""
    status, write_end = os.pipe()
    # With `-I`, Python ignores variables such as PYTHONPATH and the user's site-packages:
    # https://docs.python.org/3/using/cmdline.html#cmdoption-I
    python = (sys.executable, "-I", "-S", arguments[0], str(write_end), str(os.getpid()))
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, status)
        try:
            # The file has no name, so that no other process can open it and read the secret.
            secrets = stack.enter_context(tempfile.TemporaryFile())
            secrets.write(secret)
            secrets.seek(0)
            process = subprocess.Popen(  # noqa: S603  # no shell, and the launcher confines itself
                (*python, *arguments[1:], *command),
                cwd=folder,
                env=environment,
                stdin=secrets,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(write_end,),
                # The launcher leads its own group, which `killpg` ends with all descendants.
                start_new_session=True,
            )
        finally:
            os.close(write_end)
        group = Group(stack.enter_context(process), status)
        try:
            with _lock:
                _groups.add(group)
            yield group
        finally:
            # Kill the group before waiting for its leader: after the wait, the system may give the
            # group's number to another group.
            group.kill()
            with _lock:
                _groups.discard(group)
            process.wait()
            wait_until_gone(process.pid)


def _follow(group: Group, watch: Watch, limits: Limits) -> str | None:
    """Read the output of a tool until it ends or exceeds a limit.

    Returns:
        What the tool did, such as "took longer than 60 s", if it exceeded a limit; else None.
    """
    deadline = time.monotonic() + limits.seconds
    with selectors.DefaultSelector() as selector:
        for stream in (group.status, *group.output):
            selector.register(stream, selectors.EVENT_READ)
        while (now := time.monotonic()) < deadline:
            if (exceeded := watch.check(group.process.pid, now)) is not None:
                return exceeded
            for key, _ in selector.select(min(deadline - now, _CHECK_INTERVAL_S)):
                if key.fd == group.status:
                    return None
                group.read_available(key.fd)
            if (exceeded := _check_output(group, limits)) is not None:
                return exceeded
    return f"took longer than {limits.seconds:g} s"


def _explain_end(status: tuple[bytes, bytes] | None, launcher_code: int) -> tuple[int, str | None]:
    """Return the exit code of a tool and the reason why the tool failed.

    The reason is None if the tool ended by itself, with any exit code.
    """
    code = launcher_code
    if status is not None and status[0] == b"refused":
        return code, f"could not be started: {os.strerror(int(status[1]))}"
    if status is not None:
        code = os.waitstatus_to_exitcode(int(status[1]))
    elif code >= 0:
        return code, "could not be started"
    # A negative code is minus the number of the signal that ended the tool or, if it came from
    # outside, the launcher.
    if code < 0:
        try:
            return code, f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return code, f"was ended by signal {-code}"
    return code, None


def _check_output(group: Group, limits: Limits) -> str | None:
    """Return "printed more than ..." if the output exceeds its limit, else None."""
    allowed = limits.output_bytes
    return f"printed more than {format_size(allowed)}" if group.printed > allowed else None
