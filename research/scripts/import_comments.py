"""Convert published sets of real review comments to rows that `crscore validate --reader` reads.

    python research/scripts/import_comments.py FOLDER OUT

FOLDER has JSON Lines files (gzip) with the names in `SETS`. They contain comments with their hunks
and outcomes. A row of OUT has the fields `comment`, `patch`, `path`, `language`, `writer` (person
or bot), `group` (repository, pull request or hunk, which no split may divide), `source` and
`outcomes`. Comments without a hunk are left out, and their number is printed.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from crscore import io, jsonl

SETS: Final = {
    "accepted-dev": {"accepted": "accepted"},
    "acted-dev": {"acted_on": "changed"},
    "followed-dev": {"followed": "addressed_said_by_a_model"},
    "dev": {"informative": "informativeness", "relevant": "relevance", "clear": "expression"},
    "worth-dev": {"worth": "worth", "importance": "importance"},
}
"""File -> outcome -> field of the file with this outcome."""


def convert(row: dict[str, Any], patch: str, source: str) -> dict[str, Any]:
    """Return the row of one comment."""
    return {
        "comment": row["comment"],
        "patch": patch,
        "path": row.get("path"),
        "language": row.get("language"),
        "writer": "person" if row.get("writer", "person") == "person" else "bot",
        "group": str(row.get("pull") or row.get("repository") or patch),
        "source": source,
        "outcomes": {name: float(row[field]) for name, field in SETS[source].items()},
    }


def main(folder: str, out: str) -> None:
    """Convert those files of `SETS` that exist."""
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    left_out = 0
    for path in (path for name in SETS if (path := Path(folder, f"{name}.jsonl.gz")).exists()):
        content = jsonl.read_bytes(path, "comments")
        for _, row in jsonl.read_rows(content, dict[str, Any], path, "comments"):
            patch = row.get("patch") or row.get("diff_hunk")
            left_out += not patch
            if patch:
                made = convert(row, patch, path.name.partition(".")[0])
                # A comment may be in several sets.
                first = kept.setdefault((row["comment"], patch), made)
                first["outcomes"] |= made["outcomes"]
    io.write_text("".join(json.dumps(row) + "\n" for row in kept.values()), out)
    print(f"{len(kept):,} comments; rows without a hunk: {left_out:,}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("expected two arguments: FOLDER OUT")
    main(*sys.argv[1:])
