import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.static_analysis.reports import RawFinding, RawReport
from crscore.static_analysis.sarif import find_runs, path_of, read_sarif

ROOT = "/tmp/shop/"
DIFF = parse.parse_diff("--- a/src/index.ts\n+++ b/src/index.ts\n@@ -1 +1 @@\n-x\n+y\n")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src/x/../a.py", "src/a.py"),
        ("src//a.py", "src/a.py"),
        ("src\\a.py", "src/a.py"),
        ("src/a%20b.py", "src/a b.py"),
        ("100%.py", "100%.py"),
        # of this checkout
        ("/tmp/shop/src/a.py", "src/a.py"),
        ("file:///tmp/shop/src/a.py#L3", "src/a.py"),
        ("file:/tmp/shop/src/a.py", "src/a.py"),
        ("file://host/tmp/shop/src/a.py", "src/a.py"),
        # of a runner of GitHub
        ("file:///home/runner/work/shop/shop/src/a.py", "src/a.py"),
        ("/Users/runner/work/shop/shop/src/a.py", "src/a.py"),
        ("D:\\a\\shop\\shop\\src\\a.py", "src/a.py"),
        ("file:///D:/a/shop/shop/src/a%20b.py", "src/a b.py"),
        ("/__w/shop/shop/src/a.py", "src/a.py"),
        ("/github/workspace/src/a.py", "src/a.py"),
        # of other systems
        ("/builds/team/shop/src/a.py", "src/a.py"),
        ("/home/vsts/work/1/s/src/a.py", "src/a.py"),
        ("D:\\a\\1\\s\\src\\a.py", "src/a.py"),
        ("file:///D:/a/_work/1/s/src/a.py", "src/a.py"),
        ("/var/jenkins_home/workspace/shop/src/a.py", "src/a.py"),
        ("/var/lib/jenkins/workspace/shop_main@2/src/a.py", "src/a.py"),
        ("/home/circleci/project/src/a.py", "src/a.py"),
        # of an unknown folder
        ("/srv/builds/team/shop/src/a.py", "/srv/builds/team/shop/src/a.py"),
        ("builds/team/shop/src/a.py", "builds/team/shop/src/a.py"),
        ("/home/runner/work/shop/other/src/a.py", "/home/runner/work/shop/other/src/a.py"),
        ("/tmp/shopping/src/a.py", "/tmp/shopping/src/a.py"),
        # no file
        ("https://host.example/src/a.py", ""),
        ("pkg:npm/src/a.py", ""),
        ("a/" * 5_000 + "src/a.py", ""),
    ],
)
def test_path_is_from_the_root_of_the_repository(uri: str, path: str) -> None:
    assert path_of(uri, [ROOT]) == path


@pytest.mark.parametrize(
    "uri",
    [
        "packages/web/src/index.ts",
        "file:///home/runner/work/shop/shop/packages/web/src/index.ts",
        "/home/runner/work/shop/shop/index.ts",
        "/builds/team/shop/packages/web/src/index.ts",
        "/builds/team/group/shop/src/index.ts",
        "/home/vsts/work/1/s/packages/src/index.ts",
        "/var/jenkins_home/workspace/folder/shop/src/index.ts",
        "/srv/shop/src/index.ts",
        "index.ts",
        "SRC/index.ts",
    ],
)
def test_finding_of_another_file_with_the_same_end_is_only_counted(uri: str) -> None:
    raw = RawFinding(path=path_of(uri), rule="no-eval", message="Evil.", line=1, end_line=1)
    (external,) = find_runs([RawReport(tool="eslint", findings=(raw,))], DIFF)
    assert external.findings == ()
    assert external.notes == ("eslint: findings in files outside of the change: 1.",)


def test_paths_of_this_checkout_are_known(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    uri = f"{tmp_path}{os.sep}src{os.sep}index.ts"
    location = {"physicalLocation": {"artifactLocation": {"uri": uri}}}
    result = {"ruleId": "no-eval", "message": {"text": "Eval is evil."}, "locations": [location]}
    run = {"tool": {"driver": {"name": "eslint"}}, "results": [result]}
    log = json.dumps({"version": "2.1.0", "runs": [run]}).encode()
    (external,) = find_runs(read_sarif(log, source="a.sarif"), DIFF)
    assert [finding.path for finding in external.findings] == ["src/index.ts"]
    assert external.notes == ()


def test_drive_of_windows_is_part_of_the_root() -> None:
    assert path_of("file:///C:/shop/src/a.py", ["C:/shop/"]) == "src/a.py"


@given(st.text(max_size=30) | st.text("/.\\%:aC2 ", max_size=30))
def test_any_text_has_a_path(uri: str) -> None:
    assert isinstance(path_of(uri, [ROOT]), str)
