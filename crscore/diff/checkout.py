"""Change of a pull request from a local checkout, read with git.

The files in the work tree belong to the change and must not affect how it is read: its
`.gitattributes` could declare its own code binary or name a driver. So git compares two trees with
the attributes of the base branch. The configuration in `.git` and in the home folder is trusted;
settings that could change the text are overridden.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from crscore.diff import full_files, git, parse, tree
from crscore.errors import HostError, InputError
from crscore.records import Diff

# From `ls-tree -l`: "100644 blob <hash>     120\t<path>"; 120000 is a link, 160000 a submodule.
_ENTRY: Final = re.compile(rb"([0-9]{6}) \w+ ([0-9a-f]+) +([0-9]+|-)\t(.*)", re.DOTALL)
# "<hash> blob 120"; not "<name> missing" or a folder ("<hash> tree 37")
_BLOB: Final = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) blob ([0-9]+)")
# `git diff-tree` reads less of the user's configuration than `git diff`. The settings that it reads
# are overridden here, so that the text is the one that GitHub shows: git's defaults, by
# https://git-scm.com/docs/diff-config.
_PRINT: Final = (
    "diff-tree", "-r", "-p", "--full-index", "-M50%", "-l1000", "-U3", "--inter-hunk-context=0",
    "--diff-algorithm=myers", "--indent-heuristic", "--src-prefix=a/", "--dst-prefix=b/",
    "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short",
    "--ignore-submodules=none",
)  # fmt: skip
_MAX_TEXT_BYTES: Final = 1_000_000
# Maximum bytes of a line about one object: its name and size, or the missing path.
_LINE_BYTES: Final = 10_000
_DEFAULT_DIFF_BYTES: Final = parse.DiffLimits().max_diff_bytes


class CheckoutSearch(NamedTuple):
    """Result of the search for a checkout."""

    checkout: Checkout | None
    """Usable checkout, or None."""
    reason: str | None
    """Reason that there is no checkout, as a clause; None if there is one."""


class _Blob(NamedTuple):
    name: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """Git repository on this machine that has both ends of a change."""

    git_dir: Path
    """Path of its `.git`."""
    base: str
    """Tip of the base branch, 40 hex digits."""
    head: str
    """Newest commit of the change, 40 hex digits."""
    merge_base: str
    """Merge base of the two."""

    def diff(self, *, max_bytes: int = _DEFAULT_DIFF_BYTES) -> bytes:
        """Return the change, as `git diff base...head` prints it.

        Raises:
            HostError: git failed, or the change is larger than `max_bytes`.
        """
        return self._compare(self.merge_base, self.head, max_bytes)

    def diff_to(self, commit: str) -> bytes | None:
        """Return the change up to an older commit; None if that commit is not available here."""
        try:
            start = _merge_base(self.git_dir, self.base, commit)
            return None if start is None else self._compare(start, commit, _DEFAULT_DIFF_BYTES)
        except HostError:
            return None

    def change(self, limits: full_files.Limits) -> tuple[Diff, tuple[str, ...]]:
        """Read the change with its whole files, and notes on omitted ones.

        Raises:
            HostError: git failed, or the change cannot be read or is larger than the limits.
        """
        text = self.diff(max_bytes=limits.diff.max_diff_bytes)
        # The parser rejects an empty text; here it means a pull request without a change.
        if not text:
            return Diff(files=(), sha256=hashlib.sha256(text).hexdigest()), ()
        try:
            parsed = parse.parse_diff(text, source="git diff", limits=limits.diff)
        except InputError as exc:
            raise HostError("git diff", str(exc)) from exc
        paths, left_notes = full_files.needed(parsed, limits)
        texts, notes = self.texts(self.head, paths, limits)
        return full_files.add(parsed, texts), (*left_notes, *notes)

    def texts(
        self, commit: str, paths: Sequence[str], limits: full_files.Limits
    ) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """Read files as they are at a commit.

        Args:
            commit: Name of the commit.
            paths: The files. A path with a line feed cannot be read.
            limits: Limits on the files.

        Returns:
            The texts of the files that exist and are within the limits, invalid UTF-8 replaced; and
            a note for each reason for which others were left out.

        Raises:
            HostError: git failed.
        """
        # `cat-file --batch-check` takes one name a line: https://git-scm.com/docs/git-cat-file
        readable = [path for path in paths if "\n" not in path]
        if not readable:
            return {}, ()
        request = "".join(f"{_checked_commit(commit)}:{path}\n" for path in readable)
        listed = self._cat("--batch-check", request, len(readable) * _LINE_BYTES).split(b"\n")
        blobs_of_lines = map(_parse_blob, listed[: len(readable)])
        blob_by_path = dict(zip(readable, blobs_of_lines, strict=True))
        chosen_paths, notes = full_files.fit(
            {path: blob.size for path, blob in blob_by_path.items() if blob}, readable, limits
        )
        blobs = [blob for path in chosen_paths if (blob := blob_by_path[path])]
        contents = zip(chosen_paths, self._contents(blobs), strict=True)
        return {path: data.decode("utf-8", "replace") for path, data in contents}, notes

    def text(self, commit: str, path: str) -> str | None:
        """Read one small file at a commit; return None if it is missing or too large.

        Raises:
            HostError: git failed.
        """
        limits = full_files.Limits(max_source_bytes=_MAX_TEXT_BYTES)
        return self.texts(commit, [path], limits)[0].get(path)

    def tree(self) -> tree.Tree:
        """Read all text files at the head, within the limits of `crscore.diff.tree`."""
        names = ("ls-tree", "-r", "-l", "-z", "--full-tree", _checked_commit(self.head))
        blobs: dict[str, _Blob] = {}
        reason = None
        try:
            listed = git.run_git(
                names, folder=self.git_dir, is_git_dir=True, max_bytes=tree.MAX_LIST_BYTES
            )
            for entry in listed.split(b"\0")[:-1]:
                match = _ENTRY.fullmatch(entry)
                if match is None:
                    raise HostError("git ls-tree", "its list cannot be read")
                mode, name, size, path_bytes = match.groups()
                path = path_bytes.decode("utf-8", "surrogateescape")
                # The content of a link (120000) is the path that it leads to, which may be outside.
                if mode.startswith(b"100"):
                    blobs[path] = _Blob(name.decode(), int(size))
                elif mode == b"160000":
                    reason = f"{path} is a submodule"
            entries = ((path, blob.size) for path, blob in blobs.items())
            paths, reason = tree.choose(entries, reason=reason)
            contents = self._contents([blobs[path] for path in paths])
            texts = tree.without_binary(dict(zip(paths, contents, strict=True)))
        except HostError as exc:
            return tree.Tree({}, exc.reason)
        return tree.Tree(texts, reason)

    def _contents(self, blobs: Sequence[_Blob]) -> Iterator[bytes]:
        """Yield the contents of blobs; git prints a line about each, its bytes and a line end."""
        if not blobs:
            return
        max_bytes = sum(blob.size + _LINE_BYTES for blob in blobs)
        text = self._cat("--batch", "".join(f"{blob.name}\n" for blob in blobs), max_bytes)
        position = 0
        for blob in blobs:
            start = text.find(b"\n", position) + 1
            if _parse_blob(text[position : start - 1]) != blob:
                raise HostError("git cat-file", f"object {blob.name} cannot be read")
            position = start + blob.size + 1
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
        """Compare two commits with the attributes of the base only.

        Git reads attributes from the work tree, then from the index, so it gets an empty folder as
        its work tree and the files of the base as its index. Versions that know `GIT_ATTR_SOURCE`
        (https://git-scm.com/docs/git) need neither.
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
            commits = (_checked_commit(start), _checked_commit(end), "--")
            return git.run_git(
                (*_PRINT, *commits), folder=work_tree, variables=variables, max_bytes=max_bytes
            )


def find_checkout(folder: Path, base: str, head: str) -> CheckoutSearch:
    """Find a checkout that has both ends of a change and their merge base.

    Args:
        folder: A folder of the work tree.
        base: Tip of the base branch, 40 hex digits.
        head: Newest commit of the change, 40 hex digits.

    Returns:
        The checkout, or the reason that there is none: no repository, missing commits (as in most
        clones of depth 1), or a folder of another user that git does not trust.
    """
    try:
        output = git.run_git(("rev-parse", "--absolute-git-dir"), folder=folder)
    except HostError as exc:
        return CheckoutSearch(None, exc.reason)
    git_dir = output.decode("utf-8", "surrogateescape").rstrip("\n")
    return open_git_dir(Path(git_dir), base, head)


def open_git_dir(git_dir: Path, base: str, head: str) -> CheckoutSearch:
    """Open a `.git`, or a bare clone, that has both ends of a change and their merge base.

    Args:
        git_dir: Path of the `.git` or of the bare clone itself, which is trusted.
        base: Tip of the base branch, 40 hex digits.
        head: Newest commit of the change, 40 hex digits.

    Returns:
        The checkout, or the reason that there is none.
    """
    try:
        for commit in (base, head):
            exists = ("cat-file", "-e", f"{_checked_commit(commit)}^{{commit}}")
            git.run_git(exists, folder=git_dir, is_git_dir=True)
        start = _merge_base(git_dir, base, head)
    except HostError as exc:
        return CheckoutSearch(None, exc.reason)
    if start is None:
        return CheckoutSearch(None, "it does not have the merge base of base and head")
    return CheckoutSearch(Checkout(git_dir=git_dir, base=base, head=head, merge_base=start), None)


def _merge_base(git_dir: Path, base: str, head: str) -> str | None:
    """Return the merge base of two commits; None if the repository does not have it."""
    arguments = ("merge-base", _checked_commit(base), _checked_commit(head))
    # Exit code 1: the two commits have no common ancestor here, as in a shallow clone.
    output = git.run_git(arguments, folder=git_dir, is_git_dir=True, accepted_codes=(0, 1))
    text = output.decode().strip()
    return text if git.COMMIT.fullmatch(text) else None


def _checked_commit(commit: str) -> str:
    """Return a commit hash; reject values that git could interpret as an option or a name."""
    if not git.COMMIT.fullmatch(commit):
        raise HostError("git", f"{commit!r} is not a full commit hash")
    return commit


def _parse_blob(line: bytes) -> _Blob | None:
    match = _BLOB.fullmatch(line)
    return _Blob(match[1].decode(), int(match[2])) if match else None
