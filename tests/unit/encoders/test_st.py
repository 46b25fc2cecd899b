"""What needs no PyTorch; the rest is in tests/integration/test_sentence_transformers.py."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from crscore.encoders import st
from crscore.errors import ConfigError, DependencyError, ModelNotFoundError


def test_identity_by_default_is_the_published_model_at_a_commit() -> None:
    name, _, revision = st.create(st.SentenceTransformers()).identity.partition("@")
    assert name == "st:mixedbread-ai/mxbai-embed-large-v1"
    assert len(revision) == 40


def test_identity_of_another_model_names_the_branch_main() -> None:
    assert st.create(st.SentenceTransformers(model="org/other")).identity == "st:org/other@main"


def test_identity_with_a_revision_names_it() -> None:
    assert (
        st.create(st.SentenceTransformers(revision="abc")).identity
        == f"st:{st.PUBLISHED_MODEL}@abc"
    )


def test_identity_of_a_folder_changes_with_its_files_and_only_with_them(tmp_path: Path) -> None:
    first, same, other = (tmp_path / name / "model" for name in ("first", "same", "other"))
    for folder, content in ((first, b"1"), (same, b"1"), (other, b"2")):
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(content)
    (same / "README.md").write_text("words about the model")
    identities = [
        st.create(st.SentenceTransformers(model=str(folder))).identity
        for folder in (first, same, other)
    ]
    assert identities[0].startswith("st:model@")
    assert identities[0] == identities[1] != identities[2]


def test_identity_of_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    encoder = st.create(st.SentenceTransformers(model=str(folder)))
    folder.rmdir()
    with pytest.raises(ModelNotFoundError, match="hf download"):
        _ = encoder.identity


def test_create_with_a_folder_and_a_revision_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no revisions"):
        st.create(st.SentenceTransformers(model=str(tmp_path), revision="main"))


def test_encode_without_the_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(DependencyError, match=r"pip install 'crscore\[st\]'"):
        st.create(st.SentenceTransformers(model="org/never-loaded")).encode(["a"])


def test_version_that_runs_the_code_of_a_folder_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded: list[str] = []
    old = SimpleNamespace(SentenceTransformer=loaded.append, __version__="5.7.0")
    monkeypatch.setitem(sys.modules, "sentence_transformers", old)
    with pytest.raises(DependencyError, match="sentence-transformers 6 is not installed"):
        st.create(st.SentenceTransformers(model=str(tmp_path))).encode(["a"])
    assert loaded == []
