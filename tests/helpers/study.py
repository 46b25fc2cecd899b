"""A small human study of our own, in the study format."""

import gzip
import json
from pathlib import Path

CLAIMS = {
    "py:1": ["The limit is raised from 10 to 20.", "The name of the table changes."],
    "py:2": ["A retry loop is added around the request."],
    "js:1": ["The discount parameter has a default of zero."],
}
REVIEWS = {
    "gpt3.5": ("{claim} Is that on purpose?", (4, 4, 4)),
    "llama3": ("Please look at this: {claim}", (5, 3, 4)),
    "codereviewer": ("Why the {word}?", (3, 2, 2)),
    "lstm": ("I think we can remove this.", (1, 1, 1)),
    "knn": ("", (1, 1, 1)),
    "ground_truth": ("{claim}", (5, 5, 5)),
}


def rows() -> list[dict]:
    made = []
    for change, claims in CLAIMS.items():
        reviews = [
            {
                "system": system,
                "text": text.format(claim=claims[0], word=claims[0].split()[1]),
                "conciseness": con,
                "comprehensiveness": comp,
                "relevance": rel,
                "addressed": [],
                "annotator": "a",
            }
            for system, (text, (con, comp, rel)) in REVIEWS.items()
        ]
        made.append(
            {
                "id": change,
                "language": "python" if change.startswith("py") else "javascript",
                "patch": f"@@ -1 +1 @@\n-limit = '{change}'\n+limit = 20\n",
                "old_source": f"limit = '{change}'\n",
                "new_source": "limit = 20\n",
                "llm_claims": [
                    {"text": text, "correctness": "correct", "annotator": "a"} for text in claims
                ],
                "pseudo_references": [
                    {"text": claims[0], "kind": "claim", "necessary": True},
                    {"text": "Unused variable `limit`.", "kind": "issue", "necessary": None},
                ],
                "reviews": reviews,
            }
        )
    return made


def write(path: Path, entries: list[dict] | None = None) -> Path:
    text = "\n".join(json.dumps(row) for row in (rows() if entries is None else entries)) + "\n"
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path
