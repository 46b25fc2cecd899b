import os
from pathlib import Path

import pytest

from crscore import io
from crscore.errors import OutputError


def test_report_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    io.write_text("text\n", None)
    assert capsys.readouterr().out == "text\n"


def test_report_goes_to_the_file(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    io.check_output(str(target))
    io.write_text("τ\n", str(target))
    assert target.read_text(encoding="utf-8") == "τ\n"


def test_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    target.write_text("long old text", encoding="utf-8")
    target.chmod(0o640)
    io.write_text("new\n", str(target))
    assert target.read_text(encoding="utf-8") == "new\n"
    assert target.stat().st_mode & 0o777 == 0o640


def test_nothing_else_is_left_in_the_folder(tmp_path: Path) -> None:
    io.write_text("new\n", str(tmp_path / "out.md"))
    assert [path.name for path in tmp_path.iterdir()] == ["out.md"]


@pytest.mark.parametrize("name", ["", "none/out.md"])
def test_folder_or_missing_folder_is_refused_before_the_work(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="folder"):
        io.check_output(str(tmp_path / name))


def test_failed_write_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OutputError, match="No space left"):
        io.write_text("new\n", str(tmp_path / "out.md"))
    assert list(tmp_path.iterdir()) == []


def test_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
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


def test_link_stays_a_link_and_its_target_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target.md", tmp_path / "link.md"
    target.write_text("old", encoding="utf-8")
    link.symlink_to(target)
    io.write_text("new\n", str(link))
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new\n"
