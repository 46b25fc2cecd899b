import json

import pytest

from crscore.errors import InputError
from crscore_lab.training.claims import sft

pytestmark = pytest.mark.research


def _checkpoint(out, step, *, state=None):
    folder = sft.checkpoints_folder(out) / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    text = json.dumps({"global_step": step}) if state is None else state
    (folder / "trainer_state.json").write_text(text)
    return folder


def test_last_complete_checkpoint_is_chosen_by_number(tmp_path):
    sft.begin_run(tmp_path, "a")
    _checkpoint(tmp_path, 100)
    last = _checkpoint(tmp_path, 1000)
    _checkpoint(tmp_path, 900)
    assert sft.last_checkpoint(tmp_path) == last


@pytest.mark.parametrize("state", ["", '{"global_step": 1', '{"global_step": 5}', "[]", "7"])
def test_checkpoint_without_a_complete_state_is_removed(tmp_path, state):
    # The trainer writes the state last.
    sft.begin_run(tmp_path, "a")
    complete = _checkpoint(tmp_path, 5)
    incomplete = _checkpoint(tmp_path, 10, state=state)
    assert sft.last_checkpoint(tmp_path) == complete
    assert not incomplete.exists()


def test_same_run_is_resumed_in_its_folder(tmp_path):
    sft.begin_run(tmp_path, "a")
    sft.begin_run(tmp_path, "a")
    assert sft.last_checkpoint(tmp_path) is None


def test_another_run_in_the_folder_is_refused(tmp_path):
    sft.begin_run(tmp_path, "a")
    with pytest.raises(InputError, match="other rows, settings or base model"):
        sft.begin_run(tmp_path, "b")


def test_a_folder_with_something_else_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match="is not empty"):
        sft.begin_run(tmp_path, "a")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("content", ["", "{", "\x00"])
def test_a_record_that_cannot_be_read_is_an_error(tmp_path, content):
    (tmp_path / sft.RECORD).write_text(content)
    with pytest.raises(InputError, match=r"training.json cannot be read"):
        sft.read_record(tmp_path / sft.RECORD)


def test_a_record_that_is_none_is_an_error(tmp_path):
    (tmp_path / sft.RECORD).write_text("[]")
    with pytest.raises(InputError, match="holds no run"):
        sft.read_record(tmp_path / sft.RECORD)
    assert sft.read_record(tmp_path / "elsewhere" / sft.RECORD) is None
