from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crscore import cli
from crscore.errors import InputError
from crscore_lab.training.code.examples import CodeRow, make_examples

if TYPE_CHECKING:
    from pathlib import Path

CODE = """def f{0}(values, limit: int):
    total = {0}
    for index in range(len(values)):
        if values[index] > limit:
            total += {0} * values[index] - limit
    return total
"""
ROWS = [CodeRow(code=CODE.format(number), language="python") for number in range(4)]


def test_examples_are_sketches_with_equivalents_and_mutants() -> None:
    first, *others = make_examples(ROWS, seed=0)
    assert len(others) == 3
    assert first.code.startswith("def f(arg_0, arg_1: int):\n    var_0 = 0")
    assert first.code not in first.equivalents + first.mutants
    assert make_examples(ROWS, seed=0)[0] == first
    with pytest.raises(InputError, match="0 functions to learn from"):
        make_examples([CodeRow(code="x = 1", language="python")], seed=0)


def write_rows(folder: Path) -> Path:
    path = folder / "code.jsonl"
    path.write_text(
        "".join(json.dumps({"code": row.code, "language": row.language}) + "\n" for row in ROWS)
    )
    return path


@pytest.mark.research
def test_command_trains_an_encoder(tmp_path: Path) -> None:
    import torch  # noqa: PLC0415
    import transformers  # noqa: PLC0415

    from tests.helpers.tiny_model import PIECES, WIDTH  # noqa: PLC0415

    torch.manual_seed(0)
    start = tmp_path / "start"
    config = transformers.BertConfig(
        vocab_size=len(PIECES),
        hidden_size=WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=512,
    )
    transformers.BertForMaskedLM(config).save_pretrained(start)
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(PIECES) + "\n")
    transformers.BertTokenizerFast(vocab=str(vocabulary)).save_pretrained(start)
    target = tmp_path / "trained"
    data = write_rows(tmp_path)
    assert cli.run(["train", "code", str(data), "-o", str(target), "--model", str(start)]) == 0
    before = transformers.AutoModel.from_pretrained(start).embeddings.word_embeddings.weight
    after = transformers.AutoModel.from_pretrained(target).embeddings.word_embeddings.weight
    assert float((before - after).detach().abs().max()) > 0
