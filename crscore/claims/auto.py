"""Claims by the configured model, else by syntax trees: `--claims auto`, the default.

The model is asked at the server of `OPENAI_BASE_URL`, or at OpenAI's own with `OPENAI_API_KEY`
alone; without either, vLLM runs it. Where no
model is configured this is `structural` and nothing else. Where one is and fails, it is
`structural` too, and the result says so in its notes and by its signature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from crscore import plugins
from crscore.claims.llm.options import Options  # noqa: TC001  (part of the plugin)
from crscore.errors import DependencyError, EncodingError, GenerationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.claims.base import ClaimGenerator
    from crscore.records import Claims, Diff


_FAILURES: Final = (DependencyError, EncodingError, GenerationError)
"""Errors that make the fallback write: no package, no model, or one that cannot answer."""


@dataclass(slots=True)
class Auto:
    """A model, and the generator that takes its place when it fails."""

    model: ClaimGenerator
    """The configured one."""
    fallback: ClaimGenerator
    """The one that needs no model."""
    failure: str | None = None
    """Why the model did not write the claims; None as long as it did."""

    @property
    def identity(self) -> str:
        """That of whoever wrote the claims last; before the first run, the model's.

        A model that cannot even be named, because it is not there, has failed already.
        """
        if self.failure is None:
            try:
                return self.model.identity
            except _FAILURES as exc:
                self.failure = str(exc)
        return self.fallback.identity

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Let the model write the claims; all of them by the fallback when it cannot.

        Never a part by one and a part by the other: the claims of a run are of one kind.
        """
        try:
            found = self.model.generate(diffs)
        except _FAILURES as exc:
            self.failure = str(exc)
        else:
            self.failure = None
            return found
        note = f"The claims are structural, as the configured model wrote none: {self.failure}."
        return tuple(
            replace(claims, notes=(note, *claims.notes)) for claims in self.fallback.generate(diffs)
        )


def create(options: Options) -> ClaimGenerator:
    """Make the generator that the settings call for."""
    fallback: ClaimGenerator = plugins.create("claims", "structural")
    if not options.has_model:
        return fallback
    from crscore.claims.llm.factory import make_generator  # noqa: PLC0415  (most runs have no model)

    engine = "openai" if options.base_url or options.api_key else "vllm"
    return Auto(model=make_generator(engine, options), fallback=fallback)
