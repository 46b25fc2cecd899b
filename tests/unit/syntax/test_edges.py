import pytest

from crscore.errors import DependencyError
from crscore.syntax.fragments import MAX_OPEN, read_fragment
from crscore.syntax.grammars import language_of, parser
from crscore.syntax.model import Language, Role, Tree
from crscore.syntax.tree import parse_source


def tree(name: str, source: str) -> Tree:
    table = language_of(name)
    assert table is not None
    return parse_source(table, source)


def test_missing_grammar_is_named_with_its_wheel() -> None:
    with pytest.raises(DependencyError, match="tree-sitter-none"):
        parser(Language(name="none", package="tree_sitter_none", roles={}))


def test_fragment_that_closes_too_much_is_read_as_it_is() -> None:
    table = language_of("java")
    assert table is not None
    assert read_fragment(table, ["}" * (MAX_OPEN + 1)], 1).units[0].role is Role.MODULE


def test_fragment_that_ends_a_docstring_keeps_the_code_behind_it() -> None:
    table = language_of("python")
    assert table is not None
    found = read_fragment(table, ["    words of a text", '    """', "    return a"], 7)
    assert [unit.start for unit in found.units if unit.role is Role.RETURN] == [9]


def test_destructured_parameter_is_told_by_what_the_caller_hands_over() -> None:
    source = "function f({ a, /* c */ b = 1, c: d, e: g = 2, ...rest }) {\n  return 1;\n}\n"
    found = next(unit for unit in tree("javascript", source).units if unit.role is Role.FUNCTION)
    assert [(item.name, item.default, item.optional) for item in found.parameters] == [
        ("a", "", True),
        ("b", "1", True),
        ("c", "", True),
        ("e", "2", True),
        ("rest", "", True),
    ]


def test_at_most_twelve_calls_of_a_statement_are_kept() -> None:
    calls = ", ".join(f"f{number}()" for number in range(20))
    found = tree("python", f"g({calls})\n").units[1]
    assert found.calls[:2] == ("g", "f0")
    assert len(found.calls) == 12
