"""`crscore train claims` on the command line."""

import json

import pytest

from crscore import cli
from tests.helpers import claim_rows, tiny_llm

pytestmark = pytest.mark.research


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    # The shipped prompt is some 1,300 tokens of the tiny tokenizer.
    return tiny_llm.make(tmp_path_factory.mktemp("roomy") / "tiny", context=3000)


def _run(tmp_path, roomy, *more):
    data = claim_rows.write(tmp_path / "rows.jsonl", claim_rows.rows(6))
    words = ["train", "claims", data, "--model", roomy, "-o", tmp_path / "out", "--offline", *more]
    return cli.run([str(word) for word in words])


SMALL = ("--max-length", 3000, "--epochs", 1, "--val-split", 0.3)


# The command goes offline, for good, and tests after this one may want loopback.
@pytest.fixture(autouse=True)
def _online_again(monkeypatch):
    monkeypatch.setattr("crscore.offline.forbid_sockets", lambda: None)


def test_what_was_asked_for_is_in_the_record(tmp_path, roomy, capsys):
    code = _run(
        tmp_path, roomy, *SMALL, "--form", "sections", "--lora-rank", 4, "--lora-alpha", 6,
        "--lora-targets", "q_proj, v_proj", "--lora-dropout", 0, "--learning-rate", 0.003,
        "--batch", 1, "--accumulate", 2, "--eval-steps", 2, "--seed", 7, "--warmup", 0.5,
        "--weight-decay", 0.01, "--dtype", "float32", "--gradient-checkpointing",
    )  # fmt: skip
    out, err = capsys.readouterr()
    assert code == 0
    record = json.loads((tmp_path / "out" / "training.json").read_text())
    assert record["settings"] == {
        "epochs": 1.0,
        "batch": 1,
        "accumulate": 2,
        "max_length": 3000,
        "val_split": 0.3,
        "eval_steps": 2,
        "seed": 7,
        "rate": 0.003,
        "warmup": 0.5,
        "decay": 0.01,
        "full": False,
        "lora": {"rank": 4, "alpha": 6, "dropout": 0.0, "targets": ["q_proj", "v_proj"]},
        "precision": "float32",
        "checkpointing": True,
        "both_sections": False,
    }
    assert record["prompt"]["form"] == "sections"
    assert "4 rows, 2 steps on tiny@" in out
    assert "loss on 2 held-out rows" in out
    assert "6 rows: 4 to learn from, 2 held out" in err


def test_the_defaults_are_the_published_ones(tmp_path, roomy):
    # The tokens and the share are not: the model's tokenizer is tiny, and the rows are few.
    assert _run(tmp_path, roomy, "--max-length", 3000, "--val-split", 0.3) == 0
    settings = json.loads((tmp_path / "out" / "training.json").read_text())["settings"]
    assert (settings["epochs"], settings["batch"], settings["eval_steps"], settings["seed"]) == (
        5.0,
        2,
        100,
        42,
    )
    context = cli.cli.get_command(None, "train").get_command(None, "claims")
    defaults = {option.name: option.default for option in context.params}
    assert (defaults["max_length"], defaults["val_split"]) == (1500, 0.1)


def test_a_second_run_says_that_it_is_done(tmp_path, roomy, capsys):
    assert _run(tmp_path, roomy, *SMALL) == 0
    capsys.readouterr()
    assert _run(tmp_path, roomy, *SMALL) == 0
    assert "was finished before" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more",
    [
        ("--lora-targets", " , "),
        ("--val-split", "1"),
        ("--form", "poem"),
        ("--prompt", "claims.v77"),
        ("--revision", "main"),  # the model is a folder
    ],
)
def test_a_wrong_option_is_usage(tmp_path, roomy, capsys, more):
    assert _run(tmp_path, roomy, *more) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_rows_that_cannot_be_read_are_an_error_of_the_input(tmp_path, roomy, capsys):
    assert cli.run(["train", "claims", str(tmp_path / "no"), "--model", "m", "-o", "o"]) == 3
    assert "cannot be read" in capsys.readouterr().err
