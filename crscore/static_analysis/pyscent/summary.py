"""The published form of the findings: one sentence a smell and file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crscore.static_analysis.pyscent.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.static_analysis.pyscent.smells import FileReport, Smell

NO_LINE = -1


def summarize(report: FileReport) -> FileReport:
    """Put the findings of a file into one sentence a smell.

    The sentence names the smell, how many places have it, and the worst place with its
    line and measure; of equal ones the first. It stands at the line of the worst place,
    or at no line where the published tool names none.

    Args:
        report: The findings of one file.

    Returns:
        At most one finding a rule, in the order of the rules.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801v2, Table 14, and the CRScore code, whose
        wording is not used here.
    """
    groups = [[smell for smell in report.smells if smell.rule is rule] for rule in RULES]
    return replace(report, smells=tuple(_summary(group) for group in groups if group))


def _summary(smells: Sequence[Smell]) -> Smell:
    rule = smells[0].rule
    worst = (min if rule.least_is_worst else max)(smells, key=lambda smell: smell.measure or 0)
    title = rule.title[0].upper() + rule.title[1:]
    count = f"{len(smells)} {rule.noun[len(smells) > 1]}"
    if worst.extent:
        rest = f"the worst is {worst.place} on line {worst.line} with {worst.extent}"
    else:
        rest = f"the first is {worst.place} on line {worst.line}"
    return replace(
        worst,
        text=f"{title} in {count}: {rest}.",
        line=NO_LINE if rule.file_level else worst.line,
        end_line=NO_LINE if rule.file_level else worst.end_line,
    )
