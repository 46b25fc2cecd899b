"""`crscore pr OWNER/REPO#N`: score the reviews of a pull request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore import io, progress
from crscore.commands import _terminal
from crscore.commands._inputs import read_sarif_files
from crscore.commands._options import (
    format_option,
    host_options,
    option,
    output_option,
    sarif_option,
)
from crscore.commands._settings import GATES, SCORING, setting_options
from crscore.commands._target import find_site, find_target
from crscore.errors import COMMAND_LINE, ConfigError, CRScoreError
from crscore.settings import resolve_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crscore.hosts.host import Host
    from crscore.hosts.site import Connection
    from crscore.hosts.sticky import Posted
    from crscore.pull_request.run import Request, ScoredPull

REPORTS: Final = {
    "json": "crscore.json",
    "html": "crscore.html",
    "sarif": "crscore.sarif",
    # The name of GitLab's templates: https://docs.gitlab.com/ci/testing/code_quality/
    "codequality": "gl-code-quality-report.json",
}
"""Format -> name of its file in the folder of `--reports`. A document in one of these formats is
about a single pull request."""


@click.command(name="pr", cls=_terminal.GroupedCommand)
@click.argument("targets", metavar="[OWNER/REPO#]N|GROUP/PROJECT!N...", nargs=-1, required=True)
@format_option("text", *REPORTS, "markdown")
@output_option
@option(
    "--reports DIR",
    "Also write crscore.json, .html, .sarif and gl-code-quality-report.json to this folder.",
)
@option(
    "--author PATTERN...", "Login or name of a reviewer to score; * matches any text, ! excludes.",
    to="authors",
)  # fmt: skip
@option(
    "--bot-marker NAME=TEXT...", "Attribute posts that contain TEXT to the bot NAME.", to="markers"
)
@option(
    "--checkout DIR",
    "Checkout to read the change from if it has both commits (default: this folder).",
)
@option("--no-checkout", "Read the change from the API of the code host.")
@sarif_option
@option("--comment/--no-comment", "Post the result as a new or updated comment.", default=False)
@option("--post FILE", "Score nothing, but post the JSON report of an earlier run.")
@setting_options("signature", *GATES)
@option(
    "--fail-on NAMES", "Whose scores the gate checks: together, each, or comma-separated patterns.",
    default="together",
)  # fmt: skip
@option("--fail-on-partial", "Also fail if a threshold is set but the run is partial.")
@host_options(wait_budget_s=300)
@setting_options(*SCORING, "trust")
def command(
    targets: tuple[str, ...],
    *,
    fmt: str,
    output: str | None,
    reports: str | None,
    authors: tuple[str, ...],
    markers: tuple[str, ...],
    checkout: str | None,
    no_checkout: bool,
    sarif: tuple[str, ...],
    comment: bool,
    post: str | None,
    fail_on: str,
    fail_on_partial: bool,
    connection: Connection,
    **flags: Any,
) -> int:
    """Score the reviews of pull requests by people and bots.

    In a clone, the number is enough. Several pull requests are scored one after the other.

    The token is read from GITHUB_TOKEN or GH_TOKEN, for GitLab from GITLAB_TOKEN or CI_JOB_TOKEN;
    GITLAB_URL is the address of GitLab. [tool.crscore] is read from the base branch only, so that a
    change cannot weaken its gate.

    Examples:
        crscore pr acme/shop#7
        crscore pr 7 8 9   # in a clone
        crscore pr acme/shop#7 --comment
        crscore pr 'group/project!7'   # on GitLab
        crscore pr acme/shop#7 --author 'coderabbitai[bot]' --format html -o page.html
    """
    from crscore.pull_request import gate, overview, run  # noqa: PLC0415  (so that --help is fast)

    subjects = [find_target(target, connection.api_url) for target in targets]
    single_only = {f"--format {fmt}": fmt in REPORTS, "--post": post, "--reports": reports}
    if len(subjects) > 1 and any(single_only.values()):
        flag = next(name for name, value in single_only.items() if value)
        raise ConfigError(flag, COMMAND_LINE, "is for one pull request only")
    overrides = {key: value for key, value in flags.items() if value is not None}
    # No file is read here, because the settings of its base branch are read with each pull request.
    settings = resolve_settings(overrides, file=None)
    if settings.offline:
        raise ConfigError("offline", "settings", "must be false: pull requests need the network")
    host = find_site(subjects).make_host(connection)
    if post is not None:
        limit = "the maximum size in bytes"
        data, _ = io.read_input(post, content="report", limit=limit, max_bytes=overview.MAX_BYTES)
        _, repository, number = subjects[0]
        checked = run.check_document(host, repository, (number,), data, source=post)
        _print_posted(run.post_overview(host, checked))
        return 0
    request = run.Request(
        repository=subjects[0].repository,
        number=subjects[0].number,
        authors=authors,
        markers=dict(map(_parse_marker, markers)),
        flags=overrides,
        folder=None if no_checkout else Path(checkout or "."),
        # A folder that cannot be used is an error only if the user named the folder.
        is_folder_explicit=checkout is not None,
        reports=read_sarif_files(settings, sarif),
    )
    requests = [
        replace(request, repository=subject.repository, number=subject.number)
        for subject in subjects
    ]
    results = _score_all(host, requests, [subject.name for subject in subjects])
    if results:
        io.write_text(render(results, fmt, to_stdout=output is None), output)
        if reports is not None:
            _write_reports(results, Path(reports))
    codes = [_terminal.EXIT_FAILED] * (len(requests) - len(results))
    for scored in results:
        if comment:
            _print_posted(run.post(host, scored))
        # The report on the terminal lists the missing parts.
        missing = () if output is None and fmt == "text" else scored.overview.missing
        for line in (
            *(f"partial: {text}" for text in missing),
            *(f"note: {text}" for text in scored.overview.notes),
        ):
            _terminal.print_note(line)
        verdict = gate.judge(
            scored.overview,
            scored.settings,
            fail_on.split(","),
            fail_on_partial=fail_on_partial,
        )
        codes.append(_terminal.print_gate(verdict.failed, verdict.notices))
    # The exit code of a pull request that could not be scored (3) is larger than that of a failed
    # gate (1).
    return max(codes)


def _score_all(host: Host, requests: Sequence[Request], names: Sequence[str]) -> list[ScoredPull]:
    """Score each pull request. If there are several, report those that fail and continue."""
    from crscore.pull_request import run  # noqa: PLC0415

    results: list[ScoredPull] = []
    with progress.track("scoring pull requests", len(requests)) as advance:
        for request, name in zip(requests, names, strict=True):
            try:
                results.append(run.read_and_score(host, request))
            except CRScoreError as exc:
                if len(requests) == 1:
                    raise
                _terminal.print_message(f"{name}: {exc}")
            advance(1)
    return results


def _parse_marker(text: str) -> tuple[str, str]:
    name, separator, marker = text.partition("=")
    if not (name.strip() and separator and marker.strip()):
        raise ConfigError("--bot-marker", COMMAND_LINE, f"must be NAME=TEXT, not {text[:100]!r}")
    return name.strip(), marker.strip()


def render(results: Sequence[ScoredPull], fmt: str, *, to_stdout: bool = False) -> str:
    """Return the report on pull requests in one format."""
    from crscore.pull_request.documents import for_hosts, for_people, json  # noqa: PLC0415

    first, overviews = results[0], [scored.overview for scored in results]
    overview, result = first.overview, first.result
    documents: dict[str, Callable[[], str]] = {
        "json": lambda: json.render_json(overview, first.reviewers.threads, result),
        "codequality": lambda: for_hosts.render_code_quality(overview),
        "sarif": lambda: for_hosts.render_sarif(overview, result),
        "html": lambda: for_people.render_page(overview, result),
        "markdown": lambda: for_people.render_summary(overviews),
        "text": lambda: for_people.render_terminal(
            overviews,
            **_terminal.report_style(to_stdout=to_stdout),
            signature=first.settings.signature,
        ),
    }
    return documents[fmt]()


def _write_reports(results: Sequence[ScoredPull], folder: Path) -> None:
    """Write the documents of one pull request to a folder, for the artifacts of a CI job."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        reason = f"cannot be created ({exc.strerror})"
        raise ConfigError("--reports", COMMAND_LINE, reason) from exc
    for fmt, name in REPORTS.items():
        io.write_text(render(results, fmt), str(folder / name))


def _print_posted(posted: Posted) -> None:
    details = "".join(f": {text}" for text in (posted.url, posted.reason) if text)
    _terminal.print_message(f"comment {posted.outcome.value}{details}")
