"""Hostile tools, each a small Python program that really runs in the sandbox."""

import ctypes
import errno
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from crscore.errors import ToolFailedError, ToolNotFoundError
from crscore.sandbox import _launch
from crscore.sandbox import run as sandbox
from crscore.sandbox.process_group import Group, Watch
from crscore.sandbox.run import Completed, Limits

ROOT = Path(__file__).parents[3]
MB = 1 << 20
LIMITS = Limits(seconds=30.0, memory_bytes=512 * MB, output_bytes=MB, processes=16)
SOON = 15.0
"""Seconds in which even a slow machine has ended a tool that broke a limit."""
MARK = f"CRSCORE_TEST_{os.getpid()}_{time.monotonic_ns()}"
"""Environment variable of all tools in this file, by which their processes are recognized."""


def landlock() -> int:
    if sys.platform != "linux":
        return 0
    create = ctypes.c_long(444), None, ctypes.c_size_t(0), ctypes.c_uint(1)
    return int(ctypes.CDLL(None).syscall(*create))


needs_landlock = pytest.mark.skipif(landlock() < 1, reason="this kernel has no Landlock")
needs_filter = pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in {"x86_64", "aarch64"},
    reason="the filter knows the calls of two machines",
)


def living() -> list[int]:
    """Return the processes that have the variable."""
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (folder / "environ").read_bytes():
                processes.append(int(folder.name))
        except OSError:
            continue
    return processes


def wait_until_gone(seconds: float = SOON) -> bool:
    until = time.monotonic() + seconds
    while living() and time.monotonic() < until:
        time.sleep(0.02)
    return not living()


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    yield
    left = living()
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


def run(folder: Path, code: str, limits: Limits = LIMITS, **environment: str) -> Completed:
    return sandbox.run(
        [sys.executable, "-I", "-S", "-c", code],
        tool="hostile",
        folder=folder,
        environment={MARK: "1", "LANG": "C.UTF-8", **environment},
        limits=limits,
    )


def failure(folder: Path, code: str, limits: Limits = LIMITS) -> ToolFailedError:
    started = time.monotonic()
    with pytest.raises(ToolFailedError) as caught:
        run(folder, code, limits)
    assert time.monotonic() - started < SOON
    return caught.value


def limits(**changes: Any) -> Limits:
    values = {name: getattr(LIMITS, name) for name in Limits.__slots__} | changes
    return Limits(**values)


# A tool that behaves.


def test_exit_code_and_both_outputs_come_back(tmp_path: Path) -> None:
    completed = run(
        tmp_path, "import os; os.write(1, b'out\\xff'); os.write(2, b'err'); os._exit(3)"
    )
    assert (completed.returncode, completed.stdout, completed.stderr) == (3, b"out\xff", b"err")


def test_all_that_was_printed_before_the_end_comes_back(tmp_path: Path) -> None:
    completed = run(
        tmp_path, "import sys; sys.stdout.write('x' * 900_000); sys.stderr.write('y' * 99_000)"
    )
    assert (len(completed.stdout), len(completed.stderr)) == (900_000, 99_000)


def test_current_folder_is_the_one_given(tmp_path: Path) -> None:
    assert run(tmp_path, "import os; print(os.getcwd())").stdout.decode().strip() == str(tmp_path)


def test_standard_input_is_at_its_end(tmp_path: Path) -> None:
    saved_input, (end, start) = os.dup(0), os.pipe()
    os.write(start, b"meant for the caller")
    os.dup2(end, 0)
    try:
        completed = run(tmp_path, "import sys; print(repr(sys.stdin.read()))", limits(seconds=10))
    finally:
        os.dup2(saved_input, 0)
        for descriptor in (saved_input, end, start):
            os.close(descriptor)
    assert completed.stdout == b"''\n"


def test_rest_in_the_pipes_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_nothing(group: Group, watch: Watch, job: object) -> None:
        select.select([group.status], [], [], 20)

    monkeypatch.setattr(sandbox, "_follow", read_nothing)
    completed = run(tmp_path, "import os; os.write(1, b'x' * 60_000); os.write(2, b'y' * 60_000)")
    assert (len(completed.stdout), len(completed.stderr)) == (60_000, 60_000)


def test_tool_that_closes_its_pipes_is_waited_for(tmp_path: Path) -> None:
    code = "import os, time; os.close(0); os.close(1); os.close(2); time.sleep(0.3); os._exit(5)"
    assert run(tmp_path, code).returncode == 5


def test_waiting_takes_no_processor_time(tmp_path: Path) -> None:
    before = time.thread_time()
    run(tmp_path, "import os, time; os.close(1); os.close(2); time.sleep(1.2)")
    assert time.thread_time() - before < 0.6


@pytest.mark.parametrize("environment", [{}, {"LC_CTYPE": "POSIX", "A": "τ"}])
def test_environment_is_exactly_the_one_given(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    completed = sandbox.run(
        ["/usr/bin/env"], tool="env", folder=tmp_path, environment=environment, limits=LIMITS
    )
    assert sorted(completed.stdout.decode().split()) == sorted(
        f"{k}={v}" for k, v in environment.items()
    )


def test_no_file_of_the_caller_is_open(tmp_path: Path) -> None:
    with (tmp_path / "secret").open("w") as stream:
        os.set_inheritable(stream.fileno(), True)
        names = run(tmp_path, "import os; print(sorted(os.listdir('/proc/self/fd')))").stdout
    assert names == b"['0', '1', '2', '3']\n"  # 3 is the listing's own


def test_tools_in_threads_do_not_disturb_each_other(tmp_path: Path) -> None:
    def run_one(number: int) -> bytes:
        return run(tmp_path, f"import time; time.sleep(0.05); print({number})").stdout

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(run_one, range(12))) == [b"%d\n" % number for number in range(12)]


# A tool that cannot be started.


@pytest.mark.parametrize("mode", [None, 0o644, 0o755], ids=["missing", "text", "no program"])
def test_program_that_cannot_be_started_is_not_found(tmp_path: Path, mode: int | None) -> None:
    program = tmp_path / "tool"
    if mode is not None:
        program.write_text("no program\n")
        program.chmod(mode)
    with pytest.raises(ToolNotFoundError) as caught:
        sandbox.run([str(program)], tool="t", folder=tmp_path, environment={}, limits=LIMITS)
    message = f"t is not installed; the program {program} is missing or not executable"
    assert str(caught.value) == message


def test_name_is_looked_for_on_the_path_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "our-tool"
    script.write_text("#!/bin/sh\necho found\n")
    script.chmod(0o755)
    environment = {"PATH": str(tmp_path)}
    completed = sandbox.run(
        ["our-tool"], tool="t", folder=tmp_path, environment=environment, limits=LIMITS
    )
    assert completed.stdout == b"found\n"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolNotFoundError):
        sandbox.run(
            ["our-tool"], tool="t", folder=tmp_path, environment={"PATH": "/bin"}, limits=LIMITS
        )


def test_command_line_too_long_for_the_system_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(ToolFailedError, match="could not be started: Argument list too long"):
        sandbox.run(
            ["/bin/true", "x" * (4 * MB)], tool="t", folder=tmp_path, environment={}, limits=LIMITS
        )


def test_missing_folder_is_a_failure(tmp_path: Path) -> None:
    assert "could not be started" in failure(tmp_path / "none", "pass").reason


def test_launcher_that_does_not_start_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_LAUNCHER", tmp_path / "none.py")
    assert failure(tmp_path, "print('ran')").reason == "could not be started"


# Time.

IGNORES = "import signal\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n"


@pytest.mark.parametrize("prefix", ["", IGNORES], ids=["plain", "ignores signals"])
@pytest.mark.parametrize("code", ["import time\ntime.sleep(1e6)", "while True: pass"])
def test_endless_tool_is_ended(tmp_path: Path, prefix: str, code: str) -> None:
    error = failure(tmp_path, prefix + code, limits(seconds=0.5))
    assert str(error) == "hostile took longer than 0.5 s"


def test_endless_stream_of_small_output_is_ended_in_time(tmp_path: Path) -> None:
    code = "import os, time\nwhile True: os.write(1, b'.'); time.sleep(0.001)"
    assert failure(tmp_path, code, limits(seconds=0.5)).reason == "took longer than 0.5 s"


# Output.


@pytest.mark.parametrize("stream", [1, 2])
def test_tool_that_prints_without_end_is_ended_and_not_stored(tmp_path: Path, stream: int) -> None:
    code = f"import os\nfor _ in range(1 << 14): os.write({stream}, b'x' * (1 << 16))"
    tracemalloc.start()
    error = failure(tmp_path, code)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert error.reason == "printed more than 1 MB"
    assert peak < 8 * MB


def test_tool_that_prints_a_little_too_much_and_ends_is_refused(tmp_path: Path) -> None:
    code = "import os; os.write(1, b'x' * 60); os.write(2, b'x' * 41)"
    assert failure(tmp_path, code, limits(output_bytes=100)).reason == "printed more than 100 bytes"
    assert len(run(tmp_path, code, limits(output_bytes=101)).stdout) == 60


def test_huge_file_is_cut_off(tmp_path: Path) -> None:
    code = (
        "import os\nwith open('big', 'wb', 0) as s:\n"
        "    try:\n        for _ in range(10 << 10): s.write(b'x' * (1 << 20))\n"
        "    except OSError: os._exit(0)"
    )
    assert failure(tmp_path, code).reason == "wrote more than 1 MB"
    assert (tmp_path / "big").stat().st_size <= MB + 1


def test_huge_file_is_noticed_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "check", lambda self, group, now: None)
    code = "import os\ntry: open('big', 'wb', 0).write(bytes(1 << 22))\nfinally: os._exit(0)"
    assert failure(tmp_path, code).reason == "wrote more than 1 MB"


@pytest.mark.parametrize(
    "statement",
    [
        "open(str(n), 'wb').write(b'x' * 100_000)",
        "open(str(n), 'wb')",
        "os.mkdir(str(n))",
        "os.makedirs('a/b', exist_ok=True); open(f'a/b/{n}', 'wb')",
    ],
    ids=["files", "empty files", "folders", "nested"],
)
def test_many_files_are_noticed(tmp_path: Path, statement: str) -> None:
    code = f"import os, time\nfor n in range(1000): {statement}\ntime.sleep(1e6)"
    assert failure(tmp_path, code).reason == "wrote more than 1 MB"


def test_earlier_files_do_not_count_as_written_by_the_tool(tmp_path: Path) -> None:
    (tmp_path / "source.py").write_bytes(b"x" * 3 * MB)
    code = "open('own', 'w').write('x' * 1000)\nimport time; time.sleep(0.3)"
    assert run(tmp_path, code).returncode == 0


# Memory.


def test_tool_that_allocates_without_end_is_ended(tmp_path: Path) -> None:
    code = "kept = []\nwhile True: kept.append(bytearray(b'x') * (1 << 20))"
    error = failure(tmp_path, code, limits(memory_bytes=128 * MB))
    assert error.reason == "used more than 128 MB"


def test_one_block_far_over_the_limit_is_never_given(tmp_path: Path) -> None:
    completed = run(tmp_path, "bytearray(1 << 34)", limits(memory_bytes=128 * MB))
    assert completed.returncode == 1
    assert b"MemoryError" in completed.stderr


def test_memory_of_many_processes_adds_up(tmp_path: Path) -> None:
    code = (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0: break\n"
        "kept = bytearray(b'x') * (40 << 20)\ntime.sleep(1e6)"
    )
    error = failure(tmp_path, code, limits(memory_bytes=128 * MB))
    assert error.reason == "used more than 128 MB"


def test_shared_memory_counts(tmp_path: Path) -> None:
    code = (
        "import mmap, time\nm = mmap.mmap(-1, 1 << 28)\n"
        "for n in range(0, 1 << 28, 4096): m[n] = 1\ntime.sleep(1e6)"
    )
    error = failure(tmp_path, code, limits(memory_bytes=128 * MB))
    assert error.reason == "used more than 128 MB"


# Processes.


def test_fork_bomb_is_ended(tmp_path: Path) -> None:
    code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    assert failure(tmp_path, code).reason == "started more than 16 processes"


def test_allowed_number_of_processes_is_allowed(tmp_path: Path) -> None:
    code = "import os, time\nfor _ in range({}):\n    if os.fork() == 0: break\ntime.sleep({})"
    assert run(tmp_path, code.format(3, 0.6), limits(processes=4)).returncode == 0
    error = failure(tmp_path, code.format(4, 1e6), limits(processes=4))
    assert error.reason == "started more than 4 processes"


def test_name_of_a_process_does_not_hide_it(tmp_path: Path) -> None:
    code = (
        "import ctypes, os, time\nctypes.CDLL(None).prctl(15, b'a) Z 1 (b', 0, 0, 0)\n"
        "for _ in range(5):\n    if os.fork() == 0: break\ntime.sleep(1e6)"
    )
    error = failure(tmp_path, code, limits(processes=4))
    assert error.reason == "started more than 4 processes"


@pytest.mark.parametrize("close", ["", "for n in (0, 1, 2): os.close(n)\n    "])
def test_daemon_does_not_outlive_the_tool(tmp_path: Path, close: str) -> None:
    code = (
        "import os, time\nif os.fork() == 0:\n"
        "    try: os.setsid()\n    except OSError: pass\n"
        f"    if os.fork(): os._exit(0)\n    {close}time.sleep(1e6)\n"
        "time.sleep(0.2); print('done')"
    )
    started = time.monotonic()
    assert run(tmp_path, code).stdout == b"done\n"
    assert time.monotonic() - started < SOON
    assert living() == []


@pytest.mark.parametrize("way", ["os.setsid()", "os.setpgid(0, 0)"])
def test_process_group_cannot_be_left(tmp_path: Path, way: str) -> None:
    # In a child process, because the leader of a group is never allowed to.
    code = (
        f"import os\nif os.fork() == 0:\n    try: {way}; print('left')\n"
        "    except PermissionError as error: print(error.errno)\nelse: os.wait()"
    )
    assert run(tmp_path, code).stdout == b"13\n"


def test_tool_that_ends_the_launcher_is_a_failure(tmp_path: Path) -> None:
    code = "import os, time; os.kill(os.getppid(), 9); time.sleep(1e6)"
    assert failure(tmp_path, code).reason == "was ended by SIGKILL"


def test_death_by_a_signal_is_a_failure(tmp_path: Path) -> None:
    assert failure(tmp_path, "import os; os.abort()").reason == "was ended by SIGABRT"


def test_broken_pipe_is_as_usual_for_the_tool(tmp_path: Path) -> None:
    # SIGPIPE ends `yes` without a message; if the signal is ignored, `yes` prints one.
    completed = sandbox.run(
        ["/bin/sh", "-c", "yes | head -n 1"],
        tool="sh",
        folder=tmp_path,
        environment={"PATH": "/usr/bin:/bin", MARK: "1"},
        limits=LIMITS,
    )
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, b"y\n", b"")


# Network and other processes.

SOCKETS = """
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try: print(socket.socket(family, kind).fileno())
        except OSError as error: print(error.errno)
"""


def test_no_socket_can_be_opened(tmp_path: Path) -> None:
    assert run(tmp_path, SOCKETS).stdout.split() == [b"13"] * 12


def test_local_server_is_not_reached(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        reach = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        # Without the sandbox, the server can be reached, so a refusal is due to the sandbox.
        subprocess.run([sys.executable, "-c", reach], check=True, timeout=60)
        server.accept()[0].close()
        completed = run(tmp_path, reach)
        server.settimeout(0.1)
        with pytest.raises(TimeoutError):
            server.accept()
    assert b"PermissionError" in completed.stderr


def test_socket_pairs_stay(tmp_path: Path) -> None:
    code = "import socket\na, b = socket.socketpair()\na.send(b'x'); print(b.recv(1))"
    assert run(tmp_path, code).stdout == b"b'x'\n"


CALL = (
    "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "wide = [ctypes.c_long(n) for n in ({}, 0, 0, 0, 0)]\n"
    "print(libc.syscall(*wide), ctypes.get_errno())"
)


def test_way_around_the_socket_call_is_closed(tmp_path: Path) -> None:
    for number in (425, 438, 0x40000000 + 41):  # io_uring_setup, pidfd_getfd, x32
        assert run(tmp_path, CALL.format(number)).stdout == b"-1 13\n"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="machine code of x86")
def test_system_calls_of_another_architecture_end_the_tool(tmp_path: Path) -> None:
    # mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
    code = (
        "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\n"
        "m.write(bytes.fromhex('b814000000cd80c3'))\n"
        "at = ctypes.addressof(ctypes.c_char.from_buffer(m))\n"
        "print(ctypes.CFUNCTYPE(ctypes.c_int)(at)())"
    )
    assert failure(tmp_path, code).reason in {"was ended by SIGSYS", "was ended by SIGSEGV"}


def test_platforms_that_can_confine_are_recognised() -> None:
    platforms = [
        ("linux", "x86_64"), ("linux", "aarch64"), ("linux", "riscv64"), ("darwin", "arm64"),
        ("win32", "AMD64"), ("win32", None), ("freebsd14", "amd64"),
    ]  # fmt: skip
    assert [sandbox.can_confine(*names) for names in platforms] == [True] * 2 + [False] * 5


def test_this_platform_is_the_default() -> None:
    assert sandbox.can_confine() is sandbox.can_confine(sys.platform, os.uname().machine)


def test_network_is_known_to_be_denied() -> None:
    sandbox.network_denied.cache_clear()
    assert sandbox.network_denied() is (os.uname().machine in {"x86_64", "aarch64"})


def test_network_is_known_not_to_be_denied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = Path(_launch.__file__).read_text(encoding="utf-8")
    open_launcher = tmp_path / "launch.py"
    open_launcher.write_text(text.replace('"x86_64": 0x', '"none": 0x').replace("aarch64", "any"))
    monkeypatch.setattr(sandbox, "_LAUNCHER", open_launcher)
    sandbox.network_denied.cache_clear()
    assert not sandbox.network_denied()
    monkeypatch.setattr(sandbox, "_LAUNCHER", tmp_path / "none.py")
    sandbox.network_denied.cache_clear()
    assert not sandbox.network_denied()
    sandbox.network_denied.cache_clear()


def filtered(program: bytes, machine: int, number: int, *arguments: int) -> int:
    """Return what the kernel would do; only the five instructions of the filter are known."""
    steps = list(struct.iter_unpack("=HBBI", program))
    six = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=iIQ6Q", number, machine, 0, *six)
    at, value = 0, 0
    while True:
        code, if_true, if_false, constant = steps[at]
        at += 1
        if code == 0x06:
            return int(constant)
        if code == 0x20:
            value = struct.unpack_from("=I", data, constant)[0]
        else:
            tests = {
                0x15: value == constant,
                0x35: value >= constant,
                0x45: bool(value & constant),
            }
            at += if_true if tests[code] else if_false


ALLOWED, EPERM, EACCES, ENOTTY, ENOSYS = 0x7FFF0000, 0x50001, 0x5000D, 0x50019, 0x50026
# From the kernel's tables: arch/x86/entry/syscalls/syscall_64.tbl and
# include/uapi/asm-generic/unistd.h. EACCES: socket, io_uring_setup, setpgid, setsid, unshare,
# setns, ptrace, process_vm_*, pidfd_getfd; shm*, sem*, msg*, mq_open and mq_unlink, keys.
# EPERM: *chmod*, *chown*, *utime*, *setxattr*, *removexattr*, file_setattr, open_by_handle_at,
# setpriority, ioprio_set, sched_set*.
TABLES = {
    "x86_64": (
        0xC000003E,
        {41, 425, 109, 112, 272, 308, 101, 310, 311, 438}
        | {29, 30, 31, 64, 65, 66, *range(68, 72), 220, 240, 241, 248, 249, 250},
        {*range(90, 95), 132, 235, 260, 261, 268, 280, 452}
        | {188, 189, 190, 197, 198, 199, 463, 466, 469, 304}
        | {141, 142, 144, 203, 251, 314},
    ),
    "aarch64": (
        0xC00000B7,
        {198, 425, 154, 157, 97, 268, 117, 270, 271, 438}
        | {180, 181, *range(186, 197), 217, 218, 219},
        {52, 53, 54, 55, 88, 452, 5, 6, 7, 14, 15, 16, 463, 466, 469, 265}
        | {30, 118, 119, 122, 140, 274},
    ),
}
CALLS = {
    "x86_64": {"clone": 56, "prlimit64": 302, "ioctl": 16},
    "aarch64": {"clone": 220, "prlimit64": 261, "ioctl": 29},
}


@pytest.mark.parametrize("machine", TABLES)
def test_filter_refuses_exactly_the_named_calls(machine: str) -> None:
    audit, forbidden, not_permitted = TABLES[machine]
    program = _launch.filter_program(machine)
    assert program is not None
    answers = {number: filtered(program, audit, number) for number in range(600)}
    assert {n for n, answer in answers.items() if answer == EACCES} == forbidden
    assert {n for n, answer in answers.items() if answer == EPERM} == not_permitted
    assert {n for n, answer in answers.items() if answer == ENOSYS} == {435}  # clone3
    assert {n for n, answer in answers.items() if answer == ENOTTY} == {CALLS[machine]["ioctl"]}
    refused = forbidden | not_permitted | {435, CALLS[machine]["ioctl"]}
    assert {n for n, answer in answers.items() if answer == ALLOWED} == set(range(600)) - refused


FLAGS = (0x20000, *(1 << bit for bit in range(25, 31)))
ANSWERS = [
    ("clone", (0x11,), ALLOWED),  # a process: SIGCHLD
    ("clone", (0x3D0F00,), ALLOWED),  # a thread
    ("clone", (0x4111,), ALLOWED),  # vfork
    *(("clone", (flag | 0x11,), EPERM) for flag in FLAGS),
    ("clone", (1 << 32 | 0x10000011,), EPERM),  # the kernel drops the upper half
    ("prlimit64", (0, 7), ALLOWED),
    ("prlimit64", (1, 7), EPERM),
    *(("ioctl", (0, n), ALLOWED) for n in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    ("ioctl", (0x5401, 0x40086602), ENOTTY),  # FS_IOC_SETFLAGS
    ("ioctl", (0, 0x5402), ENOTTY),  # TCSETS
]


@pytest.mark.parametrize("machine", TABLES)
def test_filter_looks_at_arguments(machine: str) -> None:
    program = _launch.filter_program(machine)
    assert program is not None
    for call, arguments, answer in ANSWERS:
        number = CALLS[machine][call]
        assert filtered(program, TABLES[machine][0], number, *arguments) == answer, (
            call,
            arguments,
        )


def test_filter_ends_a_process_with_calls_of_another_architecture() -> None:
    program = _launch.filter_program("x86_64")
    assert program is not None
    assert filtered(program, 0x40000003, 20) == 0x80000000
    assert filtered(program, 0xC000003E, 0x40000000) == EACCES


NAMESPACES = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x20000, *(1 << bit for bit in range(25, 31)), 0):
    wide = [ctypes.c_long(n) for n in ({}, flag | 17, 0, 0, 0, 0)]
    process = libc.syscall(*wide)
    if process == 0: os._exit(0)
    print(process > 0, ctypes.get_errno() if process < 0 else 0)
"""


@needs_filter
def test_no_namespace_can_be_made(tmp_path: Path) -> None:
    completed = run(tmp_path, NAMESPACES.format(CALLS[os.uname().machine]["clone"]))
    # A user may only make a user namespace, in which they are root and may make the others.
    assert completed.stdout.splitlines() == [b"False 1"] * 7 + [b"True 0"]


@needs_filter
def test_clone3_does_not_exist(tmp_path: Path) -> None:
    assert run(tmp_path, CALL.format(435)).stdout == b"-1 38\n"


def test_threads_and_children_start_as_usual(tmp_path: Path) -> None:
    code = (
        "import subprocess, threading\n"
        "one = threading.Thread(target=print, args=('thread',))\n"
        "subprocess.run(['/bin/sh', '-c', 'echo child'], check=True); one.start(); one.join()"
    )
    assert run(tmp_path, code).stdout.split() == [b"child", b"thread"]


LEAVES = (
    "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "print(getattr(libc, '{}')({}), ctypes.get_errno())"
)
LASTING = {
    "shmget": "0, 4096, 0o1666",
    "msgget": "0, 0o1666",
    "semget": "0, 1, 0o1666",
    "mq_open": "b'/crscore-test', 0o102, 0o600, None",
    "mq_unlink": "b'/crscore-test'",
    "shmctl": "0, 2, None",
}


@needs_filter
def test_nothing_that_outlives_processes_is_made_or_touched(tmp_path: Path) -> None:
    for call, arguments in LASTING.items():
        assert run(tmp_path, LEAVES.format(call, arguments)).stdout == b"-1 13\n", call


@needs_filter
def test_no_key_is_left(tmp_path: Path) -> None:
    for name in ("add_key", "request_key", "keyctl"):
        number = _launch._FORBIDDEN[name][list(TABLES).index(os.uname().machine)]
        assert run(tmp_path, CALL.format(number)).stdout == b"-1 13\n"


# Files, and processes outside.


@needs_landlock
def test_only_the_folders_given_are_written(tmp_path: Path) -> None:
    for name in ("work", "home", "tmp", "outside"):
        (tmp_path / name).mkdir()
    code = (
        "import os\nfor place in ('work', 'home', 'tmp', 'outside'):\n"
        "    try: open(f'../{place}/canary', 'w').write('x')\n"
        "    except PermissionError: print(place)\n"
        "open(os.devnull, 'w').write('x')"
    )
    home, tmp = str(tmp_path / "home"), str(tmp_path / "tmp")
    completed = run(tmp_path / "work", code, HOME=home, TMPDIR=tmp)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, b"outside\n", b"")
    assert not (tmp_path / "outside" / "canary").exists()


ATTEMPTS = """
for act in {!r}:
    try: exec(act)
    except OSError as error: print(error.errno)
    else: print(act)
"""
CHANGES = [
    "os.truncate('../rules', 0)",
    "os.remove('../rules')",
    "os.rename('../rules', 'rules')",
    "os.symlink('x', '../link')",
    "os.mkdir('../new')",
    "os.link('../rules', 'rules')",
]


@needs_landlock
def test_file_outside_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "rules").write_text("ours")
    completed = run(tmp_path / "work", "import os" + ATTEMPTS.format(CHANGES))
    assert {int(line) for line in completed.stdout.split()} <= {errno.EACCES, errno.EXDEV}
    assert (tmp_path / "rules").read_text() == "ours"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rules", "work"]


ATTRIBUTES = [
    "os.chmod(file, 0o777)",
    "os.fchmod(os.open(file, os.O_RDONLY), 0o777)",
    "os.chown(file, os.getuid(), os.getgid())",
    "os.lchown(file, os.getuid(), os.getgid())",
    "os.chown('rules', os.getuid(), os.getgid(), dir_fd=os.open('..', os.O_RDONLY))",
    "os.fchown(os.open(file, os.O_RDONLY), os.getuid(), os.getgid())",
    "os.utime(file, (1, 1))",
    "os.utime(os.open(file, os.O_RDONLY), (1, 1))",
    "os.setxattr(file, 'user.x', b'x')",
    "os.setxattr(os.open(file, os.O_RDONLY), 'user.x', b'x')",
    "os.setxattr(file, 'user.x', b'x', follow_symlinks=False)",
    "os.removexattr(file, 'user.old')",
]


@needs_filter
def test_attributes_of_a_file_outside_are_not_changed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    rules = tmp_path / "rules"
    rules.write_text("ours")
    rules.chmod(0o600)
    before = rules.stat()
    completed = run(tmp_path / "work", "import os; file = '../rules'" + ATTEMPTS.format(ATTRIBUTES))
    assert completed.stdout.split() == [b"1"] * len(ATTRIBUTES)
    assert rules.stat() == before


@needs_landlock
def test_only_named_paths_are_read(tmp_path: Path) -> None:
    for name in ("work", "shown", "hidden"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    paths = [sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", str(tmp_path / "shown")]
    code = "import os\nprint(open('file').read(), open('../shown/file').read())" + ATTEMPTS.format(
        [
            "open('../hidden/file')",
            "os.listdir('..')",
            "open('../shown/file', 'w')",
            "open('/proc/1/cmdline')",
        ]
    )
    completed = run(tmp_path / "work", code, limits(readable=tuple(paths)))
    assert completed.stdout.split() == [b"work", b"shown", *[b"13"] * 4]


LAUNCHER_FILES = """
import os
launcher = os.getppid()
for name in ("fd/1", "mem", "environ"):
    try: os.open(f"/proc/{launcher}/{name}", os.O_RDONLY)
    except OSError as error: print(error.errno)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has them")
def test_pipes_and_memory_of_the_launcher_are_closed_to_the_tool(tmp_path: Path) -> None:
    assert run(tmp_path, LAUNCHER_FILES).stdout.split() == [b"13"] * 3


def test_report_of_another_form_is_a_failure(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(["/bin/true"], stdout=subprocess.PIPE) as process:
        for report in (b"ended\n", b"refused x\n", b"ended 999999999\n", b"\xff"):
            os.write(writing, report)
            assert Group(process, reading).read_status() is None
    os.close(reading)
    os.close(writing)


def test_code_runs_where_landlock_is() -> None:
    assert sandbox.can_run_code() is (sandbox.network_denied() and landlock() >= 1)


@needs_filter
def test_flags_of_a_file_outside_are_not_changed(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "rules").write_text("ours")
    code = (
        "import fcntl, os\nfile = os.open('../rules', os.O_RDONLY)\n"
        "try: fcntl.ioctl(file, 0x40086602, b'\\x80' + bytes(7))\n"
        "except OSError as error: print(error.errno)"
    )
    assert run(tmp_path / "work", code).stdout == b"25\n"


@needs_filter
def test_caller_is_not_slowed_down(tmp_path: Path) -> None:
    process = os.getpid()
    acts = [
        f"resource.prlimit({process}, resource.RLIMIT_CORE, (0, 0))",
        f"os.setpriority(os.PRIO_PROCESS, {process}, 19)",
        f"os.sched_setaffinity({process}, {{0}})",
    ]
    before = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)
    assert run(tmp_path, "import os, resource" + ATTEMPTS.format(acts)).stdout.split() == [b"1"] * 3
    assert (os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0)) == before


CALLER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the shell did with it
from pathlib import Path
from typing import Any
from crscore.sandbox import run as sandbox
limits = sandbox.Limits(seconds=60.0, memory_bytes=1 << 29, output_bytes=1 << 20, processes=16)
done = sandbox.run(
    [sys.executable, "-I", "-S", "-c", sys.argv[2]], tool="t", folder=Path(sys.argv[1]),
    environment={sys.argv[3]: "1"}, limits=limits)
sys.stdout.buffer.write(done.stdout)
"""


def caller(folder: Path, code: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", CALLER, str(folder), code, MARK],
        env={"PYTHONPATH": str(ROOT), "PATH": os.defpath, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@needs_landlock
def test_secret_of_the_caller_cannot_be_read_from_its_process(tmp_path: Path) -> None:
    read = (
        "import os\nfor p in os.listdir('/proc'):\n    try:\n"
        "        if b'{}' in open(f'/proc/{{p}}/environ', 'rb').read(): print('leaked')\n"
        "    except OSError: pass"
    )
    secret = f"s3cret{time.monotonic_ns()}"
    with caller(tmp_path, read.format(secret), GITHUB_TOKEN=secret) as process:
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, b"", b"")


@pytest.mark.skipif(landlock() < 6, reason="this kernel's Landlock knows no signals")
def test_caller_cannot_be_signalled(tmp_path: Path) -> None:
    code = f"import os\ntry: os.kill({os.getpid()}, 0)\nexcept PermissionError: print('no')"
    assert run(tmp_path, code).stdout == b"no\n"


# A caller that is interrupted.

LINGERS = "import os, time\nos.fork()\nopen(f'started{os.getpid()}', 'w')\ntime.sleep(1e6)"


def until_started(folder: Path) -> None:
    until = time.monotonic() + SOON
    while len(list(folder.glob("started*"))) < 2:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_interrupted_caller_leaves_no_process(tmp_path: Path) -> None:
    with caller(tmp_path, LINGERS) as process:
        until_started(tmp_path)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    assert b"KeyboardInterrupt" in errors
    assert living() == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a process of its parent's end"
)
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_killed_caller_leaves_no_process(tmp_path: Path, name: str) -> None:
    with caller(tmp_path, LINGERS) as process:
        until_started(tmp_path)
        assert len(living()) == 3  # with the launcher
        process.send_signal(signal.Signals[name])
        process.communicate(timeout=60)
    assert wait_until_gone()


def test_all_tools_can_be_stopped_at_once(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(failure, folder, LINGERS) for folder in folders]
        for folder in folders:
            until_started(folder)
        sandbox.stop_all()
        assert [waiting.result().reason for waiting in runs] == ["was stopped"] * 2
    assert run(tmp_path, "print(1)").stdout == b"1\n"


def opened() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_of_crscore_stays_open(tmp_path: Path) -> None:
    run(tmp_path, "pass")
    before = opened(), threading.active_count()
    for _ in range(3):
        run(tmp_path, "print(1)")
        failure(tmp_path, "import os; os.abort()")
    assert (opened(), threading.active_count()) == before
    assert not sandbox._groups


def test_silent_launcher_whose_pipe_is_held_open_is_not_waited_for() -> None:
    end, start = os.pipe()
    with subprocess.Popen(["/bin/true"], stdout=subprocess.PIPE) as process:
        assert Group(process, end).read_status() is None
        os.write(start, b"ended 0\n")
        assert Group(process, end).read_status() == (b"ended", b"0")
    os.close(start)
    os.close(end)


def test_nothing_runs_where_there_are_no_process_groups(tmp_path, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sandbox.os, "name", "nt")
        with pytest.raises(ToolFailedError, match="use Linux, macOS or WSL"):
            sandbox.run(["true"], tool="t", folder=tmp_path, environment={}, limits=LIMITS)
