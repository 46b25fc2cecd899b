"""Assertion for promptfoo: the output is a review of the change in the variable `diff`.

`config` of the assertion: `measure` (default usefulness) and `threshold`, both from 0 to 1.

    assert:
      - type: python
        value: file://promptfoo_assert.py
        config: { threshold: 0.3 }

`PROMPTFOO_PYTHON` names the Python that has crscore.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crscore.agents.evaluation import default_scorer, evaluate
from crscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Grade a review: a text, or the comments that promptfoo parsed from JSON."""
    config = context.get("config") or {}
    if isinstance(output, list):
        output = [{"body": part} if isinstance(part, str) else part for part in output]
    review = output if isinstance(output, str) else json.dumps(output)
    try:
        result = default_scorer().score(context["vars"]["diff"], review)
    except InputError as exc:
        return {"pass": False, "score": 0.0, "reason": str(exc)}
    evaluation = evaluate(result, config.get("measure", "usefulness"))
    score = evaluation.score or 0.0
    return {
        # A review that says nothing has no score, and passes no threshold.
        "pass": evaluation.score is not None and score >= float(config.get("threshold", 0.0)),
        "score": score,
        "reason": f"{evaluation.name} {score:.2f} ({evaluation.label}): {evaluation.explanation}",
    }
