from __future__ import annotations

import pytest

from crscore.code.dataflow import read_names
from crscore.code.syntax_tree import syntax_tree
from tests.helpers.sources import FUNCTIONS


def read(code: str, language: str = "python") -> tuple[str, list[str], list[str]]:
    """Return names with numbers, next uses, and assignments as target<-source."""
    tree = syntax_tree(code, language)
    assert tree is not None
    names, next_uses, assignments = read_names(tree)
    texts = [name.text for name in names]
    return (
        " ".join(f"{name.text}{name.variable}" for name in names),
        [texts[source] for source, _ in next_uses],
        sorted({f"{texts[target]}<-{texts[source]}" for source, target in assignments}),
    )


@pytest.mark.parametrize("language", sorted(FUNCTIONS))
def test_one_function_reads_the_same_in_each_language(language: str) -> None:
    names, next_uses, assignments = read(FUNCTIONS[language], language)

    assert names.lower() == "f0 a1 b2 c3 a1 b2 c3 g4 a1 c3"
    assert next_uses == ["a", "b", "c", "a", "c"]
    assert assignments == ["c<-a", "c<-b", "c<-g"]


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("python", "for i, x in y: pass", ["i<-y", "x<-y"]),
        ("python", "[x for x in y]", ["x<-y"]),
        ("python", "a, b[i] = c", ["a<-c", "b<-c", "i<-c"]),
        ("java", "for (T x : y) { z = 1; }", ["x<-y"]),
        ("javascript", "for (const x of y) { z = 1 }", ["x<-y"]),
        ("go", "for i, x := range y { z = 1 }", ["i<-y", "x<-y"]),
        ("cpp", "for (auto& x : y) { z = 1; }", ["x<-y"]),
        ("csharp", "foreach (var x in y) { z = 1; }", ["x<-y"]),
        ("php", "foreach ($y as $i => $x) { $z = 1; }", ["i<-y", "x<-y"]),
        ("ruby", "for x in y do z = 1 end", ["x<-y"]),
    ],
)
def test_loops_assign(language: str, code: str, expected: list[str]) -> None:
    assert read(code, language)[2] == expected


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("python", "self.a.b(x)", "self0 self.a1 self.a.b2 x3"),
        ("java", "this.a = b.c(d).e();", "this.a0 b1 b.c2 d3"),
        ("javascript", "a.b = {c: d, e}", "a0 a.b1 d2 e3"),
        ("go", "a.b = c.d", "a0 a.b1 c2 c.d3"),
        ("c", "a->b = c.d;", "a0 a.b1 c2 c.d3"),
        ("csharp", "a.b = c.d;", "a0 a.b1 c2 c.d3"),
        ("php", "$a->b = $c->d($e);", "a0 a.b1 c2 c.d3 e4"),
        ("ruby", "a.b = c.d(e)", "a0 a.b1 c2 c.d3 e4"),
    ],
)
def test_member_of_a_plain_name_is_a_variable(language: str, code: str, expected: str) -> None:
    assert read(code, language)[0] == expected


def test_labels_and_types_are_not_variables() -> None:
    assert read("x: int = f(key=y)")[0] == "x0 f1 y2"


def test_comprehensions_and_lambdas_have_their_own_names() -> None:
    names, *_ = read("x = [x for x in x]\ny = lambda x: x + z\nz(x)")

    # The first iterable of a comprehension stands outside of it.
    assert names == "x0 x1 x1 x0 y2 x3 x3 z4 z4 x0"


def test_strings_may_contain_names() -> None:
    assert read('a = f"{b}"')[2] == ["a<-b"]
