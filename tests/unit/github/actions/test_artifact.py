import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import InputError, LimitError
from crscore.github.actions import artifact

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


def archive(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def test_file_and_archive_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "crscore.json").write_bytes(b"{}")
    archive_path = archive(tmp_path / "a.zip", ("crscore.html", b"x"), ("crscore.json", b"{}"))

    for path in (tmp_path / "crscore.json", archive_path):
        assert artifact.read_artifact(path) == b"{}"


@pytest.mark.parametrize("method", METHODS)
def test_member_is_packed_as_github_packs_it(tmp_path: Path, method: int) -> None:
    archive_path = archive(tmp_path / "a.zip", ("crscore.json", b"{}"), method=method)

    if method in artifact.METHODS:
        assert artifact.read_artifact(archive_path) == b"{}"
        return
    with pytest.raises(InputError, match="compression method"):
        artifact.read_artifact(archive_path)


def test_archive_without_the_expected_file_is_refused(tmp_path: Path) -> None:
    for names in [
        (),
        ("../crscore.json",),
        ("/crscore.json",),
        ("a/crscore.json",),
        ("crscore.json/",),
        ("CRSCORE.JSON",),
    ]:
        archive_path = archive(tmp_path / "a.zip", *((name, b"{}") for name in names))

        with pytest.raises(InputError, match="one crscore"):
            artifact.read_artifact(archive_path)
        assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_archive_with_two_files_of_the_name_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        archive_path = archive(tmp_path / "a.zip", ("crscore.json", b"1"), ("crscore.json", b"2"))

    with pytest.raises(InputError, match="one crscore"):
        artifact.read_artifact(archive_path)


def test_zip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact, "MAX_BYTES", 1_000_000)
    archive_path = archive(tmp_path / "a.zip", ("crscore.json", b" " * (artifact.MAX_BYTES + 1)))
    assert archive_path.stat().st_size < 100_000

    with pytest.raises(LimitError):
        artifact.read_artifact(archive_path)


def test_zip_bomb_that_states_a_small_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact, "MAX_BYTES", 1_000_000)
    content = b" " * (artifact.MAX_BYTES + 1)
    archive_path = archive(tmp_path / "a.zip", ("crscore.json", content))
    whole = archive_path.read_bytes()
    archive_path.write_bytes(whole.replace(struct.pack("<I", len(content)), struct.pack("<I", 2)))

    with pytest.raises(InputError):
        artifact.read_artifact(archive_path)


def test_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact, "MAX_BYTES", 3)
    (tmp_path / "crscore.json").write_bytes(b"1234")

    with pytest.raises(LimitError):
        artifact.read_artifact(tmp_path / "crscore.json")


def test_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x", encoding="utf-8")
    (tmp_path / "crscore.json").symlink_to(tmp_path / "secret")

    with pytest.raises(InputError, match="no file"):
        artifact.read_artifact(tmp_path / "crscore.json")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"crscore\.json"):
        artifact.read_artifact(tmp_path / "crscore.json")


def test_encrypted_archive_is_refused(tmp_path: Path) -> None:
    archive_path = archive(tmp_path / "a.zip", ("crscore.json", b"{}"))
    whole = bytearray(archive_path.read_bytes())
    for mark, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        whole[whole.index(mark) + flag] |= 1
    archive_path.write_bytes(whole)

    with pytest.raises(InputError, match="cannot be read"):
        artifact.read_artifact(archive_path)


@given(
    method=st.sampled_from(METHODS),
    claimed=st.none() | st.sampled_from((*METHODS, 9, 93)),
    damage=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4),
)
def test_damaged_archive_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    method: int,
    claimed: int | None,
    damage: list[tuple[int, int]],
) -> None:
    path = tmp_path_factory.getbasetemp() / "d.zip"
    archive_path = archive(path, ("crscore.json", b'{"a": 1}' * 9), method=method)
    whole = bytearray(archive_path.read_bytes())
    for at, value in damage:
        whole[at % len(whole)] = value
    if claimed is not None:
        # What the directory says beats what the member says of itself.
        for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            if mark in whole:
                start = whole.index(mark) + offset
                whole[start : start + 2] = struct.pack("<H", claimed)
    archive_path.write_bytes(whole)

    try:
        content, reason = artifact.read_artifact(archive_path), ""
    except InputError as exc:
        content, reason = b"", str(exc)
    assert len(content) < 1000
    assert "None" not in reason
