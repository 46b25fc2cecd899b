"""A fine-tuned adapter in the real vLLM: what it learned, it answers.

Runs in the virtual environment that scripts/install-test-llm.sh makes: `make nightly-models`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.helpers import claim_rows, tiny_llm

if TYPE_CHECKING:
    from pathlib import Path

# vLLM and what it imports warn of each other's old ways; none of it is ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = 36
# In processes of their own: what trains and what serves do not share a process elsewhere either.
TRAIN = """
import sys
import torch
from crscore import cli
torch.set_num_threads(1)
sys.exit(cli.run(sys.argv[1:]))
"""
SERVE = """
import json, sys
from crscore.claims.model import make_generator
from crscore.claims.model_options import ModelOptions
from crscore.diff.parse import parse_diff
base, lora, *patches = sys.argv[1:]
# As trained: of weights that are noise, rounding makes other noise.
engine = {"model": base, "offline": True, "dtype": "float32"}
options = {"form": "json", "few_shots": False}
tuned = make_generator("vllm", ModelOptions(engine=engine | {"lora": lora}, **options))
diffs = [parse_diff(patch) for patch in patches]
without = make_generator("vllm", ModelOptions(engine=engine, **options))
print(json.dumps({
    "identity": tuned.identity,
    "claims": [[ref.text for ref in answer.references] for answer in tuned.generate(diffs)],
    "raw": [answer.raw for answer in tuned.generate(diffs)],
    "without": [answer.raw for answer in without.generate(diffs)],
}))
"""


def _run(program: str, *arguments: object) -> str:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("trained")
    base = tiny_llm.make(folder / "tiny", context=2048)
    rows = claim_rows.write(folder / "rows.jsonl", claim_rows.rows(ROWS))
    out = folder / "adapter"
    _run(
        TRAIN, "train", "claims", rows, "--model", base, "-o", out, "--offline",
        "--epochs", 14, "--batch", 4, "--learning-rate", 0.01, "--eval-steps", 28,
        "--max-length", 2048,
    )  # fmt: skip
    return base, out


@pytest.fixture(scope="module")
def served(trained: tuple[Path, Path]) -> dict[str, Any]:
    patches = [row["patch"] for row in claim_rows.rows(9)]
    answers: dict[str, Any] = json.loads(_run(SERVE, *trained, *patches).splitlines()[-1])
    return answers


def test_the_loss_fell(trained: tuple[Path, Path]) -> None:
    losses = json.loads((trained[1] / "training.json").read_text())["losses"]
    assert losses["after"] < losses["before"] / 4, losses


def test_adapter_answers_in_vllm_as_trained(served: dict[str, Any]) -> None:
    # All weights but the adapter's are noise, so some answers are, too.
    assert sum("is raised." in raw for raw in served["raw"]) >= 5, served["raw"]


def test_the_base_model_alone_does_not(served: dict[str, Any]) -> None:
    assert not any("is raised." in (raw or "") for raw in served["without"])


def test_claims_about_the_change_come_out(served: dict[str, Any]) -> None:
    assert any(served["claims"]), served["raw"]


def test_the_adapter_is_part_of_the_identity(served: dict[str, Any]) -> None:
    assert "lora:adapter@" in served["identity"]
