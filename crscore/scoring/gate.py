"""Quality gate: numbers of a review compared with thresholds, off unless a threshold is set."""

from typing import Final, NamedTuple

NO_WEIGHTS: Final = "the encoder has no weights for it"
"""Reason that a text with scores has no usefulness."""


class GateResult(NamedTuple):
    """Result of the gate."""

    failed: tuple[str, ...]
    """Texts below a threshold, one sentence each; empty when all pass."""
    notices: tuple[str, ...]
    """Reasons for which the gate was not applied, one sentence each."""


def check_thresholds(
    name: str,
    *,
    standing: int | None,
    relevance: float | None,
    reason: str | None,
    fail_under: float | None,
    fail_under_relevance: float | None,
    on_nothing: str = "pass",
) -> GateResult:
    """Compare the numbers of one text with the thresholds.

    Args:
        name: Name of the text in messages.
        standing: Its percentile of usefulness, 0 to 100; None if unknown.
        relevance: Its relevance, in [0, 1]; None for an abstention.
        reason: Reason that there is no score; None if there is one.
        fail_under: Minimum percentile that passes; None for no gate.
        fail_under_relevance: Minimum relevance that passes; None for no gate.
        on_nothing: Treatment of a text without a number: see `lines_of_nothing`.
    """
    failed: list[str] = []
    notices: list[str] = []
    for measure, value, flag, threshold in (
        ("usefulness", standing, "fail-under", fail_under),
        ("relevance", relevance, "fail-under-relevance", fail_under_relevance),
    ):
        if threshold is None:
            continue
        # An abstention neither passes nor fails: there is no number to compare.
        if value is None:
            cause = reason or NO_WEIGHTS
            lines = lines_of_nothing(on_nothing, failed, notices)
            lines.append(f"the gate was not applied to {name}: no {measure}, {cause}")
        elif value < threshold:
            failed.append(f"{measure} of {name} is {value:.4g}, below {flag} {threshold:g}")
    return GateResult(tuple(failed), tuple(notices))


def lines_of_nothing(on_nothing: str, failed: list[str], notices: list[str]) -> list[str]:
    """Return the list to which the reason for a missing number is added.

    Args:
        on_nothing: `fail`; `pass`, with a notice; or `skip`, which passes without a notice.
        failed: Messages of failures.
        notices: Messages of notices.
    """
    return {"fail": failed, "skip": list[str]()}.get(on_nothing, notices)
