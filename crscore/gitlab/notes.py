"""Converts the notes of a merge request, which are GitLab's comments, to messages.

Draft notes are in a separate list, which is not read. System notes ("added 2 commits") and internal
notes are left out.

Source: https://docs.gitlab.com/api/discussions/#list-all-merge-request-discussion-items
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Final

import msgspec

from crscore.hosts.records import HostMessage, MessageKind
from crscore.records import Side

# Usernames of project and group access tokens, of service accounts, and of GitLab's own bots:
# https://docs.gitlab.com/administration/internal_users/
_BOT: Final = re.compile(
    r"(?:project|group)_\d+_bot(?:_\w+)?|service_account_\w+|gitlab-bot|GitLabDuo"
    r"|(?:GitLab-)?(?:admin|alert|automation|duo-code-review|llm|migration|security(?:-policy)?"
    r"|suggested-reviewers|support|visual-review)-bot",
    re.IGNORECASE,
)
# "```suggestion" without line offsets, also in a list and before CRLF
_SUGGESTION: Final = re.compile(r"^([ \t>*+-]{0,20}(?:`{3,9}|~{3,9})suggestion)(?=[ \t\r]*$)", re.M)


# An audit stores ids in SQLite, whose integers have 64 bits: https://sqlite.org/datatype3.html
Id = Annotated[int, msgspec.Meta(ge=0, le=2**60)]
"""Id that GitLab assigned."""
_Line = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


class User(msgspec.Struct, frozen=True):
    """Account of a person or a bot."""

    id: Id
    username: str
    bot: bool = False

    @property
    def is_bot(self) -> bool:
        """Whether the account is a bot's.

        The user name also counts, because GitLab omits the field `bot` for the authors of notes.
        """
        return self.bot or _BOT.fullmatch(self.username) is not None


class Lines(msgspec.Struct, frozen=True):
    """Lines of a note."""

    start: "Position | None" = None
    """First of the lines; None if an old version of GitLab stored the note with other keys."""


class Position(msgspec.Struct, frozen=True):
    """Where a note, or the first of its lines, is in a version of the change."""

    old_line: _Line | None = None
    new_line: _Line | None = None
    head_sha: str | None = None
    old_path: str | None = None
    new_path: str | None = None
    line_range: Lines | None = None

    def line_in(self, side: Side) -> int | None:
        """Return the line number on one side of the diff; None if there is none on that side."""
        return self.old_line if side is Side.OLD else self.new_line


class NoteItem(msgspec.Struct, frozen=True):
    """Note as GitLab lists it."""

    id: Id
    body: str = ""
    author: User | None = None
    created_at: str = ""
    updated_at: str = ""
    system: bool = False
    internal: bool | None = None
    confidential: bool | None = None
    resolvable: bool = False
    resolved: bool | None = None
    resolved_by: User | None = None
    position: Position | None = None


class Discussion(msgspec.Struct, frozen=True):
    """Thread of notes, which can be a single note."""

    id: str
    notes: tuple[NoteItem, ...] = ()


def read_notes(
    discussions: Iterable[Discussion],
    *,
    url: str,
    head: str,
    account: int | None = None,
    members: frozenset[int] | None = None,
) -> Iterator[tuple[Discussion, NoteItem, HostMessage]]:
    """Convert notes to messages, without system notes and internal notes.

    Args:
        discussions: The threads.
        url: Address of the merge request's page.
        head: Newest commit of the merge request.
        account: Id of the signed-in account; None if unknown.
        members: Ids of the members of the project; None if unknown.

    Yields:
        The thread of the note, the note, and the message.
    """
    for discussion, note in ((item, note) for item in discussions for note in item.notes):
        if note.system or is_internal(note):
            continue
        author, position = note.author, note.position
        message = HostMessage(
            id=note.id,
            kind=MessageKind.CONVERSATION,
            body=note.body,
            # A deleted account's notes belong to a user of this name:
            # https://docs.gitlab.com/user/profile/account/delete_account/
            login=author.username if author and author.username != "ghost" else None,
            is_bot=author is not None and author.is_bot,
            url=f"{url}#note_{note.id}",
            created=note.created_at,
            minimized="",
            is_trusted=_is_trusted(author, members),
            is_own=None if account is None else author is not None and author.id == account,
        )
        if position is None:
            yield discussion, note, message
            continue
        side = Side.OLD if position.new_line is None and position.old_line is not None else Side.NEW
        line = position.line_in(side)
        start = position.line_range.start if position.line_range else None
        start_line = start.line_in(side) if start else None
        message = replace(
            message,
            kind=MessageKind.LINE,
            # On GitLab, a block without offsets replaces only the last line of the note, as `-0+0`
            # says explicitly:
            # https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/
            body=_SUGGESTION.sub(r"\1:-0+0", message.body),
            path=position.old_path if side is Side.OLD else position.new_path,
            line=line,
            start_line=start_line if start_line and line and start_line < line else None,
            side=side,
            # With each push, GitLab updates the position of a note, unless the push changed the
            # note's lines.
            outdated=position.head_sha not in (None, head),
            commit=position.head_sha,
            thread=discussion.notes[0].id,
            resolved=bool(note.resolved) if note.resolvable else None,
        )
        yield discussion, note, message


def is_internal(note: NoteItem) -> bool:
    """Return whether only project members may read a note."""
    return bool(note.internal or note.confidential)


def _is_trusted(author: User | None, members: frozenset[int] | None) -> bool | None:
    """Return whether an author is a member or GitLab's own bot; None if members are unknown."""
    if members is None or author is None:
        return None if members is None else False
    # GitLab reserves only this name for its bot. Any user can take any other name.
    return author.id in members or author.username == "GitLabDuo"
