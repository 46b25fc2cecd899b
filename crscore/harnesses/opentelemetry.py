"""Event `gen_ai.evaluation.result` of OpenTelemetry's conventions for generative AI.

Tool: the package `opentelemetry-api` (tested: 1.45). Backends that read these conventions show the
score beside the trace in which the review was written; MLflow is one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.errors import DependencyError
from crscore.harnesses.evaluation import evaluate

if TYPE_CHECKING:
    from crscore.records import Result

EVENT = "gen_ai.evaluation.result"


def evaluation_attributes(
    result: Result, *, measure: str = "usefulness", response_id: str | None = None
) -> dict[str, str | float]:
    """Return the attributes of the event; without a score, it has none and says why.

    Args:
        result: The scored review.
        measure: `usefulness`, `relevance`, `conciseness` or `comprehensiveness`.
        response_id: The model's id of the answer that is the review.

    Raises:
        ConfigError: There is no such measure.
    """
    evaluation = evaluate(result, measure)
    attributes: dict[str, str | float | None] = {
        "gen_ai.evaluation.name": evaluation.name,
        "gen_ai.evaluation.score.value": evaluation.score,
        "gen_ai.evaluation.score.label": evaluation.label or None,
        "gen_ai.evaluation.explanation": evaluation.explanation,
        "gen_ai.response.id": response_id,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def emit_evaluation(
    result: Result, *, measure: str = "usefulness", response_id: str | None = None
) -> None:
    """Emit the event through the configured logger provider, in the current span.

    Args:
        result: The scored review.
        measure: As in `evaluation_attributes`.
        response_id: As in `evaluation_attributes`.

    Raises:
        ConfigError: There is no such measure.
        DependencyError: OpenTelemetry is not installed.
    """
    try:
        from opentelemetry._logs import LogRecord, get_logger  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("opentelemetry-api", "pip install opentelemetry-api") from exc
    attributes = evaluation_attributes(result, measure=measure, response_id=response_id)
    get_logger("crscore").emit(LogRecord(event_name=EVENT, attributes=attributes))
