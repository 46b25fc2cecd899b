"""Every test runs without the network's, the home folder's or the caller's settings."""

import os
import re
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from crscore.encoders.minilm_files import default_folder

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
