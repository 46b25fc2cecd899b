"""Builds the record of a pull request from rows of the store and the clone of its repository."""

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from crscore.audit.store.rows import Pull
from crscore.diff import checkout, git
from crscore.diff.parse import DiffLimits
from crscore.errors import HostError
from crscore.hosts import outdated_hunks
from crscore.hosts.records import Change, HostMessage, MessageKind, PullRequest
from crscore.records import Diff, Side


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTask:
    """Pull request to score, with all data that another process needs to score it."""

    name: str
    """`owner/name` of the repository."""
    url: str
    """Address of the pull request's page on the host."""
    pull: Pull
    """The row of the pull request."""
    messages: tuple[HostMessage, ...]
    """Comments on the pull request, without minimised comments. Their lines are numbered as in the
    commit that the comment was written on.
    """
    content: bytes
    """Hash of the content to score, 8 bytes; see `find_unscored`."""
    night: str
    """Date of the run, ISO 8601."""
    clone: Path
    """Folder of the bare clone of the repository; may be missing."""
    change: Change | str | None = None
    """Change from the API, or the reason why it could not be read; None if the clone has it."""


def assemble(task: ScoringTask, limits: DiffLimits) -> PullRequest:
    """Build the record of a pull request.

    Args:
        task: The pull request.
        limits: Size limits of the diff and the full files.

    Returns:
        The same record that `Host.read_pull` reads from the host. The hunk of a comment on an older
        version is read from the clone; if the clone lacks it, the record has only the part of the
        hunk that the host stored.

    Raises:
        HostError: Neither the clone nor the API has the change.
    """
    clone: checkout.Checkout | None = None
    if isinstance(task.change, Change):
        change = task.change
    else:
        clone, reason = _open(task)
        if clone is None:
            reasons = [text for text in (reason, task.change) if text]
            raise HostError("the change", "; ".join(reasons))
        diff, notes = clone.change(limits)
        change = Change(diff, (), notes)
    moved = (move_to_head(message, task.pull.head, change.diff) for message in task.messages)
    messages = tuple(outdated_hunks.mark_outdated(message, change.diff) for message in moved)
    originals, older_notes = outdated_hunks.read_outdated_hunks(
        messages, local=clone.diff_to if clone else None
    )
    return PullRequest(
        repository=task.name,
        number=task.pull.number,
        title=task.pull.title,
        url=task.url,
        author=task.pull.author,
        base=task.pull.base,
        head=task.pull.head,
        diff=change.diff,
        messages=messages,
        originals=originals,
        missing=change.missing,
        notes=(*change.notes, *older_notes),
        checkout=clone,
    )


def move_to_head(message: HostMessage, head: str, change: Diff) -> HostMessage:
    """Convert the line of a comment on an older commit to the line in the head.

    This is for comments that are not outdated: the host shows them on a line of the head, but the
    store has the line in the commit that the comment was written on.

    Args:
        message: A comment of any kind.
        head: Name of the head commit.
        change: Change of the pull request, up to the head.

    Returns:
        The comment on the nearest line of the change that has the same text, or marked as outdated
        if there is no such line. Other comments are returned unchanged: those on the head, outdated
        comments and comments without a line.
    """
    is_kept = message.kind is not MessageKind.LINE or message.outdated or message.commit == head
    if is_kept or message.line is None or not message.hunk:
        return message
    side = message.side or Side.NEW
    file = change.file_at(message.path or "", side)
    # GitHub's hunk ends with the commented line; its first character is that of the diff (`+`).
    text = message.hunk.rstrip("\n").rpartition("\n")[2][1:].rstrip("\r")
    same_text = [line for line in file.lines() if line.text == text] if file else []
    numbers = [line.new if side is Side.NEW else line.old for line in same_text]
    line_numbers = [number for number in numbers if number is not None]
    if not line_numbers:
        return replace(message, outdated=True)
    old_line = message.line
    # Many lines may have the same text, such as `}`; the nearest line is the most likely one.
    line = min(line_numbers, key=lambda number: abs(number - old_line))
    start = message.start_line
    start = None if start is None else max(1, start + line - old_line)
    return replace(message, line=line, start_line=start)


def _open(task: ScoringTask) -> tuple[checkout.Checkout | None, str]:
    """Open the clone with a suitable base of the change.

    Returns:
        The clone and an empty text, or None and the reason why the clone cannot be used.
    """
    # The base that the host reports may be older than the last merge of the base branch, or so new
    # that it contains the head. The first parent of the merge commit has neither problem; without a
    # merge commit, the base branch is used.
    if not task.clone.is_dir():
        return None, "there is no clone of the repository"
    pull = task.pull
    revision: tuple[str, ...] = ("show-ref", "--verify", "--hash", f"refs/heads/{pull.base_ref}")
    # After a fast-forward, the head is the merge commit, and its parent may belong to the change.
    if pull.merge_commit not in (None, pull.head) and git.COMMIT.fullmatch(pull.merge_commit or ""):
        # The first parent is the commit of the base branch before the merge.
        revision = ("rev-parse", "--verify", f"{pull.merge_commit}^1")
    with suppress(HostError):
        base = git.run_git(revision, folder=task.clone, is_git_dir=True).decode().strip()
        clone, _ = checkout.open_git_dir(task.clone, base, pull.head)
        # If the base contains the head, as after a fast-forward, the change would be empty.
        if clone is not None and clone.merge_base != pull.head:
            return clone, ""
    return checkout.open_git_dir(task.clone, pull.base, pull.head)
