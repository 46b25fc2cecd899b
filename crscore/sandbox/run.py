"""Runs tools on untrusted code; the only module that starts their processes.

    run() -> _launch.py -> the tool
             drops privileges, stays its parent

A tool reads untrusted code, and tools have been exploited to run such code. So each tool gets a
process group that it cannot leave. The group is always killed at the end, because a finished tool
may have left a child. `_launch.py` restricts the process in a separate program rather than between
fork and exec, where Python code is not safe, because tools are started from threads. Limits on the
whole group are watched (`process_group.py`): wall time, output, and the number, memory and disk
space of the processes.

A tool gets only the given environment, not the caller's. With Landlock (Linux) it can write
only in its folder and in the folders that HOME and TMPDIR name. If `Limits.readable` is given, it
can read only in those folders and in the paths of `Limits.readable`. On macOS the network is not
denied, a process may leave the group, and neither the number nor the total memory of the processes
is limited. On Windows nothing is run.
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
from crscore.sandbox.process_group import Group, Watch, size, wait_for_rest

_LAUNCHER = Path(__file__).with_name("_launch.py")
_CHECK_INTERVAL_S = 0.05
"""Maximum seconds to wait for an event before the limits are checked."""
# RLIMIT_DATA applies to each process; the sum over the group is checked every 0.05 to 0.25 s.
_KERNEL_MEMORY_FACTOR = 2
"""Kernel's memory limit as a multiple of `Limits.memory_bytes`: memory may grow between checks."""
_NOT_EXECUTABLE = frozenset(
    {errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EISDIR, errno.ELOOP}
)
"""System errors for a program that is missing or not executable."""
Completed = subprocess.CompletedProcess[bytes]
"""Exit code and all output of a tool that ended by itself. The caller decides about the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Resource limits of a tool."""

    seconds: float
    """Maximum wall-clock time in seconds, above 0."""
    memory_bytes: int
    """Maximum memory of all its processes in bytes; a single one never exceeds twice the limit."""
    output_bytes: int
    """Maximum bytes of stdout and stderr together, and also of disk space in writable folders."""
    processes: int
    """Maximum number of processes at once, at least 1."""
    readable: tuple[str, ...] = ()
    """Paths outside of its folders that it may read; empty for the entire file system."""


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
    """Run a tool to its end, without a shell, within limits.

    No process of the tool remains when this returns or raises.

    Args:
        command: The program and its arguments; a name without a slash is searched on the PATH of
            `environment`.
        tool: Name of the tool, for errors.
        folder: Current folder of the tool, absolute.
        environment: All variables of the tool. HOME and TMPDIR are private folders that it may
            write.
        limits: Resource limits.
        launcher: Program that takes the arguments of `_launch.py` in its place.
        secret: Standard input of the launcher; it is never on a command line or in a named file.
            Launchers other than `_launch.py` must keep it from untrusted code.

    Returns:
        Exit code and output of the tool.

    Raises:
        ToolNotFoundError: The program is missing or not executable.
        ToolFailedError: The tool exceeded a limit, was killed by a signal, or could not be started
            for another reason, such as a command line too long for the system.
    """
    if os.name != "posix":
        # Without process groups, nothing could end the children of a tool.
        raise ToolFailedError(tool, "cannot be limited on this system: use Linux, macOS or WSL")
    homes = filter(None, map(environment.get, ("HOME", "TMPDIR")))
    writable = (str(folder), *homes)
    watch = Watch(
        writable,
        processes=limits.processes,
        memory=limits.memory_bytes,
        written=limits.output_bytes,
    )
    # In case `Watch` fails, the kernel limits the processor time, which adds up over all cores.
    seconds = math.ceil(limits.seconds) * (os.cpu_count() or 1) + 1
    # A file may have one byte too many, so that `too_much_written` finds it and gives the reason.
    sizes = (seconds, _KERNEL_MEMORY_FACTOR * limits.memory_bytes, limits.output_bytes + 1)
    readable = os.pathsep.join(limits.readable)
    locale = environment.get("LC_CTYPE", "")
    arguments = (str(launcher or _LAUNCHER), *map(str, sizes), locale, readable, *writable, "--")
    try:
        with _started(arguments, command, folder, environment, secret) as group:
            exceeded = _follow(group, watch, limits)
            group.kill()
            before = -1
            # Read the rest of the pipes; later output is discarded.
            while group.printed != before and group.printed <= limits.output_bytes:
                before = group.printed
                for stream in group.output:
                    group.read(stream)
            status = group.read_status()
    except OSError as exc:  # a command line too long, no folder, no process left
        reason = f"could not be started: {exc.strerror}"
        raise ToolFailedError(tool, reason) from exc
    stdout, stderr = (bytes(text) for text in group.output.values())
    # The tool may also have exceeded a limit between the last check and its end.
    exceeded = exceeded or _over(group, limits) or watch.too_much_written()
    if group.stopped:
        exceeded = "was stopped"
    if status is not None and status[0] == b"refused" and int(status[1]) in _NOT_EXECUTABLE:
        raise ToolNotFoundError(tool, command[0])
    code, failure = _end(status, group.process.returncode)
    exceeded = exceeded or failure
    if exceeded is not None:
        raise ToolFailedError(tool, exceeded)
    return Completed(command, code, stdout, stderr)


def stop_all() -> None:
    """Stop every running tool, in all threads.

    This is for a caller that is interrupted while its threads wait for tools. The runs raise
    `ToolFailedError`; runs that start later are not affected.
    """
    with _lock:
        for group in _groups:
            group.stopped = True
            group.kill()


def can_confine(platform: str = sys.platform, machine: str | None = None) -> bool:
    """Return whether a system should be able to deny the network to a tool, without trying it.

    Args:
        platform: Name of the system as in `sys.platform`.
        machine: Processor as in `uname -m`; None for this machine's.

    Example:
        >>> can_confine("linux", "x86_64"), can_confine("linux", "riscv64"), can_confine("win32")
        (True, False, False)
    """
    if platform != "linux":
        return False
    machine = os.uname().machine if machine is None else machine
    return sys.maxsize > 2**32 and filter_program(machine) is not None


# A tool is started to find out, because a kernel may lack seccomp and a container may forbid it.
@cache
def network_denied() -> bool:
    """Return whether this platform can deny the network to a tool.

    A tool tries to open a socket, which takes about 50 ms; this is done once per process.

    Returns:
        True when it is denied.
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
    """Return whether programs of `crscore code run` can be kept from the network and from files."""
    return network_denied() and has_landlock()


_lock = threading.Lock()
_groups: set[Group] = set()
"""Running groups, for `stop_all`."""


@contextlib.contextmanager
def _started(
    arguments: Sequence[str],
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    secret: bytes,
) -> Iterator[Group]:
    """Start the launcher; at the end, kill its whole group."""
    status, write_end = os.pipe()
    # With `-I`, Python ignores variables such as PYTHONPATH, and the user's packages:
    # https://docs.python.org/3/using/cmdline.html#cmdoption-I
    python = (sys.executable, "-I", "-S", arguments[0], str(write_end), str(os.getpid()))
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, status)
        try:
            # The secret is in a file without a name, so that no other process can open it.
            secrets = stack.enter_context(tempfile.TemporaryFile())
            secrets.write(secret)
            secrets.seek(0)
            process = subprocess.Popen(  # noqa: S603  # no shell, and it confines itself
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
            # The group is killed before its leader is waited for: until then, no other group can
            # get its number.
            group.kill()
            with _lock:
                _groups.discard(group)
            process.wait()
            wait_for_rest(process.pid)


def _follow(group: Group, watch: Watch, limits: Limits) -> str | None:
    """Read the output of a tool until it ends.

    Returns:
        The exceeded limit; None when it ended by itself.
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
                group.read(key.fd)
            if (exceeded := _over(group, limits)) is not None:
                return exceeded
    return f"took longer than {limits.seconds:g} s"


def _end(status: tuple[bytes, bytes] | None, launcher_code: int) -> tuple[int, str | None]:
    """Return the exit code of a tool, and why it failed: None if it ended by itself."""
    code = launcher_code
    if status is not None and status[0] == b"refused":
        return code, f"could not be started: {os.strerror(int(status[1]))}"
    if status is not None:
        code = os.waitstatus_to_exitcode(int(status[1]))
    elif code >= 0:
        return code, "could not be started"
    # The launcher itself can be killed from outside.
    if code < 0:
        try:
            return code, f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return code, f"was ended by signal {-code}"
    return code, None


def _over(group: Group, limits: Limits) -> str | None:
    """Return the reason if the output exceeds its limit, else None."""
    allowed = limits.output_bytes
    return f"printed more than {size(allowed)}" if group.printed > allowed else None
