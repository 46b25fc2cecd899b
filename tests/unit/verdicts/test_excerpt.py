from __future__ import annotations

from typing import Any

from crscore.diff import parse
from crscore.records import Comment, Diff, Side
from crscore.verdicts.excerpt import Excerpt, Excerpts


def change_of(*files: tuple[str, list[str]]) -> Diff:
    """Return a change that adds files."""
    patches = [
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
        for path, lines in files
    ]
    return parse.parse_diff("".join(patches))


def find(diff: Diff, remark: str, max_chars: int = 8_000, **place: Any) -> Excerpt:
    excerpt = Excerpts(diff, max_chars).find(remark, Comment(body=remark, **place))
    assert excerpt is not None
    return excerpt


def texts(excerpt: Excerpt) -> list[str]:
    return [line.text for line in excerpt.lines]


LONG = [f"value_{number} = {number}" for number in range(1, 2_001)]


def test_long_hunk_is_cut_around_the_line_of_the_comment() -> None:
    excerpt = find(change_of(("a.py", LONG)), "Wrong.", 400, path="a.py", line=1_000)
    lines = texts(excerpt)
    assert "value_1000 = 1000" in lines
    assert sum(map(len, lines)) <= 400
    assert excerpt.passages[0].title.endswith("(a part of it)")


def test_hunk_that_shares_rare_words_comes_first_without_a_place() -> None:
    diff = change_of(("a.py", LONG), ("b.py", ["def refund(order):", "    pass"]))
    excerpt = find(diff, "`refund` takes no amount", 400)
    assert texts(excerpt)[0] == "def refund(order):"
    assert excerpt.location.path == "b.py"


def test_comment_on_a_file_is_about_its_hunks_alone() -> None:
    diff = change_of(("a.py", ["x = 1"]), ("b.py", ["y = 2"]))
    assert texts(find(diff, "The value is wrong", path="b.py")) == ["y = 2"]
    assert Excerpts(diff, 800).find("x", Comment(body="x", path="c.py", line=1)) is None


PATCH = """\
diff --git a/{0} b/{1}
rename from {0}
rename to {1}
--- a/{0}
+++ b/{1}
@@ -2 +2 @@
-  old_call
+  new_call
"""


def test_file_without_a_grammar_is_shown_around_the_line() -> None:
    diff = parse.parse_diff(PATCH.format("a.cmake", "b.cmake"))
    sources = {"b.cmake": ("first\n  old_call\nlast\n", "first\n  new_call\nlast\n")}
    excerpt = find(parse.with_sources(diff, sources), "x", path="b.cmake", line=2)
    assert excerpt.passages[1].title == "The file around it, in the new version of b.cmake:"
    assert "last" in texts(excerpt)


def test_old_side_is_read_from_the_old_file_under_its_old_path() -> None:
    diff = parse.parse_diff(PATCH.format("a.py", "b.py"))
    sources = {"b.py": ("def f():\n  old_call\n", "def f():\n  new_call\n")}
    whole = parse.with_sources(diff, sources)
    excerpt = find(whole, "x", path="b.py", line=2, side=Side.OLD)
    assert (excerpt.location.path, excerpt.location.side) == ("a.py", Side.OLD)
    assert excerpt.passages[1].title == "The function around it, in the old version of a.py:"
    assert [line.text for line in excerpt.passages[1].lines] == ["def f():", "  old_call"]


def test_function_that_the_hunk_shows_is_not_repeated() -> None:
    lines = ["def f():", "    return 1"]
    diff = change_of(("a.py", lines))
    whole = parse.with_sources(diff, {"a.py": (None, "def f():\n    return 1\n")})
    assert texts(find(whole, "x", path="a.py", line=2)) == lines


def test_line_of_an_older_version_is_not_looked_up() -> None:
    diff = change_of(("a.py", LONG))
    excerpt = find(diff, "x", path="a.py", line=900, outdated=True)
    assert excerpt.location.start == 1


def test_no_room_gives_no_excerpt() -> None:
    diff = change_of(("a.py", ["x" * 900]))
    assert Excerpts(diff, 100).find("x", Comment(body="x")) is None
