import ast

from crscore.static_analysis.pyscent.source import Span, blocks, length, span, visits

NESTED = """\
@first
@second(1)
class Outer:
    @staticmethod
    async def method():
        def inner():
            return 1
        return inner
    class Inner:
        def method(self): ...
"""


def test_blocks_have_dotted_names_in_order() -> None:
    names = [name for name, _ in blocks(ast.parse(NESTED))]
    assert names == [
        "Outer",
        "Outer.method",
        "Outer.method.inner",
        "Outer.Inner",
        "Outer.Inner.method",
    ]


def test_span_starts_at_the_def_not_at_its_decorator() -> None:
    spans = {name: span(node) for name, node in blocks(ast.parse(NESTED))}
    assert (spans["Outer"], spans["Outer.method"]) == (Span(3, 10), Span(5, 8))


def test_visits_walks_a_tree_deeper_than_the_stack() -> None:
    deep: ast.expr = ast.Name("a")
    for _ in range(50_000):
        deep = ast.UnaryOp(ast.Not(), deep)
    count = sum(isinstance(visit.node, ast.UnaryOp) for visit in visits(deep))
    while isinstance(deep, ast.UnaryOp):  # freeing it at once would overflow the C stack
        deep = deep.operand
    assert count == 50_000


def measured(code: str) -> int:
    (statement,) = ast.parse(code).body
    assert isinstance(statement, ast.Expr)
    return length(statement.value, tuple(code.encode().split(b"\n")))


def test_length_on_one_line_is_the_source_text() -> None:
    assert measured("lambda  a:  a") == len("lambda  a:  a")


def test_length_counts_characters_not_bytes() -> None:
    assert measured("lambda: 'äöü→'") == 14


def test_length_over_lines_takes_each_break_as_one_space() -> None:
    assert measured("[\n    x\n\n    for x in y\n]") == len("[ x for x in y ]")
