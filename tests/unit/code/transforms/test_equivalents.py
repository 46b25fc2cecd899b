from __future__ import annotations

import ast
import textwrap

import pytest

from crscore.code.transforms import FAMILIES, mutants, transforms
from crscore.errors import InputError
from crscore.suggestions.trees import parse_code


def variants(code: str, language: str, **options: int) -> dict[str, str]:
    return {one.rule: one.code for one in transforms(code, language, **options)}


def form(code: str, family: str, language: str = "python") -> str | None:
    return variants(textwrap.dedent(code).strip("\n"), language).get(family)


@pytest.mark.parametrize(
    ("family", "before", "after"),
    [
        ("condition", "x = a > b", "x = b < a"),
        ("condition", "x = len(a) >= b[0] + 1", "x = b[0] + 1 <= len(a)"),
        ("condition", "return True", "return not False"),
        ("expression", "n = 0\nn += a - b", "n = 0\nn = n + (a - b)"),
        ("expression", "n = 'a'\nn = n + b", "n = 'a'\nn += b"),
        ("expression", "d[k] += 1", "d[k] = d[k] + 1"),
        (
            "permute",
            "if a == b:\n    c()\nelse:\n    d()\n    e()",
            "if a != b:\n    d()\n    e()\nelse:\n    c()",
        ),
        ("permute", "if a < b:\n  c()\nelse:\n  d()", "if not (a < b):\n  d()\nelse:\n  c()"),
        ("permute", "if not a:\n  c()\nelse:\n  d()", "if a:\n  d()\nelse:\n  c()"),
        (
            "loop",
            "for i in range(n):\n    if i:\n        continue\n    print(i)",
            "i = 0\nwhile i < n:\n    if i:\n        i += 1; continue\n    print(i)\n    i += 1",
        ),
        (
            "loop",
            "for i in range(len(a), 0, -2):\n    a.pop()",
            "i = len(a)\nwhile i > 0:\n    a.pop()\n    i -= 2",
        ),
        (
            "loop",
            "n = 0\nfor i in range(len(a)):\n    n += a[i]",
            "n = 0\ni = 0\nwhile i < len(a):\n    n += a[i]\n    i += 1",
        ),
        (
            "loop",
            "for i in range(len(a)):\n    a.pop()",
            "i = 0\nlimit = len(a)\nwhile i < limit:\n    a.pop()\n    i += 1",
        ),
    ],
)
def test_python(family: str, before: str, after: str) -> None:
    assert form(before, family) == after


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("condition", "x = a < b < c"),
        ("condition", "x = next(a) > next(a)"),
        ("expression", "def f(a, b):\n    a += b"),  # a may be a list that the caller keeps
        ("expression", "a = []\na += b"),
        ("expression", "a *= 2"),
        ("expression", "a = f()\na = a + b"),
        ("permute", "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()"),
        ("permute", "if a: b()\nelse: c()"),
        ("loop", "for i in range(n):\n    i += 1"),
        ("loop", "for i in range(n):\n    a()\nprint(i)"),
        ("loop", "for i in range(n):\n    a()\nelse:\n    b()"),
        ("loop", "for i in range(n):\n    fs.append(lambda: i)"),
        ("loop", "for i in range(a, b, c):\n    d()"),
        ("loop", "for i in x:\n    d()"),
    ],
)
def test_python_is_left_alone_where_it_might_behave_otherwise(family: str, code: str) -> None:
    assert form(code, family) is None


@pytest.mark.parametrize(
    ("family", "before", "after"),
    [
        ("condition", "boolean x = a.size() > b;", "boolean x = b < a.size();"),
        ("expression", "i++;", "i += 1;"),
        ("expression", "int n = 0; n += 2 * n;", "int n = 0; n = n + (2 * n);"),
        ("expression", "x = x * y;", "x *= y;"),
        ("permute", "if (a == b) c(); else { d(); }", "if (a != b) { d(); } else { c(); }"),
        ("permute", "if (a < b) { c(); } else d();", "if (!(a < b)) { d(); } else { c(); }"),
        ("loop", "while (a < b) { c(); }", "for (; a < b; ) { c(); }"),
        (
            "loop",
            "for (int i = 0; i < n; i++) { if (a) continue; b(); }",
            "{ int i = 0; while (i < n) { if (a) { i++; continue; } b(); i++; } }",
        ),
        ("loop", "for (;;) return;", "{ while (true) { return; } }"),
    ],
)
def test_java(family: str, before: str, after: str) -> None:
    assert form(before, family, "java") == after


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("condition", "boolean x = a.next() > a.next();"),
        ("expression", "byte b = 0; b += 1;"),  # the sum needs a cast
        ("expression", "int n = 0; n += 0.5;"),
        ("expression", "n += f();"),
        ("expression", "x = y++;"),
        ("condition", "boolean x = a /* one */ < b;"),
        ("expression", "x = x + /* one */ b;"),
        ("permute", "if (a instanceof B b) { c(b); } else { d(); }"),
        ("loop", "out: for (int i = 0; i < n; i++) { continue out; }"),
        ("loop", "for (int i = 0; i < n; i++) { try { return; } finally { a(); } }"),
    ],
)
def test_java_is_left_alone_where_it_might_behave_otherwise(family: str, code: str) -> None:
    assert form(code, family, "java") is None


PROGRAM = """
def total(values, limit: int):
    count = 0
    for i in range(len(values)):
        if values[i] > limit:
            continue
        count += values[i] * 2
    if count == 3:
        return True
    else:
        count = count - 1
    return count
"""


def test_every_combination_behaves_alike_and_some_mutant_does_not() -> None:
    inputs = [([], 1), ([1, 2, 3], 2), ([5, -1, 0.5], 3), ([1.5], 2)]

    def results(code: str) -> list[object]:
        ast.parse(code)
        space: dict[str, object] = {}
        exec(code, space)
        return [space["total"](list(values), limit) for values, limit in inputs]  # type: ignore[operator]

    found = variants(PROGRAM, "python")
    assert len(found) == 15  # all non-empty sets of four families
    assert {results(one) == results(PROGRAM) for one in found.values()} == {True}
    assert list(found)[:4] == list(FAMILIES)
    ordered = next(one.code for one in mutants(PROGRAM, "python") if one.rule == "ROR > <")
    assert results(ordered) != results(PROGRAM)


def test_a_seed_draws_places() -> None:
    code = "\n".join(f"x{i} = a > b{i}" for i in range(20))
    first = variants(code, "python", seed=1)
    assert first == variants(code, "python", seed=1)
    assert first != variants(code, "python", seed=2)
    assert 0 < first["condition"].count(" < ") < 20


@pytest.mark.parametrize("language", ["python", "java"])
@pytest.mark.parametrize("code", ["", "def (", "}}}", "if (", "\x00", "x = " + "(" * 3000])
def test_bad_code_has_no_forms(code: str, language: str) -> None:
    assert transforms(code, language) == []


def test_other_languages_are_told() -> None:
    with pytest.raises(InputError, match="no rules to rewrite go"):
        transforms("a := 1", "go")


def test_variants_parse() -> None:
    for variant in transforms(PROGRAM, "python", seed=3):
        assert parse_code(variant.code, "python").errors == 0
