import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from crscore.errors import GenerationError, ModelNotFoundError
from crscore.llm import model_files
from tests.helpers.hub import serve_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def write_model(folder: Path, tensors: dict[str, bytes], config: str = "{}") -> Path:
    """Write what the hash looks at: settings and a safetensors file, by its published format."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(config)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    begin = 0
    for name, content in tensors.items():
        end = begin + len(content)
        header[name] = {"dtype": "U8", "shape": [len(content)], "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text + b"".join(tensors.values())
    (folder / "model.safetensors").write_bytes(data)
    return folder


def write_adapter(folder: Path, **settings: object) -> Path:
    folder.mkdir()
    (folder / model_files.ADAPTER_SETTINGS).write_text(json.dumps({"r": 8} | settings))
    (folder / model_files.ADAPTER_WEIGHTS).write_bytes(b"weights")
    return folder


def test_fingerprint_changes_with_any_tensor_and_with_the_settings(tmp_path: Path) -> None:
    big = b"\1" * 100_000
    same = [write_model(tmp_path / name, {"a": big, "b": b"22"}) for name in ("one", "two")]
    other = write_model(tmp_path / "three", {"a": big, "b": b"23"})
    longer = write_model(tmp_path / "four", {"a": big, "b": b"22"}, config='{"x": 1}')
    marks = [model_files.fingerprint(folder) for folder in (*same, other, longer)]
    assert marks[0] == marks[1]
    assert len(set(marks)) == 3


def test_fingerprint_does_not_change_with_the_readme(tmp_path: Path) -> None:
    one = write_model(tmp_path / "one", {"a": b"1"})
    two = write_model(tmp_path / "two", {"a": b"1"})
    (two / "README.md").write_text("words")
    assert model_files.fingerprint(one) == model_files.fingerprint(two)


def test_a_model_of_pickles_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(GenerationError, match=r"pickled weights \(.bin, .pt\) are not loaded"):
        model_files.find_weight_files(tmp_path)


def test_a_folder_that_is_not_there_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="hf download"):
        model_files.find_weight_files(tmp_path / "gone")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        b"\xff" * 64,
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 9) + b'{"a": 12}',
        struct.pack("<Q", 40) + b"{}",
    ],
)
def test_broken_weights_are_one_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(GenerationError, match="safetensors"):
        model_files.fingerprint(tmp_path)


def test_an_adapters_hash_is_of_all_its_weights(tmp_path: Path) -> None:
    one, two = write_adapter(tmp_path / "one"), write_adapter(tmp_path / "two")
    (two / model_files.ADAPTER_WEIGHTS).write_bytes(b"weighty")
    marks = {model_files.adapter_fingerprint(folder) for folder in (one, two)}
    assert len(marks) == 2


def test_a_pickled_adapter_is_refused(tmp_path: Path) -> None:
    folder = write_adapter(tmp_path / "lora")
    (folder / model_files.ADAPTER_WEIGHTS).rename(folder / "adapter_model.bin")
    with pytest.raises(
        GenerationError, match=r"adapter_model\.safetensors is missing, and pickled"
    ):
        model_files.adapter_fingerprint(folder)


def test_an_adapter_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError):
        model_files.adapter_fingerprint(tmp_path / "gone")


def test_an_adapters_rank_is_its_widest(tmp_path: Path) -> None:
    folder = write_adapter(tmp_path / "lora", rank_pattern={"q_proj": 24})
    assert model_files.adapter_rank(folder) == 24


@pytest.mark.parametrize("settings", ["{}", "[]", '{"r": "wide"}', '{"r": 8, "rank_pattern": [1]}'])
def test_an_adapter_without_a_rank_is_refused(tmp_path: Path, settings: str) -> None:
    folder = write_adapter(tmp_path / "lora")
    (folder / model_files.ADAPTER_SETTINGS).write_text(settings)
    with pytest.raises(GenerationError, match="has no valid rank"):
        model_files.adapter_rank(folder)


def write_cache(monkeypatch: pytest.MonkeyPatch, root: Path, name: str) -> Path:
    """Lay a model into a hub cache as the hub's library does."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(root))
    repository = root / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    return write_model(repository / "snapshots" / COMMIT, {"a": b"1"})


def test_a_branch_is_the_commit_that_was_last_seen_of_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = write_cache(monkeypatch, tmp_path / "hub", "org/seen")
    assert model_files.resolve_commit("org/seen", "main", offline=True) == COMMIT
    assert model_files.find_cached("org/seen", COMMIT) == folder


def test_a_commit_is_itself() -> None:
    assert model_files.resolve_commit("org/any", COMMIT, offline=True) == COMMIT


def test_a_branch_never_seen_is_not_found_offline(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="hf download org/unseen --revision main"):
        model_files.resolve_commit("org/unseen", "main", offline=True)


ASK = """
import sys
from crscore.llm import model_files
print(model_files.resolve_commit(*sys.argv[1:], offline=False))
"""


def ask_hub(endpoint: str, home: Path, model: str) -> subprocess.CompletedProcess[str]:
    """Ask in a process of its own: the hub's library reads its address when it is imported."""
    return subprocess.run(
        [sys.executable, "-c", ASK, model, "main"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "HF_ENDPOINT": endpoint, "HF_HOME": str(home)},
    )


def test_the_hub_is_asked_what_a_branch_stands_for(tmp_path: Path) -> None:
    with serve_model("org/known", "main", {"config.json": b"{}"}) as endpoint:
        known = ask_hub(endpoint, tmp_path, "org/known")
        unknown = ask_hub(endpoint, tmp_path, "org/unknown")
    assert known.stdout.strip() == "main"  # this hub names its only commit so
    assert "ModelNotFoundError: model org/unknown is not on this machine" in unknown.stderr


def test_a_path_that_does_not_exist_names_no_repository() -> None:
    assert model_files.find_cached("./no/such/folder", "main") is None
