"""Program that drops its privileges and then starts a tool.

`run.py` runs this file by its path, so this file imports nothing of crscore. It imports little of
the standard library because it runs before every tool, and imports take time. The restrictions
apply to the tool and all its descendants, which cannot undo them.

On POSIX, processor time, memory, file size and open files are limited. On Linux also:

- seccomp, on x86_64 and aarch64, forbids opening sockets of any family (even a local socket may
  lead to a container engine or a key agent), leaving the process group, new namespaces, access to
  other processes, objects that outlive the processes (System V memory, message queues, keys), and
  changes of the mode, owner, times or attributes of any file. Socket pairs are allowed, because
  Node.js uses them for its children.
- Root loses its capabilities, except those for opening files.
- Landlock, if the kernel has it, allows writing only to the given folders and, if readable paths
  are given, reading only these folders and paths. It also forbids sending signals to outside
  processes and reading their data, such as the caller's environment (`/proc/<pid>/environ`).

The launcher is not dumpable, so that even without Landlock, a tool of the same user cannot open the
launcher's pipes or memory. The launcher remains the tool's parent until the end: if the caller dies
without cleaning up, the kernel signals the launcher, which kills the whole group.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import sys

TYPE_CHECKING = False  # `typing` is not imported because that would be the slowest import here
if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable
    from typing import NoReturn, TypeAlias

    _Step: TypeAlias = tuple[int, int, int, int]

_OPEN_FILES = 1024
"""Maximum open files of one process."""
_SPARE_TASKS = 4096
"""Maximum processes and threads of the user, in addition to all that run on the machine now."""

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 24, 38
_SECCOMP_MODE_FILTER = 2

# CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH.
# https://man7.org/linux/man-pages/man7/capabilities.7.html
_KEPT_CAPABILITIES = frozenset({1, 2})
"""Capabilities to open any file: in a container, root's files may belong to another user."""
_CAPABILITIES = 64
"""Number above those of all capabilities; the kernel has about 40 and ignores other numbers."""

# https://docs.kernel.org/userspace-api/seccomp_filter.html
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Numbers by which the kernel identifies the architecture of a system call (AUDIT_ARCH_...)."""
_FORBIDDEN: dict[str, tuple[int, int | None]] = {
    "socket": (41, 198),
    "io_uring_setup": (425, 425),  # could open sockets without the call `socket`
    # A process that leaves the group would survive when the group is killed at the end.
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "unshare": (272, 97),
    "setns": (308, 268),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    # These calls create objects that outlive their processes, or access objects of other processes.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
}
"""System calls that fail with EACCES: numbers on x86_64 and aarch64, None if missing."""
_NOT_PERMITTED: dict[str, tuple[int, int | None]] = {
    # Landlock does not restrict these calls, so the owner of a file could use them in any folder.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "open_by_handle_at": (304, 265),  # opens any file with a kept capability
    # These calls could change the priority or scheduling of other processes of the user.
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
}
"""System calls that fail with EPERM, in the same form."""
_CLONE, _CLONE3, _PRLIMIT64, _IOCTL = (56, 220), (435, 435), (302, 261), (16, 29)
_NAMESPACES = 0x7E020000
"""Flags of `clone` for a new mount, cgroup, UTS, IPC, user, process or network namespace."""
_NEW_NAMESPACES = 0x38020000
"""Flags of `unshare` for new mount, IPC, user and process namespaces."""
_PRIVATE_MOUNTS, _SAFE_MOUNT = 0x44000, 0xE
"""Flags of `mount`: MS_REC | MS_PRIVATE; MS_NOSUID | MS_NODEV | MS_NOEXEC."""
_CAPABILITY_VERSION = 0x20080522
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_HARMLESS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Allowed requests of `ioctl`: terminal settings, window size, readable bytes, descriptor flags."""
_X32_BIT = 0x40000000
"""Bit that is set in the numbers of the x32 ABI, a second set of numbers for x86_64's calls."""

# Opcodes of the kernel's packet filters (BPF): load a word, three conditional jumps, return.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _MACHINE_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24
"""Offsets in `seccomp_data` of the call's number, the architecture, and the lower 32 bits of the
first and second argument (both architectures are little-endian)."""
# Results of a seccomp filter; the lower 16 bits of `_REFUSE` are the errno.
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_EPERM, _EACCES, _ENOTTY, _ENOSYS = 1, 13, 25, 38

# Landlock's system calls, and its access rights by bit:
# https://docs.kernel.org/userspace-api/landlock.html
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1, 1 << 1, 1 << 2, 1 << 3
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_RIGHTS_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
"""Landlock rights that apply to a file; a rule for a file with other rights is an error."""
_CHANGE_FOLDER = sum(1 << bit for bit in range(4, 13))
"""Landlock rights to remove and to create files, folders and other entries of a folder."""
_SCOPES = 0b11
"""Landlock scopes that keep signals and connections to abstract Unix sockets in the sandbox."""


def filter_program(machine: str) -> bytes | None:
    """Return the seccomp filter for a processor architecture.

    Args:
        machine: Name of the architecture as in `uname -m`.

    Returns:
        Instructions of 8 bytes each; None if the call numbers of the architecture are not known.

    Example:
        >>> filter_program("riscv64") is None
        True
    """
    if machine not in _AUDIT:
        return None
    column = list(_AUDIT).index(machine)
    # The second and third item of a jump are the numbers of instructions to skip if its condition
    # is true and if it is false. The architecture is checked first, because the same number is
    # another call on another architecture.
    steps = [(_LOAD, 0, 0, _MACHINE_AT), (_EQUAL, 1, 0, _AUDIT[machine]), (_RETURN, 0, 0, _KILL)]
    steps.append((_LOAD, 0, 0, _NUMBER_AT))
    if machine == "x86_64":
        # Calls of the x32 ABI have the same architecture as those of x86-64:
        # https://man7.org/linux/man-pages/man2/seccomp.2.html
        steps += [(_AT_LEAST, 0, 1, _X32_BIT), _refuse(_EACCES)]
    for calls, error in ((_FORBIDDEN, _EACCES), (_NOT_PERMITTED, _EPERM)):
        for numbers in calls.values():
            if (number := numbers[column]) is not None:
                steps += _on(number, _refuse(error))
    # A filter cannot read the flags of `clone3`, which are in memory. After ENOSYS, the C library
    # uses `clone` instead; after EPERM, it could start no thread:
    # https://github.com/moby/moby/pull/42681
    steps += _on(_CLONE3[column], _refuse(_ENOSYS))
    refuse_namespaces = (_LOAD, 0, 0, _FIRST_AT), (_ANY_BIT, 0, 1, _NAMESPACES), _refuse(_EPERM)
    steps += _on(_CLONE[column], *refuse_namespaces, _allow())
    # `prlimit64` is allowed only for process 0, which means the calling process.
    refuse_others = (_LOAD, 0, 0, _FIRST_AT), (_EQUAL, 1, 0, 0), _refuse(_EPERM)
    steps += _on(_PRLIMIT64[column], *refuse_others, _allow())
    # Other requests could change a terminal or the flags of a file, even if it is open only for
    # reading.
    harmless = [(_EQUAL, len(_HARMLESS) - n, 0, r) for n, r in enumerate(_HARMLESS)]
    steps += _on(_IOCTL[column], (_LOAD, 0, 0, _SECOND_AT), *harmless, _refuse(_ENOTTY), _allow())
    steps.append(_allow())
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _on(number: int, *steps: _Step) -> list[_Step]:
    """Return instructions that apply `steps` to the call `number` and skip them for other calls.

    The last of `steps` must be a return.
    """
    return [(_EQUAL, 0, len(steps), number), *steps]


def _refuse(error: int) -> _Step:
    return _RETURN, 0, 0, _REFUSE | error


def _allow() -> _Step:
    return _RETURN, 0, 0, _ALLOW


def main(arguments: list[str]) -> None:
    """Drop privileges, start the tool, and report how the tool ended.

    Args:
        arguments: The arguments of `prepare`, which end with the tool's command.
    """
    status, folders, readable, command = prepare(arguments)
    if sys.platform == "linux":
        confine(folders, readable)
    tool = os.fork()
    if tool == 0:
        execute(command, status)
    wait_status = os.waitpid(tool, 0)[1]
    os.write(status, b"ended %d\n" % wait_status)


def execute(command: list[str], status: int | None = None) -> NoReturn:
    """Replace this process by the tool.

    If the tool cannot be started, the errno is written to `status` and the process ends with the
    exit code 127.
    """
    # Python ignores these two signals, and a tool would inherit that:
    # https://docs.python.org/3/library/signal.html
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606  # a shell is not wanted
    except OSError as exc:
        if status is not None:
            os.write(status, b"refused %d\n" % (exc.errno or 0))
    finally:
        os._exit(127)


def prepare(arguments: list[str]) -> tuple[int, list[str], list[str], list[str]]:
    """Set the resource limits of this process, and protect it from the tool.

    If the caller has died, the process ends with the exit code 127.

    Args:
        arguments: The file descriptor for the report, the caller's process id, the limits of
            processor time (seconds), memory and file size (bytes), the value of LC_CTYPE ("" if it
            is not set), the readable paths separated by colons ("" if all paths are readable), the
            writable folders, `--`, and the command.

    Returns:
        The file descriptor for the report, the writable folders, the readable paths, the command.
    """
    import resource  # noqa: PLC0415  # missing on Windows

    status, caller, seconds, memory, size = (int(argument) for argument in arguments[:5])
    dashes = arguments.index("--")
    readable = arguments[6].split(os.pathsep) if arguments[6] else []
    # If Python starts in the C locale, it sets LC_CTYPE, which the tool must not inherit.
    os.environ.pop("LC_CTYPE", None)
    if arguments[5]:
        os.environ["LC_CTYPE"] = arguments[5]
    os.set_inheritable(status, False)
    signal.signal(signal.SIGTERM, lambda *_: os.killpg(0, signal.SIGKILL))
    limits = {
        resource.RLIMIT_CPU: seconds,
        # RLIMIT_AS is not used, because Node.js and Java reserve far more address space than they
        # use.
        resource.RLIMIT_DATA: memory,
        resource.RLIMIT_FSIZE: size,
        # A core dump would write the memory of a crashed tool to the disk.
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    # The kernel counts all processes and threads of the user, so this limit stops only a fork bomb.
    # Root is exempt from it.
    with contextlib.suppress(OSError, ValueError, IndexError):
        load = os.open("/proc/loadavg", os.O_RDONLY)
        tasks = int(os.read(load, 100).split()[3].split(b"/")[1])
        limits[resource.RLIMIT_NPROC] = tasks + _SPARE_TASKS
        os.close(load)
    for limit, value in limits.items():
        hard = resource.getrlimit(limit)[1]
        lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS rejects some limits
            resource.setrlimit(limit, (lower, lower))
    if sys.platform == "linux":
        libc = load_libc()
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != caller:  # the caller died before the call above
            os._exit(127)
    return status, arguments[7:dashes], readable, arguments[dashes + 1 :]


def load_libc() -> ctypes.CDLL:
    """Load the C library, with the types of the arguments of `prctl`."""
    import ctypes  # noqa: PLC0415  # slow, and only needed on Linux

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    return libc


def enter_namespaces() -> bool:
    """Move this process to new namespaces of users, mounts and IPC.

    The next child of this process gets a new namespace of processes.

    Returns:
        Whether the kernel allowed it; most containers forbid it.
    """
    libc = load_libc()
    user, group = os.geteuid(), os.getegid()
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # else this process could not write the files below
    try:
        if libc.unshare(_NEW_NAMESPACES) != 0:
            return False
        for name, content in (
            # `setgroups` comes before `gid_map`, which a user who is not root may write only then:
            # https://man7.org/linux/man-pages/man7/user_namespaces.7.html
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            file = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(file, content.encode())
            os.close(file)
    except OSError:
        return False
    finally:
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return True


def mount_own_proc() -> None:
    """Mount a `/proc` that lists only the processes of this namespace, if possible."""
    libc = load_libc()
    # First make all mounts private, because a mount below a shared mount would also appear in the
    # caller's namespace (https://man7.org/linux/man-pages/man7/mount_namespaces.7.html).
    libc.mount(b"none", b"/", None, _PRIVATE_MOUNTS, None)
    libc.mount(b"proc", b"/proc", b"proc", _SAFE_MOUNT, None)


def confine(folders: list[str], readable: list[str]) -> None:
    """Drop the privileges of this process and its descendants.

    Args:
        folders: Folders that may be written and read.
        readable: Other paths that may be read; if empty, reading is not restricted.
    """
    import ctypes  # noqa: PLC0415  # slow, and only needed on Linux

    libc = load_libc()
    # Without this flag, only root may set a seccomp filter or a Landlock domain.
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return

    def call(number: int, *arguments: int | bytes | None) -> int:
        # ctypes would pass a plain int as 32 bits.
        long_arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
        result: int = libc.syscall(ctypes.c_long(number), *long_arguments)
        return result

    for capability in set(range(_CAPABILITIES)) - _KEPT_CAPABILITIES:
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # takes effect when the tool starts
    # The calls above act only on `exec`, which a forked program of `crscore code run` does not
    # call. So the present capabilities are given up, too.
    capabilities = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0))
    content = ctypes.create_string_buffer(24)
    if libc.capget(capabilities, content) == 0:
        mask = sum(1 << capability for capability in _KEPT_CAPABILITIES)
        effective, permitted = struct.unpack_from("=II", content)
        reduced = struct.pack("=6I", effective & mask, permitted & mask, 0, 0, 0, 0)
        libc.capset(capabilities, reduced)
    _restrict_files(call, folders, readable)
    machine = os.uname().machine
    program = filter_program(machine) if sys.maxsize > 2**32 else None
    if program is not None:
        steps = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("@HP", len(program) // 8, ctypes.addressof(steps))
        pointer = ctypes.create_string_buffer(header, len(header))
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(pointer), 0, 0)


def _restrict_files(call: Callable[..., int], folders: list[str], readable: list[str]) -> None:
    """Allow writing only to `folders` and /dev/null, and reading only there and from `readable`.

    If `readable` is empty, reading is not restricted.
    """
    version = call(_CREATE_RULESET, None, 0, 1)
    if version < 1:  # the kernel has no Landlock, or it is not enabled
        return
    # Landlock restricts only the rights that a ruleset names, so 0 leaves reading unrestricted. The
    # kernel refuses a ruleset with a right that it does not know: `refer` needs Linux 5.19 (version
    # 2), `truncate` 6.2 (version 3), scopes 6.12 (version 6).
    read = _READ if readable else 0
    file_rights = _WRITE_FILE | (_TRUNCATE if version >= 3 else 0)
    folder_rights = file_rights | _CHANGE_FOLDER | (_REFER if version >= 2 else 0) | read
    scopes = struct.pack("=QQ", 0, _SCOPES) if version >= 6 else b""
    attributes = struct.pack("=Q", folder_rights) + scopes
    rules = call(_CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return
    allowed = [(folder, folder_rights) for folder in folders] + [(path, _READ) for path in readable]
    for path, rights in [*allowed, (os.devnull, file_rights | read)]:
        with contextlib.suppress(OSError):
            # With O_PATH, a file that this process may not read can be opened, too.
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            is_folder = os.fstat(opened).st_mode & 0o170000 == 0o040000
            possible = folder_rights if is_folder else folder_rights & _RIGHTS_ON_FILES
            call(_ADD_RULE, rules, 1, struct.pack("=Qi", rights & possible, opened), 0)
            os.close(opened)
    call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def has_landlock() -> bool:
    """Return whether this kernel has Landlock and it is enabled."""
    if sys.platform != "linux":
        return False
    version: int = load_libc().syscall(_CREATE_RULESET, None, 0, 1)
    return version >= 1


if __name__ == "__main__":
    main(sys.argv[1:])
