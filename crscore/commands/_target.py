"""Finds the pull request that a command line names: by its full name or, in a clone, its number."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from crscore.errors import COMMAND_LINE, ConfigError, CRScoreError
from crscore.hosts.site import Site, all_sites

# https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/working-with-forks/configuring-a-remote-repository-for-a-fork
REMOTES: Final = ("upstream", "origin")
"""Preferred names of remotes, in order. `upstream` is first, because pull requests from a fork are
opened there."""
# Matches `git@host:owner/name.git`, `ssh://git@host:22/owner/name` and
# `https://token@host/owner/name.git`.
_REMOTE: Final = re.compile(
    r"(?:\w+://(?:[^@/]*@)?(?P<host>[\w.-]+)(?::\d+)?/|(?:[\w.-]+@)?(?P<short>[\w.-]+):)"
    r"(?P<repository>[\w.-]+(?:/[\w.-]+?){1,20}?)(?:\.git)?/?",
    re.ASCII,
)


class Target(NamedTuple):
    """Pull request on a code host."""

    site: Site
    repository: str
    """Full name of the repository, such as `owner/name`."""
    number: int

    @property
    def name(self) -> str:
        """Name of the pull request in the form of its host, such as `owner/name#7`."""
        return f"{self.repository}{self.site.mark}{self.number}"


def find_target(target: str, api_url: str | None) -> Target:
    """Parse the name of a pull request; a number alone refers to the repository of this clone.

    The token is sent only to the configured host, never to a host that an address or a remote
    names.

    Args:
        target: A number, `owner/repo#7`, `group/project!7` or the address of its page.
        api_url: Address of the API from the command line, which allows pages on any host; None if
            not given.

    Raises:
        ConfigError: The text has another form, or names another host.

    Example:
        >>> find_target("acme/shop#7", None).name
        'acme/shop#7'
    """
    # An address copied from Markdown or a mail may be in angle brackets:
    # https://spec.commonmark.org/0.31.2/#autolinks
    text = target.strip().strip("<>")
    # `isdigit` alone also accepts "²", which `int` does not.
    if text.isascii() and text.isdigit():
        host, repository = find_repository(Path())
        sites = [site for site in all_sites() if host == urlsplit(site.web(None)).hostname]
        if sites:
            return Target(sites[0], sites[0].name_below(repository, None), int(text))
        first = all_sites()[0]
        text = f"{repository}{first.mark}{text}"
        if api_url is None:
            expected = f"alone needs a clone of {first.web(None)}, not one of {host}"
            raise ConfigError(target.strip(), COMMAND_LINE, f"{expected}; give {text}")
    for site in all_sites():
        web = urlsplit(site.web(api_url))
        # The scheme may be missing, because browsers do not show it.
        if text.lower().startswith(f"{web.netloc.lower()}/"):
            text = f"{web.scheme}://{text}"
        if match := site.target.fullmatch(text):
            server = match["server"] and _resolve_alias(match["server"])
            if server and api_url is None and server.lower() != web.netloc.lower():
                expected = (
                    f"is a page on {server}, but {site.variable} says {web.netloc}; change the "
                    "variable, or give --api-url"
                )
                raise ConfigError(text[:100], COMMAND_LINE, expected)
            name = match["repository"]
            name = site.name_below(name, api_url) if server else name
            return Target(site, name, int(match["number"]))
    expected = "names no pull request; give acme/shop#7, group/project!7 or the address of its page"
    if Path(text).is_file():
        expected = "is a file; to score a review in a file: crscore DIFF REVIEW"
    raise ConfigError(repr(text[:100]), COMMAND_LINE, expected)


def find_site(targets: Sequence[Target]) -> Site:
    """Return the code host of pull requests.

    Raises:
        ConfigError: The pull requests are on several hosts.
    """
    sites = {target.site for target in targets}
    if len(sites) > 1:
        names = " and ".join(sorted(site.form for site in sites))
        raise ConfigError(names, COMMAND_LINE, "must all be on one host: run pr for each host")
    return sites.pop()


def find_repositories(
    texts: Sequence[str], api_url: str | None
) -> tuple[tuple[str, ...], Site | None]:
    """Parse names of repositories and find their code host.

    Args:
        texts: Each is `owner/name`, `group/subgroup/project`, or the address of the page.
        api_url: Address of the API from the command line; None if not given.

    Returns:
        The names, and their host; the host is None if neither an address nor a subgroup shows it.

    Raises:
        ConfigError: An address is on another host, or the names are on two hosts.
    """
    names: list[str] = []
    hosts: set[Site] = set()
    # If `api_url` fits several hosts, the one with nested groups is preferred.
    sites = sorted(all_sites(), key=lambda site: not site.allows_nested_groups)
    for text in texts:
        if not text.startswith(("https://", "http://")):
            names.append(text)
            # Only some hosts have groups within groups.
            hosts |= {site for site in sites if site.allows_nested_groups and text.count("/") > 1}
            continue
        parts = urlsplit(text)
        webs = {site: urlsplit(site.web(api_url)) for site in sites}
        matching = [site for site in sites if webs[site].netloc.lower() == parts.netloc.lower()]
        if not matching:
            expected = ", ".join(f"{site.variable} says {webs[site].netloc}" for site in sites)
            raise ConfigError("OWNER/REPO", COMMAND_LINE, f"is on {parts.netloc}, but {expected}")
        names.append(matching[0].name_below(parts.path.strip("/").removesuffix(".git"), api_url))
        hosts.add(matching[0])
    if len(hosts) > 1:
        expected = "must all be on one host, as a store has one host; give another --store"
        raise ConfigError("OWNER/REPO", COMMAND_LINE, expected)
    return tuple(names), next(iter(hosts), None)


def find_repository(folder: Path) -> tuple[str, str]:
    """Find the code host and the name of a clone's repository in its remotes.

    Args:
        folder: A folder of the clone.

    Returns:
        The host without its port, and the repository's full name.

    Raises:
        ConfigError: The folder is not a clone, or no remote is on a code host. The message shows no
            addresses, because they may contain a token.
    """
    from crscore.diff.git import run_git  # noqa: PLC0415

    reason = "no remote of this clone is on a code host"
    try:
        remotes = run_git(["remote"], folder=folder).decode("utf-8", errors="replace").split()
    except CRScoreError:
        has_git = shutil.which("git") is not None
        reason, remotes = "this folder is not one" if has_git else "git is not installed", []
    # Remotes with other names come last.
    for remote in sorted(remotes, key=lambda name: (*REMOTES, name).index(name)):
        try:
            address = run_git(["remote", "get-url", "--", remote], folder=folder).decode().strip()
        except (CRScoreError, UnicodeDecodeError):
            continue
        # The address of a remote may also be a folder.
        if match := _REMOTE.fullmatch(address):
            return _resolve_alias(match["host"] or match["short"]), match["repository"]
    expected = f"needs a clone, and {reason}; elsewhere: crscore pr acme/shop#7"
    raise ConfigError("a number alone", COMMAND_LINE, expected)


def _resolve_alias(server: str) -> str:
    """Return the host that an alias stands for, or the server itself, in lower case."""
    names = (site.aliases.get(server.lower()) for site in all_sites())
    return next(filter(None, names), server.lower())
