import ast
from textwrap import indent

import pytest

from crscore.static_analysis.pyscent.smells import complex_code


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
    ("complexity", "rank", "level"),
    [
        (11, "rank C, moderate risk", "note"),
        (20, "rank C, moderate risk", "note"),
        (21, "rank D, more than moderate risk", "warning"),
        (30, "rank D, more than moderate risk", "warning"),
        (31, "rank E, high risk", "warning"),
        (40, "rank E, high risk", "warning"),
        (41, "rank F, very high risk", "warning"),
    ],
)
def test_sentence_and_level(complexity: int, rank: str, level: str) -> None:
    tree = ast.parse(function(complexity))
    (smell,) = complex_code(tree)
    (published,) = complex_code(tree, published=True)
    assert smell.text == (
        f"`f` has {complexity} independent paths (cyclomatic complexity), more than 10; "
        "it is hard to test."
    )
    assert published.extent == f"a cyclomatic complexity of {complexity} ({rank})"
    assert smell.level == published.level == level


def test_asserts_are_no_paths() -> None:
    asserts = "    assert a and [b for b in c if b]\n" * 9
    nested = "    def g():\n        assert a\n"
    assert found(function(10) + asserts + nested) == []
    assert [measure for *_, measure in found(function(11) + asserts)] == [11]
    assert [measure for *_, measure in found(function(10) + asserts, published=True)] == [19]


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
