"""Labels through the real engine and client, from a scripted server on loopback."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from crscore import cli, plugins
from crscore.claims.llm import prompt
from crscore.errors import GenerationError, InputError
from crscore.llm.engines.base import Sampling
from crscore_lab.training.claims import labels, rows
from crscore_lab.training.claims.labels import LabelFile, LabelKey
from tests.helpers import claim_rows
from tests.helpers.scripted_llm import Say, completion, serve, well

pytestmark = pytest.mark.research

ROWS = [{"sha256": "1"}, {"asked": "é\u2028", "other": 7}]
KEYS = (LabelKey(sha256="1"), LabelKey(identity="é\u2028"))
HOW = Sampling(max_tokens=256, temperature=0.2, top_p=0.95, seed=42)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)


def _name(asked):
    return re.search(r"\n\+(\w+) = ", asked.text)[1]


def _good(asked):
    name = _name(asked)
    answer = {
        "claims": [f"`{name}` is raised.", "Nothing of it."],
        "implications": [f"More {name}."],
    }
    return well(json.dumps(answer))


def _diffs(tmp_path, count=6):
    return claim_rows.write(tmp_path / "diffs.jsonl", claim_rows.rows(count))


def _label(tmp_path, url, count=6, **changed):
    sample = rows.read_changes(_diffs(tmp_path, count))
    engine = plugins.create(
        "engines", "openai", {"model": changed.pop("model", "big"), "base_url": url}
    )
    with LabelFile(tmp_path / "rows.jsonl") as log:
        return labels.label_changes(
            sample.changes,
            log,
            engine=engine,
            prompt=prompt.load_prompt("claims.v1"),
            sampling=HOW,
            report=changed.pop("report", lambda line: None),
        )


def test_the_rows_can_be_learned_from(tmp_path):
    with serve(_good) as server:
        done = _label(tmp_path, server.url)
    assert (done.added, done.existing, done.failed.total()) == (6, 0, 0)
    labelled = rows.read_rows(tmp_path / "rows.jsonl").rows
    assert labelled[0].claims == ("`retries` is raised.",)  # the other one names nothing of it
    assert labelled[0].implications == ("More retries.",)


def test_each_row_has_the_answer_about_its_own_change(tmp_path):
    with serve(_good) as server:
        _label(tmp_path, server.url)
    labelled = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["patch"] for row in labelled] == [row["patch"] for row in claim_rows.rows(6)]
    for row in labelled:
        name = re.search(r"\n\+(\w+) = ", row["patch"])[1]
        assert row["claims"] == [f"`{name}` is raised."]
        assert f"More {name}." in row["raw"]


def test_the_model_is_asked_with_examples_and_as_published(tmp_path):
    with serve(_good) as server:
        _label(tmp_path, server.url, 1)
    body = server.chats()[0].body
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.2, 0.95, 256)
    assert len(body["messages"]) == 2 * len(prompt.load_prompt("claims.v1").content.examples) + 1


def test_what_has_a_row_is_not_asked_about_again(tmp_path):
    with serve(_good) as server:
        _label(tmp_path, server.url, 4)
        done = _label(tmp_path, server.url, 6)
        assert (done.existing, done.added) == (4, 2)
        assert len(server.chats()) == 6


def test_another_model_is_asked_about_everything(tmp_path):
    with serve(_good) as server:
        _label(tmp_path, server.url, 3)
        done = _label(tmp_path, server.url, 3, model="bigger")
    assert (done.existing, done.added) == (0, 3)


def test_what_failed_is_counted_and_asked_again_in_the_next_run(tmp_path):
    broken = {"retries"}

    def script(asked):
        return completion([]) if _name(asked) in broken else _good(asked)

    with serve(script) as server:
        done = _label(tmp_path, server.url)
        assert (done.added, done.failed.total()) == (4, 2)
        broken.clear()
        assert _label(tmp_path, server.url).added == 2
    assert len(rows.read_rows(tmp_path / "rows.jsonl").rows) == 6


def test_an_answer_without_a_claim_makes_no_row(tmp_path):
    with serve(well("I cannot say.")) as server:
        done = _label(tmp_path, server.url, 2)
    assert done.failed == {labels.NO_CLAIM: 2}
    assert (tmp_path / "rows.jsonl").read_bytes() == b""


def test_a_server_that_is_not_there_is_one_error(tmp_path):
    with serve(_good) as server:
        url = server.url
    with pytest.raises(GenerationError):
        _label(tmp_path, url, 2)


def test_tokens_are_counted_and_those_that_are_not_told_too(tmp_path):
    def script(asked):
        if _name(asked) == "retries":
            answer = json.loads(_good(asked).body)
            return completion(answer["choices"], usage=None)
        return _good(asked)

    with serve(script) as server:
        spent = _label(tmp_path, server.url, 3)
    assert (spent.input_tokens, spent.output_tokens, spent.uncounted) == (22, 14, 1)
    assert spent.dollars(1.0, 2.0) == pytest.approx((22 + 28) / 1e6)


def test_rows_are_kept_batch_by_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(labels, "CHANGES_PER_BATCH", 2)
    lines = []
    with serve(_good) as server:
        _label(tmp_path, server.url, 5, report=lines.append)
    assert [line.split(",")[0] for line in lines] == [
        "2 of 5 labelled", "4 of 5 labelled", "5 of 5 labelled",
    ]  # fmt: skip


def _command(tmp_path, *more):
    diffs, out = str(_diffs(tmp_path)), str(tmp_path / "rows.jsonl")
    return ["train", "labels", diffs, "--model", "big", "-o", out, *more]


def test_the_command_prints_what_it_cost(tmp_path, monkeypatch, capsys):
    with serve(_good) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        code = cli.run(_command(tmp_path, "--price-in", "100", "--price-out", "1000"))
    out, err = capsys.readouterr()
    assert code == 0
    assert "6 rows added, 0 existed" in out
    assert "66 tokens in, 42 out: 0.0486 dollars" in out
    assert "6 changes to label" in err


def test_without_prices_the_command_prints_tokens_alone(tmp_path, monkeypatch, capsys):
    with serve(_good) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert cli.run(_command(tmp_path, "--limit", "2")) == 0
    out = capsys.readouterr().out
    assert "22 tokens in, 14 out\n" in out
    assert "dollars" not in out


def test_one_price_alone_is_refused(tmp_path, capsys):
    assert cli.run(_command(tmp_path, "--price-in", "1")) == 2
    assert "go together" in capsys.readouterr().err


def test_without_a_server_the_command_says_what_to_set(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert cli.run(_command(tmp_path)) == 2
    assert "OPENAI_BASE_URL" in capsys.readouterr().err


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    count = 150  # more than two batches
    diffs = claim_rows.write(tmp_path / "diffs.jsonl", claim_rows.rows(count))
    out = tmp_path / "rows.jsonl"

    def script(asked):
        return Say(body=_good(asked).body, after_s=0.02)

    with serve(script) as server:
        command = [sys.executable, "-m", "crscore", "train", "labels", diffs, "--model", "big"]
        environment = os.environ | {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": ""}
        command = [str(word) for word in [*command, "-o", out]]
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not (out.is_file() and out.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        before = len(out.read_bytes().split(b"\n")) - 1
        assert 0 < before < count
        again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"{count - before} rows added, {before} existed" in again.stdout
    assert len({row.change.sha256 for row in rows.read_rows(out).rows}) == count


def test_what_was_added_is_there_the_next_time(tmp_path):
    path = tmp_path / "rows.jsonl"
    with LabelFile(path) as log:
        assert log.keys == ()
        log.add(ROWS)
    with LabelFile(path) as log:
        assert log.keys == KEYS


def test_a_kill_at_any_byte_loses_the_line_it_hit_and_no_other(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in ROWS]
    whole = b"".join(lines)
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        with LabelFile(path) as log:
            kept = len(log.keys)
            log.add([{"new": cut}])
        assert kept == (cut >= len(lines[0])) + (cut >= len(whole))
        read = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
        assert read == [*ROWS[:kept], {"new": cut}]


def test_two_processes_do_not_write_to_one_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    with LabelFile(path), pytest.raises(InputError, match="another process writes to it"):
        LabelFile(path)
    LabelFile(path).__exit__(None, None, None)  # the lock went with the first


@pytest.mark.parametrize("line", [b"{", b"[1]", b"\xff", b"7", b'{"asked": 7}'])
def test_a_file_of_something_else_is_left_alone(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n" + line + b"\n")
    with pytest.raises(InputError, match=r"rows\.jsonl(:2:| cannot be read as labelled rows)"):
        LabelFile(path)
    assert path.read_bytes() == b"{}\n" + line + b"\n"


def test_rows_are_not_added_to_packed_files_or_to_nowhere(tmp_path):
    with pytest.raises(InputError, match=r"without \.gz"):
        LabelFile(tmp_path / "rows.jsonl.gz")
    with pytest.raises(InputError, match="cannot be opened"):
        LabelFile(tmp_path / "none" / "rows.jsonl")
