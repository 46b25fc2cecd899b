"""C (tree-sitter-c 0.24) and C++ (tree-sitter-cpp 0.23)."""

from crscore.syntax.model import Language, Part, Role

_ROLES = {
    "struct_specifier": Role.CLASS,
    "union_specifier": Role.CLASS,
    "enum_specifier": Role.CLASS,
    "function_definition": Role.FUNCTION,
    "preproc_function_def": Role.FUNCTION,
    "preproc_def": Role.FIELD,
    "field_declaration": Role.FIELD,
    "enumerator": Role.MEMBER,
    "type_definition": Role.ALIAS,
    "preproc_include": Role.IMPORT,
    "preproc_ifdef": Role.IF,
    "preproc_if": Role.IF,
    "preproc_else": Role.ELSE,
    "if_statement": Role.IF,
    "else_clause": Role.ELSE,
    "switch_statement": Role.SWITCH,
    "case_statement": Role.CASE,
    "for_statement": Role.LOOP,
    "while_statement": Role.LOOP,
    "do_statement": Role.LOOP,
    "return_statement": Role.RETURN,
    "break_statement": Role.JUMP,
    "continue_statement": Role.JUMP,
    "goto_statement": Role.JUMP,
    "declaration": Role.ASSIGN,
    "initializer_pair": Role.ENTRY,
    "comment": Role.COMMENT,
}

_CPP_ROLES = {
    **_ROLES,
    "class_specifier": Role.CLASS,
    "namespace_definition": Role.CLASS,
    "using_declaration": Role.IMPORT,
    "alias_declaration": Role.ALIAS,
    "for_range_loop": Role.LOOP,
    "throw_statement": Role.RAISE,
    "try_statement": Role.TRY,
    "catch_clause": Role.CATCH,
    "co_return_statement": Role.RETURN,
    "co_yield_statement": Role.YIELD,
    "static_assert_declaration": Role.ASSERT,
}

_WORDS = {
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "namespace_definition": "namespace",
    "preproc_function_def": "macro",
    "preproc_def": "macro",
    "do_statement": "do-while loop",
}

_EXPRESSIONS = {
    "call_expression": Role.CALL,
    "new_expression": Role.CALL,
    "assignment_expression": Role.ASSIGN,
    "update_expression": Role.ASSIGN,
    "delete_expression": Role.DELETE,
}

_FIELDS = {
    Part.CONDITION: ("condition", "name"),
    Part.TARGET: ("left", "name", "designator"),
    Part.NAME: ("name",),
}

_OPENERS = {
    "class": "struct A {",
    "function": "void f() {",
    "block": "if (a) {",
    "object": "int a[] = {",
    "callback": "[&]() {",
}

_FRAGMENTS = (("void f() {\n", "\n}"), ("struct A {\n", "\n};"), ("int a[] = {\n", "\n};"))

LANGUAGES = (
    Language(
        name="c",
        package="tree_sitter_c",
        roles=_ROLES,
        words=_WORDS,
        expressions=_EXPRESSIONS,
        blocks=frozenset({"compound_statement"}),
        atoms=frozenset({"string_literal", "char_literal", "system_lib_string"}),
        fields=_FIELDS,
        typed_left=True,
        openers=_OPENERS,
        fragments=_FRAGMENTS,
    ),
    Language(
        name="cpp",
        package="tree_sitter_cpp",
        aliases=frozenset({"cuda"}),
        roles=_CPP_ROLES,
        words=_WORDS,
        expressions=_EXPRESSIONS,
        calls=frozenset({"call_expression", "new_expression"}),
        lambdas=frozenset({"lambda_expression"}),
        blocks=frozenset({"compound_statement"}),
        atoms=frozenset(
            {"string_literal", "char_literal", "raw_string_literal", "system_lib_string"}
        ),
        fields=_FIELDS,
        typed_left=True,
        openers=_OPENERS,
        fragments=_FRAGMENTS,
    ),
)
