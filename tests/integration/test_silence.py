"""No command connects or looks up a name on its own, seen from outside for a minute."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform != "linux", reason="strace and namespaces are Linux's"),
]

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "silence.py"


def measure(*arguments: str) -> list[dict]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--json", *arguments],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def test_no_command_makes_a_connection_within_a_minute() -> None:
    runs = measure("--seconds", "60")
    assert len(runs) >= 20
    (agent,) = (run["output"] for run in runs if run["name"] == "mcp")
    assert agent.count('"result"') == 3
    assert {run["name"]: run["contacts"] for run in runs if run["contacts"]} == {}
    assert {run["name"]: run["output"] for run in runs if run["code"]} == {}


def test_witness_sees_a_connection_without_an_answer() -> None:
    # A port of its own on the loopback, not that of the GitHub that the others may use.
    runs = measure("--seconds", "1", "--witness")
    assert [run["name"] for run in runs] == ["witness"]
    assert runs[0]["contacts"]
