"""`--offline` opens no socket: seen from outside the process, by strace."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.smoke  # strace

ROOT = Path(__file__).parents[2]
EXAMPLE = [str(ROOT / "examples" / "change.diff"), str(ROOT / "examples" / "review.md")]


def socket_calls(tmp_path: Path, *command: str) -> str:
    assert shutil.which("strace"), "strace is missing; scripts/install-system-tools.sh installs it"
    log = tmp_path / "strace.log"
    calls = "trace=socket,socketpair,connect,sendto,bind,io_uring_setup"
    subprocess.run(
        ["strace", "-f", "-e", calls, "-o", str(log), *command], check=True, capture_output=True
    )
    lines = log.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if "socket" in line or "connect" in line)


@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's")
def test_offline_score_with_the_default_encoder_makes_no_socket_call(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "crscore", *EXAMPLE, "--offline"]
    assert socket_calls(tmp_path, *command) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's")
def test_the_witness_sees_a_socket_where_there_is_one(tmp_path: Path) -> None:
    assert "AF_INET" in socket_calls(
        tmp_path, sys.executable, "-c", "import socket; socket.socket()"
    )


def test_socket_asked_for_after_going_offline_is_refused() -> None:
    code = (
        "from crscore import CRScoreError, offline; offline.forbid_sockets()\n"
        "import socket\n"
        "try: socket.socket()\n"
        "except CRScoreError as exc: print(exc)\n"
        "try: socket.getaddrinfo('localhost', 80)\n"
        "except CRScoreError as exc: print(exc)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "offline mode refused socket.__new__; run without --offline to allow the network",
        "offline mode refused socket.getaddrinfo; run without --offline to allow the network",
    ]
