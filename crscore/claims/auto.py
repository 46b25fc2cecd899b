"""Takes claims from the configured model or from syntax trees: `--claims auto`, the default.

If no model is configured, `structural` writes the claims. A model runs on the server at
`OPENAI_BASE_URL`, on OpenAI's server if only `OPENAI_API_KEY` is set, or else in vLLM. If the model
fails, `structural` writes the claims, and the notes and the signature of the result say so.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from crscore import plugins
from crscore.claims.base import ClaimGenerator
from crscore.claims.model_options import ModelOptions
from crscore.errors import DependencyError, EncodingError, GenerationError
from crscore.records import Claims, Diff

_FAILURES: Final = (DependencyError, EncodingError, GenerationError)
"""Errors after which `structural` writes the claims: a missing package or model, or no answer."""


class Auto(msgspec.Struct):
    """Claim generator that uses a model or, if the model fails, another generator."""

    model: ClaimGenerator
    """Generator with the configured model."""
    fallback: ClaimGenerator
    """Generator that needs no model, used if the model fails."""
    failure: str | None = None
    """Why the model did not write the last claims; None if the model has not failed."""

    @property
    def identity(self) -> str:
        """Identity of the generator that wrote the last claims, or will write the first ones.

        If the model's identity cannot be determined, the model counts as failed.
        """
        if self.failure is None:
            try:
                return self.model.identity
            except _FAILURES as exc:
                self.failure = str(exc)
        return self.fallback.identity

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write all claims with the model or, if the model fails, all with the fallback.

        The claims of one run never come from both, because their scores are not comparable and a
        signature names only one generator.
        """
        try:
            claims = self.model.generate(diffs)
        except _FAILURES as exc:
            self.failure = str(exc)
        else:
            self.failure = None
            return claims
        note = f"The claims are structural because the configured model wrote none: {self.failure}."
        return tuple(
            replace(claims, notes=(note, *claims.notes)) for claims in self.fallback.generate(diffs)
        )


def create(options: ModelOptions) -> ClaimGenerator:
    """Create a generator that uses the configured model; without one, return `structural`."""
    fallback: ClaimGenerator = plugins.create("claims", "structural")
    if options.model is None:
        return fallback
    from crscore.claims.model import make_generator  # noqa: PLC0415  (most runs have no model)

    engine = "openai" if options.engine.keys() & {"base_url", "api_key"} else "vllm"
    model = make_generator(engine, options)
    return Auto(model=model, fallback=fallback)
