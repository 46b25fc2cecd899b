"""Finds the repositories of a run by name or organisation, also after they were renamed or lost."""

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

# `owner/name`: `psf/requests`, `a.b/c-d_e`. GitLab's groups can be nested, up to 20 levels deep:
# https://docs.gitlab.com/user/group/subgroups/
_NAME: Final = re.compile(r"[\w.-]+(?:/[\w.-]+){1,20}", re.ASCII)
# An owner with a shell pattern: `acme/*`, `acme/api-[!x]*`.
_PATTERN: Final = re.compile(r"[\w.-]+(?:/[\w.-]+){0,20}/[\w.*?\[\]!-]+", re.ASCII)


@dataclass(slots=True)
class Messages:
    """Sentences for the user that a run collects."""

    notes: list[str] = field(default_factory=list)
    """Notes for the user, one sentence each."""
    missing: list[str] = field(default_factory=list)
    """Sentences on data that could not be read. If there is one, the run is partial."""


def check_names(store: Store, feed: Feed, names: Sequence[str], patterns: Sequence[str]) -> None:
    """Check the names of repositories, the patterns of organisations and the host of the store.

    Raises:
        InputError: A name or pattern is invalid, or the store has data of another host.
    """
    depth = 20 if site_of_page(feed.page or "").is_deep else 1
    for name in names:
        if not _NAME.fullmatch(name) or name.count("/") > depth:
            raise InputError(f"{name!r} is not a repository: write OWNER/NAME")
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern) or pattern.count("/") > depth:
            raise InputError(f"{pattern!r} is not an organisation with a pattern: write OWNER/*")
    # Comments of two hosts can have the same numbers, which are the keys of the store.
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
    """Find the repositories to synchronise, by number; report the ones that cannot be read.

    Args:
        store: The store, in which the repositories are stored.
        feed: The code host.
        names: Names of the form `owner/name`.
        patterns: Owners with a pattern, of the form `owner/pattern`.
        since: Start of the data that is read from a new repository.
        messages: Sentences on repositories that could not be read are added to it.

    Raises:
        RateLimitedError: The budget is spent.
        BadTokenError: The token is missing or wrong.
    """
    repositories: dict[int, Repository] = {}
    for name in names:
        stored = find_by_name(store, name)
        # A known repository needs no request here; `read_changed` notices a new name.
        if stored and stored[0].state == "ok":
            repositories[stored[0].id] = stored[0]
            continue
        try:
            row = store_listed(store, feed, *feed.find_repository(name), since, messages)
            repositories[row.id] = row
        except (RateLimitedError, BadTokenError):
            raise
        except HostError as exc:
            if stored and isinstance(exc, NotFoundError | PermissionDeniedError):
                _lose(store, stored[0], exc, messages)
            else:
                messages.missing.append(f"{name} cannot be read: {exc.reason}.")
    for pattern in patterns:
        for listed in _list(feed, pattern, messages):
            try:
                row = store_listed(store, feed, *listed, since, messages)
                repositories[row.id] = row
            except HostError as exc:
                messages.missing.append(f"{pattern}: {exc.reason}.")
    # A fixed order, so that a repeated run reads the same repositories first.
    return dict(sorted(repositories.items()))


def find_again(
    store: Store, feed: Feed, repository: Repository, messages: Messages
) -> Repository | None:
    """Find a renamed repository by its number; return None if it no longer exists.

    Raises:
        HostError: The host does not say whether it exists.
    """
    try:
        listed = feed.find_repository(str(repository.id))
    except (NotFoundError, PermissionDeniedError) as exc:
        _lose(store, repository, exc, messages)
        return None
    return store_listed(store, feed, *listed, "", messages)


def _list(feed: Feed, pattern: str, messages: Messages) -> Sequence[tuple[int, str]]:
    """Return number and name of the repositories of an owner that match a pattern."""
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


def store_listed(
    store: Store, feed: Feed, number: int, name: str, since: str, messages: Messages
) -> Repository:
    """Store a repository as the host has it now, perhaps with another name.

    Raises:
        HostError: It has a name that could change an address or a message.
    """
    if not _NAME.fullmatch(name):
        reason = f"the host calls it {name[:100]!r}, which is not a name"
        raise HostError("the repository", reason)
    previous = store.find_one(Repository, id=number)
    row = Repository(id=number, name=name, state="ok", page=feed.page)
    if previous is not None and previous.name != row.name:
        messages.notes.append(f"{previous.name} is now called {row.name}.")
    with store.transaction():
        store.put([row])
        if previous is None:
            put_position(store, row.id, "pulls", since)
    return row


def _lose(store: Store, repository: Repository, error: HostError, messages: Messages) -> None:
    state = "gone" if isinstance(error, NotFoundError) else "refused"
    store.put([replace(repository, state=state, reason=error.reason)])
    # A repository lost in an earlier run must not make every later run partial.
    texts = messages.missing if repository.state == "ok" else messages.notes
    texts.append(f"{repository.name} cannot be read any more: {error.reason}.")
