"""The published schema and the reader say the same of a line."""

import importlib.resources
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from crscore.errors import InputError
from crscore_lab.study.data import study
from tests.helpers import study as helper

SCHEMA = json.loads(
    (importlib.resources.files("crscore_lab") / "schemas" / "study.schema.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def reads(tmp_path: Path, row: dict) -> bool:
    try:
        study.read_study(helper.write(tmp_path / "s.jsonl", [row]))
    except InputError:
        return False
    return True


def test_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("rows", [helper.rows, helper.full_rows])
def test_study_is_valid(rows: Callable[[], list[dict]]) -> None:
    for row in rows():
        VALIDATOR.validate(row)


def test_bare_change_and_fields_of_others_are_valid(tmp_path: Path) -> None:
    row = {"id": 7, "language": "go", "patch": "@@ -1 +1 @@\n-a\n+b\n", "reviews": [], "mine": 1}
    VALIDATOR.validate(row)
    assert reads(tmp_path, row)


def remove(*path: str | int) -> Callable[[dict], None]:
    def edit(row: dict) -> None:
        owner = row
        for key in path[:-1]:
            owner = owner[key]
        del owner[path[-1]]

    return edit


def put(value: object, *path: str | int) -> Callable[[dict], None]:
    def edit(row: dict) -> None:
        owner = row
        for key in path[:-1]:
            owner = owner[key]
        owner[path[-1]] = value

    return edit


BROKEN = {
    "no patch": remove("patch"),
    "no reviews": remove("reviews"),
    "reviews null": put(None, "reviews"),
    "language null": put(None, "language"),
    "source is a number": put(1, "new_source"),
    "claim without text": remove("llm_claims", 0, "text"),
    "unknown correctness": put("right", "llm_claims", 0, "correctness"),
    "unknown correctness by one": put("1", "llm_claims", 0, "by_annotator", "a"),
    "annotator is a number": put(1, "reviews", 0, "annotator"),
    "unknown kind": put("smell", "pseudo_references", 0, "kind"),
    "added claim is null": put([None], "added_claims"),
    "review without system": remove("reviews", 0, "system"),
    "review without a rating": remove("reviews", 0, "comprehensiveness"),
    "rating of 0": put(0, "reviews", 0, "conciseness"),
    "rating of 6": put(6, "reviews", 0, "relevance"),
    "rating is a word": put("5", "reviews", 0, "relevance"),
    "rating is true": put(True, "reviews", 0, "relevance"),
    "addressed is a text": put("1, 2", "reviews", 0, "addressed"),
    "addressed holds a text": put(["1"], "reviews", 0, "addressed"),
    "second rating lacks one": remove("reviews", 0, "other_ratings", 0, "relevance"),
    "second ratings are not a list": put({}, "reviews", 0, "other_ratings"),
}


def test_broken_line_is_refused_by_schema_and_reader_alike(tmp_path: Path) -> None:
    for name, breaks in BROKEN.items():
        row = helper.full_rows()[0]
        breaks(row)
        assert not VALIDATOR.is_valid(row), name
        assert not reads(tmp_path, row), name
