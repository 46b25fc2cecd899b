import json
from pathlib import Path

import pytest

from crscore import bench, cli
from crscore.bench import sets
from tests.unit.bench.test_formats import AACR, GOLDEN, REVIEWBENCH, write


@pytest.mark.parametrize(
    ("name", "file", "document"),
    [
        ("martian", "offline/golden_comments/a.json", [{**GOLDEN, "id": None, "url": "o/r#7"}]),
        ("aacr", "dataset/positive_samples.json", AACR),
        ("reviewbench", "golden/o_r_7.json", REVIEWBENCH),
    ],
)
def test_clone_is_written_as_one_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    file: str,
    document: object,
) -> None:
    path = tmp_path / "clone" / file
    path.parent.mkdir(parents=True)
    write(path.parent, json.dumps(document), path.name)
    write(tmp_path / "clone", '{"other": "file"}', "package.json")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["bench", "fetch", name, "clone"]) == 0
    fetched = bench.read_golden(tmp_path / f"{name}.jsonl")
    assert fetched == sets.fetch(name, path)
    assert (fetched.name, fetched.changes[0].id) == (name, "o/r#7")
    capsys.readouterr()
    assert cli.run(["bench", "--list"]) == 0
    (line,) = [row for row in capsys.readouterr().out.splitlines() if row.startswith(name)]
    assert fetched.sha256[:12] in line
    assert sets.public_sets()[name].licence in line


def test_unknown_set_and_missing_clone_get_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["bench", "fetch", "none", str(tmp_path)]) == 3
    assert "the known sets are martian" in capsys.readouterr().err
    assert cli.run(["bench", "fetch", "martian"]) == 2
    assert "a name and a clone" in capsys.readouterr().err
