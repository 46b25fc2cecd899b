"""Programs of HumanEval with the outcomes of their tests (`humaneval-*.jsonl.gz`)."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from crscore.code.execution.programs import Completion, Problem

if TYPE_CHECKING:
    from pathlib import Path


def read_graded(path: Path) -> tuple[dict[str, Problem], dict[Completion, str]]:
    """Read problems by name, and the status (`OK`, ...) of each completion of the file."""
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
        # The completions lost the indentation of their first line.
        last = row["prompt"].rstrip().rpartition("\n")[2]
        margin = last[: len(last) - len(last.lstrip())] if language == "python" else ""
        for index, code, status in row["completions"]:
            whole = margin + code if code[:1].strip() else code
            statuses[Completion(problem=name, code=whole, index=index)] = status
    return problems, statuses
