"""Measurements that no other test runs still fit the functions that they call."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from benchmarks import hostile, verdicts

if TYPE_CHECKING:
    from pathlib import Path


def test_hostile_case_is_scored_and_reported() -> None:
    case = hostile.Case("small", hostile.small_diff(), (hostile.REVIEW,), "hashing")

    assert hostile.measure(case).error == ""


def test_commit_for_verdicts_is_read(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / "a.py").write_text(f"x = {number}\n", encoding="utf-8")
        for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
            names = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
            subprocess.run(["git", *names, *words], cwd=tmp_path, check=True)

    change, repository = verdicts.read_commit(tmp_path, "HEAD")

    assert [file.path for file in change.files] == ["a.py"]
    assert repository is not None
