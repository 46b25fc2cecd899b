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
    "ignored": ("load.py", PY.format(""), PY.format(TRY.format("ValueError", "pass")),
        "`load` ignores `ValueError`: would anyone notice the failure?"),
    "ignored on one line": ("load.ts", TS.format(""),
        TS.format("  try {\n    parse(path);\n  } catch {}\n"),
        "`load` ignores any error: would anyone notice the failure?"),
    "any error of C++": ("load.cpp", "int load(char *path) {\n  open(path);\n  return 0;\n}\n",
        "int load(char *path) {\n  open(path);\n  try {\n    parse(path);\n  } catch (...) {\n  }\n"
        "  return 0;\n}\n", "`load` ignores any error: would anyone notice the failure?"),
    "ignored in Ruby": ("load.rb", RUBY.format(""),
        RUBY.format("  begin\n    parse(path)\n  rescue IOError\n    next\n  end\n"),
        "`load` ignores `IOError`: would anyone notice the failure?"),
    "any type": ("load.ts", TS.format(""),
        TS.format("  try {\n    parse(path);\n  } catch (e: any) {\n    console.error(e);\n  }\n"),
        "`load` only logs any error: should its caller learn of it?"),
    "only logged": ("Store.java", JAVA.format(""),
        JAVA.format("    try {\n      parse(path);\n    } catch (IOException e) {\n"
        "      logger.warn(\n        \"bad\", e);\n    }\n"),
        "`load` only logs `IOException`: should its caller learn of it?"),
    "only logged, braces on their own lines": ("Store.cs", CS.format(""),
        CS.format("        try\n        {\n            Parse(path);\n        }\n"
        "        catch (IOException e)\n        {\n            Logger.Error(e);\n        }\n"),
        "`Load` only logs `IOException`: should its caller learn of it?"),
    "only logged in Go": ("load.go", GO.format(""),
        GO.format("\tif err := parse(path); err != nil {\n\t\tlog.Printf(\"bad: %v\", err)\n\t}\n"),
        "`Load` only logs an error of `parse`: should its caller learn of it?"),
    "becomes a value": ("load.php", PHP.format(""),
        PHP.format("    try {\n        parse($path);\n    } catch (BadPath $e) {\n"
        "        return null;\n    }\n"),
        "`BadPath` in `load` becomes `null`: do its callers check for it?"),
    "becomes a value in a new function": ("load.py", "x = 1\n",
        "x = 1\n\n\ndef load(path):\n    try:\n        return parse(path)\n"
        "    except OSError as e:\n        logger.warning(e)\n        return {}\n\n\ny = 2\n",
        "`OSError` in `load` becomes `{}`: do its callers check for it?"),
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
    "expected error": ("load.py", PY.format(""), PY.format(TRY.format("ImportError", "pass"))),
    "a comment says why": ("load.py", PY.format(""),
        PY.format(TRY.format("ValueError", "# The file may be of an old version.\n        pass"))),
    "raised again": ("load.py", PY.format(""),
        PY.format(TRY.format("ValueError", "logger.info(path)\n        raise"))),
    "another value": ("load.py", PY.format(""),
        PY.format(TRY.format("ValueError", "return parse_old(path)"))),
    "nested statement": ("load.py", PY.format(""),
        PY.format(TRY.format("ValueError", "if path:\n            return None"))),
    "was there": ("load.py", PY.format(TRY.format("ValueError", "pass")),
        PY.format("    wait()\n" + TRY.format("ValueError", "pass"))),
    "another function had it": ("load.py",
        "def old(path):\n    read(path)\n" + TRY.format("ValueError", "return None\n    wait()"),
        "def load(path):\n    start()\n    begin(path)\n    look(path)\n    more(path)\n"
        + TRY.format("ValueError", "return None\n    wait()")),
    "reformatted": ("load.ts", TS.format("  try {\n    parse(path);\n  } catch {}\n"),
        TS.format("  try {\n    parse(path);\n  } catch {\n  }\n")),
    "other error": ("load.py", PY.format(TRY.format("ValueError", "pass")),
        PY.format(TRY.format("OSError", "pass"))),
    "answers whether it works": ("load.py", "def is_open(path):\n    read(path)\n\n\nx = 1\n",
        "def is_open(path):\n    read(path)\n    try:\n        parse(path)\n    except OSError:\n"
        "        return False\n\n\nx = 1\n"),
    "ends the loop": ("load.go", GO.format(""),
        GO.format("\tfor {\n\t\tif err := parse(path); err != nil {\n\t\t\tbreak\n\t\t}\n\t}\n")),
    "tells the client": ("load.go", GO.format(""),
        GO.format("\tif err := parse(path); err != nil {\n\t\tfmt.Fprintln(w, err)\n\t}\n")),
    "ends the process": ("load.go", GO.format(""),
        GO.format("\tif err := parse(path); err != nil {\n\t\tlog.Fatal(err)\n\t}\n")),
    "an error that was there": ("load.go", GO.format(""),
        GO.format("\twalk(func() {\n\t\tif err != nil {\n\t\t\treturn\n\t\t}\n\t})\n")),
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
