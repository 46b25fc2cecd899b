"""Quality gate: numbers of a review compared with thresholds, off unless a threshold is set."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

NO_WEIGHTS: Final = "the encoder has no weights for it"
"""Reason why a text with scores has no usefulness."""


class GateResult(NamedTuple):
    """Texts that failed, and texts that could not be judged."""

    failed: tuple[str, ...]
    """Texts below a threshold, one sentence each; empty when all pass."""
    notices: tuple[str, ...]
    """Reasons why the gate was not applied, one sentence each."""


def check_thresholds(
    name: str,
    *,
    thresholds: Mapping[str, float],
    usefulness: Any,
    relevance: float | None,
    reason: str | None,
    on_nothing: str = "pass",
) -> GateResult:
    """Compare the numbers of one text with the thresholds.

    Args:
        name: Name of the text in messages.
        thresholds: Minimum that passes by option, such as `fail-under`; see `Config.thresholds`.
        usefulness: The text's usefulness, in a result or in an overview; None if unknown.
        relevance: The text's relevance, in [0, 1]; None if there is no score.
        reason: Reason why there is no score; None if there is one.
        on_nothing: Treatment of a text without a number: see `lines_of_nothing`.
    """
    failed: list[str] = []
    notices: list[str] = []
    values = {
        "fail-under": ("usefulness", getattr(usefulness, "standing", None)),
        "fail-under-low": ("the low end of the usefulness", getattr(usefulness, "low", None)),
        "fail-under-relevance": ("relevance", relevance),
    }
    for flag, threshold in thresholds.items():
        measure, value = values[flag]
        # Without a number there is nothing to compare, so `on_nothing` decides.
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
