import gzip
import json
from pathlib import Path

import pytest

from crscore.errors import InputError
from crscore_lab.study.data import saved_runs
from tests.helpers import study as studies


def review(change: str = "a", system: str = "x", **fields: object) -> dict:
    return {
        "change": change,
        "system": system,
        "human": [1, 2.5, 5],
        "scores": [0.0, 0.5, 1.0],
    } | fields


def document(**fields: object) -> dict:
    return {
        "schema": "urn:crscore:validation:1",
        "signature": "crscore|x",
        "metric": "m",
        "data": {"sha256": "00"},
        "reviews": [review(), review(system="y"), review()],
    } | fields


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_reviews_are_read_with_both_judgements(tmp_path: Path) -> None:
    run = saved_runs.read_saved_run(write(tmp_path / "a.json", document()))
    assert (run.name, run.metric, run.signature, run.sha256) == ("a.json", "m", "crscore|x", "00")
    found = run.reviews[saved_runs.ReviewKey("a", "y", 0)]
    assert (found.human, found.scores) == ((1.0, 2.5, 5.0), (0.0, 0.5, 1.0))


def test_second_review_of_a_system_keeps_apart_from_the_first(tmp_path: Path) -> None:
    run = saved_runs.read_saved_run(write(tmp_path / "a.json", document()))
    assert list(run.reviews) == [("a", "x", 0), ("a", "y", 0), ("a", "x", 1)]


def test_packed_run_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps(document()).encode()))
    assert saved_runs.is_run(path)
    assert len(saved_runs.read_saved_run(path).reviews) == 3


def test_study_is_not_a_run(tmp_path: Path) -> None:
    one = studies.write(tmp_path / "one.jsonl", studies.rows()[:1])
    assert not saved_runs.is_run(one)
    assert not saved_runs.is_run(studies.write(tmp_path / "study.jsonl.gz"))
    with pytest.raises(InputError, match=r"one\.jsonl is not a result of crscore validate"):
        saved_runs.read_saved_run(one)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\x1f\x8bno gzip", b"\xff\xfe", b"1e5"])
def test_other_file_is_not_a_run(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    assert not saved_runs.is_run(path)
    with pytest.raises(InputError, match="not a result of crscore validate"):
        saved_runs.read_saved_run(path)


def test_missing_file_is_not_a_run(tmp_path: Path) -> None:
    assert not saved_runs.is_run(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": None}, "data: expected `object`, got `null`"),
        ({"data": {}}, "data: object missing required field `sha256`"),
        ({"metric": 3}, "metric: expected `str`, got `int`"),
        ({"signature": None}, "signature: expected `str`, got `null`"),
        ({"reviews": 3}, "reviews: expected `array`, got `int`"),
        ({"reviews": [review(change=None)]}, r"reviews\[0\].change: expected `str`, got `null`"),
        ({"reviews": [review(human=[1, 2])]}, r"reviews\[0\].human: expected `array` of length 3"),
        ({"reviews": [review(human=[1, 2, 6])]}, r"human\[2\]: expected `float` <= 5"),
        ({"reviews": [review(scores=[None, 0, 0])]}, r"scores\[0\]: expected `float`, got `null`"),
        ({"reviews": [review(scores=[0, 0, float("nan")])]}, "not a result of crscore validate"),
    ],
)
def test_fault_names_the_field(tmp_path: Path, change: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        saved_runs.read_saved_run(write(tmp_path / "a.json", document(**change)))


@pytest.mark.parametrize(
    ("notes", "seen"), [([saved_runs.TRAINED_ON_DATA], True), (["another"], False), ([], False)]
)
def test_run_remembers_that_nothing_was_held_out(tmp_path: Path, notes, seen: bool) -> None:
    assert (
        saved_runs.read_saved_run(
            write(tmp_path / "a.json", document(notes=notes))
        ).is_trained_on_data
        is seen
    )


def test_missing_file_is_called_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.json does not exist"):
        saved_runs.read_saved_run(tmp_path / "a.json")
