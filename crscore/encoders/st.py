"""Encodes texts with any sentence-transformers model, and with the published pooling.

`mixedbread-ai/mxbai-embed-large-v1`, the published metric's model, is the default. Tested with
sentence-transformers 6.2, transformers 5.23 and torch 2.13. No code from a model's repository or
folder is run: because `trust_remote_code` is off, the library, from version 6 on, rejects a folder
that refers to custom code. Weights are read from safetensors only, because other formats can
contain code. No prompt is added to a text.
"""

import functools
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders._pooling import ignored_ids, kept_tokens, pool
from crscore.encoders.base import Encoder
from crscore.errors import ConfigError, DependencyError, EncodingError, requires
from crscore.llm import model_files
from crscore.text import replace_surrogates

PUBLISHED_MODEL = "mixedbread-ai/mxbai-embed-large-v1"
# A branch can move to other weights; a commit cannot.
PINNED = {PUBLISHED_MODEL: "db9d1fe0f31addb4978201b2bf3e577f3f8900d2"}
"""Model -> default commit; other models default to the branch `main`."""

# This is the default of sentence-transformers.
BATCH_SIZE = 32
INSTALL_COMMAND = "pip install 'crscore[st]'"


class SentenceTransformers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """sentence-transformers encoder. Equal encoders share a model, loaded for the first text."""

    model: str = PUBLISHED_MODEL
    """Name on the Hugging Face hub, or a folder."""
    revision: str | None = None
    """Commit, branch or tag on the hub; None for a folder. `create` sets it for a name."""
    offline: bool = False
    """Use only models that are on this disk."""
    device: str | None = None
    """Device (`cpu`, `cuda`, ...); None for the library's choice."""

    @property
    def identity(self) -> str:
        """Model and revision; for a folder its name and a hash of its files.

        A branch or tag can move: only a commit or a folder identifies the vectors permanently.

        Raises:
            ModelNotFoundError: The folder does not exist.
            GenerationError: The folder has no safetensors files.
        """
        if self.revision is not None:
            return f"st:{self.model}@{self.revision}"
        folder = Path(self.model).resolve()
        return f"st:{folder.name}@{model_files.fingerprint(folder)}"

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts.

        Args:
            texts: Any number of texts; each is cut at the model's own limit.

        Returns:
            Float32, shape (N, D), rows of length 1, in the order of `texts`; D is the
            width of the model's token vectors, even if N is 0.

        Raises:
            DependencyError: sentence-transformers is not installed.
            ModelNotFoundError: The model is not available and cannot, or may not, be downloaded.
            EncodingError: The library cannot load the model.
        """
        model, ignored = _load(self)
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        vectors = np.zeros((len(texts), model[0].auto_model.config.hidden_size), dtype=np.float32)
        for start in range(0, len(order), BATCH_SIZE):
            batch = order[start : start + BATCH_SIZE]
            vectors[batch] = _encode_batch(
                model, ignored, [replace_surrogates(texts[i]) for i in batch]
            )
        return vectors


def create(options: SentenceTransformers) -> Encoder:
    """Create the encoder. A model of the hub without a revision gets a default one.

    Raises:
        ConfigError: A folder is given together with a revision.
    """
    model, revision = options.model, options.revision
    if not Path(model).is_dir():
        revision = revision or PINNED.get(model, "main")
    elif revision is not None:
        raise ConfigError("revision", "encoder st", f"the folder {model} has no revisions")
    return msgspec.structs.replace(options, revision=revision)


def missing() -> str | None:
    """Describe the missing dependency and how to install it; return None if none is missing."""
    if importlib.util.find_spec("sentence_transformers"):
        return None
    return f"sentence-transformers is not installed; {INSTALL_COMMAND}"


@functools.cache
def _load(options: SentenceTransformers) -> tuple[Any, npt.NDArray[np.bool_]]:
    """Return the model, and the mask of the token ids that are left out of the mean."""
    with requires("sentence-transformers", INSTALL_COMMAND):
        from sentence_transformers import SentenceTransformer, __version__  # noqa: PLC0415
    # Older versions run the code of a folder even without `trust_remote_code`.
    if int(__version__.partition(".")[0]) < 6:
        raise DependencyError("sentence-transformers 6", INSTALL_COMMAND)
    name, revision = options.model, options.revision
    folder = (
        Path(name)
        if revision is None
        else model_files.find_on_hub(name, revision, offline=options.offline)
    )
    try:
        model = SentenceTransformer(
            str(folder),
            device=options.device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as exc:
        raise EncodingError(f"sentence-transformers cannot load {name}: {exc}") from exc
    # Half-precision weights are converted to single precision, which is exact and faster on CPUs.
    model = model.float().eval()
    return model, ignored_ids(model.tokenizer.get_vocab())


def _encode_batch(
    model: Any, ignored: npt.NDArray[np.bool_], texts: list[str]
) -> npt.NDArray[np.float32]:
    """Encode the texts of one batch."""
    import torch  # noqa: PLC0415

    features = {
        name: value.to(model.device) if isinstance(value, torch.Tensor) else value
        for name, value in model.preprocess(texts).items()
    }
    with torch.inference_mode():
        hidden = model[0](dict(features))["token_embeddings"].cpu().numpy()
    ids = features["input_ids"].cpu().numpy()
    present = features["attention_mask"].cpu().numpy().astype(np.bool_)
    # Not `all_special_ids`, because these include the token of unknown words.
    names = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id")
    special = [getattr(model.tokenizer, name, None) for name in names]
    marker = np.isin(ids, [token for token in special if token is not None])
    return pool(hidden, kept_tokens(ids, present, marker, ignored))
