"""Count the network connections and name look-ups of every command, as strace sees them.

    python benchmarks/silence.py [--seconds 60] [--only NAME]

Each command runs under strace in a network namespace without access to a network; local stand-ins
for GitHub and GitLab answer on the loopback interface. The process is kept for a minute, because
libraries with telemetry send it after some seconds. Prints the number of connections and datagrams
to anything but the configured host, including resolvers and name services of the system; the goal
is 0. Needs Linux with strace and util-linux.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers import study
from tests.helpers.github import scenes
from tests.helpers.github.server import serve
from tests.helpers.gitlab import server as gitlab

ROOT = Path(__file__).parents[1]
EXAMPLE = [str(ROOT / "examples" / "change.diff"), str(ROOT / "examples" / "review.md")]
TOKEN = "loopback-token"
AT_ONCE = 12
# Runs the command as `crscore` does, writes a file when the command has ended, and sleeps until the
# given number of seconds has passed.
STAY = """
import pathlib, sys, time
started = time.monotonic()
from crscore.cli import run
code = run(sys.argv[3:])
pathlib.Path(sys.argv[2]).touch()
time.sleep(max(0.0, float(sys.argv[1]) - (time.monotonic() - started)))
sys.exit(code)
"""
NEEDS = {
    "audit score": "audit sync",
    "audit report": "audit score",
    "audit gitlab score": "audit gitlab sync",
}
"""Command -> command whose output it reads."""
CALLS = "trace=connect,sendto,sendmsg,sendmmsg"
# Matches `connect(9, {sa_family=AF_INET, sin_port=htons(53), ...`.
_ADDRESS = re.compile(r"sa_family=AF_INET6?, sin6?_port=htons\((\d+)\)")
# Matches `connect(5, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, ...`, by which programs
# ask the name services of the system.
_SERVICE = re.compile(r'sun_path="(?:/var)?/run/')
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


class Run(NamedTuple):
    """Run of a command: exit code, system calls that contact others, and output."""

    name: str
    code: int
    contacts: tuple[str, ...]
    output: str


def contacts(log: str, allowed_port: int) -> tuple[str, ...]:
    """Return the traced system calls that contact anything but the host at the allowed port."""
    return tuple(
        line
        for line in log.splitlines()
        if _SERVICE.search(line)
        or ((address := _ADDRESS.search(line)) and int(address[1]) != allowed_port)
    )


def write_calls() -> str:
    """Return the input of an agent for `crscore mcp`, with one call of each tool."""
    pair = {
        "diff": Path(EXAMPLE[0]).read_text("utf-8"),
        "review": Path(EXAMPLE[1]).read_text("utf-8"),
    }
    client = {"name": "silence", "version": "1"}
    calls = [
        {"method": "tools/call", "id": at, "params": {"name": name, "arguments": pair}}
        for at, name in enumerate(("triage_review", "score_review"), start=2)
    ]
    start = {
        "method": "initialize",
        "id": 1,
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client},
    }
    ready = {"method": "notifications/initialized"}
    return "".join(
        json.dumps({"jsonrpc": "2.0"} | words) + "\n" for words in (start, ready, *calls)
    )


def commands(folder: Path, url: str, gitlab_url: str) -> dict[str, list[str]]:
    """Return name -> command line; a command comes after those whose output it reads."""
    pair = {"diff": Path(EXAMPLE[0]).read_text("utf-8"), "review": "`charge` leaks the client."}
    (folder / "pairs.jsonl").write_text(json.dumps(pair) + "\n")
    (folder / "a.py").write_text("def add(a, b):\n    return a + b\n")
    (folder / "b.py").write_text("def add(x, y):\n    return x + y\n")
    study.write(folder / "study.jsonl")
    samples = {"task_id": "add", "completion": "def add(a, b):\n    return a + b\n"}
    (folder / "samples.jsonl").write_text(json.dumps(samples) + "\n")
    tests = {"task_id": "add", "test": "assert add(2, 3) == 5\n"}
    (folder / "tests.jsonl").write_text(json.dumps(tests) + "\n")
    (folder / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    pull = ["pr", "acme/shop#7", "--api-url", url]
    store = ["--store", str(folder / "audit.db")]
    other = ["--store", str(folder / "gitlab.db")]
    bench = ROOT / "examples" / "bench"
    return {
        "score --offline": [*EXAMPLE, "--offline"],
        "score": [*EXAMPLE, "--format", "html", "-o", str(folder / "page.html")],
        "score PAIRS": ["score", str(folder / "pairs.jsonl"), "--format", "json"],
        "pr": pull,
        "action": ["action"],
        "audit sync": ["audit", "sync", "acme/shop", "--since", "2000-01-01", *store],
        "audit score": ["audit", "score", *store],
        "audit report": ["audit", "report", "-o", str(folder / "site"), *store],
        "gitlab pr": ["pr", "acme/shop!7"],
        "audit gitlab sync": [
            "audit", "sync", f"{gitlab_url}/acme/shop", "--since", "2000-01-01", *other,
        ],
        "audit gitlab score": ["audit", "score", *other],
        "triage": ["triage", EXAMPLE[0], EXAMPLE[1]],
        "mcp": ["mcp"],
        "bench": ["bench", str(bench / "golden.jsonl"), str(bench / "findings.jsonl")],
        "code": ["code", str(folder / "a.py"), str(folder / "b.py")],
        "code run": [
            "code", "run", str(folder / "samples.jsonl"), "--tests", str(folder / "tests.jsonl"),
            "--allow-code-execution",
        ],
        "validate": ["validate", str(folder / "study.jsonl"), "--resamples", "10"],
        "doctor": ["doctor"],
        "encoder": ["encoder", "install"],
        "analyzers": ["analyzers"],
    }  # fmt: skip


def run_traced(
    name: str, words: list[str], folder: Path, urls: tuple[str, str], seconds: float
) -> Run:
    url, gitlab_url = urls
    log = folder / f"{name.replace(' ', '-')}.strace"
    done = folder / f"{name}.done"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_API_URL": url,
        "GITLAB_TOKEN": gitlab.TOKEN,
        "GITLAB_URL": gitlab_url,
        "GITHUB_REPOSITORY": "acme/shop",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "INPUT_TOKEN": TOKEN,
        "RUNNER_TEMP": str(folder / "runner"),
        "CRSCORE_CACHE_DIR": str(folder / "cache"),
        "CRSCORE_AUDIT_STORE": str(folder / "audit.db"),
    }
    with subprocess.Popen(
        ["strace", "-f", "-qq", "-s", "200", "-e", CALLS, "-o", str(log),
         sys.executable, "-c", STAY, str(seconds), str(done), *words],
        cwd=ROOT, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        if name == "mcp" and process.stdin is not None:
            # Input is closed only later: the server ends when its input does, and would not answer
            # all calls.
            process.stdin.write(write_calls())
            process.stdin.flush()
            time.sleep(seconds)
        output, errors = process.communicate()
    configured = gitlab_url if "gitlab" in name else url
    port = int(configured.rpartition(":")[2])
    calls = contacts(log.read_text("utf-8", errors="replace"), port)
    return Run(name, process.returncode, calls, f"{output}{errors}")


def raise_loopback() -> None:
    """Enable the loopback interface, which is disabled in a new namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def measure(seconds: float, only: str | None, *, witness: bool) -> list[Run]:
    """Run the commands in parallel; a command in `NEEDS` starts when the other has ended."""
    raise_loopback()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(serve(scenes.shop(), token=TOKEN))
        other = stack.enter_context(gitlab.serve(scenes.shop(), clock=time.time))
        urls = (server.url, other.url)
        lines = commands(folder, *urls)
        if witness:
            lines = {"witness": ["pr", "acme/shop#7", "--api-url", "http://127.0.0.1:9"]}
        chosen = {name: words for name, words in lines.items() if only in (None, name)}

        def run_one(name: str) -> Run:
            needed = NEEDS.get(name)
            while needed in chosen and not (folder / f"{needed}.done").exists():
                time.sleep(0.1)
            try:
                return run_traced(name, chosen[name], folder, urls, seconds)
            finally:  # Even after an error, or a command that needs it would wait forever.
                (folder / f"{name}.done").touch()

        with ThreadPoolExecutor(AT_ONCE) as threads:
            return [*threads.map(run_one, chosen)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--only")
    parser.add_argument("--json", action="store_true", help="print the runs as JSON")
    parser.add_argument(
        "--witness", action="store_true", help="run only a command that has to be counted"
    )
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        if not (shutil.which("strace") and shutil.which("unshare")):
            sys.exit("strace and unshare are needed: scripts/install-system-tools.sh")
        flags = "-n" if os.geteuid() == 0 else "-rn"
        words = ["unshare", flags, sys.executable, __file__, "--inside", *sys.argv[1:]]
        return subprocess.run(words, check=False).returncode
    started = time.monotonic()
    runs = measure(options.seconds, options.only, witness=options.witness)
    if options.json:
        print(json.dumps([run._asdict() for run in runs]))
        return 0
    for run in runs:
        print(f"{run.name:<18} exit code {run.code}, {len(run.contacts)} connections or look-ups")
        for call in run.contacts[:5]:
            print(f"    {call[:200]}")
    total = sum(len(run.contacts) for run in runs)
    print(
        f"{total} in {len(runs)} commands of {options.seconds:.0f} s each (goal: 0); "
        f"{time.monotonic() - started:.0f} s in total"
    )
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
