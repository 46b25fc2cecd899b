"""Takes claims from a model that vLLM runs in this process: `--claims vllm[:MODEL]`.

The published method uses a fine-tuned Magicoder-S-DS-6.7B. This generator needs `crscore[vllm]`
and, for a model of that size, a GPU or much time. vLLM gets all diffs of a run as one batch.
"""

import importlib.util

from crscore.claims.base import ClaimGenerator
from crscore.claims.model_options import ModelOptions


def create(options: ModelOptions) -> ClaimGenerator:
    """Create the generator; the model is loaded only if the claims of a diff are not cached."""
    from crscore.claims.model import make_generator  # noqa: PLC0415  (most runs have no model)

    return make_generator("vllm", options)


def missing() -> str | None:
    """Return the missing package and how to install it; None if no package is missing."""
    package = importlib.util.find_spec("vllm")
    return None if package else "vllm; pip install 'crscore[vllm]'"
