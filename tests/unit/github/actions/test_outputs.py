import re
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import OutputError
from crscore.github.actions import outputs


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

    outputs.append_outputs(file, values)

    assert parse(file.read_text("utf-8") if file.exists() else "") == values


def test_value_cannot_add_an_output(tmp_path: Path) -> None:
    file = tmp_path / "output"
    outputs.append_outputs(file, {"first": "x"})
    seen = re.findall(r"ghadelimiter_\S+", file.read_text("utf-8"))[0]

    outputs.append_outputs(file, {"comment-url": f"x\n{seen}\npartial<<{seen}\nfalse\n{seen}"})

    assert set(parse(file.read_text("utf-8"))) == {"first", "comment-url"}


def test_outputs_are_appended_to_earlier_ones(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("earlier<<E\n1\nE\n", encoding="utf-8")

    outputs.append_outputs(file, {"a": ""})

    assert parse(file.read_text("utf-8")) == {"earlier": "1", "a": ""}


def test_runner_without_files_gets_nothing() -> None:
    outputs.append_outputs(None, {"a": "b"})

    assert outputs.free_summary_bytes(None) == 0
    assert outputs.append_summary(None, "x") is False


def test_summary_is_appended(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("# Tests\n", encoding="utf-8")

    assert outputs.append_summary(file, "# Review") is True

    assert file.read_text("utf-8") == "# Tests\n# Review\n"


def test_free_space_of_a_summary_is_counted_in_bytes(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("x" * 1000, encoding="utf-8")
    room = outputs.free_summary_bytes(file)

    assert outputs.append_summary(file, "é" * (room // 2 + 1)) is False
    assert file.stat().st_size == 1000
    assert outputs.append_summary(file, "é" * (room // 2 - 1)) is True
    assert file.stat().st_size <= 1024 * 1024
    assert outputs.free_summary_bytes(file) < 10


def test_full_summary_has_no_free_bytes(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_bytes(b"x" * 1024 * 1024)

    assert outputs.free_summary_bytes(file) == 0
    assert outputs.append_summary(file, "") is False


def test_full_disk_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "output"
    file.write_text("earlier<<E\n1\nE\n", encoding="utf-8")
    # A limit on the size of files is how this disk can be full for this process alone.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OutputError):
            outputs.append_outputs(file, {"a": "x" * 200})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def test_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no-such"):
        outputs.append_outputs(tmp_path / "no-such" / "output", {"a": "b"})


# Documents


def test_document_is_kept_in_a_new_folder(tmp_path: Path) -> None:
    path = outputs.write_document(tmp_path / "a" / "b", "crscore.json", "é\ud800\r\n")

    assert path.read_bytes() == "é?\r\n".encode()


def test_document_replaces_a_link_and_not_its_target(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    (tmp_path / "crscore.json").symlink_to(tmp_path / "kept")

    path = outputs.write_document(tmp_path, "crscore.json", "{}")

    assert (tmp_path / "kept").read_text(encoding="utf-8") == "mine"
    assert not path.is_symlink()
    assert path.read_text(encoding="utf-8") == "{}"


def test_folder_of_the_workspace_that_is_a_link_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("workspace", "runner"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "workspace")
    Path("reports").symlink_to(tmp_path / "runner")

    with pytest.raises(OutputError, match="link"):
        outputs.write_document(Path("reports"), "crscore.json", "{}")

    assert not list((tmp_path / "runner").iterdir())


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("x", encoding="utf-8")

    with pytest.raises(OutputError, match="reports"):
        outputs.write_document(tmp_path / "reports", "crscore.json", "{}")
