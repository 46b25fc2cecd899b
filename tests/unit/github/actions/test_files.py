import re
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import OutputError
from crscore.github.actions import files


def parse(text: str) -> dict[str, str]:
    """Read outputs as GitHub's runner does: NAME<<MARK, lines, MARK."""
    values, lines = {}, iter(text.split("\n"))
    for line in lines:
        if line:
            name, mark = line.split("<<", 1)
            held = []
            for inner in lines:
                if inner == mark:
                    break
                held.append(inner)
            else:
                raise AssertionError(name)
            values[name] = "\n".join(held)
    return values


@given(
    values=st.dictionaries(st.sampled_from(["a", "b-c"]), st.text(alphabet="ab<=\nghadelimiter_-"))
)
def test_outputs_are_read_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]
) -> None:
    file = tmp_path_factory.mktemp("o") / "output"

    files.write_outputs(file, values)

    assert parse(file.read_text("utf-8") if file.exists() else "") == values


def test_value_cannot_add_an_output(tmp_path: Path) -> None:
    file = tmp_path / "output"
    files.write_outputs(file, {"first": "x"})
    seen = re.findall(r"ghadelimiter_\S+", file.read_text("utf-8"))[0]

    files.write_outputs(file, {"comment-url": f"x\n{seen}\npartial<<{seen}\nfalse\n{seen}"})

    assert set(parse(file.read_text("utf-8"))) == {"first", "comment-url"}


def test_outputs_come_behind_those_of_others(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("earlier<<E\n1\nE\n", encoding="utf-8")

    files.write_outputs(file, {"a": ""})

    assert parse(file.read_text("utf-8")) == {"earlier": "1", "a": ""}


def test_runner_without_files_gets_nothing() -> None:
    files.write_outputs(None, {"a": "b"})

    assert files.summary_room(None) == 0
    assert files.append_summary(None, "x") is False


def test_summary_is_appended_whole(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("# Tests\n", encoding="utf-8")

    assert files.append_summary(file, "# Review") is True

    assert file.read_text("utf-8") == "# Tests\n# Review\n"


def test_summary_counts_what_is_there_and_bytes_not_characters(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("x" * 1000, encoding="utf-8")
    room = files.summary_room(file)

    assert files.append_summary(file, "é" * (room // 2 + 1)) is False
    assert file.stat().st_size == 1000
    assert files.append_summary(file, "é" * (room // 2 - 1)) is True
    assert file.stat().st_size <= 1024 * 1024
    assert files.summary_room(file) < 10


def test_full_summary_has_no_room(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_bytes(b"x" * 1024 * 1024)

    assert files.summary_room(file) == 0
    assert files.append_summary(file, "") is False


def test_full_disk_leaves_nothing_half(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("earlier<<E\n1\nE\n", encoding="utf-8")
    # A limit on the size of files is how this disk can be full for this process alone.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OutputError):
            files.write_outputs(file, {"a": "x" * 200})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

    assert file.read_text("utf-8") == "earlier<<E\n1\nE\n"


def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no-such"):
        files.write_outputs(tmp_path / "no-such" / "output", {"a": "b"})
