"""JavaScript with JSX (tree-sitter-javascript 0.25), TypeScript and TSX (0.23)."""

from crscore.syntax.model import Language, Part, Role

_ROLES = {
    "class_declaration": Role.CLASS,
    "class": Role.CLASS,
    "function_declaration": Role.FUNCTION,
    "generator_function_declaration": Role.FUNCTION,
    "method_definition": Role.FUNCTION,
    "field_definition": Role.FIELD,
    "decorator": Role.DECORATOR,
    "import_statement": Role.IMPORT,
    "if_statement": Role.IF,
    "else_clause": Role.ELSE,
    "switch_statement": Role.SWITCH,
    "switch_case": Role.CASE,
    "switch_default": Role.CASE,
    "for_statement": Role.LOOP,
    "for_in_statement": Role.LOOP,
    "while_statement": Role.LOOP,
    "do_statement": Role.LOOP,
    "return_statement": Role.RETURN,
    "throw_statement": Role.RAISE,
    "try_statement": Role.TRY,
    "catch_clause": Role.CATCH,
    "finally_clause": Role.FINALLY,
    "break_statement": Role.JUMP,
    "continue_statement": Role.JUMP,
    "lexical_declaration": Role.ASSIGN,
    "variable_declaration": Role.ASSIGN,
    "export_statement": Role.OTHER,
    "pair": Role.ENTRY,
    "jsx_element": Role.MARKUP,
    "jsx_self_closing_element": Role.MARKUP,
    "comment": Role.COMMENT,
}

_TYPED_ROLES = {
    **_ROLES,
    "abstract_class_declaration": Role.CLASS,
    "interface_declaration": Role.CLASS,
    "enum_declaration": Role.CLASS,
    "internal_module": Role.CLASS,
    "module": Role.CLASS,
    "method_signature": Role.FUNCTION,
    "abstract_method_signature": Role.FUNCTION,
    "function_signature": Role.FUNCTION,
    "public_field_definition": Role.FIELD,
    "property_signature": Role.FIELD,
    "enum_assignment": Role.MEMBER,
    "type_alias_declaration": Role.ALIAS,
    "import_alias": Role.IMPORT,
}

_WORDS = {
    "method_definition": "method",
    "method_signature": "method",
    "abstract_method_signature": "method",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "internal_module": "namespace",
    "module": "module",
    "property_signature": "property",
    "do_statement": "do-while loop",
}

_EXPRESSIONS = {
    "call_expression": Role.CALL,
    "new_expression": Role.CALL,
    "assignment_expression": Role.ASSIGN,
    "augmented_assignment_expression": Role.ASSIGN,
    "update_expression": Role.ASSIGN,
    "yield_expression": Role.YIELD,
    "internal_module": Role.CLASS,
}

_CALLS = frozenset({"call_expression", "new_expression"})
_LAMBDAS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
_FIELDS = {
    Part.CALLEE: ("function", "constructor"),
    Part.CONDITION: ("condition", "value", "right"),
    Part.TARGET: ("left", "name", "key", "property"),
    Part.NAME: ("name", "property", "key"),
}
_FRAGMENTS = (
    ("class A {\n", "\n}"),
    ("function f() {\n", "\n}"),
    ("x = {\n", "\n}"),
    ("x = [\n", "\n]"),
    ("f(\n", "\n)"),
)
_OPENERS = {
    "class": "class A {",
    "function": "function f() {",
    "block": "if (a) {",
    "object": "x = {",
    "callback": "() => {",
}

LANGUAGES = (
    Language(
        name="javascript",
        precedence=3,
        package="tree_sitter_javascript",
        aliases=frozenset({"jsx"}),
        roles=_ROLES,
        words=_WORDS,
        expressions=_EXPRESSIONS,
        wrappers={"export_statement": "declaration"},
        calls=_CALLS,
        lambdas=_LAMBDAS,
        blocks=frozenset({"statement_block"}),
        atoms=frozenset({"string", "template_string", "regex", "jsx_text"}),
        fields=_FIELDS,
        fragments=_FRAGMENTS,
        openers=_OPENERS,
    ),
    *(
        Language(
            name=name,
            package="tree_sitter_typescript",
            entry=entry,
            aliases=aliases,
            roles=_TYPED_ROLES,
            words=_WORDS,
            expressions=_EXPRESSIONS,
            wrappers={"export_statement": "declaration"},
            calls=_CALLS,
            lambdas=_LAMBDAS,
            blocks=frozenset({"statement_block"}),
            atoms=frozenset({"string", "template_string", "regex", "jsx_text"}),
            fields=_FIELDS,
            fragments=_FRAGMENTS,
            openers=_OPENERS,
        )
        for name, entry, aliases in (
            ("typescript", "language_typescript", frozenset[str]()),
            ("tsx", "language_tsx", frozenset({"typescriptreact"})),
        )
    ),
)
