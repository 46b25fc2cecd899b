"""Finds the repositories of a run, by name or by organisation, even if they were renamed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.queries import all_repositories, find_by_name, put_position
from crscore.audit.store.rows import Repository
from crscore.errors import (
    BadTokenError,
    HostError,
    InputError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
)
from crscore.hosts.feed import Feed
from crscore.hosts.site import site_of_page

# `owner/name`, such as `psf/requests`. Groups of GitLab can be nested, up to 20 levels deep:
# https://docs.gitlab.com/user/group/subgroups/
_NAME: Final = re.compile(r"[\w.-]+(?:/[\w.-]+){1,20}", re.ASCII)
# An owner with a shell pattern, such as `acme/*` or `acme/api-[!x]*`.
_PATTERN: Final = re.compile(r"[\w.-]+(?:/[\w.-]+){0,20}/[\w.*?\[\]!-]+", re.ASCII)


@dataclass(slots=True)
class Messages:
    """Sentences for the user that are collected during a run."""

    notes: list[str] = field(default_factory=list)
    """Sentences that do not affect the outcome of the run."""
    missing: list[str] = field(default_factory=list)
    """Sentences on data that could not be read. If there are any, the run is partial."""


def check_names(store: Store, feed: Feed, names: Sequence[str], patterns: Sequence[str]) -> None:
    """Check names and patterns of repositories, and that the store has data of this host only.

    Raises:
        InputError: A name or pattern is invalid, or the store has data of another host.
    """
    depth = 20 if site_of_page(feed.page or "").allows_nested_groups else 1
    for name in names:
        if not _NAME.fullmatch(name) or name.count("/") > depth:
            raise InputError(f"{name!r} is not a repository: write OWNER/NAME")
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern) or pattern.count("/") > depth:
            raise InputError(f"{pattern!r} is not an organisation with a pattern: write OWNER/*")
    # A store cannot have two hosts, because comments of both may have the same ids, which are keys.
    if any(row.page != feed.page for row in all_repositories(store)):
        raise InputError(f"{store.path} has repositories of another host: give another --store")


def find_repositories(
    store: Store,
    feed: Feed,
    names: Sequence[str],
    patterns: Sequence[str],
    since: str,
    messages: Messages,
) -> dict[int, Repository]:
    """Find and store the repositories to synchronise.

    Args:
        store: The store.
        feed: The code host.
        names: Names of the form `owner/name`.
        patterns: Owners with a shell pattern for names, of the form `owner/pattern`.
        since: Time from which the data of a new repository are read.
        messages: Sentences for the user; one is added for each repository that cannot be read.

    Returns:
        The repositories that can be read, by id.

    Raises:
        RateLimitedError: The budget is spent.
        BadTokenError: The token is missing or wrong.
    """
    repositories: dict[int, Repository] = {}
    for name in names:
        stored = find_by_name(store, name)
        # For a known repository, no request is needed; `read_changed` notices if it was renamed.
        if stored and stored[0].state == "ok":
            repositories[stored[0].id] = stored[0]
            continue
        try:
            row = store_repository(store, feed, *feed.find_repository(name), since, messages)
            repositories[row.id] = row
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            if stored and isinstance(exc, NotFoundError | PermissionDeniedError):
                _mark_lost(store, stored[0], exc, messages)
            else:
                messages.missing.append(f"{name} cannot be read: {exc.reason}.")
    for pattern in patterns:
        for listed in _list_repositories(feed, pattern, messages):
            try:
                row = store_repository(store, feed, *listed, since, messages)
                repositories[row.id] = row
            except HostError as exc:
                messages.missing.append(f"{pattern}: {exc.reason}.")
    # The order is fixed, so that a repeated run reads the same repositories first.
    return dict(sorted(repositories.items()))


def find_again(
    store: Store, feed: Feed, repository: Repository, messages: Messages
) -> Repository | None:
    """Find a repository by its id, because it may have been renamed.

    Returns:
        The repository with its current name; None if it no longer exists or cannot be read. In this
        case, the reason is stored.

    Raises:
        HostError: The host did not respond, or the new name is invalid.
    """
    try:
        listed = feed.find_repository(str(repository.id))
    except (NotFoundError, PermissionDeniedError) as exc:
        _mark_lost(store, repository, exc, messages)
        return None
    return store_repository(store, feed, *listed, "", messages)


def _list_repositories(feed: Feed, pattern: str, messages: Messages) -> Sequence[tuple[int, str]]:
    """Return the id and the name of each repository of an owner that matches a pattern."""
    owner = pattern.rpartition("/")[0]
    try:
        listed = feed.list_repositories(owner)
    except (RateLimitedError, BadTokenError):
        raise
    except HostError as exc:
        messages.missing.append(f"The repositories of {owner} cannot be listed: {exc.reason}.")
        return ()
    # Code hosts ignore the case of names.
    return [item for item in listed.items() if fnmatchcase(item[1].lower(), pattern.lower())]


def store_repository(
    store: Store, feed: Feed, id_: int, name: str, since: str, messages: Messages
) -> Repository:
    """Store a repository with the name that the host has for it now.

    Args:
        store: The store.
        feed: The code host.
        id_: Id of the repository.
        name: Current name.
        since: Time from which the data of a new repository are read.
        messages: Sentences for the user; a note is added if the name is new.

    Returns:
        The stored row.

    Raises:
        HostError: The name is invalid, so it might change an address or a message.
    """
    if not _NAME.fullmatch(name):
        reason = f"the host calls it {name[:100]!r}, which is not a valid name"
        raise HostError("the repository", reason)
    previous = store.find_one(Repository, id=id_)
    row = Repository(id=id_, name=name, state="ok", page=feed.page)
    if previous is not None and previous.name != row.name:
        messages.notes.append(f"{previous.name} is now called {row.name}.")
    with store.transaction():
        store.put([row])
        if previous is None:
            put_position(store, row.id, "pulls", since)
    return row


def _mark_lost(store: Store, repository: Repository, error: HostError, messages: Messages) -> None:
    """Store why a repository cannot be read any more, and add a sentence for the user."""
    state = "gone" if isinstance(error, NotFoundError) else "refused"
    store.put([replace(repository, state=state, reason=error.reason)])
    # If the repository was lost in an earlier run, this run does not count as partial.
    texts = messages.missing if repository.state == "ok" else messages.notes
    texts.append(f"{repository.name} cannot be read any more: {error.reason}.")
