"""Consequences for errors: each with a change that brings it, and changes that bring none."""

import pytest

from crscore.records import ReferenceKind
from tests.helpers.changes import change, claims

GO = "package p\n\nfunc Load(path string) error {{\n\topen(path)\n{}\treturn nil\n}}\n"
PY = "def load(path):\n    read(path)\n{}\n\n\nx = 1\n"
TRY = "    try:\n        parse(path)\n    except {}:\n        {}\n"
TS = "export function load(path: string) {{\n  open(path);\n{}  return path;\n}}\n"
JAVA = "class Store {{\n  String load(Path path) {{\n    open(path);\n{}    return a;\n  }}\n}}\n"
CS = (
    "class Store\n{{\n    public void Load(string path)\n    {{\n        Open(path);\n{}"
    "        Close(path);\n    }}\n}}\n"
)
PHP = "<?php\nfunction load($path) {{\n    open($path);\n{}    return $path;\n}}\n"
RUBY = "def load(path)\n  open(path)\n{}  path\nend\n"

# Situation -> path, old, new, sentence
BROUGHT: dict[str, tuple[str, str, str, str]] = {
    "new check": ("load.py", PY.format(""),
        PY.format("    if path.size > 9:\n        raise ValueError(path)\n"),
        "The new check `path.size > 9` in `load` raises `ValueError`: "
        "can a call that used to succeed now fail?"),
    "new check in Go": ("load.go", GO.format(""),
        GO.format("\tif path == \"\" {\n\t\treturn errors.New(\"no path\")\n\t}\n"),
        'The new check `path == ""` in `Load` returns an error: '
        "can a call that used to succeed now fail?"),
    "new check in TypeScript": ("load.ts", TS.format(""),
        TS.format("  if (path.length > 9) {\n    throw new RangeError(path);\n  }\n"),
        "The new check `path.length > 9` in `load` raises `RangeError`: "
        "can a call that used to succeed now fail?"),
}  # fmt: skip

# Situation -> path, old, new
NOTHING: dict[str, tuple[str, str, str]] = {
    "in a test": ("tests/test_load.py", PY.format(""), PY.format(TRY.format("ValueError", "pass"))),
    "reformatted": ("load.ts", TS.format("  try {\n    parse(path);\n  } catch {}\n"),
        TS.format("  try {\n    parse(path);\n  } catch {\n  }\n")),
    "returned in Go": ("load.go", GO.format(""),
        GO.format("\tif err := parse(path); err != nil {\n\t\treturn err\n\t}\n")),
    "reworded error": ("load.go",
        GO.format("\tif path == \"\" {\n\t\treturn errors.New(\"no path\")\n\t}\n"),
        GO.format("\tif len(path) == 0 {\n\t\treturn errors.New(\"empty path\")\n\t}\n")),
    "check of an inner condition": ("load.py", PY.format(""),
        PY.format("    if path.old:\n        if path:\n            raise ValueError(path)\n")),
    "check that does not fail": ("load.py", PY.format(""),
        PY.format("    if path.size > 9:\n        return path\n")),
    "check in a new function": ("load.py", "x = 1\n",
        "x = 1\n\n\ndef load(path):\n    if path.size > 9:\n        raise ValueError(path)\n"),
}  # fmt: skip


def implied(path: str, old: str, new: str, *, sources: bool = True) -> list[str]:
    references = claims(change(path, old, new, sources=sources))
    words = (" ignores ", " only logs ", " becomes ", "new check")
    implications = [item.text for item in references if item.kind is ReferenceKind.IMPLICATION]
    return [text for text in implications if any(word in text for word in words)]


@pytest.mark.parametrize("row", BROUGHT)
def test_change_brings_its_consequence(row: str) -> None:
    path, old, new, sentence = BROUGHT[row]
    assert implied(path, old, new) == [sentence]


@pytest.mark.parametrize("row", NOTHING)
def test_change_that_hides_no_error_brings_none(row: str) -> None:
    path, old, new = NOTHING[row]
    assert implied(path, old, new) == []
    assert implied(path, old, new, sources=False) == []
