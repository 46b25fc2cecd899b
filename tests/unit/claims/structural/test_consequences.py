"""Changes to guards, members, variables and tests: with and without a consequence."""

from __future__ import annotations

import time

import pytest

from crscore.records import PseudoReference, ReferenceKind
from tests.helpers.changes import change, claims
from tests.helpers.growth import slowness

SKIPPED = "what has to happen before it runs again?"

SEND = "def f(a):\n    send_all(a)\n    return 1\n"
SEND_OR_WAIT = """def f(a):
    if a.ready:
        send_all(a)
    else:
        wait(a)
    return 1
"""
SEND_TWICE = """def f(a):
    if a.x:
        send_all(a)
    if a.y:
        send_all(a)
    return 1
"""
JAVA = "class A {{\n  void f() {{\n    {} {{\n      go(a);\n    }}\n  }}\n}}\n"
REGISTER = """function f(a) {
  registerAll({
    size: a.size,
  })
}
"""
REGISTER_IF = """function f(a) {
  if (a.ready) {
    registerAll({
      size: a.size,
    })
  }
}
"""
SEND_IF = "def f(a):\n    if a.ready:\n        send_all(a)\n    return 1\n"

JEST = "test('loads', () => {{\n  const page = load();\n{}}});\n"
GO = "func TestLoad(t *testing.T) {{\n\tpage := load()\n{}}}\n"
JAVA = "class LoadTest {{\n  {}@Test\n  void testLoad() {{\n    load();\n{}  }}\n}}\n"
CSHARP = (
    "class LoadTests\n{{\n    [Test]\n{}    public void TestLoad()\n    {{\n        Load();\n"
    "{}    }}\n}}\n"
)

# Situation -> path, old, new, sentence
CASES: dict[str, tuple[str, str, str, str]] = {
    "guarded": ("a.py", SEND, SEND_IF,
        "`send_all(a)` in the function `f` now runs only when `a.ready`: "
        "is it right to skip it otherwise?"),
    "no longer guarded": ("a.py", SEND_IF, SEND,
        "`send_all(a)` in the function `f` no longer runs only when `a.ready`: "
        "does it work otherwise?"),
    "guarded block": ("a.go", "func f(a []A) {\n\tfor _, b := range a {\n\t\tsend(b)\n\t}\n}\n",
        "func f(a []A) {\n\tif isOpen {\n\t\tfor _, b := range a {\n\t\t\tsend(b)\n\t\t}\n\t}\n}\n",
        "`for _, b := range a` in the function `f` now runs only when `isOpen`: "
        "is it right to skip it otherwise?"),
    "guarded without braces": ("A.cs", "class A {\n  void F() {\n    Update(1);\n  }\n}\n",
        "class A {\n  void F() {\n    if (IsLoaded)\n      Update(1);\n  }\n}\n",
        "`Update(1)` in the method `A.F` now runs only when `IsLoaded`: "
        "is it right to skip it otherwise?"),
    "guarded by the contrary": ("a.rb", "def f(a)\n  send_all(a)\nend\n",
        "def f(a)\n  unless a.old?\n    send_all(a)\n  end\nend\n",
        "`send_all(a)` in the method `f` now runs only unless `a.old?`: "
        "is it right to skip it otherwise?"),
    "the other arm is gone, too": ("a.py", SEND_OR_WAIT, SEND,
        "`send_all(a)` in the function `f` no longer runs only when `a.ready`: "
        "does it work otherwise?"),
    "unfinished line": ("a.ts", REGISTER, REGISTER_IF,
        "`registerAll(…` in the function `f` now runs only when `a.ready`: "
        "is it right to skip it otherwise?"),
    "member, TypeScript": ("a.ts", "enum Kind {\n  Open = 'open',\n}\n",
        "enum Kind {\n  Open = 'open',\n  Closed = 'closed',\n}\n",
        "`Kind` has the new member `Closed`: does every `switch` and table over it handle that?"),
    "member, Python": ("a.py", "class Kind(StrEnum):\n    OPEN = 'open'\n",
        "class Kind(StrEnum):\n    OPEN = 'open'\n    SHUT = 'shut'\n",
        "`Kind` has the new member `SHUT`: does every `switch` and table over it handle that?"),
    "member, C#": ("A.cs", "enum Kind {\n  Open,\n}\n", "enum Kind {\n  Open,\n  Closed,\n}\n",
        "`Kind` has the new member `Closed`: does every `switch` and table over it handle that?"),
    "environment variable": ("a.py", "def f(a):\n    return load(a)\n",
        "def f(a):\n    return load(a, os.environ['SHOP_URL'])\n",
        "`SHOP_URL` in the function `f` is an environment variable that was not read before: "
        "what happens where it is not set?"),
    "skipped, C#": ("LoadTests.cs", CSHARP.format("", ""),
        CSHARP.format('    [Ignore("late")]\n', ""),
        f"The test “TestLoad” is now skipped: {SKIPPED}"),
    "skipped, Java": ("LoadTest.java", JAVA.format("", ""), JAVA.format("@Disabled\n  ", ""),
        f"The test “testLoad” is now skipped: {SKIPPED}"),
    "skipped, TypeScript": ("a.test.ts", JEST.format(""),
        JEST.format("").replace("test(", "test.skip("),
        f"The test “loads” is now skipped: {SKIPPED}"),
}  # fmt: skip

# Situation -> path, old, new
SILENT: dict[str, tuple[str, str, str]] = {
    "two arms": ("a.py", SEND, SEND_OR_WAIT),
    "guard and other code": ("a.py", "def f(a):\n    x = load(a)\n    send_all(a)\n    return 1\n",
        "def f(a):\n    if a.ready:\n        send_all(a)\n    return 1\n"),
    "guarded before, too": ("a.py",
        "def f(a):\n    if not a.ready:\n        return\n    send_all(a)\n",
        "def f(a):\n    if a.ready:\n        send_all(a)\n"),
    "guarded inside": ("a.py", "def f(a):\n    if a.ready:\n        send_all(a)\n    return 1\n",
        "def f(a):\n    send_all(a)\n    if not a.ready:\n        wait(a)\n    return 1\n"),
    "log message": ("a.py", "def f(a):\n    logger.info(a)\n    return 1\n",
        "def f(a):\n    if a.loud:\n        logger.info(a)\n    return 1\n"),
    "repeated line": ("a.py", SEND, SEND_TWICE),
    "loop": ("a.py", SEND, SEND_IF.replace("if", "while")),
    "renamed member": ("a.ts", "enum Kind {\n  Open = 'open',\n}\n",
        "enum Kind {\n  Opened = 'open',\n}\n"),
    "names only": ("a.ts", "enum EventName {\n  Open = 'open',\n}\n",
        "enum EventName {\n  Open = 'open',\n  Shut = 'shut',\n}\n"),
    "field of a class": ("A.java", "class A {\n  int a;\n}\n",
        "class A {\n  int a;\n  Kind KIND;\n}\n"),
    "variable read before": ("a.py", "def f(a):\n    return load(os.environ['SHOP_URL'])\n",
        "def f(a):\n    return load(os.environ['SHOP_URL'], a)\n"),
    "variable of every machine": ("a.py", "def f(a):\n    return load(a)\n",
        "def f(a):\n    return load(a, os.environ['HOME'])\n"),
    "skipped on some machines": ("a_test.go", GO.format(""),
        GO.format('\tif short {\n\t\tt.Skip("slow")\n\t}\n')),
    "skipped for another reason": ("LoadTests.cs", CSHARP.format('    [Ignore("a")]\n', ""),
        CSHARP.format('    [Ignore("b")]\n', "")),
}  # fmt: skip


def consequences(path: str, old: str, new: str, *, sources: bool = True) -> list[PseudoReference]:
    references = claims(change(path, old, new, sources=sources))
    return [item for item in references if item.kind is ReferenceKind.IMPLICATION]


@pytest.mark.parametrize("sources", [True, False], ids=["whole", "hunks"])
@pytest.mark.parametrize("situation", CASES)
def test_change_has_consequence(situation: str, sources: bool) -> None:
    path, old, new, sentence = CASES[situation]
    assert [item.text for item in consequences(path, old, new, sources=sources)] == [sentence]


@pytest.mark.parametrize("sources", [True, False], ids=["whole", "hunks"])
@pytest.mark.parametrize("situation", SILENT)
def test_change_has_no_consequence(situation: str, sources: bool) -> None:
    assert consequences(*SILENT[situation], sources=sources) == []


def test_consequence_is_about_the_line_that_changed() -> None:
    path, old, new, _ = CASES["guarded"]
    (reference,) = consequences(path, old, new)
    assert [(span.start, span.end) for span in reference.spans] == [(2, 2)]


def test_unit_with_a_very_long_line_has_no_consequence() -> None:
    old = "def f(a):\n    send_all(a)\n    g(a, 'x')\n"
    new = old.replace("    send_all(a)\n", "    if a.ready:\n        send_all(a)\n")
    long = new.replace("'x'", f"'{'x' * 400}'")

    assert consequences("a.py", old, new)
    assert consequences("a.py", old, long) == []


def test_version_of_thousands_of_digits_is_no_error() -> None:
    old, new = (
        f'{{"dependencies": {{\n  "a": "{v}.0",\n  "b": "1.0"\n}}}}\n' for v in ("1", "9" * 5000)
    )

    assert consequences("package.json", old, new) == []


COUNT = 400
LARGE = {
    "conditions of one function": (
        "def f(a):\n" + "".join(f"    g{i}(a)\n" for i in range(COUNT)),
        "def f(a):\n" + "".join(f"    if a >= {i} and b:\n        g{i}(a)\n" for i in range(COUNT)),
    ),
    "functions with another number": (
        "".join(f"def f{i}(a):\n    return g{i}(a, 1)\n\n\n" for i in range(3 * COUNT)),
        "".join(f"def f{i}(a):\n    return g{i}(a, 2)\n\n\n" for i in range(3 * COUNT)),
    ),
}


@pytest.mark.growth
@pytest.mark.parametrize("name", LARGE)
def test_large_change_takes_little_time(name: str) -> None:
    before = time.process_time()
    consequences("a.py", *LARGE[name])

    assert time.process_time() - before < 6.0 * slowness()
