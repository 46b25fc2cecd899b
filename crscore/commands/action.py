"""`crscore action`: the step of a GitHub workflow, told what to do by the runner's variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from crscore.commands._describe import Done, one_line, write_report
from crscore.errors import CRScoreError
from crscore.github.actions import artifact, environment, event, outputs

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.github.actions.environment import Environment
    from crscore.github.actions.outputs import Report
    from crscore.github.client import Client
    from crscore.github.comment import Posted
    from crscore.pull_request.overview import Overview
    from crscore.pull_request.run import Measured

EXIT_GATE: Final = 1


@click.command(name="action")
def command() -> int:
    """Score pull requests as a step of a GitHub workflow.

    Everything comes from the variables that a runner sets: the event, the inputs of action.yml,
    and the files for outputs and summary. Use `crscore pr` anywhere else.
    """
    done, outlets, annotate = Done(), environment.outlets(), False
    # `finally`, as a bug in the last of many pull requests must not lose the others.
    try:
        here = environment.read_environment()
        annotate = here.inputs.annotations
        _step(here, done)
        done.finished = True
    except CRScoreError as exc:
        done.fail(exc)
        done.finished = True
    finally:
        write_report(outlets, done, annotate=annotate)
    if done.errors:
        raise done.errors[0]
    return EXIT_GATE if done.below else 0


def _step(here: Environment, done: Done) -> None:
    found = event.target(here)
    if isinstance(found, event.Nothing):
        done.note("notice", f"Nothing was scored: {found.reason}.")
        return
    host = _host(here)
    numbers = _numbers(host, here, found, done)
    if not numbers:
        done.note("notice", f"Nothing was scored: {_none(found)}.")
    elif here.inputs.post_from is not None:
        _received(host, here, here.inputs.post_from, numbers, done)
    else:
        _each(host, here, numbers, done)


def _each(host: Client, here: Environment, numbers: tuple[int, ...], done: Done) -> None:
    several = len(numbers) > 1
    for number in numbers:
        try:
            _one(host, here, number, done, several=several)
        except CRScoreError as exc:
            # The others still have theirs; this one is what the run ends with.
            done.fail(exc, f"{here.repository}#{number}" if several else "")


def _none(found: event.Target) -> str:
    if isinstance(found, event.OfHead):
        return "no open pull request has the commit that was measured as its newest one"
    return "no open pull request changed lately"


def _numbers(host: Client, here: Environment, found: event.Target, done: Done) -> tuple[int, ...]:
    from crscore.github import pull  # noqa: PLC0415  (after wrong inputs)

    if isinstance(found, event.Named):
        return (found.number,)
    if isinstance(found, event.Recent):
        # All that a page can list: those that are left out are counted, too.
        most = environment.MAX_PULL_REQUESTS
        listed = pull.find_recent(host, here.repository, days=found.days, most=most)
        _left_out(len(listed) - found.most, done, at_least=len(listed) == most)
        return listed[: found.most]
    if isinstance(found, event.OfHead):
        return pull.find_by_head(
            host, here.repository, owner=found.owner, branch=found.branch, sha=found.sha
        )
    return ()


def _left_out(count: int, done: Done, *, at_least: bool) -> None:
    if count > 0:
        many = f"{count}{' or more' if at_least else ''}"
        done.note(
            "notice",
            f"Not scored: open pull requests that changed longest ago, {many} of them; "
            "the input max-pull-requests says how many are.",
        )


def _host(here: Environment) -> Client:
    from crscore import settings as config  # noqa: PLC0415
    from crscore.github.client import Client  # noqa: PLC0415
    from crscore.github.retry import RetryBudget  # noqa: PLC0415
    from crscore.scorer import make_store  # noqa: PLC0415

    settings = config.resolve_settings(_flags(here), file=None)
    return Client(
        token=here.inputs.token,
        api_url=here.api_url,
        store=make_store(settings) if settings.cache else None,
        retry=RetryBudget(budget_s=here.inputs.wait_budget),
        say=lambda text: click.echo(one_line(text)),
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


def _received(
    host: Client, here: Environment, file: Path, numbers: tuple[int, ...], done: Done
) -> None:
    """Tell, and post if asked to, what an untrusted job measured of one of these."""
    from crscore.pull_request import run  # noqa: PLC0415

    data = artifact.read_artifact(file)
    found = run.check_document(host, here.repository, numbers, data, source="post-from")
    done.told.append(found)
    done.kept[found.number] = _report(found, None)
    if here.inputs.comment:
        posted = run.post_overview(host, found)
        _comment(posted, done)
        done.kept[found.number] = _report(found, posted)


def _one(host: Client, here: Environment, number: int, done: Done, *, several: bool) -> None:
    """Score one pull request; what is done of it is kept, whatever fails afterwards."""
    from crscore.pull_request import run  # noqa: PLC0415

    asked = here.inputs
    request = run.Request(
        repository=here.repository,
        number=number,
        authors=asked.authors,
        markers=dict(asked.bot_markers),
        flags=_flags(here),
        folder=asked.working_directory,
    )
    measured = run.measure(host, request)
    found = measured.overview
    done.told.append(found)
    done.kept[number] = _report(found, None)
    paths = _documents(here, measured, several=several)
    done.kept[number] = _report(found, None, **paths)
    # Last of all: a comment should not tell of a run that then breaks.
    _judge(here, measured, done)
    if asked.comment:
        posted = run.post(host, measured)
        _comment(posted, done)
        done.kept[number] = _report(found, posted, **paths)


def _comment(posted: Posted, done: Done) -> None:
    from crscore.github.comment import Outcome  # noqa: PLC0415

    if posted.outcome is Outcome.REFUSED:
        done.say("notice", f"The comment was not written, as the token may not: {posted.reason}")
    elif posted.outcome is Outcome.FAILED:
        done.say("warning", f"The comment was not written: {posted.reason}")


def _documents(here: Environment, measured: Measured, *, several: bool) -> dict[str, Path]:
    from crscore.pull_request.documents import json, page  # noqa: PLC0415

    found, folder = measured.overview, here.output_dir
    name = f"crscore-{found.number}" if several else "crscore"
    text = json.render_json(found, measured.spoken, measured.result)
    page_text = page.render_page(found, measured.result)
    return {
        "json": outputs.write_document(folder, f"{name}.json", text),
        "html": outputs.write_document(folder, f"{name}.html", page_text),
    }


def _report(found: Overview, posted: Posted | None, **paths: Path) -> Report:
    return outputs.Report(
        number=found.number,
        relevance=found.together.relevance,
        conciseness=found.together.conciseness,
        comprehensiveness=found.together.comprehensiveness,
        reviews_scored=sum(row.relevance is not None for row in found.reviewers),
        partial=found.partial,
        comment_url=posted.url if posted is not None else None,
        **paths,
    )


def _judge(here: Environment, measured: Measured, done: Done) -> None:
    from crscore.pull_request import gate  # noqa: PLC0415

    verdict = gate.judge(
        measured.overview,
        fail_under=measured.settings.fail_under,
        fail_on=here.inputs.fail_on,
        fail_on_partial=here.inputs.fail_on_partial,
    )
    for line in verdict.notices:
        done.say("warning", line)
    for line in verdict.failed:
        done.say("error", line)
    done.below.extend(verdict.failed)
