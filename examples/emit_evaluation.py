"""Emit how good a review is as an event of OpenTelemetry: `python emit_evaluation.py DIFF REVIEW`.

The event `gen_ai.evaluation.result` follows OpenTelemetry's conventions for generative AI. Backends
that read these, such as MLflow, show the score beside the trace in which the review was written.
Needs `pip install crscore opentelemetry-api`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from opentelemetry._logs import LogRecord, get_logger

from crscore import Result, Scorer
from crscore.agents.evaluation import evaluate


def emit_evaluation(
    result: Result, *, measure: str = "usefulness", response_id: str | None = None
) -> None:
    """Emit the event through the configured logger provider, in the current span."""
    evaluation = evaluate(result, measure)
    attributes: dict[str, str | float | None] = {
        "gen_ai.evaluation.name": evaluation.name,
        "gen_ai.evaluation.score.value": evaluation.score,
        "gen_ai.evaluation.score.label": evaluation.label or None,
        "gen_ai.evaluation.explanation": evaluation.explanation,
        "gen_ai.response.id": response_id,
    }
    # Without a score, the event has none and the explanation says why.
    known = {name: value for name, value in attributes.items() if value is not None}
    record = LogRecord(event_name="gen_ai.evaluation.result", attributes=known)
    get_logger("crscore").emit(record)


if __name__ == "__main__":
    diff, review = (Path(path).read_text("utf-8") for path in sys.argv[1:3])
    emit_evaluation(Scorer(analyzers="none").score(diff, review))
