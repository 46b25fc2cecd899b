"""Score a large pull request from GitHub's interface, then again with nothing changed.

    python benchmarks/pull_request.py [--runs 3]

120 files, 3,000 changed lines, 300 comments, some of them outdated, served on this machine. Each
run is the whole command, `crscore pr ... --comment`: the first with an empty store, the others with
what it left. The second still reads the comment that the first one wrote; the third finds nothing
new. Printed are the requests, beside the fewest that bring what is needed, time and peak memory.
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


def pushed_to(world: World) -> World:
    """Change commented lines of twenty files once more, so that some comments are outdated."""
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


def fewest(server: Server) -> tuple[int, str]:
    """Return the fewest requests that bring everything; a list of n takes n/100, rounded up."""
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
        "whole files (GraphQL)": ceil(whole / BLOBS),
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
        world = pushed_to(scenes.large())
        (repository,) = world.repositories
        (number,) = repository.pulls
        with tempfile.TemporaryDirectory() as cache, serve(world, token=TOKEN) as server:
            least, parts = fewest(server)
            firsts.append(run(server, repository.full_name, number, cache))
            run(server, repository.full_name, number, cache)
            agains.append(run(server, repository.full_name, number, cache))
    first, again = firsts[-1], agains[-1]
    print(f"fewest requests: {least} ({parts})")
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
