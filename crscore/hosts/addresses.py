"""Addresses of a pull request's parts, from that of its page."""

import hashlib
from typing import Final

from crscore.hosts.records import RemarkKind

_MERGE_REQUEST: Final = "/-/merge_requests/"
_ANCHORS: Final = {
    RemarkKind.LINE: "#discussion_r",
    RemarkKind.REVIEW: "#pullrequestreview-",
    RemarkKind.CONVERSATION: "#issuecomment-",
}


def pull_name(repository: str, number: int, url: str) -> str:
    """Return the name of a pull request as people on its host write it.

    Example:
        >>> pull_name("acme/shop", 7, "https://github.com/acme/shop/pull/7")
        'acme/shop#7'
        >>> pull_name("a/b/c", 7, "https://gitlab.com/a/b/c/-/merge_requests/7")
        'a/b/c!7'
    """
    return f"{repository}{'!' if _MERGE_REQUEST in url else '#'}{number}"


def commit_address(url: str, commit: str) -> str:
    """Return the address of the change at a commit.

    Example:
        >>> commit_address("https://gitlab.com/a/b/-/merge_requests/7", "c0ffee")
        'https://gitlab.com/a/b/-/merge_requests/7/diffs?commit_id=c0ffee'
    """
    form = "diffs?commit_id=" if _MERGE_REQUEST in url else "commits/"
    return f"{url}/{form}{commit}"


def file_address(url: str, path: str, lines: str) -> str:
    """Return the address of a file in the change.

    Args:
        url: Page of the pull request.
        path: Path under which the host lists the file.
        lines: Lines as GitHub writes them; GitLab's need both versions' numbers and are left out.
    """
    data = path.encode("utf-8", "surrogatepass")
    if _MERGE_REQUEST in url:
        return f"{url}/diffs#{hashlib.sha1(data, usedforsecurity=False).hexdigest()}"
    return f"{url}/files#diff-{hashlib.sha256(data).hexdigest()}{lines}"


def comment_address(url: str, kind: RemarkKind, number: int) -> str:
    """Return the address of a remark on a pull request.

    Args:
        url: Page of the pull request.
        kind: Kind of the remark.
        number: The host's id of it.

    Example:
        >>> comment_address("https://github.com/a/b/pull/7", RemarkKind.LINE, 3)
        'https://github.com/a/b/pull/7#discussion_r3'
        >>> comment_address("https://gitlab.com/a/b/-/merge_requests/7", RemarkKind.LINE, 3)
        'https://gitlab.com/a/b/-/merge_requests/7#note_3'
    """
    if _MERGE_REQUEST not in url:
        return f"{url}{_ANCHORS[kind]}{number}"
    # An approval has no place on the page.
    return url if kind is RemarkKind.REVIEW else f"{url}#note_{number}"


def landed_address(url: str, commit: str) -> str:
    """Return the address of a commit of a branch, from the page of a pull request.

    Example:
        >>> landed_address("https://gitlab.com/a/b/-/merge_requests/7", "c0ffee")
        'https://gitlab.com/a/b/-/commit/c0ffee'
        >>> landed_address("https://github.com/a/b/pull/7", "c0ffee")
        'https://github.com/a/b/commit/c0ffee'
    """
    start, separator, _ = url.partition(_MERGE_REQUEST)
    if separator:
        return f"{start}/-/commit/{commit}"
    return f"{url.rpartition('/pull/')[0]}/commit/{commit}"
