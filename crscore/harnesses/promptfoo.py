"""Assertion for promptfoo: the output is a review of the change in the variable `diff`.

Tool: the npm package `promptfoo`, whose assertions of the type `python` run code. `config` of the
assertion: `measure` (default usefulness) and `threshold`, both from 0 to 1.

    assert:
      - type: python
        value: |
          from crscore.harnesses.promptfoo import get_assert
          return get_assert(output, context)
        config: { threshold: 0.3 }
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crscore.harnesses.evaluation import default_scorer, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping


def get_assert(output: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Grade a review.

    Args:
        output: The review.
        context: promptfoo's context: `vars` with the change in `diff`, and `config`.

    Returns:
        promptfoo's grading result: `pass`, `score` in [0, 1] and `reason`.
    """
    config = context.get("config") or {}
    diff = context["vars"]["diff"]
    evaluation = evaluate(default_scorer().score(diff, output), config.get("measure", "usefulness"))
    score = evaluation.score or 0.0
    threshold = float(config.get("threshold", 0.0))
    return {
        # A review that says nothing has no score, and passes no threshold.
        "pass": evaluation.score is not None and score >= threshold,
        "score": score,
        "reason": f"{evaluation.name} {score:.2f} ({evaluation.label}): {evaluation.explanation}",
    }
