"""A claim for people and its reading for the encoder; claims over many declarations."""

from crscore.claims.structural.plugin import create
from crscore.diff import parse
from crscore.records import PseudoReference, ReferenceKind
from tests.helpers.changes import change, claims


def made(path: str, old: str, new: str) -> tuple[PseudoReference, ...]:
    return claims(change(path, old, new))


def find(found: tuple[PseudoReference, ...], *words: str) -> PseudoReference:
    (one,) = [ref for ref in found if all(word in ref.text for word in words)]
    return one


CONDITION = made(
    "a.py",
    "def load(count):\n    if count > 1:\n        return count\n",
    "def load(count):\n    if count >= cap(count):\n        return count\n",
)


def test_people_get_the_code_as_it_stands() -> None:
    assert "`count >= cap(count)`" in find(CONDITION, "condition", "now checks").text


def test_encoder_gets_the_code_in_words() -> None:
    reading = find(CONDITION, "condition", "now checks").reading
    assert "count is at least cap of count" in reading
    assert ">=" not in reading


def test_every_claim_names_its_place_for_people_and_one_does_for_the_encoder() -> None:
    found = made(
        "a.py",
        "def load(a, b):\n    if a > 1:\n        return a\n    while b > 2:\n        b -= 1\n",
        "def load(a, b):\n    if a > 5:\n        return a\n    while b > 7:\n        b -= 1\n",
    )
    changed = [ref for ref in found if ref.text.startswith(("The condition", "The loop"))]
    assert len(changed) == 2
    assert all("`load`" in ref.text for ref in changed)
    assert sum("`load`" in (ref.reading or ref.text) for ref in changed) == 1


def test_reading_is_empty_where_the_text_serves_both() -> None:
    found = made("a.py", "def load(a):\n    return a\n", "def read(a):\n    return a\n")
    assert find(found, "renamed").reading == ""


def test_many_new_siblings_are_one_claim() -> None:
    names = ["first", "second", "third", "fourth", "fifth"]
    functions = "".join(f"\n\ndef {name}():\n    return {i}\n" for i, name in enumerate(names))
    found = made("a.py", "x = 1\n", f"x = 1\n{functions}")
    claim = find(found, "5 new functions have been added", "`first`", "`fifth`")
    assert not [ref for ref in found if ref.text.startswith("A new function")]
    assert {span.start for span in claim.spans} == {4, 8, 12, 16, 20}


def test_few_new_siblings_have_a_claim_each() -> None:
    new = "x = 1\n\n\ndef load():\n    return 1\n\n\ndef save():\n    return 2\n"
    found = made("a.py", "x = 1\n", new)
    assert find(found, "A new function `load`")
    assert find(found, "A new function `save`")


def test_removed_siblings_are_one_claim() -> None:
    old = "class A {\n" + "".join(f"  int f{i};\n" for i in range(5)) + "}\n"
    assert find(made("A.java", old, "class A {\n}\n"), "5 fields have been removed", "`f0`", "`f4`")


def test_handler_inside_a_new_loop_is_told_and_its_breadth_is_an_implication() -> None:
    found = made(
        "a.py",
        "def load(url):\n    return get(url)\n",
        "def load(url):\n    for _ in range(3):\n        try:\n            return get(url)\n"
        "        except Exception:\n            continue\n",
    )
    assert find(found, "rror handling for `Exception`", "`load`")
    broad = find(found, "Catching `Exception` is broad")
    assert broad.kind is ReferenceKind.IMPLICATION


def test_parameter_stored_under_its_name_weighs_little() -> None:
    found = made(
        "a.py",
        "class A:\n    def __init__(self, a):\n        self.a = a\n",
        "class A:\n    def __init__(self, a, b):\n        self.a = a\n        self.b = b\n",
    )
    stored, parameter = find(found, "sets `self.b`"), find(found, "parameter `b`", "added")
    assert stored.weight < parameter.weight / 1.5


NEW_FUNCTION = "def load(url):\n    return get(url)\n"


def test_new_function_without_a_test_in_the_diff_asks_for_one() -> None:
    assert find(made("a.py", "x = 1\n", f"x = 1\n\n\n{NEW_FUNCTION}"), "needs a test")


def test_new_function_with_a_test_in_the_diff_asks_for_none() -> None:
    patch = (
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1,4 @@\n x = 1\n+\n+def load(url):\n+    return get(url)\n"
        "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1,4 @@\n y = 1\n"
        "+\n+def test_load():\n+    assert load('u')\n"
    )
    (found,) = create().generate([parse.parse_diff(patch)])
    assert [ref for ref in found.references if "`load`" in ref.text]
    assert not [ref for ref in found.references if "needs a test" in ref.text]


def test_import_used_in_another_hunk_is_not_called_unused() -> None:
    patch = (
        "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n import os\n+import time\n x = 1\n"
        "@@ -20,2 +21,3 @@\n def f():\n+    time.sleep(1)\n     return 1\n"
    )
    (found,) = create().generate([parse.parse_diff(patch)])
    assert not [ref for ref in found.references if "not used" in ref.text]


def test_topic_of_a_file_names_it_and_stands_on_its_changed_lines() -> None:
    found = made("a.py", "x = 1\n", "x = 1\nretry_delay = 2\nbackoff = retry_delay\n")
    topic = find(found, "mainly about", "`retry_delay`", "`a.py`")
    assert [(span.start, span.end) for span in topic.spans] == [(2, 3)]
    assert "a.py" not in topic.reading


def test_claim_about_a_file_stands_on_that_file() -> None:
    header = "diff --git a/old.py b/new.py\nsimilarity index 100%\n"
    patch = f"{header}rename from old.py\nrename to new.py\n"
    (found,) = create().generate([parse.parse_diff(patch)])
    spans = {(span.path, span.start) for ref in found.references for span in ref.spans}
    assert spans == {("new.py", 0)}
