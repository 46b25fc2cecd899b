"""Prompt files are found, read strictly and hashed."""

import hashlib

import msgspec
import pytest

from crscore.errors import ConfigError
from crscore.llm import prompts


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    system: str
    limit: int = 3


class Outer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    part: Shape


def test_prompt_is_read_with_the_hash_of_its_bytes(tmp_path):
    data = "system = 'Schätze'\n".encode()
    (tmp_path / "judge.v2.toml").write_bytes(data)
    read = prompts.read_prompt("judge.v2", Shape, folder=tmp_path)
    assert read.content == Shape("Schätze", 3)
    assert read.sha256 == hashlib.sha256(data).hexdigest()
    assert read.identity == f"judge.v2@{read.sha256[:8]}"


def test_names_are_those_of_versioned_files(tmp_path):
    for name in ("claims.v2.toml", "claims.v10.toml", "claims.toml", "notes.txt", "A.v1.toml"):
        (tmp_path / name).touch()
    assert prompts.prompt_names(tmp_path) == ("claims.v10", "claims.v2")


@pytest.mark.parametrize(
    "name", ["../judge.v1", "judge", "judge.v0", "judge.v01", "", "judge.v1\n"]
)
def test_name_that_is_no_task_and_version_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match="TASK"):
        prompts.read_prompt(name, Shape, folder=tmp_path)


def test_missing_prompt_names_those_there_are(tmp_path):
    (tmp_path / "claims.v1.toml").touch()
    with pytest.raises(ConfigError, match=r"has no judge\.v1: claims\.v1"):
        prompts.read_prompt("judge.v1", Shape, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system = 1", r"judge\.v1\.toml: system: Expected `str`, got `int`"),
        ("system = 'a'\nextra = 1", "unknown field `extra`"),
        ("limit = 1", "missing required field `system`"),
        ("system = ", "cannot be read"),
        (b"system = '\xff'", "cannot be read"),
    ],
)
def test_wrong_file_is_refused_with_the_key(tmp_path, text, message):
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "judge.v1.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=message):
        prompts.read_prompt("judge.v1", Shape, folder=tmp_path)


def test_wrong_key_is_named_with_its_path(tmp_path):
    (tmp_path / "judge.v1.toml").write_text("[part]\nsystem = 'a'\nlimit = 'b'\n")
    with pytest.raises(ConfigError) as caught:
        prompts.read_prompt("judge.v1", Outer, folder=tmp_path)
    assert caught.value.key == "part.limit"


@pytest.mark.parametrize("values", [{}, {"a": "1", "b": "2"}, {"b": "2"}])
def test_places_and_values_must_be_the_same(values):
    with pytest.raises(ConfigError, match="placeholders"):
        prompts.fill("x {{a}}", values)


def test_prompts_of_a_wheel_lie_inside_the_package(tmp_path, monkeypatch):
    package = tmp_path / "crscore"
    monkeypatch.setattr(prompts, "__file__", str(package / "llm" / "prompts.py"))
    assert prompts.builtin_folder() == tmp_path / "prompts"
    (package / "_data" / "prompts").mkdir(parents=True)
    assert prompts.builtin_folder() == package / "_data" / "prompts"


def test_every_prompt_of_ours_has_a_task_and_a_version():
    files = {file.name for file in prompts.builtin_folder().iterdir()}
    assert files == {f"{name}.toml" for name in prompts.prompt_names()}
    assert "judge.v1" in prompts.prompt_names()
