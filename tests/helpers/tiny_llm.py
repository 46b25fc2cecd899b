"""A causal language model small enough to make in a test: Llama's shape, random weights.

Its tokenizer is a byte-level BPE trained on two prompts and on training rows, which change never or
rarely: another tokenizer makes another model of the same seed. With its chat template everything
that loads real models loads this one: vLLM, transformers, peft.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.helpers import claim_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

VOCABULARY = 1000
WIDTH = 64
LAYERS = 2
CONTEXT = 1024
"""Most tokens of a chat and its answer together."""
BEGIN, END, TURN, PAD = "<s>", "</s>", "<|turn|>", "<pad>"
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}"
    "<|turn|>{{ message['role'] }}\n{{ message['content'] }}</s>\n"
    "{% endfor %}{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
)
ADAPTED = ("q_proj", "v_proj")
"""The parts of each layer that an adapter changes."""
_PROMPTS = Path(__file__).parents[2] / "prompts"
_TRAINED_ON = ("claims.v1.toml", "judge.v1.toml")
_SCALE = 0.3
"""Spread of the random weights: wide enough that answers differ between chats."""


def make(folder: Path, *, seed: int = 0, context: int = CONTEXT, template: bool = True) -> Path:
    """Write the model: 2 layers of width 64, some 200,000 numbers, below 1 MB.

    Args:
        folder: Where to write; made if needed.
        seed: For the weights.
        context: Most tokens of a chat and its answer together.
        template: Give the tokenizer its chat template.

    Returns:
        The folder.
    """
    # Imported here: only the tests that make a model pay for these.
    import torch  # noqa: PLC0415
    from transformers import LlamaConfig, LlamaForCausalLM  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    _write_tokenizer(folder, context, template=template)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,  # vLLM on the CPU knows no heads narrower than 32
        num_key_value_heads=1,
        max_position_embeddings=context,
        initializer_range=_SCALE,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=3,
        tie_word_embeddings=False,
    )
    model = LlamaForCausalLM(config).to(torch.bfloat16)
    model.generation_config.max_length = None
    model.save_pretrained(folder, safe_serialization=True)
    return folder


def adapter(folder: Path, base: Path, *, seed: int = 1, rank: int = 8) -> Path:
    """Write a LoRA adapter with random weights, in peft's format and without peft.

    Args:
        folder: Where to write; made if needed.
        base: The model it belongs to, as `make` wrote it.
        seed: For the weights.
        rank: Width of the adapter.

    Returns:
        The folder.
    """
    import torch  # noqa: PLC0415
    from safetensors.torch import save_file  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    shape = json.loads((base / "config.json").read_text())
    width, heads = shape["hidden_size"], shape["num_attention_heads"]
    rows = {"q_proj": width, "v_proj": width * shape["num_key_value_heads"] // heads}
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for layer in range(shape["num_hidden_layers"]):
        for part in ADAPTED:
            name = f"base_model.model.model.layers.{layer}.self_attn.{part}"
            down = torch.randn(rank, width, generator=generator)
            up = torch.randn(rows[part], rank, generator=generator)
            weights[f"{name}.lora_A.weight"] = down * _SCALE
            weights[f"{name}.lora_B.weight"] = up * _SCALE
    save_file(weights, folder / "adapter_model.safetensors")
    settings = {
        "base_model_name_or_path": str(base),
        "bias": "none",
        "fan_in_fan_out": False,
        "inference_mode": True,
        "init_lora_weights": True,
        "lora_alpha": 2 * rank,
        "lora_dropout": 0.0,
        "modules_to_save": None,
        "peft_type": "LORA",
        "r": rank,
        "target_modules": list(ADAPTED),
        "task_type": "CAUSAL_LM",
    }
    (folder / "adapter_config.json").write_text(json.dumps(settings, indent=2))
    return folder


def _write_tokenizer(folder: Path, context: int, *, template: bool) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: PLC0415
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trained.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[BEGIN, END, TURN, PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(_texts(), trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained,
        bos_token=BEGIN,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[TURN],
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    if template:
        tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)


def _texts() -> Iterator[str]:
    for name in _TRAINED_ON:
        yield (_PROMPTS / name).read_text(encoding="utf-8")
    yield from map(json.dumps, claim_rows.rows(60))
