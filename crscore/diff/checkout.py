"""Reads the change of a pull request, and the text files of its repository, from a local checkout.

The files in the work tree belong to the change and must not affect how the change is read: a
`.gitattributes` could declare code binary or name a driver. So git compares two trees with the
attributes of the base branch. The configuration in `.git` and in the home folder is trusted, but
settings that could change the text are overridden.

Links are not followed, and files beyond the limits are left out. The reason why files are missing
is reported, because crscore can say that a name is used nowhere only if it has read all files.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import Final, NamedTuple

import msgspec

from crscore.diff import full_files, git, parse
from crscore.errors import HostError, InputError
from crscore.records import Diff

# From `ls-tree -l`: "100644 blob <hash>     120\t<path>"; 120000 is a link, 160000 a submodule.
_ENTRY: Final = re.compile(rb"([0-9]{6}) \w+ ([0-9a-f]+) +([0-9]+|-)\t(.*)", re.DOTALL)
# "<hash> blob 120"; not "<name> missing" or a folder ("<hash> tree 37")
_BLOB: Final = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) blob ([0-9]+)")
# `git diff-tree` reads less of the user's configuration than `git diff`. The settings that it reads
# are overridden by git's defaults, so that the text is the one that GitHub shows:
# https://git-scm.com/docs/diff-config
_OPTIONS: Final = (
    "diff-tree", "-r", "-p", "--full-index", "-M50%", "-l1000", "-U3", "--inter-hunk-context=0",
    "--diff-algorithm=myers", "--indent-heuristic", "--src-prefix=a/", "--dst-prefix=b/",
    "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short",
    "--ignore-submodules=none",
)  # fmt: skip
# Maximum bytes of git's line about one object, which has the object's name and size, or its path.
_LINE_BYTES: Final = 10_000
_DEFAULT_DIFF_BYTES: Final = parse.DiffLimits().max_diff_bytes

# In a repository beyond these limits, no verdict says that a name is unused
# (docs/design/028-verdicts.md).
MAX_FILES: Final = 50_000
"""Maximum number of files of a repository."""
MAX_FILE_BYTES: Final = 2_000_000
"""Maximum bytes of one file."""
MAX_BYTES: Final = 64_000_000
"""Maximum bytes of all files in total."""
MAX_LIST_BYTES: Final = 20_000_000
"""Maximum bytes of git's list of files."""
# Files with these names are binary, so they are not read and do not count for the limits. The
# contents of other files show whether they are text.
_NO_TEXT: Final = re.compile(
    r"\.(?:png|jpe?g|gif|ico|webp|bmp|pdf|zip|gz|tgz|bz2|xz|7z|jar|whl|so|dll|exe|a|o|class|pyc"
    r"|woff2?|ttf|otf|eot|mp[34]|mov|webm|wav|ogg|onnx|npy|npz|bin|db|sqlite)$",
    re.IGNORECASE,
)
# Hidden folders, and folders of installed or compiled code. They are skipped if git does not list
# the files.
_SKIPPED_FOLDER: Final = re.compile(r"\..*|node_modules|__pycache__|venv")


class Tree(NamedTuple):
    """Files of a repository."""

    texts: Mapping[str, bytes]
    """Path -> content, without binary files."""
    reason: str | None
    """Reason why files are missing, as a clause; None if all were read."""


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """Repository on this machine with the commits at both ends of a change."""

    git_dir: Path
    """Path of the repository's `.git`."""
    base: str
    """Tip of the base branch, 40 hex digits."""
    head: str
    """Newest commit of the change, 40 hex digits."""
    merge_base: str
    """Merge base of `base` and `head`."""

    def diff(self, *, max_bytes: int = _DEFAULT_DIFF_BYTES) -> bytes:
        """Return the diff as `git diff base...head` prints it.

        Raises:
            HostError: git failed, or the change is larger than `max_bytes`.
        """
        return self._compare(self.merge_base, self.head, max_bytes)

    def diff_to(self, commit: str) -> bytes | None:
        """Return the diff up to an older commit; None if the checkout does not have the commit."""
        try:
            start = _find_merge_base(self.git_dir, self.base, commit)
            return None if start is None else self._compare(start, commit, _DEFAULT_DIFF_BYTES)
        except HostError:
            return None

    def change(self, limits: parse.DiffLimits) -> tuple[Diff, tuple[str, ...]]:
        """Return the change with its full files, and notes on files that were left out.

        Raises:
            HostError: git failed, or the change cannot be read or is larger than the limits.
        """
        text = self.diff(max_bytes=limits.max_diff_bytes)
        # An empty text means a pull request without a change, but the parser would reject it.
        if not text:
            return Diff(files=(), sha256=hashlib.sha256(text).hexdigest()), ()
        try:
            parsed = parse.parse_diff(text, source="git diff", limits=limits)
        except InputError as exc:
            raise HostError("git diff", str(exc)) from exc
        paths, left_notes = full_files.list_needed(parsed, limits)
        texts, notes = self.texts(self.head, paths, limits)
        return full_files.add(parsed, texts), (*left_notes, *notes)

    def texts(
        self, commit: str, paths: Sequence[str], limits: parse.DiffLimits
    ) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """Read files as they are at a commit.

        Args:
            commit: Full hash of the commit.
            paths: Paths of the files. A path with a line feed cannot be read.
            limits: Limits on the files.

        Returns:
            The texts of the files that exist and are within the limits, with U+FFFD for invalid
            UTF-8; and a note for each reason why other files were left out.

        Raises:
            HostError: git failed.
        """
        # `cat-file --batch-check` reads one name per line: https://git-scm.com/docs/git-cat-file
        readable = [path for path in paths if "\n" not in path]
        if not readable:
            return {}, ()
        request = "".join(f"{_check_commit(commit)}:{path}\n" for path in readable)
        listed = self._cat("--batch-check", request, len(readable) * _LINE_BYTES).split(b"\n")
        blobs_of_lines = map(_parse_blob, listed[: len(readable)])
        blob_by_path = dict(zip(readable, blobs_of_lines, strict=True))
        chosen_paths, notes = full_files.choose(
            {path: blob[1] for path, blob in blob_by_path.items() if blob}, readable, limits
        )
        blobs = [blob for path in chosen_paths if (blob := blob_by_path[path])]
        contents = zip(chosen_paths, self._contents(blobs), strict=True)
        return {path: data.decode("utf-8", "replace") for path, data in contents}, notes

    def tree(self) -> Tree:
        """Read all text files at the head that are within the limits; none if git fails."""
        arguments = ("ls-tree", "-r", "-l", "-z", "--full-tree", _check_commit(self.head))
        blobs: dict[str, tuple[str, int]] = {}
        reason = None
        try:
            listed = git.run_git(
                arguments, folder=self.git_dir, is_git_dir=True, max_bytes=MAX_LIST_BYTES
            )
            for entry in listed.split(b"\0")[:-1]:
                match = _ENTRY.fullmatch(entry)
                if match is None:
                    raise HostError("git ls-tree", "its list cannot be read")
                mode, name, size, path_bytes = match.groups()
                path = path_bytes.decode("utf-8", "surrogateescape")
                # A link (120000) is skipped, because its content is only a path.
                if mode.startswith(b"100"):
                    blobs[path] = name.decode(), int(size)
                elif mode == b"160000":
                    reason = f"{path} is a submodule"
            entries = ((path, size) for path, (_, size) in blobs.items())
            paths, reason = choose_files(entries, reason=reason)
            contents = self._contents([blobs[path] for path in paths])
            texts = _drop_binary(dict(zip(paths, contents, strict=True)))
        except HostError as exc:
            return Tree({}, exc.reason)
        return Tree(texts, reason)

    def _contents(self, blobs: Sequence[tuple[str, int]]) -> Iterator[bytes]:
        """Yield the contents of blobs, given their names and sizes.

        For each blob, git prints a line about it, its bytes and a line end.
        """
        if not blobs:
            return
        max_bytes = sum(size + _LINE_BYTES for _, size in blobs)
        text = self._cat("--batch", "".join(f"{name}\n" for name, _ in blobs), max_bytes)
        position = 0
        for name, size in blobs:
            start = text.find(b"\n", position) + 1
            if _parse_blob(text[position : start - 1]) != (name, size):
                raise HostError("git cat-file", f"object {name} cannot be read")
            position = start + size + 1
            yield text[start : position - 1]

    def _cat(self, mode: str, request: str, max_bytes: int) -> bytes:
        data = request.encode("utf-8", "surrogateescape")
        return git.run_git(
            ("cat-file", mode),
            folder=self.git_dir,
            is_git_dir=True,
            input_bytes=data,
            max_bytes=max_bytes,
        )

    def _compare(self, start: str, end: str, max_bytes: int) -> bytes:
        """Return the diff of two commits, with the attributes of the base branch.

        Git reads attributes from the work tree, then from the index. So git gets an empty folder as
        the work tree and the files of the base branch as the index. Versions of git that know
        `GIT_ATTR_SOURCE` (https://git-scm.com/docs/git) need neither.
        """
        with tempfile.TemporaryDirectory(prefix="crscore-git-") as name:
            folder = Path(name)
            work_tree = folder / "empty"
            work_tree.mkdir()
            variables = {
                "GIT_DIR": str(self.git_dir),
                "GIT_WORK_TREE": str(work_tree),
                "GIT_INDEX_FILE": str(folder / "index"),
                "GIT_ATTR_SOURCE": self.base,
            }
            git.run_git(("read-tree", self.base), folder=work_tree, variables=variables)
            commits = (_check_commit(start), _check_commit(end), "--")
            return git.run_git(
                (*_OPTIONS, *commits), folder=work_tree, variables=variables, max_bytes=max_bytes
            )


def find_checkout(folder: Path, base: str, head: str) -> tuple[Checkout | None, str]:
    """Find a checkout that has both ends of a change and their merge base.

    Args:
        folder: A folder of the work tree.
        base: Tip of the base branch, 40 hex digits.
        head: Newest commit of the change, 40 hex digits.

    Returns:
        The checkout and "", or None and the reason as a clause: no repository, missing commits (as
        in most clones of depth 1), or a folder of another user that git does not trust.
    """
    try:
        output = git.run_git(("rev-parse", "--absolute-git-dir"), folder=folder)
    except HostError as exc:
        return None, exc.reason
    git_dir = output.decode("utf-8", "surrogateescape").rstrip("\n")
    return open_git_dir(Path(git_dir), base, head)


def open_git_dir(git_dir: Path, base: str, head: str) -> tuple[Checkout | None, str]:
    """Open a `.git`, or a bare clone, that has both ends of a change and their merge base.

    Args:
        git_dir: Path of the `.git` or of the bare clone itself, which is trusted.
        base: Tip of the base branch, 40 hex digits.
        head: Newest commit of the change, 40 hex digits.

    Returns:
        The checkout and "", or None and the reason as a clause.
    """
    try:
        for commit in (base, head):
            exists = ("cat-file", "-e", f"{_check_commit(commit)}^{{commit}}")
            git.run_git(exists, folder=git_dir, is_git_dir=True)
        start = _find_merge_base(git_dir, base, head)
    except HostError as exc:
        return None, exc.reason
    if start is None:
        return None, "it does not have the merge base of base and head"
    return Checkout(git_dir=git_dir, base=base, head=head, merge_base=start), ""


def _find_merge_base(git_dir: Path, base: str, head: str) -> str | None:
    """Return the merge base of two commits; None if the repository does not have it."""
    arguments = ("merge-base", _check_commit(base), _check_commit(head))
    # Exit code 1: the two commits have no common ancestor here, as in a shallow clone.
    output = git.run_git(arguments, folder=git_dir, is_git_dir=True, accepted_codes=(0, 1))
    text = output.decode().strip()
    return text if git.COMMIT.fullmatch(text) else None


def _check_commit(commit: str) -> str:
    """Return a commit hash; reject a text that git could interpret as an option or a name."""
    if not git.COMMIT.fullmatch(commit):
        raise HostError("git", f"{commit!r} is not a full commit hash")
    return commit


def _parse_blob(line: bytes) -> tuple[str, int] | None:
    """Return the name and the size of a blob from git's line about it; None for other lines."""
    match = _BLOB.fullmatch(line)
    return (match[1].decode(), int(match[2])) if match else None


def choose_files(
    entries: Iterable[tuple[str, int]], *, reason: str | None = None
) -> tuple[list[str], str | None]:
    """Choose files in the given order, as many as the limits allow, without binary files.

    Args:
        entries: Paths and sizes in bytes.
        reason: Why `entries` lacks files, as a clause; None if it has all files.

    Returns:
        The paths of the chosen files, and why files are missing, as a clause; None if none are.
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
    """Read the text files below a folder; in a work tree, without the files that git ignores.

    Args:
        folder: Root of the repository. Links below the root are not followed.
    """
    root = folder.resolve()
    # Untracked files are read too, because they can contain callers of the changed code.
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
            # A parent folder of the file can be a link that leads out of the root.
            is_inside = S_ISLNK(state.st_mode) or (root / path).resolve() == root / path
        except (OSError, ValueError, RuntimeError):
            is_inside = False
        if not is_inside or S_ISDIR(state.st_mode):
            reason = f"{path} is listed but cannot be read"
        # Only regular files are read, because opening a pipe would wait until a program writes.
        elif S_ISREG(state.st_mode):
            entries.append((path, state.st_size))
    paths, reason = choose_files(entries, reason=reason)
    texts: dict[str, bytes] = {}
    for path in paths:
        try:
            with (root / path).open("rb") as stream:
                # The file can have grown since its size was checked.
                texts[path] = stream.read(MAX_FILE_BYTES)
        except OSError:
            reason = f"{path} cannot be read"
    return Tree(_drop_binary(texts), reason)


def _drop_binary(texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Leave out binary files: as in git, these have a zero byte near the start."""
    # Git looks at 8,000 bytes: https://github.com/git/git/blob/master/xdiff-interface.c
    return {path: content for path, content in texts.items() if b"\0" not in content[:8000]}


def _walk(root: Path) -> Iterator[str]:
    """Yield the files below a folder that is not a work tree, up to about `MAX_FILES`."""
    # A list of folders, because folders can be nested more deeply than Python can recurse.
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
"""Returns the files of a repository; called only if they are needed."""
