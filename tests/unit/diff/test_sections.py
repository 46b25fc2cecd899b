from __future__ import annotations

import pytest

from crscore.diff.sections import Section, split_sections
from crscore.errors import DiffParseError, LimitError


def cut(text: str, *, max_files: int = 9, max_hunks: int = 9) -> list[Section]:
    return split_sections(
        text.split("\n"), source="x.diff", max_files=max_files, max_hunks=max_hunks
    )


def signed(section: Section) -> list[str]:
    """The lines of its first hunk, with their signs."""
    return [
        {"added": "+", "removed": "-", "context": " "}[line.kind] + line.text
        for line in section.hunks[0].lines
    ]


PLAIN = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"
GIT = "diff --git a/x b/x\nindex 1..2 100644\n" + PLAIN


def test_text_without_headers_has_no_section() -> None:
    assert cut("hello\n--- not a header\n@@ nor this\n") == []


def test_git_header_and_its_names_are_one_section() -> None:
    (section,) = cut(GIT)
    assert section.header == GIT.split("\n")[:4]
    assert signed(section) == ["-a", "+b"]


def test_second_pair_of_names_opens_a_second_file() -> None:
    assert [section.line for section in cut(f"{PLAIN}\n{PLAIN}")] == [1, 6]


def test_removed_line_that_looks_like_a_header_stays_in_its_hunk() -> None:
    (section,) = cut("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a/y\n-+++ b/y\n+b")
    assert signed(section) == ["--- a/y", "-+++ b/y", "+b"]


def test_bare_hunk_has_no_header() -> None:
    assert cut("@@ -1 +1 @@\n-a\n+b")[0].header == []


@pytest.mark.parametrize("closing", ["-- ", "--", "commit " + "a" * 40, "Only in a: b", "diff -r"])
def test_line_after_the_last_hunk_closes_the_file(closing: str) -> None:
    (section,) = cut(f"{GIT}\n{closing}\nnew mode 160000")
    assert len(section.header) == 4


def test_mail_after_a_header_without_hunks_is_no_header() -> None:
    (section,) = cut("diff --git a/x b/x\nold mode 1\n-- \nnew mode 2")
    assert section.header == ["diff --git a/x b/x", "old mode 1"]


def test_binary_line_in_a_git_header_opens_no_second_file() -> None:
    line = "Binary files a/x and b/x differ"
    assert len(cut(f"diff --git a/x b/x\nindex 1..2\n{line}")) == 1
    assert len(cut(f"{line}\n{line}\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b")) == 3


def test_marker_after_the_last_line_belongs_to_the_hunk() -> None:
    (section,) = cut(PLAIN + "\n\\ No newline at end of file\n")
    assert section.hunks[0].lines[-1].ends_file_without_newline


@pytest.mark.parametrize("tail", ["", " ", "+++ x", "some words"])
def test_only_diff_lines_after_a_hunk_are_refused(tail: str) -> None:
    if tail.startswith("+"):
        with pytest.raises(DiffParseError, match="more lines than its header counts") as caught:
            cut(f"{PLAIN}\n{tail}")
        assert caught.value.line == 6
    else:
        assert len(cut(f"{PLAIN}\n{tail}")) == 1


@pytest.mark.parametrize(
    "text", ["@@@ -1 -1 +1 @@@", "diff --cc x", "diff --combined x", f"{PLAIN}\n@@@ -1 -1 +1 @@@"]
)
def test_combined_diff_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(DiffParseError, match=r"git diff HEAD\^1 HEAD"):
        cut(text)


@pytest.mark.parametrize("header", ["@@ -x +1 @@", "@@ -1 @@", f"@@ -{'9' * 5000} +1 @@"])
def test_unreadable_hunk_header_is_refused_with_its_line(header: str) -> None:
    with pytest.raises(DiffParseError, match="should look like") as caught:
        cut(f"--- a/x\n+++ b/x\n{header}")
    assert caught.value.line == 3


def test_more_files_than_allowed_are_refused() -> None:
    with pytest.raises(LimitError) as caught:
        cut(f"{PLAIN}\n{PLAIN}\n{PLAIN}", max_files=2)
    assert (caught.value.limit, caught.value.actual) == ("max_files", 3)


def test_more_bare_files_than_allowed_are_refused() -> None:
    with pytest.raises(LimitError):
        cut("@@ -1 +1 @@\n-a\n+b\n-- \n@@ -1 +1 @@\n-a\n+b", max_files=1)


def test_more_hunks_than_allowed_are_refused() -> None:
    with pytest.raises(LimitError) as caught:
        cut("--- a\n+++ a\n" + "@@ -1 +1 @@\n-a\n+b\n" * 3, max_hunks=2)
    assert (caught.value.limit, caught.value.actual) == ("max_hunks", 3)
