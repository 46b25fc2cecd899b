"""What needs no vLLM; the rest is in tests/llm/test_vllm.py."""

import importlib.machinery
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from crscore import plugins
from crscore.errors import ConfigError, DependencyError, GenerationError, ModelNotFoundError
from crscore.llm.engines import _vllm_load, vllm
from crscore.llm.engines.base import Message, Sampling
from tests.helpers import tiny_llm
from tests.helpers.hub import serve_model
from tests.unit.llm.test_model_files import COMMIT, write_adapter, write_model

pytestmark = pytest.mark.models  # transformers

HELLO = [Message(role="system", text="Be brief."), Message(role="user", text="What changed?")]
ROOT = Path(__file__).parents[4]
NO_SYSTEM = (
    "{% for message in messages %}{% if message['role'] == 'system' %}"
    "{{ raise_exception('no system here') }}{% endif %}"
    "[{{ message['role'] }}]{{ message['content'] }}{% endfor %}[assistant]"
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make vLLM look installed: what these tests do comes before it is imported."""
    module = types.ModuleType("vllm")
    module.__spec__ = importlib.machinery.ModuleSpec("vllm", None)
    monkeypatch.setitem(sys.modules, "vllm", module)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llm.make(tmp_path_factory.mktemp("tiny") / "tiny")


def engine(**options: object) -> vllm.Vllm:
    made = plugins.create("engines", "vllm", options)
    assert isinstance(made, vllm.Vllm)
    return made


def text_of(made: vllm.Vllm, chat: list[Message]) -> str:
    """Return what the model would read."""
    from crscore.llm import chat_text  # noqa: PLC0415

    tokenizer = made._tokenizer()
    return str(tokenizer.decode(chat_text.tokenize_chat(tokenizer, chat)))


def test_the_default_is_the_papers_model_at_a_commit() -> None:
    made = engine()
    name, _, revision = made.identity.removeprefix("vllm:").partition("@")
    assert name == vllm.DEFAULT_MODEL
    assert len(revision) == 40


def test_identity_has_the_model_the_adapter_and_the_numbers(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "base", {"a": b"1"})
    lora = write_adapter(tmp_path / "claims")
    made = engine(model=str(folder), lora=str(lora), quantization="fp8", dtype="float16")
    base, adapter, *numbers = made.identity.split("+")
    assert base.startswith("vllm:base@")
    assert adapter.startswith("lora:claims@")
    assert numbers == ["quantization:fp8", "dtype:float16"]


def test_identity_with_another_adapter_is_another(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "base", {"a": b"1"})
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        lora = write_adapter(tmp_path / name / "claims", alpha=name)
        made.append(engine(model=str(folder), lora=str(lora)).identity)
    assert made[0] != made[1]


def test_identity_does_not_depend_on_the_memory_it_gets(tmp_path: Path) -> None:
    folder = str(write_model(tmp_path / "base", {"a": b"1"}))
    more = engine(model=folder, max_model_len=100, tensor_parallel=2, offline=True)
    assert more.identity == engine(model=folder).identity


def test_the_context_is_the_models_own_or_less(tiny: Path) -> None:
    assert engine(model=str(tiny)).context_tokens == tiny_llm.CONTEXT
    assert engine(model=str(tiny), max_model_len=64).context_tokens == 64


def test_a_long_context_is_not_taken_whole(tmp_path: Path) -> None:
    wide = tiny_llm.make(tmp_path / "wide", context=100_000)
    assert engine(model=str(wide)).context_tokens == vllm.DEFAULT_CONTEXT_TOKENS


def test_a_chat_is_written_by_the_models_own_template(tiny: Path) -> None:
    assert text_of(engine(model=str(tiny)), HELLO) == (
        "<s><|turn|>system\nBe brief.</s>\n<|turn|>user\nWhat changed?</s>\n<|turn|>assistant\n"
    )


def test_a_template_without_a_system_gets_its_words_in_the_first_turn(tmp_path: Path) -> None:
    folder = tiny_llm.make(tmp_path / "tiny")
    (folder / "chat_template.jinja").write_text(NO_SYSTEM)
    text = text_of(engine(model=str(folder)), HELLO)
    assert text == "[user]Be brief.\n\nWhat changed?[assistant]"


def test_a_template_that_refuses_every_chat_is_an_error(tmp_path: Path) -> None:
    folder = tiny_llm.make(tmp_path / "tiny")
    (folder / "chat_template.jinja").write_text("{{ raise_exception('never') }}")
    with pytest.raises(GenerationError, match="chat template rejects the chat: never"):
        engine(model=str(folder)).count(HELLO)


def test_a_model_without_a_template_gets_plain_turns(tmp_path: Path) -> None:
    folder = tiny_llm.make(tmp_path / "tiny", template=False)
    assert text_of(engine(model=str(folder)), HELLO) == (
        "Be brief.\n\n@@ Instruction\nWhat changed?\n\n@@ Response\n"
    )


def test_count_is_the_number_of_tokens_the_model_reads(tiny: Path) -> None:
    made = engine(model=str(tiny))
    more = [*HELLO[:1], Message(role="user", text=HELLO[1].text + "\n")]
    assert made.count(more) == (made.count(HELLO) or 0) + 1


def test_chats_that_are_all_too_long_need_no_vllm(tiny: Path) -> None:
    long = [Message(role="user", text="word " * 2000)]
    (answer,) = engine(model=str(tiny)).complete([long], Sampling(max_tokens=5))
    assert "does not fit the model's context" in str(answer.reason)


def test_no_chats_need_no_vllm(tiny: Path) -> None:
    assert engine(model=str(tiny)).complete([], Sampling(max_tokens=5)) == ()


def test_without_the_package_the_command_is_named(
    monkeypatch: pytest.MonkeyPatch, tiny: Path
) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(DependencyError, match=r"pip install 'crscore\[vllm\]'"):
        engine(model=str(tiny)).complete([HELLO], Sampling(max_tokens=5))


COUNT = """
import importlib.machinery, sys, types
from crscore.llm.engines import vllm
from crscore.llm.engines.base import Message
if sys.argv[2:]:
    sys.modules["vllm"] = types.ModuleType("vllm")
    sys.modules["vllm"].__spec__ = importlib.machinery.ModuleSpec("vllm", None)
else:
    sys.modules["vllm"] = None
print(vllm.create(vllm.VllmOptions(model=sys.argv[1])).count([Message(role="user", text="Hello")]))
"""


def count_apart(endpoint: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Count tokens in a process of its own: the hub's library reads its address when imported."""
    known = {"HF_ENDPOINT": endpoint, "HF_HOME": str(folder / "hub"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", COUNT, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | known,
    )


def test_without_the_package_the_hub_is_not_asked(tmp_path: Path) -> None:
    done = count_apart("http://127.0.0.1:9", tmp_path, "org/some")
    assert done.stderr.splitlines()[-1].endswith(
        "DependencyError: vllm is not installed; install it with: pip install 'crscore[vllm]'"
    )
    assert "retry" not in done.stderr.lower()


def test_a_folder_called_as_the_model_is_not_loaded(tiny: Path, tmp_path: Path) -> None:
    cached = tmp_path / "hub" / "hub" / "models--org--some"
    shutil.copytree(tiny, cached / "snapshots" / COMMIT)
    (cached / "snapshots" / COMMIT / "chat_template.jinja").write_text("Hi")
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(COMMIT)
    shutil.copytree(tiny, tmp_path / "org" / "some")
    with serve_model("org/some", COMMIT, {}) as endpoint:
        done = count_apart(endpoint, tmp_path, "org/some", "installed")
    chat = [Message(role="user", text="Hello")]
    here = engine(model=str(tmp_path / "org" / "some")).count(chat)
    there = engine(model=str(cached / "snapshots" / COMMIT)).count(chat)
    assert here != there
    assert (done.stdout.strip(), done.returncode) == (str(there), 0), done.stderr


@pytest.mark.parametrize("name", ["some", "org/some", vllm.DEFAULT_MODEL])
def test_a_name_is_no_folder_even_where_one_is_called_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    write_model(tmp_path / name, {"a": b"1"})
    monkeypatch.chdir(tmp_path)
    assert engine(model=name).options.revision == vllm.PINNED.get(name, "main")
    assert engine(model=f"./{name}").options.revision is None
    assert engine(model=f"./{name}").identity.startswith(f"vllm:{Path(name).name}@")


def test_a_folder_may_be_in_the_home_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = write_model(tmp_path / "mine", {"a": b"1"})
    assert engine(model="~/mine").identity == engine(model=str(folder)).identity


def test_a_folder_that_is_not_there_is_not_looked_for_on_the_hub() -> None:
    with pytest.raises(ModelNotFoundError, match="no/folder"):
        _ = engine(model="./no/folder").identity


def test_special_tokens_are_those_of_the_tokenizer(tiny: Path) -> None:
    assert engine(model=str(tiny)).special_tokens == {"<s>", "</s>", "<|turn|>", "<pad>"}


def test_half_of_a_pair_is_written_as_a_question_mark(tiny: Path) -> None:
    text = text_of(engine(model=str(tiny)), [Message(role="user", text="a\udcffb")])
    assert "user\na?b</s>" in text


@pytest.mark.usefixtures("installed")
def test_offline_a_model_that_is_not_here_is_not_asked_for() -> None:
    made = engine(model="org/unseen", revision=COMMIT, offline=True)
    with pytest.raises(ModelNotFoundError, match=f"hf download org/unseen --revision {COMMIT}"):
        made.count(HELLO)


def test_a_model_that_wants_to_run_its_own_code_is_refused(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "odd", {"a": b"1"}, config=REMOTE)
    (folder / "code.py").write_text("raise SystemExit('ran')")
    with pytest.raises(GenerationError, match="cannot be loaded"):
        _ = engine(model=str(folder)).context_tokens


REMOTE = '{"model_type": "odd", "auto_map": {"AutoConfig": "code.Config"}}'


def test_a_folder_without_a_tokenizer_is_one_error(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "bare", {"a": b"1"}, config='{"model_type": "llama"}')
    with pytest.raises((GenerationError, ModelNotFoundError)):
        engine(model=str(folder)).count(HELLO)


def test_the_users_own_variables_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    monkeypatch.delenv("VLLM_NO_USAGE_STATS", raising=False)
    before = dict(os.environ)
    with _vllm_load.environment(_vllm_load.ENVIRONMENT):
        assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
        assert os.environ["VLLM_NO_USAGE_STATS"] == "1"
    assert dict(os.environ) == before


def test_the_room_for_chats_is_what_the_models_shape_needs() -> None:
    class Shape:
        num_attention_heads = 32
        hidden_size = 4096
        num_hidden_layers = 32

    # 32 layers x 4096 numbers x (key, value) x 2 bytes = 0.5 MiB a token; two chats of 8,192.
    assert _vllm_load.compute_kv_cache_bytes(Shape(), 8192) == 8 * 2**30
    assert _vllm_load.compute_kv_cache_bytes(Shape(), 10) == 512 * 2**20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concurrency": 3}, "concurrency: is no option"),
        ({"tensor_parallel": "none"}, "tensor_parallel: Expected `int`"),
        ({"max_model_len": -1}, "max_model_len: Expected `int` >= 1"),
        ({"offline": "yes"}, "offline: Expected `bool`"),
        ({"model": "a/b/c"}, r"model: 'a/b/c' is not a model's name; the path of a folder begins"),
        ({"model": "mine/"}, r"model: 'mine/' is not a model's name; the path of a folder begins"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        plugins.create("engines", "vllm", options)


def test_a_folder_has_no_revisions(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no revisions"):
        engine(model=str(tmp_path), revision="main")
