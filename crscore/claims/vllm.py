"""Claims by a model that vLLM runs in this process: `--claims vllm[:MODEL]`.

The published method: a fine-tuned Magicoder-S-DS-6.7B. Needs `crscore[vllm]` and, for a model of
that size, a GPU or patience. All diffs of a run are one batch.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.claims.base import ClaimGenerator


def create(options: Mapping[str, str]) -> ClaimGenerator:
    """Make the generator; its model is loaded when the first diff is not remembered."""
    from crscore.claims.llm import factory  # noqa: PLC0415  (most runs have no model)

    return factory.generator("vllm", options)


def missing() -> str | None:
    """Say what is not installed and how to get it; None when nothing is missing."""
    found = importlib.util.find_spec("vllm")
    return None if found else "vllm; pip install 'crscore[vllm]'"
