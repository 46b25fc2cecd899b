"""A real sentence-transformers model, small enough to make in a test: random weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("the", "not", "is", "loop", "null", "check", "variable", "rename", "test", "add", "un")
TAILS = ("##t", "##ing", "##s")
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", "?", "t", *WORDS, *TAILS)
WIDTH = 16
MAX_TOKENS = 12


def save_tiny_model(folder: Path, *, seed: int = 0, half: bool = False) -> Path:
    """Write the model: BERT with 2 layers of width 16, cut at 12 tokens.

    Args:
        folder: Where to write; made if needed.
        seed: For the weights.
        half: Store the weights as 16-bit floats.

    Returns:
        The folder.
    """
    # Imported here: only the tests that make a model pay for these.
    import torch  # noqa: PLC0415
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from transformers import BertConfig, BertModel, BertTokenizerFast  # noqa: PLC0415

    torch.manual_seed(seed)
    bert = folder / "bert"
    bert.mkdir(parents=True)
    vocabulary = bert / "vocab.txt"
    vocabulary.write_text("\n".join(PIECES) + "\n")
    BertTokenizerFast(vocab=str(vocabulary), do_lower_case=True).save_pretrained(bert)
    config = BertConfig(
        vocab_size=len(PIECES),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    model = BertModel(config, add_pooling_layer=False)
    (model.half() if half else model).save_pretrained(bert)
    wrapped = SentenceTransformer(str(bert), device="cpu")
    wrapped.max_seq_length = MAX_TOKENS
    wrapped.save(str(folder / "st"))
    return folder / "st"
