"""Claims of several generators, without duplicates: `--claims vllm+structural`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from crscore.claims.base import ClaimGenerator
from crscore.records import Claims, Diff, PseudoReference

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DUPLICATE_COSINE: Final = 0.8
"""Cosine from which claims of two generators count as duplicates."""


class Encoder(Protocol):
    """Encoder of texts as unit vectors."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts, shape (N, D), each row of length 1."""
        ...


@dataclass(frozen=True, slots=True)
class Merged:
    """Claim generator that combines other generators."""

    generators: tuple[ClaimGenerator, ...]
    """Generators in order of precedence: duplicates of an earlier generator's claim are dropped."""
    encoder: Encoder
    """Encoder used to compare the claims."""

    @property
    def identity(self) -> str:
        """Identities of all generators, joined by `+`."""
        return "+".join(generator.identity for generator in self.generators)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The identities of the single generators."""
        return tuple(generator.identity for generator in self.generators)

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims of each diff with all generators."""
        by_generator = [generator.generate(diffs) for generator in self.generators]
        return tuple(self._merge(claims) for claims in zip(*by_generator, strict=True))

    def _merge(self, by_generator: tuple[Claims, ...]) -> Claims:
        references: tuple[PseudoReference, ...] = ()
        repeated = 0
        for claims in by_generator:
            fresh = self._fresh(references, claims.references)
            repeated += len(claims.references) - len(fresh)
            references += fresh
        raws = [claims.raw for claims in by_generator if claims.raw is not None]
        notes = [note for claims in by_generator for note in claims.notes]
        if repeated:
            notes.append(f"{repeated} claims that another generator had made were left out.")
        return Claims(references=references, raw="\n\n".join(raws) or None, notes=tuple(notes))

    def _fresh(
        self, existing: Sequence[PseudoReference], candidates: Sequence[PseudoReference]
    ) -> tuple[PseudoReference, ...]:
        if not existing or not candidates:
            return tuple(candidates)
        texts = [reference.encoded_text for reference in (*existing, *candidates)]
        vectors = self.encoder.encode(texts)
        likeness = vectors[len(existing) :] @ vectors[: len(existing)].T
        is_new = likeness.max(axis=1) < DUPLICATE_COSINE
        return tuple(reference for reference, new in zip(candidates, is_new, strict=True) if new)
