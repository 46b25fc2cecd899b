from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from msgspec.structs import replace

from crscore import Scorer
from crscore.errors import ConfigError
from crscore.pytest_plugin import _compare, assert_review

ROOT = Path(__file__).parents[2]
DIFF = (ROOT / "examples" / "change.diff").read_text("utf-8")
REVIEW = (ROOT / "examples" / "review.md").read_text("utf-8")
SUITE = """
from pathlib import Path

import pytest

from crscore import Scorer

DIFF = "@@ -1 +1 @@\\n-limit = 10\\n+limit = 20\\n"

@pytest.fixture(scope="session")
def crscore_scorer():
    return Scorer(encoder="hashing", threshold=0.3, analyzers="none")

def test_review(assert_review):
    assert assert_review(DIFF, "LGTM", relevance=50)

def test_default_scorer():
    from crscore.pytest_plugin import assert_review

    assert assert_review(DIFF, "Why is the limit 20?", usefulness=0)
"""


def test_good_review_passes_and_gives_the_result() -> None:
    result = assert_review(DIFF, REVIEW, usefulness=50, relevance=10)
    assert result.relevance is not None


def test_poor_review_fails_and_names_what_it_did_not_address() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_review(DIFF, "LGTM, thanks!", usefulness=30, relevance=50)

    first, second, title, *points = str(failure.value).splitlines()
    assert re.fullmatch(r"usefulness is \d+ \(\d+ to \d+\), below 30", first)
    assert second.startswith("relevance is ")
    assert title.startswith("Not or hardly addressed (")
    assert any("payments/client.py" in point for point in points)


def test_points_beyond_ten_are_counted() -> None:
    patch = "".join(
        f"--- a/{name}.py\n+++ b/{name}.py\n@@ -1,2 +1,2 @@\n def load_{name}(path):\n"
        f"-    return open_{name}(path, retries={at})\n+    return open_{name}(path, retries=9)\n"
        for at, name in enumerate(map(chr, range(ord("a"), ord("o"))))
    )
    with pytest.raises(AssertionError) as failure:
        assert_review(patch, "LGTM", relevance=99, scorer=Scorer(max_claims=30, analyzers="none"))

    points = [line for line in str(failure.value).splitlines() if line.startswith("  ")]
    assert len(points) == 11
    assert points[-1].startswith("  ... and ")


def test_unknown_score_fails() -> None:
    with pytest.raises(AssertionError, match="relevance is unknown: "):
        assert_review(DIFF, "", relevance=2)
    with pytest.raises(AssertionError, match=r"usefulness is unknown: .*no usefulness weights"):
        assert_review(
            DIFF, REVIEW, usefulness=2, scorer=Scorer(encoder="hashing", analyzers="none")
        )


@pytest.mark.parametrize("limits", [{}, {"relevance": 101}, {"usefulness": -1}, {"relevance": 0.5}])
def test_wrong_limits_are_reported(limits: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        assert_review(DIFF, REVIEW, **limits)


def test_score_equal_to_its_minimum_passes() -> None:
    result = assert_review(DIFF, REVIEW, usefulness=0)
    half = replace(result, scores=replace(result.scores, conciseness=0.29))
    assert list(_compare(half, "conciseness", 29)) == []
    assert list(_compare(half, "conciseness", 29.5)) == ["conciseness is 29, below 29.5"]


def test_fixture_uses_the_scorer_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(SUITE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "crscore.pytest_plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "AssertionError: relevance is " in done.stdout
    # The failure points to the test, not into the plugin.
    assert "def assert_review" not in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    # The store of the default scorer ends with the program, silently.
    assert done.stderr == ""


def test_entry_point_names_the_plugin() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"crscore": "crscore.pytest_plugin"}


def test_import_loads_no_other_part() -> None:
    code = (
        "import pytest, sys; before = set(sys.modules); import crscore.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["crscore", "crscore.pytest_plugin"]
