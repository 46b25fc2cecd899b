"""`crscore code study`."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from crscore import cli

GOOD = "def total(items):\n    return sum(items)\n"
BAD = "def total(items):\n    return max(items)\n"
LONG = "def total(items):\n    result = 0\n    for item in items:\n        result += item\n"
LONG += "    return result\n"


def validator(name: str) -> Draft202012Validator:
    text = files("crscore_lab").joinpath(f"schemas/{name}.schema.json").read_text("utf-8")
    return Draft202012Validator(json.loads(text))


@pytest.fixture
def crscore(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run(["code", "study", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def lines(tmp_path):
    def write(name: str, *rows: object) -> str:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / name).write_text(text)
        return name

    return write


def test_study_correlates_with_people(crscore, lines) -> None:
    rows = [
        {
            "id": str(at), "intent": "add up", "references": [GOOD], "language": "python",
            "outputs": {"one": GOOD, "two": LONG, "three": BAD},
            "grades": {"one": {"x": 4}, "two": {"x": 3}, "three": {"x": 0}},
        }
        for at in range(3)
    ]  # fmt: skip
    path = lines("g.jsonl", *rows)
    code, out, err = crscore(path, "--metrics", "edit,chrf", "--format", "json")
    assert code == 0, err
    document = json.loads(out)
    validator("code-study").validate(document)
    taus = {metric["metric"]: metric["kendall"]["value"] for metric in document["agreements"]}
    assert taus["constant"] == 0
    # The loop is right but looks less like the reference than `max`: one pair of three is wrong.
    assert taus["edit"] == pytest.approx(1 / 3)


def test_file_that_is_missing_is_one_clear_line(crscore) -> None:
    code, out, err = crscore("no.jsonl")
    assert (code, out) == (3, "")
    assert err.count("\n") == 1, err
