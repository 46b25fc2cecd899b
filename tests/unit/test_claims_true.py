"""The mechanical checker of claims flags false sentences of each kind, and lets true ones pass."""

# ruff: noqa: E501 - each row is a true sentence and a false one
from __future__ import annotations

import difflib
import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "claims_true.py"
_spec = importlib.util.spec_from_file_location("claims_true", SCRIPT)
truth = importlib.util.module_from_spec(_spec)
sys.modules["claims_true"] = truth
_spec.loader.exec_module(truth)

OLD = '''\
import json
from typing import Any

LIMIT = 10


class Reader:
    """Reads."""

    def read(self, path, size=10):
        # Read all of it
        if size > 3:
            raise ValueError("too large")
        data = load(path)
        return data

    def close(self):
        self.open = False
        finish(self)


def old_name(value):
    for one in value:
        total = one.weight * one.factor
    return total


def kept():
    return 1
'''
NEW = '''\
import json
from pathlib import Path

LIMIT = 20


class Reader:
    """Reads."""

    def read(self, path, size=20, *, strict=False):
        # Read some of it
        if size > 4:
            raise TypeError("much too large")
        data = load(path, strict)
        return list(data)

    def close(self):
        self.open = False
        finish( self )

    def flush(self):
        """Write what is left."""
        self.close()


def new_name(value):
    for one in value:
        total = one.weight * one.factor
    return total


def kept():
    return 1
'''


def pairs(old: str | None, new: str | None, path: str) -> dict:
    lines = difflib.unified_diff(
        (old or "").splitlines(),
        (new or "").splitlines(),
        f"a/{path}",
        f"b/{path}",
        lineterm="",
        n=1,
    )
    diff = f"diff --git a/{path} b/{path}\n" + "\n".join(lines)
    return truth.pairs_of({"diff": diff, "files": {path: [old, new]}})


def held(
    text, name, noun, *, state="changed", old=OLD, new=NEW, path="p.py", side="new", lines=None
):
    """Check one sentence about a unit, whose place is looked up in the text."""
    found = pairs(old, new, path)
    version = found[path].side(side)
    at = next((one for one in version.declared if one.name == truth.tail(name)), None)
    start, end = (at.line, at.end) if at and noun != "file" else (1, len(version.lines))
    if lines is None:
        lines = len([n for n in version.solid if start <= n <= end])
    place = SimpleNamespace(path=path, side=side, start=start, end=end)
    topic = SimpleNamespace(name=name, noun=noun, state=state, lines=lines, place=place)
    spans = tuple(
        SimpleNamespace(path=path, side=each, start=n, end=n)
        for each in ("old", "new")
        for n in sorted(found[path].side(each).solid)
    )
    claim = SimpleNamespace(text=text, topic=topic, spans=spans)
    return truth.judge([claim], found)[0].held


READ = ("Reader.read", "method")
FILE = ("p.py", "file")


@pytest.mark.parametrize(
    ("unit", "true", "false"),
    [
        (READ, "The method `Reader.read` in `p.py` now raises `TypeError`.", "The method `Reader.read` now raises `ValueError`."),
        (READ, "The method `Reader.read` no longer raises `ValueError`.", "The method `Reader.read` no longer raises `TypeError`."),
        (READ, "The method `Reader.read` now calls `list`.", "The method `Reader.read` now calls `load`."),
        (READ, "The method `Reader.read` takes the new parameter `strict`.", "The method `Reader.read` takes the new parameter `size`."),
        (READ, "The default of `size` in the method `Reader.read` is now `20` instead of `10`.", "The default of `size` in the method `Reader.read` is now `10` instead of `20`."),
        (READ, "The condition `size > 3` in the method `Reader.read` is now `size > 4`.", "The condition `size > 3` in the method `Reader.read` is now `size > 5`."),
        (READ, "The method `Reader.read` now checks `size > 4`.", "The method `Reader.read` now checks `size > 3`."),
        (READ, "The method `Reader.read` now returns `list(data)` instead of `data`.", "The method `Reader.read` now returns `data` instead of `list(data)`."),
        (READ, "The call to `load` in the method `Reader.read` now also passes `strict`.", "The call to `load` in the method `Reader.read` now also passes `path`."),
        (READ, "The call to `load` in the method `Reader.read` now also passes `strict`.", "The call to `load` in the method `Reader.read` now passes `strict` instead of `strict`."),
        (READ, "A comment in the method `Reader.read` now says “Read some of it”.", "A comment in the method `Reader.read` now says “Read all of it”."),
        (READ, "The text `\"too large\"` in the method `Reader.read` is now `\"much too large\"`.", "The text `\"much too large\"` in the method `Reader.read` is now `\"too large\"`."),
        (FILE, "`LIMIT` in `p.py` is now `20` instead of `10`.", "`LIMIT` in `p.py` is now `10` instead of `20`."),
        (FILE, "`p.py` now imports `pathlib.Path`.", "`p.py` now imports `json`."),
        (FILE, "`p.py` no longer imports `typing.Any`.", "`p.py` no longer imports `pathlib.Path`."),
        (("Reader.close", "method"), "Only the layout of the method `Reader.close` in `p.py` has changed.", "Only comments have changed in the method `Reader.read`."),
        (("new_name", "function"), "The function `old_name` in `p.py` has been renamed to `new_name`.", "The function `old_name` in `p.py` has been renamed to `kept`."),
        (("Reader.flush", "method"), "The method `Reader.flush` is described as “Write what is left”.", "The method `Reader.flush` is described as “Reads”."),
    ],
)  # fmt: skip
def test_a_sentence_and_its_opposite(unit, true, false):
    assert held(true, *unit) is True
    other = READ if "`Reader.read`" in false else unit
    assert held(false, *other) is False


def test_what_is_said_to_be_new_was_not_there():
    text = "The new method `Reader.{}` in `p.py` ({} lines) {}."
    assert (
        held(text.format("flush", 3, "calls `self.close`"), "Reader.flush", "method", state="new")
        is True
    )
    assert (
        held(text.format("flush", 9, "calls `self.close`"), "Reader.flush", "method", state="new")
        is False
    )
    assert (
        held(text.format("flush", 3, "calls `load`"), "Reader.flush", "method", state="new")
        is False
    )
    assert (
        held(text.format("read", 5, "calls `load`"), "Reader.read", "method", state="new") is False
    )


def test_what_is_said_to_be_removed_is_gone():
    text = "The function `{}` in `p.py` ({} lines) has been removed."
    assert held(text.format("old_name", 1), "old_name", "function", side="old") is True
    assert held(text.format("kept", 0), "kept", "function", side="old") is False


@pytest.mark.parametrize(
    ("path", "old", "new", "name", "line"),
    [
        ("a.go", "func Get() {}\n", "func (s *S) Get() {}\n\nfunc Get() {}\n", "Get", 2),
        ("a.c", "int get(int a);\n", "int get(int a);\n\nint get(int a)\n{\n}\n", "get", 3),
        ("A.cs", "class A { int Get(int a) => a; }\n", "class A { int Get(int a) => a;\nint Get() { return 1; } }\n", "A.Get", 1),
    ],
)  # fmt: skip
def test_a_prototype_or_an_overload_is_no_new_name(path, old, new, name, line):
    text = f"The new function `{name}` in `{path}` ({line} lines) has been added."
    assert held(text, name, "function", state="new", old=old, new=new, path=path) is False


def test_a_keyword_is_no_name():
    old, new = "class A {\n}\n", "class A {\n  if (x) {\n    y();\n  }\n}\n"
    text = "The new method `A.if` in `a.js` (3 lines) calls `y`."
    assert held(text, "A.if", "method", state="new", old=old, new=new, path="a.js") is False


def test_code_in_comments_and_strings_is_no_code():
    code, bare = truth.mask('a("x # y")  # b()\n', "python")
    assert code.rstrip() == 'a("x # y")'
    assert bare.rstrip() == 'a("     ")'
    code, bare = truth.mask("f(`a${g(1)}b`) // c\n", "js")
    assert bare.rstrip() == "f(`   g(1)  `)"


def test_declarations_are_found_with_their_outer_names():
    source = "namespace N { class A<T> : B where T : C\n{\n  [X]\n  public Task<T> Get<T>(int a)\n  {\n  }\n} }\n"
    found = truth.Text("A.cs", source).declared
    assert [(one.name, one.outer, one.line, one.end) for one in found] == [
        ("A", (), 1, 7),
        ("Get", ("A",), 4, 6),
    ]
    found = truth.Text("a.tsx", "export const A = ({ b, c }: P) => {\n  return c;\n};\n").declared
    assert ("A", 1, 3) in [(one.name, one.line, one.end) for one in found]
