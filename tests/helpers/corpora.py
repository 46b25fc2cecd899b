"""A small corpus of our own, laid out as `crscore_lab.training.data.corpus.FILES`."""

import gzip
import json
from pathlib import Path
from typing import Any

from crscore_lab.training.data import corpus
from crscore_lab.training.data.corpus import FILES
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
FINDING = "`{0}` may be negative."
WORDINGS = (*corpus._WORDING_STANCES, *corpus._EMPTY_WORDINGS)


def patch(name: str, lines: int = 2) -> str:
    more = "".join(f"+{name}_{at} = {at}\n" for at in range(lines - 2))
    size = lines - 1
    return (
        f"--- a/{name}.py\n+++ b/{name}.py\n@@ -1 +1,{size} @@\n-{name} = 10\n+{name} = 20\n{more}"
    )


def rows() -> dict[str, list[dict[str, Any]]]:
    """Rows of each file, by the file's key."""
    parts: dict[str, list[dict[str, Any]]] = {part: [] for part in FILES}
    for at, name in enumerate(NAMES):
        for row in study.full_rows():
            text = json.dumps(row).replace("limit", name).replace('"py:', f'"py:{name}')
            parts["study"].append(json.loads(text.replace('"js:', f'"js:{name}')))
        for part, row in _rows_of(at, name).items():
            parts[part].append(row)
    for name in NAMES[:2]:
        parts["claims"].append(
            {"patch": patch(name), "completion": f"1. The {name} was 10.\n2) It is 20 now.\n"}
        )
    judged = {"stance": "problem", "importance": 3, "worth": 4}
    parts["worth"].append({"comment": FINDING.format(NAMES[0]), "diff_hunk": ""} | judged)
    return parts


def _rows_of(at: int, name: str) -> dict[str, dict[str, Any]]:
    """Row of each file, apart from the study and the claims, for one name."""
    (text, good), (other, acted) = (SAID[(at + step) % len(SAID)] for step in (0, 1))
    hunk = f"@@ -1 +1 @@\n-{name} = 1\n+{name} = {at}\n"
    comment = {"comment": other.format(name), "diff_hunk": hunk, "path": f"src/{name}.py"}
    writer = "person" if at % 3 else "bot"
    judged = {"stance": "request" if acted else "praise", "importance": 3 * acted, "worth": 2}
    finding = {"text": FINDING.format(name), "path": None, "line": None}
    return {
        "worth": {"comment": other.format(name), "diff_hunk": hunk if at % 4 else ""} | judged,
        "rated": {
            "comment": text.format(name),
            "patch": patch(name, (2, 9, 20)[at % 3]),
            "language": "python",
            "relevance": 1,
            "informativeness": good,
            "expression": at % 2,
        },
        "acted": comment | {"repository": f"a{at}", "changed": bool(acted), "writer": writer},
        "categories": comment
        | {
            "repository": f"c{at}",
            "category": ("functional", "discussion")[at % 2],
            "subcategory": ("logic", "praise", "check", "variable naming")[at % 4],
            "diff_hunk": (hunk, None, "@@ truncated")[at % 3],
        },
        "accepted": comment
        | {
            "pull": f"https://github.com/me/{name}/pull/{at}",
            "writer": writer,
            "category": ("Code Defect", "Other")[at % 2],
            "accepted": bool(acted),
            "diff_hunk": (None, hunk)[at % 2],
        },
        "followed": comment | {"repository": f"me/{name[:1]}", "pull": at // 6, "writer": "person"},
        "golden": {
            "pull": f"https://github.com/me/{name}/pull/{at}",
            "golden": [{"text": f"The {name} is off by one.", "severity": "High"}],
            "found": {"bot": {"judge": [finding | {"golden": None if at % 2 else 0}]}},
        },
        "commits": {
            "repository": f"me/{name[:1]}",
            "commit": f"{at:040}",
            "subject": f"Raise the {name} to 20",
            "body": f"The {name} was too low for the nightly runs. " * 3,
            "diff": patch(name),
        },
    }


def own_texts(name: str) -> list[dict[str, Any]]:
    """Texts like those of `judgements.read_texts`, on four of the commits."""
    commits = [
        {"repository": f"me/{thing[:1]}", "commit": f"{at:040}"}
        for at, thing in enumerate(NAMES[:4])
    ]
    rows: dict[str, list[dict[str, Any]]] = {
        "templates": [{"family": "empty_question", "text": f"Why {n} `{{a}}`?"} for n in range(9)],
        "written": [
            {"review": ["Why 20?", "Add a test."], "summary": ["It is 20."], "praise": ["Nice!"]}
        ],
        "comments": [
            {"stance": "request", "importance": 3, "worth": 4, "comment": "Please close {0}."}
        ] * len(commits),
        "wordings": [
            {"importance": 3} | {name: f"The {name} form of {{0}}." for name in WORDINGS}
        ] * len(commits),
        "contrasts": [
            {
                "describe": ["The {0} is 20."],
                "points": [{"text": "The {0} is lost.", "importance": 3}],
                "requests": [{"text": "Keep the {0}.", "importance": 2}],
            }
        ] * len(commits),
        "reviews": [
            {
                "points": [{"text": "Please close `{0}`.", "importance": 3}],
                "senior": "`{0}` leaks. Please close it.",
                "terse": "Please close `{0}`.",
                "nits": "Please rename `{0}`.",
                "summary": "The {0} is 20 now.",
                "generic": "Looks good!",
                "invented": "Please close `cache`.",
            }
        ] * len(commits),
    }  # fmt: skip
    if name == "templates":
        return rows[name]
    return [
        json.loads(json.dumps(row).replace("{0}", thing)) | commit
        for row, commit, thing in zip(rows[name], commits, NAMES, strict=False)
    ]


def write(folder: Path, parts: dict[str, list[dict[str, Any]]] | None = None) -> Path:
    for part, lines in (parts or rows()).items():
        path = folder / FILES[part]
        path.parent.mkdir(parents=True, exist_ok=True)
        content = "".join(json.dumps(line) + "\n" for line in lines)
        path.write_bytes(gzip.compress(content.encode(), mtime=0))
    return folder
