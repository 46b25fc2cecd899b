"""Judgement of statements about a change: each is held against both versions of the code."""

from collections.abc import Sequence
from typing import Final

from crscore.records import Diff, Finding, Receipt, Verdict
from crscore.verdicts.checks import absence, changes, places, presence, proposals, uses
from crscore.verdicts.checks.base import Check, Ground
from crscore.verdicts.checks.clauses import names_other_file
from crscore.verdicts.checks.suggestions import check_suggestions
from crscore.verdicts.checks.tools import check_findings
from crscore.verdicts.code import Code, RestOfRepository
from crscore.verdicts.statements import Statement

VERSION: Final = "2"
"""Part of the signature, raised with what the checks decide: a refuted remark is worth nothing."""
MAX_STATEMENTS: Final = 500
"""Maximum statements about a change that are judged."""
_MODULES: Final = (places, absence, presence, changes, proposals, uses)
CHECKS: Final[tuple[Check, ...]] = tuple(check for module in _MODULES for check in module.CHECKS)


def judge_statements(
    statements: Sequence[Statement],
    diff: Diff,
    findings: Sequence[Finding],
    repository: RestOfRepository | None = None,
) -> list[Receipt | None]:
    """Hold statements against a change.

    Args:
        statements: The statements.
        diff: The change, with whole files where they are known.
        findings: Findings of analyzers in it.
        repository: The rest of the repository; None where it is not known.

    Returns:
        A receipt for each statement; None where nothing decides it, and for those on an older
        version of the change: what it asked for may be there by now because it asked for it.
    """
    if not statements:
        return []
    code = Code(diff, repository)
    return [
        _judge(Ground(code, statement), findings)
        if index < MAX_STATEMENTS and not statement.comment.is_older
        else None
        for index, statement in enumerate(statements)
    ]


def _judge(ground: Ground, findings: Sequence[Finding]) -> Receipt | None:
    if receipt := check_suggestions(ground.statement):
        return receipt
    confirmed = None
    for phrase in ground.statement.phrases:
        for check in uses.CHECKS if names_other_file(phrase, ground) else CHECKS:
            receipt = check(phrase, ground)
            if receipt and receipt.verdict is Verdict.REFUTED:
                return receipt
            confirmed = confirmed or receipt
    return confirmed or check_findings(ground.statement, findings)
