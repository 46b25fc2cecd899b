"""Scorer for inspect_ai, which finds it under the name `crscore/review` by an entry point.

Tool: the package `inspect_ai` (tested: 0.3.285). The completion of a sample is scored as a review.
The change is the sample's metadata field `diff` or, without that field, the sample's input.
"""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING

from crscore.agents.evaluation import default_scorer, evaluate
from crscore.errors import DependencyError, InputError

if TYPE_CHECKING:
    from inspect_ai.scorer import Score, Scorer, Target
    from inspect_ai.solver import TaskState


def _review(measure: str = "usefulness") -> Scorer:
    """Return a scorer that treats the completion as a review of the sample's change.

    Args:
        measure: `usefulness`, `relevance`, `conciseness` or `comprehensiveness`.
    """
    from inspect_ai.scorer import Score  # noqa: PLC0415

    async def score(state: TaskState, target: Target) -> Score:
        del target  # a review has no reference
        diff = state.metadata.get("diff") or state.input_text
        try:
            result = default_scorer().score(diff, state.output.completion)
        except InputError as exc:
            raise ValueError(f"sample {state.sample_id} has no diff to review: {exc}") from exc
        evaluation = evaluate(result, measure)
        return Score(
            # inspect_ai leaves samples without a number out of its metrics.
            value=math.nan if evaluation.score is None else evaluation.score,
            answer=evaluation.label,
            explanation=evaluation.explanation,
            metadata={"signature": result.signature},
        )

    return score


# inspect_ai registers a scorer when the scorer's module is imported. `review` does not exist
# without inspect_ai.
if importlib.util.find_spec("inspect_ai") is not None:
    from inspect_ai.scorer import mean, scorer, stderr

    review = scorer(metrics=[mean(), stderr()], name="review")(_review)


def __getattr__(name: str) -> object:
    """Raise an error that names the missing package if `review` is imported without inspect_ai."""
    if name == "review":
        raise DependencyError("inspect_ai", "pip install inspect-ai")
    raise AttributeError(name)
