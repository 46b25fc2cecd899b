"""Check how well answers of language models about claims are parsed.

    python benchmarks/claims.py DATA CLAIMS

DATA is the file of the human study, and CLAIMS a file of changes with a model's `completion`.
Prints how many claims and implications `claims/answer.py` reads from the study's GPT-4o answers and
from the GPT-4 completions, and how many of them still contain headers, numbers or Markdown, which
should be none.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from crscore.claims.answer import read_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

LEFT_OVER = {
    "number": re.compile(r"^\W{0,3}\(?\d{1,3}[.)]\s"),
    "bullet": re.compile(r"^\s*[-*•#>]\s"),
    "header": re.compile(r"^\W*(?:summary of|implications?\b\W*$|implications?:)", re.IGNORECASE),
    "label": re.compile(r":\s*$"),
    "bold": re.compile(r"\*\*\w[^*`]*\w\*\*"),
}


def rows(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def print_parsed(name: str, answers: Sequence[str]) -> None:
    answers_parsed = [read_answer(raw) for raw in answers]
    left = Counter(
        kind
        for answer in answers_parsed
        for text in (*answer.claims, *answer.implications)
        for kind, pattern in LEFT_OVER.items()
        if pattern.search(text)
    )
    empty = sum(not answer.claims for answer in answers_parsed)
    cut = sum(answer.cut for answer in answers_parsed)
    print(f"\n{name}: {len(answers)} answers, {empty} without claims, {cut} truncated,")
    print(f"headers, numbers and Markdown left in claims: {dict(left)}")
    print(f"{'':14} mean  min  max  number of answers with 0, 1, 2, ... of them")
    for kind, counts in (
        ("claims", [len(answer.claims) for answer in answers_parsed]),
        ("implications", [len(answer.implications) for answer in answers_parsed]),
    ):
        many = Counter(counts)
        spread = " ".join(str(many[count]) for count in range(max(counts) + 1))
        print(f"{kind:14} {mean(counts):4.2f} {min(counts):4} {max(counts):4}  {spread}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("claims", type=Path)
    options = parser.parse_args()
    study, labels = rows(options.data), rows(options.claims)
    asked = [row for row in study if row["gpt4o_claims_raw"] is not None]
    print_parsed("GPT-4o, the study", [row["gpt4o_claims_raw"] for row in asked])
    print_parsed("GPT-4, training rows", [row["completion"] for row in labels])


if __name__ == "__main__":
    main()
