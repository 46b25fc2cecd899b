"""The converter of sets of real comments, run as its users run it."""

import json
import subprocess
import sys
from pathlib import Path

from crscore import Scorer
from crscore_lab.study.data import comments
from tests.helpers import study as helper

SCRIPT = Path(__file__).parents[3] / "scripts" / "import_comments.py"
HUNK = "@@ -1 +1 @@\n-limit = 1\n+limit = 2\n"


def test_sets_become_rows_with_their_outcomes(tmp_path: Path) -> None:
    said = {"comment": "Why 2?", "diff_hunk": HUNK, "path": "a.py", "repository": "one"}
    other = {**said, "comment": "Use 3."}
    sets = {
        "acted-dev": [{**said, "writer": "person", "changed": True}],
        "accepted-dev": [
            {**other, "pull": "one/1", "writer": "model", "accepted": False},
            {**said, "diff_hunk": None, "writer": "model", "accepted": True},
        ],
        "worth-dev": [{**said, "writer": "person", "worth": 2.5, "importance": 1.0}],
    }
    for name, rows in sets.items():
        helper.write(tmp_path / f"{name}.jsonl.gz", rows)
    out = tmp_path / "comments.jsonl"
    words = [sys.executable, str(SCRIPT), str(tmp_path), str(out)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "2 comments; rows without a hunk: 1\n"
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(row["comment"], row["writer"], row["group"], row["outcomes"]) for row in rows] == [
        ("Use 3.", "bot", "one/1", {"accepted": 0}),
        ("Why 2?", "person", "one", {"acted_on": 1, "worth": 2.5, "importance": 1}),
    ]
    assert comments.is_comments(out)
    assert len(comments.read_comments(out, Scorer(analyzers="none")).rows) == 2
