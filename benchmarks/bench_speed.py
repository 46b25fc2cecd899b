"""Measure CPU time and memory of `crscore bench` on many findings, with the real encoder.

    python benchmarks/bench_speed.py [--changes 1000] [--bots 20] [--findings 50000]

All texts are generated and differ, so that no vector is reused. A finding has about 25 words. The
time of the encoder alone is the time to encode each text once, extrapolated from a sample.
"""

import argparse
import os
import random
import resource

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `crscore` itself does

from crscore import bench
from crscore.bench.records import Change, Finding, Problem, make_set
from crscore.encoders.minilm import MiniLM

PROBLEMS = 3
"""Number of problems of a change."""
SAMPLE = 500
"""Number of texts on which the encoder alone is measured."""
PARTS = (
    ("The lock", "A retry", "`parse_config`", "The new cache", "The worker", "`load_user`"),
    ("is never released", "drops the last row", "returns None", "blocks the event loop",
     "ignores the error", "reads a stale value"),
    ("when the file is missing", "on the early return", "if two requests arrive at once",
     "for an empty list", "after a timeout", "while the index is rebuilt"),
    ("so callers crash", "which loses data", "and the order is charged twice",
     "so the page stays empty", "and nobody sees the failure", "so the next call hangs"),
    ("move it into a finally block", "check the length first", "use a transaction",
     "return an empty list instead", "log it and raise again", "take the lock before"),
)  # fmt: skip


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def make_text(rng: random.Random) -> str:
    words = [rng.choice(part) for part in PARTS]
    name = f"`{rng.choice('abcdefgh')}{rng.randrange(10**6)}`"
    return f"{words[0]} of {name} {words[1]} {words[2]}, {words[3]}; {words[4]}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--bots", type=int, default=20)
    parser.add_argument("--findings", type=int, default=50_000)
    options = parser.parse_args()
    rng = random.Random(0)
    names = [f"change-{number}" for number in range(options.changes)]
    golden = make_set(
        "made up",
        "1",
        [
            Change(id=name, problems=tuple(Problem(text=make_text(rng)) for _ in range(PROBLEMS)))
            for name in names
        ],
    )
    findings = [
        Finding(change=rng.choice(names), bot=f"bot-{number % options.bots}", text=make_text(rng))
        for number in range(options.findings)
    ]
    started = cpu_seconds()
    result = bench.score(golden, findings)
    seconds = cpu_seconds() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sample = [finding.text for finding in findings[:SAMPLE]]
    texts = options.findings + PROBLEMS * options.changes
    started = cpu_seconds()
    MiniLM().tokens(sample)
    rate = len(sample) / (cpu_seconds() - started)
    unlisted = sum(row.unlisted for row in result.bots)
    print(f"{options.changes:,} changes, {options.bots} bots, {options.findings:,} findings, "
          f"{unlisted:,} unlisted")  # fmt: skip
    print(f"CPU time        {seconds:8.1f} s, {seconds * rate / texts:.2f} times the encoder alone")
    print(f"encoder alone   {texts / rate:8.1f} s, at {rate:.0f} texts per second")
    print(f"peak memory     {peak / 1024:8.0f} MiB")


if __name__ == "__main__":
    main()
