"""Tokens of code by any encoder of the Hugging Face hub.

PyTorch and transformers are imported at the first text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.code.hugging_face import LoadedModel, load_model
from crscore.code.metrics.codebertscore.tokens import Text, Tokens, encode_windows
from crscore.errors import ConfigError, EncodingError

GENERAL_MODEL: Final = "microsoft/codebert-base-mlm"
"""Model for every language without its own."""
MODELS: Final[Mapping[str, str]] = {
    "python": "neulab/codebert-python",
    "java": "neulab/codebert-java",
    "javascript": "neulab/codebert-javascript",
    "c": "neulab/codebert-c",
    "cpp": "neulab/codebert-cpp",
}
"""Published model by language, as in `ChangedFile.language`."""
LAYERS: Final[Mapping[str, int]] = {
    "neulab/codebert-python": 9,
    "neulab/codebert-java": 7,
    "neulab/codebert-javascript": 11,
    "neulab/codebert-c": 10,
    "neulab/codebert-cpp": 10,
    GENERAL_MODEL: 7,
}
"""Layer by model: the paper's for HumanEval, that of C++ for C, and that of CoNaLa (7) for the
general model. Every other model's default is its last layer."""
_BATCH: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class HuggingFaceSource:
    """One layer of a model; the model loads at the first text and is shared."""

    model: str
    """Name on the hub, or a folder."""
    revision: str | None = None
    """Commit, branch or tag of the hub; None for the branch `main`, or a folder."""
    layer: int | None = None
    """Layer whose vectors are taken, 0 for the embeddings; None for the default."""
    offline: bool = False
    """Use only the hub's cache."""
    device: str = "cpu"
    """PyTorch's device to compute on."""

    @property
    def identity(self) -> str:
        """Model, revision and layer; a branch or tag can move, as can a folder's files."""
        place = Path(self.model).name if Path(self.model).is_dir() else self.model
        layer = LAYERS.get(self.model) if self.layer is None else self.layer
        return f"hf:{place}@{self.revision or 'main'}#{'last' if layer is None else layer}"

    def tokens(self, texts: Sequence[Text]) -> list[Tokens]:
        """Return the tokens of the code of each text.

        Raises:
            ConfigError: The model has no such layer.
            DependencyError: PyTorch or transformers is not installed.
            ModelNotFoundError: The model is not available and cannot, or may not, be downloaded.
            EncodingError: The model cannot be loaded, or its tokenizer has no fast version.
        """
        loaded = load_model(
            self.model, revision=self.revision, offline=self.offline, device=self.device
        )
        if not loaded.tokenizer.is_fast:
            raise EncodingError(f"the tokenizer of {self.model} has no positions of its tokens")
        layer = LAYERS.get(self.model, loaded.layers) if self.layer is None else self.layer
        if layer > loaded.layers:
            raise ConfigError("layer", "metric codebertscore", f"0 to {loaded.layers}")
        tokenized = [_tokenize(loaded.tokenizer, text) for text in texts]
        encoded = encode_windows(
            [text.ids for text in tokenized],
            loaded.max_tokens,
            lambda rows: _encode(loaded, rows, layer),
        )
        return [_tokens(text, vectors) for text, vectors in zip(tokenized, encoded, strict=True)]


class _Tokenized(NamedTuple):
    """Text whose L tokens are those of the context, of the code, and special ones."""

    ids: list[int]
    """Id of each token."""
    spelled: list[str]
    """Each as written."""
    marker: npt.NDArray[np.bool_]
    """Shape (L,): True at special tokens."""
    compared: npt.NDArray[np.bool_]
    """Shape (L,): False at the tokens of the context."""


def _tokenize(tokenizer: Any, text: Text) -> _Tokenized:
    # No tokenizer accepts lone surrogates.
    context, code = (part.encode("utf-8", "replace").decode() for part in text)
    context = context.strip()
    whole = f"{context} \n{code}".strip() if context else code.strip()
    # Context and code are separated by a blank and a line end.
    begin = len(context) + 2 if context else 0
    encoding = tokenizer(
        whole,
        return_offsets_mapping=True,
        return_special_tokens_mask=True,
        truncation=False,
        verbose=False,
    )
    offsets = encoding["offset_mapping"]
    special = np.array(encoding["special_tokens_mask"], dtype=np.bool_)
    in_code = np.array([end > begin for _, end in offsets], dtype=np.bool_)
    return _Tokenized(
        ids=encoding["input_ids"],
        # A token may begin with the white space before its word, and so in the context.
        spelled=[whole[max(start, begin) : end].strip() for start, end in offsets],
        marker=special,
        compared=special | in_code,
    )


def _encode(
    loaded: LoadedModel, rows: Sequence[Sequence[int]], layer: int
) -> list[npt.NDArray[np.float32]]:
    import torch  # noqa: PLC0415

    vectors: list[npt.NDArray[np.float32]] = [np.zeros((0, 0), np.float32)] * len(rows)
    # By length, so that the rows of a batch need little padding.
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        shape = (len(batch), len(rows[batch[0]]))
        ids = torch.full(shape, loaded.tokenizer.pad_token_id or 0)
        present = torch.zeros(shape, dtype=torch.long)
        for line, index in enumerate(batch):
            ids[line, : len(rows[index])] = torch.tensor(rows[index])
            present[line, : len(rows[index])] = 1
        ids, present = ids.to(loaded.model.device), present.to(loaded.model.device)
        with torch.inference_mode():
            states = loaded.model(ids, attention_mask=present, output_hidden_states=True)
        hidden = states.hidden_states[layer].cpu().numpy()
        for line, index in enumerate(batch):
            # Padding is cut off here, so that no batch can change a score.
            vectors[index] = hidden[line, : len(rows[index])]
    return vectors


def _tokens(text: _Tokenized, vectors: npt.NDArray[np.float32]) -> Tokens:
    ids = np.array(text.ids, dtype=np.int64)
    return Tokens(ids, tuple(text.spelled), text.marker, vectors).keep(text.compared)
