"""One pull request, from what GitHub says to what is written back.

read -> who spoke -> score -> overview -> comment. The documents are made of the overview
alone, so that a job that may write can make them from another job's data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from crscore.diff import checkout, full_files
from crscore.github import comment as sticky
from crscore.github import conversation, pull
from crscore.github.comment import Outcome, Posted
from crscore.pull_request import overview, untrusted
from crscore.pull_request.documents import comment
from crscore.pull_request.documents.json import Spoken
from crscore.pull_request.overview import Person
from crscore.pull_request.reviewers import identify
from crscore.scorer import Scorer, diff_limits, make_store
from crscore.settings import Config, SettingsText, resolve_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crscore.diff.checkout import Found
    from crscore.github.client import Client
    from crscore.github.pull import FindCheckout
    from crscore.github.records import PullRequest
    from crscore.pull_request.overview import Overview
    from crscore.pull_request.reviewers.identify import ReviewerThreads
    from crscore.records import Diff, Result

BASE_FILE: Final = f"{pull.SETTINGS_FILE} of the base branch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One pull request to measure, and how."""

    repository: str
    """`owner/name`."""
    number: int
    """The pull request."""
    authors: tuple[str, ...] = ()
    """Whom to hear: patterns of logins and reviewers; empty for all."""
    markers: Mapping[str, str] = field(default_factory=dict)
    """Name of a reviewer -> text in the body of posts that are its."""
    flags: Mapping[str, Any] = field(default_factory=dict)
    """Settings that beat those of the environment and of the base branch."""
    folder: Path | None = None
    """Where a local checkout may be; None to use none."""
    names_folder: bool = True
    """Somebody named the folder, so it is told when it cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One pull request after scoring."""

    pull: PullRequest
    """As it was read."""
    settings: Config
    """Flags over environment over the file of the base branch."""
    result: Result
    """All comments against the change."""
    spoken: tuple[Spoken, ...]
    """Which remark became which comment."""
    overview: Overview
    """Values that the documents are made of."""


def measure(client: Client, request: Request) -> Measured:
    """Read a pull request and score what was said of it.

    Args:
        client: Client to ask with.
        request: What to measure.

    Returns:
        The scores; `overview.missing` says what could not be had.

    Raises:
        HostError: The pull request itself could not be read.
        ConfigError: A setting is wrong; those of the base branch are settings, too.
        CRScoreError: A part of the run failed.
    """
    first = resolve_settings(request.flags, file=None)
    found = pull.read_pull(
        client,
        request.repository,
        request.number,
        limits=_limits(first),
        find_checkout=_finder(request.folder, named=request.names_folder),
        store=make_store(first) if first.cache else None,
    )
    file = SettingsText(found.settings, BASE_FILE) if found.settings is not None else None
    settings = resolve_settings(request.flags, file=file)
    heard = identify.identify_reviewers(
        found.remarks,
        pull_author=found.author,
        authors=request.authors,
        markers=request.markers,
    )
    result = Scorer(settings).score(
        found.diff, identify.thread_comments(heard), originals=_originals(found, heard)
    )
    condensed = overview.make_overview(
        found, result, _people(heard), (*heard.left_out, *heard.notes)
    )
    return Measured(
        pull=found, settings=settings, result=result, spoken=_spoken(heard), overview=condensed
    )


def post(client: Client, measured: Measured) -> Posted:
    """Write the comment, or make the one that is there say this.

    Returns:
        What became of it; a token that may not write is an outcome, not an error.
    """
    if not measured.overview.reviewers and not measured.pull.sticky:
        # Nobody needs a comment that says that nobody commented.
        return Posted(Outcome.UNCHANGED, "", "there is no review yet")
    return sticky.post(
        client,
        measured.pull.repository,
        measured.pull.number,
        comment.render_comment(measured.overview),
        measured.pull.sticky,
        certain=measured.pull.knows_sticky,
    )


def post_document(
    client: Client, repository: str, number: int, data: bytes, *, source: str
) -> tuple[Overview, Posted]:
    """Post what a job without rights measured: `check_document`, then `post_overview`."""
    found = check_document(client, repository, (number,), data, source=source)
    return found, post_overview(client, found)


def check_document(
    client: Client, repository: str, numbers: Sequence[int], data: bytes, *, source: str
) -> Overview:
    """Read and check the JSON document of a job without rights.

    Args:
        client: Client to ask with.
        repository: `owner/name`, by the trusted event.
        numbers: The pull requests that the trusted event can be about, at least one. The data
            may say which of them it is, and name no other.
        data: The job's JSON document, which anybody may have written.
        source: What to call it in messages.

    Raises:
        InputError: The data breaks a rule, or is about another pull request or commit.
        HostError: The pull request could not be read.
    """
    given = untrusted.decode_overview(data, source=source)
    number = given.number if given.number in numbers else numbers[0]
    head = pull.read_head(client, repository, number)
    return untrusted.check_subject(
        given, repository=head.repository, number=number, head=head.sha, url=head.url
    )


def post_overview(client: Client, found: Overview) -> Posted:
    """Post what `check_document` let through.

    Raises:
        HostError: The conversation could not be read.
    """
    discussion = conversation.read_conversation(
        client, found.repository, found.number, settings=f"{found.head}:", expected={}
    )
    ours = tuple(one for one in discussion.remarks if sticky.is_sticky(one))
    certain = discussion.knows_ours and not discussion.unlisted
    body = comment.render_comment(found)
    return sticky.post(client, found.repository, found.number, body, ours, certain=certain)


def _limits(settings: Config) -> full_files.Limits:
    return full_files.Limits(diff=diff_limits(settings), max_source_bytes=settings.max_source_bytes)


def _finder(folder: Path | None, *, named: bool) -> FindCheckout | None:
    if folder is None:
        return None

    def look(base: str, head: str) -> Found:
        found = checkout.find_checkout(folder, base, head)
        # Where nobody asked for a checkout, there is nothing to say when there is none.
        return found if named else found._replace(reason=None)

    return look


def _originals(found: PullRequest, heard: ReviewerThreads) -> dict[int, Diff]:
    """Give each outdated comment what it was written on."""
    return {
        index: found.originals[one.place.id]
        for index, one in enumerate(heard.threads)
        if one.place.outdated and one.place.id in found.originals
    }


def _spoken(heard: ReviewerThreads) -> tuple[Spoken, ...]:
    return tuple(
        Spoken(remark=remark, reviewer=one.reviewer, comment=index)
        for index, one in enumerate(heard.threads)
        for remark in one.remarks
    )


def _people(heard: ReviewerThreads) -> Sequence[Person]:
    names = dict.fromkeys(one.reviewer for one in heard.threads)
    return [_person(name, heard) for name in names]


def _person(name: str, heard: ReviewerThreads) -> Person:
    own = [one for one in heard.threads if one.reviewer == name]
    begun = [one.place for one in own if one.place.thread == one.remarks[0].id]
    resolved = [place.resolved for place in begun]
    return Person(
        reviewer=name,
        is_bot=any(one.is_bot for one in own),
        comments=len(own),
        threads=len(begun),
        resolved=None if None in resolved else sum(map(bool, resolved)),
        outdated=sum(one.place.outdated for one in own),
    )
