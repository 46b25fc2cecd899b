"""Trains a Hugging Face encoder for CodeScore-R, with ConCE; needs PyTorch.

The loss on sketches is L = L_MLM + L_CL. L_MLM masks 15 % of the tokens of [intent; sketch]: 80 %
of these become the mask, 10 % a random token, and 10 % stay. L_CL is InfoNCE over the positives and
the mutants of a batch. Half of the positives are the same sketch with another dropout, half are
equivalent forms.

Source:
    CodeScore-R, ConCE. The paper does not state temperature, batch size, learning rate and epochs;
    these are SimCSE's.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crscore.code import libraries
from crscore.code.hugging_face import max_tokens
from crscore.code.metrics.codescore_r import extract, tokenize
from crscore_lab.training.code.examples import Example

INSTALL = "pip install transformers torch"
TEMPERATURE = 0.05
BATCH = 16
RATE = 3e-5
MASKED = 0.15


def train_encoder(
    examples: Sequence[Example], *, model: str, folder: Path, epochs: int, seed: int
) -> None:
    """Train an encoder and write it with its tokenizer.

    Args:
        examples: At least two examples.
        model: Folder or name of a model with a head for masked tokens.
        folder: Folder to write to.
        epochs: Number of passes over the examples, at least 1.
        seed: Seed of batches, masks and dropout.

    Raises:
        DependencyError: PyTorch or transformers is not installed.
    """
    torch = libraries.load("torch", "torch", INSTALL)
    transformers = libraries.load("transformers", "transformers", INSTALL)
    torch.manual_seed(seed)
    draw = random.Random(seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model, trust_remote_code=False)
    network = transformers.AutoModelForMaskedLM.from_pretrained(
        model, trust_remote_code=False
    ).train()
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
    for _ in range(epochs):
        order = draw.sample(list(examples), len(examples))
        # A last batch of one example is left out, because it has no other code to contrast with.
        for start in range(0, len(order) - 1, BATCH):
            batch = order[start : start + BATCH]
            loss = _masked_loss(network, tokenizer, batch)
            loss = loss + _contrastive_loss(network.base_model, tokenizer, batch, draw)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _masked_loss(network: Any, tokenizer: Any, batch: Sequence[Example]) -> Any:
    from transformers import DataCollatorForLanguageModeling  # noqa: PLC0415

    texts = [f"{example.intent}\n{example.code}".strip() for example in batch]
    ids = tokenize(tokenizer, texts, max_tokens(tokenizer, network))["input_ids"]
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=True, mlm_probability=MASKED)
    rows = collator([{"input_ids": row} for row in ids])
    if not bool((rows["labels"] >= 0).any()):  # a small batch may have no masked token
        return 0.0
    return network(
        input_ids=rows["input_ids"],
        attention_mask=(ids != tokenizer.pad_token_id).long(),
        labels=rows["labels"],
    ).loss


def _contrastive_loss(
    encoder: Any, tokenizer: Any, batch: Sequence[Example], draw: random.Random
) -> Any:
    import torch  # noqa: PLC0415

    def encode(texts: Sequence[str]) -> Any:
        tokens = tokenize(tokenizer, texts, max_tokens(tokenizer, encoder))
        return torch.nn.functional.normalize(extract(encoder, tokens), dim=1)

    codes = encode([example.code for example in batch])
    # Half of the positives are the code itself, whose vector differs by dropout.
    positives = encode(
        [
            example.code if draw.random() < 0.5 else draw.choice(example.equivalents)
            for example in batch
        ]
    )
    negatives = encode([draw.choice(example.mutants) for example in batch])
    logits = codes @ torch.cat([positives, negatives]).T / TEMPERATURE
    return torch.nn.functional.cross_entropy(logits, torch.arange(len(batch)))
