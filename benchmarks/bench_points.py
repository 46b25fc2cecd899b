"""Check which findings `crscore bench` matches with problems, on written findings and reviews.

    python benchmarks/bench_points.py [--list]

- `points.jsonl` has problems, findings that name the problem in other words ("same"), and findings
  about the same code or subject that make another point ("other"). Each finding is scored as the
  only finding, without file and line, on a change with this problem.
- `points-further.jsonl` has changes with four problems about the same code, and three findings for
  each problem, one by each of three bots.
- `terse.jsonl` has reviews as people write them; a person noted for each comment the index of the
  problem that it names. The problems are those of `reviews-further.jsonl`.

No weights were trained on these files, but the constants of the rules in `pairs.py` were chosen on
`points.jsonl`, and the weight of invented pairs on the others (docs/design/029-golden-sets.md).
"""

import argparse
import json
from pathlib import Path

from crscore import bench
from crscore.bench.records import Change, Finding, Problem, make_set
from crscore.bench.results import BenchResult

HERE = Path(__file__).parent


def read_rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def score_points(rows: list[dict], kind: str) -> BenchResult:
    pairs = [(row["problem"], text) for row in rows for text in row[kind]]
    changes = [
        Change(id=f"{number:03}", problems=(Problem(text=problem),))
        for number, (problem, _) in enumerate(pairs)
    ]
    findings = [
        Finding(change=f"{number:03}", bot=kind, text=text)
        for number, (_, text) in enumerate(pairs)
    ]
    return bench.score(make_set("points", "", changes), findings, resamples=0)


def score_changes(rows: list[dict]) -> tuple[BenchResult, int, int]:
    """Return the result, the number of hits, and how many of them are right."""
    changes, findings, right = [], [], set()
    for number, row in enumerate(rows):
        texts = tuple(Problem(text=point["problem"]) for point in row["points"])
        changes.append(Change(id=f"{number:03}", problems=texts))
        for point in row["points"]:
            for bot, text in enumerate(point["findings"]):
                findings.append(Finding(change=f"{number:03}", bot=f"{bot}", text=text))
                right.add((f"{number:03}", point["problem"], text))
    result = bench.score(make_set("changes", "", changes), findings, resamples=0)
    hits = find_hits(result)
    return result, len(hits), len(hits & right)


def find_hits(result: BenchResult) -> set[tuple[str, str, str]]:
    """Return change, problem and finding of each hit."""
    return {
        (change.id, change.problems[pair.problem].text, pair.finding.text)
        for change in result.changes
        for pair in change.pairs
        if pair.outcome == "hit" and pair.finding
    }


def score_terse(rows: list[dict]) -> tuple[BenchResult, int, int]:
    """Return the result, the number of problems that comments name, and how many hits are right."""
    changes = [
        Change(id=row["commit"], problems=tuple(Problem(text=text) for text in row["problems"]))
        for row in rows
    ]
    findings = [
        Finding(change=row["commit"], bot="people", text=comment["text"])
        for row in rows
        for comment in row["comments"]
    ]
    named = {
        (row["commit"], row["problems"][comment["names"]], comment["text"])
        for row in rows
        for comment in row["comments"]
        if comment["names"] is not None
    }
    result = bench.score(make_set("terse", "", changes), findings, resamples=0)
    return result, len({key[:2] for key in named}), len(find_hits(result) & named)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--list", action="store_true", help="print the pairs of `points.jsonl` decided wrongly"
    )
    options = parser.parse_args()
    for kind, expected in (("same", "hit"), ("other", "missed")):
        result = score_points(read_rows("points.jsonl"), kind)
        (bot,) = result.bots
        print(f"{kind} point: {bot.hits} of {len(result.changes)} findings hit")
        for change in result.changes if options.list else ():
            for pair in change.pairs:
                if pair.outcome != expected and pair.finding:
                    print(
                        f"  {pair.probability:.2f} {change.problems[0].text} | {pair.finding.text}"
                    )
    result, hits, right = score_changes(read_rows("points-further.jsonl"))
    named = sum(len(change.problems) for change in result.changes) * len(result.bots)
    print(f"changes: {hits} of {named} findings hit a problem, {right} of them the right one")
    result, named, right = score_terse(read_rows("terse.jsonl"))
    (bot,) = result.bots
    problems = sum(len(change.problems) for change in result.changes)
    print(f"terse reviews: {len(result.changes)}, recall {bot.hits / problems:.3f}, by a person "
          f"{named / problems:.3f}; {right} of {bot.hits} hits are right")  # fmt: skip


if __name__ == "__main__":
    main()
