"""What was said on a pull request: three kinds of comments, and the state of their threads.

Texts and places come from REST. GraphQL knows which threads are resolved, which comments are
minimised and which are our own; it counts the comments, too, so that a list that moved while it
was read is noticed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from crscore.errors import HostError
from crscore.github import states
from crscore.github.records import Remark, RemarkKind
from crscore.records import Side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.github.host import Host
    from crscore.github.states import States

_PENDING: Final = "PENDING"
_SIDES: Final = {"LEFT": Side.OLD, "RIGHT": Side.NEW}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All that was said, as it was when it was read."""

    remarks: tuple[Remark, ...]
    """By time, kind and id; pending ones left out, minimised ones marked."""
    head: str | None
    """The pull request's newest commit at the end of reading; None when that is unknown."""
    settings: str | None
    """Text of the settings file; None when there is none or it could not be read."""
    settings_known: bool
    """False when it is unknown what the settings file says."""
    knows_ours: bool
    """True when it is certain which comments in the conversation are our own."""
    missing: tuple[str, ...]
    """What could not be had, one sentence each."""
    unlisted: int
    """Comments that GraphQL counts and the lists did not have: they moved while they were read."""


class _User(msgspec.Struct, frozen=True):
    login: str
    type: str = "User"


class _Item(msgspec.Struct, frozen=True):
    id: int
    body: str | None = None
    user: _User | None = None
    html_url: str = ""
    created_at: str = ""
    author_association: str = "NONE"


class _Line(_Item, frozen=True):
    path: str | None = None
    diff_hunk: str | None = None
    line: int | None = None
    original_line: int | None = None
    start_line: int | None = None
    original_start_line: int | None = None
    side: str | None = None
    start_side: str | None = None
    subject_type: str | None = None
    original_commit_id: str | None = None
    in_reply_to_id: int | None = None
    pull_request_review_id: int | None = None


class _Review(_Item, frozen=True):
    state: str = ""
    submitted_at: str | None = None


_T = TypeVar("_T", bound=_Item)


def read_conversation(
    host: Host, repository: str, number: int, *, settings: str, expected: Mapping[RemarkKind, int]
) -> Conversation:
    """Read all that was said.

    Args:
        host: Where to ask.
        repository: `owner/name`.
        number: The pull request.
        settings: The settings file to look up on the way, `COMMIT:PATH`.
        expected: How many comments of a kind there are, as far as the host said.

    Returns:
        The conversation; what could not be read is said in `missing`.
    """
    pulls, issues = (f"/repos/{repository}/{kind}/{number}" for kind in ("pulls", "issues"))
    missing: list[str] = []
    lines = _list(host, f"{pulls}/comments", _Line, expected.get(RemarkKind.LINE), missing)
    reviews = _list(host, f"{pulls}/reviews", _Review, None, missing)
    said = _list(host, f"{issues}/comments", _Item, expected.get(RemarkKind.CONVERSATION), missing)
    listed_all = not missing
    known: States | None = None
    try:
        known = states.read_states(host, repository, number, settings=settings)
    except HostError as exc:
        missing.append(
            "Which comments are minimised and which threads are resolved could not be read "
            f"({exc.reason})."
        )
    pending = {review.id for review in reviews if review.state == _PENDING}
    remarks = [
        *(_of_line(one) for one in lines if one.pull_request_review_id not in pending),
        *(_of_review(one) for one in reviews if one.state != _PENDING),
        *(_of_item(one, RemarkKind.CONVERSATION) for one in said),
    ]
    if known is not None:
        remarks = [_marked(one, known) for one in remarks]
    return Conversation(
        remarks=tuple(sorted(remarks, key=lambda one: (one.created, one.kind.value, one.id))),
        head=known.head if known else None,
        settings=known.settings if known else None,
        settings_known=known is not None and not known.settings_cut,
        knows_ours=known is not None and listed_all,
        missing=tuple(missing),
        unlisted=_unlisted(known, remarks, pending, lines) if known and listed_all else 0,
    )


def _list(
    host: Host, path: str, kind: type[_T], expected: int | None, missing: list[str]
) -> list[_T]:
    """Read one list, each item once: a list that shifts between two pages repeats some."""
    try:
        pages = host.pages(path, kind, expected=expected)
    except HostError as exc:
        missing.append(f"The comments of {path} could not be read ({exc.reason}).")
        return []
    missing.extend(f"Comments of {path} are missing: {one}." for one in pages.missing)
    return list({item.id: item for item in pages.items}.values())


def _unlisted(known: States, remarks: list[Remark], pending: set[int], lines: list[_Line]) -> int:
    listed = {(one.kind, one.id) for one in remarks}
    listed |= {(RemarkKind.REVIEW, review) for review in pending}
    # Comments of a pending review are seen by the one who writes it, and by nobody else.
    listed |= {(RemarkKind.LINE, one.id) for one in lines}
    return sum(key not in listed and mark.state != _PENDING for key, mark in known.marks.items())


def _of_item(item: _Item, kind: RemarkKind) -> Remark:
    return Remark(
        id=item.id,
        kind=kind,
        body=item.body or "",
        login=item.user.login if item.user else None,
        is_bot=item.user is not None and item.user.type == "Bot",
        association=item.author_association,
        url=item.html_url,
        created=item.created_at,
    )


def _of_review(review: _Review) -> Remark:
    plain = _of_item(review, RemarkKind.REVIEW)
    return replace(plain, state=review.state, created=review.submitted_at or "")


def _of_line(item: _Line) -> Remark:
    plain = _of_item(item, RemarkKind.LINE)
    side = _SIDES.get((item.side or "").upper(), Side.NEW)
    on_file = item.subject_type == "file"
    outdated = item.line is None and not on_file
    line = item.original_line if outdated else item.line
    start = item.original_start_line if outdated else item.start_line
    # A range across both sides cannot be counted on one of them.
    crosses = item.start_side is not None and item.start_side != item.side
    return replace(
        plain,
        path=item.path,
        line=None if on_file else line,
        start_line=None if on_file or crosses or start is None or start > (line or 0) else start,
        side=side,
        outdated=outdated,
        commit=item.original_commit_id,
        hunk=item.diff_hunk or None,
        thread=item.in_reply_to_id or item.id,
    )


def _marked(remark: Remark, known: States) -> Remark:
    mark = known.marks.get((remark.kind, remark.id))
    resolved = None
    if remark.thread is not None:
        resolved = known.resolved.get(remark.id, known.resolved.get(remark.thread))
    if mark is None:
        return replace(remark, resolved=resolved)
    return replace(
        remark,
        resolved=resolved,
        minimized=mark.is_minimized,
        mine=mark.viewer_did_author,
    )
