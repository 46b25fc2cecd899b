"""Consequences of other ways through a function, and of single new lines."""

from __future__ import annotations

import pytest

from crscore.claims.structural import plugin
from crscore.records import ReferenceKind
from tests.helpers.changes import change

PY = "def f(a):\n{}    send(a)\n    store(a)\n    return a\n"
GO = "package a\n\nfunc f(a A) string {{\n{}\tsend(a)\n\treturn a.b\n}}\n"
LOOP = "def f(rows):\n    for row in rows:\n{}        send(row)\n"

CASES: dict[str, tuple[str, str, str, str, str]] = {
    "early return": ("a.py", PY, "", "    if a.done:\n        return\n",
        "`f` now returns early when `a.done`, without `send` and `store`: "
        "is it right to leave that out?"),
    "early value": ("a.go", GO, "", "\tif a.b == \"\" {\n\t\treturn \"-\"\n\t}\n",
        "`f` now returns `\"-\"` when `a.b == \"\"`, without `send`: "
        "do all its callers expect that?"),
    "early return, condition behind": ("a.rb", "def f(a)\n{}  send(a)\n  a.b\nend\n", "",
        "  return if a.b.nil?\n",
        "`f` now returns early when `a.b.nil?`, without `send`: is it right to leave that out?"),
    "skipped element": ("a.py", LOOP, "", "        if row.old:\n            continue\n",
        "A loop in `f` now skips `send` when `row.old`: is it right to leave that out?"),
    "call gone": ("a.py", PY, "    clear(a)\n", "",
        "The function `f` no longer calls `clear(a)`: what did it do that is still needed?"),
    "moved call": ("a.py", "def f(a):\n{}    return a\n",
        "    lock(a)\n    load(a)\n    send(a)\n", "    load(a)\n    send(a)\n    lock(a)\n",
        "`lock(a)` now comes after `load(a)` in the function `f`: does the order matter?"),
    "environment": ("a.py", PY, "", "    a.b = os.environ['SHOP_URL']\n",
        "`SHOP_URL` in the function `f` is an environment variable that was not read before: "
        "what happens where it is not set?"),
    "endless loop": ("a.py", PY, "", "    while True:\n        poll(a)\n",
        "`while True` in the function `f` has no end of its own: what ends it in every case?"),
    "hidden warning": ("a.py", PY, "    a.b = load(a)\n", "    a.b = load(a)  # type: ignore\n",
        "`# type: ignore` in the function `f` hides a warning: could the code avoid it?"),
}  # fmt: skip

SILENT: dict[str, tuple[str, str, str, str]] = {
    "failure": ("a.go", GO, "", "\tif err != nil {\n\t\treturn fmt.Errorf(\"a\")\n\t}\n"),
    "condition reworded": ("a.py", PY, "    if a.done:\n        return\n",
        "    if a.ready:\n        return\n"),
    "call moved into a branch": ("a.py", PY, "    clear(a)\n",
        "    if a.old:\n        clear(a)\n"),
    "other branch": ("a.py", "def f(a):\n    if a:\n{}        b = 1\n    else:\n        send(a)\n",
        "", "        if a.done:\n            send(a)\n            return\n"),
    "log gone": ("a.py", PY, "    log.info(a)\n", ""),
    "bounded loop": ("a.py", PY, "", "    while True:\n        poll(a, timeout=3)\n"),
    "variable of the machine": ("a.py", PY, "", "    a.b = os.environ['HOME']\n"),
}  # fmt: skip
KINDS = (
    "without `send`",
    "loop in",
    "no longer calls",
    "comes after",
    "environment",
    "no end",
    "hides",
)


def consequences(path: str, form: str, *bodies: str) -> list[str]:
    old, new = (form.format(body) for body in bodies)
    (claims,) = plugin.create().generate([change(path, old, new)])
    questions = [r.text for r in claims.references if r.kind is ReferenceKind.IMPLICATION]
    return [text for text in questions if any(kind in text for kind in KINDS)]


@pytest.mark.parametrize("situation", CASES)
def test_edit_has_consequence(situation: str) -> None:
    path, form, old, new, sentence = CASES[situation]

    assert sentence in consequences(path, form, old, new)


@pytest.mark.parametrize("situation", SILENT)
def test_edit_has_none(situation: str) -> None:
    assert consequences(*SILENT[situation]) == []
