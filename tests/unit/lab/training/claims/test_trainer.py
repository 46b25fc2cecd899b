import json

import pytest

from crscore.errors import InputError
from crscore.lab.training.claims import trainer

FILES = ("adapter_model.safetensors", "optimizer.pt", "scheduler.pt", "rng_state.pth")


def _checkpoint(out, step, *, without=(), state=None):
    found = trainer.checkpoints_folder(out) / f"checkpoint-{step}"
    found.mkdir(parents=True)
    for name in FILES:
        if name not in without:
            (found / name).write_bytes(b"x")
    text = json.dumps({"global_step": step}) if state is None else state
    (found / "trainer_state.json").write_text(text)
    return found


def test_the_last_whole_checkpoint_is_taken_by_number(tmp_path):
    trainer.begin_run(tmp_path, "a")
    _checkpoint(tmp_path, 100)
    last = _checkpoint(tmp_path, 1000)
    _checkpoint(tmp_path, 900)
    assert trainer.latest_checkpoint(tmp_path) == last


@pytest.mark.parametrize("missing", FILES)
def test_a_checkpoint_that_a_kill_left_incomplete_is_removed(tmp_path, missing):
    trainer.begin_run(tmp_path, "a")
    whole = _checkpoint(tmp_path, 5)
    half = _checkpoint(tmp_path, 10, without=(missing,))
    assert trainer.latest_checkpoint(tmp_path) == whole
    assert not half.exists()


@pytest.mark.parametrize("state", ["", '{"global_step": 1', '{"global_step": 5}', "[]", "7"])
def test_a_checkpoint_whose_state_is_not_whole_does_not_count(tmp_path, state):
    trainer.begin_run(tmp_path, "a")
    _checkpoint(tmp_path, 10, state=state)
    assert trainer.latest_checkpoint(tmp_path) is None


def test_a_folder_keeps_what_it_knows_of_its_run(tmp_path):
    known = trainer.begin_run(tmp_path, "a")
    trainer.save_run(tmp_path, known | {"before": 2.5})
    assert trainer.begin_run(tmp_path, "a") == {"run": "a", "before": 2.5}


def test_another_run_in_the_folder_is_refused(tmp_path):
    trainer.begin_run(tmp_path, "a")
    with pytest.raises(InputError, match="other rows, settings or base model"):
        trainer.begin_run(tmp_path, "b")


def test_a_folder_with_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match="is not empty"):
        trainer.begin_run(tmp_path, "a")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("content", ["", "{", "\x00"])
def test_a_record_that_cannot_be_read_is_an_error(tmp_path, content):
    (tmp_path / trainer.RECORD).write_text(content)
    with pytest.raises(InputError, match=r"training.json cannot be read"):
        trainer.read_record(tmp_path / trainer.RECORD)


def test_a_record_that_is_none_is_an_error(tmp_path):
    (tmp_path / trainer.RECORD).write_text("[]")
    with pytest.raises(InputError, match="holds no run"):
        trainer.read_record(tmp_path / trainer.RECORD)
    assert trainer.read_record(tmp_path / "elsewhere" / trainer.RECORD) is None
