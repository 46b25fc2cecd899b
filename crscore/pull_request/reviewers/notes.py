"""What a reader should know of who was heard, one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.pull_request.reviewers.authors import is_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.github.records import Remark
    from crscore.pull_request.reviewers.repeats import Message

_DISMISSED = "DISMISSED"


def moved(messages: Sequence[Message]) -> tuple[str, ...]:
    """Say whose posts count as somebody else's, since a marker can be typed by anybody."""
    pairs = {
        (one.speaker.name, one.speaker.account)
        for one in messages
        if one.speaker.marked and not is_app(one.speaker.account)
    }
    return tuple(
        f"Posts of {posted_by} count as {name}'s, because of a marker in them."
        for name, posted_by in sorted(pairs)
    )


def denied(messages: Sequence[Message]) -> tuple[str, ...]:
    """Say whose markers did not count, since the pull request's author may mean them."""
    pairs = {(one.speaker.denied, one.speaker.account) for one in messages if one.speaker.denied}
    return tuple(
        f"Posts of {posted_by} do not count as {name}'s in spite of a marker in them, because "
        f"{posted_by} opened the pull request. To count them, name everybody who is to be scored, "
        f"{name} among them (authors)."
        for name, posted_by in sorted(pairs)
    )


def dismissed(messages: Sequence[Message]) -> tuple[str, ...]:
    """Say how many dismissed reviews count: what they found was said all the same."""
    found = [one.speaker.name for one in messages if one.remark.state == _DISMISSED]
    if not found:
        return ()
    count, plural, verb = len(found), "" if len(found) == 1 else "s", "s" * (len(found) == 1)
    return (f"{count} dismissed review{plural} by {', '.join(sorted(set(found)))} count{verb}.",)


def reports(remarks: Sequence[Remark]) -> tuple[str, ...]:
    """Say who else posts reports of crscore, as the mark of one hides a post."""
    others = sorted({one.login or "ghost" for one in remarks if one.mine is False})
    if not others:
        return ()
    return (f"Posts of {', '.join(others)} that begin as reports of crscore do are no reviews.",)
