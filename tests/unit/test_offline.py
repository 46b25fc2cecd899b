"""The hook itself; tests/integration/test_offline.py looks at whole processes."""

import os
import sys

import pytest

from crscore import offline
from crscore.errors import CRScoreError


@pytest.mark.parametrize("event", ["socket.__new__", "socket.connect", "socket.getaddrinfo"])
def test_socket_event_is_refused(event: str) -> None:
    with pytest.raises(CRScoreError, match=event):
        offline._refuse_socket(event, ())


def test_other_event_passes() -> None:
    offline._refuse_socket("open", ())


def test_going_offline_configures_the_model_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    # A real hook would stay for the rest of the test run.
    hooks: list[object] = []
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    monkeypatch.setenv("HF_HUB_OFFLINE", "")
    monkeypatch.setenv("TRANSFORMERS_OFFLINE", "")
    offline.forbid_sockets()
    assert (os.environ["HF_HUB_OFFLINE"], hooks) == ("1", [offline._refuse_socket])
