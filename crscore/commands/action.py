"""`crscore action`: the step of a GitHub workflow, told what to do by the runner's variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import click

from crscore.actions import artifact, commands, environment, event, files, reports
from crscore.errors import CRScoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.actions.environment import Environment
    from crscore.actions.reports import Report
    from crscore.github.host import Host
    from crscore.github.sticky import Posted
    from crscore.pull_request.overview import Overview
    from crscore.pull_request.run import Measured

EXIT_GATE: Final = 1
LOG_COLUMNS: Final = 120
MOST_OF_A_LEVEL: Final = 10
"""Messages of one level that GitHub shows of a step."""


@dataclass(slots=True)
class _Said:
    """The step's own messages, which share GitHub's limit with the annotations."""

    counts: dict[str, int] = field(default_factory=dict)

    def __call__(self, level: str, text: str) -> None:
        self.counts[level] = self.counts.get(level, 0) + 1
        click.echo(commands.message(level, _line(text)))

    @property
    def room(self) -> int:
        """Messages of any level that GitHub would still show."""
        return MOST_OF_A_LEVEL - max(self.counts.values(), default=0)


@dataclass(slots=True)
class _Done:
    """What became of the pull requests so far."""

    told: list[Overview] = field(default_factory=list)
    kept: list[Report] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    errors: list[CRScoreError] = field(default_factory=list)


@click.command(name="action")
def command() -> int:
    """Score pull requests as a step of a GitHub workflow.

    Everything comes from the variables that a runner sets: the event, the inputs of action.yml,
    and the files for outputs and summary. Use `crscore pr` anywhere else.
    """
    say = _Said()
    try:
        return _step(environment.read(), say)
    except CRScoreError as exc:
        say("error", str(exc))
        raise


def _step(here: Environment, say: _Said) -> int:
    found = event.target(here)
    if isinstance(found, event.Nothing):
        return _nothing(here, found.reason, say)
    host = _host(here)
    numbers = _numbers(host, here, found)
    if not numbers:
        return _nothing(here, _none(found), say)
    done = _Done()
    for number in numbers:
        try:
            _one(host, here, number, done, say, several=len(numbers) > 1)
        except CRScoreError as exc:
            if len(numbers) == 1:
                raise
            # The others still have theirs; this one is what the run ends with.
            say("error", f"{here.repository}#{number}: {exc}")
            done.errors.append(exc)
    _tell(here, done, say)
    if done.errors:
        raise done.errors[0]
    return EXIT_GATE if done.below else 0


def _nothing(here: Environment, reason: str, say: _Said) -> int:
    say("notice", f"Nothing was scored: {reason}.")
    reports.tell(here, [])
    return 0


def _none(found: event.Target) -> str:
    if isinstance(found, event.OfHead):
        return "no open pull request has the commit that was measured as its newest one"
    return "no open pull request changed lately"


def _numbers(host: Host, here: Environment, found: event.Target) -> tuple[int, ...]:
    from crscore.pull_request import run  # noqa: PLC0415  (after wrong inputs)

    if isinstance(found, event.Named):
        return (found.number,)
    if isinstance(found, event.Recent):
        return run.recent(host, here.repository, days=found.days, most=found.most)
    if isinstance(found, event.OfHead):
        number = run.number_of(
            host, here.repository, owner=found.owner, branch=found.branch, sha=found.sha
        )
        return () if number is None else (number,)
    return ()


def _host(here: Environment) -> Host:
    from crscore import config  # noqa: PLC0415
    from crscore.github.host import Host  # noqa: PLC0415
    from crscore.github.patience import Patience  # noqa: PLC0415
    from crscore.scorer import make_store  # noqa: PLC0415

    settings = config.resolve(_flags(here), file=None)
    return Host(
        token=here.inputs.token,
        api_url=here.api_url,
        store=make_store(settings) if settings.cache else None,
        patience=Patience(budget_s=here.inputs.wait_budget),
        say=lambda text: click.echo(_line(text)),
    )


def _flags(here: Environment) -> dict[str, Any]:
    asked = here.inputs
    flags = {
        "analyzers": asked.analyzers,
        "claims": asked.claims,
        "matcher": asked.matcher,
        "max_claims": asked.max_claims,
        "fail_under": asked.fail_under,
    }
    return {key: value for key, value in flags.items() if value is not None}


def _one(
    host: Host, here: Environment, number: int, done: _Done, say: _Said, *, several: bool
) -> None:
    """Score one pull request, or post what was measured of it."""
    from crscore.pull_request import run  # noqa: PLC0415

    asked = here.inputs
    if asked.post_from is not None:
        data = artifact.read(asked.post_from)
        found, posted = run.received(host, here.repository, number, data, source="post-from")
        _comment(posted, say)
        done.told.append(found)
        done.kept.append(_report(found, posted))
        return
    request = run.Request(
        repository=here.repository,
        number=number,
        authors=asked.authors,
        markers=dict(asked.bot_markers),
        flags=_flags(here),
        folder=asked.working_directory,
    )
    measured = run.measure(host, request)
    written = run.post(host, measured) if asked.comment else None
    if written is not None:
        _comment(written, say)
    done.told.append(measured.overview)
    done.kept.append(_kept(here, measured, written, several=several))
    _judge(here, measured, done, say)


def _comment(posted: Posted, say: _Said) -> None:
    from crscore.github.sticky import Outcome  # noqa: PLC0415

    if posted.outcome is Outcome.REFUSED:
        say("notice", f"The comment was not written, as the token may not: {posted.reason}")
    elif posted.outcome is Outcome.FAILED:
        say("warning", f"The comment was not written: {posted.reason}")


def _kept(here: Environment, measured: Measured, posted: Posted | None, *, several: bool) -> Report:
    from crscore.pull_request.documents import json, page  # noqa: PLC0415

    found, folder = measured.overview, here.output_dir
    name = f"crscore-{found.number}" if several else "crscore"
    text = json.render(found, measured.spoken, measured.result)
    json_path = reports.keep(folder, f"{name}.json", text)
    html_path = reports.keep(folder, f"{name}.html", page.render(found, measured.result))
    return _report(found, posted, json=json_path, html=html_path)


def _report(found: Overview, posted: Posted | None, **paths: Any) -> Report:
    return reports.Report(
        number=found.number,
        relevance=found.together.relevance,
        conciseness=found.together.conciseness,
        comprehensiveness=found.together.comprehensiveness,
        reviews_scored=sum(row.relevance is not None for row in found.reviewers),
        partial=found.partial,
        comment_url=posted.url if posted is not None else None,
        **paths,
    )


def _judge(here: Environment, measured: Measured, done: _Done, say: _Said) -> None:
    from crscore.pull_request import gate  # noqa: PLC0415

    verdict = gate.judge(
        measured.overview,
        fail_under=measured.settings.fail_under,
        fail_on=here.inputs.fail_on,
    )
    for line in verdict.notices:
        say("notice", line)
    for line in verdict.failed:
        say("error", line)
    done.below.extend(verdict.failed)


def _tell(here: Environment, done: _Done, say: _Said) -> None:
    """Write log, annotations, summary and outputs: all of it, whatever the gate says."""
    from crscore.pull_request.documents import annotations, summary, terminal  # noqa: PLC0415

    if done.told:
        click.echo(commands.shielded(terminal.render(done.told, width=LOG_COLUMNS)), nl=False)
        _partial(done.told, say)
        text = summary.render(done.told, room=files.summary_room(here.summary))
        if here.summary is not None and not (text and files.append_summary(here.summary, text)):
            say("warning", "The job summary is full, so the scores are in the log alone.")
    # On lines of one pull request: those of several would stand on each other's.
    if here.inputs.annotations and len(done.told) == 1 and say.room > 0:
        click.echo(annotations.render(done.told[0], most=say.room), nl=False)
    reports.tell(here, done.kept)


def _partial(told: Sequence[Overview], say: _Said) -> None:
    names = [f"{found.repository}#{found.number}" for found in told if found.partial]
    if names:
        what = ", ".join(names[:5]) + (" and more" if len(names) > 5 else "")
        say("warning", f"Not all of {what} could be read; the summary says what is missing.")


def _line(text: str) -> str:
    # Strangers' words may be in it: one line without anything that a log acts on.
    from crscore.reports import _escape  # noqa: PLC0415

    return _escape.no_commands(_escape.one_line(text))
