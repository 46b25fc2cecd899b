"""`crscore pr OWNER/REPO#N`: score the reviews of a pull request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io, progress
from crscore.commands import _terminal
from crscore.commands._host import host_options
from crscore.commands._inputs import read_sarif_files, sarif_option
from crscore.commands._settings import SCORING, setting_options
from crscore.commands._target import find_site, find_target
from crscore.errors import COMMAND_LINE, ConfigError, CRScoreError
from crscore.settings import resolve_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.hosts.host import Host
    from crscore.hosts.site import Connection
    from crscore.hosts.sticky import Posted
    from crscore.pull_request.run import Measured, Request

EXIT_FAILED: Final = 3
FORMATS: Final = ("text", "json", "html", "markdown", "sarif", "codequality")
SINGLE_FORMATS: Final = ("json", "html", "sarif", "codequality")
"""Formats for a single pull request."""
REPORTS: Final = {
    "json": "crscore.json",
    "html": "crscore.html",
    "sarif": "crscore.sarif",
    "codequality": "gl-code-quality-report.json",
}
"""Files of `--reports`, by format."""


@click.command(
    name="pr",
    cls=_terminal.GroupedCommand,
    examples=(
        "crscore pr acme/shop#7",
        "crscore pr 7 8 9   # in a clone",
        "crscore pr acme/shop#7 --comment",
        "crscore pr 'group/project!7'   # on GitLab",
        "crscore pr acme/shop#7 --author 'coderabbitai[bot]' --format html -o page.html",
    ),
)
@click.argument("targets", metavar="[OWNER/REPO#]N|GROUP/PROJECT!N...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Report format.")
@_terminal.output_option
@click.option(
    "--reports",
    "folder",
    metavar="DIR",
    help="Also write crscore.json, .html, .sarif and gl-code-quality-report.json to this folder.",
)
@click.option(
    "--author",
    "authors",
    metavar="PATTERN",
    multiple=True,
    help="Login or reviewer to score; * matches any text, ! excludes; may be repeated.",
)
@click.option(
    "--bot-marker",
    "markers",
    metavar="NAME=TEXT",
    multiple=True,
    help="Attribute posts with this TEXT to the bot NAME; may be repeated.",
)
@click.option(
    "--checkout",
    metavar="DIR",
    help="Local checkout to read the change from if it has both commits (default: here).",
)
@click.option("--no-checkout", is_flag=True, help="Read the change from the host's API.")
@sarif_option
@click.option(
    "--comment/--no-comment", default=False, help="Post the result as one comment, or update it."
)
@click.option(
    "--post", "document", metavar="FILE", help="Only post the JSON report of an earlier run."
)
@setting_options("signature", "fail_under", "fail_under_relevance", "on_nothing")
@click.option(
    "--fail-on",
    metavar="NAMES",
    default="together",
    help="Whom the gate applies to: together, each, or comma-separated patterns.",
)
@click.option(
    "--fail-on-partial",
    is_flag=True,
    help="Also fail if the run is partial and a threshold is set.",
)
@host_options(wait_budget_s=300)
@click.option("-v", "--verbose", is_flag=True, help="Print the numbers of requests to stderr.")
@setting_options(*SCORING, "trust")
def command(
    targets: tuple[str, ...],
    *,
    form: str,
    output: str | None,
    folder: str | None,
    authors: tuple[str, ...],
    markers: tuple[str, ...],
    checkout: str | None,
    no_checkout: bool,
    sarif_files: tuple[str, ...],
    comment: bool,
    document: str | None,
    fail_on: str,
    fail_on_partial: bool,
    connection: Connection,
    verbose: bool,
    **flags: Any,
) -> int:
    """Score the reviews of pull requests by people and bots.

    In a clone, the number is enough. Several pull requests are scored one after the other.

    The token is read from GITHUB_TOKEN or GH_TOKEN, for GitLab from GITLAB_TOKEN or CI_JOB_TOKEN;
    GITLAB_URL is GitLab's address. [tool.crscore] is read from the base branch only, so that a
    change cannot set its own gate.
    """
    from crscore.pull_request import gate, run  # noqa: PLC0415  (so that --help is fast)

    subjects = [find_target(target, connection.api_url) for target in targets]
    single = {f"--format {form}": form in SINGLE_FORMATS, "--post": document, "--reports": folder}
    if len(subjects) > 1 and any(single.values()):
        option = next(name for name, value in single.items() if value)
        raise ConfigError(option, COMMAND_LINE, "is for one pull request: give one")
    overrides = {key: value for key, value in flags.items() if value is not None}
    # Without a file: the settings of the base branch are read with each pull request.
    settings = resolve_settings(overrides, file=None)
    if settings.offline:
        raise ConfigError("offline", "settings", "cannot be true: a pull request is on the network")
    host = find_site(subjects).make_host(connection)
    if document is not None:
        return _post(host, subjects[0].repository, subjects[0].number, document)
    request = run.Request(
        repository=subjects[0].repository,
        number=subjects[0].number,
        authors=authors,
        markers=dict(map(_marker, markers)),
        flags=overrides,
        folder=None if no_checkout else Path(checkout or "."),
        # A folder that cannot be used is reported only if the user named it.
        names_folder=checkout is not None,
        reports=read_sarif_files(settings, sarif_files),
    )
    requests = [
        replace(request, repository=subject.repository, number=subject.number)
        for subject in subjects
    ]
    results = _measure_all(host, requests, [subject.name for subject in subjects])
    if results:
        io.write_text(render(results, form, to_terminal=output is None), output)
        _write_reports(results, folder)
    codes = [EXIT_FAILED] * (len(requests) - len(results))
    for measured in results:
        if comment:
            _print_posted(run.post(host, measured))
        # The report on the terminal lists the missing parts.
        missing = () if output is None and form == "text" else measured.overview.missing
        for line in (
            *(f"partial: {text}" for text in missing),
            *(f"note: {text}" for text in measured.overview.notes),
        ):
            _terminal.print_note(line)
        verdict = gate.judge(
            measured.overview,
            measured.settings,
            fail_on.split(","),
            fail_on_partial=fail_on_partial,
        )
        for line in (*verdict.notices, *verdict.failed):
            _terminal.print_message(line)
        codes.append(_terminal.EXIT_GATE if verdict.failed else 0)
    if verbose:
        _terminal.print_message(f"requests to the host: {host.traffic}")
    # A pull request that could not be scored outweighs the gate.
    return max(codes)


def _measure_all(host: Host, requests: Sequence[Request], names: Sequence[str]) -> list[Measured]:
    """Measure each pull request; if one of several fails, report it and continue."""
    from crscore.pull_request import run  # noqa: PLC0415

    results: list[Measured] = []
    with progress.track("scoring pull requests", len(requests)) as advance:
        for request, name in zip(requests, names, strict=True):
            try:
                results.append(run.measure(host, request))
            except CRScoreError as exc:
                if len(requests) == 1:
                    raise
                _terminal.print_message(f"{name}: {exc}")
            advance(1)
    return results


def _marker(text: str) -> tuple[str, str]:
    name, sign, marker = text.partition("=")
    if not (name.strip() and sign and marker.strip()):
        raise ConfigError("--bot-marker", COMMAND_LINE, f"must be NAME=TEXT, not {text[:100]!r}")
    return name.strip(), marker.strip()


def render(results: Sequence[Measured], form: str, *, to_terminal: bool = False) -> str:
    """Write the report on pull requests in one of `FORMATS`."""
    from crscore.pull_request.documents import (  # noqa: PLC0415
        code_quality,
        json,
        page,
        sarif,
        summary,
        terminal,
    )

    first, overviews = results[0], [measured.overview for measured in results]
    if form == "json":
        return json.render_json(first.overview, first.reviewers.threads, first.result)
    if form == "codequality":
        return code_quality.render_code_quality(first.overview)
    if form == "sarif":
        return sarif.render_sarif(first.overview, first.result)
    if form == "html":
        return page.render_page(first.overview, first.result)
    if form == "markdown":
        return summary.render_summary(overviews)
    return terminal.render_terminal(
        overviews,
        **_terminal.report_style(to_terminal=to_terminal),
        signature=first.settings.signature,
    )


def _write_reports(results: Sequence[Measured], folder: str | None) -> None:
    """Write the documents of one pull request, for the artifacts of a job."""
    if folder is None:
        return
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        reason = f"cannot be made ({exc.strerror})"
        raise ConfigError("--reports", COMMAND_LINE, reason) from exc
    for form, name in REPORTS.items():
        io.write_text(render(results, form), str(Path(folder) / name))


def _post(host: Host, repository: str, number: int, document: str) -> int:
    """Post the JSON report of another run."""
    from crscore.pull_request import run, untrusted  # noqa: PLC0415

    size = untrusted.MAX_BYTES
    data, _ = io.read_input(document, content="report", limit="MAX_BYTES", max_bytes=size)
    overview = run.check_document(host, repository, (number,), data, source=document)
    _print_posted(run.post_overview(host, overview))
    return 0


def _print_posted(posted: Posted) -> None:
    details = "".join(f": {text}" for text in (posted.url, posted.reason) if text)
    _terminal.print_message(f"comment {posted.outcome.value}{details}")
