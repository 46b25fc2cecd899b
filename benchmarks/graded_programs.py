"""Reads programs of HumanEval with the results of their tests (`humaneval-*.jsonl.gz`)."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from crscore.code.execution.programs import Completion, Problem

if TYPE_CHECKING:
    from pathlib import Path


def read_graded(path: Path) -> tuple[dict[str, Problem], dict[Completion, str]]:
    """Return the problems by name, and the status of each completion; `OK` if it passed."""
    problems: dict[str, Problem] = {}
    statuses: dict[Completion, str] = {}
    for row in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
        name, language = str(row["task"]), row["language"].lower()
        problems[name] = Problem(
            id=name,
            tests=row["tests"],
            language={"c++": "cpp", "js": "javascript", "py": "python"}.get(language, language),
            prompt=row["prompt"],
            solution=row["reference"] or None,
        )
        # In the data, the first line of a completion has lost its indentation.
        last = row["prompt"].rstrip().rpartition("\n")[2]
        margin = last[: len(last) - len(last.lstrip())] if language == "python" else ""
        for index, code, status in row["completions"]:
            whole = margin + code if code[:1].strip() else code
            statuses[Completion(problem=name, code=whole, index=index)] = status
    return problems, statuses
