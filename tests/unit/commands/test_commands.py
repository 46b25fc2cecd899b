"""Commands of other distributions, and what is said where crscore-lab is missing."""

from __future__ import annotations

import click
import pytest

from crscore import cli, commands


@click.command("greet")
def greet() -> None:
    """Greet."""
    click.echo("hello")


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The installed entry points: none at first."""
    installed: dict[str, str] = {}
    groups = {commands.GROUP: installed}
    monkeypatch.setattr(commands, "entry_points", groups.__getitem__)
    return installed


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "study.jsonl", "--split", "grouped-cv", "5"],
        ["validate", "--help"],
        ["train", "matcher", "study.jsonl", "-o", "weights.npz"],
        ["code", "study", "graded.jsonl"],
        ["bench", "--judgements", "judgements.jsonl"],
    ],
)
def test_missing_command_is_one_line_with_the_installation(points, capsys, arguments) -> None:
    assert cli.run(arguments) == cli.EXIT_FAILED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "crscore: crscore-lab is not installed; install it with: pip install 'crscore[validate]'\n"
    )


def test_help_lists_missing_commands(points, capsys) -> None:
    assert cli.run(["--help"]) == 0
    assert "validate   Not installed: pip install 'crscore[validate]'" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["greet", "code.greet"])
def test_entry_point_is_a_command(points, capsys, name) -> None:
    points[name] = f"{__name__}:greet"
    assert cli.run(name.split(".")) == 0
    assert capsys.readouterr().out == "hello\n"


def test_entry_point_is_suggested_for_a_misspelt_name(points, capsys) -> None:
    points["greet"] = f"{__name__}:greet"
    assert cli.run(["gret"]) == cli.EXIT_USAGE
    assert "did you mean greet?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("gone_package.module:command", "No module named 'gone_package'"),
        ("gone_module:", "No module named 'gone_module'"),
        ("json:gone", "module 'json' has no attribute 'gone'"),
    ],
)
def test_help_says_which_command_cannot_be_loaded(points, capsys, place, reason) -> None:
    points["stale"] = place
    assert cli.run(["--help"]) == 0
    assert f"stale      Cannot be loaded: {reason}" in capsys.readouterr().out
