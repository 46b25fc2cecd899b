"""Runs the steps of a composite action as GitHub's runner does, from the action.yml itself.

Steps that run a script are run. Steps that use another action have small stand-ins here, which
do on this disk what the action does on GitHub: a Python is named, a cache is a folder, an
artifact is a folder. A cache belongs to the ref that stored it and is seen by that ref alone,
but for those of the default branch, which all see.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.helpers import expressions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEFAULT = "refs/heads/main"
# What a machine needs to reach its package indexes, whatever they are.
_PASSED = re.compile(
    r"PATH|LANG|HOME|(PIP|UV|npm_config|NPM_CONFIG|SSL|REQUESTS)_.*|.*_proxy|.*_PROXY"
)


@dataclass(kw_only=True)
class Step:
    """One step after a run."""

    name: str
    outcome: str = "skipped"
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    code: int = 0


@dataclass(kw_only=True)
class Job:
    """What a run of the action left."""

    steps: list[Step]
    outputs: dict[str, str]
    summary: str
    artifacts: dict[str, Path]

    def __getitem__(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    @property
    def log(self) -> str:
        return "".join(step.log for step in self.steps)

    @property
    def failed(self) -> bool:
        return any(step.outcome == "failure" for step in self.steps)


class Runner:
    """A machine: its folders, and the caches and artifacts of a repository.

    Args:
        folder: Where all of it lies.
        action: The folder of the action.
        variables: `GITHUB_*` variables that the job has beside the usual ones.
    """

    def __init__(self, folder: Path, action: Path, variables: Mapping[str, str]) -> None:
        self.folder, self.action, self.variables = folder, action, dict(variables)
        self.temp, self.caches = folder / "temp", folder / "caches"
        self.workspace, self.artifacts = folder / "workspace", folder / "artifacts"
        self.runs = 0
        self.ref = DEFAULT
        self.takes_artifacts = True
        for one in (self.caches, self.workspace, self.artifacts):
            one.mkdir(parents=True, exist_ok=True)

    def run(
        self,
        event: str,
        content: Any,
        inputs: Mapping[str, str],
        *,
        token: str = "",
        **variables: str,
    ) -> Job:
        """Run the action for one event."""
        self.runs += 1
        number = content.get("pull_request", {}).get("number")
        # A run for pull_request_target is one of the base branch.
        of_pull = event.startswith("pull_request") and event != "pull_request_target"
        self.ref = f"refs/pull/{number}/merge" if of_pull else DEFAULT
        # A hosted runner is a new machine each time.
        shutil.rmtree(self.temp, ignore_errors=True)
        self.temp.mkdir()
        (self.temp / "event.json").write_text(json.dumps(content), encoding="utf-8")
        # Every scalar as its text, as the runner hands it on.
        read = yaml.load(_text(self.action / "action.yml"), Loader=yaml.BaseLoader)
        contexts = self._contexts(read, inputs, token)
        environment = self._environment(event, variables)
        steps: list[Step] = []
        for number, given in enumerate(read["runs"]["steps"]):
            step = self._step(number, given, contexts, environment, steps)
            steps.append(step)
            if "id" in given:
                contexts["steps"][given["id"]] = {"outputs": step.outputs, "outcome": step.outcome}
        return Job(
            steps=steps,
            outputs={
                name: expressions.fill(one["value"], contexts)
                for name, one in read["outputs"].items()
            },
            summary="".join(_text(path) for path in sorted(self.temp.glob("summary-*"))),
            artifacts={path.name: path for path in self.artifacts.glob(f"{self.runs}/*")},
        )

    def _contexts(self, read: Any, inputs: Mapping[str, str], token: str) -> dict[str, Any]:
        github = {
            "token": token,
            "action_path": str(self.action),
            "run_id": str(self.runs),
            "run_attempt": "1",
            "event": {"repository": {"default_branch": DEFAULT.removeprefix("refs/heads/")}},
        }
        unknown = set(inputs) - set(read["inputs"])
        if unknown:
            raise ValueError(f"unexpected inputs: {unknown}")
        defaults = {
            name: expressions.fill(one.get("default", ""), {"github": github})
            for name, one in read["inputs"].items()
        }
        return {"inputs": defaults | dict(inputs), "github": github, "steps": {}}

    def _environment(self, event: str, variables: Mapping[str, str]) -> dict[str, str]:
        passed = {name: value for name, value in os.environ.items() if _PASSED.fullmatch(name)}
        return {
            **passed,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(self.temp / "event.json"),
            "GITHUB_REF": self.ref,
            "GITHUB_RUN_ID": str(self.runs),
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self.temp),
            **self.variables,
            **variables,
        }

    def _step(
        self,
        number: int,
        given: Any,
        contexts: Mapping[str, Any],
        environment: dict[str, str],
        before: list[Step],
    ) -> Step:
        step = Step(name=given["name"])
        failed = any(one.outcome == "failure" for one in before)
        if not expressions.holds(given.get("if"), contexts, failed=failed):
            return step
        if "uses" in given:
            work = {
                key: expressions.fill(str(text), contexts) for key, text in given["with"].items()
            }
            done = self._stand_in(given["uses"], work, step)
        else:
            own = {
                key: expressions.fill(str(text), contexts)
                for key, text in given.get("env", {}).items()
            }
            folder = expressions.fill(given.get("working-directory", str(self.workspace)), contexts)
            done = self._script(number, given, environment | own, Path(folder), step)
        step.outcome = "success" if done or given.get("continue-on-error") == "true" else "failure"
        return step

    def _script(
        self, number: int, given: Any, environment: dict[str, str], folder: Path, step: Step
    ) -> bool:
        if given["shell"] != "bash" or "${{" in given["run"]:
            raise ValueError(f"not in this house: {given}")
        script = self.temp / f"step-{number}.sh"
        script.write_text(given["run"], encoding="utf-8")
        files = {
            "GITHUB_OUTPUT": self.temp / f"output-{number}",
            "GITHUB_STEP_SUMMARY": self.temp / f"summary-{number}",
            "GITHUB_ENV": self.temp / f"env-{number}",
            "GITHUB_PATH": self.temp / f"path-{number}",
        }
        for file in files.values():
            file.touch()
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder,
            env=environment | {name: str(file) for name, file in files.items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
        step.log, step.code = done.stdout.decode("utf-8", errors="replace"), done.returncode
        step.outputs = outputs(_text(files["GITHUB_OUTPUT"]))
        if _text(files["GITHUB_ENV"]) or _text(files["GITHUB_PATH"]):
            raise ValueError("a step changes the environment of the job")
        return done.returncode == 0

    def _stand_in(self, action: str, work: Mapping[str, str], step: Step) -> bool:
        known: dict[str, Callable[[Mapping[str, str], Step], bool]] = {
            "actions/setup-python": self._python,
            "actions/cache/restore": self._restore,
            "actions/cache/save": self._save,
            "actions/upload-artifact": self._upload,
        }
        name, commit = action.split("@")
        if not re.fullmatch(r"[0-9a-f]{40}", commit):
            raise ValueError(f"not pinned: {action}")
        return known[name](work, step)

    def _python(self, work: Mapping[str, str], step: Step) -> bool:
        if work["update-environment"] != "false" or not work["python-version"]:
            raise ValueError("the job's own Python must stay what it is")
        step.outputs = {"python-path": sys.executable}
        return True

    def _restore(self, work: Mapping[str, str], step: Step) -> bool:
        start = work.get("restore-keys", "").strip()
        for ref in dict.fromkeys((self.ref, DEFAULT)):
            exact = self._cache(ref, work["key"])
            others = exact.parent.glob(f"{start}*") if start else iter(())
            found = [exact] if exact.is_dir() else sorted(others, key=_age)
            if found:
                step.outputs = {"cache-hit": str(exact.is_dir()).lower()}
                _copy(found[-1], Path(work["path"]))
                return True
        step.outputs = {"cache-hit": ""}
        return True

    def _cache(self, ref: str, key: str) -> Path:
        return self.caches / ref.replace("/", "-") / key

    def cached(self) -> set[tuple[str, str]]:
        """Say what is stored: ref and key."""
        return {(one.parent.name, one.name) for one in self.caches.glob("*/*")}

    def _save(self, work: Mapping[str, str], step: Step) -> bool:
        if not Path(work["path"]).exists():
            step.log = "Warning: Path Validation Error"
        elif not self._cache(self.ref, work["key"]).exists():
            _copy(Path(work["path"]), self._cache(self.ref, work["key"]))
        return True

    def _upload(self, work: Mapping[str, str], step: Step) -> bool:
        if not self.takes_artifacts:
            step.log = "Error: artifacts of this version are not supported here"
            return False
        paths = [Path(line.strip()) for line in work["path"].splitlines() if line.strip()]
        found = sorted(
            {
                file
                for path in paths
                for file in (path.rglob("*") if path.is_dir() else [path])
                if (self.workspace / file).is_file()
            }
        )
        target = self.artifacts / str(self.runs) / work["name"]
        target.mkdir(parents=True)
        for file in found:
            shutil.copyfile(self.workspace / file, target / file.name)
        return bool(found)


def outputs(text: str) -> dict[str, str]:
    """Read a step's outputs: NAME=VALUE, or NAME<<MARK, lines, MARK."""
    values: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if found := re.fullmatch(r"([\w-]+)<<(\S+)", line):
            held = []
            for inner in lines:
                if inner == found[2]:
                    break
                held.append(inner)
            else:
                raise ValueError(f"no end of {found[1]}")
            values[found[1]] = "\n".join(held)
        elif line:
            name, sign, value = line.partition("=")
            if not sign:
                raise ValueError(f"no output: {line!r}")
            values[name] = value
    return values


def commands(log: str) -> list[tuple[str, dict[str, str], str]]:
    """Find the commands that a runner would act on: name, properties, text."""
    found, mark = [], None
    for line in log.splitlines():
        parts = re.match(r"\s*::([\w-]+)(?: ([^:]*))?::(.*)", line)
        if mark is not None:
            mark = None if line.strip() == f"::{mark}::" else mark
        elif parts and parts[1] == "stop-commands":
            mark = parts[3]
        elif parts:
            properties = dict(
                one.split("=", 1) for one in (parts[2] or "").split(",") if "=" in one
            )
            found.append((parts[1], properties, parts[3]))
        elif "##[" in line:
            found.append(("##", {}, line))
    if mark is not None:
        raise ValueError("commands stay switched off")
    return found


def _age(path: Path) -> float:
    return path.stat().st_mtime


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _copy(source: Path, target: Path) -> None:
    # Hard links: an environment is large, and programs replace its files instead of writing them.
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-al", str(source), str(target)], check=True)
    os.utime(target)
