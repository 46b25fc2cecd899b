"""A real RoBERTa with its tokenizer, small enough to make in a test: random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = 3
WIDTH = 16
MAX_TOKENS = 20


def save_tiny_roberta(folder: Path) -> Path:
    """Write the model: 3 layers of width 16, read 20 tokens at a time; a token is a byte.

    Args:
        folder: Where to write; made if needed.

    Returns:
        The folder.
    """
    # Imported here: only the tests that make a model pay for these.
    import torch  # noqa: PLC0415
    from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: PLC0415
    from transformers import (  # noqa: PLC0415
        PreTrainedTokenizerFast,
        RobertaConfig,
        RobertaModel,
    )

    torch.manual_seed(0)
    special = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: at for at, piece in enumerate((*special, *alphabet))}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=MAX_TOKENS,
    ).save_pretrained(folder)
    config = RobertaConfig(
        vocab_size=len(vocabulary),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=MAX_TOKENS + 2,
        pad_token_id=1,
        initializer_range=0.5,
    )
    RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder
