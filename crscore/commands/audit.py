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
    "--store FILE", "Database of the audit (also: CRSCORE_AUDIT_STORE).",
    to="file", type=_FILE, envvar="CRSCORE_AUDIT_STORE", default="crscore-audit.db",
)  # fmt: skip
_clones = option("--clones DIR", "Folder of the bare clones (default: FILE.clones).", type=PATH)
_output = option("-o, --output PATH", "Write to this path instead of stdout.")
_detect = option(
    "--detect X", "Smallest difference between bots that matters, as a share of pull requests.",
    type=click.FloatRange(0, 1, min_open=True), default=0.05,
)  # fmt: skip
_price = option("--price BOT=AMOUNT/PER...", "Price of a bot: a=24/month, b=0.3/pull.", to="prices")
_selection = add_options(
    _store,
    option(
        "--days N", "Length of the period in days, if --since is not given.",
        type=click.IntRange(1, 3_660), default=30,
    ),
    option("--since DAY", "First day of the period.", type=DAY),
    option("--until DAY", "Last day of the period (default: today).", type=DAY),
    option("--repository PATTERN...", "Only repositories whose names match.", to="repositories"),
)  # fmt: skip
"""Options that choose the data of a report: the store, the period and the repositories."""
# The address can also be in an environment variable, because it is a secret that command lines and
# logs would show.
_webhook = add_options(
    option("--webhook URL", "Address to post the result to.", envvar="CRSCORE_WEBHOOK"),
    option("--link URL", "Address of the report, to which the posted message links.", default=""),
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
@option("--since DAY", "First day to read, for new repositories (default: 30 days ago).", type=DAY)
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
    """Read new data from GitHub or GitLab.

    Without arguments, the repositories in the store are read. A project of GitLab is named by its
    address: https://gitlab.com/group/project. The token is read from GITHUB_TOKEN or GH_TOKEN, for
    GitLab from GITLAB_TOKEN or CI_JOB_TOKEN. A run that ends early is partial, and the next run
    continues where it stopped.

    Examples:
        crscore audit sync acme/shop acme/billing
        crscore audit sync https://gitlab.com/group/project
    """
    from crscore.audit.store.queries import all_repositories  # noqa: PLC0415  (so that --help is fast)
    from crscore.audit.sync import run  # noqa: PLC0415

    all_names, site = find_repositories((*repositories, *organisations), connection.api_url)
    names, patterns = all_names[: len(repositories)], all_names[len(repositories) :]
    with _open_store(file) as store:
        site = site or _find_host(store)
        if not names and not patterns:
            names = tuple(row.name for row in all_repositories(store))
            if not names:
                expected = f"is missing, and {store.path} has no repositories yet"
                raise ConfigError("OWNER/REPO", COMMAND_LINE, expected)
        feed = site.make_feed(connection._replace(max_requests=max_requests))
        request = run.Request(
            repositories=names,
            organisations=patterns,
            # The day of an option has no time zone, but times of code hosts are in UTC.
            since=None if since is None else since.replace(tzinfo=UTC),
            git_url=git_url or f"{site.web(connection.api_url)}/{{name}}.git",
            token=site.token(),
        )
        summary = run.sync(store, feed, _clone_folder(clones, file), request, now=datetime.now(UTC))
    for note in summary.notes:
        _terminal.print_note(f"note: {note}")
    if summary.run.partial is not None:
        _terminal.print_message(f"partial: {summary.run.partial}")
    click.echo(
        f"{count_noun(summary.run.pulls, 'pull request')} read, {summary.pending:,} not completed"
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
    """Score new pull requests, and detect which comments were acted on.

    Later commits that fix lines of a pull request are also found, for a month after its merge.

    Examples:
        crscore audit score --workers 4
    """
    from crscore.audit.engines import make_engine  # noqa: PLC0415
    from crscore.audit.score import nightly  # noqa: PLC0415
    from crscore.audit.score.escaped import find_escaped  # noqa: PLC0415
    from crscore.audit.score.pull_rows import make_scorer  # noqa: PLC0415
    from crscore.audit.score.signals import find_signals  # noqa: PLC0415

    settings = load_settings(config_file, flags)
    # All parts of a run have the same date, even if midnight passes.
    folder, run_date = _clone_folder(clones, file), datetime.now(UTC).date().isoformat()
    with _open_store(file, must_exist=True) as store:
        host = None if settings.offline else _find_host(store).make_host(connection)
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
@_selection
@_detect
@_price
@option(
    "--format", "Format; site: a folder of pages (default: site with -o, else text).",
    to="fmt", type=click.Choice(("site", "text", "json", "markdown")),
)  # fmt: skip
@_output
@quiet_option
def report(*, fmt: str | None, output: str | None, file: Path, **selection: Any) -> int:
    """Report on all reviewers, as pages or as one document.

    Examples:
        crscore audit report -o site
    """
    from crscore.audit.report import contents, site  # noqa: PLC0415

    fmt = fmt or ("site" if output else "text")
    if fmt == "site" and output is None:
        raise ConfigError("--output", COMMAND_LINE, "must name the folder of the pages: -o site")
    with _open_store(file, must_exist=True) as store:
        overview = _make_overview(store, selection)
    if fmt == "site":
        site.write_site(overview, Path(str(output)))
        click.echo(f"{Path(str(output)) / 'index.html'}")
        return 0
    write_document(
        fmt, output, overview,
        text=partial(contents.render_text, overview),
        markdown=partial(contents.render_summary, overview),
    )  # fmt: skip
    return 0


@command.command("compare")
@click.argument("reviewers", nargs=-1, metavar="[REVIEWER]...")
@_selection
@_detect
@format_option("text", "json")
@_output
def compare(
    reviewers: tuple[str, ...], *, fmt: str, output: str | None, file: Path, **selection: Any
) -> int:
    """Compare two or more reviewers, by default all bots.

    Examples:
        crscore audit compare coderabbit copilot
    """
    from crscore.audit import compare as comparison  # noqa: PLC0415
    from crscore.audit.overview import PairComparisons  # noqa: PLC0415
    from crscore.audit.report.contents import render_verdicts  # noqa: PLC0415
    from crscore.audit.tables import load_reviews  # noqa: PLC0415

    period, detect = _read_period(selection), _read_detect(selection)
    with _open_store(file, must_exist=True) as store:
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

    write_document(fmt, output, document, text=render)
    return 0


@command.command("digest")
@_selection
@_price
@format_option("markdown", "slack", "json")
@_webhook
@_output
def digest(
    *, fmt: str, webhook: str | None, link: str, output: str | None, file: Path, **selection: Any
) -> int:
    """Write the recommendation and its reasons for a chat, in ten lines.

    Examples:
        crscore audit digest
        crscore audit digest --format markdown
    """
    from crscore.audit.gate import slack_message  # noqa: PLC0415
    from crscore.audit.report import contents  # noqa: PLC0415

    with _open_store(file, must_exist=True) as store:
        title, lines = contents.make_digest(_make_overview(store, selection))
    message = slack_message(title, lines, link=link)
    write_document(
        fmt, output, {"title": title, "lines": lines},
        markdown=partial(contents.render_digest, title, lines),
        slack=partial(escape.write_json, message),
    )  # fmt: skip
    if webhook:
        _post(webhook, message)
    return 0


@command.command("gate")
@click.argument("reviewers", nargs=-1, metavar="[REVIEWER]...")
@_selection
@option(
    "--baseline NUMBER",
    "Score to compare with; `previous`: preceding period (default without --fail-under-low).",
)  # fmt: skip
@option(
    "--fail-under-low N", "Fail if the low end of a bot's usefulness interval is below N.",
    type=click.FloatRange(0, 100),
)  # fmt: skip
@option("--min-drop N", "Largest drop that passes.", type=click.FloatRange(0, 100), default=3.0)
@option(
    "--on-nothing", "What the gate does with a bot without a score; skip: pass without a notice.",
    type=click.Choice(get_args(OnNothing)), default="pass",
)  # fmt: skip
@_webhook
@format_option("text", "json")
def gate(
    reviewers: tuple[str, ...],
    *,
    fmt: str,
    baseline: str | None,
    fail_under_low: float | None,
    min_drop: float,
    on_nothing: str,
    webhook: str | None,
    link: str,
    file: Path,
    **selection: Any,
) -> int:
    """Exit with 1 if a bot is significantly worse than a baseline.

    Examples:
        crscore audit gate coderabbit --baseline 40
    """
    from crscore.audit import gate as gates  # noqa: PLC0415

    with _open_store(file, must_exist=True) as store:
        overview = _make_overview(store, selection)
        reference: float | Overview | None = None
        if baseline == "previous" or (baseline is None and fail_under_low is None):
            since, until = (datetime.fromisoformat(day) for day in (overview.since, overview.until))
            # The last day belongs to a period, so these two periods have the same number of days.
            first_day = since - (until - since) - timedelta(days=1)
            earlier = {"since": first_day, "until": since - timedelta(days=1)}
            reference = _make_overview(store, selection | earlier)
        elif baseline is not None:
            try:
                reference = float(baseline)
            except ValueError:
                expected = f"must be a number from 0 to 100, or `previous`, not {baseline[:50]!r}"
                raise ConfigError("--baseline", COMMAND_LINE, expected) from None
    result = gates.judge(
        overview,
        baseline=reference,
        minimum_drop=min_drop,
        fail_under_low=fail_under_low,
        reviewers=reviewers or ("*",),
        on_nothing=on_nothing,
    )
    code = _terminal.print_gate(result.failed, result.notices)
    if fmt == "json":
        io.write_text(escape.write_json(result._asdict()), None)
    else:
        click.echo("The gate failed." if code else "The gate passed.")
    if webhook:
        period = f"{overview.since} to {overview.until}"
        title = f"{', '.join(row.name for row in overview.repositories)}, {period}"
        _post(webhook, gates.webhook_message(result, title=title, link=link))
    return code


@contextmanager
def _open_store(file: Path, *, must_exist: bool = False) -> Iterator[Store]:
    from crscore.audit.store.database import Store  # noqa: PLC0415

    with Store(file, must_exist=must_exist) as store:
        yield store


def _find_host(store: Store) -> Site:
    """Return the code host of the store's repositories, which all have the same."""
    from crscore.audit.store.queries import all_repositories  # noqa: PLC0415

    return site_of_page(next((row.page or "" for row in all_repositories(store)), ""))


def _clone_folder(clones: Path | None, file: Path) -> Path:
    """Return the absolute path of the clones' folder."""
    # Absolute, because git and the workers run in other folders.
    return (clones or file.with_name(f"{file.name}.clones")).absolute()


def _read_period(selection: dict[str, Any]) -> Period:
    from crscore.audit.tables import Period  # noqa: PLC0415

    until: date = selection["until"].date() if selection["until"] else datetime.now(UTC).date()
    # The first and the last day belong to the period.
    first = until - timedelta(days=selection["days"] - 1)
    since: date = selection["since"].date() if selection["since"] else first
    repositories = selection["repositories"] or ("*",)
    return Period(since=f"{since}", until=f"{until}", repositories=repositories)


def _read_detect(selection: dict[str, Any]) -> float:
    # The option is a share, but reports count per 100 pull requests. `gate` has no such option.
    return float(100 * selection.get("detect", 0.05))


def _make_overview(store: Store, selection: dict[str, Any]) -> Overview:
    from crscore.audit.summary import make_overview, read_price  # noqa: PLC0415

    return make_overview(
        store,
        _read_period(selection),
        detect=_read_detect(selection),
        prices=dict(map(read_price, selection.get("prices", ()))),
        host=all_sites()[0].web(None),
    )


def _post(url: str, message: dict[str, Any]) -> None:
    """Post a message to a webhook; a failure is reported but does not change the exit code."""
    import requests  # noqa: PLC0415

    try:
        requests.post(url, json=message, timeout=30).raise_for_status()
    except requests.RequestException as exc:
        # The address is a secret (anyone who has it may post), and the exception would show it.
        _terminal.print_message(f"the webhook was not reached: {type(exc).__name__}")
