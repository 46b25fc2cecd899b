"""Labels through the real engine and client, from a scripted server on loopback."""

from __future__ import annotations

import json
import re

import pytest

from crscore import cli
from crscore.errors import InputError
from crscore_lab.training.claims import labels, rows
from tests.helpers import claim_rows
from tests.helpers.scripted_llm import completion, serve, well

pytestmark = pytest.mark.research


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)


@pytest.fixture
def label(tmp_path, monkeypatch, capsys):
    """Run the command on the first changes of a file; return its output and the rows."""

    def run(server, count=6, model="big", *more):
        diffs = claim_rows.write(tmp_path / "diffs.jsonl", claim_rows.rows(count))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        command = ["train", "labels", diffs, "--model", model, "-o", tmp_path / "rows.jsonl", *more]
        assert cli.run([str(word) for word in command]) == 0
        lines = (tmp_path / "rows.jsonl").read_text().splitlines()
        return capsys.readouterr().out, [json.loads(line) for line in lines]

    return run


def name_in(request):
    return re.search(r"\n\+(\w+) = ", request.text)[1]


def answer(request):
    name = name_in(request)
    content = {
        "claims": [f"`{name}` is raised."],
        "implications": [f"More {name}."],
    }
    return well(json.dumps(content))


def test_labelled_rows_are_training_rows(label, tmp_path):
    with serve(answer) as server:
        out, labelled = label(server)
    assert "6 rows added, 0 existed" in out
    assert [row["patch"] for row in labelled] == [row["patch"] for row in claim_rows.rows(6)]
    (first, *_), _ = rows.read_rows(tmp_path / "rows.jsonl")
    assert first.claims == ("`retries` is raised.",)
    assert first.implications == ("More retries.",)


def test_published_sampling_and_the_examples_are_sent(label):
    with serve(answer) as server:
        label(server, 1)
    body = server.chats()[0].body
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.2, 0.95, 256)
    assert len(body["messages"]) > 1


def test_change_with_a_row_is_not_sent_again(label):
    with serve(answer) as server:
        label(server, 4)
        out, _ = label(server, 6)
        assert len(server.chats()) == 6
    assert "2 rows added, 4 existed" in out


def test_rows_of_another_model_are_ignored(label):
    with serve(answer) as server:
        label(server, 3)
        out, _ = label(server, 3, "bigger")
    assert "3 rows added, 0 existed" in out


def test_failed_change_is_sent_again_in_the_next_run(label):
    broken = {"retries"}

    def script(request):
        return completion([]) if name_in(request) in broken else answer(request)

    with serve(script) as server:
        out, _ = label(server)
        assert "4 rows added" in out
        assert "2 have no row" in out
        broken.clear()
        out, labelled = label(server)
    assert "2 rows added, 4 existed" in out
    assert len(labelled) == 6


def test_rows_before_a_failure_of_the_server_are_kept(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(labels, "CHANGES_PER_BATCH", 2)
    diffs = claim_rows.write(tmp_path / "diffs.jsonl", claim_rows.rows(2))
    command = ["train", "labels", str(diffs), "--model", "big", "-o", str(tmp_path / "rows.jsonl")]
    with serve(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert cli.run(command) == 0
    claim_rows.write(tmp_path / "diffs.jsonl", claim_rows.rows(4))
    assert cli.run(command) == 3  # the server is gone
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 2


def test_answer_without_a_claim_has_no_row(label):
    with serve(well('{"claims": [], "implications": []}')) as server:
        out, labelled = label(server, 2)
    assert labelled == []
    assert "2 have no row" in out


def test_error_without_a_server_names_the_variable(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    diffs = claim_rows.write(tmp_path / "diffs.jsonl", claim_rows.rows(1))
    assert cli.run(["train", "labels", str(diffs), "--model", "m", "-o", str(tmp_path / "r")]) == 2
    assert "OPENAI_BASE_URL" in capsys.readouterr().err


def test_changes_are_drawn_within_the_lengths_without_duplicates(tmp_path):
    entries = claim_rows.rows(20)
    path = claim_rows.write(tmp_path / "d.jsonl", [*entries, entries[0], {"patch": "x" * 2000}])
    every = labels.read_changes(path)
    assert len(every) == 20
    few = labels.read_changes(path, limit=5)
    assert few == labels.read_changes(path, limit=9)[:5]
    assert few != labels.read_changes(path, limit=5, seed=1)


def test_folder_of_patches_is_read(tmp_path):
    for index, row in enumerate(claim_rows.rows(2)):
        (tmp_path / f"{index}.diff").write_text(row["patch"])
    (tmp_path / "notes.txt").write_text("none")
    assert len(labels.read_changes(tmp_path)) == 2


def test_file_without_a_change_is_an_error(tmp_path):
    path = claim_rows.write(tmp_path / "d.jsonl", claim_rows.rows(1))
    with pytest.raises(InputError, match="no change of 900 to 1,000 characters"):
        labels.read_changes(path, min_chars=900)
