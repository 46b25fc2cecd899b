"""A small corpus of our own, laid out as `crscore.lab.training.data.corpus.FILES`."""

import gzip
import json
from pathlib import Path
from typing import Any

from crscore.lab.training.data.corpus import FILES
from tests.helpers import study

NAMES = (
    "limit", "window", "buffer", "queue", "socket", "cursor", "header", "margin", "folder",
    "bucket", "ticket", "filter",
)  # fmt: skip
SAID = (
    ("Please rename `{0}`, it should be plural.", 1),
    ("Nice `{0}`!", 0),
    ("`{0}` leaks when the second call throws. Please close it.", 1),
    ("Thanks, the {0} looks good.", 0),
)


def patch(name: str, lines: int = 2) -> str:
    more = "".join(f"+{name}_{at} = {at}\n" for at in range(lines - 2))
    size = lines - 1
    return (
        f"--- a/{name}.py\n+++ b/{name}.py\n@@ -1 +1,{size} @@\n-{name} = 10\n+{name} = 20\n{more}"
    )


def rows() -> dict[str, list[dict[str, Any]]]:
    """Rows of each file, by the file's key."""
    parts: dict[str, list[dict[str, Any]]] = {part: [] for part in FILES}
    for name in NAMES:
        for row in study.full_rows():
            text = json.dumps(row).replace("limit", name).replace('"py:', f'"py:{name}')
            parts["study"].append(json.loads(text.replace('"js:', f'"js:{name}')))
    for at, name in enumerate(NAMES):
        text, good = SAID[at % len(SAID)]
        other, acted = SAID[(at + 1) % len(SAID)]
        size = (2, 9, 20)[at % 3]
        parts["rated"].append(
            {
                "comment": text.format(name),
                "patch": patch(name, size),
                "language": "python",
                "relevance": 1,
                "informativeness": good,
                "expression": at % 2,
            }
        )
        parts["acted"].append(
            {
                "comment": other.format(name),
                "diff_hunk": f"@@ -1 +1 @@\n-{name} = 1\n+{name} = {at}\n",
                "path": f"src/{name}.py",
                "changed": bool(acted),
                "writer": "person" if at % 3 else "bot",
            }
        )
        parts["commits"].append(
            {
                "repository": f"me/{name[:1]}",
                "commit": f"{at:040}",
                "subject": f"Raise the {name} to 20",
                "body": f"The {name} was too low for the nightly runs. " * 3,
                "diff": patch(name),
            }
        )
    for name in NAMES[:2]:
        parts["claims"].append(
            {"patch": patch(name), "completion": f"1. The {name} was 10.\n2) It is 20 now.\n"}
        )
    return parts


def write(folder: Path, parts: dict[str, list[dict[str, Any]]] | None = None) -> Path:
    for part, lines in (parts or rows()).items():
        path = folder / FILES[part]
        path.parent.mkdir(parents=True, exist_ok=True)
        content = "".join(json.dumps(line) + "\n" for line in lines)
        path.write_bytes(gzip.compress(content.encode(), mtime=0))
    return folder
