from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
import os, sys, time
from crscore import progress
progress.DELAY_S = float(os.environ.get("DELAY_S", "0.05"))
if len(sys.argv) < 3:
    progress.ENABLED.set()
with progress.track("scoring", 4) as advance:
    with progress.track("inside", 9) as nothing:
        for _ in range(4):
            time.sleep(float(sys.argv[1]))
            advance(1)
            nothing(1)
            print("line")
print("rich" in sys.modules)
"""
PLAIN = "line\n" * 4 + "False\n"


def on_a_terminal(*arguments: str, **variables: str) -> str:
    """Run the program with a terminal as its stderr, and return what is shown there and stdout."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **variables},
    ) as run:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
            shown += piece
        assert run.stdout is not None
        shown += run.stdout.read()
    os.close(ours)
    assert run.returncode == 0
    return shown.decode()


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal of POSIX")
def test_long_work_shows_its_progress_on_a_terminal() -> None:
    shown = on_a_terminal("0.2")
    assert "scoring" in shown
    assert "/4" in shown
    assert "inside" not in shown  # one bar at a time
    assert "\x1b[2K" in shown  # and it is removed at the end
    assert shown.endswith("line\nline\nline\nline\nTrue\n")  # stdout is no terminal


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal of POSIX")
def test_short_work_shows_nothing() -> None:
    assert on_a_terminal("0", DELAY_S="60") == PLAIN.replace("False", "True")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal of POSIX")
def test_dumb_terminal_shows_nothing() -> None:
    assert on_a_terminal("0.1", TERM="dumb") == PLAIN


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="a terminal of POSIX")
def test_library_shows_no_progress() -> None:
    assert on_a_terminal("0.1", "library") == PLAIN


def test_pipe_shows_nothing() -> None:
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), "0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (PLAIN, "")
