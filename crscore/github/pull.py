"""Reading pull requests, and searching for them.

Reading order: pull request -> change (local checkout, else GitHub's list of files) -> full files ->
conversation -> hunks that outdated comments were written on. A failed request fails the run. Data
that GitHub itself withholds (patches, files beyond its limits, comments that it counts but does not
list) is recorded in `missing`, which makes the run partial: see docs/design/016-pull-request.md.
"""

import base64
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter

import msgspec

from crscore.cache import Store
from crscore.diff.checkout import CheckoutSearch
from crscore.diff.full_files import Limits
from crscore.errors import CRScoreError, HostError, UnavailableError
from crscore.github import blobs, changed_files, conversation, graphql, outdated_hunks
from crscore.github.client import Client
from crscore.github.conversation import User
from crscore.hosts import sticky
from crscore.hosts.host import SETTINGS_FILE, FindCheckout, Head, Reviews
from crscore.hosts.outdated_hunks import mark_outdated
from crscore.hosts.records import Change, HostMessage, PullRequest

MAX_LISTED = 100
"""Maximum number of pull requests per page of GitHub's list."""


class _Repository(msgspec.Struct, frozen=True):
    full_name: str
    private: bool = False


class _Branch(msgspec.Struct, frozen=True):
    sha: str
    ref: str = ""
    repo: _Repository | None = None


class _Pull(msgspec.Struct, frozen=True):
    number: int
    base: _Branch
    head: _Branch
    changed_files: int
    additions: int
    deletions: int
    title: str = ""
    html_url: str = ""
    user: User | None = None


class _Content(msgspec.Struct, frozen=True):
    content: str = ""


class _Listed(msgspec.Struct, frozen=True):
    number: int
    head: _Branch
    updated_at: str = ""


def read_pull(
    client: Client,
    repository: str,
    number: int,
    *,
    limits: Limits,
    find_checkout: FindCheckout | None = None,
    store: Store | None = None,
) -> PullRequest:
    """Read a pull request.

    Args:
        client: GitHub client.
        repository: `owner/name`; GitHub redirects a former name to the current one.
        number: Its number.
        limits: Size limits of the diff and the full files.
        find_checkout: Finds a local checkout that has a base and a head; None to use none.
        store: Cache for full files; None to cache nothing.

    Raises:
        HostError: It could not be read, or changed during both readings.
    """
    # Lists can change while they are read: a second reading is usually consistent; else the run
    # is partial.
    for is_last in (False, True):
        pull = client.get(f"/repos/{repository}/pulls/{number}", _Pull)
        # GitHub redirects reads from a former name, but writes need the current one.
        repository = pull.base.repo.full_name if pull.base.repo else repository
        search = (
            find_checkout(pull.base.sha, pull.head.sha)
            if find_checkout
            else CheckoutSearch(None, None)
        )
        change = _read_change(client, repository, pull, search, limits, store)
        discussion = conversation.read_conversation(
            client,
            repository,
            number,
            settings=f"refs/heads/{pull.base.ref}:{SETTINGS_FILE}",
        )
        if discussion.head == pull.head.sha and (is_last or not discussion.unlisted):
            break
        if is_last:
            raise UnavailableError(f"{repository}#{number}", "it was pushed to while it was read")
    # crscore's own comment is not a review, and must not change the score.
    own_comments = sticky.find_own(discussion.messages, client.comment_key)
    visible_messages = [message for message in discussion.messages if not message.minimized]
    messages = tuple(
        mark_outdated(message, change.diff)
        for message in _trusting(
            pull, [message for message in visible_messages if message not in own_comments]
        )
    )
    older = outdated_hunks.read_outdated_hunks(
        client,
        repository,
        pull.base.sha,
        messages,
        local=search.checkout.diff_to if search.checkout else None,
    )
    unlisted = discussion.unlisted
    missing = [f"Comments that GitHub counts but does not list: {unlisted}."] if unlisted else []
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
        originals=older.hunks,
        missing=(*change.missing, *missing),
        notes=(*change.notes, *older.notes),
        checkout=search.checkout,
        settings=_settings_text(client, repository, pull.base.ref, discussion.settings),
        sticky=own_comments,
        knows_sticky=not discussion.unlisted,
    )


def _settings_text(
    client: Client, repository: str, branch: str, blob: graphql.Blob | None
) -> str | None:
    """Return the base branch's settings; read them over REST if GraphQL truncated them."""
    if blob is None or not blob.is_truncated:
        return blob.text if blob else None
    path = f"/repos/{repository}/contents/{SETTINGS_FILE}"
    try:
        return base64.b64decode(client.get(path, _Content, {"ref": branch}).content).decode()
    except ValueError as exc:
        raise HostError(f"GET {path}", "it is not a text file") from exc


def read_change(
    client: Client, repository: str, number: int, *, head: str, limits: Limits
) -> Change:
    """Read only the change of a pull request, without a checkout.

    Args:
        client: GitHub client.
        repository: `owner/name`.
        number: Its number.
        head: Required newest commit, 40 hex digits.
        limits: Size limits of the diff and the full files.

    Raises:
        HostError: It could not be read, or has another head.
    """
    pull = client.get(f"/repos/{repository}/pulls/{number}", _Pull)
    if pull.head.sha != head:
        raise HostError(f"{repository}#{number}", "it was pushed to since it was read")
    return _read_change(client, repository, pull, CheckoutSearch(None, None), limits, None)


def _read_change(
    client: Client,
    repository: str,
    pull: _Pull,
    search: CheckoutSearch,
    limits: Limits,
    store: Store | None,
) -> Change:
    """Read the change from the checkout, else from GitHub's list of files."""
    totals = changed_files.Totals(pull.changed_files, pull.additions, pull.deletions)
    local, reason = _read_checkout(search, limits, totals)
    if local is not None:
        return local
    notes = (f"The local checkout was not used: {reason}.",) if reason else ()
    listed, names = changed_files.read_change(
        client, repository, pull.number, totals, pull.head.sha, limits.diff
    )
    full = blobs.read_full_files(
        client, repository, listed.diff, names, limits, base=pull.base.sha, store=store
    )
    return Change(full.diff, (*listed.missing, *full.missing), (*notes, *full.notes))


def _read_checkout(
    search: CheckoutSearch, limits: Limits, totals: changed_files.Totals
) -> tuple[Change | None, str | None]:
    """Return the change from the checkout, or the reason why the checkout was not used."""
    if search.checkout is None:
        return None, search.reason
    try:
        local = search.checkout.change(limits)
    except CRScoreError as exc:
        return None, str(exc)
    if changed_files.compare_totals(changed_files.count_totals(local.diff), totals):
        # `base` can be older than the commit that GitHub compares with, and a shallow clone can
        # have another merge base: GitHub's own list is used.
        return None, "its change does not match GitHub's counts"
    return Change(local.diff, (), local.notes), None


def read_head(client: Client, repository: str, number: int) -> Head:
    """Read the current head of a pull request.

    Raises:
        HostError: It could not be read.
    """
    return _head(client.get(f"/repos/{repository}/pulls/{number}", _Pull), repository)


def read_reviews(client: Client, repository: str, number: int) -> Reviews:
    """Read the submitted reviews of a pull request, and its current head.

    Raises:
        HostError: They could not be read in full.
    """
    pull = client.get(f"/repos/{repository}/pulls/{number}", _Pull)
    reviews = conversation.read_reviews(client, repository, number, pull.head.sha)
    messages = _trusting(pull, reviews)
    return Reviews(_head(pull, repository), pull.user.login if pull.user else None, messages)


def _trusting(pull: _Pull, messages: Sequence[HostMessage]) -> tuple[HostMessage, ...]:
    """Trust everybody in a private repository: whoever may write there was let in."""
    if pull.base.repo is None or not pull.base.repo.private:
        return tuple(messages)
    return tuple(replace(message, is_trusted=True) for message in messages)


def _head(pull: _Pull, repository: str) -> Head:
    name = pull.base.repo.full_name if pull.base.repo else repository
    return Head(name, pull.head.sha, pull.html_url)


def find_by_head(
    client: Client, repository: str, *, owner: str, branch: str, sha: str
) -> tuple[int, ...]:
    """Find the open pull requests of a branch; it can have one for each base.

    Args:
        client: GitHub client.
        repository: `owner/name` of the base.
        owner: Login of the owner of the branch's repository, which may be a fork.
        branch: Name of the branch; untrusted.
        sha: Required newest commit, 40 hex digits.

    Returns:
        The numbers; empty when no open pull request still has this head.
    """
    query = {"state": "open", "head": f"{owner}:{branch}"}
    items = client.pages(f"/repos/{repository}/pulls", _Listed, query, key=attrgetter("number"))
    return tuple(item.number for item in items if item.head.sha == sha)


def find_recent(
    client: Client, repository: str, *, days: int, limit: int, now: datetime | None = None
) -> tuple[int, ...]:
    """Find the recently changed open pull requests.

    Args:
        client: GitHub client.
        repository: `owner/name`.
        days: Maximum days since the change.
        limit: Maximum number, up to `MAX_LISTED`.
        now: Current time; None to read the clock.

    Returns:
        Numbers, the most recently changed first.

    Raises:
        HostError: The list could not be read.
    """
    since = (now or datetime.now(UTC)) - timedelta(days=days)
    query = {"state": "open", "sort": "updated", "direction": "desc", "per_page": str(limit)}
    items = client.get(f"/repos/{repository}/pulls", list[_Listed], query)
    # ISO 8601 in UTC sorts as text.
    return tuple(item.number for item in items if item.updated_at >= f"{since:%Y-%m-%dT%H:%M:%SZ}")
