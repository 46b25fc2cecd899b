"""Claims by a model that vLLM runs in this process: `--claims vllm[:MODEL]`.

The published method: a fine-tuned Magicoder-S-DS-6.7B. Needs `crscore[vllm]` and, for a model of
that size, a GPU or patience. All diffs of a run are one batch.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from crscore.claims.llm.options import Options  # noqa: TC001  (part of the plugin)

if TYPE_CHECKING:
    from crscore.claims.base import ClaimGenerator


def create(options: Options) -> ClaimGenerator:
    """Make the generator; its model is loaded when the first diff is not remembered."""
    from crscore.claims.llm.factory import make_generator  # noqa: PLC0415  (most runs have no model)

    return make_generator("vllm", options)


def missing() -> str | None:
    """Say what is not installed and how to get it; None when nothing is missing."""
    found = importlib.util.find_spec("vllm")
    return None if found else "vllm; pip install 'crscore[vllm]'"
