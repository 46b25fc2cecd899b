"""Claims by a model behind an OpenAI-compatible server: `--claims openai:MODEL`.

`vllm serve`, llama.cpp, Ollama or a cloud. Address and key come from `OPENAI_BASE_URL` and
`OPENAI_API_KEY` alone. The diff is sent there. Needs `crscore[openai]`.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from crscore.claims.llm.options import Options  # noqa: TC001  (part of the plugin)

if TYPE_CHECKING:
    from crscore.claims.base import ClaimGenerator


def create(options: Options) -> ClaimGenerator:
    """Make the generator; the server is asked when the first diff is not remembered."""
    from crscore.claims.llm.factory import make_generator  # noqa: PLC0415  (most runs have no model)

    return make_generator("openai", options)


def missing() -> str | None:
    """Say what is not installed and how to get it; None when nothing is missing."""
    found = importlib.util.find_spec("openai")
    return None if found else "openai; pip install 'crscore[openai]'"
