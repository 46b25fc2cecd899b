"""Each smell at its limit and above it; pylint runs once for all cases of its counts."""

import ast
import subprocess
from pathlib import Path
from textwrap import dedent, indent

import pytest
from radon.complexity import cc_rank

from crscore.errors import ToolFailedError, ToolOutputError
from crscore.static_analysis.pyscent import (
    BY_PYLINT,
    RULES,
    Smell,
    analyze,
    cohesion,
    find_smells,
    is_record,
    is_test_module,
    make_smell,
    measure_length,
    merge_sizes,
    read_code,
    run_pylint,
)


def smells(code: str, *rules: str) -> list[Smell]:
    """Find the smells of these rules, without those that pylint counts."""
    found = find_smells("a.py", code, {}).smells
    return [one for one in found if one.rule in rules]


def test_limits_are_the_published_ones() -> None:
    # CRScore paper, Table 14: the last value that is no smell (for cohesion the first).
    assert {name: rule.limit for name, rule in RULES.items()} == {
        "long-method": 50,
        "long-parameter-list": 5,
        "long-branch": 12,
        "many-attributes": 7,
        "many-methods": 20,
        "shotgun-surgery": 5,
        "low-cohesion": 30,
        "complex-code": 10,
        "long-lambda": 60,
        "long-comprehension": 72,
        "useless-exception": 0,
    }


def test_pylint_is_asked_for_five_messages() -> None:
    assert set(BY_PYLINT) == {"R0915", "R0913", "R0912", "R0902", "R0904"}


# Sizes, counted by pylint


def statements(count: int) -> str:
    return "def f():\n" + "    a()\n" * (count - 1)  # pylint counts the `def` too


def parameters(count: int) -> str:
    return f"def f({', '.join(f'a{n}' for n in range(count))}): pass\n"


def branches(count: int) -> str:
    return "def f():\n" + "    if a: b()\n" * count


def attributes(count: int) -> str:
    return "class A:\n    def __init__(self):\n" + "".join(
        f"        self.a{n} = {n}\n" for n in range(count)
    )


def methods(count: int) -> str:
    return "class A:\n" + "".join(f"    def m{n}(self): pass\n" for n in range(count))


CASES = {
    "statements at the limit": statements(50),
    "statements above it": statements(51),
    "parameters at the limit": parameters(5),
    "parameters above it": parameters(6),
    "branches at the limit": branches(12),
    "branches above it": branches(13),
    "attributes at the limit": attributes(7),
    "attributes above it": attributes(8),
    "methods at the limit": methods(20),
    "methods above it": methods(21),
    "positional parameters": "def f(a, b, c, d, e, *, g): pass\n",
    "decorated": "@first\n@second(\n    1,\n)\n" + parameters(6),
    "async": "async " + parameters(6),
    "inside a function": "def outer():\n" + indent(parameters(6), "    "),
    "static": "class A:\n    @staticmethod\n    " + parameters(6),
    "inner class": "class Outer:\n" + indent(attributes(8), "    "),
    "record": "from dataclasses import dataclass\n@dataclass\nclass A:\n"
    + "".join(f"    a{n}: int\n" for n in range(8)),
    "private methods": "class A:\n" + "".join(
        f"    def _m{n}(self): pass\n" for n in range(30)
    ),
    "imports nobody has": "import no_such_module as n\nclass A(n.B): pass\n" + parameters(6),
    "hides a module": "import p00000, json\n" + parameters(6),
}  # fmt: skip


@pytest.fixture(scope="module")
def counted_in():
    """Return the smells that pylint counts in each case; pylint is started once for all cases."""
    counts = run_pylint(CASES)
    assert None not in counts.values()
    return {
        case: [
            (found.rule, found.line, found.end_line, found.subject, found.extent)
            for found in find_smells(case, code, counts[case]).smells
        ]
        for case, code in CASES.items()
    }


@pytest.mark.parametrize("size", ["statements", "parameters", "branches", "attributes", "methods"])
def test_the_limit_itself_is_no_smell(counted_in, size: str) -> None:
    rules = {rule for rule, *_ in counted_in[f"{size} at the limit"]}
    assert not rules & set(BY_PYLINT.values())


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("statements above it", ("long-method", 1, 51, "`f`", "51 statements")),
        ("parameters above it", ("long-parameter-list", 1, 1, "`f`", "6 parameters")),
        (
            "branches above it",
            ("complex-code", 1, 14, "`f`", "13 branches and 14 independent paths"),
        ),
        ("attributes above it", ("many-attributes", 1, 10, "`A`", "8 instance attributes")),
        ("methods above it", ("many-methods", 1, 22, "`A`", "21 public methods")),
        ("positional parameters", ("long-parameter-list", 1, 1, "`f`", "6 parameters")),
        ("decorated", ("long-parameter-list", 5, 5, "`f`", "6 parameters")),
        ("async", ("long-parameter-list", 1, 1, "`f`", "6 parameters")),
        ("inside a function", ("long-parameter-list", 2, 2, "`outer.f`", "6 parameters")),
        ("static", ("long-parameter-list", 3, 3, "`A.f`", "6 parameters")),
        ("inner class", ("many-attributes", 2, 11, "`Outer.A`", "8 instance attributes")),
        ("imports nobody has", ("long-parameter-list", 3, 3, "`f`", "6 parameters")),
        ("hides a module", ("long-parameter-list", 2, 2, "`f`", "6 parameters")),
    ],
)
def test_one_above_is_a_smell_at_its_block(counted_in, case: str, expected) -> None:
    assert counted_in[case] == [expected]


def test_a_record_may_have_many_attributes(counted_in) -> None:
    assert counted_in["record"] == []


def test_private_methods_do_not_count(counted_in) -> None:
    assert counted_in["private methods"] == []


def test_a_file_that_pylint_cannot_read_fails_alone() -> None:
    deep = "a = " + "+".join(["b"] * 2000) + "\n"
    counts = run_pylint({"deep.py": deep, "good.py": parameters(6)})
    assert counts["deep.py"] is None
    assert list(counts["good.py"] or ()) == [1]


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (-9, ToolFailedError, "failed with exit code -9"),
        (0, ToolOutputError, "pylint"),  # as if pylint had ended well without output
    ],
)
def test_killed_or_silent_pylint_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception], message: str
) -> None:
    ended = subprocess.CompletedProcess([], code, stdout=b"", stderr=b"")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(error, match=message):
        run_pylint({"a.py": "a = 1\n"})


# Complexity, counted by radon


def function(complexity: int, head: str = "def f():") -> str:
    """Return a function with so many independent paths: one, and one for each `if`."""
    return head + "\n" + "    if a: b()\n" * (complexity - 1) + "    return 1\n"


def complex_blocks(code: str):
    return [
        (found.subject, found.line, found.end_line, found.measure)
        for found in smells(code, "complex-code")
    ]


def test_ten_is_no_smell() -> None:
    assert complex_blocks(function(10)) == []


def test_eleven_is_one() -> None:
    assert complex_blocks(function(11)) == [("`f`", 1, 12, 11)]


@pytest.mark.parametrize(("complexity", "level"), [(11, "note"), (20, "note"), (21, "warning")])
def test_complexity_above_twenty_is_a_warning(complexity: int, level: str) -> None:
    (found,) = smells(function(complexity), "complex-code")
    assert found.text == (
        f"`f` has {complexity} independent paths (cyclomatic complexity), more than 10; "
        "it is hard to test."
    )
    assert found.level == level
    assert (cc_rank(complexity) in "DEF") == (level == "warning")


def test_asserts_are_no_paths() -> None:
    asserts = "    assert a and [b for b in c if b]\n" * 9
    nested = "    def g():\n        assert a\n"
    assert complex_blocks(function(10) + asserts + nested) == []
    assert [measure for *_, measure in complex_blocks(function(11) + asserts)] == [11]


def test_the_line_is_the_def_not_its_decorator() -> None:
    assert complex_blocks(function(11, "@cache\n@other\nasync def f():")) == [("`f`", 3, 14, 11)]


def test_functions_inside_count_by_themselves() -> None:
    code = "def outer():\n" + indent(function(11), "    ") + "    return f\n"
    assert complex_blocks(code) == [("`outer.f`", 2, 13, 11)]


def test_methods_and_static_methods_count() -> None:
    code = "class A:\n" + indent(function(11, "@staticmethod\ndef f():"), "    ")
    assert complex_blocks(code) == [("`A.f`", 3, 14, 11)]


# Expressions and handlers


def long_ones(code: str):
    return [
        (found.rule, found.line, found.end_line, found.measure)
        for found in smells(code, "long-lambda", "long-comprehension")
    ]


def padded(opening: str, closing: str, characters: int) -> str:
    return opening + "v" * (characters - len(opening) - len(closing)) + closing


def test_a_lambda_of_60_characters_is_no_smell() -> None:
    assert long_ones("a = " + padded("lambda x: ", "", 60)) == []


def test_a_lambda_of_61_characters_is_one() -> None:
    assert long_ones("a = " + padded("lambda x: ", "", 61)) == [("long-lambda", 1, 1, 61)]


def test_a_comprehension_of_72_characters_is_no_smell() -> None:
    assert long_ones("a = " + padded("[", " for x in y]", 72)) == []


def test_a_comprehension_of_73_characters_is_one() -> None:
    assert long_ones("a = " + padded("[", " for x in y]", 73)) == [("long-comprehension", 1, 1, 73)]


@pytest.mark.parametrize("brackets", ["()", "{}"])
def test_other_comprehensions_are_left_alone(brackets: str) -> None:
    code = "a = " + padded(brackets[0], " for x in y" + brackets[1], 90)
    assert long_ones(code) == []


def test_indentation_makes_no_expression_long() -> None:
    code = "a = [\n" + " " * 80 + "x\n" + " " * 80 + "for x in y\n]"
    assert long_ones(code) == []


def test_lines_are_those_of_the_expression() -> None:
    code = "a = f(\n    1,\n    [" + "v" * 70 + "\n     for x in y],\n)"
    assert long_ones(code) == [("long-comprehension", 3, 4, 83)]


def test_sentences_name_the_location() -> None:
    code = "class A:\n    def f(self):\n        return " + padded("lambda: ", "", 70)
    (found,) = smells(code, "long-lambda")
    assert found.text == (
        "The lambda in `A.f` has 70 characters, more than 60; "
        "a named function would be easier to read."
    )


def handler(clause: str, body: str) -> str:
    return f"def f():\n    try:\n        g()\n    {clause}\n        {body}\n"


def texts(code: str) -> list[str]:
    return [found.text for found in smells(code, "useless-exception")]


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


def test_a_handler_has_its_own_lines() -> None:
    (found,) = smells(handler("except KeyError:", "pass"), "useless-exception")
    assert (found.line, found.end_line) == (4, 5)


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
def test_only_a_handler_that_drops_every_error_is_a_warning(
    clause: str, body: str, level: str
) -> None:
    found = smells(handler(clause, body), "useless-exception")
    assert [one.level for one in found] == [level]


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


def test_exception_groups_count() -> None:
    assert len(texts(handler("except* KeyError:", "pass"))) == 1


@pytest.mark.parametrize("caught", ["E['`']", ", ".join(["VeryLongName"] * 9)])
def test_a_clause_too_long_or_with_a_backtick_is_not_quoted(caught: str) -> None:
    assert texts(handler(f"except ({caught}):", "pass")) == [
        "The `except` in `f` drops the error without a trace, so a failure goes unnoticed."
    ]


def length_of(code: str) -> int:
    (statement,) = ast.parse(code).body
    assert isinstance(statement, ast.Expr)
    return measure_length(statement.value, code.encode().split(b"\n"))


def test_length_on_one_line_is_the_source_text() -> None:
    assert length_of("lambda  a:  a") == len("lambda  a:  a")


def test_length_counts_characters_not_bytes() -> None:
    assert length_of("lambda: 'äöü→'") == 14


def test_length_over_lines_takes_each_break_as_one_space() -> None:
    assert length_of("[\n    x\n\n    for x in y\n]") == len("[ x for x in y ]")


# Classes


def measured(body: str) -> float | None:
    (node,) = ast.parse("class A:\n" + indent(dedent(body), "    ")).body
    assert isinstance(node, ast.ClassDef)
    return cohesion(node)


def classes(rule: str, code: str):
    return [
        (found.line, found.end_line, found.subject, found.measure)
        for found in smells(dedent(code), rule)
    ]


class TestCohesion:
    def test_share_of_pairs(self) -> None:
        # Three methods and two attributes: 2 + 1 + 0 of 6 pairs.
        body = """\
            def __init__(self): self.a = self.b = 1
            def use(self): return self.a
            def idle(self): return 3
            """
        assert measured(body) == pytest.approx(50)

    def test_class_variables_count_and_special_ones_do_not(self) -> None:
        body = """\
            limit = 3
            __slots__ = ("a",)
            def use(self): return self.a, self.__class__
            """
        assert measured(body) == 50

    def test_first_parameter_may_have_any_name(self) -> None:
        assert measured("def use(this, self): return this.a") == 100

    def test_static_and_class_methods_use_nothing(self) -> None:
        body = """\
            def use(self): return self.a
            @staticmethod
            def apart(self): return self.a
            @classmethod
            def make(cls): return cls.a
            """
        assert measured(body) == pytest.approx(100 / 3)

    def test_own_methods_are_no_attributes(self) -> None:
        body = """\
            def use(self): return self.a + self.other() + len(self.other)
            def other(self): return self.a
            """
        assert measured(body) == 100

    def test_inherited_methods_are_no_attributes(self) -> None:
        assert measured("def use(self): return self.a + self.inherited()") == 100

    def test_an_attribute_that_is_called_stays_one(self) -> None:
        body = """\
            def __init__(self, call): self.call = call
            def use(self): return self.call()
            """
        assert measured(body) == 100

    def test_async_methods_and_functions_inside_count(self) -> None:
        body = """\
            async def use(self):
                def inner(): return self.a
                return inner
            """
        assert measured(body) == 100

    def test_a_class_inside_is_apart(self) -> None:
        body = """\
            def use(self):
                class Inner:
                    def method(self): return self.b
                return self.a
            """
        assert measured(body) == 100

    @pytest.mark.parametrize(
        "body", ["pass", "limit = 3", "def use(self): return 1", "def use(): return 1"]
    )
    def test_without_methods_or_attributes_it_is_undefined(self, body: str) -> None:
        assert measured(body) is None


def class_with(attributes: int, users: int, base: str = "") -> str:
    """A class whose `users` methods use one attribute each, of `attributes` class variables."""
    variables = "".join(f"    v{n} = {n}\n" for n in range(attributes))
    methods = "".join(f"    def m{n}(self): return self.v{n}\n" for n in range(users))
    return f"class A({base}):\n{variables}{methods}"


class TestLowCohesion:
    def test_thirty_per_cent_is_no_smell(self) -> None:
        code = class_with(10, 1).replace("self.v0", "self.v0 + self.v1 + self.v2")
        assert classes("low-cohesion", code) == []

    def test_less_than_thirty_per_cent_is_one(self) -> None:
        assert classes("low-cohesion", class_with(4, 4)) == [(1, 9, "`A`", 25)]

    def test_zero_is_no_smell(self) -> None:
        assert classes("low-cohesion", "class A:\n    v = 1\n    def m(self): return 1\n") == []

    def test_members_of_an_enumeration_are_no_attributes(self) -> None:
        assert classes("low-cohesion", class_with(4, 4, "enum.Enum")) == []


IMPORTS = "import os.path, remote; from shop import help_me, clients, join as joined"


def calls(*lines: str, top: str = IMPORTS) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"{top}\nclass A:\n    def own(self): pass\n    def m(self, other):\n{body}"


class TestShotgunSurgery:
    def test_five_external_calls_are_no_smell(self) -> None:
        assert classes("shotgun-surgery", calls(*["help_me()"] * 5)) == []

    def test_six_external_calls_are_one(self) -> None:
        assert classes("shotgun-surgery", calls(*["help_me()"] * 6)) == [(2, 10, "`A`", 6)]

    @pytest.mark.parametrize(
        "call",
        [
            "len(other)",
            "ValueError()",
            "self.own()",
            "own()",
            "A()",
            "A.own()",
            "super().inherited()",
            "self.inherited()",
            "type(self)()",
            "other.append(1)",
            "self.items.pop()",
            "'a'.join(other)",
            "other[0].strip()",
            "of_this_module()",
            "Other.of_this_module()",
            "other.run()",
            "self.client.send()",
            "(lambda: 1)()",
            "remote.names.append(1)",
            "remote",
        ],
    )
    def test_calls_that_stay_in_the_module_do_not_count(self, call: str) -> None:
        assert classes("shotgun-surgery", calls(*["help_me()"] * 5, call)) == []

    @pytest.mark.parametrize(
        "call",
        [
            "os.path.exists(other)",
            "remote.join(other)",
            "joined(other)",
            "clients.first.send()",
            "clients[0].send()",
            "clients[0]()",
            "raise clients.Error()",
        ],
    )
    def test_calls_into_other_modules_count(self, call: str) -> None:
        code = calls(*["help_me()"] * 5, call)
        assert [measure for *_, measure in classes("shotgun-surgery", code)] == [6]

    def test_a_class_inside_counts_by_itself(self) -> None:
        code = """\
            from x import a, b, c
            class A:
                class B:
                    def m(self):
                        a(), b(), c()
                def m(self):
                    a(), b(), c()
            """
        assert classes("shotgun-surgery", code) == []

    def test_a_class_inside_a_function_counts(self) -> None:
        code = "def f():\n" + indent(calls(*["help_me()"] * 6), "    ")
        assert [place for _, _, place, _ in classes("shotgun-surgery", code)] == ["`f.A`"]

    def test_tests_are_there_to_call_others(self) -> None:
        code = calls(*["help_me()"] * 6) + "def test_it(): pass\n"
        assert classes("shotgun-surgery", code) == []

    def test_sentence_names_the_first_calls(self) -> None:
        code = calls("a(b(c(d(e(a())))))", top="from x import a, b, c, d, e")
        (found,) = smells(code, "shotgun-surgery")
        assert found.text == (
            "`A` makes 6 calls to code of other modules (`a`, `b`, `c` and 2 more), "
            "more than 5, so changes elsewhere may force changes here."
        )


def first(code: str) -> ast.ClassDef:
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.ClassDef)
    return node


@pytest.mark.parametrize(
    "head",
    [
        "@dataclass\nclass A:",
        "@dataclasses.dataclass(frozen=True)\nclass A:",
        "@other\n@pydantic_dataclass()\nclass A(Base):",
        "@attr.s\nclass A:",
        "@attr.s(auto_attribs=True)\nclass A:",
        "@define(slots=False)\nclass A:",
        "@attrs.frozen\nclass A:",
        "class A(NamedTuple):",
        "class A(namedtuple('A', 'x y')):",
        "class A(typing.TypedDict, total=False):",
        "class A(msgspec.Struct, frozen=True):",
        "class A(Mixin, BaseModel):",
        "class A(RootModel[int]):",
        "class A(enum.IntEnum):",
    ],
)
def test_record(head: str) -> None:
    assert is_record(first(f"{head} ..."))


@pytest.mark.parametrize(
    "head", ["class A:", "class A(Base):", "@final\nclass A:", "@cache()\nclass A(Dataclass):"]
)
def test_other_classes_are_not_records(head: str) -> None:
    assert not is_record(first(f"{head} ..."))


def holds_tests(code: str) -> bool:
    tree = ast.parse(code)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return is_test_module(tree, imports)


@pytest.mark.parametrize(
    "code",
    [
        "import pytest",
        "import os, unittest.mock",
        "def f():\n    from unittest import mock",
        "def test_it(): ...",
        "async def test_it(): ...",
        "class TestIt(Base):\n    def test_one(self): ...",
    ],
)
def test_modules_of_tests(code: str) -> None:
    assert holds_tests(code)


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "from . import pytest",
        "from .unittest import a",
        "import pytest_like",
        "def testify(): ...",
        "class Client:\n    def test_connection(self): ...",
        "class Testimony:\n    def take(self): ...",
        "def f():\n    def test_it(): ...",
    ],
)
def test_other_modules(code: str) -> None:
    assert not holds_tests(code)


# One finding for the size of a function


def block(line: int, end_line: int) -> ast.stmt:
    """Make a statement with these lines."""
    return ast.Pass(lineno=line, end_lineno=end_line)


F = block(3, 90)


def of_f(*parts: tuple[str, int]):
    return merge_sizes(make_smell(rule, F, "`f`", measure) for rule, measure in parts)


def test_three_measures_are_one_finding() -> None:
    (finding,) = of_f(("complex-code", 21), ("long-method", 63), ("long-branch", 19))
    assert finding.text == (
        "`f` has 63 statements, 19 branches and 21 independent paths; "
        "it is hard to follow and to test, so split it up."
    )
    assert (finding.line, finding.end_line) == (3, 90)


@pytest.mark.parametrize(
    ("statements", "branches", "paths", "rule", "measure"),
    [
        (101, 24, 20, "long-method", 101),
        (100, 25, 20, "long-branch", 25),
        (100, 24, 21, "complex-code", 21),
        (100, 24, 20, "long-method", 100),  # all are twice the limit
        (51, 24, 20, "long-branch", 24),
    ],
)
def test_the_rule_is_that_of_the_worst(statements, branches, paths, rule, measure) -> None:
    (row,) = of_f(("complex-code", paths), ("long-branch", branches), ("long-method", statements))
    assert (row.rule, row.measure) == (rule, measure)


def test_two_measures() -> None:
    (finding,) = of_f(("long-method", 51), ("complex-code", 11))
    assert finding.extent == "51 statements and 11 independent paths"


def test_the_worst_level_stays() -> None:
    paths = make_smell("complex-code", F, "`f`", 21, level="warning")
    (finding,) = merge_sizes([make_smell("long-method", F, "`f`", 500), paths])
    assert (finding.rule, finding.level) == ("long-method", "warning")
    assert [one.level for one in of_f(("long-method", 51), ("long-branch", 13))] == ["note"]


def test_one_measure_stays_as_it_is() -> None:
    alone = make_smell("long-branch", F, "`f`", 13)
    assert merge_sizes([alone]) == [alone]


def test_other_functions_and_other_rules_stay_apart() -> None:
    parts = [
        make_smell("long-method", F, "`f`", 51),
        make_smell("long-branch", block(100, 200), "`f`", 13),
        make_smell("long-parameter-list", F, "`f`", 6),
    ]
    assert sorted(row.rule for row in merge_sizes(parts)) == sorted(row.rule for row in parts)


# Reading


@pytest.fixture
def text_of(tmp_path: Path):
    def written(content: bytes | str) -> str:
        file = tmp_path / "code.py"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_code(str(file))

    return written


def test_comments_go_and_lines_stay(text_of) -> None:
    assert (
        text_of("# pylint: skip-file\na = 1  # pylint: disable=all\nb = 2\n") == "\na = 1\nb = 2\n"
    )


def test_a_hash_in_a_string_stays(text_of) -> None:
    assert text_of("a = '# pylint: skip-file'\n") == "a = '# pylint: skip-file'\n"


def test_line_ends_become_newlines(text_of) -> None:
    assert text_of(b"a = 1\r\nb = 2\rc = 3 # x\rd = 4\r\n") == "a = 1\nb = 2\nc = 3\nd = 4\n"


def test_the_encoding_cookie_is_obeyed(text_of) -> None:
    assert text_of("# coding: latin-1\na = 'ä'\n".encode("latin-1")) == "\na = 'ä'\n"


def test_a_byte_order_mark_is_no_code(text_of) -> None:
    assert text_of(b"\xef\xbb\xbfa = 1\n") == "a = 1\n"


def test_an_odd_escape_is_no_error(text_of) -> None:
    assert text_of("a = '\\d'\n") == "a = '\\d'\n"


def test_a_form_feed_moves_no_line(text_of) -> None:
    assert text_of("a = 1\n\x0c\ndef f(): pass  # x\n").split("\n")[2] == "def f(): pass"


@pytest.mark.parametrize(
    "content",
    [
        b"def f(:\n",
        b"a = 1\0\n",
        b"\xff = 1\n",
        b"a = 1 \\",
        b"# coding: no-such\na = 1\n",
        b"# coding: rot13\na = 1\n",
        b"a = '\xff'\n",
        b"# coding: ascii\na = '\xff'\n",
        b"# coding: utf-7\na = '+2AA-'\n",  # a lone surrogate
        b"(" * 500 + b")" * 500,
        b"a = " + b"-" * 200_000 + b"1\n",
        b"x" + b".y" * 100_000 + b"\n",
    ],
)
def test_a_file_that_is_not_python_is_unparsed(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "code.py"
    file.write_bytes(content)
    (report,) = analyze([str(file)])
    assert report.unparsed
    assert report.smells == ()


def test_a_missing_file_and_a_folder_are_unparsed(tmp_path: Path) -> None:
    reports = analyze([str(tmp_path / "none.py"), str(tmp_path)])
    assert [report.unparsed for report in reports] == ["FileNotFoundError", "IsADirectoryError"]
