"""Division of a change into topics, and their order."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crscore.claims.structural.plain_files import find_section_topics
from crscore.claims.structural.topics import changes_of
from crscore.diff.parse import parse_diff
from crscore.records import Comment, Diff, LineKind, ReferenceKind, Topic, TopicState
from crscore.review.read import find_scope
from crscore.scoring.cells import in_scope
from crscore.syntax.change import ParsedFile
from crscore.syntax.grammars import language_of
from tests.helpers.changes import change, claims, texts, together

PATHS = ("a.py", "A.java", "a.js", "a.ts", "a.tsx", "a.go", "a.c", "a.cpp", "A.cs", "a.rb", "a.php",
         "a.md", "a.yaml", "a.json", "a.css", "LICENSE")  # fmt: skip
TEXT = """
def f(a):¶    return g(a)|class A:¶    x = 1¶¶    def go(self):¶        run()|import os|// one|
class A {¶  void f(int a) {¶    g(a);¶  }¶  int b;¶}|function f() {¶  return 1;¶}|# two|/* a¶ b */|
int f(int a)¶{¶  if (a) {¶    return 1;¶  }¶}|func F(a int) error {¶\treturn nil¶}|}|{|(|end||
module M¶  class B¶  end¶end|it('runs', () => {¶  run();¶});|name: one¶size: 2|a {¶  b: c;¶}|
{¶  "a": {¶    "b": 1¶  }¶}|@Test¶void t() {¶}|def test_a():¶    assert b|x = [¶  1,¶  2,¶]|
struct s {¶  int a;¶};|switch (a) {|try {¶  f();¶} catch (E e) {¶}|a ? b : c;|Title¶=====|## Part|
def f(a)¶  g(a)¶end|<?php
"""
BLOCKS = st.sampled_from(TEXT.strip().replace("|\n", "|").replace("¶", "\n").split("|"))
SOURCE = st.lists(BLOCKS, min_size=1, max_size=10).map(
    lambda blocks: "x\n" + "\n".join(blocks) + "\n"
)


def lines_of(diff: Diff) -> set[tuple[str, str, int]]:
    """Changed lines: path, side and number."""
    return {
        (file.path if line.kind is LineKind.ADDED else file.old_path or file.path,
         "new" if line.kind is LineKind.ADDED else "old", line.new or line.old or 0)
        for file in diff.files
        for line in file.lines(LineKind.ADDED, LineKind.REMOVED)
    }  # fmt: skip


def divided(diff: Diff) -> list[list[tuple[str, str, int]]]:
    """The lines of each topic of a file."""
    (file,) = diff.files
    language = language_of(file.language)
    old, new = ParsedFile(file, language).outlined
    found = (
        changes_of(file, language, old, new)
        if language is not None
        else [one for one, _ in find_section_topics(file, old, new)]
    )
    return [
        [
            *((file.path, "new", at) for at in one.added),
            *((file.path, "old", at) for at in one.removed),
        ]
        for one in found
    ]


def topics(diff: Diff) -> list[Topic]:
    return list(dict.fromkeys(claim.topic for claim in claims(diff) if claim.topic is not None))


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(PATHS),
    old=SOURCE,
    new=SOURCE,
    whole=st.booleans(),
    context=st.integers(0, 4),
)
def test_every_changed_line_is_in_exactly_one_topic_and_claims_stay_on_changed_lines(
    path: str, old: str, new: str, whole: bool, context: int
) -> None:
    assume(old != new)
    diff = change(path, old, new, sources=whole, context=context)
    lines = lines_of(diff)
    blank = {
        (path, side, number)
        for line in diff.lines(LineKind.ADDED, LineKind.REMOVED)
        for side, number in (("new", line.new), ("old", line.old))
        if not line.text.strip()
    }
    held = [place for one in divided(diff) for place in one]
    assert len(held) == len(set(held))
    assert {place for place in lines if place not in blank} <= set(held) <= lines
    for claim in claims(diff):
        assert claim.topic is not None
        for span in claim.spans:
            assert {(span.path, span.side.value, at) for at in (span.start, span.end)} <= lines


def members(count: int) -> str:
    return "class Pool:\n" + "".join(
        f"    def go_{at}(self):\n        return run({at})\n" for at in range(count)
    )


def test_new_class_of_some_screens_is_one_topic_with_its_members() -> None:
    (topic,) = topics(change("a.py", "x = 1\n", "x = 1\n\n\n" + members(59)))
    assert (topic.name, topic.noun, topic.state, topic.lines) == ("Pool", "class", "new", 119)


def test_larger_new_class_is_split_by_its_members() -> None:
    found = topics(change("a.py", "x = 1\n", "x = 1\n\n\n" + members(60)))
    assert len(found) == 61
    assert {topic.noun for topic in found} == {"class", "function"}


def test_topics_of_a_split_class_count_each_line_once() -> None:
    diff = change("a.py", "x = 1\n", "x = 1\n" + members(60))
    assert sum(topic.lines for topic in topics(diff)) == len(lines_of(diff))


def test_removed_class_of_any_size_is_one_topic() -> None:
    (topic,) = topics(change("a.py", "x = 1\n\n\n" + members(80), "x = 1\n"))
    assert (topic.name, topic.state, topic.lines) == ("Pool", "removed", 161)


def test_class_that_existed_is_split_by_its_members() -> None:
    diff = change("a.py", members(3), members(3).replace("run(", "start("))
    assert [topic.name for topic in topics(diff)] == ["Pool.go_0", "Pool.go_1", "Pool.go_2"]


BODY = (
    "(a):\n    first = read(a)\n    second = parse(first, 'r')\n    return merge(first, second)\n"
)
OTHER = (
    "(a):\n    for item in a:\n        if item.open:\n            item.close()\n    a.clear(all)\n"
)
# Situation -> old, new, states
RENAMES = {
    "body is the same": (f"def load{BODY}", f"def fetch{BODY}", ["renamed"]),
    "body is another": (f"def load{BODY}", f"def fetch{OTHER}", ["new", "removed"]),
    "old name is still there": (
        f"def load{BODY}\n\nload(1)\n", f"def fetch{BODY}\n\nload(1)\n", ["changed"]),
    "new name was there": (
        f"def load{BODY}\n\nfetch(1)\n", f"def fetch{BODY}\n\nfetch(1)\n", ["changed"]),
    "body is too small for a proof": (
        "def load(a):\n    go()\n", "def fetch(a):\n    go()\n", ["new", "removed"]),
    "best of two": (
        f"def load{BODY}\n\ndef shut{OTHER}", f"def drop{OTHER}\n\ndef fetch{BODY}",
        ["renamed", "renamed"]),
    "type with its members": (
        f"class A:\n  x = go(1, 2, 3, 4, 5, 6)\n\n  def load{BODY}",
        f"class B:\n  x = go(1, 2, 3, 4, 5, 6)\n\n  def load{BODY}", ["renamed"]),
}  # fmt: skip


@pytest.mark.parametrize("case", RENAMES)
def test_renaming_needs_a_proof(case: str) -> None:
    old, new, states = RENAMES[case]
    diff = change("a.py", old, new)
    assert sorted(topic.state.value for topic in topics(diff)) == states, texts(diff)


def test_each_of_several_renamed_functions_is_found_by_its_body() -> None:
    old, new, _ = RENAMES["best of two"]
    sentences = texts(change("a.py", old, new))
    assert "The function `load` in `a.py` has been renamed to `fetch`." in sentences
    assert "The function `shut` in `a.py` has been renamed to `drop`." in sentences


def test_function_that_moved_to_another_file_is_one_topic_with_both_places() -> None:
    gone = change("a.py", f"x = 1\n\n\ndef load{BODY}", "x = 1\n")
    came = change("b.py", "y = 1\n", f"y = 1\n\n\ndef load{BODY}")
    (claim,) = claims(together(gone, came))
    assert claim.text == "The function `load` has moved from `a.py` to `b.py`."
    assert claim.topic is not None
    assert claim.topic.state is TopicState.MOVED
    assert {span.path for span in claim.spans} == {"a.py", "b.py"}


def test_function_of_the_same_name_and_another_body_has_not_moved() -> None:
    gone = change("a.py", f"x = 1\n\n\ndef load{BODY}", "x = 1\n")
    came = change("b.py", "y = 1\n", f"y = 1\n\n\ndef load{OTHER}")
    assert {topic.state.value for topic in topics(together(gone, came))} == {"new", "removed"}


CODE = change("src/a.py", "def f(a):\n    return a\n", "def f(a):\n    return a + 1\n")
MANY = "".join(f"line {at}\n" for at in range(400))
MADE = {
    "package-lock.json": MANY, "poetry.lock": MANY, "go.sum": MANY, "yarn.lock": MANY,
    "static/app.min.js": MANY, "dist/app.js.map": MANY, "data.js": "var a = '" + "x" * 9000 + "'\n",
    "api_pb2.py": MANY, "Form.Designer.cs": MANY, "vendor/a.go": MANY, "node_modules/a.js": MANY,
    "third_party/a.c": MANY, "__snapshots__/a.snap": MANY,
    "zz.go": "// Code generated by protoc-gen-go. DO NOT EDIT.\n" + MANY,
}  # fmt: skip


@pytest.mark.parametrize("path", MADE)
def test_generated_file_is_one_claim_after_those_of_code(path: str) -> None:
    references = claims(together(change(path, "", MADE[path]), CODE))
    (claim,) = [claim for claim in references if claim.spans[0].path == path]
    assert claim is references[-1]
    assert claim.weight < 0.1


@pytest.mark.parametrize(
    "path", ["src/locked.py", "src/vendors.py", "snapshots.py", "src/block.go"]
)
def test_file_with_such_a_name_is_code_like_any_other(path: str) -> None:
    references = claims(
        change(path, "", "def f(a):\n    return a\n" if path[-1] == "y" else "package a\n")
    )
    assert references[0].weight > 0.5


def test_code_comes_before_tests_and_tests_before_documents() -> None:
    body = "def {}(a):\n" + "".join(f"    step_{at}(a)\n" for at in range(10))
    diff = together(
        change("README.md", "", "# A\n" + "".join(f"Word {at} of it.\n" for at in range(10))),
        change("tests/test_a.py", "", body.format("test_a")),
        change("src/a.py", "", body.format("load")),
    )
    firsts = list(dict.fromkeys(claim.spans[0].path for claim in claims(diff)))
    assert firsts == ["src/a.py", "tests/test_a.py", "README.md"]


def test_claims_of_a_topic_share_it_and_are_sorted_by_weight() -> None:
    diff = change("a.py", "x = 1\n", "x = 1\n\n\n" + f"def load{OTHER}")
    references = claims(diff)
    assert len({claim.topic for claim in references}) == 1 < len(references)
    weights = [claim.weight for claim in references]
    assert weights == sorted(weights, reverse=True)


def test_implication_is_of_the_topic_of_its_claims() -> None:
    references = claims(change("a.py", "def f():\n    g(limit=1)\n", "def f():\n    g(limit=2)\n"))
    assert {claim.kind for claim in references} == {ReferenceKind.CLAIM, ReferenceKind.IMPLICATION}
    assert len({claim.topic for claim in references}) == 1


def test_several_new_tests_of_a_file_are_one_topic() -> None:
    new = "".join(
        f"def test_{name}():\n    assert {name}()\n\n\n" for name in ("one", "two", "three")
    )
    (topic,) = topics(change("tests/test_a.py", "x = 1\n", "x = 1\n\n\n" + new))
    assert topic.lines == 6


def test_lines_of_a_hunk_go_to_the_unit_that_git_names() -> None:
    text = "@@ -10,2 +10,6 @@ def load(path):\n     a = 1\n+    send(a)\n     b = 2\n+\n"
    found = topics(parse_diff(text + "+def read(a):\n+    return a\n", path="a.py"))
    assert Counter({topic.name: topic.lines for topic in found}) == {"load": 2, "read": 2}


def test_unit_in_another_place_of_its_file_has_only_moved() -> None:
    one = "def one(a):\n    return call(a)\n"
    two = "def two(b):\n    first(b)\n    return other(b, 2)\n"
    diff = change("a.py", f"{one}\n\n{two}", f"{two}\n\n{one}")
    assert [text for text in texts(diff) if text.startswith("Only the place of the function")]


@pytest.mark.parametrize(
    ("ending", "old", "new"),
    [
        ("py", "a = 1\nb = 1\n", "a = 1\nb = 2\n"),
        ("py", "import os\nx = 1\n", "import sys\nx = 1\n"),
        ("py", "def f(a):\n    b = 1\n" + "    c()\n" * 9 + "    return a\n",
         "def f(a):\n    b = 2\n" + "    c()\n" * 9 + "    return b\n"),
        ("java", "class A {\n  void f() {\n    g();\n  }\n}\n",
         "class A {\n  void f() {\n    h();\n  }\n}\n"),
        ("yaml", "a: 1\nb: 2\n", "a: 1\nb: 3\n"),
        ("md", "# T\n\nHello wrld\n", "# T\n\nHello world\n"),
        ("py", "def f():\n    # a\n    return 1\n", "def f():\n    # b\n    return 1\n"),
    ],
)  # fmt: skip
def test_same_edit_in_several_files_is_about_each_of_its_places(ending, old, new):
    diff = together(*(change(f"{name} #/m.{ending}", old, new) for name in "cab"))
    references = claims(diff)
    for path, side, line in lines_of(diff):
        (file,) = (file for file in diff.files if file.path == path)
        scope = find_scope(Comment(body="", path=path, line=line, side=side), diff)
        rows = [row for row in references if in_scope(row, scope, file)]
        assert [row.kind for row in rows].count(ReferenceKind.CLAIM) >= 1, (path, side, line)


def test_claim_of_the_same_edit_is_about_its_own_hunk_of_each_file():
    old = "def f(a):\n    b = 1\n" + "    c()\n" * 9 + "    return a\n"
    new = "def f(a):\n    b = 2\n" + "    c()\n" * 9 + "    return b\n"
    first, second = (change(f"{name}.py", old, new) for name in "ab")
    expected = {(claim.text, span.start) for claim in claims(first) for span in claim.spans}
    both = claims(together(first, second))
    for path in ("a.py", "b.py"):
        spans = [
            (claim.text, span.start) for claim in both for span in claim.spans if span.path == path
        ]
        assert {
            (text.replace(", and so in 1 more place", ""), at) for text, at in spans
        } == expected
