"""Consequences of changed conditions: what brings each, and what must not."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

MD5 = "void f(S a) {{\n  if ({}) {{\n    hash(a);\n  }}\n}}\n"
GO = "func f(a *A) {{\n\tif {} {{\n\t\tsend(a)\n\t}}\n}}\n"
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
PHP = "<?php\nfunction f($a) {{\n  if ({}) {{\n    go();\n  }}\n}}\n"
LINES = "function f(a) {{\n  if (\n    {}\n  ) {{\n    go(a)\n  }}\n}}\n"
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

# Situation -> path, old, new, sentence
CASES: dict[str, tuple[str, str, str, str]] = {
    "a case is added, none replaced": ("a.cc", MD5.format('_algorithm == "MD5"'),
        MD5.format('_algorithm == "MD5" || _algorithm == "MD5-SESS"'),
        '`_algorithm == "MD5-SESS"` is a new case of the condition `_algorithm == "MD5"` '
        'in the function `f`: '
        "does all of the branch suit it?"),
    "case gone": ("a.ts", "function f(a) {\n  if (!a || a.old) {\n    return\n  }\n  go(a)\n}\n",
        "function f(a) {\n  if (!a) {\n    return\n  }\n  go(a)\n}\n",
        "`a.old` is no longer a case of the condition `!a` in the function `f`: "
        "where is it handled now?"),
    "requirement added": ("a.go", GO.format("a.Size > 1"), GO.format("a != nil && a.Size > 1"),
        "`a != nil` now narrows the condition `a.Size > 1` in the function `f`: "
        "what happens when it does not hold?"),
    "requirement gone": ("a.py", "def f(a):\n    if a and a.open:\n        a.close()\n",
        "def f(a):\n    if a:\n        a.close()\n",
        "`a.open` no longer narrows the condition `a` in the function `f`: "
        "does its code work without that?"),
    "requirement of one of several cases": ("A.java",
        JAVA.format("if (isOld || (isNew && isOpen))"),
        JAVA.format("if (isOld || (isNew && isOpen && isFree))"),
        "`isFree` now narrows the condition `isOld || (isNew && isOpen)` in the method `A.f`: "
        "what happens when it does not hold?"),
    "case in new brackets": ("a.php", PHP.format("$b && $a"), PHP.format("$b && ($a || $c)"),
        "`$c` is a new case of the condition `$b && $a` in the function `f`: "
        "does all of the branch suit it?"),
    "several lines": ("a.ts", LINES.format("a.x === 1 &&\n    a.y"),
        LINES.format("a.x === 1 &&\n    a.y &&\n    a.z"),
        "`a.z` now narrows the condition `a.x === 1 && a.y` in the function `f`: "
        "what happens when it does not hold?"),
    "of a file": ("run.js", "if (a) {\n  go(1)\n}\n", "if (a && b) {\n  go(1)\n}\n",
        "`b` now narrows the condition `a` in `run.js`: what happens when it does not hold?"),
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
}  # fmt: skip

IF = "def f(a, b):\n    if {}:\n        send(a)\n"
# Situation -> path, old, new
SILENT: dict[str, tuple[str, str, str]] = {
    "reformatted": ("a.py", IF.format("a and b"), IF.format("(a and\n            b)")),
    "order": ("a.py", IF.format("a and b"), IF.format("b and a")),
    "another part": ("a.py", IF.format("a and b.x"), IF.format("a and b.y")),
    "another join": ("a.py", IF.format("a and b"), IF.format("a or b")),
    "join and part": ("a.ts", "function f() {\n  if (a && b) {\n    go(1)\n  }\n}\n",
        "function f() {\n  if (a || b || c) {\n    go(1)\n  }\n}\n"),
    "negated": ("a.py", IF.format("not (a and b)"), IF.format("not (a and b and c)")),
    "in a text": ("a.py", IF.format("a == 'x'"), IF.format("a == 'x and y'")),
    "always true": ("A.java", JAVA.format("while (true && a < 1)"), JAVA.format("while (a < 1)")),
    "moved into a condition inside": ("a.py", "def f(a, b):\n    if a and b.x:\n        send(a)\n",
        "def f(a, b):\n    if a:\n        if b.x:\n            send(a)\n"),
    "moved into a guard above": ("a.py", "def f(a, b):\n    if a and not b.x:\n        send(a)\n",
        "def f(a, b):\n    if b.x:\n        return\n    if a:\n        send(a)\n"),
    "has another name": ("a.py", "def f(a, b):\n    x = b.open\n    if a and x:\n        send(a)\n",
        "def f(a, b):\n    if a:\n        send(a)\n"),
    "similar conditions at two places": ("a.py",
        "def f(a, b):\n    if a and b.x:\n        send(a)\n    wait(1)\n    return g(a)\n",
        "def f(a, b):\n    wait(1)\n    if a:\n        return g(a)\n    return h(b)\n"),
    "a test": ("tests/test_a.py", IF.format("a"), IF.format("a and b")),
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
}  # fmt: skip


def consequences(path: str, old: str, new: str, *, sources: bool = True) -> list[str]:
    references = claims(change(path, old, new, sources=sources))
    texts = [item.text for item in references if item.kind is ReferenceKind.IMPLICATION]
    return [text for text in texts if " condition `" in text or " only " in text]


@pytest.mark.parametrize("sources", [True, False], ids=["whole", "hunks"])
@pytest.mark.parametrize("situation", CASES)
def test_condition_has_consequence(situation: str, sources: bool) -> None:
    path, old, new, sentence = CASES[situation]
    assert consequences(path, old, new, sources=sources) == [sentence]


@pytest.mark.parametrize("sources", [True, False], ids=["whole", "hunks"])
@pytest.mark.parametrize("situation", SILENT)
def test_condition_has_no_consequence(situation: str, sources: bool) -> None:
    assert consequences(*SILENT[situation], sources=sources) == []


def test_consequence_is_about_the_line_that_changed() -> None:
    path, old, new, _ = CASES["several lines"]
    (reference,) = (
        item for item in claims(change(path, old, new)) if item.kind is ReferenceKind.IMPLICATION
    )
    assert [(span.start, span.end) for span in reference.spans] == [(4, 4)]
