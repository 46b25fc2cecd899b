from __future__ import annotations

from typing import Any

import pytest

from crscore.diff import parse
from crscore.readers.excerpt import Excerpt, Excerpts
from crscore.records import Comment, Diff, Side


def change_of(*files: tuple[str, list[str]]) -> Diff:
    """Return a change that adds files."""
    patches = [
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
        for path, lines in files
    ]
    return parse.parse_diff("".join(patches))


def find(diff: Diff, remark: str, max_chars: int = 8_000, **place: Any) -> Excerpt:
    excerpt = Excerpts(diff).find(remark, Comment(body=remark, **place), max_chars)
    assert excerpt is not None
    return excerpt


def texts(excerpt: Excerpt) -> list[str]:
    return [line.sign + line.text for line in excerpt.lines]


LONG = [f"value_{number} = {number}" for number in range(1, 2_001)]


def test_long_hunk_is_cut_around_the_line_of_the_comment() -> None:
    excerpt = find(change_of(("a.py", LONG)), "Wrong.", 400, path="a.py", line=1_000)
    lines = texts(excerpt)
    assert "+value_1000 = 1000" in lines
    assert sum(map(len, lines)) <= 400
    assert excerpt.passages[0].title.endswith("(a part of it)")


def test_hunk_with_rare_words_comes_first_for_a_comment_without_a_line() -> None:
    diff = change_of(("a.py", LONG), ("b.py", ["def refund(order):", "    pass"]))
    excerpt = find(diff, "`refund` takes no amount", 400)
    assert texts(excerpt)[0] == "+def refund(order):"
    assert excerpt.location.path == "b.py"


def test_comment_on_a_file_shows_other_hunks_only_for_its_rare_words() -> None:
    diff = change_of(("a.py", ["sum_of_items = 1"]), ("b.py", ["y = 2"]))
    assert texts(find(diff, "The value is wrong", path="b.py")) == ["+y = 2"]
    both = ["+y = 2", "+sum_of_items = 1"]
    assert texts(find(diff, "Use `sum_of_items`", path="b.py")) == both


def test_excerpt_for_a_file_outside_of_the_change_names_the_changed_files() -> None:
    diff = change_of(("a.py", ["x = 1"]), ("b.py", ["y = 2"]))
    assert find(diff, "It leaks", path="c.py", line=1).text == "Changed files: a.py, b.py"


OLD = [
    "import os",
    "",
    "",
    "def f(a):",
    "    b = a",
    "    return b",
    "",
    "",
    "def g():",
    "    f(1)",
]
PATCH = """\
diff --git a/a.py b/b.py
rename from a.py
rename to b.py
--- a/a.py
+++ b/b.py
@@ -5 +5,2 @@
-    b = a
+    b = a + 1
+    log(b)
"""


@pytest.fixture
def whole() -> Diff:
    new = [*OLD[:4], "    b = a + 1", "    log(b)", *OLD[5:]]
    sources = {"b.py": ("\n".join(OLD), "\n".join(new))}
    return parse.with_sources(parse.parse_diff(PATCH), sources)


BOTH = [" def f(a):", "-    b = a", "+    b = a + 1", "+    log(b)", "     return b"]


@pytest.mark.parametrize(
    "place", [{"line": 5}, {"line": 4}, {"line": 5, "side": Side.OLD}, {"line": 6}, {}]
)
def test_function_around_the_line_is_shown_once_with_both_versions(
    whole: Diff, place: dict[str, Any]
) -> None:
    excerpt = find(whole, "x", path="b.py", **place)
    assert texts(excerpt) == BOTH
    assert excerpt.passages[0].title == "b.py, function f, from line 4:"


def test_removed_line_is_found_under_the_old_path(whole: Diff) -> None:
    excerpt = find(whole, "x", path="b.py", line=5, side=Side.OLD)
    assert (excerpt.location.path, excerpt.location.side) == ("a.py", Side.OLD)
    assert excerpt.location in [line.span for line in excerpt.lines]


def test_lines_of_the_file_with_names_in_the_comment_are_shown(whole: Diff) -> None:
    excerpt = find(whole, "`g` passes an int to `f` (`os`)", path="b.py", line=5)
    assert texts(excerpt) == BOTH  # names of one or two letters are everywhere
    renamed = parse.with_sources(
        parse.parse_diff(PATCH),
        {"b.py": (None, "\n".join([*OLD[:4], "    b = a + 1", "    log(b)", "", "def give():"]))},
    )
    assert texts(find(renamed, "`give` leaks", path="b.py", line=5))[-1] == " def give():"


def test_file_without_a_grammar_is_shown_around_the_line() -> None:
    patch = "--- a/a.cmake\n+++ b/a.cmake\n@@ -2 +2 @@\n-  old\n+  new\n"
    diff = parse.with_sources(
        parse.parse_diff(patch), {"a.cmake": ("first\n  old\nlast", "first\n  new\nlast")}
    )
    excerpt = find(diff, "x", path="a.cmake", line=2)
    assert texts(excerpt) == [" first", "-  old", "+  new", " last"]


def test_line_of_an_older_version_is_not_looked_up() -> None:
    diff = change_of(("a.py", LONG))
    excerpt = find(diff, "x", path="a.py", line=900, outdated=True)
    assert excerpt.location.start == 1


CUT = "@@ -1,9 +1,9 @@\n first\n-second\n+other\n"
HUNK = "@@ -5 +5,2 @@\n-    b = a\n+    b = a + 1"


def test_comment_on_a_stored_hunk_is_on_its_last_line(whole: Diff) -> None:
    stored = find(whole, "x", path="b.py", line=1, outdated=True, diff_hunk=HUNK)
    assert (stored.is_located, stored.location.start) == (True, 5)
    cut = find(parse.parse_diff(CUT), "x")
    assert (cut.is_located, cut.location.start) == (True, 2)
    assert not find(whole, "x").is_located


def test_change_without_lines_has_no_excerpt() -> None:
    diff = parse.parse_diff("diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n")
    assert Excerpts(diff).find("x", Comment(body="x"), 1_000) is None
