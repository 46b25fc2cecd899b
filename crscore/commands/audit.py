"""`crscore audit`: nightly audits of review bots."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import click

from crscore import io
from crscore.commands import _terminal
from crscore.commands._options import (
    COUNT,
    DAY,
    PATH,
    format_option,
    host_options,
    option,
    quiet_option,
    write_document,
)
from crscore.commands._settings import SCORING, add_options, load_settings, setting_options
from crscore.commands._target import find_repositories
from crscore.errors import COMMAND_LINE, ConfigError
from crscore.hosts.site import all_sites, site_of_page
from crscore.reports import escape
from crscore.settings import OnNothing
from crscore.text import count_noun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.audit.overview import Overview
    from crscore.audit.store.database import Store
    from crscore.audit.tables import Period
    from crscore.hosts.site import Connection, Site

_FILE: Final = click.Path(dir_okay=False, path_type=Path)

_store = option(
    "--store FILE", "Audit database, which CRSCORE_AUDIT_STORE may also name.",
    to="file", type=_FILE, envvar="CRSCORE_AUDIT_STORE", default="crscore-audit.db",
)  # fmt: skip
_clones = option("--clones DIR", "Folder of the bare clones (default: FILE.clones).", type=PATH)
_output = option("-o, --output PATH", "Write to this path instead of stdout.")
_detect = option(
    "--detect X", "Smallest difference that matters, as a share of the pull requests.",
    type=click.FloatRange(0, 1, min_open=True), default=0.05,
)  # fmt: skip
_price = option("--price BOT=AMOUNT/PER...", "Price: bot=24/month, copilot=0.3/pull.", to="prices")
_question = add_options(
    _store,
    option(
        "--days N", "Length of the period in days, if --since is not given.",
        type=click.IntRange(1, 3_660), default=30,
    ),
    option("--since DAY", "First day of the period.", type=DAY),
    option("--until DAY", "Last day of the period (default: today).", type=DAY),
    option("--repository PATTERN...", "Only matching repositories.", to="repositories"),
)  # fmt: skip
"""Options that the reports share: the store, the period and the repositories."""
# Also read from an environment variable, because command lines and logs would show the secret.
_webhook = add_options(
    option("--webhook URL", "Address to post the result to.", envvar="CRSCORE_WEBHOOK"),
    option("--link URL", "Address of the report, for the webhook.", default=""),
)


@click.group(name="audit", cls=_terminal.CommandGroup)
def command() -> None:
    """Audit review bots: how useful each is, and how they compare.

    `sync` and `score` add to a database, for example every night; the other commands read it.

    Examples:
        crscore audit sync acme/shop
        crscore audit score --workers 4
        crscore audit report -o site
        crscore audit compare coderabbit copilot
    """


@command.command("sync")
@click.argument("repositories", nargs=-1, metavar="[OWNER/REPO]...")
@_store
@_clones
@option(
    "--organisation OWNER/PATTERN...",
    "Repositories of an organisation or a group: 'acme/*', 'acme/shop-*'.",
    to="organisations",
)
@option("--since DAY", "First day to read of a new repository (default: 30 days ago).", type=DAY)
@option("--max-requests N", "Maximum REST requests of this run.", type=COUNT)
@option("--git-url URL", "Address to clone from, with {name} for OWNER/REPO.")
@host_options(wait_budget_s=600)
def sync(
    repositories: tuple[str, ...],
    *,
    file: Path,
    clones: Path | None,
    organisations: tuple[str, ...],
    since: datetime | None,
    max_requests: int | None,
    git_url: str | None,
    connection: Connection,
) -> int:
    """Read new data from GitHub or GitLab, by default for the repositories in the store.

    GitLab's projects are given by their address: https://gitlab.com/group/project. The token is
    read from GITHUB_TOKEN or GH_TOKEN, for GitLab from GITLAB_TOKEN or CI_JOB_TOKEN. A run that
    ends early is partial, and the next one continues where it stopped.

    Examples:
        crscore audit sync acme/shop acme/billing
        crscore audit sync https://gitlab.com/group/project
    """
    from crscore.audit.store.queries import all_repositories  # noqa: PLC0415  (so that --help is fast)
    from crscore.audit.sync import run  # noqa: PLC0415

    all_names, site = find_repositories((*repositories, *organisations), connection.api_url)
    names, patterns = all_names[: len(repositories)], all_names[len(repositories) :]
    with _open(file) as store:
        site = site or _site(store)
        if not names and not patterns:
            names = tuple(row.name for row in all_repositories(store))
            if not names:
                expected = f"must be named, as {store.path} is empty"
                raise ConfigError("OWNER/REPO", COMMAND_LINE, expected)
        feed = site.make_feed(connection._replace(max_requests=max_requests))
        request = run.Request(
            repositories=names,
            organisations=patterns,
            # A day of an option has no time zone; hosts give times in UTC.
            since=None if since is None else since.replace(tzinfo=UTC),
            git_url=git_url or f"{site.web(connection.api_url)}/{{name}}.git",
            token=site.token(),
        )
        summary = run.sync(store, feed, _folder(clones, file), request, now=datetime.now(UTC))
    for note in summary.notes:
        _terminal.print_note(f"note: {note}")
    if summary.run.partial is not None:
        _terminal.print_message(f"partial: {summary.run.partial}")
    click.echo(
        f"{count_noun(summary.run.pulls, 'pull request')} read, {summary.pending:,} to continue"
    )
    return 0


@command.command("score")
@_store
@_clones
@option("--workers N", "Number of processes.", type=click.IntRange(1, 1_024), default=1)
@option("--engine NAME", "How to run the workers: processes or ray[:ADDRESS].", default="processes")
@host_options(wait_budget_s=600)
@setting_options("config", *SCORING, "trust")
def score(
    *,
    file: Path,
    clones: Path | None,
    workers: int,
    engine: str,
    connection: Connection,
    config_file: Path | None,
    **flags: Any,
) -> int:
    """Score new pull requests in the store, and detect whether comments were acted on.

    For a month after each merge, it also finds later commits that fix lines of the pull request.

    Examples:
        crscore audit score --workers 4
    """
    from crscore.audit.engines import make_engine  # noqa: PLC0415
    from crscore.audit.score import nightly  # noqa: PLC0415
    from crscore.audit.score.escaped import find_escaped  # noqa: PLC0415
    from crscore.audit.score.pull_rows import make_scorer  # noqa: PLC0415
    from crscore.audit.score.signals import find_signals  # noqa: PLC0415

    settings = load_settings(config_file, flags)
    # All parts of a run have one date, even if it runs past midnight.
    folder, run_date = _folder(clones, file), datetime.now(UTC).date().isoformat()
    with _open(file, must_exist=True) as store:
        host = None if settings.offline else _site(store).make_host(connection)
        summary = nightly.score(
            store,
            folder,
            settings,
            night=run_date,
            engine=engine,
            workers=workers,
            host=host,
            web=all_sites()[0].web(connection.api_url),
        )
        find_signals(store, folder, night=run_date, engine=make_engine(engine, workers))
        find_escaped(store, folder, night=run_date)
    click.echo(f"{count_noun(summary.pulls, 'pull request')} scored, {summary.failed:,} failed")
    if model := make_scorer(settings).parts.model:
        click.echo(model.total)
    return 0


@command.command("report")
@_question
@_detect
@_price
@option(
    "--format", "A folder of pages, or a document (default: site with -o, else text).",
    to="layout", type=click.Choice(("site", "text", "json", "markdown")),
)  # fmt: skip
@_output
@quiet_option
def report(*, layout: str | None, output: str | None, file: Path, **question: Any) -> int:
    """Report on all reviewers, as pages or as one document.

    Examples:
        crscore audit report -o site
    """
    from crscore.audit.report import contents, site  # noqa: PLC0415

    layout = layout or ("site" if output else "text")
    if layout == "site" and output is None:
        raise ConfigError("--output", COMMAND_LINE, "must name the folder of the pages: -o site")
    with _open(file, must_exist=True) as store:
        overview = _overview(store, question)
    if layout == "site":
        site.write_site(overview, Path(str(output)))
        click.echo(f"{Path(str(output)) / 'index.html'}")
        return 0
    write_document(
        layout, output, overview,
        text=partial(contents.render_text, overview),
        markdown=partial(contents.render_summary, overview),
    )  # fmt: skip
    return 0


@command.command("compare")
@click.argument("reviewers", nargs=-1, metavar="[REVIEWER]...")
@_question
@_detect
@format_option("text", "json")
@_output
def compare(
    reviewers: tuple[str, ...], *, layout: str, output: str | None, file: Path, **question: Any
) -> int:
    """Compare two or more reviewers, by default all bots.

    Examples:
        crscore audit compare coderabbit copilot
    """
    from crscore.audit import compare as comparison  # noqa: PLC0415
    from crscore.audit.overview import PairComparisons  # noqa: PLC0415
    from crscore.audit.report.contents import render_verdicts  # noqa: PLC0415
    from crscore.audit.tables import load_reviews  # noqa: PLC0415

    period, detect = _read_period(question), _read_detect(question)
    with _open(file, must_exist=True) as store:
        table = load_reviews(store, period)
    verdicts = comparison.compare_all(table, reviewers=reviewers or None, detect=detect)
    document = PairComparisons(
        since=period.since,
        until=period.until,
        signature=table.signature,
        detect=detect,
        verdicts=verdicts,
    )

    def render(**style: Any) -> str:
        text = render_verdicts(verdicts, **style)
        return text if verdicts else "There are no two reviewers to compare.\n"

    write_document(layout, output, document, text=render)
    return 0


@command.command("digest")
@_question
@_price
@format_option("markdown", "slack", "json")
@_webhook
@_output
def digest(
    *, layout: str, webhook: str | None, link: str, output: str | None, file: Path, **question: Any
) -> int:
    """Write the recommendation and its reasons in ten lines, for a chat.

    Examples:
        crscore audit digest
        crscore audit digest --format markdown
    """
    from crscore.audit.gate import slack_message  # noqa: PLC0415
    from crscore.audit.report import contents  # noqa: PLC0415

    with _open(file, must_exist=True) as store:
        title, lines = contents.make_digest(_overview(store, question))
    message = slack_message(title, lines, link=link)
    write_document(
        layout, output, {"title": title, "lines": lines},
        markdown=partial(contents.render_digest, title, lines),
        slack=partial(escape.write_json, message),
    )  # fmt: skip
    if webhook:
        _post(webhook, message)
    return 0


@command.command("gate")
@click.argument("reviewers", nargs=-1, metavar="[REVIEWER]...")
@_question
@option(
    "--baseline NUMBER",
    "Score from 0 to 100, or `previous`: the preceding period (default without --fail-under-low).",
)  # fmt: skip
@option(
    "--fail-under-low N", "Fail if the low end of a bot's usefulness is below N.",
    type=click.FloatRange(0, 100),
)  # fmt: skip
@option("--min-drop N", "Smallest drop that matters.", type=click.FloatRange(0, 100), default=3.0)
@option(
    "--on-nothing", "Gate result of a bot without a score; skip passes without a notice.",
    type=click.Choice(get_args(OnNothing)), default="pass",
)  # fmt: skip
@_webhook
@format_option("text", "json")
def gate(
    reviewers: tuple[str, ...],
    *,
    layout: str,
    baseline: str | None,
    fail_under_low: float | None,
    min_drop: float,
    on_nothing: str,
    webhook: str | None,
    link: str,
    file: Path,
    **question: Any,
) -> int:
    """Exit with 1 if a bot has become significantly worse than a baseline.

    Examples:
        crscore audit gate coderabbit --baseline 40
    """
    from crscore.audit import gate as gates  # noqa: PLC0415

    with _open(file, must_exist=True) as store:
        now = _overview(store, question)
        before: float | Overview | None = None
        if baseline == "previous" or (baseline is None and fail_under_low is None):
            since, until = (datetime.fromisoformat(day) for day in (now.since, now.until))
            # The last day belongs to the period, so both periods have the same number of days.
            first_day = since - (until - since) - timedelta(days=1)
            earlier = {"since": first_day, "until": since - timedelta(days=1)}
            before = _overview(store, question | earlier)
        elif baseline is not None:
            try:
                before = float(baseline)
            except ValueError:
                expected = f"must be a number from 0 to 100, or `previous`, not {baseline[:50]!r}"
                raise ConfigError("--baseline", COMMAND_LINE, expected) from None
    result = gates.judge(
        now,
        baseline=before,
        minimum_drop=min_drop,
        fail_under_low=fail_under_low,
        reviewers=reviewers or ("*",),
        on_nothing=on_nothing,
    )
    code = _terminal.print_gate(result.failed, result.notices)
    if layout == "json":
        io.write_text(escape.write_json(result._asdict()), None)
    else:
        click.echo("The gate failed." if code else "The gate passed.")
    if webhook:
        title = f"{', '.join(row.name for row in now.repositories)}, {now.since} to {now.until}"
        _post(webhook, gates.webhook_message(result, title=title, link=link))
    return code


@contextmanager
def _open(file: Path, *, must_exist: bool = False) -> Iterator[Store]:
    from crscore.audit.store.database import Store  # noqa: PLC0415

    with Store(file, must_exist=must_exist) as store:
        yield store


def _site(store: Store) -> Site:
    """Return the host of the store's repositories; those of the default host have no `page`."""
    from crscore.audit.store.queries import all_repositories  # noqa: PLC0415

    return site_of_page(next((row.page or "" for row in all_repositories(store)), ""))


def _folder(clones: Path | None, file: Path) -> Path:
    """Return the absolute path of the clones' folder."""
    # Absolute, because git and workers run in other folders.
    return (clones or file.with_name(f"{file.name}.clones")).absolute()


def _read_period(question: dict[str, Any]) -> Period:
    from crscore.audit.tables import Period  # noqa: PLC0415

    until: date = question["until"].date() if question["until"] else datetime.now(UTC).date()
    # Both ends belong to the period.
    first = until - timedelta(days=question["days"] - 1)
    since: date = question["since"].date() if question["since"] else first
    repositories = question["repositories"] or ("*",)
    return Period(since=f"{since}", until=f"{until}", repositories=repositories)


def _read_detect(question: dict[str, Any]) -> float:
    # `gate` has no --detect. The option is a share; the report counts per 100 pull requests.
    return float(100 * question.get("detect", 0.05))


def _overview(store: Store, question: dict[str, Any]) -> Overview:
    from crscore.audit.summary import make_overview, read_price  # noqa: PLC0415

    return make_overview(
        store,
        _read_period(question),
        detect=_read_detect(question),
        prices=dict(map(read_price, question.get("prices", ()))),
        host=all_sites()[0].web(None),
    )


def _post(url: str, message: dict[str, Any]) -> None:
    """Post a message; a failing webhook is reported but does not change the exit code."""
    import requests  # noqa: PLC0415

    try:
        requests.post(url, json=message, timeout=30).raise_for_status()
    except requests.RequestException as exc:
        # The address is a secret (anyone who has it may post), and the exception would show it.
        _terminal.print_message(f"the webhook was not reached: {type(exc).__name__}")
