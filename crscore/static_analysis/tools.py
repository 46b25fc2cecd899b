"""Finds the tools that are installed on this machine, with their versions; installs npm tools.

npm tools are installed in the tools folder. By default, that folder is in the Python environment of
crscore, so that the tools are deleted together with the environment.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import msgspec

from crscore.cache import Cache
from crscore.errors import ToolFailedError, ToolNotFoundError
from crscore.records import ToolRun, ToolState
from crscore.sandbox import run as sandbox
from crscore.static_analysis.analyzer import INTERPRETER, Analyzer
from crscore.version import __version__

_SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin")
"""Folders at the end of every tool's PATH."""
_MIB = 2**20
LOCK = "package-lock.json"
PACKAGE = "package.json"
# This command installs exactly the packages of the lock file, checks their hashes, and runs none of
# their install scripts:
# https://docs.npmjs.com/cli/commands/npm-ci
_NPM_COMMAND = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_NPM_SECONDS = 600


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """Tool that can run on this machine."""

    analyzer: Analyzer
    """Analyzer of the tool."""
    program: str
    """Absolute path of the program."""
    version: str
    """Version as the tool reports it."""
    environment: Mapping[str, str]
    """Environment variables of the tool, without HOME and TMPDIR, which each run sets."""
    tools: Path
    """Folder of the tool in the tools folder; it may not exist."""


def default_folder() -> Path:
    """Return the default folder of npm tools."""
    return Path(sys.prefix) / "share" / "crscore" / "tools"


def find_tool(
    analyzer: Analyzer, *, tools: Path, path: str, cache: Cache | None
) -> Installed | ToolRun:
    """Find the tool of an analyzer.

    Args:
        analyzer: The analyzer.
        tools: Folder with a folder for each npm tool.
        path: Search path for programs, as in `PATH`.
        cache: Cache of versions, so that the tool need not be started again to print its version.

    Returns:
        The tool or, if it cannot run, a `ToolRun` with the reason: the tool is missing, has an
        unsupported version, or could not print its version.
    """
    tool = analyzer.manifest.tool
    absent = partial(ToolRun, tool=analyzer.name, version=None)
    tool_folder = tools / analyzer.name
    # A relative folder of the PATH could be a folder of an untrusted change.
    folders = path.split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    program = _find_program(tool.command, tool_folder, path)
    not_installed = f"not installed; {tool.install}"
    version = None
    if tool.version_path is not None:
        names = sorted(file.name for file in tool_folder.glob(tool.version_path))
        matches = [match for name in names if (match := tool.pattern.compiled.search(name))]
        if not matches:
            return absent(state=ToolState.MISSING, reason=not_installed)
        version = matches[-1][1]
    if program is None or not all(map(find_spec, tool.modules)):
        # If the version is known, the tool is installed, but not the program that runs it, such as
        # Java.
        reason = f"{tool.command} is not installed" if version else not_installed
        return absent(state=ToolState.MISSING, reason=reason)
    needed = {name: shutil.which(name, path=path) for name in tool.needs}
    lacking = [name for name, other_program in needed.items() if other_program is None]
    if lacking:
        return absent(state=ToolState.MISSING, reason=f"{lacking[0]} is not installed")
    programs = [program, *filter(None, needed.values())]
    search_path = dict.fromkeys([*(str(Path(name).parent) for name in programs), *_SYSTEM])
    environment = {"PATH": os.pathsep.join(search_path), "LANG": "C.UTF-8"}
    values = {"{tools}": str(tool_folder), "{here}": str(analyzer.folder)}
    for key, value in analyzer.manifest.run.environment.items():
        environment[key] = fill(value, values)
    try:
        version = version or _ask_version(analyzer, program, environment, cache)
    except (ToolFailedError, ToolNotFoundError) as exc:
        return absent(state=ToolState.FAILED, reason=str(exc))
    if not _supports(tool.supported, version):
        reason = f"{version} is not in {tool.supported}; {tool.install}"
        return absent(version=version, state=ToolState.UNSUPPORTED, reason=reason)
    return Installed(
        analyzer=analyzer,
        program=program,
        version=version,
        environment=environment,
        tools=tool_folder,
    )


def _find_program(command: str, tool_folder: Path, path: str) -> str | None:
    """Return the path of a tool's program; None if the program is missing."""
    if command == INTERPRETER:
        return sys.executable
    name = command.rpartition("/")[2]
    own_program = command if "/" in command else f"node_modules/.bin/{command}"
    # These folders come before the PATH, because they have the versions installed for crscore.
    for candidate in (tool_folder / own_program, Path(sysconfig.get_path("scripts")) / name):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate.absolute())
    return shutil.which(name, path=path)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace placeholders in a text by their values, but not placeholders in the values.

    Example:
        >>> fill("--in={a}", {"{a}": "{b}", "{b}": "c"})
        '--in={b}'
    """
    return re.sub(r"\{[a-z_]+\}", lambda match: values.get(match[0], match[0]), text)


def limits_of(analyzer: Analyzer) -> sandbox.Limits:
    """Return the limits of a manifest in the units of the sandbox."""
    limits = analyzer.manifest.limits
    return sandbox.Limits(
        seconds=limits.seconds,
        memory_bytes=limits.memory_mb * _MIB,
        output_bytes=limits.output_mb * _MIB,
        processes=limits.processes,
    )


def _ask_version(
    analyzer: Analyzer, program: str, environment: Mapping[str, str], cache: Cache | None
) -> str:
    """Return the version that a tool prints, from the cache if the program has not changed.

    Raises:
        ToolFailedError: The tool failed, or its output has no version.
        ToolNotFoundError: The program is missing.
    """
    # The cache key contains the time and size of the program, so that a replaced program is asked
    # again. For a module of this interpreter, it contains those of the folder with all packages.
    is_python = analyzer.manifest.tool.command == INTERPRETER
    status = Path(sysconfig.get_path("purelib") if is_python else program).stat()
    # npm sets the mtime of all files to 1985-10-26, so only their ctime tells versions apart:
    # https://github.com/npm/pacote/blob/main/lib/util/tar-create-options.js
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    stamp = f"{program} {times} {status.st_size} {__version__}"
    key = f"version {analyzer.name} {analyzer.sha256} {stamp}"
    cached = cache.get(key) if cache else None
    if cached is not None:
        return cached.decode()
    values = {"{here}": str(analyzer.folder)}
    arguments = [fill(argument, values) for argument in analyzer.manifest.tool.version or ()]
    with tempfile.TemporaryDirectory(prefix="crscore-") as folder:
        process = sandbox.run(
            [program, *arguments],
            tool=analyzer.name,
            folder=Path(folder),
            environment={**environment, "HOME": folder, "TMPDIR": folder},
            limits=limits_of(analyzer),
        )
    # Some programs, such as `java -version`, print the version on standard error.
    output = (process.stdout + b"\n" + process.stderr).decode("utf-8", errors="replace")
    match = analyzer.manifest.tool.pattern.compiled.search(output)
    if match is None:
        raise ToolFailedError(analyzer.name, "does not print its version")
    if cache:
        cache.put(key, match[1].encode())
    return match[1]


def _supports(supported: str, version: str) -> bool:
    """Return whether a version is in the supported range; False if one of them is invalid."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415
    from packaging.version import InvalidVersion, Version  # noqa: PLC0415

    try:
        return SpecifierSet(supported).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False


def is_of_npm(analyzer: Analyzer) -> bool:
    """Return whether npm installs the tool, because the analyzer's folder has a lock file."""
    return (analyzer.folder / LOCK).is_file()


def install_tool(analyzer: Analyzer, tools: Path) -> Path:
    """Install or replace an npm tool.

    npm checks the hash of every package and runs no install scripts. The tool's folder is put in
    place only when it is complete.

    Args:
        analyzer: Analyzer with a lock file.
        tools: Folder with a folder for each npm tool.

    Returns:
        The folder of the tool.

    Raises:
        ToolNotFoundError: npm is not installed.
        ToolFailedError: npm failed, or the folder cannot be written.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise ToolNotFoundError("npm", "get Node.js 20 or later from your system or nodejs.org")
    target = tools / analyzer.name
    try:
        tools.mkdir(parents=True, exist_ok=True)
        # The temporary folder is in the tools folder, because a rename moves the new folder into
        # place only within one file system.
        with tempfile.TemporaryDirectory(dir=tools, prefix=f".{analyzer.name}-") as folder:
            new_folder = Path(folder) / "made"
            new_folder.mkdir()
            for name in (PACKAGE, LOCK):
                shutil.copyfile(analyzer.folder / name, new_folder / name)
            _run_npm([npm, *_NPM_COMMAND], new_folder, analyzer.name)
            if target.exists():
                # The old folder is deleted together with the temporary folder.
                target.rename(Path(folder) / "replaced")
            new_folder.rename(target)
    except OSError as exc:
        reason = f"cannot be put into {target}: {exc.strerror}"
        raise ToolFailedError(analyzer.name, reason) from exc
    return target


def _run_npm(command: list[str], folder: Path, name: str) -> None:
    """Run npm in a folder.

    Raises:
        ToolFailedError: npm failed; the error has the last line that npm printed.
    """
    # npm does not run in the sandbox, because it needs the network and the user's settings, which
    # name the registry.
    try:
        process = subprocess.run(  # noqa: S603 - no untrusted argument
            command,
            cwd=folder,
            env=dict(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_NPM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise ToolFailedError(name, f"was not installed within {_NPM_SECONDS} s") from exc
    if process.returncode != 0:
        output = process.stderr.decode("utf-8", errors="replace").strip()
        last = output.splitlines()[-1] if output else "npm printed nothing"
        raise ToolFailedError(name, f"could not be installed: {last}")
