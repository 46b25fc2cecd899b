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
# Who counts for a change; the other one judged too where the study says so.
ANNOTATORS = {"py:1": "a", "py:2": "b", "js:1": "a"}
ADDRESSED = {"gpt3.5": [0], "llama3": [0], "codereviewer": [0], "ground_truth": [0, 1]}
# Of py:1 and py:2, by the annotator who does not count: one step lower on two reviews.
SECOND = {"gpt3.5": (4, 3, 3), "llama3": (5, 3, 4), "lstm": (1, 1, 1), "ground_truth": (5, 4, 5)}
CORRECTNESS = {
    "The limit is raised from 10 to 20.": ("correct", "correct"),
    "The name of the table changes.": ("incorrect", "unverifiable"),
    "A retry loop is added around the request.": ("incomplete", None),
    "The discount parameter has a default of zero.": ("correct", None),
}
ADDED = {"py:1": ["The comment above the limit is kept."]}


def rows() -> list[dict]:
    """Three changes with six reviews each, as an old file has them: one annotator, no second."""
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
                    {"text": claims[0], "kind": "claim"},
                    {"text": "Unused variable `limit`.", "kind": "issue"},
                ],
                "reviews": reviews,
            }
        )
    return made


def full_rows() -> list[dict]:
    """The same with all that the format can hold: links, judgements, two annotators."""
    made = rows()
    for row in made:
        first = ANNOTATORS[row["id"]]
        second = "b" if first == "a" else "a"
        row["added_claims"] = ADDED.get(row["id"], [])
        row["gpt4o_claims_raw"] = None
        for claim in row["llm_claims"]:
            one, other = CORRECTNESS[claim["text"]]
            claim |= {"correctness": one, "annotator": first}
            if other is not None:
                claim["by_annotator"] = {first: one, second: other}
        for review in row["reviews"]:
            review["annotator"] = first
            review["addressed"] = ADDRESSED.get(review["system"], [])
            if row["id"] != "js:1" and review["system"] in SECOND:
                con, comp, rel = SECOND[review["system"]]
                review["other_ratings"] = [
                    {
                        "annotator": second,
                        "conciseness": con,
                        "comprehensiveness": comp,
                        "relevance": rel,
                    }
                ]
    return made


def write(path: Path, entries: list[dict] | None = None) -> Path:
    text = "\n".join(json.dumps(row) for row in (rows() if entries is None else entries)) + "\n"
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


# What ruff says of it: `os` is not used (in the change), `json` is not either (it was not before).
ANALYSED = "import json\nimport os\n\n\ndef limit():\n    return 20\n"


def analysed_rows() -> list[dict]:
    """The full study; the changes in Python add an import that nothing uses."""
    made = full_rows()
    for row in made:
        if row["language"] == "python":
            number = row["id"][-1]
            row["patch"] = (
                "@@ -1,5 +1,6 @@\n import json\n+import os\n \n \n def limit():\n"
                f"-    return 1{number}\n+    return 20\n"
            )
            row["new_source"] = ANALYSED
            row["old_source"] = ANALYSED.replace("import os\n", "").replace("20", f"1{number}")
            row["pseudo_references"][1]["text"] = ISSUES[row["id"]]
    return made


ISSUES = {
    "py:1": "line 2, F401:\tImport of a module that nothing uses.",
    "py:2": "line 6, LooseCoupling:\tAvoid using implementation types.",
}
