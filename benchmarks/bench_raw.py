"""Compare scores of `crscore bench` for comments as posted and for the points extracted from them.

    python benchmarks/bench_raw.py

Each row of `raw_comments.jsonl` has the problems of a change, an invented comment that makes
several points, and these points, which a person extracted. Both are scored on the same problems.
"""

import json
from pathlib import Path

from crscore import bench
from crscore.bench.records import Change, Finding, Problem, make_set

FILE = Path(__file__).with_name("raw_comments.jsonl")


def main() -> None:
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    golden = make_set(
        "raw",
        "1",
        [
            Change(id=row["id"], problems=tuple(Problem(text=text) for text in row["problems"]))
            for row in rows
        ],
    )
    findings = [
        Finding(change=row["id"], bot="as posted", text=row["comment"], raw=True) for row in rows
    ]
    findings += [
        Finding(change=row["id"], bot="extracted", text=text)
        for row in rows
        for text in row["points"]
    ]
    result = bench.score(golden, findings, resamples=0)
    print(f"{len(rows)} comments, {sum(len(row['points']) for row in rows)} points")
    for bot in sorted(result.bots, key=lambda row: row.bot):
        numbers = ", ".join(
            f"{name} {getattr(bot, name).value:.3f}" for name in ("precision", "recall", "f")
        )
        print(
            f"{bot.bot:10} {numbers}; {bot.hits + bot.unlisted + bot.also_right} distinct findings"
        )


if __name__ == "__main__":
    main()
