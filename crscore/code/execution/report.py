"""Makes the document of a run of programs with their tests, and renders it as text."""

import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from crscore.code.execution.estimator import pass_at_k
from crscore.code.execution.programs import Problem
from crscore.code.execution.runner import PASSED, TIMED_OUT, Outcome, count_passed
from crscore.reports import console, view
from crscore.reports.blocks import Block, Paragraph, Run, Signature, make_table
from crscore.reports.fields import Count, Share
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:code-run:1"
SHOWN_REASONS: Final = 20
"""Maximum number of reasons for failures in the text."""


class PassAtK(Struct, frozen=True, kw_only=True):
    """Chance that at least one of k programs of a problem passes, as a mean over the problems."""

    k: Count
    value: Share


class ProblemResult(Struct, frozen=True, kw_only=True):
    """Outcomes of the samples for one problem."""

    task_id: str
    language: str
    samples: Count
    """Number of programs that were judged; if it is 0, the problem counts as failed."""
    passed: Count


class ProgramResult(Struct, frozen=True, kw_only=True):
    """Result of one program, with the fields of `code_eval`."""

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
    """Values for each k such that every problem with programs has at least k of them."""
    undefined_k: tuple[Count, ...] = ()
    """Values of k for which pass@k is undefined, because a problem has fewer than k programs."""
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
        problems: Problems by name; a problem without an outcome counts as failed.
        outcomes: Outcomes of the programs.
        ks: Values of k.
        timeout: Time limit of a program in seconds.
    """
    counts = dict.fromkeys(problems, (0, 0)) | count_passed(outcomes)
    means = pass_at_k(list(counts.values()), ks)
    return CodeRun(
        signature=f"crscore:{__version__}|timeout:{timeout:g}|{platform.system()}"
        f"-{platform.machine()}|python:{platform.python_version()}",
        pass_at_k=tuple(PassAtK(k=k, value=means[f"pass@{k}"]) for k in ks if f"pass@{k}" in means),
        undefined_k=tuple(k for k in ks if f"pass@{k}" not in means),
        problems=tuple(
            ProblemResult(
                task_id=name, language=problems[name].language, samples=samples, passed=passed
            )
            for name, (samples, passed) in counts.items()
        ),
        results=tuple(
            ProgramResult(
                task_id=outcome.completion.problem,
                completion_id=outcome.completion.index,
                passed=outcome.passed,
                result=outcome.result,
            )
            for outcome in outcomes
        ),
    )


def render_text(document: CodeRun, *, color: bool = False, width: int = 80) -> str:
    """Render a run for a terminal: pass@k, totals, and the most common reasons for failures."""
    return console.render_blocks(_blocks(document), color=color, width=width)


def _blocks(document: CodeRun) -> Iterator[Block]:
    """Yield the blocks of the text about a run."""
    yield make_table(
        "pass@k",
        document.pass_at_k,
        ("", lambda share: f"pass@{share.k}"),
        ("", lambda share: f"{100 * share.value:.2f} %"),
        main=lambda _: True,
    )
    if document.undefined_k:
        fewest = min(
            (problem.samples for problem in document.problems if problem.samples), default=0
        )
        names = ", ".join(f"pass@{k}" for k in document.undefined_k)
        programs = view.count_noun(fewest, "program")
        yield Paragraph(f"{names}: undefined, because a problem has only {programs}")
    missing = [problem.samples for problem in document.problems].count(0)
    if missing:
        problems = view.count_noun(len(document.problems), "problem")
        yield Paragraph(
            f"Of {problems}, {missing:,} without a program counted as failed. To leave them out, "
            "remove them from the tests."
        )
    results = [program.result for program in document.results]
    timed_out, passed = results.count(TIMED_OUT), results.count(PASSED)
    yield Paragraph(
        f"{view.count_noun(len(results), 'program')} of "
        f"{view.count_noun(len(document.problems), 'problem')}: "
        f"{passed:,} passed, {len(results) - passed - timed_out:,} failed, "
        f"{timed_out:,} timed out."
    )
    failures = Counter(result for result in results if result != PASSED)
    # The results are reversed, so that the first program with each reason is kept.
    first = {program.result: program for program in reversed(document.results)}
    for reason, times in failures.most_common(SHOWN_REASONS):
        place = f"{first[reason].task_id}, program {first[reason].completion_id}"
        location = place if times == 1 else f"{times:,} programs, the first: {place}"
        yield Paragraph((Run(f"{reason} ({location})"),))
    if len(failures) > SHOWN_REASONS:
        more_reasons = view.count_noun(len(failures) - SHOWN_REASONS, "other reason")
        yield Paragraph(f"{more_reasons}: --format json has the result of each program")
    yield Signature(document.signature, is_full=True)
