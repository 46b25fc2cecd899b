"""A small clone in the layout of the published human study, with text of our own.

The Python sheets are filled up so that the annotators hand over at the true rows: in both
phases change 13 stands on the last row that b's sheet counts for, change 14 on the first of a's.
"""

import csv
import io
import json
from pathlib import Path

CLAIM_ROWS = {"py": 246, "java": 3, "js": 3}
FIRST = {"py": 11, "java": 21, "js": 31}  # the index of the first change
REVIEW_ROWS = {"py": 500, "java": 3, "js": 3}
DIFF = "@@ -1,2 +1,2 @@\n \tkeep = 1\n-\told = 2\n+\tnew = 3"
LEGEND = "Correctness\n1: true\n0: false\n-1: cannot tell\n-2: unclear"
BASE = ("id", "index", "diff", "claim", "correctness", "based on diff", "additional claims")
FILES = ("old_file", "new_file")
RATED = (
    *("id", "index", "diff", "claim_no", "claim", "necessary?", "type", "review", "system"),
    *("claims addressed", "Con (P)", "Comp (R)", "Rel (F)", *FILES),
)
PEOPLE = {"atharva": "a", "marcus": "b"}

Table = list[dict[str, str]]


def diff(index: int) -> str:
    return DIFF.replace("new", f"new_{index}")


def _first(index: int, suffix: str, text: str) -> dict[str, str]:
    return {
        "id": f"{index}",
        "index": f"{index}",
        "diff": text,
        "old_file": f"test{index}_old.{suffix}",
        "new_file": f"test{index}_new.{suffix}",
    }


def _claims(suffix: str, index: int, claims: list[tuple[str, str, str]]) -> Table:
    rows = [
        {"claim": claim, "correctness": code, "additional claims": added}
        for claim, code, added in claims
    ]
    rows[0] |= _first(index, suffix, diff(index))
    return rows


def phase1(suffix: str, who: str) -> Table:
    """Four changes in Python, one elsewhere; both judge the first one and those at the seam."""
    b = who == "b"
    table = _claims(
        suffix,
        FIRST[suffix],
        [
            ("The value of `new` is 3.", "1" if b else "0", "A line is kept."),
            ("The loop is gone.", "0", ""),
            ("Nobody will notice,\nsays “the” model.", "-1.0" if b else "", ""),
        ],
    )
    if suffix != "py":
        return table
    filler = CLAIM_ROWS["py"] - len(table) - 1
    table += _claims(suffix, 12, [(f"Filler {n}.", "1" if b else "", "") for n in range(filler)])
    table += _claims(suffix, 13, [("Last of b.", "1" if b else "-2", "-")])
    table += _claims(
        suffix,
        14,
        [
            ("First of a.", "2" if b else "-2", "" if b else "One more.\n Two more.\n"),
            ("Nobody says.", "", ""),
            ("A slip.", "?", ""),
        ],
    )
    return table


def phase2(suffix: str, who: str) -> Table:
    """The same changes with their tabs expanded; b rates what comes first, both rate a few."""
    b = who == "b"
    claims = [
        ("The value of `new` is 3.", "1", "claim"),
        ("A line is kept.", "TRUE", ""),
        ("line 2, Unused:\tAvoid `new`", "0", "issue"),
    ]
    reviews = [
        ("Is 3 right?\r\n\r\nIt was 2.", "gpt3.5_pred", "1, 3", ("5", "4", "4")),
        ("", "knn_pred", "-", ("1", "1", "1")),
        ("Why, “though”?", "msg", "2", ("3", "2", "")),
        ("ok ", "stable_code_pred", "2.0,9, x", ("2.0", "2", "2")),
    ]
    table = []
    for number, (text, system, addressed, marks) in enumerate(reviews):
        row = {"review": text, "system": system}
        if number < len(claims):
            row |= dict(zip(("claim", "necessary?", "type"), claims[number], strict=True))
            row["claim_no"] = str(number + 1)
        if b:
            row |= {"claims addressed": addressed} | _marks(marks)
        elif system == "gpt3.5_pred":
            row |= {"claims addressed": "1"} | _marks(("4", "4", "4"))
        table.append(row)
    index = FIRST[suffix]
    table[0] |= _first(index, suffix, diff(index).expandtabs(4))
    if suffix != "py":
        return table
    table += [
        {"review": "Fill.", "system": "lstm_pred", **(_marks(("1", "1", "1")) if b else {})},
        *[{"claim_no": str(n)} for n in range(REVIEW_ROWS["py"] - len(table) - 2)],
    ]
    table[4] |= _first(12, suffix, diff(12))
    for index, by_b, by_a in ((13, "2", "4"), (14, "3", "5")):
        mark = by_b if b else by_a
        table.append({"review": f"Of {index}.", "system": "llama3_pred", **_marks((mark,) * 3)})
        table[-1] |= _first(index, suffix, diff(index))
    table.append({"review": "Nobody got here.", "system": "lstm_pred"})
    table[-1] |= _first(15, suffix, diff(15))
    return table


def _marks(marks: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(("Con (P)", "Comp (R)", "Rel (F)"), marks, strict=True))


def tables() -> dict[str, Table]:
    """File name below `human_study` -> rows; change them before `write`."""
    made = {}
    for suffix in CLAIM_ROWS:
        base = phase1(suffix, "b")
        made[f"phase1/{suffix}_claim_acc_annot.csv"] = [
            row | {"correctness": "", "additional claims": ""} for row in base
        ]
        for name, who in PEOPLE.items():
            made[f"phase1/{suffix}_claim_acc_annot_{name}.csv"] = phase1(suffix, who)
            made[f"phase2/{suffix}_{name}_review_qual_final.csv"] = phase2(suffix, who)
    return made


def write(root: Path, made: dict[str, Table] | None = None) -> Path:
    """Write the clone and return its root."""
    study = root / "human_study"
    sources = study / "phase1" / "context_files"
    sources.mkdir(parents=True)
    (study / "phase2").mkdir()
    for name, rows in (tables() if made is None else made).items():
        by_someone = "phase1" in name and not name.endswith("annot.csv")
        columns = (*BASE, *FILES) if "phase1" in name else RATED
        stream = io.StringIO(newline="")
        writer = csv.DictWriter(stream, columns, restval="")
        heads = [LEGEND if by_someone and column == "correctness" else column for column in columns]
        csv.writer(stream).writerow(heads)
        writer.writerows(rows)
        # Some programs put a byte order mark before UTF-8, others do not.
        (study / name).write_bytes(stream.getvalue().encode("utf-8-sig" if by_someone else "utf-8"))
    for suffix in CLAIM_ROWS:
        for index in (FIRST[suffix], 12, 13, 14):
            (sources / f"test{index}_old.{suffix}").write_bytes(b"\tkeep = 1\r\n\told = 2\r\n")
            (sources / f"test{index}_new.{suffix}").write_text(
                "\tkeep = 1\n\tnew = 3 # é\n", "utf-8"
            )
    answers = root / "experiments" / "code_change_summ_finetune_impl" / "gpt-4o.jsonl"
    answers.parent.mkdir(parents=True)
    lines = [
        {"code_change": diff(11), "response": "1. It is 3."},
        {"code_change": "", "response": ""},
    ]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return root
