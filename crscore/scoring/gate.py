"""Quality gate: compares the scores of a review with the thresholds that are set, if any."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

NO_WEIGHTS: Final = "the encoder has no usefulness weights"
"""Reason why a text has no usefulness although it has the other scores."""


class GateResult(NamedTuple):
    """Messages of a gate: failures, and notices."""

    failed: tuple[str, ...]
    """Messages about texts that fail the gate, one sentence each; empty if the gate passes."""
    notices: tuple[str, ...]
    """Other messages, such as that a text could not be judged and why, one sentence each."""


def check_thresholds(
    name: str,
    *,
    thresholds: Mapping[str, float],
    usefulness: Any,
    relevance: float | None,
    reason: str | None,
    on_nothing: str = "pass",
) -> GateResult:
    """Compare the scores of one text with the thresholds.

    Args:
        name: Name of the text in messages.
        thresholds: Option, such as `fail-under`, -> smallest score that passes; see
            `Config.thresholds`.
        usefulness: The text's usefulness, from a result or an overview; None if unknown.
        relevance: The text's relevance, in [0, 1]; None if there is no score.
        reason: Reason why there is no score; None if there is one.
        on_nothing: What happens if a score is unknown; see `choose_messages`.

    Returns:
        The messages; none if the text passes all thresholds.
    """
    failed: list[str] = []
    notices: list[str] = []
    values = {
        "fail-under": ("usefulness", getattr(usefulness, "standing", None)),
        "fail-under-low": ("low end of the usefulness interval", getattr(usefulness, "low", None)),
        "fail-under-relevance": ("relevance", relevance),
    }
    for flag, threshold in thresholds.items():
        score_name, value = values[flag]
        # An unknown score cannot be compared, so `on_nothing` decides.
        if value is None:
            cause = reason or NO_WEIGHTS
            messages = choose_messages(on_nothing, failed, notices)
            messages.append(f"{name} could not be judged: no {score_name} ({cause})")
        elif value < threshold:
            failed.append(f"{score_name} of {name} is {value:.4g}, below {flag} {threshold:g}")
    return GateResult(tuple(failed), tuple(notices))


def choose_messages(on_nothing: str, failed: list[str], notices: list[str]) -> list[str]:
    """Return the list to which the message about an unknown score is added.

    Args:
        on_nothing: `fail`, `pass` (with a notice) or `skip` (without a notice).
        failed: Messages about texts that failed.
        notices: Messages about texts that could not be judged.

    Returns:
        `failed`, `notices`, or a new list that nobody reads.
    """
    return {"fail": failed, "skip": list[str]()}.get(on_nothing, notices)
