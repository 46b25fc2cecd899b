"""Claims from a model that vLLM runs in this process: `--claims vllm[:MODEL]`.

The published method uses a fine-tuned Magicoder-S-DS-6.7B. This generator needs `crscore[vllm]`
and, for a model of that size, a GPU or much time. All diffs of a run are one batch.
"""

import importlib.util

from crscore.claims.base import ClaimGenerator
from crscore.claims.model_options import ModelOptions


def create(options: ModelOptions) -> ClaimGenerator:
    """Create the generator; its model is loaded for the first diff that is not in the cache."""
    from crscore.claims.model import make_generator  # noqa: PLC0415  (most runs have no model)

    return make_generator("vllm", options)


def missing() -> str | None:
    """Return the missing packages and how to install them; None when nothing is missing."""
    package = importlib.util.find_spec("vllm")
    return None if package else "vllm; pip install 'crscore[vllm]'"
