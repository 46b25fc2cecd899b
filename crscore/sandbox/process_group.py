"""Process group of a tool, seen from outside: its pipes, processes and disk space.

The processes are read from /proc; on systems without it, only the disk space is watched.
"""

import contextlib
import errno
import os
import re
import signal
import subprocess
import sys
import time

_PROC = "/proc"
_CHUNK_BYTES = 1 << 16
_MIN_INTERVAL_S = 0.05
"""Minimum seconds between two checks."""
# With thousands of processes, a check is slow, and the pause after it is longer, up to this limit.
_MAX_INTERVAL_S = 0.25
"""Maximum seconds between two checks."""
# With this factor, checks cost about 5 % of the processor time.
_PAUSE_FACTOR = 20
"""Pause after a check as a multiple of its processor time."""
# Empty files count, because a million of them take space, too.
_BYTES_PER_ENTRY = 4096
"""Bytes counted for a folder entry besides its size."""
# Killed processes end at once, unless they wait for a disk.
_REAP_TIMEOUT_S = 2.0
"""Maximum seconds until killed processes are gone."""


def size(count: int) -> str:
    """Format a number of bytes for display.

    Example:
        >>> size(1 << 30), size(10)
        ('1,024 MB', '10 bytes')
    """
    return f"{count >> 20:,} MB" if count >= 1 << 20 else f"{count:,} bytes"


class Group:
    """Launcher, its tool, and all descendants of the tool."""

    def __init__(self, process: subprocess.Popen[bytes], status: int) -> None:
        self.process = process
        self.status = status
        """Read end of the launcher's pipe: ready when the tool has ended."""
        self.output: dict[int, bytearray] = {}
        """Bytes read so far, by descriptor: stdout, then stderr."""
        self.stopped = False
        os.set_blocking(status, False)
        # Reading must not wait for a tool that prints nothing, while another limit is exceeded.
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self.output[stream.fileno()] = bytearray()

    def kill(self) -> None:
        """Kill the whole group at once: a group cannot grow while it gets its signal."""
        # macOS returns the second error if only a dead leader is left in the group:
        # https://github.com/airspeed-velocity/asv/pull/304
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def read(self, stream: int) -> None:
        """Read the available content of a pipe, at most one chunk.

        While the launcher is alive, a pipe does not end: the launcher holds the other end too.
        """
        with contextlib.suppress(BlockingIOError):
            self.output[stream] += os.read(stream, _CHUNK_BYTES)

    def read_status(self) -> tuple[bytes, bytes] | None:
        """Read the launcher's report.

        Returns:
            `ended` and a wait status, or `refused` and an errno; None when it was killed before its
            report.
        """
        # The other end may still be open in a process that the caller forked meanwhile.
        with contextlib.suppress(BlockingIOError):
            report = re.match(
                rb"(ended|refused) ([0-9]{1,5})\n", os.read(self.status, _CHUNK_BYTES)
            )
            return None if report is None else (report[1], report[2])
        return None

    @property
    def printed(self) -> int:
        """Number of bytes read so far."""
        return sum(len(text) for text in self.output.values())


class Watch:
    """Periodic check of a process group for limits that the kernel does not enforce."""

    def __init__(
        self, folders: tuple[str, ...], *, processes: int, memory: int, written: int
    ) -> None:
        """Measure the current content of the folders.

        Args:
            folders: Folders that the group may write.
            processes: Maximum number of processes at once.
            memory: Maximum memory of all processes together, in bytes.
            written: Maximum growth of all folders together, in bytes.
        """
        self._folders = folders
        self._processes = processes
        self._memory = memory
        self._written = written
        self._initial_bytes = _space(folders, None)
        self._outsiders: frozenset[str] = frozenset()
        self._next_check = time.monotonic() + _MIN_INTERVAL_S

    def check(self, group: int, now: float) -> str | None:
        """Check a group, unless it is too early for that.

        Returns:
            The exceeded limit, or None.
        """
        if now < self._next_check:
            return None
        started = time.thread_time()
        current = frozenset(_processes())
        # Memory of each process of the group except the launcher, in bytes.
        members: list[int] = []
        outsiders: set[str] = set()
        # No process can join a group from outside, so foreign processes are read only once.
        for process in current - self._outsiders - {str(group)}:
            # A fork bomb grows while it is counted.
            if len(members) > self._processes:
                break
            memory = _memory(process, group)
            if memory is None:
                outsiders.add(process)
            else:
                members.append(memory)
        self._outsiders = (self._outsiders & current) | outsiders
        exceeded = self.too_much_written()
        if len(members) > self._processes:
            exceeded = f"started more than {self._processes} processes"
        elif sum(members) > self._memory:
            exceeded = f"used more than {size(self._memory)}"
        pause = _PAUSE_FACTOR * (time.thread_time() - started)
        self._next_check = now + min(max(_MIN_INTERVAL_S, pause), _MAX_INTERVAL_S)
        return exceeded

    def too_much_written(self) -> str | None:
        """Return the reason if the folders grew by more than the limit, else None."""
        allowed = self._initial_bytes + self._written
        if _space(self._folders, allowed) <= allowed:
            return None
        return f"wrote more than {size(self._written)}"


def _processes() -> list[str]:
    """List the processes of this machine; the list is empty if the system does not provide it."""
    try:
        return [name for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208  # names suffice
    except OSError:
        return []


def _memory(process: str, group: int) -> int | None:
    """Measure the memory of a process.

    Returns:
        Bytes; None when it has ended or belongs to another group.
    """
    text = b""
    with contextlib.suppress(OSError):
        # There may be thousands of processes; `os.read` takes a third of the time of other ways to
        # read a file.
        stat = os.open(f"{_PROC}/{process}/stat", os.O_RDONLY)
        try:
            text = os.read(stat, 1000)
        finally:
            os.close(stat)
    if not text:
        return None
    # https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    # The second field is the program's name in parentheses, and may hold anything.
    fields = text[text.rindex(b")") + 2 :].split()
    if int(fields[2]) != group or fields[0] in b"ZX":
        return None
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def wait_for_rest(group: int) -> None:
    """Wait until the last process of a killed group is gone, so that its folder can be removed."""
    deadline = time.monotonic() + _REAP_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except OSError:
            return
        # The call above still counts zombies that have not been reaped.
        if all(_memory(process, group) is None for process in _processes()):
            return
        time.sleep(0.002)


def _space(folders: tuple[str, ...], stop_above: int | None) -> int:
    """Measure the content of folders in bytes, up to a maximum; the rest is not read."""
    total = 0
    pending = list(dict.fromkeys(folders))
    while pending and (stop_above is None or total <= stop_above):
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += _BYTES_PER_ENTRY
                    with contextlib.suppress(FileNotFoundError):  # it may appear and vanish
                        total += entry.stat(follow_symlinks=False).st_size
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    if stop_above is not None and total > stop_above:
                        break
        except OSError as exc:
            # The content of a folder that is too deep or not readable would be hidden.
            if exc.errno in {errno.ENAMETOOLONG, errno.EACCES}:
                return sys.maxsize
    return total
