import difflib
from dataclasses import replace

import pytest

from crscore.diff.parse import parse_diff
from crscore.records import Comment, Diff, Receipt, Sentence, Verdict
from crscore.verdicts.checks.base import Ground
from crscore.verdicts.checks.proposals import CHECKS
from crscore.verdicts.code import Code
from crscore.verdicts.statements import Statement

PYTHON_OLD = "import os\nimport shelve\n\n\ndef load(path):\n    return read(path)\n"
PYTHON_NEW = """import os


def load(path, width):
    if not path:
        raise KeyError("a path is needed for loading")
    pairs = zip(names, values, strict=True)
    label = "a heigth in pixels"
    if isinstance(width, float):
        width = round(width)
    return read(path, pairs)


def store(path):
    return write(path)
"""
GO_OLD = "package store\n\nfunc open() {}\n"
GO_NEW = """package store

import (
\t"net/url"
\t"sync"
)

var openStoreOnce sync.Once

func open(w Writer) error {
\tw.Header().Set("Cache-Control", "no-store")
\tw.Flush()
\tif err := dial(); err != nil {
\t\treturn fmt.Errorf("dial the store: %w", err)
\t}
\treturn nil
}
"""
C_OLD = "int grow(int n) { return n; }\n"
C_NEW = "static int grow(int n) { return n + 1; }\nint shrink(int n) { return n - 1; }\n"


def _diff(path: str, old: str, new: str) -> Diff:
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    diff = parse_diff("".join(lines))
    return replace(diff, files=(replace(diff.files[0], old_source=old, new_source=new),))


CHANGES = {
    "python": _diff("app/load.py", PYTHON_OLD, PYTHON_NEW),
    "go": _diff("pkg/store.go", GO_OLD, GO_NEW),
    "c": _diff("src/grow.c", C_OLD, C_NEW),
}


def _judge(language: str, text: str) -> Receipt | None:
    statement = Statement(sentences=(Sentence(text=text, comment=0),), comment=Comment(body=text))
    ground = Ground(Code(CHANGES[language]), statement)
    receipts = [check(phrase, ground) for phrase in statement.phrases for check in CHECKS]
    return next(filter(None, receipts), None)


@pytest.mark.parametrize(
    ("language", "text", "line"),
    [
        ("python", "Please use `zip(names, values, strict=True)` in `load`.", 7),
        ("python", "`load` should check `isinstance(width, float)` first.", 9),
        ("go", 'Please add `"net/url"` to the imports of store.go.', 4),
    ],
)
def test_what_is_already_there_is_refuted(language: str, text: str, line: int) -> None:
    receipt = _judge(language, text)
    assert receipt is not None
    assert receipt.verdict is Verdict.REFUTED
    assert line in {span.start for span in receipt.lines}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "Please also use `zip(names, values, strict=True)` in `store`."),
        ("python", "`store` should raise a `KeyError` when there is no path."),
        ("python", "Put the same guard around `write` in `store`."),
        ("python", "Please call `zip(names, values, strict=True)` before the loop."),
        ("python", "Give `width` a `read(path, pairs)` like the one above."),
        ("python", "This uses `zip(names, values, strict=True)` for the pairs."),
        ("go", 'Please add `"net/http"` to the imports of store.go.'),
        ("go", "Put a `sync.Mutex` around the opening of the store."),
    ],
)
def test_what_is_elsewhere_or_not_there_is_not_refuted(language: str, text: str) -> None:
    assert _judge(language, text) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Make it `isinstance(width, (int, float))`.", 9),
    ],
)
def test_what_is_provably_not_yet_so_is_confirmed(text: str, line: int) -> None:
    receipt = _judge("python", text)
    assert receipt is not None
    assert receipt.verdict is Verdict.CONFIRMED
    assert receipt.lines[0].start == line
