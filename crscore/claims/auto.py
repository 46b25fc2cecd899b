"""Claims from the configured model, else from syntax trees: `--claims auto`, the default.

The model runs on the server at `OPENAI_BASE_URL`, or on OpenAI's with `OPENAI_API_KEY` alone;
without either, vLLM runs it. Without a configured model, `structural` is used. If the model fails,
`structural` replaces it, and the result's notes and signature record that.
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
"""Errors that trigger the fallback: a missing package or model, or a model that gives no answer."""


class Auto(msgspec.Struct):
    """Claim generator that uses a model, and a fallback when the model fails."""

    model: ClaimGenerator
    """Configured generator."""
    fallback: ClaimGenerator
    """Generator that needs no model."""
    failure: str | None = None
    """Reason the model did not write the claims; None unless it failed."""

    @property
    def identity(self) -> str:
        """Identity of the generator of the last claims; before the first run, of the model.

        A model whose identity cannot be determined counts as failed.
        """
        if self.failure is None:
            try:
                return self.model.identity
            except _FAILURES as exc:
                self.failure = str(exc)
        return self.fallback.identity

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write all claims with the model, or all with the fallback when the model fails.

        The claims of one run never mix generators.
        """
        try:
            # One generator writes all claims: a signature names one, and scores by two are not
            # comparable.
            claims = self.model.generate(diffs)
        except _FAILURES as exc:
            self.failure = str(exc)
        else:
            self.failure = None
            return claims
        note = f"The claims are structural, as the configured model wrote none: {self.failure}."
        return tuple(
            replace(claims, notes=(note, *claims.notes)) for claims in self.fallback.generate(diffs)
        )


def create(options: ModelOptions) -> ClaimGenerator:
    """Create a generator: the configured model with its fallback; without a model, `structural`."""
    fallback: ClaimGenerator = plugins.create("claims", "structural")
    if options.model is None:
        return fallback
    from crscore.claims.model import make_generator  # noqa: PLC0415  (most runs have no model)

    engine = "openai" if options.engine.keys() & {"base_url", "api_key"} else "vllm"
    model = make_generator(engine, options)
    return Auto(model=model, fallback=fallback)
