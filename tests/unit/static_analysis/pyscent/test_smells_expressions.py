import ast
from textwrap import dedent

import pytest

from crscore.static_analysis.pyscent.smells import long_expressions, useless_exceptions


def found(code: str):
    lines = tuple(code.encode().split(b"\n"))
    return [
        (smell.rule.id, smell.line, smell.end_line, smell.measure)
        for smell in long_expressions(ast.parse(code), lines)
    ]


def padded(opening: str, closing: str, characters: int) -> str:
    return opening + "v" * (characters - len(opening) - len(closing)) + closing


def test_a_lambda_of_60_characters_is_no_smell() -> None:
    assert found("a = " + padded("lambda x: ", "", 60)) == []


def test_a_lambda_of_61_characters_is_one() -> None:
    assert found("a = " + padded("lambda x: ", "", 61)) == [("long-lambda", 1, 1, 61)]


def test_a_comprehension_of_72_characters_is_no_smell() -> None:
    assert found("a = " + padded("[", " for x in y]", 72)) == []


def test_a_comprehension_of_73_characters_is_one() -> None:
    assert found("a = " + padded("[", " for x in y]", 73)) == [("long-comprehension", 1, 1, 73)]


@pytest.mark.parametrize("brackets", ["()", "{}"])
def test_other_comprehensions_are_left_alone(brackets: str) -> None:
    code = "a = " + padded(brackets[0], " for x in y" + brackets[1], 90)
    assert found(code) == []


def test_indentation_makes_no_expression_long() -> None:
    code = "a = [\n" + " " * 80 + "x\n" + " " * 80 + "for x in y\n]"
    assert found(code) == []


def test_lines_are_those_of_the_expression() -> None:
    code = "a = f(\n    1,\n    [" + "v" * 70 + "\n     for x in y],\n)"
    assert found(code) == [("long-comprehension", 3, 4, 83)]


def test_sentences_name_the_place() -> None:
    code = "class A:\n    def f(self):\n        return " + padded("lambda: ", "", 70)
    (smell,) = long_expressions(ast.parse(code), tuple(code.encode().split(b"\n")))
    assert smell.text == (
        "The lambda in `A.f` has 70 characters, more than 60; "
        "a named function would be easier to read."
    )


def handler(clause: str, body: str) -> str:
    return f"def f():\n    try:\n        g()\n    {clause}\n        {body}\n"


def texts(code: str, *, published: bool = False) -> list[str]:
    return [smell.text for smell in useless_exceptions(ast.parse(code), published=published)]


@pytest.mark.parametrize(
    "clause",
    [
        "except:",
        "except Exception:",
        "except Exception as error:",
        "except BaseException:",
        "except builtins.Exception:",
        "except (ValueError, Exception):",
    ],
)
def test_catching_everything_is_a_smell(clause: str) -> None:
    assert len(texts(handler(clause, "log()"))) == 1


@pytest.mark.parametrize("body", ["pass", "...", "pass; pass"])
def test_dropping_the_error_is_a_smell(body: str) -> None:
    assert texts(handler("except KeyError:", body)) == [
        "`except KeyError` in `f` drops the error without a trace, so a failure goes unnoticed."
    ]


@pytest.mark.parametrize(
    ("clause", "body"),
    [
        ("except KeyError:", "return 1"),
        ("except KeyError:", "pass; log()"),
        ("except KeyError:", "'why'; log()"),
        ("except Exception:", "log(); raise"),
        ("except Exception as error:", "raise MyError from error"),
        ("except MyException:", "log()"),
    ],
)
def test_other_handlers_are_left_alone(clause: str, body: str) -> None:
    assert texts(handler(clause, body)) == []


def test_published_form_flags_a_handler_that_raises_again() -> None:
    assert len(texts(handler("except Exception:", "raise"), published=True)) == 1


def test_a_handler_stands_at_its_own_lines() -> None:
    (smell,) = useless_exceptions(ast.parse(handler("except KeyError:", "pass")))
    assert (smell.line, smell.end_line) == (4, 5)


@pytest.mark.parametrize(
    ("clause", "body", "level"),
    [
        ("except:", "pass", "warning"),
        ("except Exception:", "...", "warning"),
        ("except (ValueError, BaseException):", "pass", "warning"),
        ("except:", "log()", "note"),
        ("except Exception:", "return None", "note"),
        ("except KeyError:", "pass", "note"),
    ],
)
def test_only_what_drops_every_error_is_a_warning(clause: str, body: str, level: str) -> None:
    tree = ast.parse(handler(clause, body))
    assert [smell.level for smell in useless_exceptions(tree)] == [level]
    assert [smell.level for smell in useless_exceptions(tree, published=True)] == ["warning"]


DEEP = dedent("""\
    class A:
        def f(self):
            for x in self:
                try:
                    g()
                except:
                    pass
    """)


def test_handlers_are_found_however_deep() -> None:
    assert texts(DEEP) == [
        "The bare `except:` in `A.f` swallows every error and even Ctrl-C without a trace; "
        "catch only what is expected and handle it."
    ]


def test_published_form_looks_directly_inside_functions_only() -> None:
    assert texts(DEEP, published=True) == []


def test_exception_groups_count() -> None:
    assert len(texts(handler("except* KeyError:", "pass"))) == 1


@pytest.mark.parametrize("caught", ["pick()", "E[0]", ", ".join(["VeryLongName"] * 9)])
def test_a_clause_that_no_sentence_can_carry_is_not_spelled(caught: str) -> None:
    assert texts(handler(f"except ({caught}):", "pass")) == [
        "The `except` in `f` drops the error without a trace, so a failure goes unnoticed."
    ]
