"""Writes reviews and comments into a pull request, each a minute after the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.helpers.github.state import LineComment, Note, Review

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.helpers.github.state import Pull, Repository, User, World


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
    """What people and bots do on one pull request."""

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
        made = [self._line(review, spot) for spot in spots]
        self.pull.lines += made
        return made

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
        (made,) = self.review(author, spots=[spot])
        made.reply_to, made.commit = root.id, root.commit
        return made

    def say(self, author: User | None, body: str) -> Note:
        """Write in the conversation."""
        at = self.world.tick()
        note = Note(id=self.world.new_id(), author=author, body=body, at=at, edited=at)
        self.pull.notes.append(note)
        return note

    def edit(self, remark: LineComment | Note, body: str) -> None:
        remark.body, remark.edited = body, self.world.tick()

    def push(self, head: str) -> None:
        """A new commit on the branch."""
        self.pull.heads.append(head)
        self.world.tick()
