"""Measure how often the verdicts on what remarks say about the code are given, and are right.

    python benchmarks/verdicts.py DATA [--repository DIR]

DATA is the folder of `crscore train usefulness`. `statements.jsonl` has remarks about commits of
`DATA/commits/whole.jsonl.gz`. Half of the remarks of four parts are false; for each remark of the
first three parts, two readers who had not written it agreed on the truth from the code alone. The
parts `natural` and `natural, last` are true comments in the style of reviewers, by writers who did
not know the checks. Also prints the verdicts on findings of real pull requests that experts
accepted or rejected, with their hunk alone, and the share of the run time that the verdicts take.

`--repository` takes a clone of this project with its history. `repository_statements.jsonl` has
remarks about 40 of its commits, on callers, tests and files outside of the diff. They were written
before the checks, and the checks were developed on the first part only. Verdicts are printed with
and without the rest of the repository. The part `natural` is about 14 further commits.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections import Counter, defaultdict
from pathlib import Path
from unittest import mock

from msgspec.structs import replace

from crscore import Scorer, pipeline
from crscore.diff import checkout, git, parse
from crscore.diff.parse import DiffLimits
from crscore.errors import DiffParseError
from crscore.records import Comment, Diff, Verdict
from crscore.review.read import parse_comment, sentences_of
from crscore.syntax.change import ParsedChange
from crscore.verdicts.judge import judge_remarks
from crscore.verdicts.repository import Repository


def read_rows(path: Path) -> list[dict]:
    """Read JSON Lines, plain or gzip."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_diff(row: dict) -> Diff:
    """Parse a commit with its full files."""
    diff = parse.parse_diff(row["diff"])
    files = []
    for file in diff.files:
        old, new = row["files"].get(file.path, (None, None))
        if file.old_path in row["files"]:
            old = row["files"][file.old_path][0]
        files.append(replace(file, old_source=old, new_source=new))
    return replace(diff, files=tuple(files))


def judge(diff: Diff, comment: Comment, repository: Repository | None = None) -> Verdict:
    units = sentences_of([parse_comment(comment, diff, "markdown")])
    (receipt,) = judge_remarks([units], [comment], [()], ParsedChange.of(diff), repository)
    return receipt.verdict if receipt else Verdict.UNPROVEN


def comment_of(row: dict) -> Comment:
    return Comment(body=row["text"], path=row.get("path"), line=row.get("line"))


def measure_statements(data: Path) -> None:
    commits = {row["commit"][:12]: row for row in read_rows(data / "commits/whole.jsonl.gz")}
    diffs: dict[str, Diff] = {}
    parts: dict[str, Counter] = defaultdict(Counter)
    for row in read_rows(Path(__file__).with_name("statements.jsonl")):
        key = row["commit"]
        diff = diffs.setdefault(key, read_diff(commits[key]))
        verdict = judge(diff, comment_of(row))
        parts[row["part"]][row["truth"], verdict] += 1
        parts[f"{row['part']}, {row['relation']}"][row["truth"], verdict] += 1
    print_parts(parts)


def measure_repository(folder: Path) -> None:
    """Print verdicts on remarks about commits of a repository, by the diff alone and with it."""
    parts: dict[str, Counter] = defaultdict(Counter)
    changes: dict[str, tuple[Diff, Repository]] = {}
    for row in read_rows(Path(__file__).with_name("repository_statements.jsonl")):
        commit = row["commit"]
        if commit not in changes:
            changes[commit] = read_commit(folder, commit)
        diff, repository = changes[commit]
        for name, others in (("alone", None), ("with the repository", repository)):
            verdict = judge(diff, comment_of(row), others)
            for part in (row["part"], f"{row['part']}, {row['relation']}"):
                parts[f"{part}, {name}"][row["truth"], verdict] += 1
    print_parts(parts)


def read_commit(folder: Path, commit: str) -> tuple[Diff, Repository]:
    """Return the change of a commit, and the repository at this commit."""
    names = git.run_git(("rev-parse", f"{commit}^", commit), folder=folder).decode().split()
    found, reason = checkout.find_checkout(folder, *names)
    if found is None:
        raise SystemExit(f"{commit}: {reason}")
    return found.change(DiffLimits())[0], Repository(found.tree)


def print_parts(parts: dict[str, Counter]) -> None:
    for name, counts in sorted(parts.items()):
        true, false = (
            {verdict: counts[truth, verdict] for verdict in Verdict} for truth in (True, False)
        )
        refuted, confirmed = (
            true[verdict] + false[verdict] for verdict in (Verdict.REFUTED, Verdict.CONFIRMED)
        )
        print(
            f"{name}: refuted {false[Verdict.REFUTED]} of {sum(false.values())} false remarks "
            f"and {true[Verdict.REFUTED]} of {sum(true.values())} true remarks; "
            f"confirmed {true[Verdict.CONFIRMED]} true and "
            f"{false[Verdict.CONFIRMED]} false remarks; "
            f"right: {false[Verdict.REFUTED] / max(1, refuted):.2f} of refutations, "
            f"{true[Verdict.CONFIRMED] / max(1, confirmed):.2f} of confirmations"
        )


def measure_findings(data: Path) -> None:
    counts: dict[bool, Counter] = {True: Counter(), False: Counter()}
    for row in read_rows(data / "real-comments/accepted-dev.jsonl.gz"):
        if not row["diff_hunk"]:
            continue
        try:
            diff = parse.parse_diff(row["diff_hunk"], path=row["path"])
        except DiffParseError:
            continue
        comment = Comment(body=row["comment"], path=row["path"], line=row["to_line"])
        counts[bool(row["accepted"])][judge(diff, comment)] += 1
    for accepted, verdicts in counts.items():
        numbers = ", ".join(f"{verdict.value} {verdicts[verdict]}" for verdict in Verdict)
        print(f"findings {'accepted' if accepted else 'rejected'} by experts: {numbers}")


def measure_cost(data: Path) -> None:
    commits = read_rows(data / "commits/whole.jsonl.gz")
    rows = read_rows(Path(__file__).with_name("statements.jsonl"))
    texts: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        texts[row["commit"]].append(row["text"])
    pairs = [
        (read_diff(row), "\n\n".join(texts[row["commit"][:12]]))
        for row in commits
        if row["commit"][:12] in texts
    ][:60]
    scorer = Scorer(analyzers="none")
    scorer.score_many(pairs[:1])  # loads the models
    spent = []

    def judge_timed(*args):
        started = time.process_time()
        receipts = judge_remarks(*args)
        spent.append(time.process_time() - started)
        return receipts

    with mock.patch.object(pipeline, "judge_remarks", judge_timed):
        started = time.process_time()
        for pair in pairs:
            scorer.score_many([pair])
        share = sum(spent) / (time.process_time() - started)
    print(f"verdicts take {share:.0%} of the CPU time of {len(pairs)} commits")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=re.split(r"\n", __doc__)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--repository", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    data = arguments.data
    if arguments.repository:
        measure_repository(arguments.repository)
        return
    measure_statements(data)
    measure_findings(data)
    measure_cost(data)


if __name__ == "__main__":
    main()
