"""The engine through the real `openai` client, against a scripted server on loopback."""

import asyncio
import contextlib
import logging
import pickle
import re
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from crscore import plugins
from crscore.errors import ConfigError, DependencyError, GenerationError
from crscore.llm import openai
from crscore.llm.base import Answer, Message, Sampling
from tests.helpers import scripted_llm, tls
from tests.helpers.growth import slowness
from tests.helpers.scripted_llm import Asked, Say, completion, error, serve, well

KEY = "sk-secret-1234"
SCHEMA = {"type": "array", "items": {"type": "string"}}
PLAIN = Sampling(max_tokens=50)


def chats(number: int) -> list[list[Message]]:
    rules = Message(role="system", text="Say what changed.")
    return [[rules, Message(role="user", text=f"diff {index}")] for index in range(number)]


def engine(url: str, **options: object) -> openai.OpenAI:
    made = plugins.create("engines", "openai", {"model": "tiny", "base_url": url} | options)
    assert isinstance(made, openai.OpenAI)
    return made


def one(say: object, sampling: Sampling = PLAIN, **options: object) -> Answer:
    """Ask two chats, of which the first is answered well, and return the answer to the second."""

    def script(asked: Asked) -> Say:
        if asked.text == "diff 0":
            return well("fine")
        return say(asked) if callable(say) else say  # type: ignore[return-value]

    with serve(script) as server:
        return engine(server.url, **options).complete(chats(2), sampling)[1]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)


def test_answers_come_in_the_order_of_the_chats() -> None:
    def script(asked: Asked) -> Say:
        say = well(asked.text)
        return Say(body=say.body, after_s=0.1 if asked.text.endswith("0") else 0.0)

    with serve(script) as server:
        answers = engine(server.url).complete(chats(25), PLAIN)
    assert [answer.text for answer in answers] == [f"diff {index}" for index in range(25)]


def test_an_answer_has_its_tokens_and_is_whole() -> None:
    with serve(well("text")) as server:
        answer = engine(server.url).complete(chats(1), PLAIN)[0]
    assert answer == Answer(text="text", whole=True, input_tokens=11, output_tokens=7)


def test_token_counts_that_are_not_numbers_are_unknown() -> None:
    usage = {"prompt_tokens": "11", "completion_tokens": None}
    answer = one(completion([{"message": {"content": "text"}}], usage=usage))
    assert answer == Answer(text="text", whole=True)


def test_no_request_is_sent_without_chats() -> None:
    assert engine("http://127.0.0.1:9/v1").complete([], PLAIN) == ()


def test_request_has_the_sampling_settings() -> None:
    sampling = Sampling(max_tokens=9, temperature=0.2, top_p=0.9, seed=4, schema=SCHEMA)
    with serve() as server:
        engine(server.url).complete(chats(1), sampling)
        body = server.chats()[0].body
    schema = body["response_format"]["json_schema"]["schema"]
    drawn = [body[name] for name in ("model", "max_tokens", "temperature", "top_p", "seed")]
    assert (drawn, schema) == (["tiny", 9, 0.2, 0.9, 4], SCHEMA)


def test_concurrency_limits_the_simultaneous_requests() -> None:
    with serve(Say(body=well().body, after_s=0.05)) as server:
        engine(server.url, concurrency=3).complete(chats(12), PLAIN)
        assert server.most_at_once == 3


@pytest.mark.growth
def test_overhead_of_200_chats_at_concurrency_32_is_small() -> None:
    with scripted_llm.serve_apart("[]") as url:
        made = engine(url, concurrency=32)
        made.complete(chats(2), PLAIN)
        before = time.process_time()
        answers = made.complete(chats(200), PLAIN)
    assert all(answer.reason is None for answer in answers)
    assert (
        time.process_time() - before
    ) / 200 < 0.02 * slowness()  # some 2 ms where nothing else runs


@pytest.mark.parametrize("reason", ["length", "model_length", "MAX_TOKENS"])
def test_an_answer_cut_by_the_limit_is_not_whole(reason: str) -> None:
    assert one(well("half a", finish_reason=reason)) == Answer(
        text="half a", whole=False, input_tokens=11, output_tokens=7
    )


@pytest.mark.parametrize(
    ("say", "reason"),
    [
        (completion([]), "no choices"),
        (completion(None), "no choices"),
        (completion([None]), "no choices"),
        (completion([{"message": "text"}]), "no choices"),
        (well(None), "answer is empty"),
        (well(" \n"), "answer is empty"),
        (well(None, finish_reason="length"), "reached before"),
        (well(None, finish_reason="content_filter"), "content filter"),
        (well(None, message={"content": None, "refusal": "I will\x1b not"}), "refused: I will not"),
        (Say(body=b'{"error": {"message": "no credits"}}'), "reports an error: no credits"),
        (Say(body=b'{"error": "busy"}'), "reports an error: busy"),
        (Say(body=b'[{"error": {"code": 400, "message": "busy"}}]'), "no choices: .*busy"),
        (Say(body=b'{"detail": [{"msg": "busy"}]}'), "no choices: .*busy"),
        (completion([{"message": None, "error": {"message": "busy"}}]), "an error: busy"),
        (well("half", error={"message": "busy"}), "an error: busy"),
        (Say(body=b'{"queue": 12}'), r"no choices: \{'queue': 12\}"),
        (Say(body=b"busy", headers={"content-type": "text/plain"}), "no choices: busy"),
        (error(400, "Maximum context length is 8 tokens"), "does not fit"),
        (error(413, "request (9 tokens) exceeds the available context size"), "does not fit"),
        (error(400, "What is this?"), "HTTP 400: What is this"),
        (Say(body=b"<html>", headers={"content-type": "text/html"}), "no choices: <html>"),
        (Say(body=b"[" * 100_000), "not JSON"),
        (Say(body=b"[]"), "no choices"),
        (Say(body=b'{"choices": [{"mess'), "not JSON"),
        (Say(body=well().body, cut_at=40), r"connection broke \(.*closed connection"),
        (Say(body=b"{}", cut_at=0), "connection broke"),
        (Say(gone=True), "connection broke"),
        (error(500, "out of memory"), "HTTP 500: out of memory"),
        (Say(status=502, body=b"<html>\x1b[31mBad\nGateway"), r"HTTP 502: <html>\[31mBad Gateway"),
    ],
)
def test_invalid_reply_is_the_reason_of_its_chat_alone(say: Say, reason: str) -> None:
    answer = one(say)
    assert answer.text == ""
    assert re.search(reason, str(answer.reason))


@pytest.mark.parametrize(
    "bad",
    [
        error(500, "now and then"),
        error(503, "loading the model"),
        Say(body=well().body, cut_at=30),
        error(429, "slow down"),
    ],
)
def test_request_that_fails_once_is_repeated(bad: Say) -> None:
    assert one(lambda asked: well("then") if asked.before else bad).text == "then"


def test_failing_server_gets_a_limited_number_of_requests() -> None:
    with serve(error(500, "broken")) as server:
        with pytest.raises(GenerationError, match=r"^tiny at http.*HTTP 500: broken"):
            engine(server.url).complete(chats(1), PLAIN)
        assert len(server.asked) == openai.MAX_RETRIES + 1


@pytest.mark.parametrize(
    "headers", [{"retry-after": "0.3"}, {"retry-after-ms": "300"}], ids=["seconds", "milliseconds"]
)
def test_busy_server_is_asked_again_after_the_time_it_names(headers: dict[str, str]) -> None:
    def script(asked: Asked) -> Say:
        return well("ok") if asked.before else error(429, "slow down", headers)

    with serve(script) as server:
        (answer,) = engine(server.url).complete(chats(1), PLAIN)
        first, second = server.chats()
    assert answer.text == "ok"
    assert second.at - first.at > 0.25


def test_retry_after_a_day_ends_the_run() -> None:
    begun = time.monotonic()
    with serve(error(429, "quota per day", {"retry-after": "86400"})) as server:
        with pytest.raises(GenerationError, match=r"too many requests.*quota per day"):
            engine(server.url, concurrency=1).complete(chats(50), PLAIN)
        assert len(server.asked) == openai.MAX_FAILURES_IN_A_ROW
    assert time.monotonic() - begun < 5


def test_hanging_server_ends_the_run_after_a_few_chats() -> None:
    with serve(Say(after_s=60)) as server:
        with pytest.raises(GenerationError, match="no answer in time; raise timeout_s"):
            engine(server.url, timeout_s=0.5, concurrency=1).complete(chats(50), PLAIN)
        # A request may be given up before the server has read it.
        assert 0 < len(server.asked) <= openai.MAX_FAILURES_IN_A_ROW


def test_chat_that_times_out_has_a_reason() -> None:
    assert one(Say(after_s=60), timeout_s=1).reason == "no answer in time"


def test_slow_bytes_do_not_extend_the_timeout() -> None:
    assert one(Say(body=well().body, drip_s=0.1), timeout_s=1).reason == "no answer in time"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "response_format is not supported by this model"),
        (422, "extra fields not permitted: response_format"),
        (500, "[{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}]"),
        (500, "Input should be 'text' or 'json_object'"),
    ],
)
def test_rejected_schema_is_left_out_of_later_requests(status: int, message: str) -> None:
    def script(asked: Asked) -> Say:
        return error(status, message) if "response_format" in asked.body else well("prose")

    sampling = Sampling(max_tokens=50, schema=SCHEMA)
    with serve(script) as server:
        made = engine(server.url, concurrency=1)
        first = made.complete(chats(3), sampling)
        refused = len(server.asked) - 3
        made.complete(chats(2), sampling)
        # A failure, which this may be as well, is asked again before its words are read.
        tries = 1 if status < 500 else openai.MAX_RETRIES + 1
        assert (refused, len(server.asked)) == (tries, tries + 5)
    assert [answer.text for answer in first] == ["prose"] * 3


def test_schema_is_not_blamed_for_a_failure_of_a_request_without_it() -> None:
    assert "HTTP 400" in str(one(error(400, "response_format is unknown")).reason)


def test_failure_that_names_a_field_does_not_change_later_requests() -> None:
    def script(asked: Asked) -> Say:
        if asked.text == "diff 0":
            return error(500, "the temperature of the GPU is too high")
        return well(f"{asked.body['temperature']}")

    with serve(script) as server:
        answers = engine(server.url, concurrency=1).complete(chats(2), PLAIN)
    assert [answer.text for answer in answers] == ["", "0.0"]


def test_max_tokens_is_renamed_for_a_server_that_rejects_it() -> None:
    def script(asked: Asked) -> Say:
        if "max_tokens" in asked.body:
            text = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return error(400, text, param="max_tokens")
        if "temperature" in asked.body:
            return error(400, "Unsupported value: 'temperature' does not support 0.0")
        return well(f"at most {asked.body['max_completion_tokens']}")

    with serve(script) as server:
        assert engine(server.url).complete(chats(1), PLAIN)[0].text == "at most 50"


def test_server_that_rejects_both_limits_is_an_error() -> None:
    def script(asked: Asked) -> Say:
        if "max_tokens" in asked.body:
            return error(400, "use max_completion_tokens")
        return error(400, "max_completion_tokens is unknown, use max_tokens")

    with serve(script) as server:
        with pytest.raises(GenerationError, match="the server rejects the request"):
            engine(server.url).complete(chats(1), PLAIN)
        assert len(server.asked) == 2


def test_an_answer_in_parts_is_joined() -> None:
    parts = [
        {"type": "text", "text": "half "},
        {"type": "image"},
        {"type": "reasoning", "text": "a draft"},
        {"type": "text", "text": "whole"},
    ]
    assert one(well(None, message={"content": parts})).text == "half whole"


@pytest.mark.parametrize(
    ("say", "line"),
    [
        (
            error(401, "Incorrect API key: sk-secret-1234"),
            r"HTTP 401: .*\*\*\*\); set OPENAI_API_K",
        ),
        (error(401, "Incorrect login: bWU6c2stc2VjcmV0LTEyMzQ="), r"HTTP 401: .* bWU6\*\*\*"),
        (error(403, "not allowed"), "the server rejects the key"),
        (error(404, "The model `tiny` does not exist."), "no such model"),
        (Say(status=307, headers={"location": "http://127.0.0.1:1/v1"}), "not followed"),
    ],
)
def test_final_failure_is_one_error_after_one_request(say: Say, line: str) -> None:
    with serve(say) as server:
        with pytest.raises(GenerationError, match=line) as caught:
            engine(server.url, api_key=KEY, concurrency=1).complete(chats(20), PLAIN)
        assert len(server.asked) == 1
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_exhausted_quota_is_one_error() -> None:
    with serve(error(429, "used up", code="insufficient_quota")) as server:
        with pytest.raises(GenerationError, match="quota is used up"):
            engine(server.url, concurrency=1).complete(chats(20), PLAIN)
        assert len(server.asked) == openai.MAX_RETRIES + 1


def test_unreachable_server_is_one_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(GenerationError, match=r"server is not reachable \(.+\); start it"):
            engine(url).complete(chats(40), PLAIN)


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "certificates .* cannot be used: .*No such file"),
        ("SSL_CERT_FILE", "EMPTY", "certificates .* cannot be used: .* no certificate"),
        ("HTTPS_PROXY", "http://127.0.0.1:1", "not reachable .* check .* the proxy"),
        ("ALL_PROXY", "http://127.0.0.1:1", "not reachable .* check .* the proxy"),
        ("HTTPS_PROXY", "ftp://127.0.0.1:1", "the proxy .* of the environment cannot be used"),
        ("HTTPS_PROXY", "REFUSES", r"not reachable \(407 Authenticate\).* check .* the proxy"),
    ],
)
def test_error_names_the_certificates_and_the_proxy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, line: str
) -> None:
    (tmp_path / "empty.pem").touch()
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def refuse() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = proxy.accept()
                    connection.recv(1000)
                    connection.sendall(b"HTTP/1.1 407 Authenticate\r\nContent-Length: 0\r\n\r\n")
                    connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        values = {
            "EMPTY": str(tmp_path / "empty.pem"),
            "REFUSES": f"http://127.0.0.1:{proxy.getsockname()[1]}",
        }
        monkeypatch.setenv(name, values.get(value, value))
        monkeypatch.setenv("NO_PROXY", "")
        with pytest.raises(GenerationError, match=line):
            engine("https://host.invalid/v1").complete(chats(1), PLAIN)


def test_error_names_an_untrusted_certificate(tmp_path: Path) -> None:
    with (
        tls.serve(tmp_path / "both.pem") as url,
        pytest.raises(GenerationError, match=r"CERTIFICATE_VERIFY_FAILED.*SSL_CERT_FILE"),
    ):
        engine(url).complete(chats(1), PLAIN)


def test_answers_before_a_crash_of_the_server_are_kept() -> None:
    def script(asked: Asked) -> Say:
        return well("ok") if asked.text in {"diff 0", "diff 1"} else error(401, "expired")

    with serve(script) as server:
        answers = engine(server.url, concurrency=1).complete(chats(5), PLAIN)
        assert len(server.asked) == 3
    assert [answer.text for answer in answers] == ["ok", "ok", "", "", ""]
    assert all("expired" in str(answer.reason) for answer in answers[2:])


def test_run_with_only_one_chat_that_is_too_long_is_no_error() -> None:
    with serve(error(400, "maximum context length is 1024 tokens", code="x")) as server:
        (answer,) = engine(server.url).complete(chats(1), PLAIN)
    assert "does not fit" in str(answer.reason)


def test_key_is_not_sent_to_the_target_of_a_redirect() -> None:
    with serve() as other:
        away = Say(status=307, headers={"location": f"{other.url}/chat/completions"})
        with serve(away) as server, pytest.raises(GenerationError):
            engine(server.url, api_key=KEY).complete(chats(1), PLAIN)
        assert other.asked == []


def test_key_is_sent_but_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serve() as server:
        made = engine(server.url, api_key=KEY)
        made.complete(chats(1), PLAIN)
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(made) + made.identity + caplog.text


def test_key_of_the_environment_is_not_sent_if_no_key_is_configured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serve() as server:
        engine(server.url).complete(chats(1), PLAIN)
        assert KEY not in str(server.asked[0].headers)


def test_engine_works_inside_a_running_event_loop() -> None:
    async def notebook(url: str) -> tuple[Answer, ...]:
        return engine(url).complete(chats(1), PLAIN)

    with serve(well("ok")) as server:
        assert asyncio.run(notebook(server.url))[0].text == "ok"


def test_engine_can_be_pickled() -> None:
    made = engine("http://127.0.0.1:9/v1", api_key=KEY)
    assert pickle.loads(pickle.dumps(made)) == made


def test_the_context_is_known_only_from_the_options() -> None:
    assert engine("http://127.0.0.1:9/v1").context_tokens is None
    assert engine("http://127.0.0.1:9/v1", max_model_len=4096).context_tokens == 4096


def test_lone_surrogate_of_an_answer_is_a_question_mark() -> None:
    assert one(well("name \udcff\ud800")).text == "name ??"


def test_special_tokens_of_a_server_are_unknown() -> None:
    assert engine("http://127.0.0.1:9/v1").special_tokens == frozenset()


def test_offline_sends_no_request() -> None:
    with serve() as server:
        with pytest.raises(GenerationError, match="--offline"):
            engine(server.url, offline=True).complete(chats(1), PLAIN)
        assert server.asked == []


def test_error_without_the_package_names_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(DependencyError, match=r"pip install 'crscore\[openai\]'"):
        engine("http://127.0.0.1:9/v1").complete(chats(1), PLAIN)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "model: expected a model of the server"),
        ({"model": "m"}, "base_url: set OPENAI_BASE_URL"),
        ({"model": "m\udcff", "api_key": "k"}, "model: expected a model .*, in printable"),
        ({"model": "m", "api_key": "k", "lora": "x"}, "lora: is not an option"),
        ({"model": "m", "base_url": "localhost:8000"}, "base_url: expected http"),
        ({"model": "m", "base_url": "ftp://host/v1"}, "base_url: expected http"),
        ({"model": "m", "base_url": "http://host:99999/v1"}, "base_url: expected http"),
        ({"model": "m", "base_url": "http://me:pass@host/v1"}, "without a user name, password"),
        ({"model": "m", "api_key": f"{KEY}\n"}, "api_key: expected printable ASCII"),
        ({"model": "m", "api_key": "k", "concurrency": "0"}, "concurrency: Expected `int` >= 1"),
        ({"model": "m", "api_key": "k", "timeout_s": "nan"}, "timeout_s: Expected `float`"),
        ({"model": "m", "api_key": "k", "timeout_s": "long"}, "timeout_s: Expected `float`"),
        ({"model": "m", "api_key": "k", "offline": "yes"}, "offline: Expected `bool`"),
    ],
)
def test_error_names_the_wrong_option(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        plugins.create("engines", "openai", options)
    assert KEY not in str(caught.value)
    assert "pass@" not in str(caught.value)


def test_key_without_an_address_selects_openai() -> None:
    made = openai.create(openai.OpenAIOptions(model="m", api_key="k"))
    assert made.origin == openai.OPENAI_URL
