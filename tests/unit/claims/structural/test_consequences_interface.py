"""Consequences for users of a unit: each with a change that brings it, and ones that do not."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

CALL = "does a caller pass it by position?"
HANDLE = "do all its callers handle that?"

# Situation -> path, old, new, sentence
BROUGHT: dict[str, tuple[str, str, str, str]] = {
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
    "result that may be null": ("A.cs",
        "class A\n{\n    public B F(int a)\n    {\n        go(a);\n    }\n}\n",
        "class A\n{\n    public B? F(int a)\n    {\n        go(a);\n    }\n}\n",
        f"`F` now returns `B?` instead of `B`: {HANDLE}"),
}  # fmt: skip

# Situation -> path, old, new
NOTHING: dict[str, tuple[str, str, str]] = {
    "in a test": ("tests/test_a.py", "def f(a=1):\n    g(a)\n", "def f(a=2):\n    g(a)\n"),
    "renamed parameter": ("a.py", "def f(a, b):\n    g(a)\n", "def f(a, c):\n    g(a)\n"),
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
