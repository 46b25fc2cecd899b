"""Loads encoders from the Hugging Face hub; tested with transformers 5.23 and torch 2.13.

Code that a model's repository contains is not run (`trust_remote_code` is off).
"""

import functools
from typing import Any, Final

from crscore.errors import DependencyError, EncodingError, ModelNotFoundError, requires

INSTALL: Final = "pip install 'crscore[codebert]'"


@functools.cache
def load_model(name: str) -> tuple[Any, Any]:
    """Load the tokenizer and the model of an encoder; the pair is cached.

    Args:
        name: Name of the model on the hub, or its folder.

    Raises:
        DependencyError: PyTorch or transformers is not installed.
        ModelNotFoundError: The model is not on this machine and could not be downloaded.
        EncodingError: The model cannot be loaded.
    """
    with requires("transformers", INSTALL):
        from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415
    try:
        # A model of the hub can contain Python code, which `trust_remote_code=True` would run:
        # https://huggingface.co/docs/transformers/custom_models
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
        model = AutoModel.from_pretrained(name, trust_remote_code=False)
    except ImportError as exc:
        raise DependencyError("torch", INSTALL) from exc
    except OSError as exc:
        raise ModelNotFoundError(name, f"hf download {name}") from exc
    except (ValueError, KeyError, RuntimeError) as exc:
        raise EncodingError(f"transformers cannot load {name}: {exc}") from exc
    return tokenizer, model.float().eval()


def max_tokens(tokenizer: Any, model: Any) -> int:
    """Return the maximum number of tokens that a model reads at once."""
    # RoBERTa's positions begin after that of the padding token, so 512 of 514 are left for tokens.
    # A tokenizer without a limit reports a huge number.
    return int(min(tokenizer.model_max_length, model.config.max_position_embeddings - 2))
