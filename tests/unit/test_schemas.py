"""The schemas that are checked in are those of the types."""

import functools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import make_schemas  # noqa: E402


@functools.cache
def schema(name: str) -> Any:
    return make_schemas.schema(make_schemas.DOCUMENTS[name])


@pytest.mark.parametrize("name", make_schemas.DOCUMENTS)
def test_schema_is_the_one_of_the_types(name: str) -> None:
    written = make_schemas.path_of(name).read_text("utf-8")
    assert json.loads(written) == schema(name)


@pytest.mark.parametrize("name", make_schemas.DOCUMENTS)
def test_only_the_field_schema_is_described_as_one(name: str) -> None:
    document = schema(name)
    described = {
        field
        for definition in document["$defs"].values()
        for field, value in definition.get("properties", {}).items()
        if value.get("description") == make_schemas.TAG
    }
    assert described <= {"schema"}
