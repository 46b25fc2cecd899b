"""Prompt files are found, read and hashed."""

import hashlib
import re

import msgspec
import pytest

from crscore.errors import ConfigError
from crscore.llm import prompts


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    system: str
    limit: int = 3


def test_prompt_is_read_with_the_hash_of_its_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(prompts, "builtin_folder", lambda: tmp_path)
    data = "system = 'Schätze'\n".encode()
    (tmp_path / "judge.v2.toml").write_bytes(data)
    read = prompts.read_prompt("judge.v2", Shape)
    assert read.content == Shape("Schätze", 3)
    assert read.sha256 == hashlib.sha256(data).hexdigest()
    assert read.identity == f"judge.v2@{read.sha256[:8]}"


@pytest.mark.parametrize("name", ["../prompts/judge.v1", "judge", "judge.v99", "", "judge.v1\n"])
def test_error_of_an_unknown_name_lists_the_prompts(name):
    with pytest.raises(ConfigError, match=r"expected one of claims\.v1, judge\.v1"):
        prompts.read_prompt(name, Shape)


def test_placeholder_without_a_value_is_an_error():
    with pytest.raises(KeyError):
        prompts.fill("x {{a}}", {"b": "2"})


def test_prompts_of_a_wheel_are_inside_the_package(tmp_path, monkeypatch):
    package = tmp_path / "crscore"
    monkeypatch.setattr(prompts, "__file__", str(package / "llm" / "prompts.py"))
    assert prompts.builtin_folder() == tmp_path / "prompts"
    (package / "_data" / "prompts").mkdir(parents=True)
    assert prompts.builtin_folder() == package / "_data" / "prompts"


def test_every_prompt_has_a_task_and_a_version():
    files = {file.name for file in prompts.builtin_folder().iterdir()}
    assert files == {f"{name}.toml" for name in prompts.prompt_names()}
    assert all(re.fullmatch(r"[a-z-]+\.v[1-9]\d*", name) for name in prompts.prompt_names())
    assert "judge.v1" in prompts.prompt_names()
