"""Whether recorded answers of language models parse, and which claims are kept.

    python benchmarks/claims.py DATA CLAIMS [--show]

DATA is the human study's file, CLAIMS a file of changes with a model's `completion`. First table:
claims and implications an answer, as `claims/llm/answer.py` reads the study's GPT-4o answers
and the GPT-4 completions, with what is left in them of headers, numbers and marks (0 is right).
Second: claims that people judged, and how many of them `claims/llm/grounding.py` keeps;
`elsewhere` compares each with another change of the same language, where a filter that looks at
the diff keeps few. The share for correct claims is also given for five groups of changes: the
rule was looked for on all of them, and has no weights that could be fitted. --show prints the
correct ones it drops.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from crscore.claims.llm.answer import ParsedAnswer, read_answer
from crscore.claims.llm.chunks import chunk_diff
from crscore.claims.llm.grounding import deduplicate, ground_claims
from crscore.diff import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.records import Diff

LEFT_OVER = {
    "number": re.compile(r"^\W{0,3}\(?\d{1,3}[.)]\s"),
    "bullet": re.compile(r"^\s*[-*•#>]\s"),
    "header": re.compile(r"^\W*(?:summary of|implications?\b\W*$|implications?:)", re.IGNORECASE),
    "label": re.compile(r":\s*$"),
    "bold": re.compile(r"\*\*\w[^*`]*\w\*\*"),
}
FOLDS = 5


def rows(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def parsing(name: str, answers: Sequence[str]) -> None:
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
    print(f"\n{name}: {len(answers)} answers, {empty} without claims, {cut} broke off,")
    print(f"headers, numbers and marks left over in claims: {dict(left)}")
    print(f"{'':14} mean  min  max  answers with 0, 1, 2, ... of them")
    for kind, counts in (
        ("claims", [len(answer.claims) for answer in answers_parsed]),
        ("implications", [len(answer.implications) for answer in answers_parsed]),
    ):
        many = Counter(counts)
        spread = " ".join(str(many[count]) for count in range(max(counts) + 1))
        print(f"{kind:14} {mean(counts):4.2f} {min(counts):4} {max(counts):4}  {spread}")


def keeps(text: str, change: Diff) -> bool:
    claim = ParsedAnswer(claims=(text,), implications=(), cut=False)
    return any(
        ground_claims(claim, chunk, source="").references for chunk in chunk_diff(change).chunks
    )


def kept(study: Sequence[dict[str, Any]], *, show: bool) -> None:
    changes = [parse.parse_diff(row["patch"], language=row["language"]) for row in study]
    rng = random.Random(0)
    tally: dict[tuple[str, str], list[bool]] = defaultdict(list)
    folds: dict[int, list[bool]] = defaultdict(list)
    for at, row in enumerate(study):
        same = [i for i, other in enumerate(study) if other["language"] == row["language"]]
        for claim in row["llm_claims"]:
            judged, text = str(claim["correctness"]), claim["text"]
            is_kept = keeps(text, changes[at])
            tally[judged, row["language"]].append(is_kept)
            tally[judged, "all"].append(is_kept)
            other = rng.choice([i for i in same if i != at])
            tally["elsewhere", row["language"]].append(keeps(text, changes[other]))
            tally["elsewhere", "all"].append(keeps(text, changes[other]))
            if judged == "correct":
                folds[at % FOLDS].append(is_kept)
                if show and not is_kept:
                    print("dropped:", row["id"], text)
    languages = sorted({row["language"] for row in study})
    print(
        f"\nkept of claims judged {'':8}" + "".join(f"{name:>20}" for name in (*languages, "all"))
    )
    for judged in ("correct", "incorrect", "unverifiable", "incomplete", "elsewhere"):
        cells = [tally[judged, language] for language in (*languages, "all")]
        shares = (f"{sum(cell)}/{len(cell)} = {share(cell):.3f}" for cell in cells)
        print(f"{judged:30}" + "".join(f"{text:>20}" for text in shares))
    print("correct, by fifth of the changes:", *(f"{share(folds[i]):.3f}" for i in range(FOLDS)))


def share(cell: Sequence[bool]) -> float:
    return sum(cell) / len(cell) if cell else 0.0


def answers_held(name: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Print the share dropped from whole answers of models without misleading input."""
    dropped: Counter[str] = Counter()
    total = merged = 0
    for patch, raw in pairs:
        answer = read_answer(raw)
        total += len(answer.claims) + len(answer.implications)
        chunk = chunk_diff(parse.parse_diff(patch)).chunks[0]
        grounded = ground_claims(answer, chunk, source=name)
        dropped += grounded.dropped
        merged += len(grounded.references) - len(deduplicate(grounded.references))
    shares = ", ".join(f"{why} {n / total:.4f}" for why, n in dropped.most_common())
    print(f"{name}: of {total} sentences dropped: {shares}; merged {merged / total:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("claims", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    study, labels = rows(options.data), rows(options.claims)
    asked = [row for row in study if row["gpt4o_claims_raw"] is not None]
    parsing("GPT-4o, the study", [row["gpt4o_claims_raw"] for row in asked])
    parsing("GPT-4, training rows", [row["completion"] for row in labels])
    kept(study, show=options.show)
    print()
    answers_held("GPT-4o", ((row["patch"], row["gpt4o_claims_raw"]) for row in asked))
    answers_held("GPT-4", ((row["patch"], row["completion"]) for row in labels))


if __name__ == "__main__":
    main()
