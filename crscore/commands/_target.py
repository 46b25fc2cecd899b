"""Pull request that a command line names, also by its number alone in a clone."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from crscore.commands._github import web_address
from crscore.errors import ConfigError, CRScoreError
from crscore.settings import gitlab_address, host_address

REMOTES: Final = ("upstream", "origin")
"""Preferred names of remotes, in order: a fork's pull requests are upstream."""
_NAME: Final = r"(?P<repository>[\w.-]+/[\w.-]+)"
# `owner/repo#7`, `owner/repo/pull/7`, `https://host/owner/repo/pull/7/files#diff-1`
_TARGET: Final = re.compile(
    rf"(?:https?://(?P<host>[\w.:-]+)/)?{_NAME}(?:\#|/pull/)(?P<number>[1-9]\d{{0,8}})"
    r"(?:/(?:files|commits|checks|changes)?(?:/[\w-]*)?)?(?:[?#][\w=&.-]*)?",
    re.ASCII,
)
# `git@host:owner/name.git`, `ssh://git@host:22/owner/name`, `https://token@host/owner/name.git`
_REMOTE: Final = re.compile(
    r"(?:\w+://(?:[^@/]*@)?(?P<host>[\w.-]+)(?::\d+)?/|(?:[\w.-]+@)?(?P<short>[\w.-]+):)"
    r"(?P<repository>[\w.-]+(?:/[\w.-]+?){1,20}?)(?:\.git)?/?",
    re.ASCII,
)
_ALIASES: Final = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
}
"""Other names of a host, such as the one that takes SSH on the port of HTTPS."""

# `group/subgroup/project!7`, `https://host/path/group/project/-/merge_requests/7/diffs#note_1`
_MERGE_REQUEST: Final = re.compile(
    r"(?:(?P<server>https?://[\w.:-]+)/)?(?P<repository>[\w.-]+(?:/[\w.-]+){1,20}?)"
    r"(?:!|/-/merge_requests/)(?P<number>[1-9]\d{0,8})(?:/\w*)?(?:[?#][\w=&.#-]*)?",
    re.ASCII,
)


class Target(NamedTuple):
    """Pull request."""

    repository: str
    """`owner/name`."""
    number: int
    host: str | None = None
    """Host of the page's address; None where only repository and number were given."""
    is_gitlab: bool = False
    """Whether it is a merge request of a GitLab."""

    @property
    def name(self) -> str:
        """Its name, as people on its host write it."""
        return f"{self.repository}{'!' if self.is_gitlab else '#'}{self.number}"


def find_target(target: str, api_url: str | None) -> Target:
    """Parse the identity of a pull request; a number alone is one of this clone's repository.

    The token goes to the configured host, never to one that a pasted address or a remote names.

    Args:
        target: A number, `owner/repo#7`, `group/project!7` or the address of its page.
        api_url: Address of the API from the command line, which allows any host; None for none.

    Raises:
        ConfigError: The text is none of these, or is about another host.
    """
    if (match := _MERGE_REQUEST.fullmatch(target.strip())) is not None:
        return _merge_request(match, api_url)
    web = web_address(host_address())
    if target.isascii() and target.isdigit():
        host, repository = find_repository(Path())
        gitlab = urlsplit(gitlab_address())
        if host == gitlab.hostname and host != urlsplit(web).hostname:
            name = repository.removeprefix(f"{gitlab.path.strip('/')}/")
            return Target(name, int(target), is_gitlab=True)
        if api_url is None and host != urlsplit(web).hostname:
            expected = f"alone needs a clone of {web}, and this one is of {host}"
            raise ConfigError("N", "command line", f"{expected}; give {repository}#{target}")
        return parse_target(f"{repository}#{target}")
    parsed = parse_target(target)
    web_host = urlsplit(web).netloc
    if parsed.host and api_url is None and parsed.host.lower() != web_host.lower():
        expected = f"is a page on {parsed.host}, and the API is that of {web_host}; give --api-url"
        raise ConfigError("OWNER/REPO#N", "command line", expected)
    return parsed


def _merge_request(match: re.Match[str], api_url: str | None) -> Target:
    """Return a merge request on the configured GitLab."""
    address = (api_url or gitlab_address()).rstrip("/")
    server, repository = match["server"], match["repository"]
    # A server may live below a path, which is then no part of the project's name.
    folder = urlsplit(address).path.strip("/")
    if server is not None and folder:
        repository = repository.removeprefix(f"{folder}/")
    if server is not None and urlsplit(server).netloc.lower() != urlsplit(address).netloc.lower():
        expected = (
            f"is a page on {urlsplit(server).netloc}, and GITLAB_URL says "
            f"{urlsplit(address).netloc}; set it, or give --api-url"
        )
        raise ConfigError("GROUP/PROJECT!N", "command line", expected)
    return Target(repository, int(match["number"]), is_gitlab=True)


class Repositories(NamedTuple):
    """Repositories, or organisations with a pattern, of one host."""

    names: tuple[str, ...]
    is_gitlab: bool | None
    """Whether they are on GitLab; None where no name says so."""


def find_repositories(texts: Sequence[str], api_url: str | None) -> Repositories:
    """Parse names of repositories, of which addresses say the host.

    Args:
        texts: Each `owner/name`, `group/subgroup/project`, or the address of its page.
        api_url: Address of the API from the command line, which allows any host; None for none.

    Raises:
        ConfigError: An address is of another host, or they are of two.
    """
    gitlab, github = (
        urlsplit(api_url or address) for address in (gitlab_address(), web_address(host_address()))
    )
    names: list[str] = []
    is_gitlab: set[bool] = set()
    for text in texts:
        parts = urlsplit(text) if text.startswith(("https://", "http://")) else None
        name = parts.path.strip("/").removesuffix(".git") if parts else text
        if parts is None:
            # Only GitLab has groups of groups.
            is_gitlab |= {True} if name.count("/") > 1 else set()
        elif parts.netloc.lower() == gitlab.netloc.lower():
            name = name.removeprefix(f"{gitlab.path.strip('/')}/") if gitlab.path else name
            is_gitlab.add(True)
        elif parts.netloc.lower() == github.netloc.lower():
            is_gitlab.add(False)
        else:
            expected = (
                f"is on {parts.netloc}; GITLAB_URL says {gitlab.netloc}, and GITHUB_API_URL "
                f"{github.netloc}"
            )
            raise ConfigError("OWNER/REPO", "command line", expected)
        names.append(name)
    if len(is_gitlab) > 1:
        expected = "must all be on one host: a store has one, give another --store"
        raise ConfigError("OWNER/REPO", "command line", expected)
    return Repositories(tuple(names), next(iter(is_gitlab), None))


def parse_target(target: str) -> Target:
    """Parse the identity of a pull request.

    Args:
        target: `owner/repo#7` or the address of its page.

    Returns:
        Repository and number.

    Raises:
        ConfigError: The text is neither.

    Example:
        >>> parse_target("acme/shop#7")
        Target(repository='acme/shop', number=7, host=None, is_gitlab=False)
        >>> parse_target("https://github.com/acme/shop/pull/7").number
        7
    """
    match = _TARGET.fullmatch(target.strip())
    if match is None:
        raise ConfigError(
            "OWNER/REPO#N",
            "command line",
            f"must be like acme/shop#7 or group/project!7, not {target[:100]!r}",
        )
    return Target(match["repository"], int(match["number"]), match["host"])


def find_repository(folder: Path) -> tuple[str, str]:
    """Find the repository on the host that a clone is of, by git's remotes.

    Args:
        folder: A folder of the clone.

    Returns:
        The host without its port, and the repository's full name.

    Raises:
        ConfigError: There is no clone, or no remote with such an address. The message has no
            address, which may hold a token.
    """
    from crscore.diff.git import run_git  # noqa: PLC0415

    try:
        remotes = run_git(["remote"], folder=folder).decode("utf-8", errors="replace").split()
    except CRScoreError as exc:
        raise _unknown("this is no clone") from exc
    # Remotes with other names come last.
    for remote in sorted(remotes, key=lambda name: (*REMOTES, name).index(name)):
        try:
            address = run_git(["remote", "get-url", "--", remote], folder=folder).decode().strip()
        except (CRScoreError, UnicodeDecodeError):
            continue
        # The remote of a clone may also be a folder.
        if match := _REMOTE.fullmatch(address):
            host = (match["host"] or match["short"]).lower()
            return _ALIASES.get(host, host), match["repository"]
    raise _unknown("no remote of this clone is on a code host")


def _unknown(reason: str) -> ConfigError:
    return ConfigError("N", "command line", f"alone needs a clone, and {reason}; give acme/shop#7")
