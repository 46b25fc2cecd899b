"""Scores one pull request, from reading it on its host to posting the comment.

The steps are: read -> identify reviewers -> score -> overview -> comment. The documents for people
are made from the overview alone, so that a job with write permission can make them after another
job has scored the pull request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from crscore import pipeline
from crscore.diff import checkout
from crscore.errors import InputError
from crscore.hosts.host import Host, no_checkout
from crscore.hosts.records import PullRequest
from crscore.hosts.site import pull_name
from crscore.hosts.sticky import Outcome, Posted
from crscore.pipeline import ReviewedChange
from crscore.pull_request import overview
from crscore.pull_request.documents import for_people
from crscore.pull_request.overview import Overview
from crscore.pull_request.reviewers import identify
from crscore.pull_request.reviewers.classify import NO_MARKERS
from crscore.pull_request.reviewers.identify import ReviewerThread, ReviewerThreads
from crscore.records import Result
from crscore.scorer import Scorer, diff_limits
from crscore.settings import Config, resolve_settings
from crscore.static_analysis.reports import RawReport
from crscore.verdicts.repository import Repository

if TYPE_CHECKING:
    from crscore.readers.model import ModelReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Pull request to score, with options."""

    repository: str
    """Full name on the host, such as `owner/name`."""
    number: int
    """Number of the pull request."""
    authors: tuple[str, ...] = ()
    """Patterns of the logins and reviewers' names to include; empty for all."""
    markers: Mapping[str, str] = field(default_factory=dict)
    """Reviewer's name -> text that identifies the posts of this reviewer."""
    flags: Mapping[str, Any] = field(default_factory=dict)
    """Settings that override those of the environment and of the base branch."""
    folder: Path | None = None
    """Folder that may be a checkout of the repository; None to use no checkout."""
    reports: tuple[RawReport, ...] = ()
    """Findings of other tools in the newest commit, from SARIF files."""
    is_folder_explicit: bool = True
    """Whether the user named the folder. If so, a note says why it cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPull:
    """Scored pull request."""

    pull: PullRequest
    """Pull request as read from the host."""
    settings: Config
    """Settings that were used: flags override the environment, which overrides the base branch's
    file.
    """
    result: Result
    """Scores of all comments against the change."""
    reviewers: ReviewerThreads
    """The reviewers' threads, in the order of the result's comments."""
    overview: Overview
    """Overview of the run, from which all documents are made."""


def read_and_score(host: Host, request: Request, model: "ModelReader | None" = None) -> ScoredPull:
    """Read a pull request and score its review comments.

    Args:
        host: The code host.
        request: Pull request and options.
        model: Language model to use instead of the one that the settings name.

    Returns:
        The scored pull request; `overview.missing` lists the inputs that could not be read.

    Raises:
        HostError: The pull request itself could not be read.
        ConfigError: A setting of the request, the environment or the base branch is invalid.
        CRScoreError: A part of the run failed.
    """
    # The limits on the input come from flags and environment only, because the file of the base
    # branch is read together with the pull request.
    flag_settings = resolve_settings(request.flags, file=None)

    def find_checkout(base: str, head: str) -> tuple[checkout.Checkout | None, str]:
        if request.folder is None:
            return no_checkout(base, head)
        local, reason = checkout.find_checkout(request.folder, base, head)
        # A missing checkout is reported only if the user named the folder.
        return local, reason if request.is_folder_explicit else ""

    pull_request = host.read_pull(
        request.repository,
        request.number,
        limits=diff_limits(flag_settings),
        find_checkout=find_checkout,
    )
    settings = resolve_settings(request.flags, file=pull_request.settings)
    # Anyone may have written the change, so tools run in a sandbox or not at all
    # (docs/design/013-untrusted-code.md).
    scorer = Scorer(settings, reports=request.reports, untrusted=True)
    if model is not None:
        scorer.parts = msgspec.structs.replace(scorer.parts, model=model)
    return score_pull(pull_request, scorer, authors=request.authors, markers=request.markers)


def score_pull(
    pull_request: PullRequest,
    scorer: Scorer,
    *,
    authors: Sequence[str] = (),
    markers: Mapping[str, str] = NO_MARKERS,
) -> ScoredPull:
    """Score the review comments of a pull request that was already read.

    Args:
        pull_request: The pull request, from any source.
        scorer: Scorer with the settings.
        authors: Patterns of the logins and reviewers' names to include; empty for all.
        markers: Reviewer's name -> text that identifies the posts of this reviewer.

    Raises:
        CRScoreError: A part of the run failed.
    """
    reviewers = identify.identify_reviewers(
        pull_request.messages, pull_author=pull_request.author, authors=authors, markers=markers
    )
    author_names = {pattern.strip().casefold() for pattern in authors}
    untrusted = {
        thread.reviewer
        for thread in reviewers.threads
        if not thread.is_trusted
        and author_names.isdisjoint(
            {thread.reviewer.casefold(), (thread.posts[0].login or "").casefold()}
        )
    }
    # For a gate, a second result leaves out the untrusted reviewers, so that their text and
    # accounts cannot displace those of others (docs/design/016-pull-request.md).
    thread_sets = [reviewers]
    if untrusted and scorer.settings.thresholds:
        of_trusted = [thread for thread in reviewers.threads if thread.reviewer not in untrusted]
        thread_sets.append(msgspec.structs.replace(reviewers, threads=tuple(of_trusted)))
    # Both are scored in one call, so that the change and each text are read only once.
    pairs = [
        ReviewedChange(
            pull_request.diff,
            identify.thread_comments(item, pull_request.head),
            # For each outdated comment, the hunk that it was written on.
            {
                index: pull_request.originals[thread.place.id]
                for index, thread in enumerate(item.threads)
                if thread.place.outdated and thread.place.id in pull_request.originals
            },
            Repository(pull_request.checkout.tree) if pull_request.checkout else None,
        )
        for item in thread_sets
    ]
    result, *trusted_result = pipeline.run(pairs, scorer.parts)
    threads_by_name: dict[str, list[ReviewerThread]] = {}
    for thread in reviewers.threads:
        threads_by_name.setdefault(thread.reviewer, []).append(thread)
    condensed = overview.make_overview(
        pull_request,
        result,
        sorted(threads_by_name.items(), key=lambda person: person[0] in untrusted),
        reviewers.notes,
        *trusted_result,
        untrusted=untrusted,
    )
    return ScoredPull(
        pull=pull_request,
        settings=scorer.settings,
        result=result,
        reviewers=reviewers,
        overview=condensed,
    )


def post(host: Host, scored: ScoredPull) -> Posted:
    """Create the comment about the pull request, or update the existing one.

    Returns:
        The outcome; a token without write permission is also an outcome, not an error.
    """
    if not scored.overview.reviewers and not scored.pull.own_messages.messages:
        # Without reviewers, a comment would have nothing to report.
        return Posted(Outcome.UNCHANGED, "", "there is no review yet")
    pull = scored.pull
    return host.post_to(
        pull.repository,
        pull.number,
        for_people.render_comment(scored.overview),
        pull.own_messages,
    )


def check_document(
    host: Host, repository: str, numbers: Sequence[int], data: bytes, *, source: str
) -> Overview:
    """Read and check the JSON document from a job without write permission.

    Args:
        host: The code host.
        repository: `owner/name`, from the trusted event.
        numbers: Numbers of the pull requests that the trusted event can be about, at least one. The
            document must be about one of them.
        data: The JSON document, untrusted.
        source: Name of the document in messages.

    Returns:
        The overview in the document, with the pull request's address as the host states it.

    Raises:
        InputError: The document is invalid, or is about another pull request or commit.
        HostError: The pull request could not be read.
    """
    decoded = overview.decode_overview(data, source=source)
    # If the document names none of them, the error compares it with the first one.
    number = decoded.number if decoded.number in numbers else numbers[0]
    head = host.read_head(repository, number)
    # Hosts ignore the case of a repository's name, so an event may have it in another case.
    subject = (decoded.repository.lower(), decoded.number, decoded.head)
    if subject != (head.repository.lower(), number, head.sha):
        raise InputError(
            f"the file is about {decoded.name} at {decoded.head[:12]}, "
            f"not about {pull_name(head.repository, number, head.url)} at {head.sha[:12]}; "
            "score the pull request again"
        )
    # The address is that of the host, because the document could have a different one.
    return msgspec.structs.replace(decoded, url=head.url)


def post_overview(host: Host, checked: Overview) -> Posted:
    """Create or update the comment with an overview that `check_document` accepted.

    Raises:
        HostError: The conversation could not be read.
    """
    subject = (checked.repository, checked.number)
    existing = host.read_own(*subject)
    return host.post_to(*subject, for_people.render_comment(checked), existing)
