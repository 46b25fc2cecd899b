import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.syntax.grammars import languages_known
from crscore.syntax.outline import Kind, Outline, Role, Unit
from crscore.syntax.outliner import MAX_DEPTH, read_outline
from tests.helpers.growth import growth
from tests.helpers.sources import LANGUAGES, SAMPLES, outline
from tests.helpers.sources import table as table_of

NAMES = sorted(SAMPLES)


def load(outlined: Outline) -> Unit:
    return next(unit for unit in outlined.units if unit.name.lower().endswith("load"))


def names(outlined: Outline, role: Role) -> list[str]:
    return [fact.name for unit in outlined.units for fact in unit.facts if fact.role is role]


def told(outlined: Outline) -> list[str]:
    return [f"{unit.noun} {outlined.qualified(at)}" for at, unit in enumerate(outlined.units) if at]


def test_every_language_has_a_sample() -> None:
    assert [language.name for language in languages_known()] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_declarations_have_a_noun_and_a_qualified_name_without_the_namespace(
    name: str,
) -> None:
    assert told(outline(name, SAMPLES[name])) == LANGUAGES[name]["declarations"]


@pytest.mark.parametrize("name", NAMES)
def test_span_holds_the_comment_and_the_decorators_above(name: str) -> None:
    lines = SAMPLES[name].split("\n")
    sample = outline(name, SAMPLES[name])
    assert sample.errors == 0
    for unit in sample.units[1:3]:
        assert lines[unit.start - 1].strip(" /*#.") in {"About A", "On load"}
        assert unit.name.rpartition(".")[2] in lines[unit.head - 1]
        assert lines[unit.end - 1].strip() in {"}", "};", "end", "pass", "return b"}
    comments = [fact.role for fact in load(sample).facts if "oad." in fact.text]
    assert comments == [Role.COMMENT]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"c", "cpp", "go", "ruby"}))
def test_decorators_belong_to_what_they_decorate(name: str) -> None:
    outlined = outline(name, SAMPLES[name])
    decorated = [
        (unit.name, fact.name.strip("@#[]").lower())
        for unit in outlined.units
        for fact in unit.facts
        if fact.role is Role.DECORATOR
    ]
    # TypeScript puts them beside a method, yet above its name.
    assert sorted(decorated) == [("A", "entity"), ("load", "cached")]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"c", "cpp", "ruby", "go"}))
def test_parameters_are_read_with_defaults_and_the_rest(name: str) -> None:
    first, second, rest = load(outline(name, SAMPLES[name])).parameters
    assert (first.name, first.default, first.optional) == ("a", "", False)
    default = {"csharp": '"x"', "php": "null", "java": ""}.get(name, "1")
    assert (second.name, second.default, second.optional) == ("b", default, name != "java")
    assert (rest.name, rest.optional) == ("rest", True)


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("go", "func f(a, b int, c ...string) {}", [("a", 0), ("b", 0), ("c", 1)]),
        ("c", "int f(const char *a, void (*b)(int), int c[2]) {}", [("a", 0), ("c[2]", 0)]),
        ("c", "int f(void) {}", []),
        ("cpp", "int f(int &&a, B b = {}) {}", [("a", 0), ("b", 1)]),
        ("python", "def f(self, a, /, *, b, **c): pass", [("a", 0), ("b", 0), ("c", 1)]),
        ("ruby", "def f(a, b:, c: 1, &d)\nend", [("a", 0), ("b", 0), ("c", 1), ("d", 1)]),
        ("typescript", "function f(this: A, a?: B) {}", [("a", 1)]),
        ("javascript", "const f = a => {\n}", [("a", 0)]),
        ("javascript", "function f({ a, b = 1 }, c) {}", [("{ a, b = 1 }", 0), ("c", 0)]),
    ],
)
def test_parameters_in_the_forms_of_each_language(
    name: str, source: str, expected: list[tuple[str, int]]
) -> None:
    outlined = [(row.name, int(row.optional)) for row in outline(name, source).units[1].parameters]
    assert [fact for fact in outlined if "(" not in fact[0]] == expected


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"c"}))
def test_internal_members_are_not_public(name: str) -> None:
    units = outline(name, SAMPLES[name]).units
    assert [unit.public for unit in units[1:]] == [True, True, False]


@pytest.mark.parametrize("name", ["__init__", "__construct"])
def test_special_methods_are_public(name: str) -> None:
    assert outline("python", f"def {name}(): pass").units[1].public


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("python", "def test_it():\n    pass"),
        ("java", "class A {\n @Test\n void it() {}\n}"),
        ("csharp", "class A {\n [Fact]\n void It() {}\n}"),
        ("php", "class A {\n function testIt() {}\n}"),
        ("go", "func TestIt(t *testing.T) {}"),
        ("go", 'var _ = Describe("it", func() {\n It("is", func() {\n })\n})'),
        ("javascript", "describe('it', () => {\n it('is', () => {\n })\n})"),
        ("typescript", "test.each([1])('it', (a) => {\n})"),
        ("javascript", "it.only('it', function () {\n})"),
        ("ruby", "RSpec.describe It do\n it 'is' do\n end\nend"),
        ("ruby", "test 'it' do\n end"),
        ("cpp", "TEST_F(Suite, it) {\n}"),
    ],
)
def test_tests_are_known(name: str, source: str) -> None:
    units = outline(name, source).units[1:]
    tests = [unit for unit in units if unit.kind is not Kind.TYPE]
    assert tests
    assert {unit.kind for unit in tests} == {Kind.TEST}
    assert "it" in tests[0].name.lower()


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("javascript", "export default function () {\n}", "function default"),
        ("javascript", "module.exports = function () {\n};", "function default"),
        ("tsx", "export default () => {\n};", "function default"),
        ("tsx", "export default class extends A {\n}", "class default"),
        ("javascript", "const f = async () => {\n};", "function f"),
        ("javascript", "exports.f = function () {\n};", "function f"),
        ("javascript", "A.prototype.f = function () {\n};", "function A.f"),
        ("javascript", "const o = {\n 'f': () => {\n }\n};", "function f"),
        ("typescript", "const f = (() => {\n}) as F;", "function f"),
        ("typescript", "interface I { a: string }", "interface I"),
        ("typescript", "type T = A | B;", "type T"),
        ("go", "type F func(int)", "type F"),
        ("go", "type I interface {}", "interface I"),
        ("c", "typedef struct {\n int a;\n} T;", "struct T"),
        ("c", "#define F(a) (a)", "macro F"),
        ("cpp", "int n::A::f() {}", "function n::A::f"),
        ("cpp", "bool operator==(A a) {}", "function operator=="),
        ("ruby", "def self.f\nend", "method self.f"),
        ("ruby", "def f?\nend", "method f?"),
        ("python", "def über(): pass", "function über"),
        ("java", "class A {}", "class A"),
        ("csharp", "record R(int A);", "record R"),
    ],
)
def test_declaration_is_named_as_a_reader_would(name: str, source: str, expected: str) -> None:
    assert told(outline(name, source)) == [expected]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("cpp", "void f() { const struct timeval tv = {0}; }"),
        ("cpp", "class A;\nvoid f() {}"),
        ("cpp", "EXPORTED int f() {}"),
        ("c", "FORMAT(printf, 1) int f(void) {}"),
        ("c", "struct A;\nenum B b;\nvoid f(struct C *c) {}"),
        ("javascript", "class f { catch(a) { b(); } if(a) { b(); } }"),
        ("php", "function f() { unset($conf['x']); }"),
        ("javascript", "function f() { a.then(() => {\n b();\n}); }"),
    ],
)
def test_what_only_looks_like_a_declaration_is_not_one(name: str, source: str) -> None:
    assert [unit.name for unit in outline(name, source).units[1:]] == ["f"]


def test_macro_that_looks_like_a_function_is_not_one() -> None:
    assert told(outline("cpp", "ACTION(a) {\n  f();\n}")) == []


@pytest.mark.parametrize("name", NAMES)
def test_facts_of_a_function_are_its_own(name: str) -> None:
    facts = load(outline(name, SAMPLES[name])).facts
    lines = SAMPLES[name].split("\n")
    values = {fact.role: fact for fact in facts if fact.name != "Bad"}
    assert values[Role.CONDITION].text.strip("$") == "a > 1"
    assert values[Role.RETURN].text.strip("$<p>{}/") == "b"
    assert (values[Role.CALL].name, values[Role.CALL].text.strip("$")) == ("get", "a")
    assert values[Role.ASSIGN].name.strip("@$").endswith("x")
    assert values[Role.ASSIGN].text.replace("$", "") == "get(a)"
    assert any(fact.role is Role.STRING and fact.text == '"bad"' for fact in facts)
    assert all(fact.text.split(" ")[0] in lines[fact.line - 1] for fact in facts)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"c", "go"}))
def test_raised_error_is_its_type(name: str) -> None:
    assert names(outline(name, SAMPLES[name]), Role.RAISE) == ["Bad"]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("python", "try:\n  a\nexcept (\n  A,\n  b.C,\n) as e:\n  b", "A, b.C"),
        ("python", "try:\n  a\nexcept error:\n  b", "error"),
        ("python", "try:\n  a\nexcept:\n  b", ""),
        ("java", "class A { void f() { try {} catch (final A\n | B e) {} } }", "A | B"),
        ("javascript", "try {} catch (someError) {}", ""),
        ("javascript", "try {} catch {}", ""),
        ("typescript", "try {} catch (e: unknown) {}", "unknown"),
        ("cpp", "void f() { try {} catch (const std::exception& e) {} }", "std::exception&"),
        ("cpp", "void f() { try {} catch (...) {} }", "..."),
        ("csharp", "try {} catch (A e) when (e.B) {}", "A"),
        ("csharp", "try {} catch {}", ""),
        ("php", "try {} catch (A | B $e) {}", "A | B"),
        ("ruby", "begin\n a\nrescue A, B::C => e\n b\nend", "A, B::C"),
        ("ruby", "begin\n a\nrescue => e\n b\nend", ""),
    ],
)
def test_handler_is_described_by_its_errors_without_the_variable(
    name: str, source: str, expected: str
) -> None:
    assert names(outline(name, source), Role.CATCH) == [expected]


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "python",
            "from a.b import (  # why\n  c,\n  d as e,\n)",
            [("c", "a.b"), ("d as e", "a.b")],
        ),
        ("python", "import os, sys", [("os", ""), ("sys", "")]),
        ("python", "from . import *", [("*", ".")]),
        ("python", "from __future__ import a", [("a", "__future__")]),
        ("javascript", "import a, { b } from 'c'", [("a", "c"), ("b", "c")]),
        ("typescript", "import type { a } from 'b'", [("a", "b")]),
        ("java", "import static a.b.C;", [("a.b.C", "")]),
        ("c", "#include <a.h>", [("<a.h>", "")]),
        ("cpp", "using std::a;", [("std::a", "")]),
        ("csharp", "using A = B.C;", [("A = B.C", "")]),
        ("php", "<?php use A\\B;", [("A\\B", "")]),
        ("ruby", "require 'a/b'", [("a/b", "")]),
        ("go", 'import c "a/b"', [("a/b", "")]),
    ],
)
def test_imports_are_described_with_their_module(
    name: str, source: str, expected: list[tuple[str, str]]
) -> None:
    facts = [fact for unit in outline(name, source).units for fact in unit.facts]
    assert [(fact.name, fact.text) for fact in facts if fact.role is Role.IMPORT] == expected


@pytest.mark.parametrize(
    ("name", "source", "role", "expected"),
    [
        ("c", "int f() { return(a + 1); }", Role.RETURN, ("", "(a + 1)")),
        ("python", "x += 1", Role.ASSIGN, ("x", "+= 1")),
        ("go", "func f() { x := 1 }", Role.ASSIGN, ("x", "1")),
        ("typescript", "interface A { a: number }", Role.ASSIGN, ("a", "number")),
        ("ruby", "unless a\n b\nend", Role.CONDITION, ("unless", "a")),
        ("python", "x = URL(1)", Role.CALL, ("URL", "1")),
        ("php", "<?php new A(1);", Role.CALL, ("A", "1")),
        ("javascript", "a.b(1).c(2)", Role.CALL, ("c", "2")),
        ("java", "class A { void f(int... a) { g(); } }", Role.CALL, ("g", "")),
        ("python", '"""Doc."""', Role.COMMENT, ("", '"""Doc."""')),
        ("csharp", "class A { int F() => 1; }", Role.RETURN, ("", "1")),
        ("python", "raise", Role.RAISE, ("", "")),
    ],
)
def test_fact_has_name_and_text(
    name: str, source: str, role: Role, expected: tuple[str, str]
) -> None:
    facts = [fact for unit in outline(name, source).units for fact in unit.facts]
    assert next((fact.name, fact.text) for fact in facts if fact.role is role) == expected


def test_long_text_is_cut_with_an_ellipsis() -> None:
    text = outline("python", f"x = [{'1234, ' * 200}]").units[0].facts[0].text
    assert len(text) <= 400
    assert text.endswith("…")


@pytest.mark.parametrize("name", NAMES)
def test_only_facts_and_tokens_of_the_wanted_lines_are_kept(name: str) -> None:
    source = SAMPLES[name]
    at = next(at for at, line in enumerate(source.split("\n"), start=1) if "a > 1" in line)
    outlined = outline(name, source, lines=[(at, at)])
    lines = {fact.line for unit in outlined.units for fact in unit.facts}
    lines |= {line for unit in outlined.units for line, _ in unit.tokens}
    assert lines == {at}
    assert load(outlined).name == outlined.units[-1].name
    assert load(outlined).start < at < load(outlined).end


def test_owner_of_a_line_is_the_innermost_unit() -> None:
    outlined = outline("python", SAMPLES["python"])
    owners = outlined.owners([1, 3, 4, 6, 9, 18])
    assert [outlined.qualified(owners[line]) for line in owners] == [
        "", "A", "A", "A.load", "A.load", "A._hide",
    ]  # fmt: skip


@pytest.mark.growth
@pytest.mark.parametrize(("name", "share"), [("python", 1), *((name, 8) for name in NAMES)])
def test_time_is_linear_in_the_text_and_in_its_ranges(name: str, share: int) -> None:
    table = table_of(name)

    def prepare(size: int) -> object:
        source = table.prolog + SAMPLES[name].removeprefix("<?php") * size
        lines = [(at, at) for at in range(1, source.count("\n"), share)]
        return lambda: read_outline(table, source, lines=lines)

    assert growth(prepare, 25) < 12  # type: ignore[arg-type]


def test_very_deep_declarations_belong_to_the_declaration_around_them() -> None:
    units = outline("java", "class A {\n" * 3_000 + "}\n" * 3_000).units
    assert len(units) == 1 + MAX_DEPTH


def test_comments_of_many_functions_stay_with_them() -> None:
    units = outline("python", "# about\n@one\ndef f(): pass\n" * 400).units
    assert units[0].facts == []
    assert {len(unit.facts) for unit in units[1:]} == {2}


@pytest.mark.parametrize("name", NAMES)
def test_deep_nesting_does_not_recurse(name: str) -> None:
    for piece in ("(", "[", "f(", "{ a: ", "if (a) { ", "class A { "):
        assert outline(name, piece * 1_200).units[0].kind is Kind.FILE  # Python's limit is 1,000


@pytest.mark.parametrize(
    "source", ["", "\n", "\r\n", "\x00", "\ufeff", "é\udcff", "\x0c\u2028"], ids=ascii
)
def test_odd_texts_are_read(source: str) -> None:
    assert {outline(name, source).units[0].start for name in NAMES} == {1}


def test_line_ends_of_windows_change_nothing() -> None:
    for name in NAMES:
        unix, windows = (
            [(unit.name, unit.start, unit.end) for unit in outline(name, text).units]
            for text in (SAMPLES[name], SAMPLES[name].replace("\n", "\r\n"))
        )
        assert unix == windows


@given(name=st.sampled_from(NAMES), data=st.data())
def test_any_mutilated_text_is_read_within_its_lines(name: str, data: st.DataObject) -> None:
    source = SAMPLES[name]
    cut = data.draw(st.integers(0, len(source)))
    source = source[:cut] + data.draw(st.text(max_size=8)) + source[cut + 3 :]
    outlined = outline(name, source)
    last = source.count("\n") + 1
    for unit in outlined.units:
        assert 1 <= unit.start <= unit.end <= last
        assert all(1 <= fact.line <= last for fact in unit.facts)
        assert all(1 <= line <= last for line, _ in unit.tokens)
