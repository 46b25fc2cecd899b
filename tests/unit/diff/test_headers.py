from __future__ import annotations

import time

import pytest

from crscore.diff.sections import Header, read_header, unquote
from tests.helpers.growth import slowness


def names(*lines: str) -> tuple[str | None, str | None]:
    header = read_header(lines)
    return header.old, header.new


def test_no_lines_leave_the_file_unknown() -> None:
    assert read_header(()) == Header(is_known=False)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("--- a/x.py", "+++ b/x.py"), ("x.py", "x.py")),
        (("--- i/x.py", "+++ w/x.py"), ("x.py", "x.py")),
        (("--- c/x.py", "+++ i/x.py"), ("x.py", "x.py")),
        (("--- a/x.py", "+++ b/y.py"), ("x.py", "y.py")),
        (("--- src/x.py", "+++ src/x.py"), ("src/x.py", "src/x.py")),
        (("--- a/x.py", "+++ a/x.py"), ("a/x.py", "a/x.py")),
        (("--- one/s/x.c\t2024-01-01", "+++ two/s/x.c\t2024-01-02"), ("s/x.c", "s/x.c")),
        (("--- one/x.c", "+++ two/y.c"), ("one/x.c", "two/y.c")),
        (("--- x.c.orig", "+++ x.c"), ("x.c.orig", "x.c")),
        (("--- /dev/null", "+++ b/x.py"), (None, "x.py")),
        (("--- a/x.py", "+++ /dev/null"), ("x.py", None)),
        (("--- x.py", "+++ /dev/null"), ("x.py", None)),
        (("--- a/x y.py\t", "+++ b/x y.py\t"), ("x y.py", "x y.py")),
        (('--- "a/\\303\\244.py"', '+++ "b/\\303\\244.py"'), ("ä.py", "ä.py")),
        (("diff --git a/x y b/x y",), ("x y", "x y")),
        (("diff --git x y x y",), ("x y", "x y")),
        (('diff --git "a/\\tx" "b/\\tx"',), ("\tx", "\tx")),
        (("diff --git b/x b/x", "new file mode 100644"), (None, "b/x")),
        (("diff --git a/x b/x", "deleted file mode 100644"), ("x", None)),
        (("diff --git pre/x post/x", "new file mode 100644"), (None, "x")),
        (("diff --git a/x b/x", "rename from x", "rename to y"), ("x", "y")),
        (("diff --git a/x b/x", "copy from x", 'copy to "\\303\\244"'), ("x", "ä")),
        (("diff --git a/x b/y", "--- a/x", "+++ b/y"), ("x", "y")),
        (("Binary files a/x.png and b/x.png differ",), ("x.png", "x.png")),
        (("Binary files /dev/null and b/x.png differ",), (None, "x.png")),
        (("--- src://s/x y.py", "+++ dst://s/x y.py"), ("s/x y.py", "s/x y.py")),
        (("--- /dev/null", "+++ dst://src/x.py"), (None, "src/x.py")),
        (("diff --git src://x y dst://x y",), ("x y", "x y")),
        (("--- src/x.py", "+++ dst/x.py"), ("x.py", "x.py")),
        (("--- /dev/null", "+++ src/x.py"), (None, "src/x.py")),
        (("--- x.c  2024-01-01 10:00:00.0 +0000", "+++ x.c  2024-01-02 10:00:00"), ("x.c", "x.c")),
        (("--- x.c  (revision 7)", "+++ x.c  (working copy)"), ("x.c", "x.c")),
        (
            ("--- a/x.c  Mon Jan 01 10:00:00 2024", "+++ b/x.c Tue Jan  2 10:00:00 2024"),
            ("x.c",) * 2,
        ),
        (('--- "old/a b"\t2024-01-01 10:00', '+++ "new/a b"\t2024-01-02 10:00'), ("a b", "a b")),
        (("--- old\\s\\x.py\t2024-01-01", "+++ new\\s\\x.py"), ("s/x.py", "s/x.py")),
        (("--- f (copy).py", "+++ f (copy).py"), ("f (copy).py", "f (copy).py")),
    ],
)
def test_lines_give_both_names(
    lines: tuple[str, ...], expected: tuple[str | None, str | None]
) -> None:
    assert names(*lines) == expected


@pytest.mark.parametrize(
    "lines",
    [
        ("diff --git nothing alike here",),
        ("diff --git one",),
        ('diff --git "a/x" "b/y"',),
        ('diff --git "a/x',),
        ("--- ", "+++ "),
        ("--- a/x",),
    ],
)
def test_unreadable_names_leave_the_file_unknown(lines: tuple[str, ...]) -> None:
    assert not read_header(lines).is_known


@pytest.mark.parametrize(
    ("lines", "modes"),
    [
        (("diff --git a/x b/x", "old mode 100644", "new mode 100755"), ("100644", "100755")),
        (("diff --git a/x b/x", "index 12..34 100644"), ("100644", "100644")),
        (("diff --git a/x b/x", "new file mode 120000", "index 0..1"), (None, "120000")),
        (("diff --git a/x b/x", "deleted file mode 100644"), ("100644", None)),
        (("--- a/x", "+++ b/x"), (None, None)),
    ],
)
def test_modes_are_read(lines: tuple[str, ...], modes: tuple[str | None, str | None]) -> None:
    header = read_header(lines)
    assert (header.old_mode, header.new_mode) == modes


def test_binary_patch_marks_the_file_binary() -> None:
    assert read_header(("diff --git a/x b/x", "GIT binary patch", "literal 3")).is_binary


def test_header_without_change_is_empty() -> None:
    assert read_header(("diff --git a/x b/x",)).is_empty


def test_words_that_begin_like_a_field_are_not_read() -> None:
    assert read_header(("diff --git a/x b/x", "indexes 160000 160000")).is_empty


@pytest.mark.parametrize(
    ("quoted", "plain"),
    [
        ("plain", "plain"),
        ('"tab\\tend"', "tab\tend"),
        ('"a\\\\b\\"c"', 'a\\b"c'),
        ('"\\346\\227\\245"', "日"),
        ('"\\377"', "\ufffd"),
        ('"\\r\\n\\a\\b\\v\\f"', "\r\n\a\b\v\f"),
    ],
)
def test_quoted_path_is_unquoted(quoted: str, plain: str) -> None:
    assert unquote(quoted) == plain


@pytest.mark.growth
def test_header_of_many_spaces_is_read_fast() -> None:
    start = time.process_time()
    read_header(("diff --git " + "a " * 40_000,))
    assert time.process_time() - start < 1 * slowness()
