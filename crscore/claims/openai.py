"""Takes claims from a model on an OpenAI-compatible server: `--claims openai:MODEL`.

The server can be `vllm serve`, llama.cpp, Ollama or a cloud service; the diff is sent to it. Its
address and key come only from the variables `OPENAI_BASE_URL` and `OPENAI_API_KEY`. This generator
needs `crscore[openai]`.
"""

import importlib.util

from crscore.claims.base import ClaimGenerator
from crscore.claims.model_options import ModelOptions


def create(options: ModelOptions) -> ClaimGenerator:
    """Create the generator; a server is called only for diffs whose claims are not cached."""
    from crscore.claims.model import make_generator  # noqa: PLC0415  (most runs have no model)

    return make_generator("openai", options)


def missing() -> str | None:
    """Return the missing package and how to install it; None if no package is missing."""
    package = importlib.util.find_spec("openai")
    return None if package else "openai; pip install 'crscore[openai]'"
