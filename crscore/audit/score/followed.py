"""Checks with `git diff` whether the lines of a review comment changed later.

The diff starts at the newest commit that is older than the comment, because earlier fixes cannot be
a response to the comment; it ends at the last commit of the pull request. A line counts as changed
if it is at most three lines from a changed line. On 801 real comments, this rule agreed with a
reader no worse than a method that tracks the text of each line through moves and merges
(docs/design/031-decisions.md).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from crscore.audit.store.rows import Comment, Pull
from crscore.diff import git
from crscore.diff.parse import parse_diff
from crscore.diff.ranges import join_ranges
from crscore.errors import InputError
from crscore.records import ChangedFile, FileStatus, Hunk

# On the 801 real comments with which the number was chosen, F1 is 0.903; if only the commented
# lines themselves counted, it would be 0.854.
REACH: Final = 3
"""Number of lines before and after the commented lines whose change also counts."""
# While authors work on a change, they also change lines that nobody commented on. The base rate
# says how often. It is counted over units: groups of as many lines as the comment covers. In hunks
# that also have uncommented lines, authors acted on 41 % of 74 comments of bots and changed 14 % of
# the uncommented lines (docs/design/025-audits.md).
MIN_UNITS: Final = 3
"""If the comment's hunk has fewer uncommented units, the base rate is that of the entire file."""
MAX_UNITS: Final = 40
"""Maximum number of units for a base rate; if there are more, evenly spaced units are used."""
# `-w` is set because reformatting does not address a comment. With more than 1,000 files (`-l`),
# git finds only exact renames.
DIFF: Final = ("diff", "-w", "--ignore-blank-lines", "-M50%", "-l1000", "--no-relative")
"""Arguments of git: ignore white space; a renamed file has at least half of the old lines."""
# Words and symbols, but not commas and quotes, because formatters change these.
_TOKEN: Final = re.compile(r"\w+|[^\w\s,'\"`]")

Changes = Mapping[str, ChangedFile]
"""Files that differ between two commits, by their path in the older commit."""


class SignalValue(NamedTuple):
    """Value of a signal, with the base rate to compare it with."""

    value: bool | None
    """Whether the comment was acted on; None if unknown."""
    base: tuple[int, int] | None = None
    """Base rate: the number of uncommented units that changed, and the number of all uncommented
    units; None if unknown."""


class LaterChanges:
    """Finds later changes of the commented files of one pull request.

    Args:
        clone: Bare clone of the repository.
        pull: The pull request.
        comments: All review comments on the pull request; base rates leave out their lines.

    Raises:
        HostError: git failed.
    """

    def __init__(self, clone: Path, pull: Pull, comments: Sequence[Comment]) -> None:
        self._clone, self._pull = clone, pull
        # git does not accept the NUL character in a path.
        self._paths = {path for row in comments if (path := row.path) and "\0" not in path}
        # The results of these functions are cached, because each call starts a git process.
        self._exists = cache(lambda commit: not git.missing_commits(clone, [commit]))
        self._later_commits, self._changes = cache(self._list_later), cache(self._compare)
        self._merge_base = cache(
            lambda commit: self._run("merge-base", pull.base, commit).decode().strip()
        )
        # The head is preferred, because the merge commit also contains other changes of the base
        # branch.
        ends = [end for end in (pull.head, pull.merge_commit) if end]
        self._last = next((end for end in ends if self._exists(end)), None)
        self._commented: dict[str, list[range]] = {}
        for comment in comments:
            lines = self._find_lines(comment)
            if lines is not None:
                self._commented.setdefault(comment.path or "", []).append(lines)

    def check_acted_on(self, comment: Comment) -> SignalValue:
        """Return whether the lines of a comment changed after the comment, with the base rate."""
        comment = self._move(comment)
        lines = self._find_lines(comment)
        changes = self._changes(comment.commit_id or "", self._last or "")
        if lines is None or changes is None:
            return SignalValue(None)
        file = changes.get(comment.path or "")
        if file and (file.is_binary or file.is_missing):
            return SignalValue(None)
        return SignalValue(is_changed(file, lines), self._compute_base_rate(comment, file, lines))

    def _move(self, comment: Comment) -> Comment:
        """Move a comment to the newest commit that existed when the comment was written."""
        created = datetime.fromisoformat(comment.created).timestamp()
        later = self._later_commits(comment.commit_id or "")
        commit = next((commit for time, commit in later if int(time) <= created), None)
        if commit is None or (place := self.lines_in(comment, commit)) is None:
            return comment
        path, lines = place
        if path not in self._paths:
            self._paths.add(path)
            # The cached diffs do not contain this file.
            self._changes.cache_clear()
        moved = replace(comment, commit_id=commit, path=path, side="new")
        return replace(moved, start_line=lines.start, line=lines.stop - 1)

    def _list_later(self, commit: str) -> list[list[str]]:
        """Return the time and the hash of each descendant of a commit, the newest first."""
        # After a rebase, an old commit has no descendants. Commits of the base branch that were
        # merged are no descendants, either.
        if self._last is None or not self._exists(commit):
            return []
        arguments = ("rev-list", "--timestamp", "--ancestry-path", f"{commit}..{self._last}", "--")
        return [line.split() for line in self._run(*arguments).decode().splitlines()]

    def lines_in(self, comment: Comment, commit: str) -> tuple[str, range] | None:
        """Return the path and the lines (from 1) of a comment in another commit; None if unknown.

        If the file did not change, or the clone lacks the commit that the comment was written on,
        the path and the lines are returned unchanged.
        """
        lines, path = self._find_lines(comment), comment.path
        if lines is None or path is None:
            return None
        changes = self._changes(comment.commit_id or "", commit)
        file = changes.get(path) if changes else None
        if file is None:
            return path, lines
        start, stop, before, within = lines.start, lines.stop, 0, 0
        for hunk in file.hunks:
            # If a hunk only adds lines, its start is the line before them.
            first = hunk.old_start + (hunk.old_length == 0)
            growth = hunk.new_length - hunk.old_length
            if _overlaps(hunk, range(lines.start - 1, lines.stop + 1)):
                start, stop = min(start, first), max(stop, first + hunk.old_length)
                within += growth
            elif first < lines.start:
                before += growth
        return file.path, range(start + before, stop + before + within)

    def _find_lines(self, comment: Comment) -> range | None:
        """Return the lines (from 1) of a comment in its commit; None if unknown."""
        if self._last is None or comment.line is None or comment.commit_id is None:
            return None
        lines = range(comment.start_line or comment.line, comment.line + 1)
        if comment.side != "old":
            return lines
        # For a comment on removed lines, use the lines that replaced them.
        changes = self._pull_changes(comment.commit_id) or {}
        file = next((file for file in changes.values() if file.path == comment.path), None)
        hunks = file.hunks if file else ()
        hunk = next((hunk for hunk in hunks if _overlaps(hunk, lines)), None)
        if hunk is None:
            return None
        start = hunk.new_start + (hunk.new_length == 0)
        return range(start, start + hunk.new_length)

    def _compute_base_rate(
        self, comment: Comment, file: ChangedFile | None, lines: range
    ) -> tuple[int, int] | None:
        """Return how many uncommented units of the pull request changed, and how many there are.

        A unit has as many lines as the comment, because a change is more likely in ten lines than
        in one line. The units are those of the comment's hunk or, if this has fewer than
        `MIN_UNITS`, those of the entire file. The result is None if it is unknown what the pull
        request had changed.

        Args:
            comment: The comment.
            file: Later change of the commented file; None if it is unchanged.
            lines: Lines of the comment.
        """
        changes = self._pull_changes(comment.commit_id or "")
        if changes is None:
            return None
        files = (changed for changed in changes.values() if changed.path == comment.path)
        added = [
            (hunk.new_start, hunk.new_start + hunk.new_length - 1)
            for changed in files
            for hunk in changed.hunks
            if hunk.new_length
        ]
        size, commented = max(1, len(lines)), [lines, *self._commented.get(comment.path or "", ())]
        units = [
            unit
            for first, last in added
            for start in range(first, last - size + 2, size)
            if not any(_are_near(unit := range(start, start + size), near) for near in commented)
        ]
        # Hosts show two changes in one hunk if at most six lines, the context of both, are between
        # them.
        spans = (range(first, last + 1) for first, last in join_ranges(added, gap=2 * REACH + 1))
        hunk = next((span for span in spans if _are_near(span, lines)), range(0))
        in_hunk = [unit for unit in units if unit.start in hunk]
        units = in_hunk if len(in_hunk) >= MIN_UNITS else units
        # In a file of thousands of lines, a sample of the units is enough.
        units = units[:: len(units) // MAX_UNITS + 1]
        changed_units = sum(is_changed(file, unit) for unit in units)
        return changed_units, len(units)

    def _pull_changes(self, commit: str) -> Changes | None:
        """Return the changes of the pull request up to a commit; None if unknown."""
        base = self._pull.base
        if not (self._exists(base) and self._exists(commit)):
            return None
        # If the merge base is the commit itself, the commit is part of the base branch.
        start = self._merge_base(commit)
        return None if start in ("", commit) else self._changes(start, commit)

    def _compare(self, old: str, new: str) -> Changes | None:
        """Return the commented files that differ between two commits; None if unknown."""
        if not self._exists(old):
            return None
        # Only commented files are compared, because a merge of the base branch may change thousands
        # of files.
        renames = self._run(*DIFF, "--name-status", "-z", "--diff-filter=R", old, new, "--")
        fields = renames.decode("utf-8", "surrogateescape").split("\0")[:-1]
        pairs = zip(fields[1::3], fields[2::3], strict=True)
        renamed = {path for pair in pairs if self._paths & {*pair} for path in pair}
        paths = sorted(self._paths | renamed)
        # A file may have a name that git would read as a pattern, such as `:(top)*`:
        # https://git-scm.com/docs/gitglossary
        text = self._run("--literal-pathspecs", *DIFF, "-U0", old, new, "--", *paths)
        try:
            files = parse_diff(text).files if text and paths else ()
        except InputError:
            return None
        return {file.old_path or file.path: file for file in files}

    def _run(self, *arguments: str) -> bytes:
        # `git merge-base` exits with 1 if the histories have no common commit.
        codes = (0, 1) if arguments[0] == "merge-base" else (0,)
        return git.run_git(
            arguments,
            folder=self._clone,
            is_git_dir=True,
            accepted_codes=codes,
            max_bytes=10_000_000,
        )


def is_changed(file: ChangedFile | None, lines: range, *, reach: int = REACH) -> bool:
    """Return whether a change affects these lines of a file or nearby lines.

    Args:
        file: Change of the file, without context lines; None if the file is unchanged.
        lines: Lines of the older version, from 1.
        reach: Number of lines before and after `lines` that also count.
    """
    if file is None or file.status is FileStatus.DELETED:
        return file is not None
    near = range(lines.start - reach, lines.stop + reach)
    return any(_overlaps(hunk, near) for hunk in file.hunks)


def _overlaps(hunk: Hunk, lines: range) -> bool:
    """Return whether a hunk without context removes one of the lines or adds lines between them."""
    # If a hunk only adds lines, its start is the line before them.
    first = hunk.old_start + (hunk.old_length == 0)
    return first < lines.stop and first + hunk.old_length > lines.start


def _are_near(first: range, second: range) -> bool:
    return first.start < second.stop + REACH and second.start < first.stop + REACH


def word_text(lines: Iterable[str]) -> str:
    """Return the words and symbols of lines, separated by spaces, without commas and quotes."""
    return f" {' '.join(_TOKEN.findall(' '.join(lines)))} "
