"""`crscore action`: scores pull requests in a step of a GitHub workflow.

The outputs, the log, the annotations and the job summary of the step are always written at the end.
If one of them cannot be written, the others still are.
"""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from crscore.commands._options import PATH, option
from crscore.commands._terminal import EXIT_GATE, GroupedCommand, safe_line
from crscore.errors import CRScoreError, InputError
from crscore.github.actions import artifact, commands, environment, event, outputs
from crscore.github.site import make_client
from crscore.hosts.site import Connection

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.github.actions.environment import Environment
    from crscore.github.client import Client
    from crscore.hosts.host import Host
    from crscore.hosts.sticky import Posted
    from crscore.pull_request.overview import Overview
    from crscore.static_analysis.reports import RawReport

# A runner's log has no known width, because it is no terminal. Its page wraps longer lines.
LOG_COLUMNS: Final = 120
# https://github.com/actions/toolkit/blob/main/docs/problem-matchers.md#limitations
MAX_SHOWN_MESSAGES: Final = 10
"""Maximum number of messages of one level that GitHub shows for a step."""
# A pattern such as `**/*.sarif` can match files of every dependency.
MAX_SARIF_FILES: Final = 20
"""Maximum number of SARIF files of other tools that are read."""
WAIT_BUDGET_S: Final = 300.0
"""Maximum seconds that a run which is not scheduled may wait for GitHub in total."""
# A scheduled run may wait longer, because it reads many pull requests and no author waits for it.
NIGHTLY_WAIT_BUDGET_S: Final = 1800.0
"""Maximum seconds that a scheduled run may wait for GitHub in total."""
_MESSAGE_CHARS: Final = 500
"""Maximum characters of a message in the job summary."""
_STOPPED: Final = (
    "The run stopped early, because of a bug in crscore or because it was cancelled. See the log."
)


@click.command(name="action", cls=GroupedCommand)
@option(
    "--output-dir DIR", "Folder for the reports (default: one in the runner's temporary folder).",
    type=PATH,
)  # fmt: skip
def command(*, output_dir: Path | None) -> int:
    """Score pull requests as a step of a GitHub workflow.

    The command reads the variables that a runner sets: the event, the inputs of action.yml, and the
    files for outputs and summary. Outside of a workflow, use `crscore pr`.

    Examples:
        crscore action   # in a workflow
    """
    step, annotate = Step(), False
    output, summary = environment.runner_files()
    # The results are written in `finally`, so that a bug that one of many pull requests reveals
    # does not lose the results of the others.
    try:
        runner = environment.read_environment(output_dir=output_dir)
        annotate = runner.inputs.annotations
        _run(runner, step)
        step.finished = True
    except CRScoreError as exc:
        step.fail(exc)
        # The summary shows this error, so it needs no note that the run stopped early.
        step.finished = True
    finally:
        _write(output, summary, step, annotate=annotate)
    if step.errors:
        raise step.errors[0]
    return EXIT_GATE if step.gate_failures else 0


@dataclass(slots=True)
class Step:
    """Results of the pull requests so far, and messages about them."""

    overviews: list[Overview] = field(default_factory=list)
    """Overviews of the scored pull requests, for the log, the summary and the outputs."""
    paths: dict[str, list[Path]] = field(default_factory=dict)
    """Format (`json`, `html` or `sarif`) -> documents that were written."""
    comment_url: str = ""
    """Address of the comment that was written last; "" if none was."""
    gate_failures: list[str] = field(default_factory=list)
    """Messages of the gates that failed."""
    errors: list[CRScoreError] = field(default_factory=list)
    """Errors so far; the first one determines the exit code."""
    counts: dict[str, int] = field(default_factory=dict)
    """Level -> number of messages; GitHub limits the number of messages and annotations
    together."""
    notes: list[str] = field(default_factory=list)
    """Messages that the summary repeats, because few people read the log."""
    finished: bool = False
    """Whether the run reached its end or a `CRScoreError`; False if a bug or a signal ended it."""

    def show(self, level: commands.Level, text: str) -> None:
        """Show a message on the page of the run."""
        self.counts[level] = self.counts.get(level, 0) + 1
        click.echo(commands.message(level, safe_line(text)))

    def note(self, level: commands.Level, text: str) -> None:
        """Show a message on the page of the run and in its summary."""
        self.notes.append(text)
        self.show(level, text)

    def fail(self, error: CRScoreError, subject: str = "") -> None:
        """Record an error, with which the command ends after the other work is done."""
        self.errors.append(error)
        self.note("error", f"{subject}: {error}" if subject else str(error))


def _run(runner: Environment, step: Step) -> None:
    target = event.find_target(runner)
    if target.reason:
        step.note("notice", f"Nothing was scored: {target.reason}.")
        return
    from crscore.github.host import GitHub  # noqa: PLC0415  (not needed to report wrong inputs)

    wait_budget_s = NIGHTLY_WAIT_BUDGET_S if target.is_recent else WAIT_BUDGET_S
    connection = Connection(runner.api_url, wait_budget_s, lambda text: click.echo(safe_line(text)))
    client = make_client(connection, runner.inputs.token)
    numbers = _find_numbers(client, runner, target, step)
    is_single = len(numbers) == 1
    if not numbers:
        reason = "no open pull request changed lately"
        if target.head is not None:
            reason = "no open pull request has the scored commit as its newest commit"
        step.note("notice", f"Nothing was scored: {reason}.")
    elif runner.inputs.post_from is not None:
        from crscore.pull_request import run  # noqa: PLC0415

        # An untrusted job wrote the file, so only the event says which pull request it may be
        # about.
        data, host = artifact.read_artifact(runner.inputs.post_from), GitHub(client)
        overview = run.check_document(host, runner.repository, numbers, data, source="post-from")
        step.overviews.append(overview)
        if runner.inputs.comment:
            _note_posted(run.post_overview(host, overview), step)
    else:
        reports = _read_sarif(runner, step, is_single=is_single)
        for number in numbers:
            name = "" if is_single else f"-{number}"
            try:
                _score(GitHub(client), runner, number, step, reports, name=name)
            except CRScoreError as exc:
                # The other pull requests are still scored, and the run ends with this error.
                step.fail(exc, "" if is_single else f"{runner.repository}#{number}")


def _find_numbers(
    client: Client, runner: Environment, target: event.Target, step: Step
) -> tuple[int, ...]:
    from crscore.github import host  # noqa: PLC0415  (not needed to report wrong inputs)

    if target.number is not None:
        return (target.number,)
    if target.head is not None:
        # The pull request is searched for, because GitHub leaves `workflow_run.pull_requests` empty
        # for forks.
        owner, branch, sha = target.head
        return host.find_by_head(client, runner.repository, owner=owner, branch=branch, sha=sha)
    # More pull requests are listed than scored, so that the skipped ones can be counted.
    numbers = host.find_recent(
        client, runner.repository, days=event.RECENT_DAYS, limit=host.MAX_LISTED
    )
    if (skipped := len(numbers) - event.MAX_RECENT) > 0:
        or_more = " or more" if len(numbers) == host.MAX_LISTED else ""
        step.note(
            "notice",
            f"A scheduled run scores the {event.MAX_RECENT} open pull requests that changed last; "
            f"{skipped}{or_more} were not scored.",
        )
    return numbers[: event.MAX_RECENT]


def _read_sarif(runner: Environment, step: Step, *, is_single: bool) -> tuple[RawReport, ...]:
    """Read the SARIF files with findings of other tools, if a single pull request is scored.

    Raises:
        InputError: A file cannot be read or is not SARIF.
    """
    from crscore.commands._inputs import read_sarif_files  # noqa: PLC0415
    from crscore.settings import resolve_settings  # noqa: PLC0415

    if not is_single and runner.inputs.sarif:
        step.note("warning", "The input sarif is not used: several pull requests are scored.")
        return ()
    # Patterns may overlap, but each file is read once.
    names: dict[str, None] = {}
    for pattern in runner.inputs.sarif:
        matches = glob.glob(pattern, recursive=True)  # noqa: PTH207  # a pattern may be absolute
        files = sorted(name for name in matches if Path(name).is_file())
        names |= dict.fromkeys(files)
        if not files:
            step.note("warning", f"No file matches {pattern} of the input sarif.")
    if len(names) > MAX_SARIF_FILES:
        raise InputError(f"the input sarif matches {len(names):,} files; limit: {MAX_SARIF_FILES}")
    # The settings file of the workspace is not read, because it may come from the pull request.
    settings = resolve_settings({"fail_under": runner.inputs.fail_under}, file=None)
    return read_sarif_files(settings, names)


def _score(
    host: Host,
    runner: Environment,
    number: int,
    step: Step,
    reports: tuple[RawReport, ...],
    *,
    name: str,
) -> None:
    """Score one pull request. What is done before an error is kept."""
    from crscore.commands.pr import render  # noqa: PLC0415
    from crscore.pull_request import coverage, gate, run  # noqa: PLC0415

    inputs = runner.inputs
    unreviewed: tuple[str, ...] = ()
    # The wait is before the scoring, so that the awaited review is scored, too.
    if inputs.reviewed_by:
        subject = (runner.repository, number, inputs.reviewed_by)
        unreviewed = coverage.judge(host, *subject, wait_s=inputs.review_wait).failed
    request = run.Request(
        repository=runner.repository,
        number=number,
        authors=inputs.authors,
        markers=dict(inputs.bot_markers),
        flags={"fail_under": inputs.fail_under},
        folder=inputs.working_directory,
        reports=reports,
    )
    scored = run.read_and_score(host, request)
    overview = scored.overview
    step.overviews.append(overview)
    # The scores are recorded first, so that they are outputs even if a document cannot be written.
    for fmt in ("json", "html", "sarif"):
        text = render([scored], fmt)
        path = outputs.write_document(runner.output_dir, f"crscore{name}.{fmt}", text)
        step.paths.setdefault(fmt, []).append(path)
    verdict = gate.judge(
        overview, scored.settings, inputs.fail_on, fail_on_partial=inputs.fail_on_partial
    )
    failed = (*unreviewed, *verdict.failed)
    for line in verdict.notices:
        step.show("warning", line)
    for line in failed:
        step.show("error", line)
    step.gate_failures.extend(failed)
    # The comment is posted last, so that no comment is about a run that then fails.
    if inputs.comment:
        _note_posted(run.post(host, scored), step)


def _note_posted(posted: Posted, step: Step) -> None:
    """Record the address of the comment, or show why no comment was written."""
    from crscore.hosts.sticky import Outcome  # noqa: PLC0415

    if posted.outcome is Outcome.REFUSED:
        step.show("notice", f"The token may not write the comment: {posted.reason}")
    elif posted.outcome is Outcome.FAILED:
        step.show("warning", f"The comment was not written: {posted.reason}")
    step.comment_url = posted.url


def _write(output: Path | None, summary: Path | None, step: Step, *, annotate: bool) -> None:
    """Write outputs, log, summary and annotations, and record an error if one cannot be written."""
    parts: tuple[Callable[[], None], ...] = (
        lambda: write_outputs(output, step),
        lambda: _write_log(step),
        lambda: _write_summary(summary, step),
        lambda: _write_annotations(step) if annotate else None,
    )
    for part in parts:
        try:
            part()
        except CRScoreError as exc:
            step.fail(exc)


def write_outputs(file: Path | None, step: Step) -> None:
    """Set every output of the step, even if there was nothing to do.

    Args:
        file: The runner's file for outputs; None if the runner has none.
        step: The step. With several pull requests, the output for a format is the folder of their
            documents.

    Raises:
        OutputError: The runner's file cannot be written.
    """
    values = dict.fromkeys(outputs.OUTPUTS, "")
    rows = [row for overview in step.overviews for row in overview.reviewers]
    values["reviews-scored"] = str(sum(row.relevance is not None for row in rows))
    values["partial"] = str(any(overview.partial for overview in step.overviews)).lower()
    is_single = len(step.overviews) == 1
    for fmt, paths in step.paths.items():
        values[f"{fmt}-path"] = str(paths[0] if is_single else paths[0].parent)
    if is_single:
        scores = step.overviews[0].together
        if useful := scores.usefulness:
            values |= {f"usefulness-{end}": str(getattr(useful, end)) for end in ("low", "high")}
            values["usefulness"] = str(useful.standing)
        for name in ("relevance", "conciseness", "comprehensiveness"):
            value = getattr(scores, name)
            # The number has a fixed format, because shells cannot compare numbers such as 1e-05.
            values[name] = "" if value is None else f"{value:.6f}"
        values["comment-url"] = step.comment_url
    else:
        # The alerts of an upload belong to one ref, so several files cannot be uploaded at once.
        values["sarif-path"] = ""
    outputs.append_outputs(file, values)


def _write_log(step: Step) -> None:
    from crscore.pull_request.documents import for_people  # noqa: PLC0415

    if not step.overviews:
        return
    text = for_people.render_terminal(step.overviews, width=LOG_COLUMNS)
    notes = (note for overview in step.overviews for note in overview.notes)
    text += "".join(f"{safe_line(f'note: {note}')}\n" for note in notes)
    # The report quotes untrusted text, in which the runner would execute workflow commands.
    click.echo(commands.shield_text(text), nl=False)
    partial = [overview.name for overview in step.overviews if overview.partial]
    if partial:
        names = ", ".join(partial[:5]) + (" and more" if len(partial) > 5 else "")
        step.show("warning", f"{names} could be read only in part; the summary says why.")


def _write_summary(file: Path | None, step: Step) -> None:
    from crscore.pull_request.documents import for_people  # noqa: PLC0415
    from crscore.reports import escape  # noqa: PLC0415

    if file is None:
        return
    # Notes may contain untrusted text.
    lines = [escape.markdown(text, _MESSAGE_CHARS) for text in step.notes]
    if not step.finished:
        lines.append(_STOPPED)
    items = "".join(f"- {line}\n" for line in lines)
    notes = escape.no_commands(f"\n**crscore**\n\n{items}") if items else ""
    # The messages get their space first, because tables can be shortened but errors must be shown.
    limit = outputs.free_summary_bytes(file) - len(notes.encode("utf-8", "replace"))
    text = for_people.render_summary(step.overviews, limit=limit) if step.overviews else ""
    if step.overviews and not text:
        step.show("warning", "The job summary is full; only the log has the scores.")
    if (text or notes) and not outputs.append_summary(file, f"{text}{notes}"):
        step.show("warning", "The job summary is full; only the log has the errors.")


def _write_annotations(step: Step) -> None:
    from crscore.pull_request.documents import for_hosts  # noqa: PLC0415

    # Annotations are written for a single pull request only, because those of several would be on
    # the same lines.
    remaining = MAX_SHOWN_MESSAGES - max(step.counts.values(), default=0)
    if len(step.overviews) == 1 and remaining > 0:
        text = for_hosts.render_annotations(step.overviews[0], max_per_level=remaining)
        click.echo(text, nl=False)
