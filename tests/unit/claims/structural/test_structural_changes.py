"""Sentences for changed units that the language tables do not reach."""

import pytest

from tests.helpers.changes import change, said, texts

CASES = {
    "error message": (
        "a.py",
        "def f():\n    raise ValueError('too small')\n",
        "def f():\n    raise ValueError('too small, need 3')\n",
        ("message of the error `ValueError`", "'too small, need 3'", "'too small'"),
    ),
    "bare raise": (
        "a.py",
        "def f():\n    raise error\n",
        "def f():\n    raise other\n",
        ("raises `other`", "instead of `error`"),
    ),
    "renamed parameter": (
        "a.py",
        "def f(old):\n    pass\n",
        "def f(new):\n    pass\n",
        ("parameter `old`", "renamed to `new`"),
    ),
    "parameter order": (
        "a.py",
        "def f(a, b):\n    pass\n",
        "def f(b, a):\n    pass\n",
        ("order of the parameters",),
    ),
    "default dropped": (
        "a.py",
        "def f(a=1):\n    pass\n",
        "def f(a):\n    pass\n",
        ("`a`", "no longer has a default value"),
    ),
    "default given": (
        "a.py",
        "def f(a):\n    pass\n",
        "def f(a=1):\n    pass\n",
        ("`a`", "now has the default value `1`"),
    ),
    "return type given": (
        "a.py",
        "def f(a):\n    pass\n",
        "def f(a) -> int:\n    pass\n",
        ("`f`", "declares the return type `int`"),
    ),
    "return type dropped": (
        "a.py",
        "def f(a) -> int:\n    pass\n",
        "def f(a):\n    pass\n",
        ("`f`", "no longer declares its return type `int`"),
    ),
    "type given": (
        "a.py",
        "def f(a):\n    pass\n",
        "def f(a: int):\n    pass\n",
        ("`a`", "now has the type `int`"),
    ),
    "type dropped": (
        "a.py",
        "def f(a: int):\n    pass\n",
        "def f(a):\n    pass\n",
        ("`a`", "no longer has a type"),
    ),
    "base given": (
        "a.py",
        "class A:\n    x = 1\n",
        "class A(B):\n    x = 1\n",
        ("class `A`", "now based on `B`"),
    ),
    "base dropped": (
        "a.py",
        "class A(B):\n    x = 1\n",
        "class A:\n    x = 1\n",
        ("class `A`", "no longer based on `B`"),
    ),
    "variable renamed": (
        "a.py",
        "def f():\n    old = load(1, 2)\n    g()\n",
        "def f():\n    new = load(1, 2)\n    g()\n",
        ("variable `old`", "renamed to `new`"),
    ),
    "list grows": (
        "a.py",
        f"NAMES = [{', '.join(repr(f'name{n}') for n in range(12))}]\n",
        f"NAMES = [{', '.join(repr(f'name{n}') for n in range(13))}]\n",
        ("`NAMES`", "now also has", "'name12'"),
    ),
    "long return": (
        "a.py",
        "def f(a):\n    return build(a, first='one', second='two', third='three', "
        "fourth='four', size=10)\n",
        "def f(a):\n    return build(a, first='one', second='two', third='three', "
        "fourth='four', size=20)\n",
        ("what the function `f` returns", "`20` instead of `10`"),
    ),
    "argument dropped": (
        "a.py",
        "def f(a):\n    send(a, fast)\n",
        "def f(a):\n    send(a)\n",
        ("call to `send`", "no longer passes `fast`"),
    ),
    "callee changed": (
        "a.py",
        "def f(a):\n    send(a, b)\n",
        "def f(a):\n    post(a, b)\n",
        ("`f`", "calls `post` instead of `send`", "same arguments"),
    ),
    "assertion changed": (
        "a.py",
        "def test_f():\n    self.assertEqual(f(1), 2)\n",
        "def test_f():\n    self.assertEqual(f(1), 3)\n",
        ("assertion", "the test `test_f`", "`3` instead of `2`"),
    ),
    "decorator changed": (
        "a.py",
        "@cache(1)\ndef f():\n    pass\n",
        "@cache(2)\ndef f():\n    pass\n",
        ("decorator", "`@cache(1)`", "`@cache(2)`"),
    ),
    "while condition": (
        "a.py",
        "def f(a):\n    while a > 1:\n        g()\n",
        "def f(a):\n    while a > 2:\n        g()\n",
        ("loop", "while `a > 2` instead of running while `a > 1`"),
    ),
    "commented out": (
        "a.js",
        "function f() {\n  send(a);\n}\n",
        "function f() {\n  // send(a);\n}\n",
        ("commented-out code", "send(a)"),
    ),
    "comment dropped": ("a.py", "# First\nx = 1\n", "x = 1\n", ("comment 'First'", "removed")),
    "field documentation": (
        "A.java",
        "class A {\n  /** Counts. */\n  int a;\n}\n",
        "class A {\n  /** Counts rows. */\n  int a;\n}\n",
        ("documentation of the field `a`", "Counts rows."),
    ),
    "long comment grows": (
        "a.py",
        "# This reads all of the rows of the first table in the given order\nx = 1\n",
        "# This reads all of the rows of the first table in the given order quickly\nx = 1\n",
        ("comment", "now also says 'quickly'"),
    ),
    "else added": (
        "a.py",
        "def f(a):\n    if a:\n        g()\n",
        "def f(a):\n    if a:\n        g()\n    else:\n        h()\n",
        ("else branch that calls `h`", "`f`"),
    ),
    "finally dropped": (
        "a.py",
        "def f():\n    try:\n        g()\n    finally:\n        close()\n",
        "def f():\n    try:\n        g()\n    except OSError:\n        stop()\n",
        ("finally block", "removed"),
    ),
    "function dropped": (
        "a.py",
        "def f():\n    pass\n\n\ndef g():\n    pass\n",
        "def g():\n    pass\n",
        ("function `f`", "removed"),
    ),
    "class dropped": (
        "a.py",
        "class A:\n    x = 1\n\n\ny = 1\n",
        "y = 1\n",
        ("class `A`", "removed"),
    ),
    "loop dropped": (
        "a.py",
        "def f(xs):\n    for x in xs:\n        g(x)\n    return 1\n",
        "def f(xs):\n    return 1\n",
        ("loop over `xs`", "removed"),
    ),
    "increment": (
        "a.js",
        "function f() {\n  go();\n}\n",
        "function f() {\n  go();\n  count++;\n}\n",
        ("`f`", "increments `count`"),
    ),
    "switch case": (
        "A.java",
        "class A {\n  void f(int a) {\n    switch (a) {\n"
        "      case 1: g(); break;\n    }\n  }\n}\n",
        "class A {\n  void f(int a) {\n    switch (a) {\n      case 1: g(); break;\n"
        "      case 2: h(); break;\n    }\n  }\n}\n",
        ("case `2`",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_change_is_told_precisely(case: str) -> None:
    path, old, new, words = CASES[case]
    made = change(path, old, new)
    assert said(made, *words), "\n" + "\n".join(texts(made))
