from __future__ import annotations

import ast

import pytest

from crscore.errors import InputError
from crscore_lab.training.code.variants import list_mutants


def codes(code: str, language: str) -> list[str]:
    return [variant.code for variant in list_mutants(code, language)]


# The operators are those of CodeScore-R, Table 2; the lists below were written by hand from it.
@pytest.mark.parametrize(
    ("code", "language", "operators"),
    [
        ("x = a + b", "python", ["-", "*", "/", "//", "**", "%"]),
        ("x = a < b", "python", [">", ">=", "<=", "==", "!="]),
        ("x = a and b", "python", ["or"]),
        ("x = a & b", "python", ["|", "^"]),
        ("int x = a + b;", "java", ["-", "*", "/", "%"]),
        ("boolean x = a && b;", "java", ["||", "^"]),
        ("int x = a >>> b;", "java", ["<<", ">>"]),
        ("boolean x = a == b;", "java", [">", "<", ">=", "<=", "!="]),
    ],
)
def test_operator_becomes_each_other_operator_of_its_class(
    code: str, language: str, operators: list[str]
) -> None:
    old = code.rstrip(";").split()[-2]
    assert codes(code, language) == [
        code.replace(f" {old} ", f" {operator} ") for operator in operators
    ]


def test_assignments() -> None:
    expected = ["=", "-=", "*=", "/=", "//=", "%=", "**=", "<<=", ">>="]
    assert codes("x += b", "python") == [f"x {operator} b" for operator in expected]
    assert codes("x = b", "python") == []


def test_mutant_replaces_one_operator_and_keeps_the_shape_of_the_tree() -> None:
    assert codes("x = a - b * c", "python") == [
        "x = a + b * c",
        "x = a - b / c",
        "x = a - b // c",
        "x = a - b ** c",
        "x = a - b % c",
    ]


def test_mutants_parse() -> None:
    code = (
        "def f(a, b):\n    if a < b <= 3 and not a == b:\n        a **= b % 2\n    return a << 1\n"
    )
    mutants = codes(code, "python")
    assert len(mutants) == len(set(mutants)) > 15
    for mutant in mutants:
        ast.parse(mutant)


def test_code_that_does_not_parse_has_no_mutants() -> None:
    assert list_mutants("def (", "python") == []
    assert list_mutants("", "java") == []
    assert list_mutants("x = 1 + " * 20_000, "python") == []
    with pytest.raises(InputError, match="no rules to rewrite ruby; known: java, python"):
        list_mutants("a + b", "ruby")
