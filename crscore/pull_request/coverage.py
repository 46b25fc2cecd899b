"""Gate that fails unless each reviewer reviewed the newest commit; status checks do not count."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from crscore.errors import ConfigError
from crscore.hosts.host import Head, Host
from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request.reviewers.authors import strip_app_suffix
from crscore.pull_request.reviewers.classify import read_posts
from crscore.pull_request.reviewers.wildcards import matches
from crscore.scoring.gate import GateResult

# Each poll takes two or three requests, and a token allows 1,000 (in a workflow) or 5,000 an hour:
# https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
POLL_S: Final = 30.0
"""Seconds between polls while waiting for a review."""
_DIGITS: Final = 10
"""Number of digits of a commit in a message."""


def judge(
    host: Host,
    repository: str,
    number: int,
    reviewers: Sequence[str],
    *,
    wait_s: float = 0.0,
    sleep: Callable[[float], object] = time.sleep,
) -> GateResult:
    """Check that each reviewer reviewed the newest commit.

    A review is a submitted review or, on a host that has no reviews, a thread. A notice that
    nothing was reviewed does not count, nor does a reply in a thread, a dismissed review, or a
    review by the author of the pull request.

    Args:
        host: The code host.
        repository: Full name of the repository.
        number: The pull request's number.
        reviewers: Logins or names of reviewers; `*` matches any text. For each of them, a review
            of the newest commit must exist.
        wait_s: Seconds to wait for missing reviews; a push meanwhile does not restart the wait.
        sleep: Function that waits for a number of seconds; tests replace it.

    Returns:
        The result, with a failure for each reviewer who did not review the newest commit.

    Raises:
        ConfigError: No reviewer is given.
        HostError: The pull request could not be read.
    """
    if not all(name.strip() for name in reviewers) or not reviewers:
        raise ConfigError("reviewer", "settings", "must be the login or the name of a reviewer")
    # A workflow that starts on a push runs before anyone can have reviewed the commits.
    remaining_s = wait_s
    while True:
        head, messages = host.read_reviews(repository, number)
        reviewed = _list_reviewed(head, messages)
        failed = []
        for pattern in map(str.strip, reviewers):
            commits = [
                commit
                for commit, names, is_trusted in reviewed
                # A pattern with `*` could match the login of anybody who can comment.
                if (is_trusted or "*" not in pattern)
                and any(matches(pattern, name) for name in names)
            ]
            if head.sha in commits:
                continue
            last = (
                f"; the last review is of {commits[-1][:_DIGITS]}" if commits else " or any other"
            )
            failed.append(
                f"{head.repository}#{number}: {pattern} did not review the newest commit "
                f"{head.sha[:_DIGITS]}{last}"
            )
        if not failed or remaining_s <= 0:
            return GateResult(tuple(failed), ())
        pause = min(POLL_S, remaining_s)
        sleep(pause)
        remaining_s -= pause


def _list_reviewed(head: Head, messages: Sequence[HostMessage]) -> list[tuple[str, set[str], bool]]:
    """Return the commit of each review, its author's names, and whether the author is trusted."""
    reviewed = []
    for message in read_posts(messages, pull_author=head.author):
        post = message.post
        is_review = message.is_review or post.kind is MessageKind.REVIEW
        is_by_author = post.login is not None and post.login == head.author
        if not is_review or message.skip or post.state == "DISMISSED" or is_by_author:
            continue
        is_trusted = post.is_trusted is not False
        login = post.login or ""
        # An untrusted login does not name a reviewer, because anyone can register an app's login
        # without its suffix (docs/design/019-who-spoke.md).
        names = {message.reviewer, *((login, strip_app_suffix(login)) if is_trusted else ())}
        if post.commit:
            # For GitHub, this is the commit that was reviewed, even after further pushes.
            reviewed.append((post.commit, names, is_trusted))
    return reviewed
