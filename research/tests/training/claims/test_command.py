"""`crscore train claims` on the command line."""

from __future__ import annotations

import json

import pytest

from crscore import cli
from tests.helpers import claim_rows

pytestmark = [pytest.mark.research, pytest.mark.filterwarnings("ignore")]


# The command goes offline, for good, and tests after this one may want loopback.
@pytest.fixture(autouse=True)
def _online_again(monkeypatch):
    monkeypatch.setattr("crscore.offline.forbid_sockets", lambda: None)


def run(tmp_path, base, *more):
    data = claim_rows.write(tmp_path / "rows.jsonl", claim_rows.rows(6))
    words = ["train", "claims", data, "--model", base, "-o", tmp_path / "out", "--offline", *more]
    return cli.run([str(word) for word in words])


def test_options_are_in_the_record(tmp_path, base, capsys):
    code = run(
        tmp_path, base, "--max-length", 2048, "--epochs", 1, "--val-split", 0.3, "--form",
        "sections", "--lora-rank", 4, "--learning-rate",
        0.003, "--batch", 1, "--accumulate", 2, "--eval-steps", 2, "--gradient-checkpointing",
    )  # fmt: skip
    out, err = capsys.readouterr()
    assert code == 0, err
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert record["settings"]["lora_rank"] == 4
    assert record["settings"]["learning_rate"] == 0.003
    assert record["prompt"]["form"] == "sections"
    assert "4 rows, 2 steps" in out
    assert "loss on 2 held-out rows" in out
    assert "6 rows: 4 to learn from, 2 held out" in err


def test_defaults_are_the_published_ones():
    context = cli.cli.get_command(None, "train").get_command(None, "claims")
    defaults = {option.name: option.default for option in context.params}
    published = {
        "epochs": 5.0, "batch": 2, "max_length": 1500, "val_split": 0.1, "eval_steps": 100,
        "seed": 42,
    }  # fmt: skip
    assert published.items() <= defaults.items()


@pytest.mark.parametrize(
    "more", [("--val-split", "1"), ("--form", "poem"), ("--prompt", "claims.v77")]
)
def test_wrong_option_is_a_usage_error(tmp_path, base, capsys, more):
    assert run(tmp_path, base, *more) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_unreadable_rows_are_an_input_error(capsys, tmp_path):
    assert cli.run(["train", "claims", str(tmp_path / "no"), "--model", "m", "-o", "o"]) == 3
    assert "cannot be read" in capsys.readouterr().err
