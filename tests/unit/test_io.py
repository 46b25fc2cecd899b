import gzip
import os
import shutil
import sys
from io import BufferedReader, BytesIO, RawIOBase, TextIOWrapper
from pathlib import Path

import pytest

from crscore import io
from crscore.diff import parse
from crscore.errors import InputError, LimitError, OutputError


def read(name: str, allowed: int = 100) -> tuple[bytes, str]:
    return io.read_input(name, content="diff", limit="max_diff_bytes", max_bytes=allowed)


def test_file_is_read_with_its_bytes_and_name(tmp_path: Path) -> None:
    file = tmp_path / "a.diff"
    file.write_bytes(b"\xff\x00")
    assert read(str(file)) == (b"\xff\x00", str(file))


def test_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"text")))
    assert read("-") == (b"text", "<stdin>")


def test_packed_file_is_unpacked_up_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "a.diff.gz"
    file.write_bytes(gzip.compress(b"x" * 100))
    assert read(str(file)) == (b"x" * 100, str(file))
    file.write_bytes(gzip.compress(b"x" * 10_000))
    with pytest.raises(LimitError, match="max_diff_bytes"):
        read(str(file))
    file.write_bytes(gzip.compress(b"x" * 100)[:-10])
    with pytest.raises(InputError, match="cannot be read: "):
        read(str(file))


def test_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.diff"
    file.write_bytes(b"x" * 100)
    assert len(read(str(file))[0]) == 100


def test_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.diff"
    file.write_bytes(b"x" * 101)
    with pytest.raises(LimitError, match="max_diff_bytes"):
        read(str(file))


def test_endless_input_stops_at_the_limit() -> None:
    with pytest.raises(LimitError):
        read("/dev/zero")


def test_message_about_a_folder_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; give a file that holds the diff"):
        read(str(tmp_path))


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read(str(tmp_path / "none"))


def test_name_with_a_null_byte_is_an_input_error() -> None:
    with pytest.raises(InputError):
        read("a\0b")


def test_reason_why_a_file_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match=r"cannot be read|does not exist"):
        read(str(loop))


CHANGE = parse.parse_diff(
    "--- a/in.txt\n+++ b/in.txt\n@@ -1 +1 @@\n-a\n+b\n"
    "--- a/../out.txt\n+++ b/../out.txt\n@@ -1 +1 @@\n-a\n+b\n"
    "--- a/link.txt\n+++ b/link.txt\n@@ -1 +1 @@\n-a\n+b\n"
)


def test_only_files_below_the_folder_are_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "in.txt").write_text("b\n", encoding="utf-8")
    (tmp_path / "out.txt").write_text("secret", encoding="utf-8")
    (root / "link.txt").symlink_to(tmp_path / "out.txt")
    assert io.read_sources(str(root), CHANGE, max_bytes=100) == ({"in.txt": "b\n"}, ())


def test_large_source_is_left_out_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("b" * 101, encoding="utf-8")
    found, notes = io.read_sources(str(tmp_path), CHANGE, max_bytes=100)
    assert found == {}
    assert notes == ("in.txt is larger than max_source_bytes, so only its hunks were read.",)


def test_source_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        io.read_sources(str(tmp_path / "none"), CHANGE, max_bytes=100)


def test_path_that_the_system_rejects_is_no_source(tmp_path: Path) -> None:
    name = "x" * 5000
    change = parse.parse_diff(f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n")
    assert io.read_sources(str(tmp_path), change, max_bytes=100) == ({}, ())


def test_fifo_in_the_folder_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in.txt")
    assert io.read_sources(str(tmp_path), CHANGE, max_bytes=100) == ({}, ())


def test_closed_standard_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        read("-")


def test_reason_why_standard_input_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.open("/", os.O_RDONLY)

    class Folder(RawIOBase):
        def readinto(self, buffer: object) -> int:
            return len(os.read(folder, 1))

        def readable(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BufferedReader(Folder())))
    with pytest.raises(InputError, match="standard input cannot be read: Is a directory"):
        read("-")
    os.close(folder)


def test_report_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    io.write_text("text\n", None)
    assert capsys.readouterr().out == "text\n"


def test_report_goes_to_the_file(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    io.check_output(str(target))
    io.write_text("τ\n", str(target))
    assert target.read_text(encoding="utf-8") == "τ\n"


def test_file_is_replaced_in_full_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    target.write_text("long old text", encoding="utf-8")
    target.chmod(0o640)
    io.write_text("new\n", str(target))
    assert target.read_text(encoding="utf-8") == "new\n"
    assert target.stat().st_mode & 0o777 == 0o640


def test_no_other_file_is_left_in_the_folder(tmp_path: Path) -> None:
    io.write_text("new\n", str(tmp_path / "out.md"))
    assert [path.name for path in tmp_path.iterdir()] == ["out.md"]


@pytest.mark.parametrize("name", ["", "none/out.md"])
def test_output_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(OutputError, match="folder"):
        io.check_output(str(tmp_path / name))


def test_failed_write_leaves_no_incomplete_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OutputError, match="No space left"):
        io.write_text("new\n", str(tmp_path / "out.md"))
    assert list(tmp_path.iterdir()) == []


def test_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    io.write_text("text\n", str(pipe))
    assert os.read(reader, 100) == b"text\n"
    os.close(reader)


def test_file_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The tests may run as root, whom no mode stops.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="no permission"):
        io.check_output(str(tmp_path / "out.md"))


def test_link_is_kept_and_its_target_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    io.write_text("new\n", str(link))
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new\n"


def test_closed_stdout_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OutputError, match="standard output: it is closed"):
        io.write_text("text\n", None)


def test_reason_why_stdout_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(OutputError, match="No space left"):
            io.write_text("x" * 100_000, None)


def test_size_of_a_source_is_counted_in_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("é" * 20, encoding="utf-8")
    change = parse.parse_diff("@@ -1 +1 @@\n-a\n+b\n", path="a.py")
    texts, notes = io.read_sources(str(tmp_path), change, max_bytes=30)
    assert texts == {}
    assert notes == ("a.py is larger than max_source_bytes, so only its hunks were read.",)


def test_failed_write_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_old: Path, _new: Path) -> None:
        raise OSError(28, "No space left on device")

    target = tmp_path / "report.txt"
    target.write_text("old")
    monkeypatch.setattr(shutil, "copymode", full)
    with pytest.raises(OutputError, match="No space left"):
        io.write_bytes(b"x", str(target))
    assert list(tmp_path.iterdir()) == [target]
    assert target.read_text() == "old"
