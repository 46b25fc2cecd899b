from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from crscore.errors import InputError
from crscore_lab.code import graded

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE: dict[str, Any] = {
    "id": "one",
    "intent": "add",
    "references": ["a + b", "sum((a, b))"],
    "outputs": {"x": "a + b", "y": "a - b", "z": "ungraded"},
    "grades": {"x": {"ann": 4, "bob": 3}, "y": {"ann": 0}, "z": {}},
    "aggregated": {"x": 4, "y": 0},
    "published": {"x": {"ruby": 0.5}},
    "surplus": True,
}
TESTS: dict[str, Any] = {
    "task": 7,
    "language": "java",
    "prompt": "int f() {",
    "reference": "return 1;",
    "completions": [[0, "a", "OK"], [1, "b", "OK"], [2, "c", "Timeout"], [100, "d", "OK"]],
}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "data.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


def test_grades_of_people_become_their_mean(tmp_path: Path) -> None:
    read = graded.read_graded(write(tmp_path, PEOPLE))

    assert (read.kind, read.systems, read.problems) == ("people", ("x", "y"), ("one", "one"))
    assert read.grades.tolist() == [3.5, 0]
    assert read.samples[0].references == ("a + b", "sum((a, b))")
    assert read.samples[0].context == "add"
    assert read.published == ({"ruby": 0.5}, {})


def test_aggregated_grades_are_taken_from_the_file(tmp_path: Path) -> None:
    read = graded.read_graded(write(tmp_path, PEOPLE), grades="aggregated")

    assert read.grades.tolist() == [4, 0]


def test_programs_of_index_1_to_99_are_read(tmp_path: Path) -> None:
    read = graded.read_graded(write(tmp_path, TESTS))

    assert [sample.candidate for sample in read.samples] == ["b", "c"]
    assert read.grades.tolist() == [1, 0]
    assert (read.kind, read.samples[0].language, read.problems) == ("tests", "java", ("7", "7"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([PEOPLE, PEOPLE], r":2: one is repeated"),
        ([PEOPLE, TESTS], "both grades and test results"),
        ([{"id": "one"}], r":1: expected the field `outputs`"),
        ([PEOPLE | {"references": []}], r":1: references: "),
        ([PEOPLE | {"outputs": {"x": 1}}], r":1: outputs"),
        ([PEOPLE | {"grades": {}}], "no code with grades"),
        ([TESTS | {"completions": [[100, "a", "OK"]]}], "no program of index 1 to 99"),
        ([TESTS | {"completions": [[1, "a"]]}], r":1: completions"),
        ([], "no code with grades"),
    ],
)
def test_unusable_data_is_one_clear_error(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        graded.read_graded(write(tmp_path, *rows))


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as graded code"):
        graded.read_graded(tmp_path / "none.jsonl")
