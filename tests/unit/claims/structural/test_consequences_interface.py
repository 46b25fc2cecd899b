"""Consequences for users of a unit: each with a change that brings it, and ones that do not."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

CALL = "does a caller pass it by position?"
HANDLE = "do all its callers handle that?"

# Situation -> path, old, new, sentence
BROUGHT: dict[str, tuple[str, str, str, str]] = {
    "environment variable": ("a.py", "def f():\n    a = 1\n    b = os.environ['APP_MODE']\n",
        "def f():\n    a = 1\n    b = 2\n",
        "A read of the environment variable `APP_MODE` is gone: "
        "does anything still set or document it?"),
    "environment variable in Go": ("a.go",
        "package p\n\nfunc F() string {\n\treturn os.Getenv(\"APP_MODE\")\n}\n",
        "package p\n\nfunc F() string {\n\treturn \"\"\n}\n",
        "A read of the environment variable `APP_MODE` is gone: "
        "does anything still set or document it?"),
    "option": ("cli.py", "p = Parser()\np.add_argument('--fast', default=1)\np.go()\n",
        "p = Parser()\np.go()\n", "The option `--fast` is no longer declared here: "
        "does any script or document still pass it?"),
    "route": ("app.js", "app.use(x);\napp.get('/users/:id', show);\n", "app.use(x);\n",
        "The route `/users/:id` is no longer declared here: does any client still call it?"),
    "position": ("a.py", "def f(a, b=1):\n    g(a)\n", "def f(a, c=2, b=1):\n    g(a)\n",
        f"`f` now takes `c` where it took `b`: {CALL}"),
    "position in PHP": ("a.php", "<?php\nfunction f($a, $b) {\n    g($a);\n}\n",
        "<?php\nfunction f($b, $a) {\n    g($a);\n}\n",
        f"`f` now takes `b` where it took `a`: {CALL}"),
    "position of the same type": ("A.java",
        "class A {\n  void f(int a, int b) {\n    g(a);\n  }\n}\n",
        "class A {\n  void f(int b, int a) {\n    g(a);\n  }\n}\n",
        f"`f` now takes `b` where it took `a`: {CALL}"),
    "default": ("a.py", "def f(a=1):\n    g(a)\n", "def f(a=2):\n    g(a)\n",
        "Calls of `f` that omit `a` now get `2` instead of `1`: is that right for all of them?"),
    "result that may be missing": ("a.py", "def f(a) -> str:\n    return a\n",
        "def f(a) -> str | None:\n    return a\n",
        f"`f` now returns `str | None` instead of `str`: {HANDLE}"),
    "result that may be undefined": ("a.ts",
        "export function f(a: A): string {\n  return a.b;\n}\n",
        "export function f(a: A): string | undefined {\n  return a.c;\n}\n",
        f"`f` now returns `string | undefined` instead of `string`: {HANDLE}"),
    "result with an error": ("a.go", "package p\n\nfunc F(a int) int {\n\treturn a\n}\n",
        "package p\n\nfunc F(a int) (int, error) {\n\treturn a, nil\n}\n",
        f"`F` now returns `(int, error)` instead of `int`: {HANDLE}"),
    "optional result": ("A.java", "class A {\n  public B f(int a) {\n    return b;\n  }\n}\n",
        "class A {\n  public Optional<B> f(int a) {\n    return b;\n  }\n}\n",
        f"`f` now returns `Optional<B>` instead of `B`: {HANDLE}"),
    "result that may be null": ("A.cs",
        "class A\n{\n    public B F(int a)\n    {\n        go(a);\n    }\n}\n",
        "class A\n{\n    public B? F(int a)\n    {\n        go(a);\n    }\n}\n",
        f"`F` now returns `B?` instead of `B`: {HANDLE}"),
}  # fmt: skip

# Situation -> path, old, new
NOTHING: dict[str, tuple[str, str, str]] = {
    "in a test": ("tests/test_a.py", "def f(a=1):\n    g(a)\n", "def f(a=2):\n    g(a)\n"),
    "still read": ("a.py", "def f():\n    b = os.environ['APP_MODE']\n",
        "def f():\n    b = os.environ.get('APP_MODE', '')\n"),
    "moved in the file": ("app.js", "app.get('/users', show);\nfirst();\nsecond();\nthird();\n",
        "first();\nsecond();\nthird();\napp.get('/users', show);\n"),
    "the file is gone": ("app.js", "app.use(x);\napp.get('/users', show);\n", ""),
    "option of another program": ("a.py", "def f():\n    run('--fast')\n    g()\n",
        "def f():\n    g()\n"),
    "appended parameter": ("a.py", "def f(a):\n    g(a)\n", "def f(a, b=1):\n    g(a)\n"),
    "renamed parameter": ("a.py", "def f(a, b):\n    g(a)\n", "def f(a, c):\n    g(a)\n"),
    "parameter before the keywords": ("a.py", "def f(a, **kwargs):\n    g(a)\n",
        "def f(a, b=1, **kwargs):\n    g(a)\n"),
    "position of another type": ("A.java",
        "class A {\n  void f(int a, C c) {\n    g(a);\n  }\n}\n",
        "class A {\n  void f(int a, B b, C c) {\n    g(a);\n  }\n}\n"),
    "quotes of a default": ("a.py", "def f(a='b'):\n    g(a)\n", 'def f(a="b"):\n    g(a)\n'),
    "new default": ("a.py", "def f(a):\n    g(a)\n", "def f(a=1):\n    g(a)\n"),
    "reformatted": ("a.ts", "export function f(a: A): Map<string, B> {\n  return a.b;\n}\n",
        "export function f(a: A): Map<string,B> {\n  return a.c;\n}\n"),
    "result to wait for": ("a.ts", "export function f(a: A): string {\n  return a.b;\n}\n",
        "export async function f(a: A): Promise<string> {\n  return a.c;\n}\n"),
    "default of a private function": ("a.py", "def _f(a=1):\n    g(a)\n",
        "def _f(a=2):\n    g(a)\n"),
    "result of a renamed class": ("a.ts", "export function f(a: A): B {\n  return a.b;\n}\n",
        "export function f(a: A): C {\n  return a.c;\n}\n"),
    "type that is now written": ("a.py", "def f(a):\n    return a\n",
        "def f(a) -> str | None:\n    return a\n"),
    "overload": ("A.java", "class A {\n  void f(int a, int b) {\n    g(a);\n  }\n}\n",
        "class A {\n  void f(int a, int b) {\n    g(a);\n  }\n\n  void f(int b, int a, int c) {\n"
        "    g(c);\n  }\n}\n"),
}  # fmt: skip


def implied(path: str, old: str, new: str, *, sources: bool = True) -> list[str]:
    references = claims(change(path, old, new, sources=sources))
    words = ("is gone", "declared here", "is named", "where it took", "that omit", "now returns")
    implications = [item.text for item in references if item.kind is ReferenceKind.IMPLICATION]
    return [text for text in implications if any(word in text for word in words)]


@pytest.mark.parametrize("row", BROUGHT)
def test_change_brings_its_consequence(row: str) -> None:
    path, old, new, sentence = BROUGHT[row]
    assert sentence in implied(path, old, new)


@pytest.mark.parametrize("row", NOTHING)
def test_change_that_users_do_not_notice_brings_none(row: str) -> None:
    path, old, new = NOTHING[row]
    assert implied(path, old, new) == []
    assert implied(path, old, new, sources=False) == []
