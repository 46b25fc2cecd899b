import time

import pytest

from crscore.diff.parse import parse_diff
from crscore.errors import DependencyError
from crscore.syntax.change import ParsedChange, guess_language, is_cpp_header
from crscore.syntax.fragments import MAX_OPEN, complete
from crscore.syntax.grammars import language_of, parser
from crscore.syntax.outline import Outline, Role
from crscore.syntax.outliner import errors_in, parse_text
from tests.helpers.growth import growth, slowness
from tests.helpers.sources import SAMPLES, table

NAMES = sorted(SAMPLES)


def facts(outlined: Outline) -> list[tuple[str, str, int]]:
    return [(fact.role, fact.text, fact.line) for unit in outlined.units for fact in unit.facts]


def cut(name: str, start: int, stop: int, first: int = 1) -> Outline:
    lines = SAMPLES[name].split("\n")[start:stop]
    return complete(table(name), lines, first + start).outline


def line_of(name: str, text: str) -> int:
    return next(at for at, line in enumerate(SAMPLES[name].split("\n")) if text in line)


@pytest.mark.parametrize("name", NAMES)
def test_hunk_inside_a_function_has_facts_on_their_lines(
    name: str,
) -> None:
    start = line_of(name, "a > 1")
    outlined = facts(cut(name, start, start + 3, first=40))
    assert (Role.STRING, '"bad"', 41 + start) in outlined
    conditions = [
        (text.strip("$"), line) for role, text, line in outlined if role is Role.CONDITION
    ]
    assert conditions == [("a > 1", 40 + start)]


@pytest.mark.parametrize("name", NAMES)
def test_hunk_that_ends_in_a_function_has_the_function(name: str) -> None:
    start = line_of(name, "On load")
    outlined = cut(name, start, line_of(name, "bad") + 1)
    named = [(unit.name.lower().rpartition(".")[2], unit.start) for unit in outlined.units]
    assert [pair for pair in named if pair[0] == "load"] == [("load", start + 1)]


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"c"}))
def test_hunk_that_begins_in_a_function_has_only_the_next_function(name: str) -> None:
    start = line_of(name, "hide")
    outlined = cut(name, line_of(name, "return"), start + 2)
    named = [
        (unit.name.rpartition(".")[2].strip("_#"), unit.head)
        for unit in outlined.units[1:]
        if unit.real
    ]
    assert named == [("hide", start + 1)]
    assert any(role is Role.RETURN for role, _, _ in facts(outlined))


@pytest.mark.parametrize("name", NAMES)
def test_hunk_cut_anywhere_keeps_its_lines(name: str) -> None:
    count = SAMPLES[name].count("\n")
    for start in range(0, count - 4):
        outlined = cut(name, start, start + 5)
        lines = SAMPLES[name].split("\n")
        for unit in outlined.units:
            assert all(start < fact.line <= start + 5 for fact in unit.facts)
            assert all(start < line <= start + 5 for line, _ in unit.tokens)
            assert all(text in lines[line - 1].replace("'", '"') for line, text in unit.tokens)


@pytest.mark.parametrize(
    ("name", "lines", "role"),
    [
        ("python", ["    words of a text", '    """', "    return a"], Role.RETURN),
        ("python", ["x = 1", "@cache"], Role.DECORATOR),
        ("python", ["x = 1", "if a:"], Role.CONDITION),
        ("python", ["    a,", "    b)", "return a"], Role.RETURN),
        ("python", ["    a()", "except A:", "    b()"], Role.CATCH),
        ("java", ["   * words", "   */", "  int f() { return 1; }"], Role.RETURN),
        ("java", ["    a();", "  } else if (b) {", "    return c;"], Role.CONDITION),
        ("javascript", ["    a();", "  });", "  b();"], Role.CALL),
        ("javascript", ["  a: 1,", "  b() { return 2; },"], Role.RETURN),
        ("php", ["    return $a;", "  }", "  function g() {"], Role.RETURN),
        ("ruby", ["    a", "  end", "  def g", "    return 1"], Role.RETURN),
    ],
)
def test_fragment_keeps_what_its_lines_do(name: str, lines: list[str], role: Role) -> None:
    assert role in {fact[0] for fact in facts(complete(table(name), lines, 40).outline)}


def test_units_that_complete_a_fragment_are_not_real() -> None:
    outlined = complete(table("java"), ["    a();", "  }", "  int f() { return 1; }", "}"], 10)
    assert [unit.name for unit in outlined.outline.units[1:] if unit.real] == ["f"]
    assert outlined.text.split("\n")[outlined.before].strip() == "a();"


@pytest.mark.parametrize("lines", [[], [""], ["}" * (MAX_OPEN + 1)], ["(" * 5000], ["\x00\r", "é"]])
def test_odd_fragments_are_read(lines: list[str]) -> None:
    assert {complete(table(name), lines, 7).outline.units[0].start for name in NAMES} == {7}


@pytest.mark.growth
@pytest.mark.parametrize("name", ["python", "ruby", "javascript", "cpp"])
def test_time_is_linear_in_the_lines_of_a_fragment(name: str) -> None:
    inner = SAMPLES[name].split("\n")[line_of(name, "a > 1") :]

    def prepare(size: int) -> object:
        return lambda: complete(table(name), inner * size, 1)

    assert growth(prepare, 20) < 12  # type: ignore[arg-type]


def test_language_is_guessed_from_a_sample() -> None:
    names = sorted(set(NAMES) - {"tsx"})
    guessed = [guess_language(SAMPLES[name].split("\n")) for name in names]
    assert [language and language.name for language in guessed] == names


def test_language_is_guessed_only_without_a_name() -> None:
    hunk = "@@ -0,0 +1 @@\n+def total(items): return sum(items)\n"
    named = f"--- a/notes.qmd\n+++ b/notes.qmd\n{hunk}"
    languages = [
        ParsedChange.of(parse_diff(text)).parsed_files[0].language for text in (hunk, named)
    ]
    assert [language and language.name for language in languages] == ["python", None]


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [""],
        ["%% ??? !! )( ]]"],
        ["x" * 30_000],
        ["Please explain, why is this here?", "It's odd."],
    ],
)
def test_text_that_is_not_code_has_no_guess(lines: list[str]) -> None:
    assert guess_language(lines) is None


@pytest.mark.parametrize(
    ("text", "paths", "expected"),
    [
        ("class A {\n public:\n};", (), True),
        ("namespace n {", ("a.c",), True),
        ("#include <vector>", (), True),
        ("int f(void);\n// std::string", ("a.c",), False),
        ("/* class A { */\nstruct a { int class; };", (), False),
        ("#include <stdio.h>\nint f(void);", ("a.c", "b.cc"), False),
        ("struct class *f(struct class *class);", (), False),
        ("int f(int);", ("a.h", "b.cc"), True),
        ("int f(int);", (), False),
    ],
)
def test_header_is_cpp_by_its_content_or_else_by_the_other_files(
    text: str, paths: tuple[str, ...], expected: bool
) -> None:
    assert is_cpp_header(text, paths) is expected


def test_missing_grammar_is_named_with_its_wheel() -> None:
    with pytest.raises(DependencyError, match="tree-sitter-none"):
        parser("tree_sitter_none", "language")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("jsx", "javascript"), ("cython", "python"), ("klingon", None), (None, None)],
)
def test_language_is_found_by_each_of_its_names(name: str | None, expected: str | None) -> None:
    assert language_of(name) is language_of(expected)


@pytest.mark.growth
@pytest.mark.parametrize(("name", "line"), [("python", "/*"), ("javascript", "->")])
def test_text_that_parses_in_quadratic_time_is_unreadable(name: str, line: str) -> None:
    source = f"{line}\n" * 6_000
    language = language_of(name)
    assert language is not None
    began = time.process_time()
    assert errors_in(parse_text(language, source)) > 5_000
    assert time.process_time() - began < 5 * slowness()  # 30 s and 10 GB otherwise


def test_ordinary_text_is_readable() -> None:
    language = language_of("python")
    assert language is not None
    source = "".join(f"def f{n}(a, b):\n    return [a, {{'b': b}}, {n}]\n\n" for n in range(3_000))
    assert errors_in(parse_text(language, source)) == 0
