"""Signals from trees: suggestion applied, lines changed, file changed."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from crscore.audit.signals import Signal
from crscore.audit.signals.align import line_key
from crscore.audit.signals.follow import REACH, Answer, Base, Following, Lines, Span
from crscore.audit.signals.trees import Trees
from crscore.audit.store.rows import Comment, Pull, Revision

COMMIT_DIGITS: Final = 10
"""Digits of a commit in evidence."""
MAX_COMMITS: Final = 50
"""Maximum number of later trees in which a suggestion is searched; the latest ones are used."""
MAX_OTHER_FILES: Final = 50
"""Maximum other changed files in which moved code is searched, and for a file's base rate."""
# `@@ -12,5 +14,7 @@`, `@@ -1 +1 @@`; a heading may follow.
_HEADER: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class SignalValue(NamedTuple):
    """Value of a signal with its base rate."""

    answer: Answer
    base: tuple[int, int] | None = None
    """Number of positive units, and of all units, that nobody commented on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileComment:
    """Comment on a file, with the data to follow it."""

    comment: Comment
    hunk: str
    """Hunk it was written on; empty when unknown."""
    suggestions: tuple[str, ...]
    words: frozenset[str]
    """Stems of the words of its post, with those of suggested code."""


class PullTrees:
    """Trees of one pull request.

    Args:
        trees: Trees of its clone.
        pull: The pull request.
        revisions: Its pushes and its merge, by time.
        remarks: All review comments on its files.

    Raises:
        HostError: git failed.
    """

    def __init__(
        self,
        trees: Trees,
        pull: Pull,
        revisions: Sequence[Revision],
        remarks: Sequence[FileComment],
    ) -> None:
        self._trees, self._pull, self._revisions = trees, pull, revisions
        commits = [remark.comment.commit_id for remark in remarks]
        pushed = [revision.after for revision in revisions]
        ends = (pull.base, pull.head, pull.merge_commit)
        self._known = trees.find_known([*commits, *pushed, *ends])
        # The head first: the merge also contains what others changed in the base.
        self.last = next((end for end in ends[1:] if end in self._known), None)
        """Last tree of the pull request: its head, which has nothing of the base branch that was
        not merged into it; else its merge."""
        self._followed: dict[tuple[str, str], Following | str] = {}
        # One for the comments on all commits: files of the base are compared once.
        self._bases: dict[tuple[str, str, str], Base] = {}
        self._commented: dict[str, set[str]] = {}
        self._file_bases: dict[str, tuple[int, int] | None] = {}
        # First all places, then the answers: base rates exclude every commented line.
        for remark in remarks:
            self._note_commented(remark)
        self._files = frozenset(remark.comment.path for remark in remarks)

    def measure(self, remark: FileComment) -> dict[Signal, SignalValue]:
        """Return the signals of a comment on a file.

        Raises:
            HostError: git failed.
        """
        measurements: dict[Signal, SignalValue] = {}
        following, span = self._locate(remark)
        lines = self._lines(remark, following, span)
        if lines is not None:
            measurements[Signal.LINES_CHANGED] = lines
            measurements[Signal.ACTED_ON] = self._acted_on(remark, following, span)
        if remark.suggestions and lines is not None:
            answer = self._applied(remark, following, span, lines.answer)
            # No base rate: nobody suggested anything for other lines.
            measurements[Signal.SUGGESTION_APPLIED] = SignalValue(answer)
            if answer.value:
                acted = measurements[Signal.ACTED_ON]
                measurements[Signal.ACTED_ON] = acted._replace(answer=answer)
        measurements[Signal.FILE_CHANGED] = self._file(remark, lines)
        return measurements

    def _note_commented(self, remark: FileComment) -> None:
        following, span = self._locate(remark)
        path = remark.comment.path
        if isinstance(following, Following) and path and span:
            keys = {line_key(line) for line in following.old[span.start : span.end]}
            self._commented.setdefault(path, set()).update(keys)

    def _locate(self, remark: FileComment) -> tuple[Following | str, Span | None]:
        """Return the file of a comment with the commented lines, or why it cannot be followed."""
        comment = remark.comment
        if self.last is None:
            return "last commit is missing", None
        if comment.path is None or comment.commit_id is None:
            return "no commit is known", None
        # A force-push removed the commit and GitHub no longer has it.
        if comment.commit_id not in self._known:
            return self._from_hunk(remark, self.last)
        following = self._follow(comment.commit_id, comment.path)
        if comment.line is None or isinstance(following, str):
            return following, None
        span = Span(max(0, (comment.start_line or comment.line) - 1), comment.line)
        if comment.side == "old":
            return self._of_old_side(following, span)
        return following, span

    def _of_old_side(self, following: Following, span: Span) -> tuple[Following | str, Span | None]:
        """Follow removed lines: the lines that replaced them, or their return."""
        if following.base is None or following.base.old is None:
            return "base is missing", None
        removed = Following(old=following.base.old, new=following.old, base=None)
        replacement = removed.region(span)
        # What replaced the removed lines is followed; without a replacement, their return is a
        # change.
        if any(map(line_key, following.old[replacement.start : replacement.end])):
            return following, replacement
        return replace(following, old=removed.old, base=None, was_removed=True), span

    def _from_hunk(self, remark: FileComment, last: str) -> tuple[Following | str, Span | None]:
        """Follow a comment whose commit is lost, using its hunk."""
        comment = remark.comment
        hunk = _read_hunk(remark.hunk)
        if hunk is None or comment.path is None or comment.line is None or comment.side == "old":
            return "commit is missing", None
        file = self._trees.file(last, comment.path)
        if file.lines is None:
            return "commit is missing", None
        lines, added = hunk
        # The hunk ends at the commented line, so its last lines are the commented ones.
        line_count = comment.line - (comment.start_line or comment.line) + 1
        following = Following(old=lines, new=file.lines, base=None, is_whole=False, added=added)
        return following, Span(max(0, len(lines) - line_count), len(lines))

    def _follow(self, commit: str, path: str) -> Following | str:
        if (commit, path) not in self._followed:
            self._followed[commit, path] = self._read(commit, path)
        return self._followed[commit, path]

    def _read(self, commit: str, path: str) -> Following | str:
        last = self.last or ""
        forks = self._fork(commit), self._fork(last)
        # One call for all versions: each costs two processes of git.
        commits = [name for name in (commit, last, *forks) if name]
        self._trees.load([(name, path) for name in commits])
        file = self._trees.file(commit, path)
        later = self._later(commit, last, path)
        if file.lines is None:
            return file.problem or "file is missing"
        # A binary or too large file is unknown; a missing one is deleted.
        if later and self._trees.file(last, later).problem:
            return self._trees.file(last, later).problem or ""
        return Following(
            old=file.lines,
            new=self._trees.file(last, later).lines if later else None,
            base=self._base(commit, path, forks),
            moves=lambda: self._moves(commit, path),
        )

    def _base(self, commit: str, path: str, forks: tuple[str | None, str | None]) -> Base | None:
        old, new = forks
        if old is None or new is None:
            return None
        before = self._earlier(old, commit, path)
        later = self._later(old, new, before)
        key = (old, before, new)
        if key not in self._bases:
            self._bases[key] = Base(
                old=self._trees.file(old, before).lines,
                new=self._trees.file(new, later).lines if later else None,
            )
        return self._bases[key]

    def _later(self, old: str, new: str, path: str) -> str | None:
        """Return a file's path in a newer tree; None when it is not there."""
        if old == new or self._exists(new, path):
            return path
        return self._trees.changes(old, new).renamed.get(path)

    def _earlier(self, old: str, new: str, path: str) -> str:
        if self._exists(old, path):
            return path
        renamed = self._trees.changes(old, new).renamed
        return next((before for before, after in renamed.items() if after == path), path)

    def _exists(self, commit: str, path: str) -> bool:
        file = self._trees.file(commit, path)
        return file.lines is not None or file.problem is not None

    def _moves(self, commit: str, path: str) -> Iterator[tuple[Lines, Lines]]:
        last = self.last or ""
        own_path = self._later(commit, last, path)
        pairs = [pair for pair in self._trees.changes(commit, last).paths if pair[1] != own_path]
        pairs = pairs[:MAX_OTHER_FILES]
        self._trees.load(
            [*((last, new) for _, new in pairs), *((commit, old) for old, _ in pairs if old)]
        )
        for old, new in pairs:
            before = self._trees.file(commit, old).lines if old else None
            yield before or (), self._trees.file(last, new).lines or ()

    def _fork(self, commit: str) -> str | None:
        """Return where a commit of the pull request forked from the base branch."""
        pull, fork = self._pull, None
        # After a fast-forward, the head is the merge, and its parent can be part of the change.
        if pull.merge_commit in self._known and pull.merge_commit != pull.head:
            # The host's base can be older than the base branch's last merge, or contain the head.
            parent = self._trees.parent(pull.merge_commit or "")
            fork = self._trees.fork(parent, commit) if parent else None
        # A commit that is its own fork is part of the base branch: nothing to compare.
        if fork in (None, commit) and pull.base in self._known:
            fork = self._trees.fork(pull.base, commit)
        return None if fork == commit else fork

    def _lines(
        self, remark: FileComment, following: Following | str, span: Span | None
    ) -> SignalValue | None:
        if remark.comment.line is None:
            return None
        if isinstance(following, str) or span is None:
            return SignalValue(Answer(None, following if isinstance(following, str) else None))
        return self._with_base(remark, following, span, following.changed)

    def _acted_on(
        self, remark: FileComment, following: Following | str, span: Span | None
    ) -> SignalValue:
        if isinstance(following, str) or span is None:
            return SignalValue(Answer(None, following if isinstance(following, str) else None))

        def judge(lines: Span) -> Answer:
            # What the comment itself led to, next to its lines, is no chance.
            is_near = span.start - REACH < lines.end and lines.start < span.end + REACH
            return Answer(None) if is_near else following.acted_on(lines, remark.words)

        value = self._with_base(remark, following, span, judge)
        return value._replace(answer=self._dated(following.acted_on(span, remark.words)))

    def _with_base(
        self,
        remark: FileComment,
        following: Following,
        span: Span,
        judge: Callable[[Span], Answer],
    ) -> SignalValue:
        """Judge the lines of a comment, and others that nobody commented on."""
        commented = frozenset(self._commented.get(remark.comment.path or "", ()))
        base = following.base_rate(span, commented, judge)
        return SignalValue(self._dated(judge(span)), base)

    def _dated(self, answer: Answer) -> Answer:
        """Add the last commit to the evidence of a change."""
        if not answer.value or not self.last:
            return answer
        return Answer(True, f"{self.last[:COMMIT_DIGITS]} {answer.evidence or ''}".strip())

    def _file(self, remark: FileComment, lines: SignalValue | None) -> SignalValue:
        comment = remark.comment
        commit, path = comment.commit_id or "", comment.path or ""
        following = self._follow(commit, path) if self.last and commit in self._known else None
        if not isinstance(following, Following):
            # A lost commit, but its hunk was found and its lines changed: the file did too.
            if lines and lines.answer.value:
                return SignalValue(Answer(True, lines.answer.evidence))
            return SignalValue(Answer(None, following or "commit is missing"))
        changed = following.is_changed
        evidence = (self.last or "")[:COMMIT_DIGITS] if changed else None
        return SignalValue(Answer(changed, evidence), self._file_base(commit))

    def _file_base(self, commit: str) -> tuple[int, int] | None:
        """Count the files of the pull request that changed and that nobody commented on."""
        if commit not in self._file_bases:
            self._file_bases[commit] = self._count_changed(commit)
        return self._file_bases[commit]

    def _count_changed(self, commit: str) -> tuple[int, int] | None:
        fork = self._fork(commit)
        if fork is None:
            return None
        paths = [path for _, path in self._trees.changes(fork, commit).paths]
        paths = [path for path in paths if path not in self._files][:MAX_OTHER_FILES]
        files = [
            file for path in paths if isinstance(file := self._follow(commit, path), Following)
        ]
        return sum(file.is_changed for file in files), len(files)

    def _applied(
        self, remark: FileComment, following: Following | str, span: Span | None, lines: Answer
    ) -> Answer:
        if isinstance(following, str) or span is None:
            return Answer(None, following if isinstance(following, str) else None)
        # The place of a bare hunk is not certain, so absence proves nothing.
        if not following.is_whole and lines.value is None:
            return Answer(None, lines.evidence)
        # An empty block suggests to delete the lines.
        blocks = [text.split("\n") if text.strip() else [] for text in remark.suggestions]
        first_commit: str | None = None
        is_last = False
        for commit, text in self._later_texts(remark):
            later = replace(following, new=text)
            is_last = any(later.applied(span, block) for block in blocks)
            # The newest tree decides at the end; an earlier one shows that it was applied at all.
            first_commit = first_commit or (commit if is_last else None)
        if first_commit is None:
            return Answer(False)
        # Lines that are as they were before, after a tree with the suggestion: reverted.
        if not is_last and lines.value is False:
            return Answer(False, f"{first_commit[:COMMIT_DIGITS]}, then reverted")
        return Answer(True, first_commit[:COMMIT_DIGITS])

    def _later_texts(self, remark: FileComment) -> Iterator[tuple[str, Lines]]:
        """Yield the file of a comment in each later tree in which it differs, by time."""
        comment, last = remark.comment, self.last or ""
        path, commit = comment.path or "", comment.commit_id or ""
        pushed = [revision.after for revision in self._revisions if revision.at >= comment.created]
        trees = dict.fromkeys([*pushed, last, self._pull.merge_commit or ""])
        later = [tree for tree in trees if tree in self._known and tree != commit][-MAX_COMMITS:]
        new_path = self._later(commit, last, path) if commit in self._known else path
        paths = list(dict.fromkeys([path, new_path or path]))
        self._trees.load(itertools.product(later, paths))
        before: Lines | None = None
        for tree in later:
            files = (self._trees.file(tree, name).lines for name in paths)
            text = next((lines for lines in files if lines is not None), None)
            if text is not None and text != before:
                yield tree, text
                before = text


def _read_hunk(text: str) -> tuple[tuple[str, ...], frozenset[int]] | None:
    """Return the newer side of a hunk, and which of its lines the pull request added."""
    header, _, body = text.rstrip("\n").partition("\n")
    if not _HEADER.match(header) or not body:
        return None
    lines = [line for line in body.split("\n") if line[:1] not in ("-", "\\")]
    return tuple(line[1:] for line in lines), frozenset(
        index for index, line in enumerate(lines) if line.startswith("+")
    )
