"""Patches in mails, and diffs by words, which are refused."""

import base64
import quopri

import pytest

from crscore.diff.parse import CUT_NOTE, parse_diff
from crscore.errors import DiffParseError
from crscore.records import FileStatus

FROM = "From 2d9e9efa794056ac32d17d7937008d13bb90ec25 Mon Sep 17 00:00:00 2001\n"
FIRST = """\
---
 m.py | 1 +
 1 file changed, 1 insertion(+)

diff --git a/m.py b/m.py
index 1111111..2222222 100644
--- a/m.py
+++ b/m.py
@@ -1,2 +1,3 @@
+import os
 def f(x):
     return x
--\x20
2.43.0

"""
SECOND = """\
---
 n.py | 1 +
 1 file changed, 1 insertion(+)

diff --git a/n.py b/n.py
new file mode 100644
index 0000000..3333333
--- /dev/null
+++ b/n.py
@@ -0,0 +1 @@
+name = "ü"
--\x20
2.43.0

"""


def mail(number: int, text: bytes, *, encoding: str = "8bit", charset: str = "UTF-8") -> bytes:
    headers = (
        f"{FROM}From: A <a@example.org>\nSubject: [PATCH {number}/2] Add it\n"
        f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n"
    )
    return headers.encode() + text


def paths(data: bytes) -> list[str]:
    return [file.path for file in parse_diff(data).files]


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
def test_each_mail_of_a_series_has_its_own_encoding(encoding: str) -> None:
    encode = {"base64": base64.encodebytes, "quoted-printable": quopri.encodestring}
    second = encode.get(encoding, bytes)(SECOND.encode())
    mails = [mail(1, FIRST.encode()), mail(2, second, encoding=encoding)]

    parsed = parse_diff(b"\n".join(mails))

    assert [file.path for file in parsed.files] == ["m.py", "n.py"]
    assert parsed.files[1].hunks[0].lines[0].text == 'name = "ü"'
    assert parsed.notes == ()


def test_other_charsets_are_decoded_and_unknown_ones_are_noted() -> None:
    latin = mail(2, SECOND.encode("latin-1"), charset="iso-8859-1")
    assert parse_diff(latin).files[0].hunks[0].lines[0].text == 'name = "ü"'

    (note,) = parse_diff(mail(1, FIRST.encode(), charset="x-unknown")).notes
    assert note == "Mail 1 is not in the encoding that it names, 'x-unknown'."


def test_damaged_base64_is_noted() -> None:
    damaged = base64.encodebytes(SECOND.encode()).replace(b"\n", b"\n!!", 1)
    parsed = parse_diff(b"\n".join([mail(1, FIRST.encode()), mail(2, damaged, encoding="base64")]))
    assert "Mail 2 has a damaged encoding, so lines may be missing." in parsed.notes


@pytest.mark.parametrize(
    "quoted",
    [
        "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n",
        "diff --git a/foo b/foo\nas git does.\n",
        "The old patch had\n@@ -1,2 +1,2 @@\nwhich was wrong.\n",
    ],
)
def test_diff_in_a_commit_message_is_prose(quoted: str) -> None:
    assert paths(mail(1, f"Before:\n{quoted}{FIRST}".encode())) == ["m.py"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_mail_of_powershell_is_still_a_mail(encoding: str) -> None:
    """Its `>` writes a byte order mark: https://github.com/git-for-windows/git/issues/930."""
    quoted = "--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    patch = mail(1, f"Before:\n{quoted}{FIRST}".encode()).decode()
    assert paths(patch.replace("\n", "\r\n").encode(encoding)) == ["m.py"]


def test_notes_after_the_message_are_prose_too() -> None:
    noted = FIRST.replace("---\n m.py", "---\nv2: as Ann asked\n\n m.py", 1)
    assert paths(mail(1, noted.encode())) == ["m.py"]


def test_removed_comment_of_sql_does_not_end_a_message() -> None:
    sql = (
        "diff --git a/q.sql b/q.sql\n--- a/q.sql\n+++ b/q.sql\n"
        "@@ -1,3 +1,2 @@\n a\n---\n b\n-- \n2.43.0\n\n"
    )
    (file,) = parse_diff(mail(1, sql.encode())).files
    assert [line.text for line in file.hunks[0].lines] == ["a", "--", "b"]


def test_link_that_becomes_a_file_is_one_change() -> None:
    text = (
        "diff --git a/link.py b/link.py\ndeleted file mode 120000\nindex 2fd8e2e..0000000\n"
        "--- a/link.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-m.py\n\\ No newline at end of file\n"
        "diff --git a/link.py b/link.py\nnew file mode 100644\nindex 0000000..5278734\n"
        "--- /dev/null\n+++ b/link.py\n@@ -0,0 +1,2 @@\n+def g():\n+    return 2\n"
    )
    (file,) = parse_diff(text).files
    (hunk,) = file.hunks
    assert file.status is FileStatus.MODIFIED
    assert (hunk.old_start, hunk.old_length, hunk.new_start, hunk.new_length) == (1, 1, 1, 2)
    assert [(line.old, line.new) for line in hunk.lines] == [(1, None), (None, 1), (None, 2)]
    assert (file.old_mode, file.new_mode) == ("120000", "100644")


HEAD = "diff --git a/w.py b/w.py\n--- a/w.py\n+++ b/w.py\n"


@pytest.mark.parametrize(
    "hunk",
    [
        "@@ -5,3 +5,3 @@\n     def run(self):\n         self.n = [-1-]{+2+}\n         self.go()\n",
        "@@ -1,3 +1,3 @@\nimport os\nx = [-1-]{+10+}\nprint(x)\n",
        "@@ -1,2 +1,3 @@\n import os\n~\n x = \n-1\n+10\n~\n",
        "@@ -1,2 +1,3 @@\n     import os\n     x = 1\n     {+y = 2+}\n",
        "@@ -1,2 +1,2 @@\n- an item\n- [-the-]{+one+} of a list\n",
        "@@ -1,2 +1,2 @@\n- an item\n- {+new+} item\n",
    ],
)
def test_word_diff_is_refused(hunk: str) -> None:
    with pytest.raises(DiffParseError, match="this is a word diff"):
        parse_diff(HEAD + hunk)


def test_class_of_characters_in_a_cut_diff_is_no_word_diff() -> None:
    parsed = parse_diff(f"{HEAD}@@ -1,9 +1,9 @@\n x\n-y\n+SLUG = /^[-a-z0-9_-]+$/;\n")
    assert parsed.notes == (CUT_NOTE,)


def test_word_diff_in_colors_is_refused() -> None:
    colored = "".join(f"\x1b[1m{line}\x1b[m\n" for line in HEAD.splitlines())
    hunk = "\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n     x = \x1b[31m1\x1b[m\x1b[32m10\x1b[m\n     y = 2\n"
    with pytest.raises(DiffParseError, match="this is a word diff"):
        parse_diff(colored + hunk)


def test_changed_lines_with_the_marks_of_a_word_diff_are_read() -> None:
    hunk = "@@ -1,2 +1,2 @@\n text = '[-a-]{+b+}'\n-x = 1\n+x = '{+y+}'\n"
    assert len(parse_diff(HEAD + hunk).files[0].hunks[0].lines) == 3
