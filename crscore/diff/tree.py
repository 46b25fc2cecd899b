"""All text files of a repository, from a folder or a commit, within limits.

The repository is untrusted: links are not followed, and nothing is executed. Files that the limits
leave out are reported, as "nowhere" can only be claimed about files that were read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import Final, NamedTuple

from crscore.diff import git
from crscore.errors import HostError

MAX_FILES: Final = 50_000
"""Maximum number of files."""
MAX_FILE_BYTES: Final = 2_000_000
"""Maximum bytes of one file."""
MAX_BYTES: Final = 64_000_000
"""Maximum bytes of all files in total."""
MAX_LIST_BYTES: Final = 20_000_000
"""Maximum bytes of git's list of files."""
# Binary files by their names, which are neither read nor counted in the limits; of other files, the
# contents show whether they are text.
_NO_TEXT: Final = re.compile(
    r"\.(?:png|jpe?g|gif|ico|webp|bmp|pdf|zip|gz|tgz|bz2|xz|7z|jar|whl|so|dll|exe|a|o|class|pyc"
    r"|woff2?|ttf|otf|eot|mp[34]|mov|webm|wav|ogg|onnx|npy|npz|bin|db|sqlite)$",
    re.IGNORECASE,
)
# Without git there is no `.gitignore`: hidden folders, and installed or compiled code.
_SKIPPED_FOLDER: Final = re.compile(r"\..*|node_modules|__pycache__|venv")


class Tree(NamedTuple):
    """Files of a repository."""

    texts: Mapping[str, bytes]
    """Path -> content, without binary files."""
    reason: str | None
    """Reason that files are missing, as a clause; None if all were read."""


def choose(
    entries: Iterable[tuple[str, int]], *, reason: str | None = None
) -> tuple[list[str], str | None]:
    """Choose as many files as the limits allow, in their order.

    Args:
        entries: Paths and sizes in bytes.
        reason: Reason that some files were not listed; None if all were.

    Returns:
        The paths, and a reason that files are missing, as a clause; None if all fit.
    """
    paths: list[str] = []
    total = 0
    for path, size in entries:
        if _NO_TEXT.search(path):
            continue
        if len(paths) == MAX_FILES:
            return paths, f"it has more than {MAX_FILES:,} files"
        if size > MAX_FILE_BYTES:
            reason = f"{path} is over {MAX_FILE_BYTES:,} bytes"
        elif total + size > MAX_BYTES:
            return paths, f"it has more than {MAX_BYTES:,} bytes"
        else:
            paths.append(path)
            total += size
    return paths, reason


def read_folder(folder: Path) -> Tree:
    """Read the files below a folder, in a work tree without those that git ignores.

    Args:
        folder: Root of the repository. Links below it and their targets are not read.
    """
    root = folder.resolve()
    # Untracked files, too: a caller in a file that was not added yet is a caller.
    options = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        listed = git.run_git(options, folder=root, max_bytes=MAX_LIST_BYTES)
    except HostError:
        listed = b""  # not a work tree
    listed_paths = {path.decode("utf-8", "surrogateescape") for path in listed.split(b"\0") if path}
    entries: list[tuple[str, int]] = []
    reason = None
    for path in sorted(listed_paths or _walk(root)):
        try:
            state = (root / path).lstat()
            # A parent folder can be a link that leads out of the root.
            is_inside = S_ISLNK(state.st_mode) or (root / path).resolve() == root / path
        except (OSError, ValueError, RuntimeError):
            is_inside = False
        if not is_inside or S_ISDIR(state.st_mode):
            reason = f"{path} is listed by git and cannot be read"
        # To open a pipe would wait for somebody who writes to it.
        elif S_ISREG(state.st_mode):
            entries.append((path, state.st_size))
    paths, reason = choose(entries, reason=reason)
    texts: dict[str, bytes] = {}
    for path in paths:
        try:
            with (root / path).open("rb") as stream:
                # The file can have grown since its size was checked.
                texts[path] = stream.read(MAX_FILE_BYTES)
        except OSError:
            reason = f"{path} cannot be read"
    return Tree(without_binary(texts), reason)


def without_binary(texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the text files; like git, take a file with a zero byte near its start as binary."""
    # As many bytes as git looks at: https://github.com/git/git/blob/master/xdiff-interface.c
    return {path: content for path, content in texts.items() if b"\0" not in content[:8000]}


def _walk(root: Path) -> Iterator[str]:
    """Yield the files below a folder that is not a work tree, at most one more than allowed."""
    # Without recursion, as folders can be nested more deeply than Python may recurse.
    folders, count = [root], 0
    while folders and count <= MAX_FILES:
        try:
            items = sorted(folders.pop().iterdir())
        except OSError:
            continue
        for item in items:
            count += 1
            if item.is_symlink() or _SKIPPED_FOLDER.fullmatch(item.name):
                continue
            if item.is_dir():
                folders.append(item)
            else:
                yield item.relative_to(root).as_posix()


ReadTree = Callable[[], Tree]
"""Function that reads a repository when it is first needed."""
