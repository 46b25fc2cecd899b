from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crscore import cli

OLD = "limit = 10\n\n\ndef charge(order):\n    return order.price\n"
NEW = "limit = 20\n\n\ndef charge(order, retries=3):\n    return order.price * limit\n"
GOOD = "Raise `limit` to 20 and give `charge` the parameter `retries`\n"
CLIENT = """\
class Client:
    def __init__(self, url, max_attempts):
        self.url = url
        self.max_attempts = max_attempts

    def charge(self, order):
        for attempt in range(self.max_attempts):
            return post(self.url, order)

    def refund(self, order):
        return post(self.url, -order)
"""
SCISSORS = "# ------------------------ >8 ------------------------\ndiff --git a/zebra b/zebra\n"


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a staged change."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    Path("shop.py").write_text(OLD, encoding="utf-8")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Begin")
    Path("shop.py").write_text(NEW, encoding="utf-8")
    git("add", "--all")
    return tmp_path


def message(text: str, *options: str) -> int:
    Path("MESSAGE").write_text(text, encoding="utf-8")
    return cli.run(["message", "MESSAGE", *options])


def test_message_about_the_change_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert message(GOOD, "--fail-under", "60") == 0
    assert capsys.readouterr().out.startswith("About this change: ")


def test_empty_words_fail_and_what_they_leave_out_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert message("wip\n", "--fail-under", "60") == 1
    out = capsys.readouterr().out
    assert "Not mentioned:\n  shop.py:1" in out
    assert "`charge` takes the new optional parameter `retries`" in out
    assert "below 60" in out


def test_what_is_named_in_so_many_words_is_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    Path("shop.py").write_text(CLIENT, encoding="utf-8")
    git("commit", "--quiet", "--all", "--message", "Add the client")
    changed = CLIENT.replace("max_attempts", "max_tries")
    changed = changed.replace("order):\n        return", "order, reason):\n        return")
    Path("shop.py").write_text(changed, encoding="utf-8")
    git("add", "--all")
    message("Validate `max_tries`.\n")
    _, missing = capsys.readouterr().out.split("Not mentioned:\n")
    assert "`refund`" in missing
    assert "`__init__`" not in missing


def test_without_a_limit_it_only_tells() -> None:
    assert message("wip\n") == 0


@pytest.mark.parametrize(("gate", "code"), [([], 0), (["--fail-under", "10"], 3)])
def test_what_cannot_be_scored_stops_a_commit_with_a_gate_alone(
    tmp_path: Path, gate: list[str], code: int
) -> None:
    Path("MESSAGE").write_text(GOOD, encoding="utf-8")
    done = subprocess.run(  # a process that goes offline stays so
        [sys.executable, "-m", "crscore", "message", "MESSAGE", "--offline", *gate],
        env={**os.environ, "CRSCORE_ENCODER_DIR": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "model all-MiniLM-L6-v2 is not on this machine" in done.stderr


def test_comments_and_the_change_below_the_scissors_are_no_words_of_the_author(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message(GOOD)
    plain = capsys.readouterr().out
    message(f"{GOOD}\n# On branch main\n{SCISSORS}")
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize("first", ["Merge branch 'a'", "fixup! Begin", "squash! Begin"])
def test_messages_of_git_pass_silently(first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message(f"{first}\n", "--fail-under", "100") == 0
    assert capsys.readouterr().out == ""


def test_commit_without_a_staged_change_passes(capsys: pytest.CaptureFixture[str]) -> None:
    git("reset", "--quiet")
    assert message("wip\n", "--fail-under", "100") == 0
    assert capsys.readouterr().out == ""


def test_index_of_a_hook_is_the_one_that_git_names(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / ".git" / "index").rename(repository / ".git" / "other")
    git("reset", "--quiet")
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository / ".git" / "other"))
    message("wip\n")
    assert "shop.py:4" in capsys.readouterr().out


def test_sign_of_scissors_in_a_sentence_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    message(f"Shift by 3 >8 bits\n\n{GOOD}")
    assert capsys.readouterr().out.startswith("About this change: ")


@pytest.mark.parametrize("text", ["# nothing\n", "...\n"])
def test_message_without_a_sentence_has_no_score(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert message(text) == 0
    assert message(text, "--fail-under", "10") == 1
    assert capsys.readouterr().out.startswith("crscore: no score, as ")


def test_outside_of_a_repository_is_one_line(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert message(GOOD) == 3
    assert "not a git repository" in capsys.readouterr().err
