import json
import struct
from pathlib import Path

import pytest

from crscore.errors import GenerationError, ModelNotFoundError
from crscore.llm import model_files

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
    (folder / "adapter_config.json").write_text(json.dumps({"r": 8} | settings))
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
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


def test_model_without_safetensors_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(GenerationError, match=r"pickled weights \(.bin, .pt\) are not loaded"):
        model_files.fingerprint(tmp_path)


def test_missing_folder_of_a_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="hf download"):
        model_files.fingerprint(tmp_path / "gone")


def test_fingerprint_of_an_adapter_depends_on_all_its_weights(tmp_path: Path) -> None:
    one, two = write_adapter(tmp_path / "one"), write_adapter(tmp_path / "two")
    (two / "adapter_model.safetensors").write_bytes(b"weighty")
    marks = {model_files.fingerprint(folder) for folder in (one, two)}
    assert len(marks) == 2


def write_cache(monkeypatch: pytest.MonkeyPatch, root: Path, name: str) -> Path:
    """Write a model into a cache with the layout of the hub's client."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(root))
    repository = root / f"models--{name.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    return write_model(repository / "snapshots" / COMMIT, {"a": b"1"})


def test_branch_is_resolved_offline_to_the_commit_in_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = write_cache(monkeypatch, tmp_path / "hub", "org/seen")
    assert model_files.find_on_hub("org/seen", "main", offline=True) == folder
    assert model_files.find_on_hub("org/seen", COMMIT, offline=True) == folder


@pytest.mark.parametrize("revision", ["main", COMMIT])
def test_model_that_is_not_cached_is_not_found_offline(revision: str) -> None:
    with pytest.raises(ModelNotFoundError, match=f"hf download org/unseen --revision {revision}"):
        model_files.find_on_hub("org/unseen", revision, offline=True)


def test_path_is_not_the_name_of_a_model() -> None:
    with pytest.raises(ModelNotFoundError):
        model_files.find_on_hub("./no/such/folder", "main", offline=True)
