from __future__ import annotations

import pytest

from crscore.code.syntax_tree import MAX_BYTES, syntax_tree
from crscore.errors import InputError


def test_parents_come_first_and_nodes_have_their_fields() -> None:
    tree = syntax_tree("f(x)  # why", "python")

    assert tree is not None
    assert [(node.type, node.field, node.parent, node.text) for node in tree.nodes] == [
        ("module", "", -1, ""),
        ("expression_statement", "", 0, ""),
        ("call", "", 1, ""),
        ("identifier", "function", 2, "f"),
        ("argument_list", "arguments", 2, ""),
        ("(", "", 4, "("),
        ("identifier", "", 4, "x"),
        (")", "", 4, ")"),
    ]


def test_text_that_completes_a_fragment_has_no_nodes() -> None:
    tree = syntax_tree("get a() {}", "javascript")

    assert tree is not None
    assert tree.valid
    assert [node.type for node in tree.nodes if node.is_named] == [
        "method_definition",
        "property_identifier",
        "formal_parameters",
        "statement_block",
    ]
    assert tree.nodes[0].parent == -1


@pytest.mark.parametrize(
    ("code", "whole_file", "valid"),
    [
        ("x = 1", True, True),
        ("x = `y`", True, False),  # the grammar takes backquotes as a string
        ("print x", True, False),
        ("with open(x) as f:", True, False),
        ("with open(x) as f:", False, True),
        ("a = 1\n    return a", False, True),  # the first line of a body, without its indentation
        ("x = = 1", False, False),
    ],
)
def test_code_is_valid_if_python_parses_it(code: str, whole_file: bool, valid: bool) -> None:
    tree = syntax_tree(code, "python", whole_file=whole_file)

    assert tree is not None
    assert tree.valid is valid


def test_long_code_has_no_tree() -> None:
    assert syntax_tree("x" * (MAX_BYTES + 1), "python") is None


def test_language_without_grammar_is_an_error() -> None:
    with pytest.raises(InputError, match="no grammar for klingon"):
        syntax_tree("x", "klingon")
