"""The mechanical checker of claims flags false sentences of each kind, and lets true ones pass."""

from __future__ import annotations

import difflib
import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "claims_true.py"
_spec = importlib.util.spec_from_file_location("claims_true", SCRIPT)
truth = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(truth)

OLD = """\
import json
from typing import Any

LIMIT = 10


class Reader:
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


def gone():
    return 1
"""
NEW = '''\
import json
from pathlib import Path

LIMIT = 20


class Reader:
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
'''


def pairs(old, new, path):
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="", n=1
    )
    diff = f"diff --git a/{path} b/{path}\n" + "\n".join(lines) + "\n"
    return truth.pairs_of({"diff": diff, "files": {path: [old, new]}})


def held(text, name, state="changed", *, old=OLD, new=NEW, path="p.py", side="new"):
    """Check one sentence about a unit, whose place is looked up in the text."""
    versions = pairs(old, new, path)
    version = versions[path].text[side]
    units = version.units(truth.tail(name)) if name else []
    start, end = (units[0].start, units[0].stop - 1) if units else (1, len(version.lines))
    place = SimpleNamespace(path=path, side=side, start=start, end=end)
    noun = "method" if name else "file"
    topic = SimpleNamespace(name=name or path, noun=noun, state=state, place=place)
    spans = [
        SimpleNamespace(path=path, side=one, start=n, end=n)
        for one in truth.OTHER
        for n in versions[path].text[one].changed
    ]
    claim = SimpleNamespace(text=text, topic=topic, spans=spans)
    return truth.judge([claim], versions)[0][1]


READ, READS = "Reader.read", "the method `Reader.read`"


@pytest.mark.parametrize(
    ("name", "sentence", "true", "false"),
    [
        (READ, f"{READS} now raises `{{}}`.", "TypeError", "ValueError"),
        (READ, f"{READS} no longer raises `{{}}`.", "ValueError", "TypeError"),
        (READ, f"{READS} in `p.py` now calls `{{}}`.", "list", "load"),
        (READ, f"{READS} takes the new parameter `{{}}`.", "strict", "size"),
        (READ, f"the default of `size` in {READS} is now `{{}}`.", "20", "10"),
        (READ, f"the condition `size > 3` in {READS} is now `{{}}`.", "size > 4", "size"),
        (READ, f"{READS} now checks `{{}}`.", "size > 4", "size > 3"),
        (READ, f"{READS} now returns `{{}}` instead of `data`.", "list(data)", "path"),
        (READ, f"the call to `load` in {READS} now also passes `{{}}`.", "strict", "path"),
        (READ, f"a comment in {READS} now says “{{}}”.", "Read some of it", "Read all of it"),
        (READ, f"{READS} no longer has the text `{{}}`.", '"too large"', '"much too large"'),
        (READ, f"{READS} has changed ({{}} lines added).", "5", "9"),
        (READ, f"only {{}} have changed in {READS}.", None, "comments"),
        ("Reader.close", "only the {} of the method `Reader.close` has changed.", "layout", None),
        ("Reader.flush", "the method `Reader.flush` is described as “{}”.", "Write what is", "R"),
        ("", "`LIMIT` in `p.py` is now `{}` instead of `10`.", "20", "10"),
        ("", "`p.py` now imports `{}`.", "Path", "json"),
        ("", "`p.py` no longer imports `{}` from `typing`.", "Any", "Path"),
        ("new_name", "the function `{}` has been renamed to `new_name`.", "old_name", "read"),
    ],
)  # fmt: skip
def test_a_sentence_and_its_opposite(name, sentence, true, false):
    assert true is None or held(sentence.format(true), name)
    assert false is None or held(sentence.format(false), name) is False


def test_code_called_new_or_removed_is_in_one_version_only():
    new = "The new method `Reader.{}` in `p.py` ({} lines) calls `{}`."
    assert held(new.format("flush", 3, "self.close"), "Reader.flush", "new")
    assert not held(new.format("flush", 9, "self.close"), "Reader.flush", "new")
    assert not held(new.format("flush", 3, "load"), "Reader.flush", "new")
    assert not held(new.format("read", 6, "load"), "Reader.read", "new")
    gone = "The function `{}` ({} lines) has been removed."
    assert held(gone.format("gone", 2), "gone", "removed", side="old")
    assert not held(gone.format("read", 6), "Reader.read", "removed", side="old")


def test_declarations_are_found_with_their_extent():
    source = "namespace N\n{\n  [X]\n  public Task<T> Get<T>(int a)\n  {\n    Get(1);\n  }\n}\n"
    assert truth.Text("A.cs", source).units("Get") == [range(3, 8)]
    source = "export const A = ({ b }: P) => {\n  return `\n${b} }\n`;\n};\n"
    assert truth.Text("a.tsx", source).units("A") == [range(1, 6)]
