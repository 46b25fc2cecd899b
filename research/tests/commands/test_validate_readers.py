"""`crscore validate DATA --reader`: readers beside outcomes, through the command line."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from crscore import Scorer, cli
from tests.helpers import scripted_llm
from tests.helpers import study as helper
from tests.helpers.model_readings import answer, remark

SCHEMA = json.loads(files("crscore_lab").joinpath("schemas/validation.schema.json").read_text())
NAMES = (
    "limit", "margin", "timeout", "colour", "volume", "retries", "depth", "width", "height", "delay"
)  # fmt: skip
QUIET = ("--resamples", "50")


def make_rows() -> list[dict[str, Any]]:
    """Comments of people and bots; every second one was accepted, those with a later name rated."""
    return [
        {
            "comment": f"`{name}` is read before it is set, so the first call fails."
            if at % 2
            else f"Should `{name}` be shorter?",
            "patch": f"@@ -1 +1,2 @@\n-{name} = 1\n+{name} = read()\n+use({name})\n",
            "path": f"{name}.py",
            "group": name,
            "writer": "bot" if at < 4 else "person",
            "outcomes": {"accepted": at % 2, "worth": 1 + at if at > 2 else None},
        }
        for at, name in enumerate(NAMES)
    ]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return helper.write(tmp_path / "comments.jsonl", make_rows())


def record(path: Path, rows: list[dict[str, Any]]) -> str:
    """Record a model that knows the outcome."""
    scorer = Scorer(analyzers="none")
    answers = []
    for row in rows:
        worth = 3 if row["outcomes"]["accepted"] else 1
        words = row["comment"].split()
        said = answer(remark(" ".join(words[:3]), " ".join(words[-2:]), worth=worth, importance=2))
        diff = scorer.read_diff(row["patch"], path=row["path"])
        (requests,) = scorer.requests([(diff, row["comment"])])
        answers += [
            {"id": one.id, "answer": said, "input_tokens": 900, "output_tokens": 50}
            for one in requests
        ]
    path.write_text("\n".join(map(json.dumps, answers)), "utf-8")
    return f"replay:{path.name}"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert cli.run(["validate", *words, *QUIET, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    return found


def test_two_readers_are_compared_with_outcomes_and_floors(data: Path, capsys) -> None:
    replay = record(data.with_name("answers.jsonl"), make_rows())
    words = ("--reader", "network", "--reader", replay, "--reader-price", "1,10")
    found = run(capsys, str(data), *words)
    network, model = found["readers"]
    assert (network["name"], network["comments"], network["price"]) == ("network", 10, None)
    assert (model["comments"], model["tokens_read"], model["tokens_written"]) == (
        10,
        900_000,
        50_000,
    )
    assert model["price"] == pytest.approx(1.4)
    rows = {(row["outcome"], row["writers"]): row for row in found["outcomes"]}
    assert rows.keys() == {
        (outcome, who) for outcome in ("accepted", "worth") for who in ("all", "bot", "person")
    }
    accepted = rows["accepted", "all"]
    assert (accepted["comments"], accepted["positive"]) == (10, 5)
    assert (rows["worth", "all"]["comments"], rows["worth", "all"]["positive"]) == (7, None)
    judges = {one["judge"]: one for one in accepted["judges"]}
    assert [*judges] == ["network", replay, "words", "TF-IDF", "vector"]
    assert judges[replay]["value"] == judges["words"]["value"] == judges["TF-IDF"]["value"] == 1
    assert judges["network"]["minus_first"] == 0
    assert judges[replay]["minus_first"] == 1 - judges["network"]["value"]
    assert judges[replay]["minus_first_low"] <= judges[replay]["minus_first"]
    # Draws of the four groups of bots would differ too little.
    assert {one["low"] for one in rows["accepted", "bot"]["judges"]} == {None}


def test_text_names_every_outcome_with_the_field_that_asks_for_it(data: Path, capsys) -> None:
    rows = [row | {"outcomes": {"acted_on": at % 2}} for at, row in enumerate(make_rows())]
    helper.write(data, rows)
    assert cli.run(["validate", str(data), "--reader", "network", *QUIET]) == 0
    text = capsys.readouterr().out
    assert "## acted_on by headline (writers: all; comments: 10, 5 with the outcome)" in text
    assert "## acted_on by acts (writers: bot; comments: 4, 2 with the outcome)" in text
    assert "seed 0" in text
    assert "10 groups by group" in text


def test_label_is_an_outcome(data: Path, capsys) -> None:
    rows = [
        {"comment": row["comment"], "patch": row["patch"], "good": row["outcomes"]["accepted"] == 1}
        for row in make_rows()
    ]
    found = run(capsys, str(helper.write(data, rows)), "--reader", "network")
    assert [row["outcome"] for row in found["outcomes"]] == ["good"]
    assert (found["group"], found["groups"]) == ("patch", 10)


def test_server_that_fails_leaves_the_network(data: Path, capsys, monkeypatch) -> None:
    with scripted_llm.serve(scripted_llm.Say(status=401)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        words = ("--reader", "network", "--reader", "openai:tiny", "--no-cache")
        found = run(capsys, str(data), *words)
    assert [reader["comments"] for reader in found["readers"]] == [10, 0]
    first, second = found["outcomes"][0]["judges"][:2]
    assert (first["value"], second["minus_first"]) == (second["value"], 0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reader", "network", "--reader", "network"], "expected each --reader once"),
        (["--reader", "network", "--reader-price", "1,2"], "a --reader-price for each"),
        (["--reader", "networks"], "networks"),
        (["--reader", "network", "--encoder", "hashing", "--threshold", "0.3"], "default encoder"),
        (["--reader-limit", "3"], "--reader-limit has no effect on a run without --reader"),
    ],
)
def test_wrong_use_is_refused(data: Path, capsys, words, message) -> None:
    assert cli.run(["validate", str(data), *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ({"accepted": "yes"}, "comments.jsonl:1: outcomes.accepted: expected a number or null"),
        ([1], "comments.jsonl:1: outcomes: expected an object"),
        ({}, "no comment has an outcome"),
    ],
)
def test_wrong_outcome_is_refused(data: Path, capsys, outcomes, message) -> None:
    helper.write(data, [make_rows()[0] | {"outcomes": outcomes}])
    assert cli.run(["validate", str(data), "--reader", "network"]) == 3
    assert message in capsys.readouterr().err


def test_field_of_true_and_false_holds_nothing_else(data: Path, capsys) -> None:
    first, second = make_rows()[:2]
    helper.write(data, [first | {"good": True}, second | {"good": "yes"}])
    assert cli.run(["validate", str(data), "--reader", "network"]) == 3
    assert "comments.jsonl:2: good: expected a number or null" in capsys.readouterr().err


def test_reader_is_refused_for_rated_reviews(tmp_path: Path, capsys) -> None:
    path = helper.write(tmp_path / "study.jsonl")
    assert cli.run(["validate", str(path), "--reader", "network"]) == 2
    assert "--reader has no effect on a study of rated reviews" in capsys.readouterr().err
