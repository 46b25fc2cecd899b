"""Converts the notes of a merge request, which are GitLab's comments, to messages.

Source: https://docs.gitlab.com/api/discussions/#list-all-merge-request-discussion-items. Draft
notes are in a separate list, which is not read. System notes ("added 2 commits") and internal notes
are left out.
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
# "```suggestion" without offsets, also in a list or with CRLF
_SUGGESTION: Final = re.compile(r"^([ \t>*+-]{0,20}(?:`{3,9}|~{3,9})suggestion)(?=[ \t\r]*$)", re.M)


# An integer of SQLite, as in an audit's store, has 64 bits: https://sqlite.org/datatype3.html
Id = Annotated[int, msgspec.Meta(ge=0, le=2**60)]
"""Id at GitLab."""
_Line = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


class User(msgspec.Struct, frozen=True):
    """Account."""

    id: Id
    username: str
    bot: bool = False

    @property
    def is_bot(self) -> bool:
        """Whether it is a bot's account.

        The authors of notes lack the `bot` field, so the name also counts.
        """
        return self.bot or _BOT.fullmatch(self.username) is not None


class Lines(msgspec.Struct, frozen=True):
    """Lines of a note; notes of old versions of GitLab have other keys, without a `start`."""

    start: "Position | None" = None


class Position(msgspec.Struct, frozen=True):
    """Position of a note in a version of the change; also the first of its lines."""

    old_line: _Line | None = None
    new_line: _Line | None = None
    head_sha: str | None = None
    old_path: str | None = None
    new_path: str | None = None
    line_range: Lines | None = None

    def line_in(self, side: Side) -> int | None:
        """Return the line number on one side of the diff."""
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
    """Thread, or a single note."""

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
    """Yield each note with its thread and its message; system and internal notes are left out.

    Args:
        discussions: The threads.
        url: Page of the merge request.
        head: Newest commit.
        account: Id of the signed-in account; None when unknown.
        members: Ids of the members of the project; None when unknown.
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
            # Such a block replaces the last line only, whatever lines the note is on:
            # https://docs.gitlab.com/user/project/merge_requests/reviews/suggestions/
            body=_SUGGESTION.sub(r"\1:-0+0", message.body),
            path=position.old_path if side is Side.OLD else position.new_path,
            line=line,
            start_line=start_line if start_line and line and start_line < line else None,
            side=side,
            # GitLab moves the position of a note with each push, unless the push changed its lines.
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
    """Return whether an author is a member or GitLab's own bot; None if the members are unknown."""
    if members is None or author is None:
        return None if members is None else False
    # GitLab reserves this name for its own bot. Any other name can be taken by any user.
    return author.id in members or author.username == "GitLabDuo"
