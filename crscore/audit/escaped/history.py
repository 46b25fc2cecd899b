"""History of a branch, and which of its commits brought the lines that a later one changes.

A commit counts as what it adds to its first parent: a merge is the whole pull request.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from crscore.audit.signals.align import file_words
from crscore.diff import git
from crscore.diff.parse import parse_diff
from crscore.errors import CRScoreError, HostError
from crscore.records import ChangedFile, Hunk, LineKind

MAX_FILES: Final = 100
"""Files of code of a commit above which it is no single change, and is not followed."""
_BATCH: Final = 64
"""Commits whose patches one process prints."""
_MAX_BYTES: Final = 64_000_000
_DIFF: Final = (
    "diff-tree", "-p", "-U0", "-w", "-M", "--no-color", "--no-ext-diff", "--no-textconv",
    "--no-relative",
)  # fmt: skip
_BLAME: Final = ("blame", "-w", "-M40", "-C60", "--first-parent", "--porcelain")
_AROUND: Final = 25
"""Lines around a change whose origin is searched, too."""
_ADDED, _REMOVED = LineKind.ADDED, LineKind.REMOVED
_PROSE: Final = frozenset({None, "csv", "json", "markdown", "rst", "text"})
"""Languages, or none, in which no defect of code is."""
_TESTS: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testdata|fixtures)/|(?:^|/)test_|[._-](?:test|spec)s?\."
)
_KIND: Final = re.compile(r"(?P<type>\w+)(?:\([^)]*\))?!?: ")
"""Start of a conventional subject: `fix(parser): `."""
_FIX: Final = re.compile(
    r"\b(?:(?:bug|hot)?-?fix(?:e[sd]|ing)?|bug ?fix(?:es)?|reverts?|regressions?)\b", re.IGNORECASE
)
_CLOSES: Final = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +(?:[\w.-]+/[\w.-]+)?#\d", re.IGNORECASE
)
_FEATURE: Final = re.compile(
    r"(?:add|allow|enable|implement|introduce|support)\w*\b", re.IGNORECASE
)
"""Start of a subject of a commit that closes a wish, unless it says that it fixes something."""
_NO_DEFECT: Final = re.compile(
    r"\bfix(?:e[sd]|ing)?\b(?:\W+\w+){0,3}?\W+(?:typos?|lint\w*|format\w*|styl\w+|spelling|"
    r"white ?space|indent\w*|tests?|docs?|docstrings?|ci|merge conflicts?|reviews?|"
    r"feedback|nits?)\b",
    re.IGNORECASE,
)
# `<commit> <line there> <line here>`, then facts of the commit, then the line after a tab.
_ORIGIN: Final = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?$")


class Landing(NamedTuple):
    """Commit of a branch, without those that a merge brought."""

    commit: str
    parent: str
    """First parent; empty for the first commit."""
    at: str
    """When it came, ISO 8601 in UTC."""
    signer: str
    """Author and time of writing, which a rebase keeps."""
    message: str


class Origin(NamedTuple):
    """Line in the commit that brought it."""

    commit: str
    path: str
    line: int
    """From 1."""


def branch_tips(git_dir: Path) -> dict[str, str]:
    """Return the newest commit of each branch: by exact name, as the host's text is no argument.

    Raises:
        HostError: git failed.
    """
    rows = _run(git_dir, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/")
    pairs = (row.split(" ", 1) for row in rows.decode("utf-8", "replace").splitlines())
    return {name.removeprefix("refs/heads/"): tip for tip, name in pairs}


def ancestor(git_dir: Path, commit: str, generations: int) -> str | None:
    """Return the first parents' parent so many generations before; None where there is none.

    Raises:
        HostError: git failed.
    """
    limit = f"--max-count={generations + 1}"
    commits = _run(git_dir, "rev-list", "--first-parent", limit, commit, "--").decode().split()
    return commits[-1] if len(commits) > generations else None


def read_branch(git_dir: Path, tip: str, before: str | None) -> list[Landing]:
    """Return the commits of a branch, the newest first.

    Args:
        git_dir: The clone.
        tip: Newest commit.
        before: Newest commit that is left out; None for the whole history.

    Raises:
        HostError: git failed.
    """
    bounds = (tip, f"^{before}") if before else (tip,)
    form = "--format=%H%x00%P%x00%ct%x00%at %ae%x00%B%x00"
    text = _run(git_dir, "log", "--first-parent", form, *bounds, "--").decode("utf-8", "replace")
    fields = [field.strip() for field in text.split("\0")[:-1]]
    return [
        Landing(
            commit,
            parents.split(" ")[0],
            f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%SZ}",
            signer,
            message,
        )
        for commit, parents, seconds, signer, message in zip(*[iter(fields)] * 5, strict=True)
    ]


def read_signers(git_dir: Path, commits: Iterable[str], *without: str) -> dict[str, str]:
    """Return the signers of commits by commit.

    Args:
        git_dir: The clone, which has all the commits.
        commits: The commits.
        without: With commits here, the histories of `commits` count, without these commits'.

    Raises:
        HostError: git failed.
    """
    revisions = [*sorted(commits), *(f"^{commit}" for commit in without)]
    walk = () if without else ("--no-walk=unsorted",)
    lines = "".join(f"{revision}\n" for revision in revisions).encode()
    text = _run(git_dir, "log", "--format=%H %at %ae", *walk, "--stdin", input_bytes=lines)
    rows = text.decode("utf-8", "replace").splitlines() if commits else ()
    return dict(row.split(" ", 1) for row in rows)


def is_fix(message: str) -> bool:
    """Return whether a message says that the commit fixes or reverts something, or closes an issue.

    Example:
        >>> [is_fix(text) for text in ("Fix a crash", "feat: retry (fixes #3)", "fix typo")]
        [True, False, False]
    """
    subject = message.partition("\n")[0]
    # The subject of a merge names a branch; GitHub puts the pull request's title below it.
    if subject.startswith("Merge pull request "):
        subject = " ".join(message.split("\n")[1:3]).strip()
    kind = _KIND.match(subject)
    if kind and kind["type"].casefold() not in ("fix", "hotfix", "bugfix", "revert", "bug"):
        return False
    if re.match(r"revert\b", subject, re.IGNORECASE):
        return not re.match(r"revert\W+revert\b", subject, re.IGNORECASE)
    if _NO_DEFECT.search(subject):
        return False
    is_wish = _FEATURE.match(subject)
    return bool(_FIX.search(subject) or (_CLOSES.search(message) and not is_wish))


def read_changes(
    git_dir: Path, landings: Sequence[Landing]
) -> Iterator[tuple[Landing, list[ChangedFile]]]:
    """Yield commits with the files of code that they change by more than white space.

    Prose, data and tests are left out. A commit that is too large has none.
    """
    for start in range(0, len(landings), _BATCH):
        batch = [row for row in landings[start : start + _BATCH] if row.parent]
        try:
            patches = _read_patches(git_dir, batch)
        except HostError:
            # Above the limit: one by one.
            patches = {}
            for row in batch:
                with contextlib.suppress(HostError):
                    patches |= _read_patches(git_dir, [row])
        for landing in batch:
            yield landing, _read_patch(patches.get(landing.commit.encode(), b""))


def _read_patches(git_dir: Path, landings: Sequence[Landing]) -> dict[bytes, bytes]:
    pairs = "".join(f"{row.commit} {row.parent}\n" for row in landings).encode()
    text = _run(git_dir, *_DIFF, "--stdin", input_bytes=pairs)
    # Each patch follows a line with its commit; no other line of a patch is one.
    parts = re.split(rb"^([0-9a-f]{40,64})\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _read_patch(patch: bytes) -> list[ChangedFile]:
    try:
        files = parse_diff(patch).files if patch.strip() else ()
    # A patch above the limits, or that no parser of diffs reads.
    except CRScoreError:
        return []
    code = [row for row in files if row.language not in _PROSE and not _TESTS.search(row.path)]
    return code if len(code) <= MAX_FILES else []


def real_hunks(files: Sequence[ChangedFile]) -> list[list[Hunk]]:
    """Return the hunks of each file that change a word: not its line, nor only its place."""
    words = [[(_words(row, _REMOVED), _words(row, _ADDED)) for row in file.hunks] for file in files]
    pairs = [pair for row in words for pair in row]
    moved = {old for old, new in pairs if not new} & {new for old, new in pairs if not old}
    return [
        [
            hunk
            for hunk, (old, new) in zip(file.hunks, row, strict=True)
            if old != new and old + new not in moved
        ]
        for file, row in zip(files, words, strict=True)
    ]


def _words(hunk: Hunk, kind: LineKind) -> tuple[str, ...]:
    return tuple(file_words([line.text for line in hunk.lines_of(kind)]))


class Bounds(NamedTuple):
    """Where origins are searched."""

    before: str | None
    """Newest commit in which none is searched."""
    order: Mapping[str, int]
    """Rank of the commits, 0 for the newest."""
    reformatted: Sequence[str]
    """Commits that brought no line, as they only reformatted."""


def find_origins(
    git_dir: Path,
    landing: Landing,
    files: Sequence[ChangedFile],
    hunks: Sequence[Sequence[Hunk]],
    bounds: Bounds,
) -> list[Origin]:
    """Find the commits that brought the lines that a commit removes or replaces.

    Where it only adds lines, these are the lines next to them, or the newer one of the two: young
    code has most defects.

    Args:
        git_dir: The clone.
        landing: The commit.
        files: Its files of code.
        hunks: Hunks of each of them.
        bounds: Where to search.

    Raises:
        HostError: git failed.
    """
    origins: list[Origin] = []
    options = [part for commit in bounds.reformatted for part in ("--ignore-rev", commit)]
    commits = f"{bounds.before}..{landing.parent}" if bounds.before else landing.parent
    for file, hunks_of_file in zip(files, hunks, strict=True):
        # A hunk at line 0 is before the first line; two lines are around one that adds.
        spans = {
            range(row.old_start, row.old_start + (row.old_length or 2)): bool(row.old_length)
            for row in hunks_of_file
            if row.old_start
        }
        if not spans:
            continue
        # With lines around: git knows a block that moved by its size.
        ranges = [f"-L{max(1, span.start - _AROUND)},{span.stop + _AROUND}" for span in spans]
        path = file.old_path or file.path
        text = _run(git_dir, *_BLAME, *options, *ranges, commits, "--", path)
        lines = dict(_read_blame(text))
        for span, replaces in spans.items():
            blamed = [lines[at] for at in span if at in lines]
            with_words = [origin for origin in blamed if origin]
            if replaces:
                origins += with_words
            # New lines beside a blank one, or at the end, are rather new code.
            elif with_words and len(blamed) == len(span):
                ages = [bounds.order.get(row.commit, len(bounds.order)) for row in with_words]
                origins += [
                    row for row, age in zip(with_words, ages, strict=True) if age == min(ages)
                ]
    return origins


def _read_blame(text: bytes) -> Iterator[tuple[int, Origin | None]]:
    """Yield line number and origin of the lines that are not blank; None without a word."""
    paths: dict[str, str] = {}
    commit, origin_line, line_number = "", 0, 0
    for row in text.split(b"\n"):
        if match := _ORIGIN.match(row):
            commit, origin_line, line_number = match[1].decode(), int(match[2]), int(match[3])
        elif row.startswith(b"filename "):
            paths[commit] = row[9:].decode("utf-8", "surrogateescape")
        elif row.startswith(b"\t") and row.strip():
            has_word = re.search(rb"\w", row)
            yield line_number, Origin(commit, paths[commit], origin_line) if has_word else None


def _run(git_dir: Path, *arguments: str, input_bytes: bytes = b"") -> bytes:
    return git.run_git(
        arguments, folder=git_dir, is_git_dir=True, input_bytes=input_bytes, max_bytes=_MAX_BYTES
    )
