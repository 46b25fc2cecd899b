"""How `--split` and `--judge` are read, and how a judge's engine is made from the settings."""

from pathlib import Path

import click
import pytest

from crscore.errors import ConfigError
from crscore.settings import Config, override_settings
from crscore_lab.commands import validate
from crscore_lab.study.baselines.judge import make_engine, read_judge_names

OPENAI = "openai:m"
VLLM = "vllm:m"


@pytest.fixture(autouse=True)
def _server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")


def settings(**values: object) -> Config:
    return override_settings(Config(), values)


def test_judges_are_read_in_order_and_each_once() -> None:
    found = read_judge_names(["openai:a", "vllm:b/c", "openai:a"])
    assert found == ("openai:a", "vllm:b/c")


def test_model_may_have_a_colon() -> None:
    assert read_judge_names(["openai:llama3:8b"]) == ("openai:llama3:8b",)


def test_unknown_engine_names_those_there_are() -> None:
    with pytest.raises(ValueError, match="openai:MODEL or vllm:MODEL, not 'base:x'"):
        read_judge_names(["base:x"])


def test_server_is_asked_as_the_settings_say() -> None:
    chosen = settings(concurrency=3, model_timeout=7.0, offline=True)
    given = make_engine(OPENAI, chosen).options
    assert (given.model, given.base_url) == ("m", "http://127.0.0.1:9/v1")
    assert (given.api_key, given.concurrency, given.timeout_s) == ("secret", 3, 7.0)
    assert given.offline


def test_engine_without_a_server_gets_no_address() -> None:
    chosen = settings(tensor_parallel=2, max_model_len=512, dtype="bfloat16")
    given = make_engine(VLLM, chosen)
    assert (given.tensor_parallel, given.max_model_len, given.dtype) == (2, 512, "bfloat16")


def test_option_that_means_nothing_to_the_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match="tensor_parallel"):
        make_engine(OPENAI, settings(tensor_parallel=2))


def test_adapter_and_prompt_of_claims_are_not_the_judges(tmp_path: Path) -> None:
    chosen = settings(model="m", lora=str(tmp_path), prompt="claims.v9", temperature=1.0)
    assert make_engine(VLLM, chosen).lora is None


@pytest.mark.parametrize(("model", "revision"), [("m", "abc"), ("other", "main")])
def test_revision_is_that_of_one_model(model: str, revision: str) -> None:
    chosen = settings(model=model, model_revision="abc")
    assert make_engine(VLLM, chosen).revision == revision


@click.command(cls=validate.SplitCommand)
@click.argument("paths", nargs=-1)
@click.option("--split", "held_out")
def command(paths: tuple[str, ...], held_out: str | None) -> tuple[tuple[str, ...], str | None]:
    return paths, held_out


@pytest.mark.parametrize(
    ("words", "paths", "held_out"),
    [
        ("--split grouped-cv 5 DATA", ("DATA",), "grouped-cv:5"),
        ("DATA --split grouped-cv 5", ("DATA",), "grouped-cv:5"),
        ("DATA --split=grouped-cv 5", ("DATA",), "grouped-cv:5"),
        ("--split grouped-cv:5 DATA", ("DATA",), "grouped-cv:5"),
        ("--split grouped-cv DATA", ("DATA",), "grouped-cv"),
        ("--split grouped-cv:5 6", ("6",), "grouped-cv:5"),
        ("5 --split grouped-cv", ("5",), "grouped-cv"),
        ("5 6", ("5", "6"), None),
        ("DATA", ("DATA",), None),
    ],
)
def test_number_after_the_split_belongs_to_it(words, paths, held_out) -> None:
    assert command.main(words.split(), standalone_mode=False) == (paths, held_out)
