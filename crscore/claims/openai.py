"""Claims from a model behind an OpenAI-compatible server: `--claims openai:MODEL`.

The server can be `vllm serve`, llama.cpp, Ollama or a cloud service. Its address and key come from
`OPENAI_BASE_URL` and `OPENAI_API_KEY` only. The diff is sent to that server. This
generator needs `crscore[openai]`.
"""

import importlib.util

from crscore.claims.base import ClaimGenerator
from crscore.claims.model_options import ModelOptions


def create(options: ModelOptions) -> ClaimGenerator:
    """Create the generator; the server is first called for a diff that is not in the cache."""
    from crscore.claims.model import make_generator  # noqa: PLC0415  (most runs have no model)

    return make_generator("openai", options)


def missing() -> str | None:
    """Return the missing packages and how to install them; None when nothing is missing."""
    package = importlib.util.find_spec("openai")
    return None if package else "openai; pip install 'crscore[openai]'"
