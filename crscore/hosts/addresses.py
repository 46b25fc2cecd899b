"""Addresses of a pull request's parts, from that of its page."""

import hashlib
from typing import Final

_MERGE_REQUEST: Final = "/-/merge_requests/"


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
