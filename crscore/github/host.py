"""GitHub as a code host.

Reading order: pull request -> change (local checkout, else GitHub's list of files) -> full files ->
conversation -> hunks that outdated comments were written on. A failed request fails the run. Data
that GitHub itself withholds (patches, files beyond its limits, comments that it counts but does not
list) is recorded in `missing`, which makes the run partial: see docs/design/016-pull-request.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter

import msgspec

from crscore.diff import parse
from crscore.diff.checkout import Checkout
from crscore.diff.parse import DiffLimits
from crscore.errors import (
    CRScoreError,
    HostError,
    InputError,
    UnavailableError,
)
from crscore.github import blobs, changed_files, conversation
from crscore.github.client import Client
from crscore.github.conversation import PullItem
from crscore.hosts import sticky
from crscore.hosts.host import SETTINGS_FILE, FindCheckout, Head, no_checkout
from crscore.hosts.outdated_hunks import mark_outdated, read_outdated_hunks
from crscore.hosts.records import Change, HostMessage, OwnMessages, PullRequest
from crscore.hosts.sticky import Posted
from crscore.records import ChangedFile

# https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
MAX_LISTED = 100
"""Maximum number of pull requests per page of GitHub's list."""


class _Pull(PullItem, frozen=True, kw_only=True):
    changed_files: int
    additions: int
    deletions: int


# A comparison lists at most 300 files. For a comment on any other file, the part of the hunk that
# GitHub stores with the comment is used, which is sufficient.
# https://docs.github.com/en/rest/commits/commits#compare-two-commits
class _Comparison(msgspec.Struct, frozen=True):
    files: list[changed_files.PatchRow] = []


# The pull request is not requested as one diff, because GitHub refuses this for more than 300 files
# (406), which ended the runs of other tools: https://github.com/danger/danger-js/pull/1440
@dataclass(frozen=True, slots=True)
class GitHub:
    """`Host` of a GitHub server."""

    client: Client

    def read_pull(
        self,
        repository: str,
        number: int,
        *,
        limits: DiffLimits,
        find_checkout: FindCheckout = no_checkout,
    ) -> PullRequest:
        """Read a pull request: see `Host`. The repository's name may be a former one."""
        # The lists may change while they are read; then everything is read a second time. If
        # comments are still unlisted after that, the run is partial. If commits are pushed during
        # the second reading, the run fails.
        for is_last in (False, True):
            pull = self._get_pull(repository, number)
            # GitHub redirects reads from a former name, but writes need the current one.
            repository = pull.base.repo.full_name if pull.base.repo else repository
            checkout, reason = find_checkout(pull.base.sha, pull.head.sha)
            change = self._read_change(repository, pull, checkout, reason, limits)
            # The settings are read from the branch, because `base.sha` may be an older commit.
            settings = f"refs/heads/{pull.base.ref}:{SETTINGS_FILE}"
            discussion = conversation.read_conversation(
                self.client, repository, number, settings=settings
            )
            if discussion.head == pull.head.sha and (is_last or not discussion.unlisted):
                break
            if is_last:
                raise UnavailableError(
                    f"{repository}#{number}", "new commits were pushed while it was read"
                )
        # crscore's own comment lists what reviews should address. If it were scored as a review, it
        # would address everything.
        own_comments = sticky.find_own(discussion.messages, self.client.comment_key)
        reviews = [
            message
            for message in discussion.messages
            if not message.minimized and message not in own_comments
        ]
        messages = tuple(mark_outdated(item, change.diff) for item in _mark_trust(pull, reviews))
        originals, older_notes = read_outdated_hunks(
            messages,
            read_version=partial(self.read_older_files, repository, pull.base.sha),
            local=checkout.diff_to if checkout else None,
        )
        unlisted = discussion.unlisted
        missing = [f"Comments that GitHub counts but does not list: {unlisted}."] * bool(unlisted)
        blob = discussion.settings
        if blob is not None and blob.is_truncated:
            raise HostError(settings, "it is too large")
        return PullRequest(
            repository=repository,
            number=number,
            title=pull.title,
            url=pull.html_url,
            author=pull.user.login if pull.user else None,
            base=pull.base.sha,
            head=pull.head.sha,
            diff=change.diff,
            messages=messages,
            originals=originals,
            missing=(*change.missing, *missing),
            notes=(*change.notes, *older_notes),
            checkout=checkout,
            settings=blob.text if blob else None,
            own_messages=OwnMessages(own_comments, not unlisted),
        )

    def read_change(self, repository: str, number: int, *, head: str, limits: DiffLimits) -> Change:
        """Read only the change: see `Host`."""
        pull = self._get_pull(repository, number)
        if pull.head.sha != head:
            raise HostError(f"{repository}#{number}", "new commits were pushed after it was read")
        return self._read_change(repository, pull, None, "", limits)

    def read_head(self, repository: str, number: int) -> Head:
        """Read the current head: see `Host`."""
        return _make_head(self._get_pull(repository, number), repository)

    def read_reviews(self, repository: str, number: int) -> tuple[Head, tuple[HostMessage, ...]]:
        """Read the reviews and their commits: see `Host`."""
        pull = self._get_pull(repository, number)
        reviews = conversation.read_reviews(self.client, repository, number, pull.head.sha)
        return _make_head(pull, repository), _mark_trust(pull, reviews)

    def read_own(self, repository: str, number: int) -> OwnMessages:
        """Read crscore's own comments: see `Host`."""
        # The settings are not needed, so `settings` names the root folder, which has no text.
        discussion = conversation.read_conversation(
            self.client, repository, number, settings="HEAD:"
        )
        messages = sticky.find_own(discussion.messages, self.client.comment_key)
        return OwnMessages(messages, not discussion.unlisted)

    def post_to(self, repository: str, number: int, body: str, existing: OwnMessages) -> Posted:
        """Create or update crscore's comment: see `Host`."""
        return sticky.post(self.client, repository, number, body, existing)

    def read_older_files(self, repository: str, base: str, commit: str) -> list[ChangedFile]:
        """Read the files that the pull request changed up to an older commit.

        Raises:
            HostError: The files cannot be read; `NotFoundError` if the commit is gone.
        """
        path = f"/repos/{repository}/compare/{base}...{commit}"
        files: list[ChangedFile] = []
        for row in self.client.get(path, _Comparison).files:
            with suppress(InputError):
                # GitHub omits the last line feed of a patch. A binary file has no patch, so it
                # raises an InputError and is skipped.
                files += parse.parse_diff(f"{row.patch or ''}\n", path=row.filename).files[:1]
        return files

    def _get_pull(self, repository: str, number: int) -> _Pull:
        return self.client.get(f"/repos/{repository}/pulls/{number}", _Pull)

    def _read_change(
        self,
        repository: str,
        pull: _Pull,
        checkout: Checkout | None,
        reason: str,
        limits: DiffLimits,
    ) -> Change:
        """Read the change from the checkout or from GitHub's list.

        `reason` says why there is no checkout; "" if none was expected.
        """
        totals = changed_files.Totals(pull.changed_files, pull.additions, pull.deletions)
        if checkout is not None:
            try:
                diff, notes = checkout.change(limits)
            except CRScoreError as exc:
                reason = str(exc)
            else:
                if not changed_files.compare_totals(changed_files.count_totals(diff), totals):
                    return Change(diff, (), notes)
                # `base` can be older than the commit that GitHub compares with, and a shallow clone
                # can have another merge base. In both cases, GitHub's own list is used.
                reason = "its change does not match GitHub's counts"
        unused = (f"The local checkout was not used: {reason}.",) if reason else ()
        listed, blob_names = changed_files.read_change(
            self.client, repository, pull.number, totals, pull.head.sha, limits
        )
        full = blobs.read_full_files(
            self.client, repository, listed.diff, blob_names, limits, base=pull.base.sha
        )
        return Change(full.diff, (*listed.missing, *full.missing), (*unused, *full.notes))


def _mark_trust(pull: _Pull, messages: Sequence[HostMessage]) -> tuple[HostMessage, ...]:
    """Mark all authors as trusted in a private repository, where only people with access write."""
    if pull.base.repo is None or not pull.base.repo.private:
        return tuple(messages)
    return tuple(replace(message, is_trusted=True) for message in messages)


def _make_head(pull: _Pull, repository: str) -> Head:
    name = pull.base.repo.full_name if pull.base.repo else repository
    return Head(name, pull.head.sha, pull.html_url, pull.user.login if pull.user else None)


def find_by_head(
    client: Client, repository: str, *, owner: str, branch: str, sha: str
) -> tuple[int, ...]:
    """Find the open pull requests of a branch. There can be one for each base branch.

    Args:
        client: GitHub client.
        repository: `owner/name` of the base repository.
        owner: Login of the owner of the branch's repository, which may be a fork.
        branch: Name of the branch; untrusted.
        sha: Commit that must be the newest one, 40 hex digits.

    Returns:
        The pull requests' numbers; empty if no open pull request has this head any more.
    """
    query = {"state": "open", "head": f"{owner}:{branch}"}
    items = client.pages(f"/repos/{repository}/pulls", PullItem, query, key=attrgetter("number"))
    # The branch may have new commits since the run whose result is posted.
    return tuple(item.number for item in items if item.head.sha == sha)


def find_recent(
    client: Client, repository: str, *, days: int, limit: int, now: datetime | None = None
) -> tuple[int, ...]:
    """Find the recently changed open pull requests.

    Args:
        client: GitHub client.
        repository: `owner/name`.
        days: Maximum number of days since the last change of a pull request.
        limit: Maximum number of pull requests, up to `MAX_LISTED`.
        now: Current time; None to read the clock.

    Returns:
        The pull requests' numbers, the most recently changed first.

    Raises:
        HostError: The list could not be read.
    """
    since = (now or datetime.now(UTC)) - timedelta(days=days)
    query = {"state": "open", "sort": "updated", "direction": "desc", "per_page": str(limit)}
    items = client.get(f"/repos/{repository}/pulls", list[PullItem], query)
    # ISO 8601 in UTC sorts as text.
    return tuple(item.number for item in items if item.updated_at >= f"{since:%Y-%m-%dT%H:%M:%SZ}")
