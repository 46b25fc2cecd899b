"""What needs no vLLM; the rest is in tests/llm/test_vllm.py."""

import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from crscore import plugins
from crscore.errors import ConfigError, DependencyError, GenerationError, ModelNotFoundError
from crscore.llm import vllm
from crscore.llm.base import Message, Sampling
from tests.helpers import tiny_llm
from tests.unit.llm.test_model_files import COMMIT, write_adapter, write_model

pytestmark = pytest.mark.models  # transformers

HELLO = [Message(role="system", text="Be brief."), Message(role="user", text="What changed?")]
NO_SYSTEM = (
    "{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ raise_exception('no system here') }}{% endif %}"
    "[{{ message['role'] }}]{{ message['content'] }}{% endfor %}[assistant]"
)


class StandIn:
    """`vllm.LLM` that answers with what it was asked, as far as the limit allows."""

    def __init__(self, **arguments: Any) -> None:
        from transformers import AutoTokenizer  # noqa: PLC0415

        self.arguments = arguments
        self.tokenizer = AutoTokenizer.from_pretrained(arguments["model"])
        core = types.SimpleNamespace(shutdown=lambda: None)
        self.llm_engine = types.SimpleNamespace(engine_core=core)

    def get_tokenizer(self) -> Any:
        return self.tokenizer

    def generate(
        self, prompts: list[dict[str, list[int]]], parameters: Any, **_: Any
    ) -> list[types.SimpleNamespace]:
        if parameters.structured_outputs:
            raise ValueError("this grammar is not supported")
        answers = []
        for prompt in prompts:
            ids = prompt["prompt_token_ids"]
            kept = ids[: parameters.max_tokens]
            first = types.SimpleNamespace(
                text=self.tokenizer.decode(kept),
                token_ids=kept,
                finish_reason="stop" if len(kept) == len(ids) else "length",
            )
            answers.append(types.SimpleNamespace(outputs=[first], prompt_token_ids=ids))
        return answers


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a stand-in for vLLM where it is imported from."""
    contents = {
        "vllm": {"LLM": StandIn, "SamplingParams": types.SimpleNamespace},
        "vllm.platforms": {"current_platform": types.SimpleNamespace(is_cpu=lambda: True)},
        "vllm.exceptions": {},
        "vllm.lora": {},
        "vllm.lora.request": {"LoRARequest": lambda *arguments: arguments},
        "vllm.sampling_params": {"StructuredOutputsParams": types.SimpleNamespace},
        "vllm.distributed": {},
        "vllm.distributed.parallel_state": {"cleanup_dist_env_and_memory": lambda: None},
    }
    for name, attributes in contents.items():
        module = types.ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(vllm, "_LOADED", {})


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llm.make(tmp_path_factory.mktemp("tiny") / "tiny")


def engine(**options: object) -> vllm.Vllm:
    made = plugins.create("engines", "vllm", options)
    assert isinstance(made, vllm.Vllm)
    return made


def text_of(made: vllm.Vllm, chat: list[Message]) -> str:
    """Return what the model reads."""
    return made.complete([chat], Sampling(max_tokens=600))[0].text


def test_default_is_the_model_of_the_paper_at_a_commit() -> None:
    made = engine()
    name, _, revision = made.identity.removeprefix("vllm:").partition("@")
    assert name == vllm.DEFAULT_MODEL
    assert len(revision) == 40


def test_identity_has_the_model_the_adapter_and_the_numeric_types(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "base", {"a": b"1"})
    lora = write_adapter(tmp_path / "claims")
    made = engine(model=str(folder), lora=str(lora), quantization="fp8", dtype="float16")
    base, adapter, *numbers = made.identity.split("+")
    assert base.startswith("vllm:base@")
    assert adapter.startswith("lora:claims@")
    assert numbers == ["quantization:fp8", "dtype:float16"]


def test_identity_depends_on_the_adapter(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "base", {"a": b"1"})
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        lora = write_adapter(tmp_path / name / "claims", alpha=name)
        made.append(engine(model=str(folder), lora=str(lora)).identity)
    assert made[0] != made[1]


def test_identity_does_not_depend_on_the_memory(tmp_path: Path) -> None:
    folder = str(write_model(tmp_path / "base", {"a": b"1"}))
    more = engine(model=folder, max_model_len=100, tensor_parallel=2, offline=True)
    assert more.identity == engine(model=folder).identity


def test_vllm_is_not_loaded_without_chats(tiny: Path) -> None:
    assert engine(model=str(tiny)).complete([], Sampling(max_tokens=5)) == ()


def test_error_without_the_package_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tiny: Path
) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(DependencyError, match=r"pip install 'crscore\[vllm\]'"):
        engine(model=str(tiny)).complete([HELLO], Sampling(max_tokens=5))


@pytest.mark.usefixtures("installed")
def test_answers_come_in_order_and_a_chat_that_is_too_long_has_a_reason(tiny: Path) -> None:
    long = [Message(role="user", text="word " * 3000)]
    answers = engine(model=str(tiny)).complete([HELLO, long, HELLO[1:]], Sampling(max_tokens=400))
    assert [answer.whole for answer in answers] == [True, False, True]
    assert "does not fit the model's context" in str(answers[1].reason)
    assert len(answers[0].text) > len(answers[2].text)


@pytest.mark.usefixtures("installed")
def test_context_is_at_most_that_of_the_model(tiny: Path, tmp_path: Path) -> None:
    wide = tiny_llm.make(tmp_path / "wide", context=100_000)
    assert engine(model=str(tiny)).loaded()[1] == tiny_llm.CONTEXT
    assert engine(model=str(tiny), max_model_len=64).loaded()[1] == 64
    assert engine(model=str(wide)).loaded()[1] == vllm.MAX_CONTEXT_TOKENS


@pytest.mark.usefixtures("installed")
def test_an_answer_cut_by_the_limit_is_not_whole(tiny: Path) -> None:
    (answer,) = engine(model=str(tiny)).complete([HELLO], Sampling(max_tokens=3))
    assert (answer.whole, answer.output_tokens, answer.reason) == (False, 3, None)


@pytest.mark.usefixtures("installed")
def test_a_schema_that_vllm_does_not_support_is_left_out(tiny: Path) -> None:
    made = engine(model=str(tiny))
    plain, guided = Sampling(max_tokens=9), Sampling(max_tokens=9, schema={"type": "array"})
    assert made.complete([HELLO], guided) == made.complete([HELLO], plain)


@pytest.mark.usefixtures("installed")
def test_only_safetensors_are_loaded_and_no_code_of_the_model(tiny: Path) -> None:
    arguments = engine(model=str(tiny)).loaded()[0].arguments
    assert (arguments["load_format"], arguments["trust_remote_code"]) == ("safetensors", False)
    assert arguments["structured_outputs_config"]["backend"] == "guidance"


@pytest.mark.usefixtures("installed")
def test_an_adapter_is_loaded_with_memory_for_its_widest_rank(tiny: Path, tmp_path: Path) -> None:
    lora = write_adapter(tmp_path / "lora", rank_pattern={"q_proj": 24})
    arguments = engine(model=str(tiny), lora=str(lora)).loaded()[0].arguments
    assert (arguments["enable_lora"], arguments["max_lora_rank"]) == (True, 32)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("settings", ["{}", "[]", '{"r": "wide"}', '{"r": 8, "rank_pattern": [1]}'])
def test_an_adapter_without_a_rank_is_refused(tiny: Path, tmp_path: Path, settings: str) -> None:
    lora = write_adapter(tmp_path / "lora")
    (lora / "adapter_config.json").write_text(settings)
    with pytest.raises(GenerationError, match="has no valid rank"):
        engine(model=str(tiny), lora=str(lora)).loaded()


@pytest.mark.usefixtures("installed")
def test_chat_is_formatted_with_the_template_of_the_model(tiny: Path) -> None:
    assert text_of(engine(model=str(tiny)), HELLO) == (
        "<s><|turn|>system\nBe brief.</s>\n<|turn|>user\nWhat changed?</s>\n<|turn|>assistant\n"
    )


@pytest.mark.usefixtures("installed")
def test_system_message_is_merged_into_the_first_turn_if_the_template_rejects_it(
    tmp_path: Path,
) -> None:
    folder = tiny_llm.make(tmp_path / "tiny")
    (folder / "chat_template.jinja").write_text(NO_SYSTEM)
    text = text_of(engine(model=str(folder)), HELLO)
    assert text == "[user]Be brief.\n\nWhat changed?[assistant]"


@pytest.mark.usefixtures("installed")
def test_a_template_that_refuses_every_chat_is_an_error(tmp_path: Path) -> None:
    folder = tiny_llm.make(tmp_path / "tiny")
    (folder / "chat_template.jinja").write_text("{{ raise_exception('never') }}")
    with pytest.raises(GenerationError, match="chat template rejects the chat: never"):
        text_of(engine(model=str(folder)), HELLO)


@pytest.mark.usefixtures("installed")
def test_a_model_without_a_template_gets_plain_turns(tmp_path: Path) -> None:
    folder = tiny_llm.make(tmp_path / "tiny", template=False)
    assert text_of(engine(model=str(folder)), HELLO) == (
        "Be brief.\n\n@@ Instruction\nWhat changed?\n\n@@ Response\n"
    )


@pytest.mark.usefixtures("installed")
def test_special_tokens_are_those_of_the_tokenizer(tiny: Path) -> None:
    assert engine(model=str(tiny)).special_tokens == {"<s>", "</s>", "<|turn|>", "<pad>"}


@pytest.mark.usefixtures("installed")
def test_missing_model_is_not_downloaded_offline() -> None:
    made = engine(model="org/unseen", revision=COMMIT, offline=True)
    with pytest.raises(ModelNotFoundError, match=f"hf download org/unseen --revision {COMMIT}"):
        text_of(made, HELLO)


@pytest.mark.usefixtures("installed")
def test_model_with_its_own_code_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "odd", {"a": b"1"}, config=REMOTE)
    (folder / "code.py").write_text("raise SystemExit('ran')")
    with pytest.raises(GenerationError, match="cannot load"):
        engine(model=str(folder)).loaded()


@pytest.mark.parametrize("name", ["some", "org/some", vllm.DEFAULT_MODEL])
def test_name_of_a_model_is_not_a_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    write_model(tmp_path / name, {"a": b"1"})
    monkeypatch.chdir(tmp_path)
    assert engine(model=name).revision == vllm.PINNED.get(name, "main")
    assert engine(model=f"./{name}").revision is None
    assert engine(model=f"./{name}").identity.startswith(f"vllm:{Path(name).name}@")


def test_a_folder_may_be_in_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = write_model(tmp_path / "mine", {"a": b"1"})
    assert engine(model="~/mine").identity == engine(model=str(folder)).identity


def test_missing_folder_is_not_searched_on_the_hub() -> None:
    with pytest.raises(ModelNotFoundError, match="no/folder"):
        _ = engine(model="./no/folder").identity


REMOTE = '{"model_type": "odd", "auto_map": {"AutoConfig": "code.Config"}}'


def test_environment_variables_of_the_user_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    monkeypatch.delenv("VLLM_NO_USAGE_STATS", raising=False)
    before = dict(os.environ)
    with vllm.environment(vllm.ENVIRONMENT):
        assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
        assert os.environ["VLLM_NO_USAGE_STATS"] == "1"
    assert dict(os.environ) == before


def test_kv_cache_size_follows_from_the_shape_of_the_model() -> None:
    class Shape:
        num_attention_heads = 32
        hidden_size = 4096
        num_hidden_layers = 32

    # 32 layers x 4096 numbers x (key, value) x 2 bytes = 0.5 MiB a token; two chats of 8,192.
    assert vllm.compute_kv_cache_bytes(Shape(), 8192) == 8 * 2**30
    assert vllm.compute_kv_cache_bytes(Shape(), 10) == 512 * 2**20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": 3}, "concurrency: is not an option"),
        ({"tensor_parallel": "none"}, "tensor_parallel: Expected `int`"),
        ({"max_model_len": -1}, "max_model_len: Expected `int` >= 1"),
        ({"offline": "yes"}, "offline: Expected `bool`"),
        ({"model": "a/b/c"}, r"model: 'a/b/c' is not a model's name; the path of a folder begins"),
        ({"model": "mine/"}, r"model: 'mine/' is not a model's name; the path of a folder begins"),
    ],
)
def test_error_names_the_wrong_option(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plugins.create("engines", "vllm", options)


def test_a_folder_has_no_revisions(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no revisions"):
        engine(model=str(tmp_path), revision="main")
