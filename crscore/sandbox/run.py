"""The only place that starts a process: a tool, on code that nobody has vouched for.

    run() -> _launch.py -> the tool
             gives up rights, stays as its parent

A tool reads what a stranger wrote, and tools have been made to run it. So each one
gets a process group of its own, which it cannot leave, and which is killed when
the run ends, however it ends: a tool that was done may still have left a child.
What a process may do is set by `_launch.py`, in a small program of its own and not
between fork and exec: tools are started from threads, where Python cannot safely
run. What only shows over a whole group is watched (`process_group.py`): wall time, output,
the number of processes, their memory and the space they take on disk.

A tool sees the environment it is given and nothing of the caller's. With Landlock
(Linux) it can write only in its folder and in the folders that HOME and TMPDIR
name. On macOS the network is not denied, a process may leave the group, and they are
neither counted nor added up; on Windows only time and output are limited.
"""

from __future__ import annotations

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
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from crscore.errors import AnalyzerError, ToolFailedError, ToolNotFoundError
from crscore.sandbox.process_group import Group, Watch, size, wait_for_rest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LAUNCHER = Path(__file__).with_name("_launch.py")
_TICK = 0.05
"""Seconds to wait for something to happen before the limits are looked at."""
_SPARE = 2
"""The kernel's limit of memory, in units of ours: behind it, for growth between two looks."""
_STDERR_KEPT = 4000
"""Characters of a failed tool's diagnostics that are kept."""
_MISSING = frozenset(
    {errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EISDIR, errno.ELOOP}
)
"""Errors of the system for a program that is not there or is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The resources that a tool may use."""

    seconds: float
    """Wall time, above 0."""
    memory_bytes: int
    """Memory that all its processes together hold, in bytes; a single one never twice as much."""
    output_bytes: int
    """Bytes of stdout and stderr together, and as many on disk in the folders it may write."""
    processes: int
    """Processes at once, at least 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A tool that came to an end by itself."""

    code: int
    """Its exit code; the caller knows which ones are fine."""
    stdout: bytes
    """All of it."""
    stderr: bytes
    """All of it."""


def run(
    command: Sequence[str],
    *,
    tool: str,
    folder: Path,
    environment: Mapping[str, str],
    limits: Limits,
) -> Completed:
    """Run a tool to its end, without a shell, without input, within limits.

    No process of it is left when this returns or raises, whatever it raises.

    Args:
        command: The program and its arguments; a name without a slash is looked for on
            the PATH of `environment`.
        tool: Its name, for errors.
        folder: Its current folder, absolute.
        environment: All variables it gets. HOME and TMPDIR name folders for it alone: it
            may write there.
        limits: What it may use up.

    Returns:
        Its exit code and output.

    Raises:
        ToolNotFoundError: The program is not there, or the file is no program.
        ToolFailedError: It exceeded a limit, was ended by a signal, or could not be started
            for another reason, such as a command line too long for the system.
    """
    job = _Job(tuple(command), tool, folder, environment, limits)
    return _confined(job) if os.name == "posix" else _timed(job)


def stop_all() -> None:
    """End every tool that runs, whichever thread waits for it.

    For a caller that is interrupted while its threads wait for tools. The runs raise
    `ToolFailedError`; runs that start later are not affected.
    """
    with _lock:
        for group in _groups:
            group.stopped = True
            group.kill()


@cache
def network_denied() -> bool:
    """Find out whether this platform lets us deny the network to a tool.

    It is tried, once in a process: a tool that wants to open a socket, about 50 ms.

    Returns:
        True when it is denied.
    """
    wish = "import _socket\ntry: _socket.socket(2, 1)\nexcept PermissionError: print('denied')"
    few = Limits(seconds=20.0, memory_bytes=1 << 28, output_bytes=1 << 16, processes=4)
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = run(
                (sys.executable, "-I", "-S", "-c", wish),
                tool="python",
                folder=Path(folder),
                environment={},
                limits=few,
            )
        except AnalyzerError:
            return False
    return done.stdout.strip() == b"denied"


class _Job(NamedTuple):
    """The arguments of `run`."""

    command: tuple[str, ...]
    tool: str
    folder: Path
    environment: Mapping[str, str]
    limits: Limits

    @property
    def private(self) -> tuple[str, ...]:
        """The folders that the tool may write."""
        named = (self.environment.get(name) for name in ("HOME", "TMPDIR"))
        return (str(self.folder), *filter(None, named))

    @property
    def rights(self) -> tuple[str, ...]:
        """The rights of the tool, as the launcher reads them."""
        # Only for the case that nobody is left to look at the clock; threads add up.
        seconds = math.ceil(self.limits.seconds) * (os.cpu_count() or 1) + 1
        sizes = (seconds, _SPARE * self.limits.memory_bytes, self.limits.output_bytes + 1)
        return (*map(str, sizes), self.environment.get("LC_CTYPE", ""), *self.private, "--")

    def over(self, printed: int) -> str | None:
        """Return the reason when it printed too much."""
        allowed = self.limits.output_bytes
        return f"printed more than {size(allowed)}" if printed > allowed else None

    def failed(self, reason: str, stderr: bytes) -> ToolFailedError:
        """Make the error that ends the run."""
        return ToolFailedError(
            self.tool, reason, None, stderr.decode("utf-8", "replace")[-_STDERR_KEPT:]
        )

    def not_started(self, number: int) -> AnalyzerError:
        """Make the error for a program that the system refused to start."""
        if number in _MISSING:
            return ToolNotFoundError(self.tool, self.command[0])
        return self.failed(f"could not be started: {os.strerror(number)}", b"")


_lock = threading.Lock()
_groups: set[Group] = set()
"""The ones that run, for `stop_all`."""


def _confined(job: _Job) -> Completed:
    limits = job.limits
    watch = Watch(
        job.private,
        processes=limits.processes,
        memory=limits.memory_bytes,
        written=limits.output_bytes,
    )
    with _started(job) as group:
        broken = _follow(group, watch, job)
        group.kill()
        _drain(group, job)
        status_fields = group.read_status()
    stdout, stderr = (bytes(text) for text in group.output.values())
    broken = broken or job.over(group.printed) or watch.too_much_written()
    if group.stopped:
        broken = "was stopped"
    if broken is not None:
        raise job.failed(broken, stderr)
    if status_fields[:1] == [b"refused"]:
        raise job.not_started(int(status_fields[1]))
    if not status_fields and group.process.returncode >= 0:
        raise job.failed("could not be started", stderr)
    # The launcher itself can be ended from outside.
    code = (
        os.waitstatus_to_exitcode(int(status_fields[1]))
        if status_fields
        else group.process.returncode
    )
    if code < 0:
        raise job.failed(f"was ended by {_name(-code)}", stderr)
    return Completed(code=code, stdout=stdout, stderr=stderr)


@contextlib.contextmanager
def _started(job: _Job) -> Iterator[Group]:
    """Start the launcher; at the end, let none of its group live."""
    status, write_end = os.pipe()
    try:
        with _launcher(job, write_end) as process, _killed(Group(process, status)) as group:
            yield group
    finally:
        os.close(status)


def _launcher(job: _Job, write_end: int) -> subprocess.Popen[bytes]:
    launcher = (sys.executable, "-I", "-S", str(_LAUNCHER), str(write_end), str(os.getpid()))
    try:
        return subprocess.Popen(  # noqa: S603  # no shell, and it confines itself
            (*launcher, *job.rights, *job.command),
            cwd=job.folder,
            env=job.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(write_end,),
            start_new_session=True,
        )
    except OSError as exc:  # a command line too long, no folder, no process left
        raise job.failed(f"could not be started: {exc.strerror}", b"") from exc
    finally:
        os.close(write_end)


@contextlib.contextmanager
def _killed(group: Group) -> Iterator[Group]:
    """Let the group be found by `stop_all`, and let none of it live at the end."""
    try:
        with _lock:
            _groups.add(group)
        yield group
    finally:
        # Before the leader is waited for: until then, no other group can have its number.
        group.kill()
        with _lock:
            _groups.discard(group)
        group.process.wait()
        wait_for_rest(group.process.pid)


def _follow(group: Group, watch: Watch, job: _Job) -> str | None:
    """Read what a tool prints until it ends.

    Returns:
        Which limit it broke; None when it came to its end.
    """
    deadline = time.monotonic() + job.limits.seconds
    with selectors.DefaultSelector() as selector:
        for stream in (group.status, *group.output):
            selector.register(stream, selectors.EVENT_READ)
        while (now := time.monotonic()) < deadline:
            if (broken := watch.look(group.process.pid, now)) is not None:
                return broken
            for key, _ in selector.select(min(deadline - now, _TICK)):
                if key.fd == group.status:
                    return None
                group.read(key.fd)
            if (broken := job.over(group.printed)) is not None:
                return broken
    return f"took longer than {job.limits.seconds:g} s"


def _drain(group: Group, job: _Job) -> None:
    """Read what is left in the pipes; what is written from now on is nobody's."""
    for stream in group.output:
        before = -1
        while group.printed != before and job.over(group.printed) is None:
            before = group.printed
            group.read(stream)


def _timed(job: _Job) -> Completed:
    """Run a tool where there are no groups: files instead of pipes, and only two limits."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(  # noqa: S603  # no shell
                job.command,
                cwd=job.folder,
                env=job.environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )
        except OSError as exc:
            raise job.not_started(exc.errno or 0) from exc
        with process:
            try:
                broken = _wait(process, (stdout, stderr), job)
            finally:
                process.kill()
        texts = []
        for stream in (stdout, stderr):
            stream.seek(0)
            texts.append(stream.read(job.limits.output_bytes))
    if broken is not None:
        raise job.failed(broken, texts[1])
    return Completed(code=process.returncode, stdout=texts[0], stderr=texts[1])


def _wait(
    process: subprocess.Popen[bytes], streams: tuple[IO[bytes], ...], job: _Job
) -> str | None:
    deadline = time.monotonic() + job.limits.seconds
    running = True
    while running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_TICK)
        running = process.returncode is None
        printed = sum(os.fstat(stream.fileno()).st_size for stream in streams)
        if (broken := job.over(printed)) is not None:
            return broken
        if running and time.monotonic() > deadline:
            return f"took longer than {job.limits.seconds:g} s"
    return None


def _name(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
