"""The composite action, run step by step from action.yml against a GitHub on this machine."""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crscore import cli
from crscore.github.actions import event as event_module
from crscore.github.actions.outputs import OUTPUTS
from crscore.github.client import Client
from crscore.pull_request import run as action_run
from tests.helpers import github
from tests.helpers.github import faults, scenes
from tests.helpers.github.answers import Request
from tests.helpers.github.writer import writer_of
from tests.helpers.runner import Job, Runner, commands, outputs

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[2]
TOKEN = "ghs_0123456789abcdefghijABCDEFGHIJ012345"
REPOSITORY, NUMBER = "acme/shop", 7
SCORE, INSTALL = "Score", "Install the packages of the lock"
QUICK = {"CRSCORE_ANALYZERS": "ruff"}
"""Settings of the job's environment, beside the inputs."""


@pytest.fixture(scope="session")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A machine that has the action as GitHub would download it."""
    folder = tmp_path_factory.mktemp("runner")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    action = folder / "action"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (action / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, action / name)
    made = Runner(folder, action, {})
    # What is installed here is found by later runs on the default branch.
    job = made.run("push", {}, {}, GITHUB_REPOSITORY=REPOSITORY, **QUICK)
    assert not job.failed, job.log
    assert "Nothing was scored" in job.summary
    ((ref, _),) = made.cached()
    assert ref == "refs-heads-main"
    return made


@pytest.fixture
def server() -> Iterator[github.Server]:
    with github.serve(scenes.shop(), token=TOKEN) as running:
        yield running


def event_of(server: github.Server, name: str) -> dict[str, Any]:
    """Make the part of an event that says which pull request it is about."""
    number, pull = next(iter(server.world.repositories[0].pulls.items()))
    owner = str(pull.head_repository).partition("/")[0]
    if name == "issue_comment":
        return {
            "action": "created",
            "issue": {"number": number, "pull_request": {"url": "https://x"}},
            "comment": {"body": "/crscore", "author_association": "MEMBER"},
        }
    if name == "workflow_run":
        return {
            "workflow_run": {
                "event": "pull_request",
                "head_sha": pull.head,
                "head_branch": pull.head_ref,
                "head_repository": {"owner": {"login": owner}},
                "pull_requests": [],
            }
        }
    if name == "workflow_dispatch":
        return {"inputs": {"pull-request": str(number)}}
    return {} if name == "schedule" else {"pull_request": {"number": number}}


def run(runner: Runner, server: github.Server, event: str, /, **inputs: str) -> Job:
    return run_with(runner, server, event, event_of(server, event), **inputs)


def run_with(
    runner: Runner, server: github.Server, event: str, content: object, /, **inputs: str
) -> Job:
    repository = server.world.repositories[0].full_name
    settings = QUICK | {name: value for name, value in inputs.items() if name.isupper()}
    job = runner.run(
        event,
        content,
        {name.replace("_", "-"): value for name, value in inputs.items() if name.islower()},
        token=TOKEN,
        GITHUB_API_URL=server.url,
        GITHUB_REPOSITORY=repository,
        **settings,
    )
    assert TOKEN not in job.log + job.summary + str(job.outputs)
    return job


def messages(job: Job, level: str) -> list[str]:
    return [text for name, _, text in commands(job[SCORE].log) if name == level]


@pytest.mark.smoke
def test_pull_request_has_summary_outputs_and_artifact(
    runner: Runner, server: github.Server
) -> None:
    job = run(runner, server, "workflow_dispatch")

    assert not job.failed, job.log
    document = json.loads((job.artifacts["crscore"] / "crscore.json").read_text("utf-8"))
    together = document["together"]
    for name in ("relevance", "conciseness", "comprehensiveness"):
        assert 0 < float(job.outputs[name]) < 1
        assert float(job.outputs[name]) == pytest.approx(together[name], abs=1e-6)
    assert int(job.outputs["reviews-scored"]) >= 3
    assert job.outputs["partial"] == "false"
    assert job.outputs["comment-url"] == ""
    assert (job.artifacts["crscore"] / "crscore.html").read_text("utf-8").startswith("<!DOCTYPE")
    assert f"{REPOSITORY}#&#8203;{NUMBER}" in job.summary
    assert server.writes == []


def test_what_a_job_of_the_pull_request_put_into_a_cache_is_not_used(
    runner: Runner, server: github.Server
) -> None:
    ((_, key),) = [entry for entry in runner.cached() if "-store-" not in entry[1]]
    folder = runner.caches / f"refs-pull-{NUMBER}-merge"
    planted = folder / key / "bin" / "python"
    planted.parent.mkdir(parents=True)
    planted.write_text("#!/bin/sh\necho usefulness=100 >> $GITHUB_OUTPUT\n", encoding="utf-8")
    planted.chmod(0o755)
    (folder / f"{key}-store-1-1").mkdir()
    try:
        job = run(runner, server, "pull_request")
    finally:
        shutil.rmtree(folder)

    assert not job.failed, job.log
    assert job["Restore the environment"].outcome == "skipped"
    assert job["Restore what earlier runs remembered"].outcome == "skipped"
    assert float(job.outputs["relevance"]) > 0


def forget_reviews_of_python(server: github.Server) -> None:
    pull = server.world.repositories[0].pulls[NUMBER]
    pull.lines[:] = [line for line in pull.lines if not line.path.endswith(".py")]


def test_unaddressed_findings_are_annotations(runner: Runner, server: github.Server) -> None:
    forget_reviews_of_python(server)
    job = run(runner, server, "workflow_dispatch", CRSCORE_ANALYZERS="ruff,bandit,pyscent,lizard")

    places = [kept for _, kept, _ in commands(job[SCORE].log) if "file" in kept]
    assert places, job[SCORE].log
    assert {kept["file"] for kept in places} <= {"shop/cart.py", "shop/pricing.py"}
    assert not [
        kept
        for _, kept, _ in commands(
            run(runner, server, "workflow_dispatch", annotations="false")[SCORE].log
        )
        if "file" in kept
    ]


@pytest.mark.parametrize("event", ["schedule", "issue_comment"])
def test_run_after_the_nightly_one_installs_nothing_and_asks_only_what_changed(
    runner: Runner, server: github.Server, event: str
) -> None:
    server.world.repositories[0].pulls[NUMBER].at = int(time.time())
    run(runner, server, "schedule", comment="true")
    # Our own comment is a change that the next run sees.
    run(runner, server, "schedule", comment="true")
    server.log.clear()
    written, stored = len(server.writes), runner.cached()

    job = run(runner, server, event, comment="true")

    assert job[INSTALL].outcome == "skipped"
    assert len(runner.cached() - stored) == (event == "schedule")
    reads = [entry for entry in server.log if entry.method == "GET"]
    assert reads
    assert len(server.writes) == written
    assert job.outputs["comment-url"].startswith("http")


@pytest.mark.parametrize(
    "event",
    ["pull_request", "pull_request_target", "pull_request_review", "issue_comment",
     "workflow_dispatch", "schedule", "workflow_run"],
)  # fmt: skip
def test_each_event_comments_on_its_pull_request(
    runner: Runner, server: github.Server, event: str
) -> None:
    server.world.repositories[0].pulls[NUMBER].at = int(time.time())
    stored = runner.cached()

    job = run(runner, server, event, comment="true", annotations="false")

    assert not job.failed, job.log
    # The comment is edited once to name its own id.
    assert [write.kind for write in server.writes] == ["created", "edited"]
    assert {write.pull for write in server.writes} == {NUMBER}
    assert job.outputs["comment-url"] != ""
    assert float(job.outputs["relevance"]) > 0
    of_pull = event.startswith("pull_request")
    assert job[INSTALL].outcome == ("success" if of_pull else "skipped")
    assert [ref for ref, _ in runner.cached() - stored] == ["refs-heads-main"] * (
        event == "schedule"
    )


def test_comment_of_a_stranger_asks_for_nothing(runner: Runner, server: github.Server) -> None:
    content = event_of(server, "issue_comment")
    content["comment"]["author_association"] = "NONE"

    job = run_with(runner, server, "issue_comment", content, comment="true", pull_request="7")

    assert not job.failed
    assert (server.log, server.writes) == ([], [])
    assert "Nothing was scored: /crscore is for" in job.summary
    assert "collaborators" in messages(job, "notice")[0]
    assert job.outputs["partial"] == "false"
    assert job["Keep the reports"].outcome == "skipped"


def test_gate_fails_the_step_and_keeps_everything_else(
    runner: Runner, server: github.Server
) -> None:
    job = run(
        runner, server, "workflow_dispatch", CRSCORE_FAIL_UNDER_RELEVANCE="0.99", comment="true"
    )

    assert (job[SCORE].outcome, job[SCORE].code) == ("failure", 1)
    assert "below fail-under-relevance 0.99" in messages(job, "error")[0]
    assert (job.artifacts["crscore"] / "crscore.json").is_file()
    assert [write.kind for write in server.writes] == ["created", "edited"]
    assert job.summary != ""
    assert (
        run(runner, server, "workflow_dispatch", CRSCORE_FAIL_UNDER_RELEVANCE="0.01")[SCORE].code
        == 0
    )


def test_token_that_may_not_write_leaves_the_summary(runner: Runner) -> None:
    with github.serve(scenes.shop(), token=TOKEN, permissions="read") as server:
        job = run(runner, server, "workflow_dispatch", comment="true")

    assert not job.failed, job.log
    assert any("may not write the comment" in text for text in messages(job, "notice"))
    assert job.outputs["comment-url"] == ""
    assert job.summary != ""


def test_wrong_token_is_an_error_that_does_not_show_it(
    runner: Runner, server: github.Server
) -> None:
    server.token = "another"

    job = run(runner, server, "workflow_dispatch")

    assert job[SCORE].code == 3
    assert len(messages(job, "error")) == 1
    assert "401" in job.summary or "token" in job.summary
    assert job.outputs["partial"] == "false"


def test_wrong_input_is_an_error_before_anything_is_asked(
    runner: Runner, server: github.Server
) -> None:
    job = run(runner, server, "workflow_dispatch", fail_under="200")

    assert job[SCORE].code == 2
    assert "fail-under" in messages(job, "error")[0]
    assert "fail-under" in job.summary
    assert server.log == []


def test_artifact_of_a_job_that_may_not_write_is_posted_by_one_that_may(
    runner: Runner, server: github.Server
) -> None:
    measured = run(runner, server, "workflow_dispatch")
    archive = runner.folder / "crscore.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for file in measured.artifacts["crscore"].iterdir():
            made.write(file, file.name)

    job = run(runner, server, "workflow_run", post_from=str(archive), comment="true")

    assert not job.failed, job.log
    assert [written.kind for written in server.writes] == ["created", "edited"]
    assert job.outputs["relevance"] == measured.outputs["relevance"]
    assert job["Restore what earlier runs remembered"].outcome == "skipped"
    assert job["Keep the reports"].outcome == "skipped"


def test_fork_is_measured_without_rights_and_posted_with_them(runner: Runner) -> None:
    with github.serve(scenes.fork(), token=TOKEN) as server:
        measured = run(runner, server, "workflow_dispatch", comment="true")
        assert (server.writes, measured.failed) == ([], False)
        assert any("may not" in text for text in messages(measured, "notice"))
        server.may_write = True
        file = str(measured.artifacts["crscore"] / "crscore.json")
        job = run(runner, server, "workflow_run", post_from=file, comment="true")

        assert not job.failed, job.log
        assert [(written.kind, written.pull) for written in server.writes] == [
            ("created", 3), ("edited", 3)
        ]  # fmt: skip
    # The fork's own settings say 1.
    assert "max_claims:12" in (measured.artifacts["crscore"] / "crscore.json").read_text("utf-8")


def test_fork_reviewed_after_it_was_opened_is_measured_and_posted_anew(runner: Runner) -> None:
    world = scenes.fork()
    writer = writer_of(world)
    reviews, lines = writer.pull.reviews[:], writer.pull.lines[:]
    writer.pull.reviews.clear()
    writer.pull.lines.clear()
    with github.serve(world, token=TOKEN) as server:
        opened = run(runner, server, "workflow_dispatch")
        writer.pull.reviews += reviews
        writer.pull.lines += lines
        reviewed = run(runner, server, "pull_request_review")
        content = event_of(server, "workflow_run")
        content["workflow_run"]["event"] = "pull_request_review"
        server.may_write = True
        file = str(reviewed.artifacts["crscore"] / "crscore.json")
        job = run_with(runner, server, "workflow_run", content, post_from=file, comment="true")

        assert [(written.kind, written.pull) for written in server.writes] == [
            ("created", 3), ("edited", 3)
        ]  # fmt: skip
    assert opened.outputs["reviews-scored"] == "0"
    assert int(job.outputs["reviews-scored"]) == 1


def test_what_another_job_measured_is_posted_when_asked_for(
    runner: Runner, server: github.Server
) -> None:
    measured = run(runner, server, "workflow_dispatch")
    file = str(measured.artifacts["crscore"] / "crscore.json")

    job = run(runner, server, "workflow_run", post_from=file)

    assert (job.failed, server.writes) == (False, [])
    assert job.outputs["relevance"] == measured.outputs["relevance"] != ""
    assert f"{REPOSITORY}#&#8203;{NUMBER}" in job.summary


def test_artifact_that_is_refused_fails_nothing(
    runner: Runner, server: github.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "takes_artifacts", False)

    job = run(runner, server, "workflow_dispatch")

    assert "not supported" in job["Keep the reports"].log
    assert not job.failed
    assert job.outputs["relevance"] != ""


def test_checkout_in_the_workspace_is_read_instead_of_the_list_of_files(
    runner: Runner, server: github.Server
) -> None:
    repository = server.world.repositories[0]
    plain = run(runner, server, "workflow_dispatch")
    assert any("/files" in entry.path for entry in server.log)
    server.log.clear()
    repository.history.clone(runner.workspace / "shop", repository.pulls[NUMBER].head)
    try:
        job = run(runner, server, "workflow_dispatch", working_directory="shop")
    finally:
        shutil.rmtree(runner.workspace / "shop")

    assert not job.failed, job.log
    assert [entry.path for entry in server.log if "/files" in entry.path] == []
    assert job.outputs["relevance"] == plain.outputs["relevance"] != ""
    assert job.outputs["partial"] == "false"


def test_hostile_pull_request_gives_no_command_and_no_output(runner: Runner) -> None:
    with github.serve(scenes.hostile(), token=TOKEN) as server:
        job = run(runner, server, "workflow_dispatch", comment="true")

    assert not job.failed, job.log
    for name, kept, _ in commands(job[SCORE].log):
        assert name in {"notice", "warning", "error"}
        assert kept["title"].startswith(("crscore", "No review addresses this"))
    assert set(job[SCORE].outputs) == set(OUTPUTS)
    assert re.fullmatch(r"0\.\d{6}|", job.outputs["relevance"])


def test_artifact_about_another_pull_request_is_refused(
    runner: Runner, server: github.Server
) -> None:
    measured = run(runner, server, "workflow_dispatch")
    file = measured.artifacts["crscore"] / "crscore.json"
    changed = re.sub(r'("number": ?)7\b', r"\g<1>8", file.read_text("utf-8"))
    file.write_text(changed.replace("/pull/7", "/pull/8"), encoding="utf-8")

    job = run(runner, server, "workflow_run", post_from=str(file), comment="true")

    assert job[SCORE].code == 3
    assert server.writes == []


def test_branch_that_moved_on_is_nothing_to_post(runner: Runner, server: github.Server) -> None:
    content = event_of(server, "workflow_run")
    content["workflow_run"]["head_sha"] = "0" * 40

    job = run_with(runner, server, "workflow_run", content, post_from="x.json", comment="true")

    assert not job.failed, job.log
    assert server.writes == []
    assert "newest" in messages(job, "notice")[0]


def test_workspace_of_a_stranger_is_neither_imported_nor_believed(
    runner: Runner, server: github.Server
) -> None:
    traps = {
        "crscore.py": "raise SystemExit('imported')",
        "sitecustomize.py": "raise SystemExit('imported')",
        "pyproject.toml": "[tool.crscore]\nfail_under_relevance = 1.0\nunknown = 1\n",
        "hatchling.py": "raise SystemExit('imported')",
        "pip.conf": "[global]\nindex-url = http://127.0.0.1:9/",
    }
    for name, text in traps.items():
        (runner.workspace / name).write_text(text, encoding="utf-8")
    try:
        job = run(runner, server, "workflow_dispatch")
    finally:
        for name in traps:
            (runner.workspace / name).unlink()

    assert not job.failed, job.log


def test_analyzers_of_npm_are_installed_and_used(runner: Runner, server: github.Server) -> None:
    job = run(runner, server, "workflow_dispatch", CRSCORE_ANALYZERS="auto")

    assert not job.failed, job.log
    tools = runner.temp / "crscore-environment" / "share" / "crscore" / "tools"
    of_npm = {path.parent.name for path in (ROOT / "analyzers").glob("*/package.json")}
    assert {path.name for path in tools.iterdir()} == of_npm
    for tool in ("jshint", "oxlint", "pyscent", "ruff"):
        assert tool in job.summary


def alone(
    server: github.Server, folder: Path, event: str, content: object = None, /, **inputs: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run the command by itself, as a container does: inputs have their hyphens."""
    variables = surroundings(server, folder, event, content, **inputs)
    done = subprocess.run(
        [sys.executable, "-I", "-m", "crscore", "action", "--output-dir", "crscore-reports"],
        cwd=folder, env=variables, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert TOKEN not in done.stdout + done.stderr
    return done, outputs((folder / "output").read_text("utf-8"))


def surroundings(
    server: github.Server, folder: Path, event: str, content: object = None, /, **inputs: str
) -> dict[str, str]:
    (folder / "event.json").write_text(json.dumps(content or event_of(server, event)))
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_API_URL": server.url,
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "INPUT_TOKEN": TOKEN,
        "CRSCORE_ANALYZERS": "none",
    }
    return variables | {
        name if name.isupper() else f"INPUT_{name.upper().replace('_', '-')}": value
        for name, value in inputs.items()
    }


def test_container_gets_its_inputs_with_hyphens_and_names_relative_files(
    server: github.Server, tmp_path: Path
) -> None:
    done, found = alone(server, tmp_path, "pull_request", CRSCORE_FAIL_UNDER_RELEVANCE="0.99")

    assert done.returncode == 1, done.stderr
    assert found["json-path"] == "crscore-reports/crscore.json"
    assert (tmp_path / found["json-path"]).is_file()


def with_another(server: github.Server) -> None:
    """Add a second pull request like the first, both changed just now."""
    pulls = server.world.repositories[0].pulls
    pulls[NUMBER].at = int(time.time())
    pulls[8] = copy.deepcopy(pulls[NUMBER])
    pulls[8].number = 8


def test_several_pull_requests_have_a_section_each_and_no_annotations(
    server: github.Server, tmp_path: Path
) -> None:
    with_another(server)

    done, found = alone(server, tmp_path, "schedule", CRSCORE_ANALYZERS="ruff,bandit,lizard")

    assert done.returncode == 0, done.stdout + done.stderr
    assert commands(done.stdout) == []
    assert (found["relevance"], found["json-path"]) == ("", "crscore-reports")
    assert sorted(path.name for path in (tmp_path / "crscore-reports").iterdir()) == [
        f"crscore-{number}.{kind}" for number in (7, 8) for kind in ("html", "json", "sarif")
    ]
    assert found["sarif-path"] == ""
    summary = (tmp_path / "summary").read_text("utf-8")
    assert [f"acme/shop#&#8203;{number}" in summary for number in (7, 8)] == [True, True]
    assert int(found["reviews-scored"]) % 2 == 0


def other_tool(file: Path) -> None:
    """Write the SARIF file of a tool that found one thing on a changed line."""
    place = {"artifactLocation": {"uri": "web/cart.js"}, "region": {"startLine": 9}}
    finding = {
        "ruleId": "weak-equality",
        "level": "error",
        "message": {"text": "The comparison is too weak for prices."},
        "locations": [{"physicalLocation": place}],
    }
    run = {"tool": {"driver": {"name": "Checker"}}, "results": [finding]}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"version": "2.1.0", "runs": [run]}), encoding="utf-8")


def test_findings_of_other_tools_come_in_and_alerts_go_out(
    server: github.Server, tmp_path: Path
) -> None:
    other_tool(tmp_path / "out" / "deep" / "checker.sarif")

    done, found = alone(server, tmp_path, "pull_request", sarif="out/**/*.sarif, none/*.sarif")

    assert done.returncode == 0, done.stdout + done.stderr
    warnings = [text for name, _, text in commands(done.stdout) if name == "warning"]
    assert "No file matches none/*.sarif of the input sarif." in warnings
    assert found["sarif-path"] == "crscore-reports/crscore.sarif"
    (run,) = json.loads((tmp_path / found["sarif-path"]).read_text("utf-8"))["runs"]
    (alert,) = (result for result in run["results"] if "too weak" in result["message"]["text"])
    assert (alert["ruleId"], alert["level"]) == ("unaddressed-issue", "error")
    region = alert["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == 9


def test_findings_of_one_pull_request_are_not_used_for_several(
    server: github.Server, tmp_path: Path
) -> None:
    with_another(server)
    other_tool(tmp_path / "checker.sarif")

    done, _ = alone(server, tmp_path, "schedule", sarif="checker.sarif")

    assert "The input sarif is not used" in done.stdout
    assert "too weak" not in (tmp_path / "crscore-reports" / "crscore-7.sarif").read_text("utf-8")


def test_failure_of_one_of_several_is_reported_after_the_others(
    server: github.Server, tmp_path: Path
) -> None:
    with_another(server)

    class Gone(faults.Script):
        def meet(self, number: int, request: Request) -> faults.Fault | None:
            gone = request.path.endswith("/pulls/8")
            return faults.Fault(kind=faults.Kind.STATUS, status=404) if gone else None

    server.faults = Gone({})
    done, found = alone(server, tmp_path, "schedule", comment="true")

    assert done.returncode == 3
    assert [name for name, _, text in commands(done.stdout) if "acme/shop#8" in text] == ["error"]
    assert found["json-path"] != ""
    assert [written.pull for written in server.writes] == [7, 7]
    assert "acme/shop#&#8203;7" in (tmp_path / "summary").read_text("utf-8")


def test_bug_in_one_of_several_leaves_what_was_done(
    server: github.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_another(server)
    server.world.repositories[0].pulls[8].at -= 60
    for name, value in surroundings(server, tmp_path, "schedule").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read_and_score = action_run.read_and_score

    def broken(host: Client, request: action_run.Request) -> action_run.ScoredPull:
        return read_and_score(host, request) if request.number == NUMBER else 1 // 0  # type: ignore[return-value]

    monkeypatch.setattr(action_run, "read_and_score", broken)

    assert cli.run(["action"]) == cli.EXIT_BUG

    summary = (tmp_path / "summary").read_text("utf-8")
    assert "acme/shop#&#8203;7" in summary
    assert "stopped early" in summary
    assert outputs((tmp_path / "output").read_text("utf-8"))["relevance"] != ""


@pytest.mark.parametrize(("reviewer", "code"), [("coderabbit", 0), ("nobody", 1)])
def test_step_fails_when_the_newest_commit_was_not_reviewed(
    server: github.Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    reviewer: str,
    code: int,
) -> None:
    pull = server.world.repositories[0].pulls[NUMBER]
    review = next(one for one in pull.reviews if one.author and "rabbit" in one.author.login)
    review.commit, review.state = pull.head, "APPROVED"
    given = {"reviewed_by": reviewer, "review_wait": "0"}
    for name, value in surroundings(server, tmp_path, "pull_request", **given).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    assert cli.run(["action"]) == code

    errors = [text for name, _, text in commands(capsys.readouterr().out) if name == "error"]
    expected = [f"acme/shop#7: {reviewer} did not review the newest commit"] * code
    assert [text.partition(" commit")[0] + " commit" for text in errors] == expected
    # The scores are outputs all the same.
    assert outputs((tmp_path / "output").read_text("utf-8"))["relevance"] != ""


def test_pull_requests_over_the_limit_are_counted(
    server: github.Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_another(server)
    for name, value in surroundings(server, tmp_path, "schedule").items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(event_module, "MAX_RECENT", 1)

    assert cli.run(["action"]) == 0

    notices = [text for name, _, text in commands(capsys.readouterr().out) if name == "notice"]
    assert "1 were not scored" in notices[0]
    assert "1 were not scored" in (tmp_path / "summary").read_text("utf-8")


def test_artifact_says_which_pull_request_of_its_branch_it_is_about(
    server: github.Server, tmp_path: Path
) -> None:
    with_another(server)
    server.world.repositories[0].pulls[8].base_ref = "stable"
    for number in (8, NUMBER):
        event = {"pull_request": {"number": number}}
        _, measured = alone(server, tmp_path, "pull_request", event)
        done, found = alone(
            server, tmp_path, "workflow_run", post_from=measured["json-path"], comment="true"
        )

        assert done.returncode == 0, done.stderr
        assert [(write.kind, write.pull) for write in server.writes[-2:]] == [
            ("created", number), ("edited", number)
        ]  # fmt: skip
        assert found["comment-url"] != ""


def test_folder_that_cannot_be_written_leaves_the_scores(
    server: github.Server, tmp_path: Path
) -> None:
    (tmp_path / "crscore-reports").write_text("in the way", encoding="utf-8")

    done, found = alone(server, tmp_path, "pull_request", comment="true")

    assert done.returncode == 3
    assert server.writes == []
    assert found["relevance"] != ""
    assert found["json-path"] == ""
    summary = (tmp_path / "summary").read_text("utf-8")
    assert "acme/shop#&#8203;7" in summary
    assert "cannot write" in summary


def test_summary_that_cannot_be_written_leaves_outputs_and_annotations(
    server: github.Server, tmp_path: Path
) -> None:
    (tmp_path / "summary").mkdir()
    forget_reviews_of_python(server)

    done, found = alone(
        server, tmp_path, "pull_request", CRSCORE_ANALYZERS="ruff,bandit,pyscent,lizard"
    )

    assert done.returncode == 3
    assert found["relevance"] != ""
    assert found["json-path"] != ""
    messages = commands(done.stdout)
    assert any("file" in kept for _, kept, _ in messages)
    assert ["summary" in text for name, _, text in messages if name == "error"] == [True]


def test_full_summary_is_a_warning(server: github.Server, tmp_path: Path) -> None:
    (tmp_path / "summary").write_bytes(b"x" * 1024 * 1024)

    done, found = alone(server, tmp_path, "pull_request")

    assert done.returncode == 0
    assert any("summary is full" in text for _, _, text in commands(done.stdout))
    assert (tmp_path / "summary").stat().st_size == 1024 * 1024
    assert found["relevance"] != ""
