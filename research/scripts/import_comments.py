"""Convert published sets of real review comments to rows that `crscore validate --reader` reads.

    python research/scripts/import_comments.py FOLDER OUT

FOLDER has JSON Lines files (gzip) by the names in `SETS`: comments with their hunk, and what is
known of them. A row of OUT has `comment`, `patch`, `path`, `language`, `writer` (person or bot),
`group` (repository, pull request or hunk, which no split may divide), `source` and `outcomes`.
Comments without a hunk are left out, and their number is printed.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from crscore import io, jsonl

Row = dict[str, Any]
Outcomes = Callable[[Row], dict[str, float]]

SETS: Final[dict[str, Outcomes]] = {
    "accepted-dev": lambda row: {"accepted": row["accepted"]},
    "acted-dev": lambda row: {"acted_on": row["changed"]},
    "followed-dev": lambda row: {"followed": row["addressed_said_by_a_model"]},
    "categories-dev": lambda row: {"functional": row["category"] == "functional"},
    "dev": lambda row: {
        "informative": row["informativeness"],
        "relevant": row["relevance"],
        "clear": row["expression"],
    },
    "worth-dev": lambda row: {name: row[name] for name in ("worth", "importance")},
}
"""File -> its outcomes of a row."""


def convert(path: Path, outcomes: Outcomes) -> Iterator[Row | None]:
    """Yield each comment of a file, None for one without a hunk."""
    content = jsonl.read_bytes(path, "comments")
    for _, row in jsonl.read_rows(content, Row, path, "comments"):
        patch = row.get("patch") or row.get("diff_hunk")
        if not patch:
            yield None
            continue
        yield {
            "comment": row["comment"],
            "patch": patch,
            "path": row.get("path"),
            "language": row.get("language"),
            "writer": "person" if row.get("writer", "person") == "person" else "bot",
            "group": str(row.get("pull") or row.get("repository") or patch),
            "source": path.name,
            "outcomes": {name: float(value) for name, value in outcomes(row).items()},
        }


def main() -> None:
    """Convert the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("out")
    options = parser.parse_args()
    paths = {options.folder / f"{name}.jsonl.gz": outcomes for name, outcomes in SETS.items()}
    rows = [row for path, of in paths.items() if path.exists() for row in convert(path, of)]
    kept: dict[tuple[str, str], Row] = {}
    for row in filter(None, rows):
        # A comment may be in several sets.
        first = kept.setdefault((row["comment"], row["patch"]), row)
        first["outcomes"] |= row["outcomes"]
    io.write_text("".join(json.dumps(row) + "\n" for row in kept.values()), options.out)
    print(f"{len(kept):,} comments; rows without a hunk: {rows.count(None):,}")


if __name__ == "__main__":
    main()
