"""Every test runs without the network's, the home folder's or the caller's settings."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import settings

from crscore.encoders.minilm import MiniLM
from crscore.encoders.minilm_files import default_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

# A shell that runs the tests in the background ignores the interrupt, and so would all programs
# that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The home folder is another one in the tests.
ENCODER = str(default_folder())

# The machines that run the tests are shared: a slow example is no failure. A test that names its
# own number of examples keeps it in both.
settings.register_profile("ci", deadline=None, max_examples=25)
settings.register_profile("nightly", deadline=None, max_examples=300)
settings.load_profile("ci")

_MARKERS = re.compile(r"pytest\.mark\.(smoke|models|hosts|hostile|growth|research)\b")
_OF_MODULE = re.compile(rf"^pytestmark = \[?\s*{_MARKERS.pattern}", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file of which no test is selected: its packages may not be installed."""
    if collection_path.suffix != ".py":
        return None
    text, selection = collection_path.read_text("utf-8"), config.option.markexpr
    if selection.isidentifier():
        return selection not in _MARKERS.findall(text) or None
    return (selection.startswith("not (") and _OF_MODULE.search(text) is not None) or None


# Of the encoder itself, and of its bytes in two processes.
_ENCODES = re.compile(
    r"/encoders/|/test_(encoders|minilm_graph|model_download|token_vectors|calibrated)\.py"
)


@pytest.fixture(autouse=True, scope="session")
def _vectors_are_remembered(request: pytest.FixtureRequest) -> Iterator[None]:
    """In `make test`, encode a text once, as tests that score then take half as long.

    A vector depends on the texts beside it by 1e-7 at most, which the encoder's own tests show.
    Nightly groups encode anew.
    """
    encode = MiniLM.encode
    known: dict[object, npt.NDArray[np.float32]] = {}

    def remembered(model: MiniLM, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if not texts or _ENCODES.search(os.environ.get("PYTEST_CURRENT_TEST", "")):
            return encode(model, texts)
        files = (model.folder, model.offline, model.int8, os.environ.get("CRSCORE_ENCODER_DIR"))
        new = [text for text in dict.fromkeys(texts) if (files, text) not in known]
        if new:
            vectors = zip(new, encode(model, new), strict=True)
            known.update({(files, text): vector for text, vector in vectors})
        return np.array([known[files, text] for text in texts])

    with pytest.MonkeyPatch.context() as patch:
        if request.config.option.markexpr.startswith("not ("):
            patch.setattr(MiniLM, "encode", remembered)
        yield


@pytest.fixture(autouse=True)
def _no_outside_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> None:
    for name in [name for name in os.environ if name.startswith("CRSCORE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CRSCORE_ENCODER_DIR", ENCODER)
    # What a test says of analyzers it says itself: starting tools costs a second.
    monkeypatch.setenv("CRSCORE_ANALYZERS", "none")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    home: Path = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
