import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from crscore.errors import (
    ConfigError,
    DependencyError,
    GenerationError,
    InputError,
    ModelNotFoundError,
)
from crscore.llm import chat_text
from crscore_lab.training.claims import base_model, examples, finetune, rows, sft
from crscore_lab.training.claims.examples import PromptFormat, split_groups
from crscore_lab.training.claims.settings import Lora, Settings
from tests.helpers import claim_rows

# The libraries use names that the others deprecate.
pytestmark = [pytest.mark.research, pytest.mark.filterwarnings("ignore::FutureWarning")]

QUICK = Settings(epochs=1, batch=4, eval_steps=4, rate=1e-2)
LONGER = Settings(epochs=14, batch=4, eval_steps=21, rate=1e-2, lora=Lora(dropout=0.0))


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    return rows.read_rows(claim_rows.write(path, claim_rows.rows(36)))


def _train(data, base, prompt_format, out, settings=QUICK, **changes):
    source = changes.pop("source", base_model.ModelSource(name=str(base), offline=True))
    return finetune.train(
        data,
        source,
        settings,
        out=out,
        prompt_format=prompt_format,
        report=changes.pop("report", _silent),
        **changes,
    )


def _silent(line):
    pass


@pytest.fixture(scope="module")
def trained(data, base, prompt_format, tmp_path_factory):
    out = tmp_path_factory.mktemp("trained") / "out"
    return out, _train(data, base, prompt_format, out, LONGER)


def _loaded(base, out):
    bare = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    return PeftModel.from_pretrained(bare, out).eval()


def _loss(loaded, encoded):
    """The loss as the trainer takes it: the mean over rows of one batch after another."""
    losses = []
    for start in range(0, len(encoded), 4):
        batch = encoded[start : start + 4]
        columns = DataCollatorForLanguageModeling(pad_token_id=3)([row.columns() for row in batch])
        with torch.no_grad():
            losses += [loaded(**columns).loss.item()] * len(batch)
    return sum(losses) / len(losses)


def _encoded(data, base, prompt_format, seed=42):
    template = examples.ChatTemplate(AutoTokenizer.from_pretrained(base))
    return [
        template.encode(prompt_format.chat(row, seed=seed), prompt_format.answer(row))
        for row in data.rows
    ]


def test_the_loss_falls_on_changes_that_were_held_out(trained):
    losses = trained[1].record["losses"]
    assert losses["after"] < losses["before"] / 4
    assert losses["before"] > 6.0  # ln(1000) = 6.9 for a model that knows nothing


def test_the_folder_holds_the_weights_of_the_best_checkpoint(trained, data, base, prompt_format):
    out, done = trained
    sides = split_groups([row.group for row in data.rows], share=0.1, seed=42)
    held_out = [_encoded(data, base, prompt_format)[at] for at in sides.held_out]
    losses = done.record["losses"]
    measured = {
        entry["step"]: entry["eval_loss"] for entry in losses["history"] if "eval_loss" in entry
    }
    assert losses["best_step"] == min(measured, key=measured.get)
    assert _loss(_loaded(base, out), held_out) == pytest.approx(losses["after"], rel=1e-4)


def _said(loaded, tokenizer, chat):
    asked = torch.tensor([chat_text.tokenize_chat(tokenizer, chat)])
    tokens = loaded.generate(
        input_ids=asked, attention_mask=torch.ones_like(asked), max_new_tokens=60, do_sample=False
    )
    return tokenizer.decode(tokens[0][asked.shape[1] :], skip_special_tokens=True)


def test_the_adapter_generates_in_transformers_what_it_was_taught(
    trained, data, base, prompt_format
):
    out, _ = trained
    tokenizer, loaded = AutoTokenizer.from_pretrained(out), _loaded(base, out)
    pairs = [
        (prompt_format.chat(row, seed=42), prompt_format.answer(row)) for row in data.rows[:12]
    ]
    right = sum(_said(loaded, tokenizer, chat) == answer for chat, answer in pairs)
    assert right >= 3  # all weights but the adapter's are noise: half of them was seen
    with loaded.disable_adapter():
        assert not any(_said(loaded, tokenizer, chat) == answer for chat, answer in pairs)


def test_the_folder_holds_no_pickle_and_no_checkpoint(trained):
    out, _ = trained
    names = {file.name for file in out.iterdir()}
    assert {
        "adapter_model.safetensors",
        "adapter_config.json",
        "README.md",
        "training.json",
    } <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pth"))]
    assert "checkpoints" not in names
    assert (out / "adapter_model.safetensors").stat().st_mode & 0o044 == 0o044


def test_the_record_says_what_the_weights_came_from(trained, data, base, prompt_format):
    out, done = trained
    kept = json.loads((out / "training.json").read_text())
    assert kept == done.record
    assert kept["data"]["sha256"] == data.sha256
    assert kept["data"]["train"] + kept["data"]["held_out"] == 36
    assert kept["prompt"] == {
        "name": "claims.v9",
        "sha256": prompt_format.prompt.sha256,
        "form": "json",
        "few_shots": False,
    }
    assert kept["base"]["model"] == str(base)
    assert kept["settings"]["rate"] == 0.01
    assert {"crscore", "torch", "transformers", "peft"} <= kept["versions"].keys()


def test_the_card_tells_people_how_to_ask_it(trained, data):
    text = (trained[0] / "README.md").read_text()
    assert text.startswith("---\nbase_model: ")
    assert data.sha256 in text
    assert "`claims.v9`" in text
    assert "--lora THIS_FOLDER" in text
    assert "--model-revision" not in text  # a folder has none


def test_the_cards_command_names_the_commit(trained):
    record = trained[1].record
    record = record | {
        "base": {"model": "org/base", "revision": "0" * 40, "identity": "org/base@0"}
    }
    command = f"--claims vllm:org/base --model-revision {'0' * 40} --lora THIS_FOLDER"
    assert command in finetune.render_card(record)


def test_the_models_own_tokens_in_a_change_are_broken(prompt_format, tmp_path):
    patch = "@@ -1 +1 @@\n-a = 1\n+a = '!!turn!!'\n"
    path = claim_rows.write(tmp_path / "rows.jsonl", [claim_rows.rows(1)[0] | {"patch": patch}])
    (row,) = rows.read_rows(path).rows
    whole = prompt_format.chat(row, seed=1)[-1].text
    broken = prompt_format.chat(row, seed=1, special=frozenset({"!!turn!!"}))[-1].text
    assert "'!!turn!!'" in whole
    assert "'! !turn!!'" in broken


def test_training_tells_the_chat_the_models_own_tokens(
    data, base, prompt_format, tmp_path, monkeypatch
):
    special_tokens = set()

    def record(self, row, *, seed, special):
        special_tokens.add(special)
        # Nothing is said: no row is left, which ends the run here.

    monkeypatch.setattr(PromptFormat, "chat", record)
    with pytest.raises(InputError, match="no row is left"):
        _train(data, base, prompt_format, tmp_path / "o")
    assert special_tokens == {frozenset({"<s>", "</s>", "<|turn|>", "<pad>"})}


def test_all_linear_layers_but_the_last_are_named_in_order(trained):
    settings = json.loads((trained[0] / "adapter_config.json").read_text())
    layers = settings["target_modules"]
    assert layers == sorted(layers)
    kinds = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]
    assert sorted({layer.rpartition(".")[2] for layer in layers}) == kinds


def test_a_finished_run_is_not_done_again(trained, data, base, prompt_format):
    out, done = trained
    before = (out / "adapter_model.safetensors").stat().st_mtime_ns
    again = _train(data, base, prompt_format, out, LONGER)
    assert again.already
    assert again.record == done.record
    assert (out / "adapter_model.safetensors").stat().st_mtime_ns == before


def test_a_finished_run_with_other_settings_is_left_alone(trained, data, base, prompt_format):
    with pytest.raises(InputError, match="another finished run"):
        _train(data, base, prompt_format, trained[0], QUICK)


def test_all_weights_can_be_moved(data, base, prompt_format, tmp_path):
    done = _train(
        data, base, prompt_format, tmp_path / "o", Settings(full=True, epochs=1, batch=8, rate=1e-3)
    )
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "o", dtype=torch.float32)
    losses = done.record["losses"]
    assert losses["after"] < losses["before"]
    sides = split_groups([row.group for row in data.rows], share=0.1, seed=42)
    held_out = [_encoded(data, base, prompt_format)[at] for at in sides.held_out]
    assert _loss(loaded.eval(), held_out) == pytest.approx(losses["after"], rel=1e-3)
    assert "lora" not in done.record["settings"]


def test_nothing_is_measured_where_nothing_is_held_out(data, base, prompt_format, tmp_path):
    settings = Settings(epochs=1, batch=18, val_split=0.0)
    done = _train(data, base, prompt_format, tmp_path / "o", settings)
    losses = done.record["losses"]
    assert (losses["before"], losses["after"], losses["best_step"]) == (None, None, None)
    assert losses["steps"] == 2
    assert "nothing was measured" in (tmp_path / "o" / "README.md").read_text()


def test_checkpointing_and_accumulation_give_the_same_weights(data, base, prompt_format, tmp_path):
    # Two rows a pass and two passes a step are four rows a step; what is computed again is equal.
    plain = Settings(epochs=1, batch=4, rate=1e-3, lora=Lora(dropout=0.0))
    frugal = Settings(
        epochs=1, batch=2, accumulate=2, rate=1e-3, lora=Lora(dropout=0.0), checkpointing=True
    )
    first = _train(data, base, prompt_format, tmp_path / "a", plain).record["losses"]
    other = _train(data, base, prompt_format, tmp_path / "b", frugal).record["losses"]
    assert other["steps"] == first["steps"]
    # The measured batches are not the same ones, so the mean over them differs a little.
    assert other["after"] == pytest.approx(first["after"], rel=2e-2)


def test_rows_that_do_not_fit_are_left_out_and_counted(base, prompt_format, tmp_path):
    long = claim_rows.rows(1)[0] | {"claims": ["`retries` " * 400]}
    hunk = "@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    two = "".join(f"--- a/{name}\n+++ b/{name}\n{hunk}" for name in "xy")
    several = {"patch": two, "claims": ["x."], "implications": ["y."]}
    bare = claim_rows.rows(2)[1] | {"implications": []}
    path = claim_rows.write(tmp_path / "r.jsonl", [*claim_rows.rows(9)[2:], long, several, bare])
    lines = []
    done = _train(
        rows.read_rows(path),
        base,
        prompt_format,
        tmp_path / "o",
        Settings(epochs=1, max_length=300, both_sections=True),
        report=lines.append,
    )
    counts = done.record["data"]
    assert counts["left_out"] == {"too_long": 1, "several_parts": 1, "one_section": 1}
    assert counts["train"] + counts["held_out"] == 7
    assert "left out 1 too long, 1 in several parts, 1 without implications" in lines[0]


def test_no_row_left_is_an_error_that_says_why(data, base, prompt_format, tmp_path):
    with pytest.raises(InputError, match=r"'too_long': 36.*at most 20 tokens"):
        _train(data, base, prompt_format, tmp_path / "o", Settings(max_length=20))


def test_a_layer_that_the_model_does_not_have_is_an_error(data, base, prompt_format, tmp_path):
    settings = Settings(lora=Lora(targets=("no_such",)))
    with pytest.raises(ConfigError, match="lora-targets"):
        _train(data, base, prompt_format, tmp_path / "o", settings)


def test_a_folder_with_pickled_weights_is_refused(data, base, prompt_format, tmp_path):
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    for file in base.iterdir():
        if file.suffix != ".safetensors":
            (pickled / file.name).write_bytes(file.read_bytes())
    torch.save({}, pickled / "pytorch_model.bin")
    with pytest.raises(GenerationError, match=r"no \.safetensors file"):
        _train(data, pickled, prompt_format, tmp_path / "o")


def test_a_model_that_is_not_here_is_not_looked_for_offline(data, base, prompt_format, tmp_path):
    source = base_model.ModelSource(name="nobody/nothing", offline=True)
    with pytest.raises(ModelNotFoundError, match="hf download nobody/nothing"):
        _train(data, base, prompt_format, tmp_path / "o", source=source)


@pytest.mark.parametrize("name", ["tiny", "org/tiny"])
def test_a_name_is_no_folder_even_where_one_is_called_so(base, tmp_path, monkeypatch, name):
    shutil.copytree(base, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelNotFoundError, match=f"hf download {name}"):
        base_model.load_base(base_model.ModelSource(name=name, offline=True), QUICK)
    loaded = base_model.load_base(base_model.ModelSource(name=f"./{name}", offline=True), QUICK)
    assert loaded.identity.startswith("tiny@")


def test_what_is_neither_a_name_nor_a_folder_is_refused():
    with pytest.raises(ConfigError, match=r"'a/b/c' is no name; a folder begins with \./"):
        base_model.load_base(base_model.ModelSource(name="a/b/c", offline=True), QUICK)


def test_a_folder_has_no_revision(data, base, prompt_format, tmp_path):
    source = base_model.ModelSource(name=str(base), revision="main")
    with pytest.raises(ConfigError, match="revision"):
        _train(data, base, prompt_format, tmp_path / "o", source=source)


def test_a_missing_package_is_named_before_anything_is_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(DependencyError, match=r"peft .*crscore\[finetune\]"):
        base_model.require_packages()


RESUMED = Settings(epochs=4, batch=3, accumulate=2, eval_steps=3, rate=1e-2)
SCRIPT = """
import sys
from pathlib import Path
from crscore.claims.llm import prompt
from crscore_lab.training.claims import base_model, finetune, rows
from crscore_lab.training.claims.examples import PromptFormat
from crscore_lab.training.claims.settings import Settings
data, base, prompts, out = map(Path, sys.argv[1:])
finetune.train(
    rows.read_rows(data), base_model.ModelSource(name=str(base), offline=True),
    Settings(epochs=4, batch=3, accumulate=2, eval_steps=3, rate=1e-2),
    out=out, report=print,
    prompt_format=PromptFormat(prompt=prompt.load_prompt("claims.v9", prompts)),
)
"""


def _weights(out):
    return hashlib.sha256((out / "adapter_model.safetensors").read_bytes()).hexdigest()


def test_a_killed_run_ends_with_the_same_weights(data, base, prompt_format, prompts, tmp_path):
    path = claim_rows.write(tmp_path / "rows.jsonl", claim_rows.rows(36))
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    arguments = [sys.executable, "-c", SCRIPT, path, base, prompts, killed]
    # Sums in another order would give other weights: as many threads as here.
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        list(map(str, arguments)), stdout=subprocess.DEVNULL, env=environment
    )
    second = sft.checkpoints_folder(killed) / "checkpoint-6"
    deadline = time.monotonic() + 300
    while not second.is_dir() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)  # while the second checkpoint is being written
    assert process.wait() == -signal.SIGKILL
    lines = []
    again = _train(data, base, prompt_format, killed, RESUMED, report=lines.append)
    assert any(line.startswith("resuming at step ") for line in lines)
    straight = _train(data, base, prompt_format, whole, RESUMED)
    assert again.record["losses"] == straight.record["losses"]
    assert _weights(killed) == _weights(whole)
    assert {file.name for file in killed.iterdir()} == {file.name for file in whole.iterdir()}


def test_a_run_that_was_killed_while_it_saved_is_finished(data, base, prompt_format, tmp_path):
    out = tmp_path / "o"
    done = _train(data, base, prompt_format, out, keep_checkpoints=True)
    weights = _weights(out)
    (out / "training.json").unlink()
    (out / "adapter_model.safetensors").write_bytes(b"half")
    again = _train(data, base, prompt_format, out)
    assert _weights(out) == weights
    assert again.record["losses"] == done.record["losses"]
    assert not sft.checkpoints_folder(out).exists()


def test_an_unfinished_run_is_not_mixed_with_another(data, base, prompt_format, tmp_path):
    out = tmp_path / "o"
    _train(data, base, prompt_format, out, keep_checkpoints=True)
    (out / "training.json").unlink()
    with pytest.raises(InputError, match="other rows, settings or base model"):
        _train(data, base, prompt_format, out, LONGER)
