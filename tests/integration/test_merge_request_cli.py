"""`crscore pr` on a merge request of the simulated GitLab, and the job of the CI/CD component."""

import functools
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from crscore import cli
from tests.helpers.github import scenes
from tests.helpers.gitlab import schedules
from tests.helpers.gitlab.server import TOKEN, Server, serve
from tests.helpers.schedules import Clock

ROOT = Path(__file__).parents[2]
TARGET = "acme/shop!7"
FAST = ["--encoder", "hashing", "--no-checkout"]


@pytest.fixture
def gitlab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serve(scenes.shop(), clock=Clock().now) as server:
        monkeypatch.setenv("GITLAB_URL", server.url)
        monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
        yield server


@pytest.fixture
def crscore(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Run the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRSCORE_CACHE_DIR", str(tmp_path / "cache"))

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert TOKEN not in captured.out + captured.err
        return code, captured.out, captured.err

    return run


@pytest.mark.usefixtures("gitlab")
def test_report_is_that_of_the_merge_request(crscore) -> None:
    code, out, err = crscore("pr", TARGET, *FAST, "--format", "json")
    document = json.loads(out)
    assert code == 0, err
    assert document["missing"] == []
    assert document["repository"] == "acme/shop"
    assert "/-/merge_requests/7" in document["url"]
    assert document["reviewers"]


def test_comment_and_reports_and_gate(crscore, gitlab: Server, tmp_path: Path) -> None:
    more = ["--comment", "--reports", "out", "--fail-under-relevance", "0.99"]
    code, _, err = crscore("pr", f"{gitlab.url}/acme/shop/-/merge_requests/7", *FAST, *more)
    assert code == 1, err
    assert "acme/shop!7" in err
    assert "comment created" in err
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "crscore.json",
        "crscore.html",
        "crscore.sarif",
        "gl-code-quality-report.json",
    }
    assert "comment unchanged" in crscore("pr", TARGET, *FAST, "--comment")[2]
    assert len(schedules.ours(gitlab)) == 1
    assert gitlab.commands == []
    rows = json.loads((tmp_path / "out" / "gl-code-quality-report.json").read_text())
    assert all(
        row.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        for row in rows
    )


def test_document_of_another_job_is_posted(crscore, gitlab: Server) -> None:
    crscore("pr", TARGET, *FAST, "--format", "json", "-o", "result.json")
    assert schedules.ours(gitlab) == []
    code, _, err = crscore("pr", TARGET, "--post", "result.json")
    assert (code, len(schedules.ours(gitlab))) == (0, 1), err
    code, _, err = crscore("pr", "acme/other!7", "--post", "result.json")
    assert code != 0
    assert len(schedules.ours(gitlab)) == 1


@pytest.mark.parametrize("remote", ["{url}/acme/shop.git", "git@127.0.0.1:acme/shop.git"])
def test_number_alone_in_a_clone(crscore, gitlab: Server, tmp_path: Path, remote: str) -> None:
    git = functools.partial(subprocess.run, check=True, cwd=tmp_path, capture_output=True)
    git(["git", "init", "--quiet"])
    git(["git", "remote", "add", "origin", remote.format(url=gitlab.url)])
    code, out, err = crscore("pr", 7, *FAST)
    assert code == 0, err
    assert "acme/shop" in out


def test_token_that_may_not_write_fails_nothing(crscore, gitlab: Server) -> None:
    gitlab.may_write = False
    code, _, err = crscore("pr", TARGET, *FAST, "--comment")
    assert code == 0
    assert "comment refused" in err


def test_patch_that_gitlab_leaves_out_without_a_flag_is_missing(
    crscore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(scenes.unseen_patches(), clock=Clock().now) as server:
        monkeypatch.setenv("GITLAB_URL", server.url)
        monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
        gate = ["--fail-under-relevance", "0.99", "--format", "json"]
        code, out, _ = crscore("pr", "acme/data!5", *FAST, *gate)
        assert (code, json.loads(out)["missing"]) == (1, [])
        server.hidden_lines = 60
        code, out, err = crscore("pr", "acme/data!5", *FAST, *gate)
        # Not the empty file, the moved one, the picture and the one of another mode.
        (missing,) = json.loads(out)["missing"]
        assert (code, missing.count(".")) == (0, 3), err
        assert "'b/large.sql', 'c/list.py'" in missing
        assert "could not be judged" in err


@pytest.mark.usefixtures("gitlab")
def test_mistakes_are_one_line(crscore, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, words in (
        (["acme/shop!8"], "it does not exist"),
        (["https://other.example/a/b/-/merge_requests/7"], "GITLAB_URL says"),
        (["acme/shop!7", "acme/shop#7"], "all be on one host"),
    ):
        code, _, err = crscore("pr", *arguments, *FAST)
        assert code in (2, 3)
        assert words in err
        assert len(err.strip().splitlines()) == 1
    monkeypatch.setenv("GITLAB_TOKEN", "glpat-wrong")
    code, _, err = crscore("pr", TARGET, *FAST)
    assert code == 3
    assert "token" in err


def _job() -> tuple[dict, dict]:
    """The component's inputs and its job."""
    spec, content = yaml.safe_load_all((ROOT / "templates" / "crscore.yml").read_text())
    return spec["spec"]["inputs"], content["crscore"]


def test_component_uses_the_inputs_it_declares() -> None:
    inputs, job = _job()
    used = set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", json.dumps(job)))
    assert used == inputs.keys()
    assert all("description" in value for value in inputs.values())
    # Values of inputs reach the shell as variables alone: a quote in one is no command.
    assert not any("$[[" in line for line in job["script"])
    # The order of GitLab's keywords: paths are files of the working directory.
    assert job["artifacts"]["reports"]["codequality"] in {
        f"{path}gl-code-quality-report.json" for path in job["artifacts"]["paths"]
    }


@pytest.mark.parametrize(
    ("comment", "gate", "on_nothing", "expected"),
    [
        ("true", "60", "skip", ["--comment", "--fail-under", "60", "--on-nothing", "skip"]),
        ("false", "", "", []),
        ("false", "$(touch owned)", "", ["--fail-under", "$(touch owned)"]),
    ],
)
def test_script_of_the_component_calls_the_command(
    tmp_path: Path, comment: str, gate: str, on_nothing: str, expected: list[str]
) -> None:
    _, job = _job()
    for name in ("pip", "crscore"):
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@" >>"{tmp_path}/log"\n')
        program.chmod(0o755)
    variables = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "CRSCORE_COMMENT": comment,
        "CRSCORE_GATE": gate,
        "CRSCORE_ON_NOTHING": on_nothing,
        "CRSCORE_PACKAGE": "crscore[gitlab]",
        "CI_MERGE_REQUEST_PROJECT_PATH": "group/sub/project",
        "CI_MERGE_REQUEST_IID": "7",
    }
    script = "\n".join(job["script"])
    subprocess.run(["sh", "-eu", "-c", script], cwd=tmp_path, env=variables, check=True)
    lines = (tmp_path / "log").read_text().splitlines()
    start = ["pr", "group/sub/project!7", "--no-checkout", "--reports", "crscore"]
    assert lines == ["pip", "install", "--quiet", "crscore[gitlab]", "crscore", *start, *expected]
    assert not (tmp_path / "owned").exists()
