import ast

import pytest

from crscore.static_analysis.pyscent.smells import is_record, is_test_module


def first(code: str) -> ast.ClassDef:
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.ClassDef)
    return node


@pytest.mark.parametrize(
    "head",
    [
        "@dataclass\nclass A:",
        "@dataclasses.dataclass(frozen=True)\nclass A:",
        "@other\n@pydantic_dataclass()\nclass A(Base):",
        "@attr.s\nclass A:",
        "@attr.s(auto_attribs=True)\nclass A:",
        "@define(slots=False)\nclass A:",
        "@attrs.frozen\nclass A:",
        "class A(NamedTuple):",
        "class A(namedtuple('A', 'x y')):",
        "class A(typing.TypedDict, total=False):",
        "class A(msgspec.Struct, frozen=True):",
        "class A(Mixin, BaseModel):",
        "class A(RootModel[int]):",
        "class A(enum.IntEnum):",
    ],
)
def test_records(head: str) -> None:
    assert is_record(first(f"{head} ..."))


@pytest.mark.parametrize(
    "head", ["class A:", "class A(Base):", "@final\nclass A:", "@cache()\nclass A(Dataclass):"]
)
def test_other_classes_are_no_records(head: str) -> None:
    assert not is_record(first(f"{head} ..."))


@pytest.mark.parametrize(
    "code",
    [
        "import pytest",
        "import os, unittest.mock",
        "def f():\n    from unittest import mock",
        "def test_it(): ...",
        "async def test_it(): ...",
        "class TestIt(Base):\n    def test_one(self): ...",
    ],
)
def test_modules_of_tests(code: str) -> None:
    assert is_test_module(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "from . import pytest",
        "from .unittest import a",
        "import pytest_like",
        "def testify(): ...",
        "class Client:\n    def test_connection(self): ...",
        "class Testimony:\n    def take(self): ...",
        "def f():\n    def test_it(): ...",
    ],
)
def test_other_modules(code: str) -> None:
    assert not is_test_module(ast.parse(code))
