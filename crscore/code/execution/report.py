"""Document of a run of programs with their tests."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from crscore.code.execution.estimator import pass_at_k
from crscore.code.execution.programs import Problem
from crscore.code.execution.runner import PASSED, TIMED_OUT, Outcome, count
from crscore.reports import console, escape, view
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:code-run:1"
SHOWN_PROBLEMS: Final = 30
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)]


class PassAtK(Struct, frozen=True, kw_only=True):
    """Chance that one of k programs of a problem passes, as a mean over the problems."""

    k: Count
    value: Share


class ProblemResult(Struct, frozen=True, kw_only=True):
    """One problem."""

    task_id: str
    language: str
    samples: Count
    """Programs that were judged."""
    passed: Count


class ProgramResult(Struct, frozen=True, kw_only=True):
    """One program, as in `code_eval`."""

    task_id: str
    completion_id: Count
    passed: bool
    result: str
    """`passed`, `timed out`, or `failed: ...`."""


class CodeRun(Struct, frozen=True, kw_only=True):
    """Document of `crscore code run`."""

    schema: Literal["urn:crscore:code-run:1"] = SCHEMA
    signature: str
    """Version, timeout and platform."""
    pass_at_k: tuple[PassAtK, ...]
    """For each k of which every problem has as many programs."""
    problems: tuple[ProblemResult, ...]
    results: tuple[ProgramResult, ...]


def make_document(
    problems: Mapping[str, Problem],
    outcomes: Sequence[Outcome],
    *,
    ks: Sequence[int],
    timeout: float,
) -> CodeRun:
    """Make the document of a run.

    Args:
        problems: Problems by name; those without an outcome are left out.
        outcomes: Judgements of the programs.
        ks: Values of k.
        timeout: Seconds that a program had.
    """
    counts = count(outcomes)
    means = pass_at_k(list(counts.values()), ks)
    return CodeRun(
        signature=f"crscore:{__version__}|timeout:{timeout:g}|{platform.system()}"
        f"-{platform.machine()}|python:{platform.python_version()}",
        pass_at_k=tuple(PassAtK(k=k, value=means[f"pass@{k}"]) for k in ks if f"pass@{k}" in means),
        problems=tuple(
            ProblemResult(
                task_id=name, language=problems[name].language, samples=samples, passed=passed
            )
            for name, (samples, passed) in counts.items()
        ),
        results=tuple(
            ProgramResult(
                task_id=one.completion.problem,
                completion_id=one.completion.index,
                passed=one.passed,
                result=one.result,
            )
            for one in outcomes
        ),
    )


def render_text(found: CodeRun, *, color: bool = False, width: int = 80) -> str:
    """Write a run for a terminal; of many problems, only all together."""
    return console.print_blocks(_blocks(found), color=color, width=width)


def _blocks(found: CodeRun) -> Iterator[RenderableType]:
    for one in found.pass_at_k:
        yield Text(f"pass@{one.k:<5}{100 * one.value:6.2f} %", style="bold")
    ended = [one.result for one in found.results]
    late, passed = ended.count(TIMED_OUT), ended.count(PASSED)
    yield Text(
        f"{view.many(len(ended), 'program')} of {view.many(len(found.problems), 'problem')}: "
        f"{passed:,} passed, "
        f"{len(ended) - passed - late:,} failed, {late:,} timed out.",
    )
    if 1 < len(found.problems) <= SHOWN_PROBLEMS:
        table = Table(box=None, pad_edge=False)
        for name in ("Problem", "Programs", "Passed"):
            table.add_column(name, justify="left" if name == "Problem" else "right")
        for each in found.problems:
            table.add_row(escape.one_line(each.task_id), f"{each.samples:,}", f"{each.passed:,}")
        yield ""
        yield table
    yield Text(found.signature, style="dim", overflow="fold")
