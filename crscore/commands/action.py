"""`crscore action`: step of a GitHub workflow, configured by the runner's variables.

The output of a step (outputs, log, annotations, job summary) is always written at the end, and each
part separately: a file that cannot be written, or a bug in one part, does not affect the others.
"""

from __future__ import annotations

import glob
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from crscore.commands._terminal import GroupedCommand
from crscore.errors import CRScoreError, InputError
from crscore.github.actions import artifact, commands, environment, event, outputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.github.actions.environment import Environment, Outlets
    from crscore.github.actions.outputs import Report
    from crscore.github.client import Client
    from crscore.github.comment import Posted
    from crscore.pull_request.overview import Overview
    from crscore.pull_request.run import Measured
    from crscore.static_analysis.reports import RawReport

EXIT_GATE: Final = 1
LOG_COLUMNS: Final = 120
MAX_SHOWN_MESSAGES: Final = 10
"""Maximum messages of one level that GitHub shows for a step."""
MAX_SUMMARY_NOTES: Final = 20
"""Maximum messages in the summary; the log has all."""
MAX_SARIF_FILES: Final = 20
"""Maximum files of other tools."""
_MESSAGE_CHARS: Final = 500
_STOPPED: Final = (
    "The run stopped before its end: a bug in crscore, or it was cancelled. See the log."
)


@click.command(name="action", cls=GroupedCommand, examples=("crscore action   # in a workflow",))
def command() -> int:
    """Score pull requests as a step of a GitHub workflow.

    Reads the variables that a runner sets: the event, the inputs of action.yml, and the files for
    outputs and summary. Elsewhere, use `crscore pr`.
    """
    step, outlets, annotate = Step(), environment.outlets(), False
    # `finally`, as a bug in the last of many pull requests must not lose the others.
    try:
        here = environment.read_environment()
        annotate = here.inputs.annotations
        _run(here, step)
        step.finished = True
    except CRScoreError as exc:
        step.fail(exc)
        step.finished = True
    finally:
        _write(outlets, step, annotate=annotate)
    if step.errors:
        raise step.errors[0]
    return EXIT_GATE if step.below else 0


@dataclass(slots=True)
class Step:
    """Outcome of the pull requests so far, and the messages about it."""

    overviews: list[Overview] = field(default_factory=list)
    """Overviews for log and summary."""
    reports: dict[int, Report] = field(default_factory=dict)
    """Reports for the outputs, by number, updated as the step proceeds."""
    below: list[str] = field(default_factory=list)
    """Pull requests or authors that failed the gate."""
    errors: list[CRScoreError] = field(default_factory=list)
    """Errors so far; the first one determines the exit code."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of messages by level, which share GitHub's limit with the annotations."""
    notes: list[str] = field(default_factory=list)
    """Messages for the summary, as the log is rarely read."""
    finished: bool = False
    """False when the run was ended by something other than a crscore error."""

    def say(self, level: str, text: str) -> None:
        """Show a message beside the run."""
        self.counts[level] = self.counts.get(level, 0) + 1
        click.echo(commands.message(level, one_line(text)))

    def note(self, level: str, text: str) -> None:
        """Show a message beside the run and in its summary."""
        self.notes.append(text)
        self.say(level, text)

    def fail(self, error: CRScoreError, about: str = "") -> None:
        """Record an error; the run continues and ends with it."""
        self.errors.append(error)
        self.note("error", f"{about}: {error}" if about else str(error))

    @property
    def room(self) -> int:
        """Number of messages of any level that GitHub would still show."""
        return MAX_SHOWN_MESSAGES - max(self.counts.values(), default=0)


def _run(here: Environment, step: Step) -> None:
    found = event.target(here)
    if isinstance(found, event.Nothing):
        step.note("notice", f"Nothing was scored: {found.reason}.")
        return
    host = _host(here)
    numbers = _numbers(host, here, found, step)
    if not numbers:
        why = "no open pull request changed lately"
        if isinstance(found, event.OfHead):
            why = "no open pull request has the commit that was measured as its newest one"
        step.note("notice", f"Nothing was scored: {why}.")
    elif here.inputs.post_from is not None:
        _post_measured(host, here, here.inputs.post_from, numbers, step)
    else:
        _score_each(host, here, numbers, step)


def _host(here: Environment) -> Client:
    from crscore.github.client import Client  # noqa: PLC0415
    from crscore.github.retry import RetryBudget  # noqa: PLC0415
    from crscore.scorer import make_store  # noqa: PLC0415
    from crscore.settings import resolve_settings  # noqa: PLC0415

    settings = resolve_settings(_flags(here), file=None)
    return Client(
        token=here.inputs.token,
        api_url=here.api_url,
        store=make_store(settings) if settings.cache else None,
        retry=RetryBudget(budget_s=here.inputs.wait_budget),
        say=lambda text: click.echo(one_line(text)),
    )


def _flags(here: Environment) -> dict[str, Any]:
    names = (
        "analyzers", "claims", "matcher", "max_claims", "time_limit",
        "fail_under", "fail_under_relevance",
    )  # fmt: skip
    given = {name: getattr(here.inputs, name) for name in names}
    return {name: value for name, value in given.items() if value is not None}


def _numbers(host: Client, here: Environment, found: event.Target, step: Step) -> tuple[int, ...]:
    from crscore.github import pull  # noqa: PLC0415  (after wrong inputs)

    if isinstance(found, event.Named):
        return (found.number,)
    if isinstance(found, event.Recent):
        # All that a page can list: those that are left out are counted, too.
        most = environment.MAX_PULL_REQUESTS
        listed = pull.find_recent(host, here.repository, days=found.days, limit=most)
        if (left_out := len(listed) - found.most) > 0:
            more = " or more" if len(listed) == most else ""
            step.note(
                "notice",
                "Not scored: open pull requests that changed longest ago, "
                f"{left_out}{more} of them; "
                "the input max-pull-requests says how many are.",
            )
        return listed[: found.most]
    if isinstance(found, event.OfHead):
        return pull.find_by_head(
            host, here.repository, owner=found.owner, branch=found.branch, sha=found.sha
        )
    return ()


def _post_measured(
    host: Client, here: Environment, file: Path, numbers: tuple[int, ...], step: Step
) -> None:
    """Report, and post if requested, the results of an untrusted job for one of these."""
    from crscore.pull_request import run  # noqa: PLC0415

    data = artifact.read_artifact(file)
    found = run.check_document(host, here.repository, numbers, data, source="post-from")
    step.overviews.append(found)
    step.reports[found.number] = _report(found, None)
    if here.inputs.comment:
        posted = run.post_overview(host, found)
        _say_posted(posted, step)
        step.reports[found.number] = _report(found, posted)


def _score_each(host: Client, here: Environment, numbers: tuple[int, ...], step: Step) -> None:
    several = len(numbers) > 1
    reports = _read_sarif(here, step, several=several)
    for number in numbers:
        try:
            _score(host, here, number, step, reports, several=several)
        except CRScoreError as exc:
            # The others still have theirs; this one is what the run ends with.
            step.fail(exc, f"{here.repository}#{number}" if several else "")


def _read_sarif(here: Environment, step: Step, *, several: bool) -> tuple[RawReport, ...]:
    """Read the findings of other tools in the one pull request.

    Raises:
        InputError: A file cannot be read or is not SARIF.
    """
    from crscore.commands._sarif import read_sarif_files  # noqa: PLC0415
    from crscore.settings import resolve_settings  # noqa: PLC0415

    if several and here.inputs.sarif:
        step.note("warning", "The input sarif is not used: its findings are of one pull request.")
        return ()
    names: dict[str, None] = {}
    for pattern in here.inputs.sarif:
        fits = glob.glob(pattern, recursive=True)  # noqa: PTH207  # a pattern may be absolute
        found = sorted(name for name in fits if Path(name).is_file())
        names |= dict.fromkeys(found)
        if not found:
            step.note("warning", f"No file fits {pattern} of the input sarif.")
    if len(names) > MAX_SARIF_FILES:
        raise InputError(f"the input sarif names {len(names):,} files, over {MAX_SARIF_FILES}")
    return read_sarif_files(resolve_settings(_flags(here), file=None), names)


def _score(
    host: Client,
    here: Environment,
    number: int,
    step: Step,
    reports: tuple[RawReport, ...],
    *,
    several: bool,
) -> None:
    """Score one pull request; completed parts are kept if a later one fails."""
    from crscore.pull_request import run  # noqa: PLC0415

    asked = here.inputs
    request = run.Request(
        repository=here.repository,
        number=number,
        authors=asked.authors,
        markers=dict(asked.bot_markers),
        flags=_flags(here),
        folder=asked.working_directory,
        reports=reports,
    )
    measured = run.measure(host, request)
    found = measured.overview
    step.overviews.append(found)
    step.reports[number] = _report(found, None)
    paths = _write_documents(here, measured, several=several)
    step.reports[number] = _report(found, None, **paths)
    # Last of all, so that no comment reports a run that then fails.
    _apply_gate(here, measured, step)
    if asked.comment:
        posted = run.post(host, measured)
        _say_posted(posted, step)
        step.reports[number] = _report(found, posted, **paths)


def _say_posted(posted: Posted, step: Step) -> None:
    from crscore.github.comment import Outcome  # noqa: PLC0415

    if posted.outcome is Outcome.REFUSED:
        step.say("notice", f"The comment was not written, as the token may not: {posted.reason}")
    elif posted.outcome is Outcome.FAILED:
        step.say("warning", f"The comment was not written: {posted.reason}")


def _write_documents(here: Environment, measured: Measured, *, several: bool) -> dict[str, Path]:
    from crscore.pull_request.documents import json, page, sarif  # noqa: PLC0415

    found, folder = measured.overview, here.output_dir
    name = f"crscore-{found.number}" if several else "crscore"
    text = json.render_json(found, measured.scored_remarks, measured.result)
    page_text = page.render_page(found, measured.result)
    sarif_text = sarif.render_sarif(found, measured.result)
    return {
        "json": outputs.write_document(folder, f"{name}.json", text),
        "html": outputs.write_document(folder, f"{name}.html", page_text),
        "sarif": outputs.write_document(folder, f"{name}.sarif", sarif_text),
    }


def _report(found: Overview, posted: Posted | None, **paths: Path) -> Report:
    useful = found.together.usefulness
    return outputs.Report(
        number=found.number,
        usefulness=None if useful is None else useful.standing,
        relevance=found.together.relevance,
        conciseness=found.together.conciseness,
        comprehensiveness=found.together.comprehensiveness,
        reviews_scored=sum(row.relevance is not None for row in found.reviewers),
        partial=found.partial,
        comment_url=posted.url if posted is not None else None,
        **paths,
    )


def _apply_gate(here: Environment, measured: Measured, step: Step) -> None:
    from crscore.pull_request import gate  # noqa: PLC0415

    verdict = gate.judge(
        measured.overview,
        fail_under=measured.settings.fail_under,
        fail_under_relevance=measured.settings.fail_under_relevance,
        fail_on=here.inputs.fail_on,
        fail_on_partial=here.inputs.fail_on_partial,
    )
    for line in verdict.notices:
        step.say("warning", line)
    for line in verdict.failed:
        step.say("error", line)
    step.below.extend(verdict.failed)


def _write(outlets: Outlets, step: Step, *, annotate: bool) -> None:
    """Write outputs, log, summary and annotations; errors of a part are added to the step's."""
    parts: tuple[Callable[[], None], ...] = (
        lambda: outputs.write_outputs(outlets.output, tuple(step.reports.values())),
        lambda: _write_log(step),
        lambda: _write_summary(outlets.summary, step),
        lambda: _write_annotations(step, wanted=annotate),
    )

    def attempt(part: Callable[[], None]) -> None:
        try:
            part()
        except CRScoreError as exc:
            step.fail(exc)

    # A stack runs its callbacks in reverse order, and continues when one of them raises.
    with ExitStack() as stack:
        for part in reversed(parts):
            stack.callback(attempt, part)


def _write_log(step: Step) -> None:
    from crscore.pull_request.documents import terminal  # noqa: PLC0415

    if not step.overviews:
        return
    text = terminal.render_terminal(step.overviews, width=LOG_COLUMNS)
    notes = [one_line(f"note: {note}") for found in step.overviews for note in found.notes]
    click.echo(commands.shielded("".join([text, *(f"{note}\n" for note in notes)])), nl=False)
    names = [f"{found.repository}#{found.number}" for found in step.overviews if found.partial]
    if names:
        what = ", ".join(names[:5]) + (" and more" if len(names) > 5 else "")
        step.say("warning", f"Not all of {what} could be read; the summary says what is missing.")


def _write_summary(file: Path | None, step: Step) -> None:
    from crscore.pull_request.documents import summary  # noqa: PLC0415

    if file is None:
        return
    notes = _summary_notes(step)
    room = outputs.summary_room(file) - len(notes.encode("utf-8", "replace"))
    text = summary.render_summary(step.overviews, room=room) if step.overviews else ""
    if step.overviews and not text:
        step.say("warning", "The job summary is full, so the scores are in the log alone.")
    if (text or notes) and not outputs.append_summary(file, f"{text}{notes}"):
        step.say("warning", "The job summary is full, so what went wrong is in the log alone.")


def _summary_notes(step: Step) -> str:
    """Format the messages as Markdown; they may contain untrusted text."""
    from crscore.reports import escape  # noqa: PLC0415

    texts = [*step.notes, *([] if step.finished else [_STOPPED])]
    if not texts:
        return ""
    lines = [escape.markdown(text, _MESSAGE_CHARS) for text in texts[:MAX_SUMMARY_NOTES]]
    if len(texts) > len(lines):
        lines.append(f"and {len(texts) - len(lines)} more, which the log has")
    return escape.no_commands("\n**crscore**\n\n" + "".join(f"- {line}\n" for line in lines))


def _write_annotations(step: Step, *, wanted: bool) -> None:
    from crscore.pull_request.documents import annotations  # noqa: PLC0415

    # Only for one pull request: annotations of several would share the same lines.
    if wanted and len(step.overviews) == 1 and step.room > 0:
        click.echo(
            annotations.render_annotations(step.overviews[0], max_per_level=step.room), nl=False
        )


def one_line(text: str) -> str:
    """Escape a text for one line of the log, which may act on untrusted text."""
    from crscore.reports import escape  # noqa: PLC0415

    return escape.no_commands(escape.one_line(text))
