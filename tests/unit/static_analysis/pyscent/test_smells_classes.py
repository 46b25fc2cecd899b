import ast
from textwrap import dedent, indent

import pytest

from crscore.static_analysis.pyscent.smells import cohesion, low_cohesion, shotgun_surgery


def measured(body: str) -> float | None:
    (node,) = ast.parse("class A:\n" + indent(dedent(body), "    ")).body
    assert isinstance(node, ast.ClassDef)
    return cohesion(node)


def found(rule, code: str, *, published: bool = False):
    return [
        (smell.line, smell.end_line, smell.place, smell.measure)
        for smell in rule(ast.parse(dedent(code)), published=published)
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
        assert found(low_cohesion, code) == []

    def test_less_than_thirty_per_cent_is_one(self) -> None:
        assert found(low_cohesion, class_with(4, 4)) == [(1, 9, "`A`", 25)]

    def test_zero_is_no_smell(self) -> None:
        assert found(low_cohesion, "class A:\n    v = 1\n    def m(self): return 1\n") == []

    def test_members_of_an_enumeration_are_no_attributes(self) -> None:
        assert found(low_cohesion, class_with(4, 4, "enum.Enum")) == []

    def test_published_form_takes_enumerations(self) -> None:
        code = class_with(4, 4, "enum.Enum")
        assert found(low_cohesion, code, published=True) == [(1, 9, "`A`", 25)]


IMPORTS = "import os.path, remote; from shop import help_me, clients, join as joined"


def calls(*lines: str, top: str = IMPORTS) -> str:
    body = "".join(f"        {line}\n" for line in lines)
    return f"{top}\nclass A:\n    def own(self): pass\n    def m(self, other):\n{body}"


class TestShotgunSurgery:
    def test_five_external_calls_are_no_smell(self) -> None:
        assert found(shotgun_surgery, calls(*["help_me()"] * 5)) == []

    def test_six_external_calls_are_one(self) -> None:
        assert found(shotgun_surgery, calls(*["help_me()"] * 6)) == [(2, 10, "`A`", 6)]

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
        assert found(shotgun_surgery, calls(*["help_me()"] * 5, call)) == []

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
        assert [measure for *_, measure in found(shotgun_surgery, code)] == [6]

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
        assert found(shotgun_surgery, code) == []
        assert found(shotgun_surgery, code, published=True) == [(2, 7, "`A`", 6)]

    def test_published_form_counts_every_call(self) -> None:
        code = calls("other.append(1)", "here()", "self.x.y()", "(lambda: 1)()", "a()", "b()")
        (smell,) = shotgun_surgery(ast.parse(code), published=True)
        assert smell.extent == "6 calls to code outside the class"
        assert found(shotgun_surgery, code) == []

    def test_published_form_looks_at_classes_of_the_module_only(self) -> None:
        code = "def f():\n" + indent(calls(*["help_me()"] * 6), "    ")
        assert found(shotgun_surgery, code, published=True) == []
        assert [place for _, _, place, _ in found(shotgun_surgery, code)] == ["`f.A`"]

    def test_tests_are_there_to_call_others(self) -> None:
        code = calls(*["help_me()"] * 6) + "def test_it(): pass\n"
        assert found(shotgun_surgery, code) == []
        assert [measure for *_, measure in found(shotgun_surgery, code, published=True)] == [6]

    def test_sentence_names_the_first_calls(self) -> None:
        code = calls("a(b(c(d(e(a())))))", top="from x import a, b, c, d, e")
        (smell,) = shotgun_surgery(ast.parse(code))
        assert smell.text == (
            "`A` makes 6 calls to code of other modules (`a`, `b`, `c` and 2 more), "
            "more than 5, so changes elsewhere may force changes here."
        )
