"""Explains why a finding is or is not about a known problem.

This module also reads and writes the decisions of people about pairs of a finding and a problem.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from crscore import jsonl
from crscore.bench.pairs import compare_locations
from crscore.bench.records import Finding, Problem
from crscore.bench.results import BenchResult
from crscore.errors import InputError
from crscore.reports import escape
from crscore.text import mask_names, stems_and_names
from crscore.usefulness.evidence import Rarity

MAX_WORDS: Final = 5
"""Maximum number of shared words that a reason names, the rarest first."""
OTHER_PROBLEM: Final = "matched with another problem"
"""Reason why a problem is missed although a finding matches it: a finding counts only once."""
_WORD: Final = re.compile(r"[^\W\d]\w*")


def name_pair(change: str, problem: str, finding: str) -> str:
    """Return the identifier of a problem and a finding about a change.

    The identifier is a hash of the texts, so it does not depend on the bot or on the order of the
    input.

    Example:
        >>> name_pair("o/r#7", "It leaks.", "A leak.")
        '606a16abb8'
    """
    # `surrogatepass`, because a text that was truncated within a character can end with a lone
    # surrogate.
    texts = "\0".join((change, problem, finding)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(texts).hexdigest()[:10]


def explain(
    finding: Finding,
    problem: Problem,
    rarity: Rarity,
    *,
    is_hit: bool,
    is_taken: bool,
    decided_by: str = "",
) -> str:
    """Explain why a finding is or is not about a problem.

    The explanation consists of a verdict, the words that both texts contain, and how their
    locations differ.

    Args:
        finding: The finding that is about the problem or is nearest to it.
        problem: The problem.
        rarity: How rare each word stem is in review comments.
        is_hit: Whether the finding was assigned to the problem.
        is_taken: Whether the finding matches this problem but was assigned to another one.
        decided_by: How the pair was decided, such as "judged by hand"; "" for the matcher.
    """
    shared = stems_and_names(finding.text)[0] & stems_and_names(problem.text)[0]
    claims = [stems_and_names(mask_names(side.text))[0] for side in (finding, problem)]
    words = {
        word.lower(): -max(rarity.of(stem) for stem in stems)
        for word in _WORD.findall(problem.text)
        if (stems := stems_and_names(word)[0] & shared)
    }
    rarest = sorted(words, key=lambda word: (words[word], word))[:MAX_WORDS]
    parts = [f"both say {', '.join(rarest)}" if rarest else "no word in common"]
    if is_taken:
        parts.insert(0, OTHER_PROBLEM)
    elif not is_hit and not decided_by:
        same_names = shared and not shared & claims[0] & claims[1]
        parts.insert(0, "same names, another claim" if same_names else "another claim")
    if decided_by:
        parts.insert(0, decided_by)
    location = compare_locations(finding, problem)
    if location:
        parts.append("same place" if location > 0 else "another file")
    elif finding.path and problem.path and finding.line and problem.line:
        parts.append(f"{abs(finding.line - problem.line):,} lines apart")
    return "; ".join(parts)


def read_decisions(path: Path) -> dict[str, bool]:
    """Read decisions about pairs from JSON Lines with the fields `id` and `same`.

    `id` is the identifier of a pair (see `name_pair`), and `same` says whether its finding is about
    its problem; null means that nobody has decided yet.

    Returns:
        The decisions, keyed by the identifier of the pair: whether the finding is about the
        problem.

    Raises:
        InputError: The file cannot be read, or a row is invalid or contradicts another row.
    """
    answers: dict[str, bool] = {}
    for location, row in jsonl.read_rows(jsonl.read_bytes(path, "decisions"), dict, path,
                                         "decisions"):  # fmt: skip
        name, is_same = row.get("id"), row.get("same")
        if not isinstance(name, str) or not (is_same is None or isinstance(is_same, bool)):
            raise InputError(f"{location}: expected a text id, and same as true, false or null")
        if is_same is not None and answers.setdefault(name, is_same) != is_same:
            raise InputError(f"{location}: {name} has two different answers")
    return answers


def write_decisions(result: BenchResult, answers: Mapping[str, bool]) -> str:
    """Return JSON Lines with the decisions so far and, below them, the unsure pairs to decide."""
    rows: list[dict[str, Any]] = [{"id": id_, "same": answers[id_]} for id_ in sorted(answers)]
    rows += (
        {"id": pair.id, "same": None, "probability": pair.probability, "change": change.id,
         "problem": change.problems[pair.problem].text, "finding": pair.finding.text}
        for change in result.changes for pair in {pair.id: pair for pair in change.pairs}.values()
        if pair.is_unsure and pair.finding
    )  # fmt: skip
    return "".join(escape.write_json(row, indent=None) for row in rows)
