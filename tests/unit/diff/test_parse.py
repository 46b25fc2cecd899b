import difflib
import hashlib
import json
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff.parse import DiffLimits, parse_diff, rebuild_new, rebuild_old, with_sources
from crscore.errors import DiffParseError, InputError, LimitError
from crscore.records import ChangedFile, Diff, FileStatus, Hunk
from tests.helpers.growth import growth

GOLDEN = sorted((Path(__file__).parents[2] / "data" / "diffs").glob("*.diff"))
PAIR = "--- a/x.py\n+++ b/x.py\n@@ -2 +2 @@\n-two\n+2\n"


def only(text: str | bytes, **options: str) -> ChangedFile:
    (file,) = parse_diff(text, **options).files
    return file


def described(hunk: Hunk) -> dict[str, object]:
    lines = []
    for line in hunk.lines:
        flags = ["no newline"] * line.ends_file_without_newline + ["crlf"] * line.ends_with_crlf
        lines.append([line.old, line.new, line.text, *flags])
    return {
        "header": [hunk.old_start, hunk.old_length, hunk.new_start, hunk.new_length],
        "section": hunk.section,
        "lines": lines,
    }


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_diff_reads_as_written_beside_it(path: Path) -> None:
    parsed = parse_diff(path.read_bytes(), source=path.name)
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert len(parsed.notes) == expected["notes"]
    assert len(parsed.files) == len(expected["files"])
    for file, want in zip(parsed.files, expected["files"], strict=True):
        flags = ["binary"] * file.is_binary + ["submodule"] * file.is_submodule
        assert file.path == want["path"]
        assert file.old_path == want.get("old_path")
        assert (file.status, file.language) == (want["status"], want["language"])
        assert [file.old_mode, file.new_mode] == want.get("modes", [None, None])
        assert flags == want.get("flags", [])
        hunks = [{"section": "", **hunk} for hunk in want["hunks"]]
        assert [described(hunk) for hunk in file.hunks] == hunks


def test_there_are_golden_diffs() -> None:
    assert len(GOLDEN) >= 5


def test_hash_is_that_of_the_bytes_given() -> None:
    data = b"\xef\xbb\xbf" + PAIR.encode()
    assert parse_diff(data).sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("empty", ["", b"", "\n \n", "\ufeff"])
def test_empty_text_is_refused_as_no_change(empty: str | bytes) -> None:
    with pytest.raises(DiffParseError, match="there is no change"):
        parse_diff(empty)


def test_other_text_is_refused_with_the_remedy() -> None:
    with pytest.raises(DiffParseError, match=r"mail\.txt: .*git diff or diff -u"):
        parse_diff("1c1\n< a\n---\n> b\n", source="mail.txt")


def test_git_header_without_a_change_is_refused() -> None:
    with pytest.raises(DiffParseError, match="no change in this diff"):
        parse_diff("diff --git a/x b/x\n")


def test_unreadable_names_are_refused() -> None:
    with pytest.raises(DiffParseError, match="file names"):
        parse_diff("--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n")


def test_unreadable_names_are_replaced_by_the_given_path() -> None:
    assert only("--- \n+++ \n@@ -1 +1 @@\n-a\n+b\n", path="x.go").language == "go"


def test_header_without_hunk_is_refused_as_cut_off() -> None:
    with pytest.raises(DiffParseError, match="the diff was cut") as caught:
        parse_diff("hello\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    "hunk",
    [
        "@@ -1,2 +1,2 @@\n-a\n+b\n@@ -9 +9 @@\n-a\n+b\n",
        "@@ -1,3 +1,3 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -9 +9 @@\n-a\n+b\n",
        "@@ -1,3 +1,3 @@\n-a\n+b\n-- \n2.40.0\n",
        "@@ -1,3 +1,3 @@\n\n",
        "@@ -1 +1 @@\n a\n-b\n",
        "@@ -1 +1,2 @@\n-a\n\rb\n+c\n",
        "@@ -1,2 +1,2 @@\nnonsense\n",
    ],
)
def test_hunk_with_other_counts_than_its_header_is_refused_with_its_line(hunk: str) -> None:
    with pytest.raises(DiffParseError) as caught:
        parse_diff(f"--- a/x\n+++ b/x\n{hunk}")
    assert caught.value.line in (3, 5)


@pytest.mark.parametrize("header", ["@@ -0 +1 @@", "@@ -1 +0 @@"])
def test_hunk_at_line_zero_is_refused(header: str) -> None:
    with pytest.raises(DiffParseError, match="line 0"):
        parse_diff(f"{header}\n-a\n+b\n")


def test_hunk_without_lines_is_read() -> None:
    assert only("@@ -3,0 +3,0 @@\n@@ -5 +5 @@\n-a\n+b\n").hunks[0].lines == ()


@pytest.mark.parametrize("names", ["", "--- a/x\n+++ b/x\n"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_hunk_cut_at_a_comment_is_read_with_a_note(names: str, end: str) -> None:
    parsed = parse_diff(f"{names}@@ -4,9 +5,12 @@ f()\n\n-a\n+b\n+c{end}")
    (hunk,) = parsed.files[0].hunks
    assert described(hunk) == {
        "header": [4, 2, 5, 3],
        "section": "f()",
        "lines": [[4, 5, ""], [5, None, "a"], [None, 6, "b"], [None, 7, "c"]],
    }
    (note,) = parsed.notes
    assert "last hunk was cut" in note


@pytest.mark.parametrize(
    ("header", "starts", "status"),
    [
        ("@@ -1,9 +1,12 @@", (0, 1), FileStatus.MODIFIED),
        ("@@ -8,9 +8,12 @@", (7, 8), FileStatus.MODIFIED),
        ("@@ -0,0 +1,12 @@", (0, 1), FileStatus.ADDED),
    ],
)
def test_hunk_cut_before_its_context_is_no_new_file(
    header: str, starts: tuple[int, int], status: FileStatus
) -> None:
    file = only(f"{header}\n+a\n+b")
    assert (file.hunks[0].old_start, file.hunks[0].new_start) == starts
    assert (file.hunks[0].old_length, file.status) == (0, status)


def test_cut_hunk_fits_the_whole_file() -> None:
    file = only("@@ -2,3 +2,4 @@\n+b")
    assert rebuild_old(file, "a\nb\nc\nd\n") == "a\nc\nd\n"


def test_file_with_a_line_over_the_limit_is_missing_with_a_note() -> None:
    long = PAIR.replace("x.py", "x.min.js").replace("+2\n", f"+{'2' * 20}\n")
    parsed = parse_diff(long + PAIR, limits=DiffLimits(max_line_length=20))
    assert [file.is_missing for file in parsed.files] == [True, False]
    assert parsed.files[0].hunks == ()
    assert parsed.notes == (
        "1 file could not be read, because a line is over max_line_length, which is 20: "
        "'x.min.js'.",
    )
    assert with_sources(parsed, {"x.min.js": (None, "one\n")}) == parsed


def test_complete_diff_without_last_line_feed_has_no_note() -> None:
    assert parse_diff(PAIR.rstrip("\n")).notes == ()


def test_language_of_a_bare_hunk_is_the_one_given() -> None:
    assert only("@@ -1 +1 @@\n-a\n+b\n", language="cpp", path="x.h").language == "cpp"


def test_path_of_a_bare_hunk_names_its_language() -> None:
    file = only("@@ -1 +1 @@\n-a\n+b\n", path="src/x.rb")
    assert (file.path, file.language) == ("src/x.rb", "ruby")


def test_given_language_is_used_for_unknown_names_only() -> None:
    assert only(PAIR, language="java").language == "python"
    assert only(PAIR.replace("x.py", "x"), language="java").language == "java"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("@@ -0,0 +1 @@\n+a\n", FileStatus.ADDED),
        ("@@ -1 +0,0 @@\n-a\n", FileStatus.DELETED),
        ("@@ -1,0 +2 @@\n+a\n", FileStatus.MODIFIED),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", FileStatus.ADDED),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", FileStatus.DELETED),
        (
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
            FileStatus.MODIFIED,
        ),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n", FileStatus.COPIED),
        ("diff --git a/x b/y\nrename from x\nrename to y\n", FileStatus.RENAMED),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", FileStatus.MODE_CHANGED),
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n"
            "Binary files a/x and b/x differ\n",
            FileStatus.MODIFIED,
        ),
    ],
)
def test_status_is_read_from_the_header_or_an_empty_side(text: str, status: FileStatus) -> None:
    assert only(text).status == status


def test_deleted_file_keeps_its_old_path_as_path() -> None:
    file = only("--- a/x.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n")
    assert (file.path, file.old_path) == ("x.py", None)


def test_submodule_without_mode_is_known_by_its_lines() -> None:
    lines = f"-Subproject commit {'1' * 40}\n+Subproject commit {'2' * 40}\n"
    file = only(f"@@ -1 +1 @@\n{lines}", path="lib")
    assert (file.is_submodule, file.hunks) == (True, ())


def test_line_ends_of_a_crlf_file_are_stored_apart_from_the_text() -> None:
    file = only("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\n")
    lines = [(line.text, line.ends_with_crlf) for line in file.hunks[0].lines]
    assert lines == [("a", True), ("b", False)]


def test_crlf_diff_reads_like_its_lf_form() -> None:
    converted = parse_diff(PAIR.replace("\n", "\r\n"))
    assert converted.files == parse_diff(PAIR).files
    assert any("CRLF" in note for note in converted.notes)


def test_marker_in_another_language_is_understood() -> None:
    file = only("@@ -1 +1 @@\n-a\n\\ Kein Zeilenumbruch am Dateiende.\n+b\n\\ Idem\n")
    assert all(line.ends_file_without_newline for line in file.hunks[0].lines)


def test_marker_before_any_line_is_skipped() -> None:
    file = only("@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n")
    assert not any(line.ends_file_without_newline for line in file.hunks[0].lines)


def test_only_line_feeds_end_lines() -> None:
    file = only("@@ -1 +1 @@\n-a\x0cb\x85\u2028c\n+d\n")
    assert file.hunks[0].lines[0].text == "a\x0cb\x85\u2028c"


def test_wrong_bytes_are_replaced_with_a_note() -> None:
    parsed = parse_diff(b"@@ -1 +1 @@\n-caf\xe9\n+caf\xc3\xa9\n")
    assert [line.text for line in parsed.files[0].hunks[0].lines] == ["caf\ufffd", "café"]
    assert any("not valid UTF-8" in note for note in parsed.notes)


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-be"])
def test_utf16_with_a_mark_is_decoded(codec: str) -> None:
    mark = b"\xfe\xff" if codec == "utf-16-be" else b""
    parsed = parse_diff(mark + PAIR.replace("\n", "\r\n").encode(codec))
    assert parsed.files == parse_diff(PAIR).files


@pytest.mark.parametrize("name", ["", "tool.py"])
def test_lines_of_difflib_joined_with_line_feeds_are_read(name: str) -> None:
    """Without `lineterm=""`, `"\\n".join` writes an empty line after each header."""
    old, new = ["def f(a):", "    return a", ""], ["def f(a):", "    return a + 1", ""]
    text = "\n".join(difflib.unified_diff(old, new, name, name))
    (file,) = parse_diff(text, path="tool.py").files
    assert file.path == "tool.py"
    assert [(line.old, line.new, line.text) for line in file.hunks[0].lines] == [
        (1, 1, "def f(a):"),
        (2, None, "    return a"),
        (None, 2, "    return a + 1"),
        (3, 3, ""),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Only in new: x.py",
        "* Unmerged path x.py",
        "Submodule lib 1111111..2222222:",
        "Files old/x and new/x differ",
        "Symbolic links old/x and new/x differ",
        "File old/x is a directory while file new/x is a regular file",
        "Binary file x.png has changed",
        "Index: x.png\n====\nCannot display: file marked as a binary type.",
        "Property changes on: x",
        "... //depot/x.py#1 add",
    ],
)
def test_file_without_its_change_is_noted(line: str) -> None:
    (note,) = parse_diff(f"--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n{line}\n").notes
    assert line.partition("\n")[0] in note


@pytest.mark.parametrize(
    "line",
    [
        "Submodule lib 1111111..2222222:\ndiff --git a/lib/x b/lib/x",
        "Index: x.py\n====\n--- x.py\n+++ x.py\n@@ -1 +1 @@\n-a\n+b",
        "... //depot/x.py#2 edit",
    ],
)
def test_file_with_its_change_is_not_noted(line: str) -> None:
    assert not parse_diff(f"--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n{line}\n").notes


def test_lone_surrogate_in_text_is_replaced() -> None:
    assert "\ufffd" in only("@@ -1 +1 @@\n-a\udcff\n+b\n").hunks[0].lines[0].text


def test_colored_diff_reads_like_the_plain_one() -> None:
    painted = "".join(f"\x1b[1m{line}\x1b[m\n" for line in PAIR.splitlines())
    parsed = parse_diff(painted)
    assert parsed.files == parse_diff(PAIR).files
    assert any("color" in note for note in parsed.notes)


def test_escape_code_inside_code_is_kept() -> None:
    assert only("@@ -1 +1 @@\n-a\n+\x1b[31mred\n").hunks[0].lines[1].text == "\x1b[31mred"


@pytest.mark.parametrize(
    ("text", "limits", "name"),
    [
        (PAIR, DiffLimits(max_diff_bytes=20), "max_diff_bytes"),
        ("ü" * 15, DiffLimits(max_diff_bytes=20), "max_diff_bytes"),
        (b"x" * 30, DiffLimits(max_diff_bytes=20), "max_diff_bytes"),
        (PAIR, DiffLimits(max_line_length=8), "max_line_length"),  # of the names
        (PAIR * 2, DiffLimits(max_files=1), "max_files"),
        (PAIR, DiffLimits(max_hunks=0), "max_hunks"),
    ],
)
def test_text_over_a_limit_is_refused_by_its_name(
    text: str | bytes, limits: DiffLimits, name: str
) -> None:
    with pytest.raises(LimitError) as caught:
        parse_diff(text, limits=limits, source="big.diff")
    assert (caught.value.limit, caught.value.source) == (name, "big.diff")


def test_text_at_the_limits_is_read() -> None:
    limits = DiffLimits(max_diff_bytes=len(PAIR), max_files=1, max_hunks=1, max_line_length=11)
    assert len(parse_diff(PAIR, limits=limits).files) == 1


@pytest.mark.growth
@pytest.mark.parametrize(
    "piece",
    [
        "--- a/{n}\n+++ b/{n}\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/{n} b/{n}\nold mode 100644\n",
        "@@ -{n}1 +{n}1 @@\n-a\n+b\n",
    ],
    ids=["files", "git files", "hunks"],
)
def test_huge_text_is_refused_in_linear_time(piece: str) -> None:
    limits = DiffLimits(max_files=500, max_hunks=500, max_line_length=500)

    def prepare(size: int) -> Callable[[], object]:
        text = "".join(piece.format(n=n) for n in range(size))

        def refuse() -> None:
            with pytest.raises(LimitError):
                parse_diff(text, limits=limits)

        return refuse

    assert growth(prepare, 5_000) < 12


FRAGMENTS = st.sampled_from(
    [
        "diff --git a/x b/x", "diff --git", 'diff --git "a/\\303" "b/\\303"', "--- a/x", "+++ b/x",
        "--- ", "+++ ", "--- /dev/null", "+++ /dev/null", "@@ -1 +1 @@", "@@ -1,2 +1,2 @@ f()",
        "@@ -0,0 +1 @@", "@@ -1 +0,0 @@", "@@ -0,0 +0,0 @@", "@@", "@@@ -1 -1 +1 @@@", "-a", "+b",
        " c", "", "\r", "\\ No newline at end of file", "-- ", "old mode 100644",
        "new mode 160000", "new file mode 100644", "deleted file mode 100644", "rename from x",
        "rename to y", "GIT binary patch", "Binary files a/x and b/x differ", "Only in a: b",
        "Submodule lib 1111111..2222222:", "From " + "0" * 40 + " Mon", "index 1..2 100644",
        "+Subproject commit " + "1" * 40, "-\x1b[31m", "\x1b[1mdiff ", "+\ud800", "\ufeff",
    ]
)  # fmt: skip


@given(st.one_of(st.text(), st.binary(), st.lists(FRAGMENTS, max_size=20).map("\n".join)))
def test_any_text_gives_a_diff_or_an_input_error(text: str | bytes) -> None:
    try:
        parsed = parse_diff(text)
    except InputError:
        return
    assert isinstance(parsed, Diff)
    for file in parsed.files:
        for hunk in file.hunks:
            numbers = [line.new for line in hunk.lines if line.new is not None]
            assert numbers == list(range(hunk.new_start, hunk.new_start + hunk.new_length))


def test_new_source_gives_the_old_one() -> None:
    assert rebuild_old(only(PAIR), "one\n2\nthree") == "one\ntwo\nthree"


def test_old_source_gives_the_new_one() -> None:
    assert rebuild_new(only(PAIR), "one\r\ntwo\r\n") == "one\r\n2\n"


def test_missing_newlines_are_rebuilt() -> None:
    marker = "\\ No newline at end of file\n"
    file = only(f"@@ -1 +1,2 @@\n-a\n{marker}+a\n+b\n{marker}")
    assert rebuild_new(file, "a") == "a\nb"
    assert rebuild_old(file, "a\nb") == "a"


def test_crlf_lines_are_rebuilt() -> None:
    file = only("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\r\n b\r\n")
    assert rebuild_old(file, "b\r\n") == "a\r\nb\r\n"


def test_added_file_has_an_empty_old_version() -> None:
    assert rebuild_old(only("@@ -0,0 +1 @@\n+a\n"), "a\n") == ""


@pytest.mark.parametrize("text", ["one\n", "one\nother\n", ""])
def test_source_of_another_version_does_not_apply(text: str) -> None:
    assert rebuild_old(only(PAIR), text) is None


def test_overlapping_hunks_do_not_apply() -> None:
    file = only("--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+b\n@@ -1 +1 @@\n-c\n+d\n")
    assert rebuild_new(file, "c\na\n") is None


def test_binary_file_is_not_rebuilt() -> None:
    assert rebuild_new(only("Binary files a/x and b/x differ\n"), "x") is None


def test_one_side_gives_the_other() -> None:
    file = with_sources(parse_diff(PAIR), {"x.py": ("one\ntwo\n", None)}).files[0]
    assert (file.old_source, file.new_source) == ("one\ntwo\n", "one\n2\n")


def test_both_sides_are_kept_as_given() -> None:
    file = with_sources(parse_diff(PAIR), {"x.py": ("one\ntwo\n", "one\n2\n# more\n")}).files[0]
    assert (file.old_source, file.new_source) == ("one\ntwo\n", "one\n2\n# more\n")


def test_side_that_does_not_match_is_left_out_with_a_note() -> None:
    parsed = with_sources(parse_diff(PAIR), {"x.py": ("wrong", "one\n2\n")})
    assert parsed.files[0].old_source == "one\ntwo\n"
    assert parsed.notes == (
        "The old text given for 'x.py' does not match the diff and was not used.",
    )


def test_file_without_sources_stays_as_it_is() -> None:
    parsed = parse_diff(PAIR)
    assert with_sources(parsed, {"y.py": ("a", "b")}) == parsed


def _mail(*, as_attachment: bool, encoding: str) -> bytes:
    mail = EmailMessage()
    mail["Subject"] = "[PATCH] Set the limit"
    text = f"Set the limit\n---\n{TRAILING_BLANKS}-- \n2.43.0\n"
    if as_attachment:
        mail.set_content("See the patch.")
        mail.add_attachment(text.encode(), maintype="text", subtype="x-patch", cte=encoding)
    else:
        mail.set_content(text, cte=encoding)
    return bytes(mail)


TRAILING_BLANKS = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n \n-limit = 10\n+limit = '=3D ü'  \n"


@pytest.mark.parametrize("as_attachment", [False, True])
@pytest.mark.parametrize("encoding", ["quoted-printable", "base64"])
def test_mail_is_decoded(as_attachment: bool, encoding: str) -> None:
    mail = _mail(as_attachment=as_attachment, encoding=encoding)
    assert "ü".encode() not in mail
    assert parse_diff(mail).files == parse_diff(TRAILING_BLANKS).files


def test_header_of_a_mail_in_a_commit_message_changes_nothing() -> None:
    text = f"commit 1\nContent-Transfer-Encoding: base64\n{TRAILING_BLANKS}"
    assert parse_diff(text).files == parse_diff(TRAILING_BLANKS).files


def test_text_in_html_is_not_a_second_change() -> None:
    mail = EmailMessage()
    mail["Subject"] = "[PATCH] Set the limit"
    mail.set_content(TRAILING_BLANKS)
    mail.add_alternative(f"<pre>{TRAILING_BLANKS}</pre>", subtype="html")
    assert parse_diff(bytes(mail)).files == parse_diff(TRAILING_BLANKS).files


def test_files_of_perforce_are_distinguished() -> None:
    # https://github.com/matiasb/python-unidiff/issues/56
    hunk = "\n@@ -3 +3 @@\n-a\n+b\n\n"
    text = "".join(f"==== //depot/{name}.py#7 (text) ====\n{hunk}" for name in ("a b", "c"))
    *files, picture = parse_diff(f"{text}==== //depot/d.png#2 (binary+l) ====\n").files
    assert [file.path for file in files] == ["depot/a b.py", "depot/c.py"]
    assert [file.hunks[0].new_start for file in files] == [3, 3]
    assert picture.is_binary


def test_hunks_of_several_files_without_names_are_refused() -> None:
    with pytest.raises(DiffParseError, match="another file") as caught:
        parse_diff("@@ -3 +3 @@\n-a\n+b\n@@ -3 +3 @@\n-c\n+d\n", path="a.py")
    assert caught.value.line == 4


def test_change_of_properties_alone_has_no_hunk() -> None:
    head = "Index: x\n====\n--- x\t(revision 1)\n+++ x\t(working copy)\n"
    assert only(f"{head}\nProperty changes on: x\n____\nAdded: svn:ignore\n").hunks == ()


def test_diff_of_submodule_logs_alone_is_named() -> None:
    with pytest.raises(DiffParseError, match="names files but not their changes: 'Submodule lib"):
        parse_diff("Submodule lib 1234567..89abcde:\n  > Add a thing\n")
