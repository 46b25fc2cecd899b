"""Claims about whole files, formatting, order and the absence of sources."""

import re

import pytest

from crscore.claims.structural.plugin import create
from crscore.diff.parse import parse_diff
from tests.helpers.changes import change, claims, said, texts

HEAD = "diff --git a/{0} b/{1}\n"


def of(text: str) -> list[str]:
    return [item.text for item in create().generate([parse_diff(text)])[0].references]


FILES = {
    "added": (
        HEAD.format("tool.py", "tool.py") + "new file mode 100644\n--- /dev/null\n+++ b/tool.py\n"
        "@@ -0,0 +1,2 @@\n+import os\n+import sys\n",
        "A new file `tool.py` with 2 lines has been added.",
    ),
    "deleted": (
        HEAD.format("tool.py", "tool.py")
        + "deleted file mode 100644\n--- a/tool.py\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-import os\n",
        "The file `tool.py` has been deleted.",
    ),
    "renamed": (
        HEAD.format("old.py", "new.py")
        + "similarity index 100%\nrename from old.py\nrename to new.py\n",
        "The file `old.py` has been renamed to `new.py`.",
    ),
    "moved": (
        HEAD.format("a/x.py", "b/x.py")
        + "similarity index 100%\nrename from a/x.py\nrename to b/x.py\n",
        "The file `x.py` has been moved from `a/x.py` to `b/x.py`.",
    ),
    "copied": (
        HEAD.format("a.py", "b.py") + "similarity index 100%\ncopy from a.py\ncopy to b.py\n",
        "The file `b.py` has been made as a copy of `a.py`.",
    ),
    "executable": (
        HEAD.format("run.sh", "run.sh") + "old mode 100644\nnew mode 100755\n",
        "The file `run.sh` is now executable.",
    ),
    "not executable": (
        HEAD.format("run.sh", "run.sh") + "old mode 100755\nnew mode 100644\n",
        "The file `run.sh` is no longer executable.",
    ),
    "binary": (
        HEAD.format("a.png", "a.png") + "index 1111111..2222222 100644\n"
        "Binary files a/a.png and b/a.png differ\n",
        "The binary file `a.png` has changed.",
    ),
    "submodule": (
        HEAD.format("lib", "lib") + "index 1111111..2222222 160000\n--- a/lib\n+++ b/lib\n"
        "@@ -1 +1 @@\n-Subproject commit 1111111111111111111111111111111111111111\n"
        "+Subproject commit 2222222222222222222222222222222222222222\n",
        "The submodule `lib` now points to another commit.",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_file_level_change_is_told(case: str) -> None:
    text, sentence = FILES[case]
    assert sentence in of(text)


def test_deleted_file_implies_that_its_users_break() -> None:
    assert "Code that still refers to `tool.py` will no longer find it." in of(FILES["deleted"][0])


def test_pure_formatting_is_one_claim_that_says_so() -> None:
    old = "def f(a, b):\n    return call(a,\n                b)\n"
    new = "def f(a, b):\n    return call(\n        a,\n        b)\n"
    assert texts(change("a.py", old, new)) == [
        "Only the formatting has changed in the function `f`: line breaks and spaces, "
        "not the code itself."
    ]


def test_blank_lines_alone_are_called_blank_lines() -> None:
    assert texts(change("a.py", "a = 1\nb = 2\n", "a = 1\n\nb = 2\n")) == [
        "Only blank lines have changed."
    ]


def test_same_exchange_in_several_places_is_one_claim() -> None:
    old = "def f(a):\n    one(a, old_name)\n    two(a, old_name)\n    three(a, old_name)\n"
    made = change("a.py", old, old.replace("old_name", "new_name"))
    exchanged = [text for text in texts(made) if "`old_name` has been replaced" in text]
    assert exchanged == [
        "`old_name` has been replaced with `new_name` in 3 places in the function `f`."
    ]


def test_code_put_into_a_condition_is_not_told_as_removed() -> None:
    old = "def f(a):\n    send(a)\n"
    new = "def f(a):\n    if a:\n        send(a)\n"
    told = texts(change("a.py", old, new))
    assert any("condition" in text and "`a`" in text and "calls `send`" in text for text in told)
    assert not any("no longer" in text for text in told)


def test_patch_without_sources_takes_the_place_from_the_hunk_heading() -> None:
    text = "@@ -10,2 +10,3 @@ def load(path):\n     a = 1\n+    send(a)\n     b = 2\n"
    told = create().generate([parse_diff(text, path="a.py")])[0].references
    assert any("The function `load` now calls `send`" in item.text for item in told)


def test_function_added_behind_the_hunk_s_heading_is_not_put_inside_it() -> None:
    text = "@@ -10,2 +10,6 @@ def load(path):\n     a = 1\n     return a\n+\n+\n+def read(path):\n"
    text += "+    return open(path)\n"
    told = [item.text for item in create().generate([parse_diff(text, path="a.py")])[0].references]
    assert any("new function `read` has been added" in item for item in told)
    assert not any("`load`" in item for item in told)


def test_bare_hunk_of_no_known_language_is_recognized_by_its_grammar() -> None:
    text = "@@ -1,2 +1,2 @@\n public class A {\n-  int size() { return 1; }\n"
    text += "+  int size() { return 2; }\n"
    told = create().generate([parse_diff(text)])[0].references
    assert any(
        "method `size` of `A` now returns" in item.text and "`2`" in item.text for item in told
    )


def test_configuration_is_left_to_the_keyed_reader() -> None:
    made = change("a.toml", 'name = "a"\nsize = 1\n', 'name = "a"\nsize = 2\n')
    assert said(made, "`size`", "2")


def test_claim_names_only_what_the_change_has() -> None:
    old = "def load(path):\n    return open(path)\n"
    new = "def load(path, mode):\n    return open(path, mode)\n"
    source = old + new
    for item in claims(change("a.py", old, new)):
        assert all(name in source for name in item.identifiers), item


def test_no_diffs_give_no_claims() -> None:
    assert create().generate([]) == ()


def test_identity_has_name_and_version() -> None:
    assert re.fullmatch(r"structural@1\+[0-9a-f]{8}", create().identity)


def test_implications_are_marked_and_weigh_less_than_the_change() -> None:
    made = claims(change("a.py", "def f(a):\n    pass\n", "def f(a, b):\n    pass\n"))
    change_weight = max(item.weight for item in made if item.kind.value == "claim")
    assert all(item.weight < change_weight for item in made if item.kind.value == "implication")


IMPLIED = {
    "removed function": (
        "def load():\n    pass\n\n\nx = 1\n",
        "x = 1\n",
        "`load` will no longer work",
    ),
    "renamed function": (
        "def load():\n    return 1\n",
        "def read():\n    return 1\n",
        "still calls `load` breaks",
    ),
    "removed parameter": (
        "def load(a, b):\n    return 1\n",
        "def load(a):\n    return 1\n",
        "still pass `b` break",
    ),
    "changed default": (
        "def load(a=1):\n    return 1\n",
        "def load(a=2):\n    return 1\n",
        "rely on the default of `a`",
    ),
    "async": ("def f():\n    pass\n", "async def f():\n    pass\n", "have to await"),
    "broad except": (
        "def f():\n    try:\n        g()\n    except KeyError:\n        pass\n",
        "def f():\n    try:\n        g()\n    except Exception:\n        pass\n",
        "is broad and can hide unexpected errors",
    ),
    "timeout": ("TIMEOUT = 10\n", "TIMEOUT = 60\n", "should be justified"),
    "unused import": ("import os\n", "import os\nimport sys\n", "`sys` is not used"),
    "undocumented": (
        "x = 1\n",
        "x = 1\n\n\ndef load(a):\n    return a\n",
        "`load` has no documentation",
    ),
    "null check removed": (
        "def f(a):\n    if a is not None:\n        g(a)\n",
        "def f(a):\n    g(a)\n",
        "may fail when",
    ),
}


@pytest.mark.parametrize("case", IMPLIED)
def test_implication_is_told_where_its_rule_holds(case: str) -> None:
    old, new, words = IMPLIED[case]
    assert said(change("a.py", old, new), words), texts(change("a.py", old, new))


def test_documented_function_is_not_called_undocumented() -> None:
    new = 'x = 1\n\n\ndef load(a):\n    """Load it."""\n    return a\n'
    assert not said(change("a.py", "x = 1\n", new), "no documentation")


def test_private_function_needs_no_documentation() -> None:
    new = "x = 1\n\n\ndef _load(a):\n    return a\n"
    assert not said(change("a.py", "x = 1\n", new), "no documentation")
