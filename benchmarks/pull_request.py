"""Measure requests and time of `crscore pr` on a large pull request, first and repeatedly.

    python benchmarks/pull_request.py [--runs 3]

A local stand-in for GitHub serves a pull request with 120 files, 3,000 changed lines and 300
comments, some of which are outdated. `crscore pr ... --comment` runs three times: the first run has
an empty cache; the second run still has to read the comment that the first wrote; for the third,
nothing is new. Prints the requests, compared with the smallest possible number, the time and the
peak memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers.github import scenes
from tests.helpers.github.server import serve
from tests.helpers.github.writer import writer_of

if TYPE_CHECKING:
    from tests.helpers.github.server import Entry, Server
    from tests.helpers.github.state import World

TOKEN = "benchmark-token"
PAGE, BLOBS = 100, 50


@dataclass
class Run:
    entries: list[Entry]
    seconds: float

    @property
    def queries(self) -> int:
        return sum(entry.path == "/graphql" for entry in self.entries)

    @property
    def writes(self) -> int:
        return sum(entry.method != "GET" and entry.path != "/graphql" for entry in self.entries)


def run(server: Server, name: str, number: int, cache: str) -> Run:
    before = len(server.log)
    environment = {**os.environ, "GITHUB_TOKEN": TOKEN, "CRSCORE_CACHE_DIR": cache}
    command = [
        sys.executable, "-m", "crscore", "pr", f"{name}#{number}", "--api-url", server.url,
        "--no-checkout", "--comment", "--quiet", "--format", "json", "-o", os.devnull,
    ]  # fmt: skip
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True)
    return Run(server.log[before:], time.perf_counter() - start)


def push_change(world: World) -> World:
    """Change commented lines of twenty files, so that some comments become outdated."""
    (repository,) = world.repositories
    (pull,) = repository.pulls.values()
    tree = {
        path: repository.history.text(pull.head, path)
        for path in repository.history.tree(pull.head)
    }
    for path in sorted({line.path for line in pull.lines})[:20]:
        tree[path] = tree[path].replace("bound=", "ceiling=")
    writer_of(world).push(tree, message="Name it better")
    return world


def count_needed(server: Server) -> tuple[int, str]:
    """Return the smallest number of requests that read everything, and what they are for."""
    (repository,) = server.world.repositories
    (pull,) = repository.pulls.values()
    changes = repository.history.changes(
        repository.history.merge_base(pull.base, pull.head), pull.head
    )
    whole = sum(
        change.status not in ("added", "removed") and bool(change.patch) for change in changes
    )
    threads = sum(line.reply_to is None for line in pull.lines)
    older = {line.commit for line in pull.lines} - {pull.head}
    parts = {
        "pull request": 1,
        "files": ceil(len(changes) / PAGE),
        "line comments": ceil(len(pull.lines) / PAGE),
        "reviews": ceil(len(pull.reviews) / PAGE),
        "conversation": ceil(len(pull.notes) / PAGE),
        "states (GraphQL)": max(
            1, *(ceil(n / PAGE) for n in (threads, len(pull.reviews), len(pull.notes)))
        ),
        "full files (GraphQL)": ceil(whole / BLOBS),
        "older versions": len(older),
        "the comment": 1,
    }
    return sum(parts.values()), ", ".join(f"{name} {count}" for name, count in parts.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind (3)")
    asked = parser.parse_args().runs
    firsts, agains = [], []
    for _ in range(asked):
        world = push_change(scenes.large())
        (repository,) = world.repositories
        (number,) = repository.pulls
        with tempfile.TemporaryDirectory() as cache, serve(world, token=TOKEN) as server:
            least, parts = count_needed(server)
            firsts.append(run(server, repository.full_name, number, cache))
            run(server, repository.full_name, number, cache)
            agains.append(run(server, repository.full_name, number, cache))
    first, again = firsts[-1], agains[-1]
    print(f"smallest number of requests: {least} ({parts})")
    print(
        f"first run: {len(first.entries)} requests ({len(first.entries) / least - 1:+.0%}), "
        f"{first.queries} GraphQL and {first.writes} write; best / median "
        f"{min(r.seconds for r in firsts):.2f} / {median(r.seconds for r in firsts):.2f} s"
    )
    print(
        f"third run: {len(again.entries)} requests, "
        f"{again.queries} GraphQL, {again.writes} writes; best / median "
        f"{min(r.seconds for r in agains):.2f} / {median(r.seconds for r in agains):.2f} s"
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory of the command: {peak:.0f} MiB")


if __name__ == "__main__":
    main()
