import ast
from textwrap import indent

import pytest

from crscore.analysis.pyscent.complexity import complex_code


def function(complexity: int, head: str = "def f():") -> str:
    """A function with that many ways through it: one, and one an `if`."""
    return head + "\n" + "    if a: b()\n" * (complexity - 1) + "    return 1\n"


def found(code: str, *, published: bool = False):
    return [
        (smell.place, smell.line, smell.end_line, smell.measure)
        for smell in complex_code(ast.parse(code), published=published)
    ]


def test_ten_is_no_smell() -> None:
    assert found(function(10)) == []


def test_eleven_is_one() -> None:
    assert found(function(11)) == [("`f`", 1, 12, 11)]


@pytest.mark.parametrize(
    ("complexity", "words", "level"),
    [
        (11, "11 (rank C, moderate risk), more than 10: a slightly complex block", "note"),
        (20, "20 (rank C, moderate risk), more than 10: a slightly complex block", "note"),
        (21, "21 (rank D, more than moderate risk), more than 10: a more complex", "warning"),
        (30, "30 (rank D, more than moderate risk), more than 10: a more complex", "warning"),
        (31, "31 (rank E, high risk), more than 10: a complex, alarming block", "warning"),
        (40, "40 (rank E, high risk), more than 10: a complex, alarming block", "warning"),
        (41, "41 (rank F, very high risk), more than 10: an error-prone, unstable", "warning"),
    ],
)
def test_sentence_and_level_follow_the_rank(complexity: int, words: str, level: str) -> None:
    (smell,) = complex_code(ast.parse(function(complexity)))
    assert smell.text.startswith(f"`f` has a cyclomatic complexity of {words}")
    assert smell.level == level


def test_the_line_is_the_def_not_its_decorator() -> None:
    assert found(function(11, "@cache\n@other\nasync def f():")) == [("`f`", 3, 14, 11)]


def test_functions_inside_count_by_themselves() -> None:
    code = "def outer():\n" + indent(function(11), "    ") + "    return f\n"
    assert found(code) == [("`outer.f`", 2, 13, 11)]
    assert found(code, published=True) == []


def test_methods_and_static_methods_count() -> None:
    code = "class A:\n" + indent(function(11, "@staticmethod\ndef f():"), "    ")
    assert found(code) == [("`A.f`", 3, 14, 11)]


def test_published_form_counts_classes_too() -> None:
    # radon: a class with one method has the method's complexity plus one.
    code = "class A:\n" + indent(function(11, "def f(self):"), "    ")
    assert [(place, measure) for place, _, _, measure in found(code, published=True)] == [
        ("`A`", 12),
        ("`A.f`", 11),
    ]
