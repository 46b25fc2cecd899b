"""Measure how much of a large change the counted claims are about, and the time of large changes.

    python benchmarks/large_changes.py DIFFS [WHOLE] [--every 1]

DIFFS is a file of commits, one JSON object per line, with a diff; the rows of WHOLE also have the
files. A claim has a topic, such as a function, with a number of changed lines. For commits with
more than 500 changed lines of code, the script prints the median share of these lines in the topics
of the counted claims; the share in the twelve largest topics; and the number of commits in which
twelve topics could have 80 % of the lines, but those counted do not. With WHOLE, it prints the time
of `crscore` without analyzers on diffs of 9,250, 18,500 and 37,000 lines of C#, as one new file and
as hunks.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from crscore import plugins, settings
from crscore.diff import parse
from crscore.diff.paths import MACHINE_MADE, role_of
from crscore.scoring.cells import select_references

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.records import Topic

LINES = 500
GOAL = 0.8


def rows(data: Path) -> Iterator[dict]:
    with gzip.open(data, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def shares(data: Path, every: int) -> None:
    generator = plugins.create("claims", "structural")
    limit = settings.Config().max_claims
    shares = []
    large = [
        row for row in rows(data) if row["diff"].count("\n+") + row["diff"].count("\n-") > LINES
    ]
    for row in large[::every]:
        (claims,) = generator.generate([parse.parse_diff(row["diff"])])
        counted: dict = {}
        for ref in select_references(claims.references, limit=limit):
            if ref.topic is not None and is_code(ref.topic):
                counted[ref.topic] = counted.get(ref.topic, False) or ref.counted
        total = sum(topic.lines for topic in counted)
        if total > LINES:
            inside = sum(topic.lines for topic, held in counted.items() if held) / total
            twelve = sum(sorted((topic.lines for topic in counted), reverse=True)[:12]) / total
            shares.append((inside, twelve))
    missed = sum(inside < GOAL <= twelve for inside, twelve in shares)
    print(f"{len(shares)} commits of more than {LINES} changed lines of code")
    print(f"median share in the counted topics   {median(inside for inside, _ in shares):.3f}")
    print(f"median share in the twelve largest   {median(largest for _, largest in shares):.3f}")
    print(f"below {GOAL}, but possible with twelve {missed}")


def is_code(topic: Topic) -> bool:
    """Return whether a topic is code that a person wrote."""
    return role_of(topic.place.path) in {"code", "test", "aside"} and topic.noun not in MACHINE_MADE


def one_file(lines: list[str]) -> str:
    head = "diff --git a/F.cs b/F.cs\nnew file mode 100644\n--- /dev/null\n+++ b/F.cs\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def hunks(lines: list[str]) -> str:
    """Return a diff that changes a comment in five of each nine lines, with two context lines."""
    found = ["diff --git a/F.cs b/F.cs\n--- a/F.cs\n+++ b/F.cs\n"]
    for at in range(0, len(lines) - 9, 9):
        head, body, tail = lines[at : at + 2], lines[at + 2 : at + 7], lines[at + 7 : at + 9]
        signed = [*(f" {line}" for line in head), *(f"-{line} // was" for line in body)]
        signed += [*(f"+{line}" for line in body), *(f" {line}" for line in tail)]
        found.append(f"@@ -{at + 1},9 +{at + 1},9 @@\n" + "\n".join(signed) + "\n")
    return "".join(found)


def times(data: Path) -> None:
    texts = [
        new
        for row in rows(data)
        for path, (_, new) in sorted(row["files"].items())
        if path.endswith(".cs") and new
    ]
    lines = [line.rstrip("\r\f") for text in texts for line in text.split("\n")]
    with tempfile.TemporaryDirectory() as folder:
        review = Path(folder, "review.md")
        review.write_text("The retry count is never reset.\n")
        for count in (9_250, 18_500, 37_000):
            for name, text in (("one file", one_file), ("hunks", hunks)):
                wanted = count if name == "one file" else count * 9 // 10
                diff = Path(folder, "change.diff")
                diff.write_text(text((lines * (1 + wanted // len(lines)))[:wanted]), newline="")
                start = time.perf_counter()
                subprocess.run(
                    [sys.executable, "-m", "crscore", diff, review, "--analyzers", "none"],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
                print(
                    f"{count:6} changed lines of C#, {name:8}  {time.perf_counter() - start:5.1f} s"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("diffs", type=Path)
    parser.add_argument("whole", type=Path, nargs="?")
    parser.add_argument("--every", type=int, default=1, help="take every Nth large commit")
    asked = parser.parse_args()
    shares(asked.diffs, asked.every)
    if asked.whole is not None:
        times(asked.whole)


if __name__ == "__main__":
    main()
