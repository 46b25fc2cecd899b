"""pylint itself runs here, once for all cases: starting it costs more than they do."""

import subprocess
from pathlib import Path
from textwrap import indent

import pytest

from crscore.errors import ToolFailedError, ToolOutputError
from crscore.static_analysis.pyscent.counts import counted, run_pylint
from crscore.static_analysis.pyscent.source import Source


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
    "shadows a module": "import p00000, json\n" + parameters(6),
}  # fmt: skip


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What is found in each case: by default, and in the published form."""
    folder = tmp_path_factory.mktemp("pylint")
    sources = [Source(path=name, text=code) for name, code in CASES.items()]
    counts = run_pylint(sources, folder)
    assert not any(count.failed for count in counts)
    return {
        source.path: tuple(
            [
                (smell.rule.id, smell.line, smell.end_line, smell.place, smell.measure)
                for smell in counted(source.tree(), one.counts, published=published)
            ]
            for published in (False, True)
        )
        for source, one in zip(sources, counts, strict=True)
    }


@pytest.fixture(scope="module")
def found(both):
    return {case: default for case, (default, _) in both.items()}


@pytest.mark.parametrize("what", ["statements", "parameters", "branches", "attributes", "methods"])
def test_the_limit_itself_is_no_smell(found, what: str) -> None:
    assert found[f"{what} at the limit"] == []


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("statements above it", ("long-method", 1, 51, "`f`", 51)),
        ("parameters above it", ("long-parameter-list", 1, 1, "`f`", 6)),
        ("branches above it", ("long-branch", 1, 14, "`f`", 13)),
        ("attributes above it", ("many-attributes", 1, 10, "`A`", 8)),
        ("methods above it", ("many-methods", 1, 22, "`A`", 21)),
        ("positional parameters", ("long-parameter-list", 1, 1, "`f`", 6)),
        ("decorated", ("long-parameter-list", 5, 5, "`f`", 6)),
        ("async", ("long-parameter-list", 1, 1, "`f`", 6)),
        ("inside a function", ("long-parameter-list", 2, 2, "`outer.f`", 6)),
        ("static", ("long-parameter-list", 3, 3, "`A.f`", 6)),
        ("inner class", ("many-attributes", 2, 11, "`Outer.A`", 8)),
        ("imports nobody has", ("long-parameter-list", 3, 3, "`f`", 6)),
        ("shadows a module", ("long-parameter-list", 2, 2, "`f`", 6)),
    ],
)
def test_one_above_is_a_smell_at_its_block(found, case: str, expected) -> None:
    assert found[case] == [expected]


def test_a_record_may_have_many_attributes(both) -> None:
    assert both["record"] == ([], [("many-attributes", 3, 11, "`A`", 8)])


def test_private_methods_do_not_count(found) -> None:
    assert found["private methods"] == []


def test_a_file_that_pylint_cannot_read_fails_alone(tmp_path: Path) -> None:
    deep = "a = " + "+".join(["b"] * 2000) + "\n"
    sources = [Source(path="deep.py", text=deep), Source(path="good.py", text=parameters(6))]
    counts = run_pylint(sources, tmp_path)
    assert [(count.failed, len(count.counts)) for count in counts] == [(True, 0), (False, 1)]


@pytest.mark.parametrize(
    ("code", "error", "message"),
    [
        (-9, ToolFailedError, "failed with exit code -9"),
        (0, ToolOutputError, "pylint"),  # as if it had ended well, with nothing printed
    ],
)
def test_killed_or_silent_pylint_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int, error: type[Exception], message: str
) -> None:
    ended = subprocess.CompletedProcess([], code, stdout=b"", stderr=b"")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    with pytest.raises(error, match=message):
        run_pylint([Source(path="a.py", text="a = 1\n")], tmp_path)
