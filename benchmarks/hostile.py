"""Measure time and memory of input that is made to be slow, although it is within all size limits.

    python benchmarks/hostile.py [--quick] [--only PART] [--workers 1]

The parts are:

- `lines`: each of 40 strings, repeated to two lines of 48,000 characters, in each of 30 kinds of
  file, with so many short lines that the file does not count as minified
- `stacks`: the same strings, one on each of 4,000 lines of a new file
- `reviews`: 10,000 sentences, 3,000 comments, Markdown nested 10,000 levels deep
- `files`: 37,000 lines of C#

Each case runs in a new process, for `lines` and `stacks` all cases of one kind of file. The time is
that of the score and all five reports. The goal is 500 MB and 10 s, of wall time or CPU time,
whichever is less, because of other work on the machine. Analyzers do not run, because they are
processes with separate limits. `reviews` use the default encoder, the other parts `hashing`.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import resource
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from crscore import Scorer
from crscore.records import Comment

PARTS = ("lines", "stacks", "reviews", "files")
SECONDS, MEGABYTES = 10, 500
CHARACTERS, SHORT_LINES = 48_000, 130
UNITS = [
    "$", "@", "b", "1", "a.", "A", "(", "“", '"', "\\", "{", "[", " ", "\t", "=>", "<a>", "#", "*",
    "/", "-", "=", ":", ",", ";", "`", "|", "&", "!", "%", "//", "/*", "a ", "a-", "x(", "'", "_",
    "if ", "a=1,", "${", "<?php ",
]  # fmt: skip
FILES = [
    "a.py", "a.java", "a.js", "a.jsx", "a.ts", "a.tsx", "a.go", "a.c", "a.h", "a.cpp", "a.hpp",
    "a.cu", "a.cs", "a.rb", "a.php", "a.md", "a.yaml", "a.json", "a.toml", "a.xml", "a.html",
    "a.css", "a.sh", "a.rs", "a.kt", "a.sql", "a.ini", "Dockerfile", "Makefile", "a.txt",
]  # fmt: skip
QUICK = (UNITS[::3], FILES[::3])
REVIEW = "Why is `x` so long? It could be computed. Please add a test for it."


class Case(NamedTuple):
    """Input of one measurement."""

    name: str
    diff: str
    comments: tuple[str, ...]
    encoder: str


class Cost(NamedTuple):
    """Time and memory of a case; `error` says what failed, "" if nothing did."""

    name: str
    seconds: float
    cpu: float
    megabytes: float
    error: str = ""

    @property
    def time(self) -> float:
        return min(self.seconds, self.cpu)


def line_case(unit: str, path: str) -> Case:
    body = unit * (CHARACTERS // len(unit))
    sides = (
        "".join(f"{mark}{line}\n" for line in (f"{name} = {body}", *[f"{name} = 1;"] * SHORT_LINES))
        for mark, name in (("-", "x"), ("+", "y"))
    )
    rows = f"1,{SHORT_LINES + 1}"
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -{rows} +{rows} @@\n{''.join(sides)}"
    return Case(f"{path} {unit!r}", diff, (REVIEW,), "hashing")


def stack_case(unit: str, path: str) -> Case:
    """Return a new file with the string on each of 4,000 lines."""
    text = (
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,4000 @@\n" + f"+{unit.strip() or unit}\n" * 4_000
    )
    return Case(f"{path} {unit!r} per line", text, (REVIEW,), "hashing")


def small_diff() -> str:
    lines = [" def f(x):", "-    return x", "+    y = x + 1", "+    return y"]
    return "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n" + "\n".join(lines) + "\n"


def review_cases() -> list[Case]:
    deep = 10_000
    words = ("cache", "lock", "name", "test", "loop", "path", "index", "value")
    sentences = [f"The {words[n % 8]} {n} is not {words[n // 8 % 8]}." for n in range(deep)]
    long = [" ".join(sentences[at : at + 40]) for at in range(0, deep, 40)]
    posts = [f"Fix {words[n % 8]} {n}." for n in range(7_235)]
    size = 65_536 // len(posts[0])
    made = {
        "one comment of 10,000 sentences": (" ".join(sentences),),
        "10,000 sentences in 250 comments": tuple(long),
        "10,000 sentences, all alike": ("It leaks. " * deep,),
        "3,000 comments": tuple(sentences[:3_000]),
        "7,235 short sentences in full comments": tuple(
            " ".join(posts[at : at + size]) for at in range(0, len(posts), size)
        ),
        "65,536 letters": ("a" * 65_536,),
        "one sentence of 30,000 words": ("word " * 30_000,),
        "one code block of 60,000 lines": ("```\n" + "x = 1\n" * 60_000 + "```",),
        "3,000 suggestions": ("```suggestion\n    y = x + 2\n```\n" * 3_000,),
    }
    nested = {
        "quotes": "> " * deep + "a",
        "lists": "\n".join("  " * n + "- a" for n in range(1_500)),
        "flat lists": "- " * deep + "a",
        "brackets": "[" * deep + "a" + "](b)" * deep,
        "open brackets": "[a](" * deep,
        "emphasis": "*a **b " * deep,
        "stars": "*" * 4 * deep,
        "backticks": "".join("`" * (n % 300 + 1) + "a" for n in range(deep)),
        "details": "<details><summary>a</summary>\n\n" * deep + "a",
        "divisions": "<div>" * deep + "a" + "</div>" * deep,
        "pre": "<pre>" * deep + "a",
        "comments": "<!-- " * deep + "a",
        "tables": "|a" * deep + "|\n" + "|-" * deep + "|\n" + "|b" * deep + "|",
        "references": "".join(f"[a{n}]: b\n" for n in range(deep)) + "[a1] " * deep,
        "entities": "&amp;" * deep,
        "links": "http://a.b/" * deep,
    }
    made |= {f"nested {name}": (text[:262_144],) for name, text in nested.items()}
    return [Case(name, small_diff(), texts, "minilm") for name, texts in made.items()]


def file_cases() -> list[Case]:
    def methods(count: int) -> list[str]:
        names = ("Load", "Save", "Find", "Send", "Read")
        return [
            f"    public int {names[n % 5]}{n}(string name, int[] values) {{\n"
            f'        if (values.Length > {n}) {{ log.Warn($"too many: {{name}}"); }}\n'
            f"        var total = values.Where(v => v > {n}).Sum() + Helper{n % 7}(name);\n"
            "        return total;\n    }\n"
            for n in range(count)
        ]

    body = "".join(
        ["namespace Shop;\npublic class Orders {\n", *methods(7_400), "}\n"]
    ).splitlines()
    new = f"--- /dev/null\n+++ b/A.cs\n@@ -0,0 +1,{len(body)} @@\n" + "".join(
        f"+{x}\n" for x in body
    )
    old = [line.replace("total", "sum") for line in body]
    changed = f"--- a/A.cs\n+++ b/A.cs\n@@ -1,{len(body)} +1,{len(body)} @@\n" + "".join(
        f"-{before}\n+{after}\n" for before, after in zip(old, body, strict=True)
    )
    gone = f"--- a/A.cs\n+++ /dev/null\n@@ -1,{len(body)} +0,0 @@\n" + "".join(
        f"-{x}\n" for x in body
    )
    shuffled = body[len(body) // 2 :] + body[: len(body) // 2]
    moved = f"--- a/A.cs\n+++ b/A.cs\n@@ -1,{len(body)} +1,{len(body)} @@\n"
    moved += "".join(f"-{x}\n" for x in body) + "".join(f"+{x}\n" for x in shuffled)
    many = "".join(
        f"--- /dev/null\n+++ b/src/A{n}.cs\n@@ -0,0 +1,12 @@\n"
        + "".join(f"+{x}\n" for x in body[n * 12 : n * 12 + 12])
        for n in range(3_000)
    )
    cases = {"new": new, "changed": changed, "deleted": gone, "moved": moved, "3,000 files": many}
    return [
        Case(f"{len(body):,} lines of C#, {name}", text, (REVIEW,), "hashing")
        for name, text in cases.items()
    ]


def measure_all(cases: list[Case]) -> list[Cost]:
    return [measure(case) for case in cases]


def measure(case: Case) -> Cost:
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(240)
    began, cpu, error = time.perf_counter(), time.process_time(), ""
    scorer = Scorer(encoder=case.encoder, analyzers="none", threshold=None)
    from crscore import plugins  # noqa: PLC0415

    try:
        result = scorer.score(case.diff, tuple(Comment(body=one) for one in case.comments))
        for name in plugins.names("reports"):
            plugins.create("reports", name)([result])
    except TimeoutError:
        error = "stopped after 240 s"
    except Exception as exc:  # noqa: BLE001
        error = f"{type(exc).__name__}: {exc}"[:100]
    signal.alarm(0)
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    spent = time.perf_counter() - began, time.process_time() - cpu
    return Cost(case.name, *spent, used, error)


def _give_up(*_: object) -> None:
    raise TimeoutError


def cases_of(part: str, quick: bool) -> list[Case]:
    if part == "reviews":
        return review_cases()
    if part == "files":
        return file_cases()
    units, files = QUICK if quick else (UNITS, FILES)
    make = line_case if part == "lines" else stack_case
    return [make(unit, path) for path, unit in itertools.product(files, units)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="run a ninth of `lines` and `stacks`")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--workers", type=int, default=1)
    chosen = parser.parse_args()
    methods = multiprocessing.get_context("forkserver")
    for part in [chosen.only] if chosen.only else PARTS:
        cases = cases_of(part, chosen.quick)
        size = len(QUICK[0] if chosen.quick else UNITS) if part in ("lines", "stacks") else 1
        batches = [cases[at : at + size] for at in range(0, len(cases), size)]
        with ProcessPoolExecutor(chosen.workers, methods, max_tasks_per_child=1) as pool:
            costs = sorted(
                itertools.chain(*pool.map(measure_all, batches)), key=lambda one: -one.time
            )
        over = [one for one in costs if one.time > SECONDS or one.megabytes > MEGABYTES]
        largest = max(one.megabytes for one in costs)
        print(
            f"{part}: {len(costs)} cases, {len(over)} over {SECONDS} s or {MEGABYTES} MB; "
            f"worst {costs[0].time:.1f} s, {largest:.0f} MB",
            flush=True,
        )
        shown = {one.name: one for one in (*costs[:20], *over, *(c for c in costs if c.error))}
        for one in shown.values():
            print(
                f"  {one.seconds:7.1f} s {one.cpu:7.1f} s CPU {one.megabytes:6.0f} MB  "
                f"{one.name}  {one.error}"
            )


if __name__ == "__main__":
    main()
