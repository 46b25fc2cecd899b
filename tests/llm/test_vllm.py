"""A tiny model in the real vLLM: in process, and as a server through the `openai` engine.

Runs in the virtual environment that scripts/install-test-llm.sh makes: `make nightly-models`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from crscore import Scorer
from crscore.errors import GenerationError
from crscore.llm import chat_text, openai, vllm
from crscore.llm.base import Message, Sampling
from tests.helpers import tiny_llm

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crscore.llm.base import Answer

# vLLM and what it imports warn of each other's old ways; none of it is ours to mend.
pytestmark = pytest.mark.filterwarnings("ignore")

SHORT = Sampling(max_tokens=16)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "claims": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 8}}
    },
    "required": ["claims"],
    "additionalProperties": False,
}
KEPT = Sampling(max_tokens=120, schema=SCHEMA)
READY_S = 900
RULES = "Say what changed in the code, one line each, and what may come of it. " * 8


def chats(number: int) -> list[list[Message]]:
    rules = Message(role="system", text=RULES)
    return [[rules, Message(role="user", text=f"diff {i} of {i * i}")] for i in range(number)]


def tokens_of(engine: vllm.Vllm, chat: list[Message]) -> int:
    return len(chat_text.tokenize_chat(engine.loaded()[0].get_tokenizer(), chat))


def texts(answers: tuple[Answer, ...]) -> list[str]:
    assert [answer.reason for answer in answers] == [None] * len(answers)
    return [answer.text for answer in answers]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llm.make(tmp_path_factory.mktemp("llm") / "tiny")


@pytest.fixture(scope="session")
def lora(tiny: Path) -> Path:
    return tiny_llm.adapter(tiny.parent / "lora", tiny)


@pytest.fixture(scope="module")
def engine(tiny: Path) -> vllm.Vllm:
    return made(model=str(tiny), offline=True)


def made(**options: Any) -> vllm.Vllm:
    engine = vllm.create(vllm.Vllm(**options))
    assert isinstance(engine, vllm.Vllm)
    return engine


def in_a_process(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a program that does not share what this process has loaded."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    # What our test runner sets or vLLM has left here is no part of it.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=1800,
        env=kept | {"PYTHONPATH": "."},
    )


def test_a_batch_is_answered_in_its_order(engine: vllm.Vllm) -> None:
    batch = texts(engine.complete(chats(6), SHORT))
    alone = [texts(engine.complete([chat], SHORT))[0] for chat in chats(6)]
    assert batch == alone
    assert len(set(batch)) > 1


def test_reader_asks_the_model_and_leaves_what_it_cannot_read_to_the_network(
    tmp_path: Path,
) -> None:
    # An untrained model writes strings without an end, so its answer is cut off.
    model = tiny_llm.make(tmp_path / "reader", context=8_192)
    options = {"analyzers": "none", "cache": False, "claims": "structural", "offline": True}
    result = Scorer(**options, reader=f"vllm:{model}").score(
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n", "Why is `x` 2 now?"
    )
    assert "A language model read 0 of 1 comment (requests: 1" in result.notes[0]
    assert "The network alone read 1 comment" in result.notes[1]
    assert [remark.reading for remark in result.remarks] == [None]
    assert "|readings:vllm:" in result.signature


def test_greedy_answers_are_the_same_twice(engine: vllm.Vllm) -> None:
    assert engine.complete(chats(4), SHORT) == engine.complete(chats(4), SHORT)


def test_seeded_draws_are_the_same_twice_and_others_by_another_seed(engine: vllm.Vllm) -> None:
    drawn = [
        engine.complete(chats(2), Sampling(max_tokens=16, temperature=1.0, seed=seed))
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_tokens_are_counted(engine: vllm.Vllm) -> None:
    (answer,) = engine.complete(chats(1), SHORT)
    assert answer.input_tokens == tokens_of(engine, chats(1)[0])
    assert answer.output_tokens == 16
    assert not answer.whole


def test_answers_equal_those_of_transformers(engine: vllm.Vllm, tiny: Path) -> None:
    import torch  # noqa: PLC0415
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415

    tokenizer = AutoTokenizer.from_pretrained(tiny)
    model = AutoModelForCausalLM.from_pretrained(tiny, dtype=torch.bfloat16)
    said = [answer.text for answer in engine.complete(chats(8), Sampling(max_tokens=1))]
    for chat, text in zip(chats(8), said, strict=True):
        turns = [{"role": message.role, "content": message.text} for message in chat]
        given = tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        with torch.inference_mode():
            logits = model(**given).logits[0, -1].float()
        likeliest = [tokenizer.decode([index]) for index in logits.topk(3).indices.tolist()]
        # Rounding differs, so the first of equals may be another one. vLLM holds back a token
        # that is part of a character, which the tokenizer decodes as U+FFFD.
        assert text in [token.replace("\N{REPLACEMENT CHARACTER}", "") for token in likeliest]
    assert any(said)


def test_a_schema_is_kept(engine: vllm.Vllm) -> None:
    for text in texts(engine.complete(chats(12), KEPT)):
        data = json.loads(text)  # strict: no raw control characters either
        assert list(data) == ["claims"]
        assert all(isinstance(claim, str) and len(claim) <= 8 for claim in data["claims"])
        assert text == json.dumps(data, separators=(",", ":"), ensure_ascii=False) or "\\" in text


def test_a_schema_that_no_grammar_can_keep_is_left_out(engine: vllm.Vllm) -> None:
    odd = {"type": "array", "uniqueItems": True, "items": {"type": "no such type"}}
    with_it = engine.complete(chats(2), Sampling(max_tokens=16, schema=odd))
    assert texts(with_it) == texts(engine.complete(chats(2), SHORT))


def test_a_chat_that_is_too_long_has_a_reason_and_the_others_answers(engine: vllm.Vllm) -> None:
    long = [Message(role="user", text="word " * 3000)]
    first, second, third = engine.complete([chats(2)[0], long, chats(2)[1]], SHORT)
    assert "does not fit the model's context" in str(second.reason)
    assert (first, third) == engine.complete(chats(2), SHORT)


def test_what_chats_begin_with_is_computed_once(engine: vllm.Vllm) -> None:
    def hits() -> float:
        metrics = engine.loaded()[0].get_metrics()
        return sum(m.value for m in metrics if m.name == "vllm:prefix_cache_hits")

    begin = [Message(role="system", text="Quite other rules for this one. " * 40)]
    engine.complete([[*begin, Message(role="user", text="first")]], SHORT)
    before = hits()
    answers = engine.complete(
        [[*begin, Message(role="user", text=f"next {index}")] for index in range(5)], SHORT
    )
    read = sum(answer.input_tokens or 0 for answer in answers)
    assert hits() - before > 0.5 * read


def test_an_adapter_changes_the_answers_and_the_identity(tiny: Path, lora: Path) -> None:
    options = {"model": str(tiny), "offline": True}
    plain, adapted = made(**options), made(**options, lora=str(lora))
    said = texts(adapted.complete(chats(4), SHORT))
    assert said != texts(plain.complete(chats(4), SHORT))
    assert adapted.identity.startswith(plain.identity + "+lora:lora@")


def test_an_adapter_for_another_model_is_one_error(tiny: Path, tmp_path: Path) -> None:
    other = tiny_llm.adapter(tmp_path / "lora", tiny)
    settings = json.loads((other / "adapter_config.json").read_text())
    (other / "adapter_config.json").write_text(json.dumps(settings | {"r": 1024}))
    with pytest.raises(GenerationError, match="vLLM"):
        made(model=str(tiny), lora=str(other)).complete(chats(1), SHORT)


def test_pickled_weights_are_not_read(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    folder.mkdir()
    for path in tiny.iterdir():
        if path.suffix != ".safetensors":
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    with pytest.raises(GenerationError, match="pickled weights"):
        made(model=str(folder)).complete(chats(1), SHORT)


def test_a_models_own_code_does_not_run(tiny: Path, tmp_path: Path) -> None:
    folder = tmp_path / "coded"
    folder.mkdir()
    for path in tiny.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    auto = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    config |= {"model_type": "own", "architectures": ["Own"], "auto_map": auto}
    (folder / "config.json").write_text(json.dumps(config))
    mark = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(mark)!r}, 'w')")
    with pytest.raises(GenerationError):
        made(model=str(folder)).complete(chats(1), SHORT)
    assert not mark.exists()


CLEAN = """
import os, signal, sys
names = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
before = [signal.getsignal(name) for name in names]
kept = dict(os.environ)
from crscore.llm import vllm
from crscore.llm.base import Message, Sampling
made = vllm.create(vllm.Vllm(model=sys.argv[1]))
chat = [Message(role="user", text="hello")]
assert made.complete([chat], Sampling(max_tokens=4))[0].reason is None
assert [signal.getsignal(name) for name in names] == before
assert all(os.environ.get(name) == value for name, value in kept.items())
ours = ("LD_PRELOAD", "HF_HUB_OFFLINE", "VLLM_LOGGING_LEVEL", "VLLM_ENABLE_V1_MULTIPROCESSING")
assert not any(name in os.environ for name in ours), "left in the environment"
import subprocess
ps = ["ps", "--no-headers", "-o", "pid=,comm=", "--ppid", str(os.getpid())]
children = [l for l in subprocess.run(ps, capture_output=True, text=True).stdout.splitlines()]
assert len([l for l in children if not l.endswith("ps")]) == 0, children
"""


def test_it_leaves_output_signals_environment_and_processes_alone(tiny: Path) -> None:
    done = in_a_process(CLEAN, tiny)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.fixture(scope="module")
def server(tiny: Path, lora: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of vLLM's own, with the adapter as a second model, `adapted`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(tiny)]
    command += ["--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--enforce-eager", "--api-key", "sk-of-this-test", "--enable-lora"]
    command += ["--lora-modules", f"adapted={lora}", "--structured-outputs-config"]
    command += [json.dumps({"backend": "guidance", "disable_any_whitespace": True})]
    settings = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
    settings |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1"}
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as sink:
        run = subprocess.Popen(command, stdout=sink, stderr=sink, env={**os.environ, **settings})
    try:
        _await(f"http://127.0.0.1:{port}/health", run, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        run.send_signal(signal.SIGINT)
        try:
            run.wait(timeout=120)
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()


def _await(url: str, run: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + READY_S
    while time.monotonic() < end and run.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.3)
    pytest.fail(f"the server did not start:\n{log.read_text()[-3000:]}")


def asked(server: str, **options: str) -> openai.OpenAI:
    given = {"model": "tiny", "base_url": server, "api_key": "sk-of-this-test"} | options
    engine = openai.create(openai.OpenAIOptions(**given))
    assert isinstance(engine, openai.OpenAI)
    return engine


def test_server_counts_tokens_as_the_process_does(server: str, engine: vllm.Vllm) -> None:
    (answer,) = asked(server).complete(chats(1), SHORT)
    assert answer.text
    assert (answer.whole, answer.output_tokens) == (False, 16)
    assert answer.input_tokens == tokens_of(engine, chats(1)[0])


def test_the_server_answers_as_the_process_does(server: str, engine: vllm.Vllm) -> None:
    few = Sampling(max_tokens=3)
    there, here = (texts(made.complete(chats(8), few)) for made in (asked(server), engine))
    same = sum(one == other for one, other in zip(there, here, strict=True))
    assert same >= 6  # batches differ, and with them the rounding


def test_the_server_keeps_a_schema(server: str) -> None:
    for text in texts(asked(server).complete(chats(4), KEPT)):
        assert list(json.loads(text, strict=False)) == ["claims"]


def test_the_servers_adapter_is_asked_by_its_name(server: str) -> None:
    adapted = asked(server, model="adapted")
    said = texts(adapted.complete(chats(4), SHORT))
    assert said != texts(asked(server).complete(chats(4), SHORT))


def test_a_chat_too_long_for_the_server_has_a_reason(server: str) -> None:
    long = [Message(role="user", text="word " * 3000)]
    good, bad = asked(server).complete([chats(1)[0], long], SHORT)
    assert good.reason is None
    assert "does not fit the model's context" in str(bad.reason)


def test_a_wrong_key_is_one_error(server: str) -> None:
    with pytest.raises(GenerationError, match="the server rejects the key"):
        asked(server, api_key="sk-another").complete(chats(3), SHORT)


def test_a_model_that_the_server_has_not_is_one_error(server: str) -> None:
    with pytest.raises(GenerationError, match=r"no such model.*does not exist"):
        asked(server, model="gpt-0").complete(chats(3), SHORT)
