"""Watches the process group of a tool from outside: its pipes, processes and disk space.

The processes are listed from /proc. On systems without /proc, only the disk space is watched.
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
# With thousands of processes, a check is slow, so the pause after the check is longer, but not
# longer than this.
_MAX_INTERVAL_S = 0.25
"""Maximum seconds between two checks."""
# With a factor of 20, checks take about 5 % of the processor time of one core.
_PAUSE_FACTOR = 20
"""Pause after a check as a multiple of its processor time."""
# A million empty files also take disk space.
_BYTES_PER_ENTRY = 4096
"""Bytes that each entry of a folder counts in addition to the size of its file."""
# A killed process ends at once, unless it waits for a disk.
_REAP_TIMEOUT_S = 2.0
"""Maximum seconds to wait until killed processes are gone."""


def format_size(count: int) -> str:
    """Format a number of bytes for display.

    Example:
        >>> format_size(1 << 30), format_size(10)
        ('1,024 MB', '10 bytes')
    """
    return f"{count >> 20:,} MB" if count >= 1 << 20 else f"{count:,} bytes"


class Group:
    """Process group of the launcher, the tool that it starts, and all descendants of the tool."""

    def __init__(self, process: subprocess.Popen[bytes], status: int) -> None:
        self.process = process
        self.status = status
        """Read end of the pipe for the launcher's report; readable when the tool has ended."""
        self.output: dict[int, bytearray] = {}
        """Bytes read so far from stdout and then stderr, by file descriptor."""
        self.stopped = False
        """Whether `stop_all` of `run.py` killed the group."""
        os.set_blocking(status, False)
        # If a read waited for a tool that prints nothing, an exceeded limit would not be noticed.
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self.output[stream.fileno()] = bytearray()

    def kill(self) -> None:
        """Kill all processes of the group with one signal.

        The kernel lets no process fork while the group gets a signal, so none escapes.
        """
        # macOS raises PermissionError if only a zombie of the leader is left in the group:
        # https://github.com/airspeed-velocity/asv/pull/304
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def read_available(self, stream: int) -> None:
        """Read what a pipe contains now, at most 64 KiB, without waiting.

        The pipe of a tool that has ended is not closed, because the launcher also has it open.
        """
        with contextlib.suppress(BlockingIOError):
            self.output[stream] += os.read(stream, _CHUNK_BYTES)

    def read_status(self) -> tuple[bytes, bytes] | None:
        """Read the launcher's report.

        Returns:
            `ended` and the wait status of the tool, or `refused` and the errno with which the tool
            could not be started; None if the launcher was killed before it reported.
        """
        # A process that the caller has forked in the meantime may hold the other end open, so an
        # empty pipe does not end but raises BlockingIOError.
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
    """Checks a process group regularly for limits that the kernel does not enforce."""

    def __init__(
        self, folders: tuple[str, ...], *, processes: int, memory: int, written: int
    ) -> None:
        """Measure the current content of the folders.

        Args:
            folders: Folders that the group may write to.
            processes: Maximum number of processes at once.
            memory: Maximum bytes of memory of all processes together.
            written: Maximum bytes by which all folders together may grow.
        """
        self._folders = folders
        self._processes = processes
        self._memory = memory
        self._written = written
        self._initial_bytes = _measure_folders(folders, None)
        self._outsiders: frozenset[str] = frozenset()
        self._next_check = time.monotonic() + _MIN_INTERVAL_S

    def check(self, group: int, now: float) -> str | None:
        """Check the limits of a group, if the pause after the last check is over.

        Args:
            group: Number of the process group.
            now: Present value of `time.monotonic()`.

        Returns:
            What the tool did, such as "used more than 512 MB", if it exceeded a limit; None
            otherwise and during the pause.
        """
        if now < self._next_check:
            return None
        started = time.thread_time()
        current = frozenset(_list_processes())
        # Bytes of memory of each process of the group except the launcher.
        members: list[int] = []
        outsiders: set[str] = set()
        # No process can join the group from outside, so processes of other groups are read only
        # once.
        for process in current - self._outsiders - {str(group)}:
            # A fork bomb grows faster than its processes can be counted.
            if len(members) > self._processes:
                break
            memory = _measure_memory(process, group)
            if memory is None:
                outsiders.add(process)
            else:
                members.append(memory)
        self._outsiders = (self._outsiders & current) | outsiders
        exceeded = self.check_written()
        if len(members) > self._processes:
            exceeded = f"started more than {self._processes} processes"
        elif sum(members) > self._memory:
            exceeded = f"used more than {format_size(self._memory)}"
        pause = _PAUSE_FACTOR * (time.thread_time() - started)
        self._next_check = now + min(max(_MIN_INTERVAL_S, pause), _MAX_INTERVAL_S)
        return exceeded

    def check_written(self) -> str | None:
        """Return "wrote more than ..." if the folders grew by more than the limit, else None."""
        allowed = self._initial_bytes + self._written
        if _measure_folders(self._folders, allowed) <= allowed:
            return None
        return f"wrote more than {format_size(self._written)}"


def _list_processes() -> list[str]:
    """Return the ids of all processes of this machine; an empty list if there is no /proc."""
    try:
        return [name for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208  # names suffice
    except OSError:
        return []


def _measure_memory(process: str, group: int) -> int | None:
    """Return the resident memory of a process in bytes.

    Returns None if the process has ended or belongs to another process group.
    """
    text = b""
    with contextlib.suppress(OSError):
        # There may be thousands of processes, and `os.read` takes a third of the time that file
        # objects take.
        stat = os.open(f"{_PROC}/{process}/stat", os.O_RDONLY)
        try:
            text = os.read(stat, 1000)
        finally:
            os.close(stat)
    if not text:
        return None
    # https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    # The second field is the program's name in parentheses, which may itself contain spaces and
    # parentheses.
    fields = text[text.rindex(b")") + 2 :].split()
    if int(fields[2]) != group or fields[0] in b"ZX":
        return None
    return int(fields[21]) * os.sysconf("SC_PAGE_SIZE")


def wait_until_gone(group: int) -> None:
    """Wait until all processes of a killed group are gone, so that their folder can be removed."""
    deadline = time.monotonic() + _REAP_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except OSError:
            return
        # The call above also succeeds if only zombies are left, which nobody has waited for yet.
        if all(_measure_memory(process, group) is None for process in _list_processes()):
            return
        time.sleep(0.002)


def _measure_folders(folders: tuple[str, ...], stop_above: int | None) -> int:
    """Return the size of the content of folders in bytes.

    Reading ends when the sum exceeds `stop_above`. If a folder is not readable or its path is too
    long, the result is `sys.maxsize`. A folder that no longer exists counts as empty.
    """
    total = 0
    pending = list(dict.fromkeys(folders))
    while pending and (stop_above is None or total <= stop_above):
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    total += _BYTES_PER_ENTRY
                    with contextlib.suppress(FileNotFoundError):  # the tool may have deleted it
                        total += entry.stat(follow_symlinks=False).st_size
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    if stop_above is not None and total > stop_above:
                        break
        except OSError as exc:
            # A tool could otherwise hide files in a folder that is nested too deep or not readable.
            if exc.errno in {errno.ENAMETOOLONG, errno.EACCES}:
                return sys.maxsize
    return total
