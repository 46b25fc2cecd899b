"""What a claim must not say: each case once came out false or as empty words."""

from dataclasses import replace

import pytest

from tests.helpers.changes import change, claims, texts

# Situation -> path, old, new, what one claim must say, what none may say
CASES = {
    "destructured parameter": (
        "a.jsx",
        "function B({ label }) {\n  return go(label);\n}\n",
        "function B({ label, off = false }) {\n  return go(label);\n}\n",
        "new parameter `off` with the default value `false`",
        ("renamed", "order of the parameters", "have to be updated"),
    ),
    "renamed and added parameter": (
        "A.java",
        "class A {\n  void run(Task t) {\n    go();\n  }\n}\n",
        "class A {\n  void run(Task task, Duration wait) {\n    go();\n  }\n}\n",
        "parameter `t` of the method `run` has been renamed to `task`",
        ("removed", "pass `task`"),
    ),
    "added and renamed at once keeps the order": (
        "a.go",
        "package p\n\nfunc F(a int) {\n\tgo()\n}\n",
        "package p\n\nfunc F(ctx C, a int) {\n\tgo()\n}\n",
        "new parameter `ctx`",
        ("order of the parameters",),
    ),
    "modifier of a parameter": (
        "a.ts",
        "class A {\n  constructor(private a: B) {}\n}\n",
        "class A {\n  constructor(private readonly a: B) {}\n}\n",
        "readonly",
        ("is now `readonly`",),
    ),
    "local variable removed": (
        "a.py",
        "def f(xs):\n    n = len(xs)\n    return n\n",
        "def f(xs):\n    return len(xs)\n",
        "`f` now returns",
        ("still uses", "works with a different value"),
    ),
    "narrower handler": (
        "a.py",
        "def f():\n    try:\n        g()\n    except Exception:\n        h()\n",
        "def f():\n    try:\n        g()\n    except (A, B) as exc:\n        h()\n",
        "now catches `A, B` instead of `Exception`",
        ("no longer reach", "as exc"),
    ),
    "wider handler": (
        "a.py",
        "def f():\n    try:\n        g()\n    except A:\n        h()\n",
        "def f():\n    try:\n        g()\n    except Exception:\n        h()\n",
        "`Exception` is broad",
        ("now reach",),
    ),
    "handler without a body": (
        "a.py",
        "def f():\n    g()\n",
        "def f():\n    try:\n        g()\n    except A:\n        pass\n",
        "`A` is silently ignored",
        (),
    ),
    "guarded handler": (
        "A.cs",
        "class A {\n  void F() {\n    try { G(); } catch (E ex) { H(); }\n  }\n}\n",
        "class A {\n  void F() {\n    try { G(); } catch (E ex) when (ex.C == 4) { H(); }\n"
        "  }\n}\n",
        "catches `E when ex.C == 4` instead of `E`",
        ("ex) when",),
    ),
    "scoped error of Ruby is not broad": (
        "a.rb",
        "def f\n  g\nend\n",
        "def f\n  g\nrescue Timeout::Error => e\n  h(e)\nend\n",
        "catches `Timeout::Error`",
        ("is broad", "=> e"),
    ),
    "unless": (
        "a.rb",
        "def f(a)\n  g(a)\nend\n",
        "def f(a)\n  return nil unless a\n  g(a)\nend\n",
        "checks `a` is false",
        ("when `a` holds",),
    ),
    "inverted condition": (
        "a.py",
        "def f(a):\n    if not a.b:\n        g()\n",
        "def f(a):\n    if a.b:\n        g()\n",
        "has been inverted: it now checks `a.b` instead of `not a.b`",
        (),
    ),
    "call moved into a condition's start": (
        "a.go",
        "package p\n\nfunc f() error {\n\tg(1)\n\treturn nil\n}\n",
        "package p\n\nfunc f() error {\n\tif err := g(1); err != nil {\n\t\treturn err\n\t}\n"
        "\treturn nil\n}\n",
        "checks `err := g(1); err != nil`",
        ("no longer", "sets `err`"),
    ),
    "call now returned": (
        "a.go",
        "package p\n\nfunc f() {\n\tgo.Serve(1)\n}\n",
        "package p\n\nfunc f() error {\n\treturn go.Serve(1)\n}\n",
        "returns `go.Serve(1)`",
        ("no longer calls",),
    ),
    "annotation of a field": (
        "A.java",
        "class A {\n  private int a;\n}\n",
        "class A {\n  @Id\n  private int a;\n}\n",
        "`@Id` has been added to the field `a`",
        ("added to the class", "is treated"),
    ),
    "function moved": (
        "a.py",
        "def a():\n    return go(1)\n\n\ndef helper(x):\n    value = x + 1\n    return value * 2\n",
        "def helper(x):\n    value = x + 1\n    return value * 2\n\n\ndef a():\n    return go(1)\n",
        "`a` has been moved",
        ("no longer returns",),
    ),
    "unlike imports": (
        "a.py",
        "import sys\n",
        "from __future__ import annotations\n",
        "the import of `sys` has been removed",
        ("changed to", "is not used"),
    ),
    "loop of another kind": (
        "a.go",
        "package p\n\nfunc f(xs []int) {\n\tfor i := 0; i < len(xs); i++ {\n\t\tg(xs)\n\t}\n}\n",
        "package p\n\nfunc f(xs []int) {\n\tfor _, x := range xs {\n\t\tg(xs)\n\t}\n}\n",
        "runs over `xs` instead of running while `i < len(xs)`",
        ("over `i <", "increments"),
    ),
    "sum of another value": (
        "a.py",
        "def f(xs, t):\n    t += xs[0]\n    g(t)\n",
        "def f(xs, t):\n    t += xs[1]\n    g(t)\n",
        "runs `t += xs[1]` instead of `t += xs[0]`",
        ("value of the variable",),
    ),
    "braces added": (
        "a.js",
        "function f(a, b) {\n  if (a) return b\n}\n",
        "function f(a, b) {\n  if (a) {\n    return b;\n  }\n}\n",
        "only punctuation, line breaks and spaces have changed in the function `f`",
        ("returns",),
    ),
    "accessor of C#": (
        "A.cs",
        "class A {\n  string N { get; set; }\n}\n",
        "class A {\n  string N { get; init; }\n}\n",
        "the property `N` now has `init` instead of `set`",
        ("accessor", "documentation"),
    ),
    "declared exception": (
        "A.java",
        "class A {\n  void f() {\n    g();\n  }\n}\n",
        "class A {\n  void f() throws B {\n    g();\n  }\n}\n",
        "the method `f` now declares that it throws `B`",
        ("the code `",),
    ),
    "joined message": (
        "A.java",
        "class A {\n  void f(int a) {\n    g();\n  }\n}\n",
        'class A {\n  void f(int a) {\n    throw new E("no user " + a);\n  }\n}\n',
        "with the message 'no user …'",
        (),
    ),
    "test written as a call": (
        "a.spec.js",
        "describe('a', () => {\n  go();\n});\n",
        "describe('a', () => {\n  go();\n  it('adds', () => { run(); });\n});\n",
        "contains the test 'adds'",
        ("calls `it`",),
    ),
    "case with its body": (
        "A.java",
        "class A {\n  int f(B b) {\n    switch (b) {\n      case X: return 1;\n    }\n  }\n}\n",
        "class A {\n  int f(B b) {\n    switch (b) {\n      case X: return 1;\n"
        "      case Y: return 2;\n    }\n  }\n}\n",
        "handles the case `Y` and returns `2`",
        ("now returns",),
    ),
    "another value of a type": (
        "a.ts",
        "type Id = string;\n",
        "type Id = string | number;\n",
        "the type `Id` is now `string | number` instead of `string`",
        ("the value of",),
    ),
    "resource of a try block": (
        "A.java",
        "class A {\n  void f() {\n    try {\n      g();\n    } finally {\n      h();\n"
        "    }\n  }\n}\n",
        "class A {\n  void f() {\n    try (B b = o()) {\n      g();\n    } finally {\n      h();\n"
        "    }\n  }\n}\n",
        "now opens `(B b = o())` as a resource",
        ("now also has",),
    ),
    "piece cut through brackets": (
        "a.jsx",
        "function B() {\n  return (\n    <a>\n      {label}\n    </a>\n  );\n}\n",
        "function B() {\n  return (\n    <a>\n      {busy && <S />}\n      {label}\n"
        "    </a>\n  );\n}\n",
        "`{busy && <S />}`",
        ("/>} {`",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_claim_says_what_happened(case: str) -> None:
    path, old, new, must, _ = CASES[case]
    told = texts(change(path, old, new))
    assert any(must.lower() in text.lower() for text in told), "\n".join(told)


@pytest.mark.parametrize("case", CASES)
def test_no_claim_says_what_did_not_happen(case: str) -> None:
    path, old, new, _, never = CASES[case]
    told = texts(change(path, old, new))
    assert not [text for text in told for words in never if words in text]


def test_bracket_put_before_a_fragment_is_never_told_as_a_call() -> None:
    old = "A = (\n" + "".join(f'    ("k{n}", "v{n}"),\n' for n in range(9)) + ")\n"
    new = old.replace('"v5"', '"w5"')
    told = texts(change("a.py", old, new, sources=False, context=1))
    assert any('`"w5"`' in text for text in told), told
    assert not [text for text in told if "`f`" in text]


def test_claim_on_a_test_file_weighs_less_beside_other_code() -> None:
    alone = change("tests/test_a.py", "def test_a():\n    g(1)\n", "def test_a():\n    g(2)\n")
    code = change("a.py", "def f():\n    g(1)\n", "def f():\n    g(2)\n")
    both = replace(code, files=(*code.files, *alone.files))
    told = {item.text: item.weight for item in claims(both)}
    assert max(told[item.text] for item in claims(code)) > max(
        told[item.text] for item in claims(alone) if item.text in told
    )
