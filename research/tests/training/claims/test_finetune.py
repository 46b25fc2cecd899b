"""Fine-tuning of a tiny model with random weights, by trl."""

from __future__ import annotations

import json

import pytest
import torch
from transformers import AutoModelForCausalLM

from crscore.errors import GenerationError, InputError
from crscore_lab.training.claims import finetune
from crscore_lab.training.claims.finetune import FineTuning
from tests.helpers import claim_rows

# The libraries use names that the others deprecate.
pytestmark = [pytest.mark.research, pytest.mark.filterwarnings("ignore")]

QUICK = FineTuning(epochs=1, batch=4, eval_steps=4, learning_rate=1e-2, max_length=2048)
LONGER = FineTuning(epochs=6, batch=4, eval_steps=12, learning_rate=1e-2, max_length=2048)


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    return claim_rows.write(path, claim_rows.rows(24))


def train(data, base, out, settings=QUICK, **changed):
    options = {"offline": True, "report": lambda line: None} | changed
    return finetune.fine_tune(data, str(base), settings, out=out, **options)


@pytest.fixture(scope="module")
def trained(data, base, tmp_path_factory):
    out = tmp_path_factory.mktemp("trained") / "out"
    return out, train(data, base, out, LONGER)


def test_loss_falls_on_held_out_changes(trained):
    losses = trained[1]["losses"]
    assert losses["before"] > 6.0  # ln(1000) = 6.9 for a model that knows nothing
    assert losses["after"] < losses["before"] / 2
    assert losses["after"] == min(losses["history"].values())


def test_folder_has_the_adapter_and_its_record_without_pickles(trained):
    out, record = trained
    names = {file.name for file in out.iterdir()}
    assert {"adapter_model.safetensors", "adapter_config.json", "training.json"} <= names
    assert "checkpoints" not in names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pth"))]
    written = json.loads((out / "training.json").read_text())
    assert written["prompt"] == record["prompt"]
    assert written["prompt"]["form"] == "json"
    assert written["counts"]["train"] + written["counts"]["held_out"] == 24
    assert {"crscore", "torch", "trl", "peft"} <= written["versions"].keys()


def test_finished_run_is_not_repeated(trained, data, base):
    lines = []
    again = train(data, base, trained[0], LONGER, report=lines.append)
    assert again["losses"]["after"] == trained[1]["losses"]["after"]
    assert lines == []


def test_other_settings_do_not_overwrite_a_run(trained, data, base):
    with pytest.raises(InputError, match="other rows, settings or base model"):
        train(data, base, trained[0], QUICK)


def test_interrupted_run_resumes_at_its_checkpoint(data, base, tmp_path):
    def interrupt(line):
        if line.startswith("step 8/") and "eval_loss" in line:
            raise KeyboardInterrupt

    settings = FineTuning(epochs=3, batch=4, eval_steps=4, learning_rate=1e-2, max_length=2048)
    with pytest.raises(KeyboardInterrupt):
        train(data, base, tmp_path / "out", settings, report=interrupt)
    lines = []
    record = train(data, base, tmp_path / "out", settings, report=lines.append)
    steps = [int(line.split("/")[0].split()[1]) for line in lines if line.startswith("step")]
    assert min(steps) >= 4
    assert record["losses"]["before"] > 6.0
    assert record["losses"]["steps"] == max(steps)


def test_all_weights_can_be_trained(data, base, tmp_path):
    settings = FineTuning(full=True, epochs=1, batch=8, learning_rate=1e-3, max_length=2048)
    record = train(data, base, tmp_path / "out", settings)
    AutoModelForCausalLM.from_pretrained(tmp_path / "out", dtype=torch.float32)
    assert record["losses"]["after"] < record["losses"]["before"]


def test_losses_are_none_without_held_out_rows(data, base, tmp_path):
    settings = FineTuning(epochs=1, batch=12, val_split=0.0, max_length=2048)
    losses = train(data, base, tmp_path / "out", settings)["losses"]
    assert (losses["before"], losses["after"], losses["steps"]) == (None, None, 2)


def test_rows_that_do_not_fit_are_left_out(base, tmp_path):
    long = claim_rows.rows(1)[0] | {"claims": ["`retries` " * 800]}
    hunk = "@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    two_files = "".join(f"--- a/{name}\n+++ b/{name}\n{hunk}" for name in "xy")
    rows = [*claim_rows.rows(9)[2:], long, {"patch": two_files, "claims": ["x."]}]
    path = claim_rows.write(tmp_path / "rows.jsonl", rows)
    counts = train(path, base, tmp_path / "out")["counts"]
    assert counts["rows"] == 9
    assert counts["train"] + counts["held_out"] == 7


def test_run_without_usable_rows_is_an_error(data, base, tmp_path):
    with pytest.raises(InputError, match="more than 20 tokens"):
        train(data, base, tmp_path / "out", FineTuning(max_length=20))


def test_duplicates_of_a_change_are_on_one_side_of_the_split():
    groups = [str(index // 2) for index in range(40)]
    held_out = finetune._hold_out(groups, FineTuning(val_split=0.3))
    assert len(held_out) == 12
    assert {groups[index] for index in held_out}.isdisjoint(
        groups[index] for index in range(40) if index not in held_out
    )


def test_pickled_weights_are_not_loaded(data, base, tmp_path):
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    for file in base.iterdir():
        if file.suffix != ".safetensors":
            (pickled / file.name).write_bytes(file.read_bytes())
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(GenerationError, match="safetensors"):
        train(data, pickled, tmp_path / "out")


def test_folder_with_other_files_is_refused(data, base, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        train(data, base, tmp_path)
