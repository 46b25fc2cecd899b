"""Finds later commits that change lines of merged pull requests, with `git blame`.

Each commit of the base branch is compared with its first parent, so that a merge counts as one
change, like a squash (docs/design/032-escaped.md).
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from msgspec.structs import replace

from crscore.audit.score.followed import LaterChanges, word_text
from crscore.audit.store.database import Store
from crscore.audit.store.queries import comments_before_merge, pulls_to_follow
from crscore.audit.store.rows import Followed, LaterChange, Pull
from crscore.audit.sync.clones import clone_path
from crscore.diff import git
from crscore.diff.parse import parse_diff
from crscore.errors import CRScoreError, HostError
from crscore.records import ChangedFile, Hunk, LineKind

DAYS: Final = 30
"""Number of days after the merge in which commits count as later changes."""
# The number is the same as for comments that were acted on (`followed.REACH`).
NEAR_LINES: Final = 3
"""Maximum distance in lines between a comment and a changed line that counts as near."""
# A larger commit is not a single change (docs/design/032-escaped.md).
MAX_FILES: Final = 100
"""Maximum number of code files in a commit; larger commits are ignored."""
MISSING: Final = "the merge commit is not on its branch"
_PROSE: Final = frozenset({None, "csv", "json", "markdown", "rst", "text"})
"""Languages of files that are not code; None stands for an unknown language."""
# `tests/run.py`, `spec/a.rb`, `test_pay.py`, `pay_test.go`, `cart.spec.ts`
_TESTS: Final = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testdata|fixtures)/|(?:^|/)test_|[._-](?:test|spec)s?\."
)
# Type of a conventional commit, such as `fix(parser): ` or `feat!: `:
# https://www.conventionalcommits.org/en/v1.0.0/
_KIND: Final = re.compile(r"(?P<type>\w+)(?:\([^)]*\))?!?: ")
# `Fix a crash`, `bugfix`, `hot-fix`, `fixing`, `Reverts`, `regression`
_FIX: Final = re.compile(
    r"\b(?:(?:bug|hot)?-?fix(?:e[sd]|ing)?|bug ?fix(?:es)?|reverts?|regressions?)\b", re.IGNORECASE
)
# `Closes #3`, `fixed: acme/shop#3`; GitHub and GitLab close the issue:
# https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
_CLOSES: Final = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +(?:[\w.-]+/[\w.-]+)?#\d", re.IGNORECASE
)
_FEATURE: Final = re.compile(
    r"(?:add|allow|enable|implement|introduce|support)\w*\b", re.IGNORECASE
)
"""Start of the subject of a commit that adds a feature; the issue that it closes is no defect."""
# `fix typo`, `Fix the flaky tests`, `fix review feedback`
_NO_DEFECT: Final = re.compile(
    r"\bfix(?:e[sd]|ing)?\b(?:\W+\w+){0,3}?\W+(?:typos?|lint\w*|format\w*|styl\w+|spelling|"
    r"white ?space|indent\w*|tests?|docs?|docstrings?|ci|merge conflicts?|reviews?|"
    r"feedback|nits?)\b",
    re.IGNORECASE,
)
# Header of a line in git's porcelain output: `<commit> <original line> <final line>`. Fields of the
# commit follow, then a tab and the line.
_ORIGIN: Final = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?$")


class BranchCommit(NamedTuple):
    """Commit of a branch; only first parents are followed."""

    name: str
    """Hash of the commit."""
    parent: str
    """Hash of the first parent; empty for the first commit."""
    at: str
    """Commit time, ISO 8601 in UTC."""
    message: str


class Origin(NamedTuple):
    """Where a line was added."""

    commit: str
    path: str
    line: int
    """Line number, from 1."""


def find_escaped(store: Store, clones: Path, *, night: str) -> int:
    """Find and store the later commits that change lines of merged pull requests.

    Args:
        store: The store.
        clones: Folder of the bare clones.
        night: Date of the run, ISO 8601.

    Returns:
        Number of stored pairs of a pull request and a commit that changes its lines.

    Raises:
        StoreError: The store cannot be read or written.
    """
    stored = 0
    pulls = pulls_to_follow(store, DAYS)
    for (repository, base_ref), group in groupby(pulls, lambda row: (row.repository, row.base_ref)):
        merged = list(group)
        before = {row.number: row for row in store.find(Followed, repository=repository)}
        git_dir, reason, branch = clone_path(clones, repository), None, []
        try:
            branch = _read_branch(git_dir, base_ref, merged)
            reformatted: list[str] = []
            for commit, pulls_of_commit in _new_commits(branch, merged, before):
                files = _read_code(git_dir, commit)
                # If a commit only wraps or moves lines, they still belong to the commit that wrote
                # them. Without this rule, the precision in synthetic histories was 0.922 instead of
                # 0.951.
                if files and not any(file.hunks for file in files):
                    reformatted.append(commit.name)
                lines: dict[str, list[Origin]] = defaultdict(list)
                for file in files:
                    for origin in _find_origins(git_dir, branch, commit, file, reformatted):
                        lines[origin.commit].append(origin)
                for merge in sorted(lines.keys() & pulls_of_commit.keys()):
                    _store_change(store, git_dir, pulls_of_commit[merge], commit, lines[merge])
                    stored += 1
        except HostError as exc:
            reason = exc.reason
        on_branch = {commit.name for commit in branch}
        tip = branch[-1].name if branch else None
        states = []
        for pull in merged:
            problem = reason or (None if pull.merge_commit in on_branch else MISSING)
            # If an error occurred, the next run starts from the same commit again.
            last = before[pull.number].tip if pull.number in before else None
            key = {"repository": repository, "number": pull.number}
            states.append(
                Followed(**key, night=night, tip=last if problem else tip, reason=problem)
            )
        with store.transaction():
            store.put(states)
    return stored


def _read_branch(git_dir: Path, base_ref: str, pulls: Sequence[Pull]) -> list[BranchCommit]:
    """Return the commits of a branch since the first merge of these pull requests, oldest first."""
    if not git_dir.is_dir():
        raise HostError("git", "there is no clone")
    # All branches are listed, because the name of the branch is untrusted and must not be passed to
    # git as an argument.
    rows = _run(git_dir, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads/")
    pairs = (row.split(" ", 1) for row in rows.decode("utf-8", "replace").splitlines())
    tip = {name: tip for tip, name in pairs}.get(f"refs/heads/{base_ref}")
    if tip is None:
        raise HostError("git", "the branch no longer exists")
    first = min(pull.merged or "" for pull in pulls)
    since = f"--since={datetime.fromisoformat(first) - timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    form = "--format=%H%x00%P%x00%ct%x00%B%x00"
    text = _run(git_dir, "log", "--first-parent", "--reverse", since, form, tip, "--")
    fields = [field.strip() for field in text.decode("utf-8", "replace").split("\0")[:-1]]
    return [
        BranchCommit(
            name,
            parents.split(" ")[0],
            f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%SZ}",
            message,
        )
        for name, parents, seconds, message in zip(*[iter(fields)] * 4, strict=True)
    ]


def _new_commits(
    branch: Sequence[BranchCommit], pulls: Sequence[Pull], before: Mapping[int, Followed]
) -> Iterator[tuple[BranchCommit, dict[str, Pull]]]:
    """Yield each new commit with the pull requests that it may change, keyed by merge commit.

    A commit is new if the previous run did not read it, and if it is at most `DAYS` days younger
    than the merge.
    """
    # If a pull request was rebased onto the branch, only its last commit is followed. Moved lines
    # are not followed, either. With both, 0.904 instead of 0.834 of the synthetic defects would be
    # found, but with 180 more lines of code (docs/design/032-escaped.md).
    positions = {commit.name: at for at, commit in enumerate(branch)}
    new: dict[int, dict[str, Pull]] = defaultdict(dict)
    for pull in pulls:
        merge = positions.get(pull.merge_commit or "")
        if merge is None or pull.merge_commit is None or pull.merged is None:
            continue
        tip = before[pull.number].tip if pull.number in before else None
        until = datetime.fromisoformat(pull.merged) + timedelta(days=DAYS)
        for at in range(max(merge, positions.get(tip or "", merge)) + 1, len(branch)):
            if datetime.fromisoformat(branch[at].at) <= until:
                new[at][pull.merge_commit] = pull
    for at in sorted(new):
        yield branch[at], new[at]


def _store_change(
    store: Store, git_dir: Path, pull: Pull, commit: BranchCommit, lines: Sequence[Origin]
) -> None:
    """Store a commit that changes `lines` of a pull request, with the comments near these lines."""
    comments = [row for row in comments_before_merge(store, pull) if row.line is not None]
    later = LaterChanges(git_dir, pull, comments)
    near = []
    for comment in comments:
        path, span = later.lines_in(comment, lines[0].commit) or ("", range(0))
        reach = range(span.start - NEAR_LINES, span.stop + NEAR_LINES)
        if any(origin.path == path and origin.line in reach for origin in lines):
            near.append(comment.key)
    first = min(lines)
    with store.transaction():
        change = LaterChange(
            repository=pull.repository, number=pull.number, commit_id=commit.name, at=commit.at,
            fixes=int(is_fix(commit.message)), message=store.add_text(commit.message[:2_000]),
            path=first.path, line=first.line, near=json.dumps(near),
        )  # fmt: skip
        store.put([change])


def _read_code(git_dir: Path, commit: BranchCommit) -> list[ChangedFile]:
    """Return the code files that a commit changes, without hunks that only wrap or move code."""
    if not commit.parent:
        return []
    try:
        # With these options, neither configuration nor attributes change the patch.
        plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-relative")
        ends = (commit.parent, commit.name)
        patch = _run(git_dir, "diff-tree", "-p", "-U0", "-w", "-M", *plain, *ends, "--")
        files = parse_diff(patch).files if patch.strip() else ()
    # If the patch is too large, or git cannot write it, the commit is ignored.
    except CRScoreError:
        return []
    code = [row for row in files if row.language not in _PROSE and not _TESTS.search(row.path)]
    pairs: dict[Hunk, tuple[str, str]] = {}
    for hunk in (hunk for file in code for hunk in file.hunks):
        old, new = (
            "".join(word_text([line.text for line in hunk.lines_of(kind)]).split())
            for kind in (LineKind.REMOVED, LineKind.ADDED)
        )
        pairs[hunk] = old, new
    removed = {old for old, new in pairs.values() if not new}
    added = {new for old, new in pairs.values() if not old}
    # A hunk that wraps code removes and adds the same words. If code is moved, one hunk removes the
    # same words that another hunk adds.
    unchanged = {
        hunk for hunk, (old, new) in pairs.items() if old == new or old + new in removed & added
    }
    return [
        replace(file, hunks=tuple(hunk for hunk in file.hunks if hunk not in unchanged))
        for file in code
        if len(code) <= MAX_FILES
    ]


def _find_origins(
    git_dir: Path,
    branch: Sequence[BranchCommit],
    commit: BranchCommit,
    file: ChangedFile,
    reformatted: Sequence[str],
) -> Iterator[Origin]:
    """Find where the lines that a commit removes from a file, or replaces, had been added.

    For a hunk that only adds lines, the newer of the two neighbouring lines counts.

    Args:
        git_dir: Bare clone.
        branch: Commits of the branch, the oldest first; only lines that they added are found.
        commit: The commit.
        file: One of the files that the commit changes.
        reformatted: Commits to ignore, because they only wrap or move lines.
    """
    # One call of `git blame` reads the lines of all hunks, because each call reads the history
    # again. A hunk that only adds lines has length 0; its two neighbouring lines are read. At line
    # 0, before the first line of the file, it has no neighbour before it and is ignored.
    spans = {
        range(hunk.old_start, hunk.old_start + (hunk.old_length or 2)): bool(hunk.old_length)
        for hunk in file.hunks
        if hunk.old_start
    }
    if not spans:
        return
    # With this range, git stops at the first commit of `branch`.
    parent = branch[0].parent
    commits = f"{parent}..{commit.parent}" if parent else commit.parent
    ranges = [f"-L{span.start},{span.stop - 1}" for span in spans]
    ignored = [part for revision in reformatted for part in ("--ignore-rev", revision)]
    ages = {row.name: at for at, row in enumerate(branch)}
    path = file.old_path or file.path
    options = ("blame", "-w", "--first-parent", "--porcelain", *ignored, *ranges)
    # Origins of the lines that are not blank, by line number; None for a line without a word, such
    # as a bracket.
    lines: dict[int, Origin | None] = {}
    paths: dict[str, str] = {}
    name, origin_line, number = "", 0, 0
    for row in _run(git_dir, *options, commits, "--", path).split(b"\n"):
        if match := _ORIGIN.match(row):
            name, origin_line, number = match[1].decode(), int(match[2]), int(match[3])
        elif row.startswith(b"filename "):
            # A path in git is a sequence of bytes, which need not be UTF-8.
            paths[name] = row[9:].decode("utf-8", "surrogateescape")
        elif row.startswith(b"\t") and row.strip():
            has_word = re.search(rb"\w", row)
            lines[number] = Origin(name, paths[name], origin_line) if has_word else None
    for span, replaces in spans.items():
        blamed = [lines[at] for at in span if at in lines]
        origins = [origin for origin in blamed if origin]
        # Most defects are in new code, so of two neighbouring lines, the newer one counts.
        newest = max((ages.get(row.commit, -1) for row in origins), default=-1)
        if replaces:
            yield from origins
        # Lines that are added next to a blank line, or at the end of a file, are probably new code
        # and not a fix, so they have no origin.
        elif len(blamed) == len(span):
            yield from (row for row in origins if ages.get(row.commit, -1) == newest)


def is_fix(message: str) -> bool:
    """Return whether a commit message says that it fixes or reverts something or closes an issue.

    Example:
        >>> [is_fix(text) for text in ("Fix a crash", "feat: retry (fixes #3)", "fix typo")]
        [True, False, False]
    """
    subject = message.partition("\n")[0]
    # The first line of a merge names a branch; GitHub writes the pull request's title below it.
    if subject.startswith("Merge pull request "):
        subject = " ".join(message.split("\n")[1:3]).strip()
    kind = _KIND.match(subject)
    if kind and kind["type"].casefold() not in ("fix", "hotfix", "bugfix", "revert", "bug"):
        return False
    if re.match(r"revert\b", subject, re.IGNORECASE):
        # `Revert "Revert "Add a cache""` restores a change and fixes nothing.
        return not re.match(r"revert\W+revert\b", subject, re.IGNORECASE)
    if _NO_DEFECT.search(subject):
        return False
    is_feature = _FEATURE.match(subject)
    return bool(_FIX.search(subject) or (_CLOSES.search(message) and not is_feature))


def _run(git_dir: Path, *arguments: str) -> bytes:
    return git.run_git(arguments, folder=git_dir, is_git_dir=True, max_bytes=64_000_000)
