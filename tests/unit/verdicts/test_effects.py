from __future__ import annotations

import pytest

from crscore.diff.parse import parse_diff, with_sources
from crscore.records import Comment, Effect, Side
from crscore.verdicts.suggestions import judge_in_change

FILE = """import os


def total(items):
    result = 0
    for item in items:
        result += item  # add
    return result
"""
LINES = FILE.split("\n")
DIFF = """--- a/app.py
+++ b/app.py
@@ -4,5 +4,5 @@ import os
 def total(items):
-    result = 1
+    result = 0
     for item in items:
         result += item  # add
     return result
"""


ENDINGS = {
    "python": "py", "java": "java", "javascript": "js", "typescript": "ts", "go": "go", "c": "c",
    "cpp": "cpp", "csharp": "cs", "php": "php", "ruby": "rb", "yaml": "yml",
}  # fmt: skip


def judge_in_file(code, lines, span, language):
    """Judge a suggestion for lines of a file that the change adds."""
    path = f"app.{ENDINGS.get(language, language)}"
    added = "\n".join(lines).splitlines()
    diff = parse_diff(
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(added)} @@\n"
        + "".join(f"+{line}\n" for line in added)
    )
    (file,) = with_sources(diff, {path: (None, "\n".join(lines))}).files
    comment = Comment(body="", path=path, start_line=span.start + 1, line=span.stop)
    return judge_in_change(code, comment, file)


def in_file(code, first, last, language="python", lines=LINES):
    return judge_in_file(code, lines, range(first - 1, last), language)


@pytest.mark.parametrize(
    ("code", "lines", "effect"),
    [
        ("    result = 0", (5, 5), Effect.NOTHING),
        ("    result = 0   ", (5, 5), Effect.WHITE_SPACE),
        ("    result  =  0", (5, 5), Effect.WHITE_SPACE),
        ("        result += item  # sum up", (7, 7), Effect.COMMENTS),
        ("        result += item", (7, 7), Effect.COMMENTS),
        ("    result = 1", (5, 5), Effect.BEHAVIOUR),
        ("        result -= item  # add", (7, 7), Effect.BEHAVIOUR),
        ("    for one in items:\n        result += one  # add", (6, 7), Effect.NAMES),
        ("    for one in  items:\n        result+=one", (6, 7), Effect.NAMES),
        # One use is renamed and the others are not.
        ("    total = 0", (5, 5), Effect.BEHAVIOUR),
        ("    for item in list(items):", (6, 6), Effect.BEHAVIOUR),
        ("", (7, 7), Effect.BEHAVIOUR),
    ],
)
def test_effect(code, lines, effect):
    suggestion = in_file(code, *lines)
    assert (suggestion.effect, suggestion.applies) == (effect, True)


def test_indentation_that_has_a_meaning_is_behaviour():
    suggestion = in_file("        return result", 8, 8)
    assert (suggestion.effect, suggestion.parses) == (Effect.BEHAVIOUR, True)


def test_broken_syntax_is_reported():
    assert in_file("    for item in items", 6, 6).parses is False
    assert in_file("    for item in reversed(items):", 6, 6).parses is True


# The grammars insert a hidden line break at the end of these, which is no error.
@pytest.mark.parametrize(
    ("language", "lines", "code", "parses"),
    [
        ("c", ["#include <stdio.h>", "int level = 1;"], "#define LEVEL 1", True),
        ("c", ["int level = 1;", "#include <stdio.h>"], "int level = ;", False),
        ("go", ["\tlog.Print(data)", "\treturn err"], "\tlog.Fatal(err)", True),
    ],
)
def test_hidden_line_break_at_the_end_is_no_error(language, lines, code, parses):
    at = 1 if parses else 0
    assert judge_in_file(code, lines, range(at, at + 1), language).parses is parses


def test_file_that_did_not_parse_is_not_the_fault_of_a_suggestion():
    lines = ["def (:", "a = 1", ""]
    suggestion = judge_in_file("a = 2", lines, range(1, 2), "python")
    assert (suggestion.parses, suggestion.reason) == (None, "the code around it does not parse")
    mended = judge_in_file("def f():", [lines[0], "    a = 1"], range(0, 1), "python")
    assert mended.parses is True


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("java", "int a = 1;", "int  a=1 ;"),
        ("javascript", "let a = 1;", "let a=1;"),
        ("typescript", "let a: number = 1;", "let a:number=1;"),
        ("go", "x := 1", "x:=1"),
        ("c", "int a = 1;", "int a=1;"),
        ("cpp", "auto a = 1;", "auto a=1;"),
        ("csharp", "var a = 1;", "var a=1;"),
        ("php", "<?php $a = 1;", "<?php $a=1;"),
        ("ruby", "a = 1", "a=1"),
    ],
)
def test_white_space_in_every_language(language, old, new):
    suggestion = judge_in_file(new, [old, ""], range(0, 1), language)
    assert (suggestion.effect, suggestion.parses) == (Effect.WHITE_SPACE, True)
    assert judge_in_file(new.replace("1", "2"), [old], range(0, 1), language).effect is (
        Effect.BEHAVIOUR
    )


def test_block_on_lines_that_the_diff_shows_only_in_part_does_not_apply():
    suggestion = in_change("x = 1", path="app.py", start_line=2, line=5)
    assert (suggestion.applies, suggestion.reason) == (False, "the diff does not show the lines")


def test_white_space_in_a_string_is_behaviour():
    assert judge_in_file("a = 'b  c'", ["a = 'b c'"], range(0, 1), "python").effect is (
        Effect.BEHAVIOUR
    )


def test_language_without_a_grammar_is_unknown():
    suggestion = judge_in_file("a: 2", ["a: 1"], range(0, 1), "yaml")
    assert (suggestion.applies, suggestion.parses, suggestion.effect) == (True, None, None)
    assert suggestion.reason == "no grammar for yaml"


def in_change(code, *, whole=False, diff=DIFF, **place):
    change = parse_diff(diff)
    if whole:
        change = with_sources(change, {"app.py": (None, FILE)})
    comment = Comment(body="", **place)
    return judge_in_change(code, comment, change.files[0] if "path" in place else None)


@pytest.mark.parametrize("whole", [True, False])
def test_comment_on_a_changed_line(whole):
    suggestion = in_change("    result = None", whole=whole, path="app.py", line=5)
    assert (suggestion.applies, suggestion.parses, suggestion.effect) == (
        True,
        True,
        Effect.BEHAVIOUR,
    )
    assert suggestion.reason is None


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ({"path": "app.py"}, "the comment has no line"),
        ({"path": "app.py", "line": 2}, "the diff does not show the lines"),
        ({"path": "app.py", "line": 5, "side": Side.OLD}, "the comment is on removed lines"),
        ({"path": "app.py", "line": 5, "outdated": True}, "the lines have changed since"),
        ({"line": 5}, "the change does not have the file"),
    ],
)
def test_reason_why_it_does_not_apply(place, reason):
    suggestion = in_change("    result = 2", **place)
    assert (suggestion.applies, suggestion.reason) == (False, reason)


def test_block_without_a_location_is_judged_by_its_text():
    change = parse_diff(DIFF)
    comment = Comment(body="")
    suggestion = judge_in_change("    result = 2", comment, change.files[0])
    assert suggestion.applies is None
    assert suggestion.reason == "its location is unknown"
    assert suggestion.effect is Effect.BEHAVIOUR


def test_very_long_line_is_judged():
    line = "a = [" + "1, " * 3_000 + "]"
    suggestion = judge_in_file(line.replace("a =", "b ="), [line], range(0, 1), "python")
    assert suggestion.effect in {Effect.NAMES, Effect.BEHAVIOUR}


def test_quotes_of_a_string_are_layout_where_both_mean_the_same():
    def effect(old, new, language):
        return judge_in_file(new, [old, ""], range(0, 1), language).effect

    assert effect("a = b'x\\n'", 'a = b"x\\n"', "python") is Effect.WHITE_SPACE
    assert effect("let a = 'x';", 'let a = "x";', "js") is Effect.WHITE_SPACE
    assert effect("a = 'say \"x\"'", 'a = "say x"', "python") is Effect.BEHAVIOUR
    assert effect("$a = '$x';", '$a = "$x";', "php") is Effect.BEHAVIOUR


@pytest.mark.parametrize("code", ["result = 1", "      result = 1", "\tresult = 1"])
def test_indentation_is_judged_by_python_itself(code):
    assert in_file(code, 5, 5).parses is False
    assert in_change(code, path="app.py", line=5).parses is False


def test_python_that_only_the_grammar_reads_is_judged_by_the_grammar():
    lines = ["print 'a'", "b = 1", ""]
    assert judge_in_file("b = 2", lines, range(1, 2), "python").parses is True


def test_indentation_that_a_hunk_cannot_decide_is_undecided():
    diff = (
        "--- a/a.py\n+++ b/a.py\n@@ -8,2 +8,2 @@\n         a = 1\n-        b = 1\n+        b = 2\n"
    )
    judged = in_change("    b = 3", diff=diff, path="a.py", line=9)
    assert (judged.parses, judged.reason) == (
        None,
        "the diff does not show the block with the suggestion's indentation",
    )
    assert in_change("        b = 3", diff=diff, path="a.py", line=9).parses is True


def test_names_are_claimed_from_a_whole_file_only():
    code = "    for one in items:\n        result += one"
    place = {"path": "app.py", "start_line": 6, "line": 7}
    assert in_change(code, whole=True, **place).effect is Effect.NAMES
    assert in_change(code, **place).effect is Effect.BEHAVIOUR


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("line", "offsets", "code"),
    [
        (5, (0, 1), "\n".join(LINES[4:6])),
        (6, (2, 0), "\n".join(LINES[3:6])),
        (6, (1, 2), "\n".join(LINES[4:8])),
        (5, (0, 0), LINES[4]),
    ],
)
def test_offsets_of_gitlab_place_a_block(line, offsets, code, whole):
    change = parse_diff(DIFF)
    if whole:
        change = with_sources(change, {"app.py": (None, FILE)})
    # A block with offsets ignores the first line of its comment.
    comment = Comment(body="", path="app.py", line=line, start_line=max(line - 1, 4))
    judged = judge_in_change(code, comment, change.files[0], offsets)
    assert (judged.applies, judged.effect) == (True, Effect.NOTHING)


def test_offsets_beyond_the_diff_need_the_whole_file():
    change = parse_diff(DIFF)
    comment = Comment(body="", path="app.py", line=5)
    judged = judge_in_change("a = 1", comment, change.files[0], (4, 0))
    assert (judged.applies, judged.reason) == (None, "the diff does not show the lines")
    change = with_sources(change, {"app.py": (None, FILE)})
    code = "\n".join(LINES[:5])
    judged = judge_in_change(code, comment, change.files[0], (4, 0))
    assert (judged.applies, judged.effect) == (True, Effect.NOTHING)
