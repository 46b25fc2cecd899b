"""Claims by a model behind an OpenAI-compatible server: `--claims openai:MODEL`.

`vllm serve`, llama.cpp, Ollama or a cloud. Address and key come from `OPENAI_BASE_URL` and
`OPENAI_API_KEY` alone. The diff is sent there. Needs `crscore[openai]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.claims._model import making

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.claims.base import ClaimGenerator


def create(options: Mapping[str, str]) -> ClaimGenerator:
    """Make the generator; the server is asked when the first diff is not remembered."""
    return making.generator("openai", options)
