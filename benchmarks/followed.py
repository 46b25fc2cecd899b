"""Measure how well an audit finds out whether a comment was acted on, on real comments.

    python benchmarks/followed.py DATA

DATA is the folder of `crscore train usefulness`. Each comment in its
`real-comments/followed-dev.jsonl.gz` has a hunk, the later change of the file, and the answer of a
language model to whether the comment was addressed, which counts as the truth here. The files are
reconstructed from the lines of the hunk and the change. The constant `REACH` of the rule was chosen
on all these comments, so none of them are held out. The largest repository has 579 of the 801
comments and is shown separately.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from crscore.audit.score.followed import DIFF, MIN_UNITS, REACH, is_changed
from crscore.diff.parse import parse_diff

LARGEST = "pokt-network/pocket"
HEADER = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def read_hunks(diff):
    """Return, for each hunk, the number of its first old line and its lines as (mark, text)."""
    hunks = []
    for line in diff.splitlines():
        if match := HEADER.match(line):
            hunks.append((int(match[1]), []))
        elif hunks and line[:1] in (" ", "+", "-", ""):
            hunks[-1][1].append((line[:1] or " ", line[1:]))
    return hunks


def make_files(row):
    """Return the lines of the file commented on and of the later file, None if it was deleted."""
    later, known = row["later_to_merge"] or "", {}
    if match := HEADER.match(row["diff_hunk"]):
        at = int(match[2])
        for line in row["diff_hunk"].split("\n")[1:]:
            if line[:1] in ("+", " "):
                known[at] = line[1:]
                at += 1
    for at, lines in read_hunks(later):
        old_lines = [text for mark, text in lines if mark != "+"]
        known |= dict(enumerate(old_lines, at))
    size = max([*known, row["line"]])
    # A line that is in neither the hunk nor the change is the same in both files.
    old = [known.get(at, f"unknown_{at}") for at in range(1, size + 1)]
    new, at = [], 0
    for start, lines in read_hunks(later):
        first = start - 1 if any(mark != "+" for mark, _ in lines) else start
        new += old[at:first]
        new += [text for mark, text in lines if mark != "-"]
        at = first + sum(mark != "+" for mark, _ in lines)
    is_deleted = "\n+++ /dev/null" in later[:2000]
    return old, None if is_deleted else [*new, *old[at:]]


def compare(folder, old, new):
    """Return the change between two versions, by git; None if they are equal."""
    for name, lines in (("old", old), ("new", new)):
        text = "".join(f"{line}\n" for line in lines)
        (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    command = ["git", *DIFF, "-U0", "--no-index", "old", "new"]
    # The exit code is not checked: it is 1 if the files differ.
    text = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout
    return parse_diff(text).files[0] if text else None


def hunk_lines(row):
    """Return the line numbers of a comment's hunk in the new file."""
    match = HEADER.match(row["diff_hunk"])
    start = int(match[2]) if match else row["line"]
    lines = sum(line[:1] in ("+", " ") for line in row["diff_hunk"].split("\n")[1:])
    return range(start, max(start + lines, row["line"] + 1))


def share_of_hunk(row, file, lines):
    """Return the share of the other lines added by the hunk that count as changed.

    None if there are less than `MIN_UNITS` of them. The hunks in the data end at the comment.
    """
    marks = [line[:1] for line in row["diff_hunk"].split("\n")[1:] if line[:1] in ("+", " ")]
    added = [at for at, mark in enumerate(marks, hunk_lines(row).start) if mark == "+"]
    others = [at for at in added if at + REACH < lines.start or at > lines.stop + REACH]
    if len(others) < MIN_UNITS:
        return None
    return sum(is_changed(file, range(at, at + 1)) for at in others) / len(others)


def judge(row, folder, bases):
    """Return rule -> whether the comment was acted on; add its base rate to `bases`."""
    old, new = make_files(row)
    lines = range(row["start_line"] or row["line"], row["line"] + 1)
    if new is None:
        return {"hunk": True, "lines": True, "acted on": True}
    file = compare(folder, old, new)
    share = share_of_hunk(row, file, lines)
    if share is not None:
        bases[row["writer"]].append((share, is_changed(file, lines)))
    return {
        "hunk": is_changed(file, hunk_lines(row), reach=1),
        "lines": is_changed(file, lines, reach=0),
        "acted on": is_changed(file, lines, reach=REACH),
    }


def is_single(row):
    """Return whether a comment is on a single line."""
    return row["start_line"] in (None, row["line"])


def scores(pairs):
    """Return precision, recall and F1 of pairs (what the rule says, truth)."""
    right = sum(bool(said and true) for said, true in pairs)
    positive, true = sum(bool(said) for said, _ in pairs), sum(true for _, true in pairs)
    return right / max(positive, 1), right / max(true, 1), 2 * right / max(positive + true, 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    path = parser.parse_args().data / "real-comments" / "followed-dev.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with tempfile.TemporaryDirectory() as folder:
        bases = defaultdict(list)
        judged = [(row, judge(row, Path(folder), bases)) for row in rows]
    for writer, pairs in bases.items():
        base, acted = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        print(f"{writer}: {len(pairs)} comments in hunks with other lines: {acted:.2f} acted on; "
              f"{base:.2f} of the other lines changed (base rate)")  # fmt: skip
    groups = {
        "all": lambda _: True,
        "largest repository": lambda row: row["repository"] == LARGEST,
        "other repositories": lambda row: row["repository"] != LARGEST,
        "people": lambda row: row["writer"] == "person",
        "bots": lambda row: row["writer"] == "bot",
        "on one line": is_single,
        "on a range": lambda row: not is_single(row),
        "people, one line": lambda row: row["writer"] == "person" and is_single(row),
        "people, a range": lambda row: row["writer"] == "person" and not is_single(row),
        "bots, one line": lambda row: row["writer"] == "bot" and is_single(row),
        "bots, a range": lambda row: row["writer"] == "bot" and not is_single(row),
    }
    print(f"{'':20} {'n':>4} {'true':>5}" + "".join(f"  {n:>19}" for n in judged[0][1]))
    for name, belongs in groups.items():
        group = [item for item in judged if belongs(item[0])]
        true = [row["addressed_said_by_a_model"] for row, _ in group]
        line = f"{name:20} {len(group):4} {sum(true) / len(true):5.2f}"
        for rule in judged[0][1]:
            said = [item[1][rule] for item in group]
            numbers = scores(list(zip(said, true, strict=True)))
            line += "  P{:.2f} R{:.2f} F1 {:.3f}".format(*numbers)
        print(line)


if __name__ == "__main__":
    main()
