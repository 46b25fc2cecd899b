"""Why a finding is or is not about a known problem, and answers of people who judged it by hand."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from crscore import jsonl
from crscore.bench.pairs import TextView, compare_locations, lack_of_claim
from crscore.bench.records import Finding, Problem
from crscore.bench.results import BenchResult
from crscore.errors import InputError
from crscore.text import stems_and_names

MAX_WORDS: Final = 5
"""Maximum number of shared words that a reason names, the rarest first."""
_WORD: Final = re.compile(r"[^\W\d]\w*")


def name_pair(change: str, problem: str, finding: str) -> str:
    """Return the identifier of two texts about a change: the same for every bot and in any order.

    Example:
        >>> name_pair("o/r#7", "It leaks.", "A leak.")
        '606a16abb8'
    """
    texts = "\0".join((change, problem, finding)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(texts).hexdigest()[:10]


def explain(
    finding: Finding,
    problem: Problem,
    views: Mapping[str, TextView],
    *,
    verdict: str,
) -> str:
    """Explain a decision: a verdict, the words that the texts share, and their locations."""
    finding_view, problem_view = views[finding.text], views[problem.text]
    shared = finding_view.stems.keys() & problem_view.stems.keys()
    words = {
        word.lower(): -max(problem_view.stems[stem] for stem in stems)
        for word in _WORD.findall(problem.text)
        if (stems := stems_and_names(word)[0] & shared)
    }
    rarest = sorted(words, key=lambda word: (words[word], word))[:MAX_WORDS]
    parts = [verdict] if verdict else []
    parts.append(f"both say {', '.join(rarest)}" if rarest else "no word in common")
    if not verdict.startswith("same names") and lack_of_claim(finding_view, problem_view):
        parts.append("little but names in common")
    location = compare_locations(finding, problem)
    if location:
        parts.append("same place" if location > 0 else "another file")
    elif finding.path and problem.path and finding.line and problem.line:
        parts.append(f"{abs(finding.line - problem.line):,} lines apart")
    return "; ".join(parts)


def find_obstacle(
    finding: Finding,
    problem: Problem,
    views: Mapping[str, TextView],
    *,
    is_taken: bool,
    answer: bool | None,
) -> str:
    """Return the verdict on the finding that is nearest to a missed problem."""
    if answer is False:
        return "judged by hand"
    if is_taken:
        return "matched with another problem"
    if lack_of_claim(views[finding.text], views[problem.text]):
        return "same names, another claim"
    return "another claim"


def read_decisions(path: Path) -> dict[str, bool]:
    """Read answers: JSON Lines of `id` and `same`; null is a pair without an answer.

    Raises:
        InputError: The file cannot be read, or a row is wrong or contradicts another one.
    """
    answers: dict[str, bool] = {}
    for location, row in jsonl.read_rows(jsonl.read_bytes(path, "decisions"), dict, path,
                                         "decisions"):  # fmt: skip
        name, is_same = row.get("id"), row.get("same")
        if not isinstance(name, str) or not (is_same is None or isinstance(is_same, bool)):
            raise InputError(f"{location}: expected id, and same: true, false or null")
        if is_same is not None and answers.setdefault(name, is_same) != is_same:
            raise InputError(f"{location}: {name} has two different answers")
    return answers


def write_decisions(result: BenchResult, answers: Mapping[str, bool]) -> str:
    """Write the unsure pairs as JSON Lines to fill in, below the answers so far."""
    rows: list[dict[str, Any]] = [{"id": id_, "same": answers[id_]} for id_ in sorted(answers)]
    rows += (
        {"id": pair.id, "same": None, "probability": pair.probability, "change": change.id,
         "problem": change.problems[pair.problem].text, "finding": pair.finding.text}
        for change in result.changes for pair in {pair.id: pair for pair in change.pairs}.values()
        if pair.is_unsure and pair.finding
    )  # fmt: skip
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)
