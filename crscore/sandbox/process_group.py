"""The process group of a tool, from outside: its pipes, its processes, the space it takes.

The processes are read from /proc; where there is none, only the disk space is watched.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_PROC = "/proc"
_CHUNK = 1 << 16
_TICK = 0.05
"""Seconds between two looks."""
_LONGEST = 0.25
"""Seconds between two looks when a look is a lot of work: there may be thousands of processes."""
_LOOK_SHARE = 20
"""A look is not taken again before this many times the processor time that it took."""
_FILE_COST = 4096
"""Bytes that an entry of a folder counts beside its size: a million empty files take space too."""
_REAP_SECONDS = 2.0
"""Seconds that killed processes may take to be gone."""


def size(count: int) -> str:
    """Write a number of bytes for a person.

    Example:
        >>> size(1 << 30), size(10)
        ('1,024 MB', '10 bytes')
    """
    return f"{count >> 20:,} MB" if count >= 1 << 20 else f"{count:,} bytes"


class Group:
    """A launcher, its tool, and all that the tool started."""

    def __init__(self, process: subprocess.Popen[bytes], status: int) -> None:
        self.process = process
        self.status = status
        """Read end of the launcher's pipe: ready when the tool has ended."""
        self.output: dict[int, bytearray] = {}
        """Bytes read so far, by descriptor: stdout, then stderr."""
        self.stopped = False
        os.set_blocking(status, False)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self.output[stream.fileno()] = bytearray()

    def kill(self) -> None:
        """End all of it, at once: a group cannot grow while it gets its signal."""
        # macOS gives the second error for a group of which only a dead leader is left.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def read(self, stream: int) -> None:
        """Take what a pipe holds now, at most one chunk.

        While the launcher lives, a pipe does not come to its end: it holds the other end too.
        """
        with contextlib.suppress(BlockingIOError):
            self.output[stream] += os.read(stream, _CHUNK)

    def read_status(self) -> list[bytes]:
        """Take what the launcher told: `ended` and a wait status, or `refused` and an errno.

        Returns:
            The words; none when it was ended before it told anything.
        """
        # A copy of the other end may live on in a process that the caller forked meanwhile.
        with contextlib.suppress(BlockingIOError):
            return os.read(self.status, _CHUNK).split()
        return []

    @property
    def printed(self) -> int:
        """Bytes read so far."""
        return sum(len(text) for text in self.output.values())


class Watch:
    """Looks now and then at a process group, for what no limit of the kernel covers."""

    def __init__(
        self, folders: tuple[str, ...], *, processes: int, memory: int, written: int
    ) -> None:
        """Measure what is in the folders now.

        Args:
            folders: Where the group may write.
            processes: How many it may have at once.
            memory: Bytes that they may hold together.
            written: Bytes by which the folders may grow together.
        """
        self._folders = folders
        self._processes = processes
        self._memory = memory
        self._written = written
        self._given = _space(folders, None)
        self._strangers: frozenset[str] = frozenset()
        self._next = time.monotonic() + _TICK

    def look(self, group: int, now: float) -> str | None:
        """Look at a group, unless it is too early for that.

        Returns:
            Which limit it broke, or None.
        """
        if now < self._next:
            return None
        began = time.thread_time()
        members = self._members(group)
        broken = self.too_much_written()
        if len(members) > self._processes:
            broken = f"started more than {self._processes} processes"
        elif sum(members) > self._memory:
            broken = f"used more than {size(self._memory)}"
        pause = _LOOK_SHARE * (time.thread_time() - began)
        self._next = now + min(max(_TICK, pause), _LONGEST)
        return broken

    def too_much_written(self) -> str | None:
        """Return the reason when the folders grew by more than the limit."""
        allowed = self._given + self._written
        if _space(self._folders, allowed) <= allowed:
            return None
        return f"wrote more than {size(self._written)}"

    def _members(self, group: int) -> list[int]:
        """Measure the memory of each process of a group but the launcher, in bytes."""
        here = frozenset(_processes())
        members, strangers = [], set()
        # Nobody comes into a group from outside, so that a stranger is read only once.
        for process in here - self._strangers - {str(group)}:
            memory = _memory(process, group)
            if memory is None:
                strangers.add(process)
            else:
                members.append(memory)
        self._strangers = (self._strangers & here) | strangers
        return members


def _processes() -> list[str]:
    """List the processes of this machine; none where the system does not tell."""
    try:
        return [name for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208  # names will do
    except OSError:
        return []


def _memory(process: str, group: int) -> int | None:
    """Measure a process.

    Returns:
        Bytes that it holds; None when it has ended or is of another group.
    """
    text = b""
    with contextlib.suppress(OSError):
        # There may be thousands: this takes a third of the time of the usual ways.
        stat = os.open(f"{_PROC}/{process}/stat", os.O_RDONLY)
        try:
            text = os.read(stat, 1000)
        finally:
            os.close(stat)
    if not text:
        return None
    # The second field is the program's name in parentheses, and may hold anything.
    fields = text[text.rindex(b")") + 2 :].split()
    if int(fields[2]) != group or fields[0] in b"ZX":
        return None
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def wait_for_rest(group: int) -> None:
    """Wait until the last of a killed group is gone, so that its folder can be removed."""
    until = time.monotonic() + _REAP_SECONDS
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except OSError:
            return
        # Dead ones that nobody has collected yet are still counted by the call above.
        if all(_memory(process, group) is None for process in _processes()):
            return
        time.sleep(0.002)


def _space(folders: tuple[str, ...], enough: int | None) -> int:
    """Measure what lies in folders, in bytes, or until it is more than enough."""
    total = 0
    left = list(dict.fromkeys(folders))
    while left and (enough is None or total <= enough):
        with contextlib.suppress(OSError), os.scandir(left.pop()) as entries:
            for entry in entries:
                total += _FILE_COST
                with contextlib.suppress(FileNotFoundError):  # it may come and go
                    total += entry.stat(follow_symlinks=False).st_size
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
                if enough is not None and total > enough:
                    break
    return total
