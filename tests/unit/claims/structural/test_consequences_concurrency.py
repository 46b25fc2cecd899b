"""Consequences for what is awaited, started in the background, and locked."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

# Situation -> path, old, new, the consequence
CASES: dict[str, tuple[str, str, str, str]] = {
    "no longer awaited": (
        "a.js",
        "async function f(a) {\n  await registry.load(a);\n  show(a);\n}\n",
        "async function f(a) {\n  registry.load(a);\n  show(a);\n}\n",
        "`registry.load` is no longer awaited in `f`: who sees its errors, and when is it done?",
    ),
    "started in Go": (
        "a.go",
        "package a\n\nfunc f(c chan int) {\n\trun(c)\n\tshow(c)\n}\n",
        "package a\n\nfunc f(c chan int) {\n\tgo run(c)\n\tshow(c)\n}\n",
        "`go run(c)` starts work in the background in `f`: what ends it, and who sees its errors?",
    ),
    "started in new code": (
        "a.go",
        "package a\n",
        "package a\n\nfunc f(c chan int) {\n\tgo func() {\n\t\trun(c)\n\t}()\n\tshow(c)\n}\n",
        "`go func()` starts work in the background in `f`: what ends it, and who sees its errors?",
    ),
    "started in Python": (
        "a.py",
        "async def f(a):\n    b = read(a)\n    return b\n",
        "async def f(a):\n    b = read(a)\n    asyncio.create_task(save(b))\n    return b\n",
        "`asyncio.create_task(save(b))` starts work in the background in `f`: what ends it, and who"
        " sees its errors?",
    ),
    "started in C#": (
        "A.cs",
        "class A {\n  void Go() {\n    Save(1);\n    Show(2);\n  }\n}\n",
        "class A {\n  void Go() {\n    Task.Run(() => Save(1));\n    Show(2);\n  }\n}\n",
        "`Task.Run(() => Save(1))` starts work in the background in `Go`: what ends it, and who"
        " sees its errors?",
    ),
}

# Situation -> path, old, new
NEAR_MISSES: dict[str, tuple[str, str, str]] = {
    "awaited call is new": (
        "a.py",
        "async def f(a):\n    b = 1\n",
        "async def f(a):\n    await grant(a)\n    b = 1\n",
    ),
    "awaited before, on another line": (
        "a.ts",
        "async function f() {\n  await go(1);\n  const a = show(go(2));\n}\n",
        "async function f() {\n  await go(1);\n  const a = show(await go(2));\n}\n",
    ),
    "awaited with other arguments": (
        "a.py",
        "async def f(a):\n    await grant(a)\n",
        "async def f(a):\n    await grant(a, 1)\n",
    ),
    "awaited through another call": (
        "a.py",
        "async def f(a):\n    await read(\n        a,\n    )\n",
        "async def f(a):\n    await wait_for(\n        read(a),\n        3,\n    )\n",
    ),
    "waiting left to the caller": (
        "A.cs",
        "class A {\n  async Task Go() {\n    await Save(1);\n  }\n}\n",
        "class A {\n  Task Go() {\n    return Save(1);\n  }\n}\n",
    ),
    "returned a promise before": (
        "a.ts",
        "function load(a: A): Promise<B> {\n  return read(a);\n}\n",
        "async function load(a: A): Promise<B> {\n  return await read(a);\n}\n",
    ),
    "modifier without consequence": (
        "A.cs",
        "class A {\n  Task Go() {\n    return Save(1);\n  }\n}\n",
        "class A {\n  async Task Go() {\n    Save(1);\n  }\n}\n",
    ),
    "waits for its work": (
        "a.go",
        "package a\n\nfunc f(g *Group) {\n\trun(g)\n}\n",
        "package a\n\nfunc f(g *Group) {\n\tgo run(g)\n\tg.Wait()\n}\n",
    ),
    "keeps its work": (
        "a.py",
        "async def f(a):\n    return a\n",
        "async def f(a):\n    task = asyncio.create_task(save(a))\n    return await task\n",
    ),
    "start moved": (
        "a.go",
        "package a\n\nfunc f(c chan int) {\n\tgo run(c)\n\tshow(c)\n}\n",
        "package a\n\nfunc f(c chan int) {\n\tshow(c)\n\tgo run(c)\n}\n",
    ),
    "start in a test": (
        "a_test.go",
        "package a\n\nfunc f(c chan int) {\n\trun(c)\n}\n",
        "package a\n\nfunc f(c chan int) {\n\tgo run(c)\n}\n",
    ),
    "lock of another kind before": (
        "a.go",
        "package a\n\nfunc (s *Store) Get() int {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n"
        "\treturn s.all\n}\n",
        "package a\n\nfunc (s *Store) Get() int {\n\ts.mu.RLock()\n\tdefer s.mu.RUnlock()\n"
        "\treturn s.all\n}\n",
    ),
    "lock in a comment": (
        "a.py",
        "def put(v):\n    items.append(v)\n",
        "def put(v):\n    # with lock: not needed\n    items.append(v)\n",
    ),
    "block is no lock": (
        "a.py",
        "def put(v):\n    items.append(v)\n",
        "def put(v):\n    with self.stopwatch:\n        items.append(v)\n",
    ),
}


def _consequences(path: str, old: str, new: str) -> list[str]:
    words = ("await", "asynchronous", "starts work", "locked")
    return [
        reference.text
        for reference in claims(change(path, old, new))
        if reference.kind is ReferenceKind.IMPLICATION
        and any(word in reference.text for word in words)
    ]


@pytest.mark.parametrize(("path", "old", "new", "expected"), CASES.values(), ids=CASES)
def test_consequence(path: str, old: str, new: str, expected: str) -> None:
    assert expected in _consequences(path, old, new)


@pytest.mark.parametrize(("path", "old", "new"), NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_near_miss(path: str, old: str, new: str) -> None:
    assert _consequences(path, old, new) == []
