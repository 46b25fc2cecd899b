"""Consequences of small edits: what brings each, and what must not."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

PY = "def f(a):\n    b = load(a)\n{}    return send(a, b)\n"
TS = "function f(a: A) {{\n  const b = load(a)\n{}  return send(a, b)\n}}\n"
GO = "func f(a *A) error {{\n\tb := load(a)\n{}\treturn send(a, b)\n}}\n"
JAVA = "class A {{\n  int f(B a) {{\n    start(a);\n{}    return send(a);\n  }}\n}}\n"
CS = "class A {{\n  int F(B a) {{\n    Start(a);\n{}    return Send(a);\n  }}\n}}\n"
C = "int f(S *a) {{\n  start(a);\n{}  return send_all(a);\n}}\n"
RUBY = "def f(a)\n  b = load(a)\n{}  send_all(a, b)\nend\n"
PHP = "<?php\nfunction f($a) {{\n  start($a);\n{}  return finish($a);\n}}\n"
LOCKED = "    with self._lock:\n        a.x = b\n        a.y = b\n"
BARE = "    a.x = b\n    a.y = b\n"
GUARD = "    if a.old:\n        return None\n"
TRY = "    try:\n        b = read(a)\n    except {}:\n        {}\n"
CATCH = "    try {{\n      read(a);\n    }} catch ({} e) {{\n{}    }}\n"
ELSE = "    if a.x:\n        b = 1\n    {}:\n        b = 2\n"

# Situation -> path, form, old, new, sentence
CASES: dict[str, tuple[str, str, str, str, str]] = {
    "guard": ("a.py", PY, GUARD, "",
        "The function `f` no longer returns early when `a.old`: can that no longer be the case?"),
    "guard in braces": ("a.go", GO, '\tif a.Size > 9 {\n\t\tpanic("size")\n\t}\n', "",
        "The function `f` no longer fails when `a.Size > 9`: can that no longer be the case?"),
    "guard of two lines": ("a.ts", TS, "  if (!a.size)\n    throw new Error('x')\n", "",
        "The function `f` no longer fails when `!a.size`: can that no longer be the case?"),
    "guard of one line": ("a.c", C, "  if (a->n == 0) return -1;\n", "",
        "The function `f` no longer returns early when `a->n == 0`: "
        "can that no longer be the case?"),
    "guard of two parts": ("A.java", JAVA, "    if ((a == null) || (a.n > 1)) return 0;\n", "",
        "The method `A.f` no longer returns early when `((a == null) || (a.n > 1))`: "
        "can that no longer be the case?"),
    "exit in front": ("a.rb", RUBY, "  return unless a.open?\n", "",
        "The method `f` no longer returns early unless `a.open?`: can that no longer be the case?"),
    "lock": ("a.py", PY, LOCKED, BARE,
        "`with self._lock` is gone from the function `f`: "
        "can two threads now run its code at once?"),
    "end": ("a.php", PHP, "  $a->close();\n", "",
        "`$a->close()` is gone from the function `f`: what ends or releases it now?"),
    "check": ("A.java", JAVA, "    validate(a);\n", "",
        "`validate(a)` is gone from the method `A.f`: where is that checked now?"),
    "decorator": ("a.py", "{}def f(a):\n    return send(a)\n", "@login_required\n", "",
        "`@login_required` is gone from the function `f`: where is that checked now?"),
    "equality": ("A.java", JAVA, "    while (i < a.n) i++;\n", "    while (i <= a.n) i++;\n",
        "`<=` replaces `<` in `while (i <= a.n) i++` of the method `A.f`: "
        "is the case of equality meant to change?"),
    "contrary": ("a.go", GO, "\tb.Off = a.Mode == 1\n", "\tb.Off = a.Mode != 1\n",
        "`!=` replaces `==` in `b.Off = a.Mode != 1` of the function `f`: is the contrary meant?"),
    "negation added": ("a.py", PY, "    b.x = a.y\n", "    b.x = not a.y\n",
        "`not` is new in `b.x = not a.y` of the function `f`: is the contrary meant?"),
    "negation gone": ("A.cs", CS, "    while (!a.Done) Wait();\n", "    while (a.Done) Wait();\n",
        "`!` is gone from `while (!a.Done) Wait()` of the method `A.F`: is the contrary meant?"),
    "other join": ("a.ts", TS, "  b.x = a.y && a.z\n", "  b.x = a.y || a.z\n",
        "`||` replaces `&&` in `b.x = a.y || a.z` of the function `f`: "
        "must both parts hold, or is either enough?"),
    "last branch": ("a.py", PY, ELSE.format("elif a.y"), ELSE.format("else"),
        "The last branch in the function `f` no longer checks `a.y`: "
        "is it right for all other cases?"),
    "more errors": ("a.py", PY, TRY.format("KeyError", "b = 0"), TRY.format("Exception", "b = 0"),
        "The function `f` now handles every error like `KeyError`: is that right for all of them?"),
    "all errors": ("A.cs", CS, CATCH.format("IOException", "      Stop();\n"),
        CATCH.format("Exception", "      Stop();\n"),
        "The method `A.F` now handles every error like `IOException`: "
        "is that right for all of them?"),
    "empty handler": ("A.java", JAVA, CATCH.format("IOException", "      stop(a);\n"),
        CATCH.format("IOException", ""),
        "A handler in the method `A.f` no longer does `stop(a)`, nor anything else: "
        "who learns of the error?"),
    "passing handler": ("a.py", PY, TRY.format("KeyError", "raise Gone(a)"),
        TRY.format("KeyError", "pass"),
        "A handler in the function `f` no longer does `raise Gone(a)`, nor anything else: "
        "who learns of the error?"),
    "order": ("a.c", C, "  write_all(a);\n  sync_all(a);\n", "  sync_all(a);\n  write_all(a);\n",
        "`write_all(a)` now comes after `sync_all(a)` in the function `f`: does the order matter?"),
}  # fmt: skip

# Situation -> path, form, old, new
SILENT: dict[str, tuple[str, str, str, str]] = {
    "guard moved": ("a.py", "def f(a):\n{}    return a\n", GUARD + "    b(a)\n    c(a)\n",
        "    b(a)\n    c(a)\n" + GUARD),
    "guard reformatted": ("a.c", C, "  if (a->n == 0) return 1;\n",
        "  if (a->n == 0) {\n    return 1;\n  }\n"),
    "stronger guard": ("a.py", PY, GUARD, "    if a.old or a.gone:\n        return None\n"),
    "guard in a helper": ("a.py", PY + "\n\ndef g(x):\n    return 1\n", GUARD, "    check(a)\n"),
    "guard that the next one implies": ("a.py", "def f(a):\n{}    if not a:\n        return 1\n",
        "    if a is None:\n        return 0\n", ""),
    "guard of what is gone": ("a.py", "def f(a):\n{}    return a\n",
        "    if b.c:\n        raise X\n", ""),
    "other lines are gone, too": ("a.py", PY, GUARD + "    stop(a)\n", ""),
    "only the guarded code stayed": ("a.go", GO, "\tif a.x {\n\t\treturn go(b)\n\t}\n\treturn 1\n",
        "\treturn go(b)\n"),
    "other lock": ("a.py", PY, LOCKED, LOCKED.replace("_lock", "_mutex")),
    "closed by a block": ("a.py", PY, "    b.close()\n", "    with b:\n        pass\n"),
    "checked with another function": ("A.java", JAVA, "    validate(a);\n", "    verify(a);\n"),
    "type argument": ("a.ts", TS, "  const c = d<A>(a)\n", "  const c = d(a)\n"),
    "not null": ("a.ts", TS, "  b.x = a.y!.z\n", "  b.x = a.y.z\n"),
    "in a text": ("a.py", PY, '    b.x = "a and b"\n', '    b.x = "a or b"\n'),
    "De Morgan": ("a.ts", TS, "  b.x = !(a.x && a.y)\n", "  b.x = !a.x || !a.y\n"),
    "strict equality": ("a.ts", TS, "  b.x = a.y == 1\n", "  b.x = a.y === 1\n"),
    "comment": ("a.go", GO, "\t// b if a == 1\n", "\t// b if a != 1\n"),
    "two branches": ("a.py", PY, ELSE.format("elif a.y"), ELSE.format("elif a.z")),
    "fewer errors": ("a.py", PY, TRY.format("Exception", "b = 0"), TRY.format("KeyError", "b = 0")),
    "handler with other code": ("a.py", PY, TRY.format("KeyError", "b = 0"),
        TRY.format("KeyError", "b = 1")),
    "assignments in another order": ("a.py", PY, "    c = 1\n    d = 2\n",
        "    d = 2\n    c = 1\n"),
    "a test": ("tests/test_a.py", PY, GUARD, ""),
}  # fmt: skip
KINDS = (
    "longer returns",
    "longer fails",
    "longer checks",
    "longer does",
    "gone from",
    "replaces",
    "new in",
    "now handles",
    "now comes after",
)


def consequences(path: str, form: str, *bodies: str, sources: bool = True) -> list[str]:
    old, new = (form.format(body) for body in bodies)
    references = claims(change(path, old, new, sources=sources, context=9))
    texts = [item.text for item in references if item.kind is ReferenceKind.IMPLICATION]
    return [text for text in texts if any(kind in text for kind in KINDS)]


@pytest.mark.parametrize("sources", [True, False], ids=["whole", "hunks"])
@pytest.mark.parametrize("situation", CASES)
def test_edit_has_consequence(situation: str, sources: bool) -> None:
    path, form, old, new, sentence = CASES[situation]
    assert consequences(path, form, old, new, sources=sources) == [sentence]


@pytest.mark.parametrize("sources", [True, False], ids=["whole", "hunks"])
@pytest.mark.parametrize("situation", SILENT)
def test_edit_has_no_consequence(situation: str, sources: bool) -> None:
    assert consequences(*SILENT[situation], sources=sources) == []
