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

SAME: Final = 0.8
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
        return "+".join(one.identity for one in self.generators)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The identities of the single generators."""
        return tuple(one.identity for one in self.generators)

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims of each diff with all generators."""
        by_generator = [one.generate(diffs) for one in self.generators]
        return tuple(self._merge(claims) for claims in zip(*by_generator, strict=True))

    def _merge(self, several: tuple[Claims, ...]) -> Claims:
        kept: tuple[PseudoReference, ...] = ()
        repeated = 0
        for claims in several:
            fresh = self._fresh(kept, claims.references)
            repeated += len(claims.references) - len(fresh)
            kept += fresh
        raws = [claims.raw for claims in several if claims.raw is not None]
        notes = [note for claims in several for note in claims.notes]
        if repeated:
            notes.append(f"{repeated} claims that another generator had made were left out.")
        unread = {at for claims in several for at in claims.unread}
        return Claims(
            references=kept,
            raw="\n\n".join(raws) or None,
            notes=tuple(notes),
            unread=tuple(sorted(unread)),
        )

    def _fresh(
        self, kept: Sequence[PseudoReference], more: Sequence[PseudoReference]
    ) -> tuple[PseudoReference, ...]:
        if not kept or not more:
            return tuple(more)
        texts = [one.reading or one.text for one in (*kept, *more)]
        vectors = self.encoder.encode(texts)
        likeness = vectors[len(kept) :] @ vectors[: len(kept)].T
        is_new = likeness.max(axis=1) < SAME
        return tuple(one for one, new in zip(more, is_new, strict=True) if new)
