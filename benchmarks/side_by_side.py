"""Compare both readers on 60 comments in nine programming languages and on 20 pull requests.

    python benchmarks/side_by_side.py DATA --pairs PAIRS.jsonl
    crscore read PAIRS.jsonl --analyzers none --requests REQUESTS.jsonl
    python benchmarks/side_by_side.py DATA --answers ANSWERS.jsonl

DATA is the folder with `real-comments/`. The changes of pull requests are assembled from the hunks
of their comments, with at most nine comments each. The third command prints how much the readers
differ, and the comments with the largest differences.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean

from scipy.stats import spearmanr

from crscore import Scorer
from crscore.review.comments import parse_review

SEED = 20261129
SUFFIXES = {"go": "go", "java": "java", "javascript": "js", "python": "py", "ruby": "rb",
            "cpp": "cpp", "csharp": "cs", "c": "c", "php": "php"}  # fmt: skip
MAX_COMMENTS = 9
HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")


def complete(hunk: str) -> tuple[int, int, int, int, str] | None:
    """Return first lines (old, new), numbers of lines (old, new) and text of a hunk.

    The hunks in the data end at their comments, so the numbers in their headers are wrong. None if
    there is no header.
    """
    first, *lines = hunk.replace("\r\n", "\n").rstrip("\n").split("\n")
    header = HUNK.match(first)
    if header is None:
        return None
    lines = [line if line[:1] in tuple("+- \\") and line else f" {line}" for line in lines]
    lines = [line for line in lines if not line.startswith("\\")]
    old, new = (sum(line[0] in marks for line in lines) for marks in (" -", " +"))
    text = f"@@ -{header[1]},{old} +{header[2]},{new} @@{header[3]}\n" + "\n".join(lines) + "\n"
    return int(header[1]), int(header[2]), old, new, text


def read_rows(data: Path, name: str) -> list[dict]:
    with gzip.open(data / f"real-comments/{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def single_comments(data: Path, rng: random.Random) -> list[dict]:
    rows = defaultdict(list)
    for row in read_rows(data, "dev"):
        rows[row["language"]].append(row)
    pairs = []
    for number, language in enumerate(sorted(rows)):
        path = f"src/file.{SUFFIXES[language]}"
        for row in rng.sample(rows[language], 7 if number < 6 else 6):
            diff = f"--- a/{path}\n+++ b/{path}\n{complete(row['patch'])[4]}"
            comment = {"body": row["comment"], "path": path, "user": {"login": "person"}}
            pairs.append({"id": f"{language} {number}", "diff": diff, "comments": [comment]})
    return pairs


def assemble(rows: list[dict]) -> tuple[str, list[dict]]:
    """Return a change of the comments' hunks that do not overlap, and the comments on these."""
    files: dict[str, dict[int, tuple]] = defaultdict(dict)
    for row in rows:
        hunk = complete(row["diff_hunk"])
        held = files[row["path"]].get(hunk[1]) if hunk else None
        if hunk and (held is None or held[3] < hunk[3]):
            files[row["path"]][hunk[1]] = hunk
    diff, starts = "", set()
    for path, hunks in files.items():
        end_old = end_new = -1
        text = ""
        for start, hunk in sorted(hunks.items()):
            if start > end_new and hunk[0] > end_old:
                text += hunk[4]
                end_old, end_new = hunk[0] + hunk[2], start + hunk[3]
                starts.add((path, start))
        if text:
            diff += f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{text}"
    comments = []
    for row in rows:
        hunk = complete(row["diff_hunk"])
        if hunk and (row["path"], hunk[1]) in starts:
            writer = row.get("writer") or "person"
            comment = {"body": row["comment"], "path": row["path"], "user": {"login": writer}}
            line = row.get("line") or row.get("to_line")
            if line and row.get("side", "right").lower() != "left":
                comment["line"] = line
            comments.append(comment)
    return diff, comments


def pull_requests(data: Path, name: str, count: int, rng: random.Random) -> list[dict]:
    groups = defaultdict(list)
    for row in read_rows(data, name):
        if row.get("diff_hunk") and row["path"]:
            groups[row.get("repository"), row["pull"]].append(row)
    keys = sorted((key for key, rows in groups.items() if 4 <= len(rows) <= 25), key=str)
    rng.shuffle(keys)
    pairs = []
    for key in keys:
        diff, comments = assemble(groups[key])
        if len(comments) >= 4 and len(diff) <= 60_000 and len(pairs) < count:
            pairs.append({"id": f"pull {key[1]}", "diff": diff, "comments": comments})
    return pairs


def make_pairs(data: Path) -> list[dict]:
    rng = random.Random(SEED)
    pairs = single_comments(data, rng)
    for name in ("accepted-dev", "followed-dev"):
        pairs += pull_requests(data, name, 10, rng)
    rng = random.Random(3)
    for pair in pairs:
        if len(pair["comments"]) > MAX_COMMENTS:
            pair["comments"] = rng.sample(pair["comments"], MAX_COMMENTS)
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--show", type=int, default=10, help="number of comments to print")
    options = parser.parse_args()
    pairs = make_pairs(options.data)
    if options.pairs:
        options.pairs.write_text("".join(json.dumps(pair) + "\n" for pair in pairs), "utf-8")
        return
    work = [
        (pair["diff"], parse_review(json.dumps(pair["comments"]), source="comments.json"))
        for pair in pairs
    ]
    network = Scorer(analyzers="none").score_many(work)
    model = Scorer(analyzers="none", reader=f"replay:{options.answers}").score_many(work)
    rows = []
    for pair, *results in zip(pairs, network, model, strict=True):
        kind = "comments of pull requests" if pair["id"].startswith("pull") else "single comments"
        whole = [result.usefulness for result in results]
        if None not in whole and kind != "single comments":
            rows.append(("pull requests", whole, pair["id"], ""))
        for number, scored in enumerate(zip(*(r.comments for r in results), strict=True)):
            read = [comment.usefulness for comment in scored]
            if None not in read:
                body = pair["comments"][number]["body"]
                rows.append((kind, read, pair["id"], " ".join(body.split())[:300]))
    for kind in dict.fromkeys(row[0] for row in rows):
        standings = [[u.standing for u in row[1]] for row in rows if row[0] == kind]
        inside = mean(n.low <= m.standing <= n.high for k, (n, m), *_ in rows if k == kind)
        moved = mean(abs(a - b) for a, b in standings)
        correlation = spearmanr(*zip(*standings, strict=True)).statistic
        print(
            f"{len(standings)} {kind}: rank correlation {correlation:.2f}, mean difference "
            f"{moved:.0f}, share of the model's standings in the network's interval {inside:.2f}"
        )
    comments = [row for row in rows if row[3]]
    comments.sort(key=lambda row: -abs(row[1][0].standing - row[1][1].standing))
    for _, read, name, body in comments[: options.show]:
        print(f"network {read[0].standing}, model {read[1].standing}; {name}: {body}")


if __name__ == "__main__":
    main()
