"""Measure what the claim generator adds to a model server's time, and the time of cached claims.

    python benchmarks/claims_overhead.py [--diffs 200] [--concurrency 32]

The server, in a separate process, answers each request immediately with the same claims. All diffs
are asked about; then a new generator finds all answers in the cache. Prints the best and the median
of five times of the generator, which include splitting diffs, writing requests, the HTTP client,
parsing, grounding and the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from statistics import median

from crscore import plugins
from crscore.diff import parse
from tests.helpers import scripted_llm

ANSWER = json.dumps(
    {
        "claims": ["`LIMIT` is raised.", "`send` is called with another argument."],
        "implications": ["Callers of `send` may wait longer."],
    }
)
GOAL_MS = 1.0


def changes(amount: int) -> list:
    return [
        parse.parse_diff(
            f"@@ -1,4 +1,4 @@\n import os\n-LIMIT = {n}\n+LIMIT = {n + 1}\n-send(a)\n"
            f"+send(a, timeout={n})\n return LIMIT\n",
            path=f"shop/part_{n}.py",
        )
        for n in range(amount)
    ]


def timed(url: str, folder: str, diffs: list, concurrency: int) -> float:
    engine = {"base_url": url, "concurrency": concurrency}
    options = {"argument": "tiny", "cache_dir": folder, "engine": engine}
    generator = plugins.create("claims", "openai", options)
    start = time.perf_counter()
    claims = generator.generate(diffs)
    taken = time.perf_counter() - start
    if not all(result.references for result in claims):
        raise SystemExit("a diff got no claims")
    return taken / len(diffs) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--diffs", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=32)
    asked = parser.parse_args()
    diffs = changes(asked.diffs)
    first, again = [], []
    with scripted_llm.serve_apart(ANSWER) as url:
        for _ in range(5):
            with tempfile.TemporaryDirectory() as folder:
                first.append(timed(url, folder, diffs, asked.concurrency))
                again.append(timed(url, folder, diffs, asked.concurrency))
    print(f"{asked.diffs} diffs, concurrency {asked.concurrency}, load {os.getloadavg()[0]:.1f}")
    print(f"asked:  best {min(first):.2f}, median {median(first):.2f} ms per diff")
    print(f"cached: best {min(again):.2f}, median {median(again):.2f} ms per diff (goal {GOAL_MS})")


if __name__ == "__main__":
    main()
