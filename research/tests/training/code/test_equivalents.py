from __future__ import annotations

import ast
import textwrap

import pytest

from crscore.errors import InputError
from crscore.syntax.trees import parse_code
from crscore_lab.training.code.variants import FAMILIES, list_equivalents, list_mutants


def variants(code: str, language: str) -> dict[str, str]:
    return {variant.rule: variant.code for variant in list_equivalents(code, language)}


def form(code: str, family: str, language: str = "python") -> str | None:
    return variants(textwrap.dedent(code).strip("\n"), language).get(family)


@pytest.mark.parametrize(
    ("family", "before", "after"),
    [
        ("condition", "x = a > b", "x = b < a"),
        ("condition", "x = len(a) >= b[0] + 1", "x = b[0] + 1 <= len(a)"),
        ("condition", "return True", "return not False"),
        (
            "permute",
            "if a == b:\n    c()\nelse:\n    d()\n    e()",
            "if a != b:\n    d()\n    e()\nelse:\n    c()",
        ),
        ("permute", "if a < b:\n  c()\nelse:\n  d()", "if not (a < b):\n  d()\nelse:\n  c()"),
        ("permute", "if not a:\n  c()\nelse:\n  d()", "if a:\n  d()\nelse:\n  c()"),
    ],
)
def test_python(family: str, before: str, after: str) -> None:
    assert form(before, family) == after


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("condition", "x = a < b < c"),
        ("condition", "x = next(a) > next(a)"),
        ("permute", "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()"),
        ("permute", "if a: b()\nelse: c()"),
    ],
)
def test_python_is_unchanged_if_its_behaviour_might_change(family: str, code: str) -> None:
    assert form(code, family) is None


@pytest.mark.parametrize(
    ("family", "before", "after"),
    [
        ("condition", "boolean x = a.size() > b;", "boolean x = b < a.size();"),
        ("permute", "if (a == b) c(); else { d(); }", "if (a != b) { d(); } else { c(); }"),
        ("permute", "if (a < b) { c(); } else d();", "if (!(a < b)) { d(); } else { c(); }"),
    ],
)
def test_java(family: str, before: str, after: str) -> None:
    assert form(before, family, "java") == after


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("condition", "boolean x = a.next() > a.next();"),
        ("condition", "boolean x = a /* one */ < b;"),
        ("permute", "if (a instanceof B b) { c(b); } else { d(); }"),
    ],
)
def test_java_is_unchanged_if_its_behaviour_might_change(family: str, code: str) -> None:
    assert form(code, family, "java") is None


PROGRAM = """
def total(values, limit: int):
    count = 0
    for i in range(len(values)):
        if values[i] > limit:
            count += 1
        count = count + values[i]
    if count == 3:
        return True
    else:
        count = count - 1
    return count
"""


def test_all_equivalents_and_not_all_mutants_behave_alike() -> None:
    inputs = [([], 1), ([1, 2, 3], 2), ([5, -1, 0.5], 3), ([1.5], 2)]

    def results(code: str) -> list[object]:
        ast.parse(code)
        space: dict[str, object] = {}
        exec(code, space)
        return [space["total"](list(values), limit) for values, limit in inputs]  # type: ignore[operator]

    forms = variants(PROGRAM, "python")
    assert len(forms) == 3  # all non-empty sets of two families
    assert {results(form_code) == results(PROGRAM) for form_code in forms.values()} == {True}
    assert list(forms)[:2] == list(FAMILIES)
    ordered = next(
        mutant.code for mutant in list_mutants(PROGRAM, "python") if mutant.rule == "ROR > <"
    )
    assert results(ordered) != results(PROGRAM)


@pytest.mark.parametrize("language", ["python", "java"])
@pytest.mark.parametrize("code", ["", "def (", "}}}", "if (", "\x00", "x = " + "(" * 3000])
def test_code_that_does_not_parse_has_no_equivalents(code: str, language: str) -> None:
    assert list_equivalents(code, language) == []


def test_other_languages_are_refused() -> None:
    with pytest.raises(InputError, match="no rules to rewrite go"):
        list_equivalents("a := 1", "go")


def test_variants_parse() -> None:
    for variant in list_equivalents(PROGRAM, "python"):
        assert parse_code(variant.code, "python").errors == 0
