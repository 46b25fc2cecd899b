"""The hook of `.pre-commit-hooks.yaml`, installed and run by pre-commit in a repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from crscore.encoders.minilm_files import default_folder

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[2]
ENCODER = default_folder()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of the tracked files as a repository that can be cloned."""
    made = tmp_path / "crscore"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    wanted = ("crscore/", "analyzers/", "prompts/")
    for name in filter(None, listed.split("\0")):
        source = ROOT / name
        if source.is_file() and ("/" not in name or name.startswith(wanted)):
            (made / name).parent.mkdir(parents=True, exist_ok=True)
            (made / name).write_bytes(source.read_bytes())
    commit(made, "Release")
    return made


def commit(folder: Path, message: str) -> subprocess.CompletedProcess[str]:
    """Commit all files; hooks run as they do for a user."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(folder.parent / "pre-commit"),
        "CRSCORE_ENCODER_DIR": str(ENCODER),
        # The installed package speaks, not this checkout.
        "PYTHONPATH": "",
    }
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (
        ["git", "init", "--quiet"],
        ["git", "add", "--all"],
        ["git", *identity, "commit", "--message", message],
    ):
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    return done


def test_hook_tells_what_a_message_leaves_out_and_can_refuse_it(
    repository: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True
    ).stdout.strip()
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {repository.as_uri()}\n  rev: {revision}\n  hooks:\n"
        "  - id: crscore-commit-message\n    args: [--fail-under=60]\n",
        encoding="utf-8",
    )
    assert commit(project, "Begin").returncode == 0
    pre_commit = [sys.executable, "-m", "pre_commit", "install", "--hook-type", "commit-msg"]
    subprocess.run(pre_commit, cwd=project, check=True, capture_output=True)
    (project / "shop.py").write_text("limit = 20\n\n\ndef charge(order):\n    return order\n")

    refused = commit(project, "wip")
    assert refused.returncode == 1
    assert "Not mentioned:\n  shop.py" in refused.stderr
    accepted = commit(project, "Add `charge`, which returns the order, and `limit`")
    assert accepted.returncode == 0, accepted.stderr
    assert "About this change: " in accepted.stderr
