"""Each kind of sentence: a change that brings it, and a near miss that must not."""

import pytest

from tests.helpers.changes import change, texts

SAME = "    first = read(a)\n    second = parse(first, 'r')\n    return merge(first, second)\n"
TRY = "def f():\n    try:\n        g()\n    except {}:\n        h()\n"
AGES = "a long text " * 8

# Situation -> path, old, new, sentence, near miss (another new version), what it must not bring
ROWS: dict[str, tuple[str, str, str, str, str, str]] = {
    "renamed": ("a.py", f"def load(a):\n{SAME}", f"def fetch(a):\n{SAME}",
        "The function `load` in `a.py` has been renamed to `fetch`.",
        "def fetch(a):\n    for item in a:\n        print(item)\n    return None\n", "renamed"),
    "replaced": ("a.py", f"def load(a):\n{SAME}\n\nload(1)\nfetch(1)\n",
        f"def fetch(a):\n{SAME}\n\nload(1)\nfetch(1)\n",
        "The function `fetch` in `a.py` takes the place of `load`.",
        "def fetch(a):\n    for item in a:\n        print(item)\n\n\nload(1)\nfetch(1)\n",
        "place of"),
    "only layout": ("a.py", "def f(a):\n    g(a,1)\n", "def f(a):\n    g(a, 1)\n",
        "Only the formatting of the function `f` in `a.py` has changed.",
        "def f(a):\n    g(a, -1)\n", "formatting"),
    "only comments": ("a.py", "def f(a):\n    # one\n    g(a)\n",
        "def f(a):\n    # two\n    g(a)\n",
        "Only comments have changed in the function `f` in `a.py`.",
        "def f(a):\n    # two\n    g(b)\n", "only comments"),
    "new, with members": ("a.py", "x = 1\n",
        "x = 1\n\n\nclass A:\n    def go(self):\n        pass\n    def stop(self):\n"
        "        pass\n", "The new class `A` in `a.py` (5 lines) defines `go` and `stop`.",
        "class A:\n    x = 1\n", "defines"),
    "new, with parameters": ("a.py", "x = 1\n", "x = 1\n\n\ndef f(a, b):\n    pass\n",
        "The new function `f` in `a.py` (2 lines) takes `a` and `b`.",
        "x = 1\n\n\ndef f():\n    pass\n", "takes"),
    "new, with fields": ("a.py", "x = 1\n", "x = 1\n\n\nclass A:\n    size = 1\n    name = ''\n",
        "The new class `A` in `a.py` (3 lines) has `size` and `name`.",
        "x = 1\n\n\nclass A:\n    pass\n", "has `"),
    "new test": ("test_a.py", "import a\n",
        "import a\n\n\ndef test_load():\n    assert a.load(1)\n",
        "The new test “test_load” in `test_a.py` (2 lines) has been added.",
        "import a\n\n\ndef test_load():\n    assert not 1\n", "calls"),
    "described": ("a.py", "x = 1\n", 'x = 1\n\n\ndef f():\n    """Read all pages of a site."""\n',
        "The function `f` is described as “Read all pages of a site”.",
        "x = 1\n\n\ndef f():\n    # Read all pages of a site.\n    g()\n", "described"),
    "new, what it does": ("a.py", "x = 1\n",
        "x = 1\n\n\ndef f(a):\n    try:\n        if a > 1:\n            raise Bad(a)\n"
        "    except Late:\n        wait(a)\n    return a + 1\n", "The function `f` checks `a > 1`.",
        "x = 1\n\n\ndef f(a):\n    if a > 1:\n        raise Bad(a)\n", "checks"),
    "removed, with members": ("a.py", "x = 1\n\n\nclass A:\n    def go(self):\n        pass\n",
        "x = 1\n", "The class `A` in `a.py` (3 lines) has been removed, with `go`.",
        "x = 1\n\n\nclass A:\n    pass\n", "`A` in `a.py` ("),
    "nothing better known": ("a.py", "def f(a):\n    x = g(a)\n    y = wait(x)\n",
        "def f(a):\n    y = wait(x)\n    x = g(a)\n",
        "The function `f` in `a.py` has changed (1 line added, 1 removed), around `wait`.",
        "def f(a):\n    x = g(a)\n    y = wait(x, 1)\n", "has changed"),
    "overload": ("A.java", "class A {\n  void run(int a) {\n    go(a);\n  }\n}\n",
        "class A {\n  void run(int a) {\n    go(a);\n  }\n  void run(int a, B b) {\n    go(a);\n"
        "  }\n}\n", "The method `A.run` in `A.java` has a new overload that takes `a` and `b`.",
        "class A {\n  void run(int a, B b) {\n    go(a);\n  }\n}\n", "overload"),
    "parameters exchanged": ("a.py", "def f(a, b):\n    g(1)\n", "def f(a, c):\n    g(1)\n",
        "The function `f` in `a.py` now takes `c` instead of `b`.", "def f(b, a):\n    g(1)\n",
        "takes"),
    "parameter added": ("a.py", "def f(a):\n    g(1)\n", "def f(a, b):\n    g(1)\n",
        "The function `f` in `a.py` takes the new parameter `b`.", "def f(a):\n    g(1, b)\n",
        "parameter"),
    "optional parameter added": ("a.py", "def f(a):\n    g(1)\n", "def f(a, b=1):\n    g(1)\n",
        "The function `f` in `a.py` takes the new optional parameter `b`.",
        "def f(a, b):\n    g(1)\n", "optional"),
    "parameter removed": ("a.py", "def f(a, b):\n    g(1)\n", "def f(a):\n    g(1)\n",
        "The function `f` in `a.py` no longer takes the parameter `b`.", "def f(b, a):\n    g(1)\n",
        "no longer"),
    "default": ("a.py", "def f(a=1):\n    g(1)\n", "def f(a=2):\n    g(1)\n",
        "The default of `a` in the function `f` in `a.py` is now `2` instead of `1`.",
        "def f(a):\n    g(1)\n", "is now"),
    "type of a parameter": ("a.py", "def f(a: int):\n    g(1)\n", "def f(a: str):\n    g(1)\n",
        "The parameter `a` of the function `f` in `a.py` now has the type `str` instead of `int`.",
        "def f(a:int ):\n    g(2)\n", "type"),
    "declared": ("a.py", "def f(a):\n    g(1)\n", "async def f(a):\n    g(1)\n",
        "The function `f` in `a.py` is now declared `async`.",
        "def f(a):\n    g(1, is_async=True)\n", "declared"),
    "no longer declared": ("A.java", "class A {\n  public final void f() {\n    g(1);\n  }\n}\n",
        "class A {\n  public void f() {\n    g(1);\n  }\n}\n",
        "The method `A.f` in `A.java` is no longer declared `final`.",
        "class A {\n  final public void f() {\n    g(1);\n  }\n}\n", "declared"),
    "error exchanged": ("a.py", "def f():\n    raise Bad(1)\n", "def f():\n    raise Worse(1)\n",
        "The function `f` in `a.py` now raises `Worse` instead of `Bad`.",
        "def f():\n    raise Bad(2)\n", "now raises"),
    "error added": ("a.py", "def f():\n    g(1)\n", 'def f():\n    raise Bad("there is no user")\n',
        "The function `f` in `a.py` now raises `Bad` with the message “there is no user”.",
        "def f():\n    g(1)\n    raise_alarm(2)\n", "raises"),
    "error removed": ("a.py", "def f(a):\n    if a:\n        raise Bad(1)\n    g(1)\n",
        "def f(a):\n    if a:\n        return\n    g(1)\n",
        "The function `f` in `a.py` no longer raises `Bad`.",
        "def f(a):\n    raise Bad(2)\n    g(1)\n", "no longer raises"),
    "further error of a type": ("a.py", 'def f(a):\n    raise Bad("there is no user")\n',
        'def f(a):\n    if a:\n        raise Bad("it has no name")\n'
        '    raise Bad("there is no user")\n',
        "The function `f` in `a.py` raises `Bad` with the new message “it has no name”.",
        "def f(a):\n    raise Bad('there is no user')\n", "new message"),
    "caught": ("a.py", "def f():\n    try:\n        g()\n    except Late:\n        h()\n",
        "def f():\n    try:\n        g()\n    except Exception:\n        h()\n",
        "The function `f` in `a.py` now catches `Exception` instead of `Late`.",
        "def f():\n    try:\n        g()\n    except Late as late:\n        h()\n", "catches `"),
    "condition changed": ("a.py", "def f(a):\n    if a > 1:\n        g(1)\n",
        "def f(a):\n    if a > 2:\n        g(1)\n",
        "The condition `a > 1` in the function `f` in `a.py` is now `a > 2`.",
        "def f(a):\n    if (a > 1):\n        g(1)\n", "is now"),
    "condition added": ("a.py", "def f(a):\n    g(1)\n", "def f(a):\n    if a > 2:\n        g(1)\n",
        "The function `f` in `a.py` now checks `a > 2`.", "def f(a):\n    g(1)\n    b = a > 2\n",
        "checks"),
    "condition removed": ("a.py", "def f(a):\n    if a.ready:\n        g(1)\n",
        "def f(a):\n    g(1)\n", "The function `f` in `a.py` no longer checks `a.ready`.",
        "def f(a):\n    a.ready and g(1)\n", "no longer checks"),
    "condition with unless": ("a.rb", "def f(a)\n  g(1)\nend\n",
        "def f(a)\n  g(1) unless a.ready?\nend\n",
        "The method `f` in `a.rb` now checks that not `a.ready?`.",
        "def f(a)\n  g(1) if a.ready?\nend\n", "that not"),
    "returned value": ("a.py", "def f(a):\n    return a + 1\n", "def f(a):\n    return a + 2\n",
        "The function `f` in `a.py` now returns `a + 2` instead of `a + 1`.",
        "def f(a):\n    b = 1\n    return a + 1\n", "returns"),
    "returned value in part": ("a.py", f"def f(a):\n    return join(a, '{AGES}', first)\n",
        f"def f(a):\n    return join(a, '{AGES}', second)\n",
        "The function `f` in `a.py` now returns a value with `second` instead of `first`.",
        f"def f(a):\n    return join(a, '{AGES}!', first)\n", "value with"),
    "argument exchanged": ("a.py", "def f(a):\n    send(a, 1, now)\n",
        "def f(a):\n    send(a, 1, later)\n",
        "The call to `send` in the function `f` in `a.py` now passes `later` instead of `now`.",
        "def f(a):\n    send(1, a, now)\n", "passes"),
    "argument added": ("a.py", "def f(a):\n    send(a)\n", "def f(a):\n    send(a, later)\n",
        "The call to `send` in the function `f` in `a.py` now also passes `later`.",
        "def f(a):\n    send(a)\n    send(a, later)\n", "passes"),
    "argument removed": ("a.py", "def f(a):\n    send(a, now)\n", "def f(a):\n    send(a)\n",
        "The call to `send` in the function `f` in `a.py` no longer passes `now`.",
        "def f(a):\n    post(a)\n", "no longer passes"),
    "call exchanged": ("a.py", "def f(a):\n    send(a)\n", "def f(a):\n    post(a)\n",
        "The function `f` in `a.py` now calls `post` and no longer `send`.",
        "def f(a):\n    api.send(a)\n", "no longer"),
    "call added": ("a.py", "def f(a):\n    send(a)\n", "def f(a):\n    send(a)\n    wait(a)\n",
        "The function `f` in `a.py` now calls `wait`.", "def f(a):\n    send(a, 1)\n", "calls"),
    "call removed": ("a.py", "def f(a):\n    send(a)\n    wait(a)\n", "def f(a):\n    send(a)\n",
        "The function `f` in `a.py` no longer calls `wait`.",
        "def f(a):\n    send(a)\n    later(wait)\n", "no longer calls"),
    "value": ("a.py", "LIMIT = 1\n", "LIMIT = 2\n", "`LIMIT` in `a.py` is now `2` instead of `1`.",
        "LIMIT=1\nSIZE = 2\n", "is now"),
    "name set": ("a.py", "def f(a):\n    g(a)\n", "def f(a):\n    limit = a + 1\n    g(a)\n",
        "The function `f` in `a.py` now sets `limit` to `a + 1`.",
        "def f(a):\n    g(a, limit=a + 1)\n", "sets"),
    "field added": ("a.py", "class A:\n    size = 1\n", "class A:\n    size = 1\n    name = ''\n",
        "The class `A` in `a.py` now has `name`.", "class A:\n    size = 2\n", "now has"),
    "field removed": ("a.py", "class A:\n    size = 1\n    name = ''\n", "class A:\n    size = 1\n",
        "The class `A` in `a.py` no longer has `name`.",
        "class A:\n    size = 1\n    label = name = ''\n", "no longer has"),
    "text exchanged": ("a.py", "def f(a):\n    a == 'one of these' and b\n",
        "def f(a):\n    a == 'two of these' and b\n",
        "The text `'one of these'` in the function `f` in `a.py` is now `'two of these'`.",
        'def f(a):\n    a == "one of these" and c\n', "the text"),
    "imported": ("a.py", "import os\n", "import os\nfrom sys import path\n",
        "`a.py` now imports `path` from `sys`.", "import os\n\n\ndef f():\n    importlib('sys')\n",
        "imports"),
    "no longer imported": ("a.py", "import os\nimport sys\n", "import os\n",
        "`a.py` no longer imports `sys`.", "import sys\nimport os\n", "no longer imports"),
    "line that nothing else tells": ("a.py", "def f(a):\n    g(a)\n",
        "def f(a):\n    g(a)\n    del a.name\n",
        "The function `f` in `a.py` now has the line `del a.name`.",
        "def f(a):\n    g(a)\n    pass\n", "the line"),
    "comment": ("a.py", "def f(a):\n    g(a)\n",
        "def f(a):\n    # The server answers late at night.\n    g(a)\n    h(a)\n",
        "A comment in the function `f` now says “The server answers late at night”.",
        "def f(a):\n    # g(a), h(a)\n    g(a)\n    h(a)\n", "comment"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_change_is_told(row: str) -> None:
    path, old, new, sentence, *_ = ROWS[row]
    assert sentence in texts(change(path, old, new))


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("sources", [True, False], ids=["whole", "hunks"])
def test_near_miss_is_not_told_so(row: str, sources: bool) -> None:
    path, old, _, _, miss, never = ROWS[row]
    assert not [text for text in texts(change(path, old, miss, sources=sources)) if never in text]


# Situation -> path, old, new, sentence, near miss, what it must not bring
IMPLIED: dict[str, tuple[str, str, str, str, str, str]] = {
    "removed": ("a.py", "x = 1\n\n\ndef load():\n    pass\n", "x = 1\n",
        "Code that uses `load` has to do without it.", "x = 1\nload = x\n", "do without"),
    "renamed": ("a.py", f"def load(a):\n{SAME}", f"def fetch(a):\n{SAME}",
        "Code that uses `load` has to use `fetch`.", f"def fetch(a):\n{SAME}\n\nload = fetch\n",
        "has to use"),
    "renamed in private": ("a.py", f"def _load(a):\n{SAME}", f"def fetch(a):\n{SAME}",
        "The function `_load` in `a.py` has been renamed to `fetch`.", f"def _fetch(a):\n{SAME}",
        "has to"),
    "parameter that must be given": ("a.py", "def f(a):\n    g(a)\n", "def f(a, b):\n    g(a)\n",
        "Callers of `f` must pass `b`.", "def f(a, b=None):\n    g(a)\n", "must pass"),
    "parameter of another name": ("a.go", "package p\n\nfunc F(a int) {\n\tg(1)\n}\n",
        "package p\n\nfunc F(a, b int) {\n\tg(1)\n}\n", "Callers of `F` must pass `b`.",
        "package p\n\nfunc F(b int) {\n\tg(1)\n}\n", "must pass"),
    "default": ("a.py", "def f(a=1):\n    g(a)\n", "def f(a=2):\n    g(a)\n",
        "Callers of `f` that leave out `a` now get `2`.", "def f(a):\n    g(a)\n", "leave out"),
    "broad handler": ("a.py", "def f():\n    try:\n        g()\n    except Late:\n        h()\n",
        "def f():\n    try:\n        g()\n    except Exception:\n        h()\n",
        "Errors other than `Late` are now caught in `f`, too.",
        "def f():\n    try:\n        g()\n    except Later:\n        h()\n", "too"),
    "no test": ("a.py", "x = 1\n",
        "x = 1\n\n\ndef f(a):\n    b = a\n    c = b\n    d = c\n    return d\n",
        "The change has no test for the function `f`.",
        "x = 1\n\n\ndef _f(a):\n    b = a\n    c = b\n    d = c\n    return d\n", "test"),
}  # fmt: skip


@pytest.mark.parametrize("row", IMPLIED)
def test_consequence_is_implied(row: str) -> None:
    path, old, new, sentence, *_ = IMPLIED[row]
    assert sentence in texts(change(path, old, new))


@pytest.mark.parametrize("row", IMPLIED)
def test_near_miss_implies_nothing_of_the_kind(row: str) -> None:
    path, old, _, _, miss, never = IMPLIED[row]
    assert not [text for text in texts(change(path, old, miss)) if never in text]
