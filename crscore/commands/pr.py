"""`crscore pr OWNER/REPO#N`: score what was said of a pull request."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

import click

from crscore import io, progress
from crscore.commands._clone import find_repository
from crscore.commands._github import make_client, say
from crscore.commands._sarif import read_sarif_files, sarif_option
from crscore.commands._settings import PARTS, SCORING, setting_options
from crscore.commands._terminal import GroupedCommand, quiet_option, terminal_style
from crscore.errors import ConfigError, CRScoreError
from crscore.settings import host_address, resolve_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.github.client import Client
    from crscore.github.comment import Posted
    from crscore.pull_request.overview import Overview
    from crscore.pull_request.run import Measured, Request

EXIT_GATE: Final = 1
EXIT_FAILED: Final = 3
FORMATS: Final = ("text", "json", "html", "markdown", "sarif")
ONE_ALONE: Final = ("json", "html", "sarif")
"""Formats of one pull request alone."""
_NAME: Final = r"(?P<repository>[\w.-]+/[\w.-]+)"
# `owner/repo#7`, `owner/repo/pull/7`, `https://host/owner/repo/pull/7/files#diff-1`
_TARGET: Final = re.compile(
    rf"(?:https?://(?P<host>[\w.:-]+)/)?{_NAME}(?:\#|/pull/)(?P<number>[1-9]\d{{0,8}})"
    r"(?:/(?:files|commits|checks|changes)?(?:/[\w-]*)?)?(?:[?#][\w=&.-]*)?",
    re.ASCII,
)
_PUBLIC: Final = "https://api.github.com"


class Target(NamedTuple):
    """Pull request to score."""

    repository: str
    """`owner/name`."""
    number: int
    """Number of the pull request."""
    host: str | None = None
    """Host of the page's address; None where only repository and number were given."""


@click.command(
    name="pr",
    cls=GroupedCommand,
    examples=(
        "crscore pr acme/shop#7",
        "crscore pr 7 8 9   # in a clone",
        "crscore pr acme/shop#7 --comment",
        "crscore pr acme/shop#7 --author 'coderabbitai[bot]' --format html -o page.html",
    ),
)
@click.argument("targets", metavar="[OWNER/REPO#]N...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Report.")
@click.option("-o", "--output", "file", metavar="FILE", help="Write the report here.")
@click.option(
    "--author",
    "authors",
    metavar="PATTERN",
    multiple=True,
    help="Login or reviewer to score, * is any text, ! excludes; may be repeated.",
)
@click.option(
    "--bot-marker",
    "markers",
    metavar="NAME=TEXT",
    multiple=True,
    help="Posts with this text are by the bot of this name; may be repeated.",
)
@click.option(
    "--checkout",
    metavar="DIR",
    help="Local checkout to take the change from, when it has both commits (default: here).",
)
@click.option("--no-checkout", is_flag=True, help="Take the change from GitHub's interface.")
@sarif_option
@click.option("--comment/--no-comment", default=False, help="Write one comment, or edit ours.")
@click.option("--post", "given", metavar="FILE", help="Only post this JSON report of another run.")
@setting_options("signature", "fail_under", "fail_under_relevance")
@click.option(
    "--fail-on",
    metavar="NAMES",
    default="together",
    help="Whose numbers those are: together, each, or comma-separated patterns of reviewers.",
)
@click.option("--fail-on-partial", is_flag=True, help="With a threshold: fail a partial run, too.")
@click.option("--api-url", metavar="URL", help="GitHub's interface (default: GITHUB_API_URL).")
@click.option(
    "--wait-budget",
    type=click.FloatRange(0, 86_400),
    default=300.0,
    metavar="SECONDS",
    help="Longest time to wait for GitHub in all (300).",
)
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr what was asked of GitHub.")
@setting_options(*SCORING, *PARTS, "trust")
def command(
    targets: tuple[str, ...],
    *,
    form: str,
    file: str | None,
    authors: tuple[str, ...],
    markers: tuple[str, ...],
    checkout: str | None,
    no_checkout: bool,
    sarif_files: tuple[str, ...],
    comment: bool,
    given: str | None,
    fail_on: str,
    fail_on_partial: bool,
    api_url: str | None,
    wait_budget: float,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> int:
    """Score the reviews of pull requests by people and bots.

    In a clone, the number alone is enough. Several pull requests are scored one after the other.

    The token is read from GITHUB_TOKEN or GH_TOKEN. [tool.crscore] is read from the base branch
    only, so that a change cannot set its own gate.
    """
    from crscore.pull_request import run  # noqa: PLC0415  (so that --help answers at once)

    places = [_find_target(target, api_url) for target in targets]
    if len(places) > 1 and (form in ONE_ALONE or given is not None):
        raise ConfigError("--format", "command line", f"several have no {form}: give one")
    settings = {key: value for key, value in flags.items() if value is not None}
    request = run.Request(
        repository=places[0].repository,
        number=places[0].number,
        authors=authors,
        markers=dict(map(_marker, markers)),
        flags=settings,
        folder=None if no_checkout else Path(checkout or "."),
        names_folder=checkout is not None,
    )
    first = resolve_settings(settings, file=None)
    if first.offline:
        raise ConfigError("offline", "settings", "cannot be true: a pull request is on the network")
    io.check_output(file)
    host = make_client(first, api_url, wait_budget, quiet=quiet)
    if given is not None:
        return _post(host, request, given)
    request = replace(request, reports=read_sarif_files(first, sarif_files))
    requests = [replace(request, repository=one.repository, number=one.number) for one in places]
    found = _measure_all(host, requests)
    done = [one for one in found if not isinstance(one, CRScoreError)]
    if done:
        io.write_text(_report(done, form, to_terminal=file is None), file)
    codes = [EXIT_FAILED] * (len(found) - len(done))
    for measured in done:
        if comment:
            _say_posted(run.post(host, measured))
        if not quiet:
            _notes(measured.overview, in_report=file is None and form == "text")
        codes.append(_gate(measured, fail_on.split(","), fail_on_partial=fail_on_partial))
    if verbose:
        say(f"asked GitHub: {host.traffic}")
    return max(codes)


def _measure_all(host: Client, requests: Sequence[Request]) -> list[Measured | CRScoreError]:
    """Measure each pull request; one of several that fails is told, and the others go on."""
    from crscore.pull_request import run  # noqa: PLC0415

    found: list[Measured | CRScoreError] = []
    with progress.track("scoring pull requests", len(requests)) as advance:
        for request in requests:
            try:
                found.append(run.measure(host, request))
            except CRScoreError as exc:
                if len(requests) == 1:
                    raise
                say(f"{request.repository}#{request.number}: {exc}")
                found.append(exc)
            advance(1)
    return found


def _find_target(target: str, api_url: str | None) -> Target:
    """Parse the identity of a pull request; a number alone is one of this clone's repository."""
    if target.isascii() and target.isdigit():
        host, repository = find_repository(Path())
        if api_url is None and host != urlsplit(_web_address()).hostname:
            expected = f"alone needs a clone of {_web_address()}, and this one is of {host}"
            raise ConfigError("N", "command line", f"{expected}; give {repository}#{target}")
        return parse_target(f"{repository}#{target}")
    found = parse_target(target)
    _check_host(found.host, api_url)
    return found


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
        Target(repository='acme/shop', number=7, host=None)
        >>> parse_target("https://github.com/acme/shop/pull/7").number
        7
    """
    found = _TARGET.fullmatch(target.strip())
    if found is None:
        raise ConfigError(
            "OWNER/REPO#N", "command line", f"must be like acme/shop#7, not {target[:100]!r}"
        )
    return Target(found["repository"], int(found["number"]), found["host"])


def _check_host(web_host: str | None, api_url: str | None) -> None:
    """Reject the address of a page on a host other than the configured one.

    The token goes to the host that is configured, never to one that a pasted address names.
    """
    if web_host is None or api_url is not None:
        return
    host = urlsplit(_web_address()).netloc
    if web_host.lower() != host.lower():
        expected = f"is a page on {web_host} and {host} would be asked; give --api-url"
        raise ConfigError("OWNER/REPO#N", "command line", expected)


def _web_address() -> str:
    asked = host_address()
    return "https://github.com" if asked == _PUBLIC else "https://" + urlsplit(asked).netloc


def _marker(text: str) -> tuple[str, str]:
    name, sign, marker = text.partition("=")
    if not (name.strip() and sign and marker.strip()):
        raise ConfigError("--bot-marker", "command line", f"must be NAME=TEXT, not {text[:100]!r}")
    return name.strip(), marker.strip()


def _report(done: Sequence[Measured], form: str, *, to_terminal: bool) -> str:
    from crscore.pull_request.documents import json, page, sarif, summary, terminal  # noqa: PLC0415

    first, overviews = done[0], [one.overview for one in done]
    if form == "json":
        return json.render_json(first.overview, first.scored_remarks, first.result)
    if form == "sarif":
        return sarif.render_sarif(first.overview, first.result)
    if form == "html":
        return page.render_page(first.overview, first.result)
    if form == "markdown":
        return summary.render_summary(overviews)
    return terminal.render_terminal(
        overviews, **terminal_style(to_terminal=to_terminal), signature=first.settings.signature
    )


def _post(host: Client, request: Any, given: str) -> int:
    from crscore.pull_request import run, untrusted  # noqa: PLC0415

    size = untrusted.MAX_BYTES
    data, _ = io.read_input(given, content="report", limit="MAX_BYTES", max_bytes=size)
    _, posted = run.post_document(host, request.repository, request.number, data, source=given)
    _say_posted(posted)
    return 0


def _say_posted(posted: Posted) -> None:
    where = f": {posted.url}" if posted.url else ""
    why = f": {posted.reason}" if posted.reason else ""
    say(f"comment {posted.outcome.value}{where}{why}")


def _notes(found: Overview, *, in_report: bool) -> None:
    for line in () if in_report else found.missing:
        say(f"partial: {line}")
    for line in found.notes:
        say(f"note: {line}")


def _gate(measured: Measured, fail_on: Sequence[str], *, fail_on_partial: bool) -> int:
    from crscore.pull_request import gate  # noqa: PLC0415

    verdict = gate.judge(
        measured.overview,
        fail_under=measured.settings.fail_under,
        fail_under_relevance=measured.settings.fail_under_relevance,
        fail_on=fail_on,
        fail_on_partial=fail_on_partial,
    )
    for line in (*verdict.notices, *verdict.failed):
        say(line)
    return EXIT_GATE if verdict.failed else 0
