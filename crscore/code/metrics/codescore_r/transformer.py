"""Vectors of sketches by an encoder of Hugging Face; the only part that needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crscore.errors import DependencyError

BATCH = 16
MAX_TOKENS = 512


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transformer:
    """Encoder with its tokenizer."""

    model: Any
    tokenizer: Any
    name: str
    """Name or folder."""
    extraction: str
    """`last-avg`, `first-last-avg`, `cls` or `cls-relu`."""

    @property
    def fingerprint(self) -> str:
        """Name, the commit where it comes from the hub, and extraction."""
        commit = getattr(self.model.config, "_commit_hash", None)
        return f"{self.name}{'@' + commit[:8] if commit else ''}:{self.extraction}"

    def vectors(self, sketches: Sequence[tuple[str, str]]) -> npt.NDArray[np.float32]:
        """Encode sketches, cut at the model's length, as rows of length 1 (0 for a zero vector)."""
        import torch  # noqa: PLC0415

        rows = []
        with torch.inference_mode():
            for start in range(0, len(sketches), BATCH):
                texts = [code for code, _ in sketches[start : start + BATCH]]
                rows.append(extract(self.model, encoded(self.tokenizer, texts), self.extraction))
            normed = torch.nn.functional.normalize(torch.cat(rows), dim=1)
        found: npt.NDArray[np.float32] = normed.float().numpy()
        return found

    def similarity(
        self, left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Return the cosines of rows, pair by pair; negative ones are 0."""
        cosines: npt.NDArray[np.float32] = np.clip((left * right).sum(axis=1), 0.0, 1.0)
        return cosines


def encoded(tokenizer: Any, texts: Sequence[str]) -> Any:
    """Turn texts into padded tensors."""
    longest = min(tokenizer.model_max_length, MAX_TOKENS)
    return tokenizer(
        list(texts), padding=True, truncation=True, max_length=longest, return_tensors="pt"
    )


def extract(model: Any, batch: Any, extraction: str) -> Any:
    """Return one vector a text, shape (N, width)."""
    states = model(**batch, output_hidden_states=True).hidden_states
    if extraction in ("cls", "cls-relu"):
        first = states[-1][:, 0]
        return first.relu() if extraction == "cls-relu" else first
    layer = states[-1] if extraction == "last-avg" else (states[0] + states[-1]) / 2
    mask = batch["attention_mask"].unsqueeze(-1)
    return (layer * mask).sum(dim=1) / mask.sum(dim=1)


def load(name: str, extraction: str) -> Transformer:
    """Load an encoder.

    Raises:
        DependencyError: PyTorch or transformers is not installed.
    """
    try:
        from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415
    except ImportError as exc:
        raise DependencyError("transformers", "pip install transformers torch") from exc
    model = AutoModel.from_pretrained(name).eval()
    tokenizer = AutoTokenizer.from_pretrained(name)
    return Transformer(model=model, tokenizer=tokenizer, name=name, extraction=extraction)
