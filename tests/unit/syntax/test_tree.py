import pytest

from crscore.syntax.fragments import read_fragment
from crscore.syntax.grammars import language_of, languages_known
from crscore.syntax.guess import guess
from crscore.syntax.model import Part, Role, Tree, Unit
from crscore.syntax.tree import parse_source


def tree(language: str, source: str, **more: object) -> Tree:
    table = language_of(language)
    assert table is not None
    return parse_source(table, source, **more)  # type: ignore[arg-type]


def one(found: Tree, role: Role) -> Unit:
    return next(unit for unit in found.units if unit.role is role)


DECLARATIONS = {
    "python": ("class A(B):\n    def load(self, a: int = 1):\n        return a\n", "A", "load"),
    "java": ("class A extends B {\n  int load(int a) { return a; }\n}\n", "A", "load"),
    "javascript": ("class A extends B {\n  load(a) { return a; }\n}\n", "A", "load"),
    "typescript": ("class A extends B {\n  load(a: number) { return a; }\n}\n", "A", "load"),
    "tsx": ("class A extends B {\n  load(a: number) { return a; }\n}\n", "A", "load"),
    "go": (
        "package p\ntype A struct { B int }\nfunc (s *A) load(a int) int { return a }\n",
        "A",
        "load",
    ),
    "c": ("struct A { int b; };\nint load(int a) { return a; }\n", "A", "load"),
    "cpp": ("class A : public B {\n  int load(int a) { return a; }\n};\n", "A", "load"),
    "csharp": ("class A : B {\n  int load(int a) { return a; }\n}\n", "A", "load"),
    "ruby": ("class A < B\n  def load(a)\n    return a\n  end\nend\n", "A", "load"),
    "php": ("<?php\nclass A extends B {\n  function load($a) { return $a; }\n}\n", "A", "load"),
}


def test_every_table_has_a_declaration_case() -> None:
    assert {language.name for language in languages_known()} == set(DECLARATIONS)


@pytest.mark.parametrize("name", DECLARATIONS)
def test_class_function_parameter_and_return_are_read(name: str) -> None:
    source, class_name, function_name = DECLARATIONS[name]
    found = tree(name, source)
    function = one(found, Role.FUNCTION)
    assert (one(found, Role.CLASS).name, function.name) == (class_name, function_name)
    assert [parameter.name for parameter in function.parameters] == ["a"]
    assert function.index < one(found, Role.RETURN).index < function.after
    assert found.errors == 0


@pytest.mark.parametrize("name", DECLARATIONS)
def test_every_token_stands_on_its_line(name: str) -> None:
    source, _, _ = DECLARATIONS[name]
    lines = source.split("\n")
    for unit in tree(name, source).units:
        assert all(token.text in lines[token.line - 1] for token in unit.tokens)


@pytest.mark.parametrize("name", DECLARATIONS)
def test_units_nest_by_their_indices(name: str) -> None:
    found = tree(name, DECLARATIONS[name][0])
    for unit in found.units:
        assert unit.index < unit.after <= len(found.units)
        assert all(child.parent == unit.index for child in found.children(unit))
        assert found.subtree(unit)[0] is unit


def test_unknown_language_has_no_table() -> None:
    assert language_of("klingon") is None
    assert language_of(None) is None


def test_other_name_of_a_language_gives_its_table() -> None:
    assert language_of("jsx") is language_of("javascript")


def test_only_units_on_the_wanted_lines_are_kept() -> None:
    source = "def a():\n    return 1\n\n\ndef b():\n    return 2\n"
    found = tree("python", source, lines=[(5, 6)])
    assert [unit.name for unit in found.units if unit.role is Role.FUNCTION] == ["b"]


def test_function_given_to_a_name_is_that_function() -> None:
    function = one(
        tree("javascript", "const load = (a, b = 2) => {\n  return a;\n};\n"), Role.FUNCTION
    )
    assert function.name == "load"
    assert [(item.name, item.default) for item in function.parameters] == [("a", ""), ("b", "2")]


def test_callback_is_labeled_with_what_it_is_handed_to() -> None:
    callback = one(tree("javascript", "it('adds', () => {\n  a();\n});\n"), Role.LAMBDA)
    assert callback.name == "it 'adds'"


def test_function_called_at_once_has_no_label() -> None:
    found = tree("go", "package p\nfunc f() {\n\tgo func() {\n\t\ta()\n\t}()\n}\n")
    assert one(found, Role.LAMBDA).name == ""


def test_receiver_is_no_parameter() -> None:
    function = one(tree("python", "class A:\n    def f(self, a):\n        pass\n"), Role.FUNCTION)
    assert [item.name for item in function.parameters] == ["a"]


def test_go_parameters_that_share_a_type_are_told_apart() -> None:
    function = one(tree("go", "package p\nfunc f(a, b int) {}\n"), Role.FUNCTION)
    assert [(item.name, item.type) for item in function.parameters] == [("a", "int"), ("b", "int")]


def test_long_piece_is_cut_with_an_ellipsis() -> None:
    value = one(tree("python", f"x = [{'1234, ' * 200}]\n"), Role.ASSIGN).part(Part.VALUE)
    assert len(value) == 300
    assert value.endswith("…")


FRAGMENTS = {
    "python method body": (
        "python",
        ["        a = 1", "    def g(self):", "        return a"],
        Role.RETURN,
    ),
    "python end of a docstring": (
        "python",
        ["    More words here.", '    """', "    x = 1"],
        Role.ASSIGN,
    ),
    "python dangling decorator": ("python", ["x = 1", "@cache"], Role.DECORATOR),
    "python open header": ("python", ["x = 1", "if a:"], Role.IF),
    "python open bracket": ("python", ["    a,", "    b)", "return a"], Role.RETURN),
    "java method in a class": ("java", ["  int f() {", "    return a;", "  }", "}"], Role.FUNCTION),
    "java cut method": ("java", ["    a();", "  }", "  int f() {", "    return a;"], Role.FUNCTION),
    "java middle of a comment": ("java", ["   * words", "   * more words"], Role.COMMENT),
    "java end of a comment": (
        "java",
        ["   * words", "   */", "  int f() { return 1; }"],
        Role.FUNCTION,
    ),
    "javascript callback end": ("javascript", ["    a();", "  });", "  b();"], Role.CALL),
    "javascript entries": ("javascript", ["  a: 1,", "  b() { return 2; },"], Role.RETURN),
    "java else if": ("java", ["    a();", "  } else if (b) {", "    return c;"], Role.IF),
    "go body": ("go", ["\treturn 1", "}", "", "func g() int {", "\treturn 2"], Role.FUNCTION),
    "c body": ("c", ["  a = 1;", "  return a;", "}"], Role.RETURN),
    "php lines": ("php", ["    return $a;", "  }", "  function g() {"], Role.RETURN),
    "ruby lines": ("ruby", ["    a", "  end", "  def g", "    return 1"], Role.RETURN),
}


@pytest.mark.parametrize("case", FRAGMENTS)
def test_fragment_is_read_with_the_file_s_line_numbers(case: str) -> None:
    name, lines, role = FRAGMENTS[case]
    table = language_of(name)
    assert table is not None
    found = read_fragment(table, lines, 40)
    assert any(unit.role is role for unit in found.units)
    for unit in found.units:
        for token in unit.tokens:
            assert 40 <= token.line < 40 + len(lines) + 2


def test_made_up_surroundings_have_no_name() -> None:
    table = language_of("java")
    assert table is not None
    found = read_fragment(table, ["    a();", "  }", "  int f() { return 1; }", "}"], 10)
    named = {unit.name for unit in found.units if unit.role in {Role.CLASS, Role.FUNCTION}}
    assert named <= {"", "f"}


GUESSED = {
    "python": ["def f(a):", "    if a:", "        return 1"],
    "java": ["public class A {", "  private int a = 1;", "}"],
    "go": ["package p", "func f(a int) error {", "\treturn nil", "}"],
}


@pytest.mark.parametrize("name", GUESSED)
def test_language_is_guessed_from_what_reads_without_errors(name: str) -> None:
    found = guess(GUESSED[name])
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("lines", [[], [""], ["%% ??? !! )( ]]"], ["x" * 30_000]])
def test_what_no_grammar_reads_is_not_guessed(lines: list[str]) -> None:
    assert guess(lines) is None
