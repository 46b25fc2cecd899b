"""Writes reviews and comments into a pull request, each a minute after the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.helpers.github.state import Check, LineComment, Note, Pull, Review

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.helpers.github.state import Repository, User, World


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A comment of a review: where and what; `line=None` is the whole file."""

    path: str
    line: int | None
    body: str
    side: str = "RIGHT"
    start_line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Actions of people and bots on one pull request."""

    world: World
    repository: Repository
    pull: Pull

    def review(
        self,
        author: User | None,
        *,
        state: str = "COMMENTED",
        body: str = "",
        spots: Sequence[Spot] = (),
    ) -> list[LineComment]:
        """Submit a review of the newest commit; returns its line comments."""
        review = Review(
            id=self.world.new_id(),
            author=author,
            state=state,
            body=body,
            commit=self.pull.head,
            at=self.world.tick(),
        )
        self.pull.reviews.append(review)
        comments = [self._line(review, spot) for spot in spots]
        self.pull.lines += comments
        return comments

    def _line(self, review: Review, spot: Spot) -> LineComment:
        at = self.world.tick()
        return LineComment(
            id=self.world.new_id(),
            review=review.id,
            author=review.author,
            body=spot.body,
            path=spot.path,
            commit=review.commit,
            at=at,
            edited=at,
            side=spot.side,
            line=spot.line,
            start_line=spot.start_line,
        )

    def reply(self, root: LineComment, author: User | None, body: str) -> LineComment:
        """Answer in a thread; GitHub makes an empty review of its own for each answer."""
        spot = Spot(
            path=root.path,
            line=root.line,
            body=body,
            side=root.side,
            start_line=root.start_line,
        )
        (comments,) = self.review(author, spots=[spot])
        comments.reply_to, comments.commit = root.id, root.commit
        return comments

    def say(self, author: User | None, body: str) -> Note:
        """Write in the conversation."""
        at = self.world.tick()
        note = Note(id=self.world.new_id(), author=author, body=body, at=at, edited=at)
        self.pull.notes.append(note)
        return note

    def edit(self, message: LineComment | Note, body: str) -> None:
        message.body, message.edited = body, self.world.tick()

    def push(self, files: Mapping[str, str | bytes], **more: Any) -> None:
        """A new commit on the branch, with exactly these files."""
        self._move_head(self.repository.history.commit(files, parents=[self.pull.head], **more))

    def force_push(self, files: Mapping[str, str | bytes], **more: Any) -> None:
        """One commit on the base in place of all those of the branch."""
        self._move_head(self.repository.history.commit(files, parents=[self.pull.base], **more))

    def _move_head(self, head: str) -> None:
        self.pull.heads.append(head)
        self._name_head()
        self.pull.pushed_at = self.world.tick()

    def merge(self, method: str = "merge") -> str:
        """Merge by `merge`, `squash` or `rebase`; returns the commit on the base branch."""
        repository, pull, at = self.repository, self.pull, self.world.tick()
        history = repository.history
        tip = repository.branches.get(pull.base_ref, pull.base)
        base = history.merge_base(tip, pull.head)
        if method == "rebase":
            before = base
            for commit in history.log(base, pull.head):
                files, message = history.merged(before, tip, commit), history.messages[commit]
                tip = history.commit(files, parents=[tip], message=message, at=at)
                before = commit
        else:
            parents = [tip] if method == "squash" else [tip, pull.head]
            files, message = history.merged(base, tip, pull.head), f"{pull.title} (#{pull.number})"
            tip = history.commit(files, parents=parents, message=message, at=at)
        repository.branches[pull.base_ref] = tip
        pull.state, pull.closed_at, pull.merged_at, pull.merge_commit = "closed", at, at, tip
        return tip

    def close(self) -> None:
        self.pull.state, self.pull.closed_at = "closed", self.world.tick()

    def resolve(self, root: LineComment, actor: User) -> None:
        """Resolve a thread; this changes no time."""
        self.pull.resolved[root.id] = actor

    def react(self, message: LineComment | Note | Review, *, up: int = 0, down: int = 0) -> None:
        """Add thumbs; this changes no time."""
        message.thumbs.up += up
        message.thumbs.down += down

    def check(self, app: str, name: str, outcome: str | None, *, is_status: bool = False) -> None:
        """Report a check or a status of the head."""
        head = self.pull.head
        self.pull.checks.append(
            Check(head=head, app=app, name=name, outcome=outcome, is_status=is_status)
        )

    def _name_head(self) -> None:
        if self.pull.head_repository == self.repository.full_name:
            self.repository.branches[self.pull.head_ref] = self.pull.head


def writer_of(world: World) -> Writer:
    """Return a writer for the only pull request of a scene."""
    (repository, *_) = world.repositories
    (pull, *_) = repository.pulls.values()
    return Writer(world=world, repository=repository, pull=pull)


def opened(
    world: World,
    base: Mapping[str, str | bytes],
    head: Mapping[str, str | bytes],
    *,
    number: int,
    title: str,
    author: User | None,
    body: str | None = None,
    head_ref: str = "change",
    fork: str | None = None,
    modes: Mapping[str, str] | None = None,
) -> Writer:
    """Open a pull request in the world's first repository.

    Args:
        world: Where.
        base: All files of the base branch.
        head: All files of the branch.
        number: Its number.
        title: Its title.
        author: Who opens it.
        body: Its description.
        head_ref: The branch's name.
        fork: `owner/name` the branch is in; None for the repository itself.
        modes: Modes of the head's files that are not plain ones.

    Returns:
        What writes into it.
    """
    (repository, *_) = world.repositories
    history = repository.history
    start = history.commit(base, message="Start")
    pull = Pull(
        number=number,
        title=title,
        body=body,
        author=author,
        base=start,
        heads=[history.commit(head, parents=[start], message=title, modes=modes)],
        head_repository=fork or repository.full_name,
        head_ref=head_ref,
        at=world.tick(),
    )
    repository.branches[repository.default_branch] = start
    repository.pulls[number] = pull
    writer = Writer(world=world, repository=repository, pull=pull)
    writer._name_head()
    return writer
