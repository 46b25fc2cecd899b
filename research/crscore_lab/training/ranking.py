"""Trains the ranking of claims, on claims that readers judged and on titles of commits."""

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np

from crscore import jsonl
from crscore.claims.structural import plugin
from crscore.claims.structural.change import UnitChange, code_of
from crscore.claims.structural.quoting import Statement, finish_sentence
from crscore.claims.structural.ranking import Features, describe_claims, stems, weigh
from crscore.diff import parse
from crscore.scoring.cells import MIN_COUNTED_WEIGHT
from crscore.text import find_code_spans
from crscore_lab.training import logistic
from crscore_lab.training.data.judgements import read_claim_judgements, text_key

COMMIT_CHARS: Final = 10
"""Number of digits of a commit's hash in the keys of judgements."""
MIN_CLAIMS: Final = 20
"""Minimum number of claims that must have a feature for the feature to get a weight."""
TITLE_WEIGHT: Final = 0.1
"""Weight of a topic that is labelled by its commit's title, relative to 1 for a judged claim."""
MAX_TITLES: Final = 120
"""Maximum number of commit titles that are read per repository."""
MAX_DIFF_CHARS: Final = 30_000
"""Maximum characters of the diff of a commit whose title is read."""
MIN_TITLE_SCORE: Final = 4.0
"""Minimum score of the topic that a title names (`_title_score`)."""
MIN_TITLE_RATIO: Final = 1.3
"""Minimum ratio of that score to the second highest score."""
TITLE_SHARES: Final = {"name": 1.0, "quoted": 0.6, "file": 0.4, "code": 0.3}
"""Source of a word in a topic -> factor of the word's inverse document frequency in the score."""
FOLDS: Final = 5
PENALTY: Final = 30.0
"""Factor of the L2 penalty of `fit_logistic`; high, because features of one claim overlap."""
RISING: Final = frozenset(
    {"public", "size", "share", "largest", "used", "named by others", "conditions", "errors"}
)
"""Features that can only raise the weight of a claim."""
FALLING: Final = frozenset({"repeats", "imports alone", "role docs", "role fixture"})
"""Features that can only lower the weight of a claim."""
# "fix(parser): ", "[docs] ", " (#12)"
_FRAME: Final = re.compile(r"^\w+(?:\([^)]{0,80}\))?!?:\s|\(#\d+\)|\[[^\]]{0,80}\]")


class Row(NamedTuple):
    """Claim that readers judged, or the first claim of a topic, labelled by the commit's title."""

    repository: str
    commit: str
    features: Features
    is_wanted: bool
    """Whether readers called the claim useful, or the title names the topic."""
    letter: str
    """Readers' judgement: useful, trivial, wrong or misleading (`U`, `T`, `W` or `M`); "" for a
    topic."""


class Learned(NamedTuple):
    """Weights, and how good such weights are on repositories that they were not trained on."""

    weights: dict[str, float]
    report: str
    """How good such weights are, in two lines."""


def train(commits: Path) -> Learned:
    """Learn the weights, and measure how good they are by cross-validation over repositories.

    Args:
        commits: JSON Lines, gzip, with repository, commit, subject and diff.

    Raises:
        DependencyError: scipy is not installed.
    """
    rows = [*_judged_rows(commits), *_titled_rows(commits)]
    repositories = sorted({row.repository for row in rows})
    held_out: list[tuple[Row, float]] = []
    for fold in range(FOLDS):
        names = set(repositories[fold::FOLDS])
        weights = _fit([row for row in rows if row.repository not in names])
        held_out += [(row, weigh(row.features, weights)) for row in rows if row.repository in names]
    return Learned(_fit(rows), _report(held_out))


def to_toml(learned: Learned) -> str:
    """Return the file of weights, with the report as a comment at its top."""
    header = "\n# ".join(
        [
            "Weights of the features of claims (`ranking.py`), in a logistic regression of whether",
            "a reader calls a claim useful. Written by `crscore train ranking`.",
            "On repositories that they were not learned from:",
            *learned.report.splitlines(),
        ]
    )
    rows = (f'"{name}" = {value}' for name, value in learned.weights.items())
    return "\n".join([f"# {header}", "", "[weights]", *rows, ""])


def _read_commits(commits: Path) -> Iterator[dict[str, Any]]:
    content = jsonl.read_bytes(commits, "commits")
    return (row for _, row in jsonl.read_rows(content, dict[str, Any], commits, "commits"))


def _describe(diff: str) -> list[tuple[UnitChange, list[Statement], list[Features]]]:
    topics = plugin.find_topics(parse.parse_diff(diff))
    claims = describe_claims(topics)
    return [(*topic, features) for topic, features in zip(topics, claims, strict=True)]


def _judged_rows(commits: Path) -> Iterator[Row]:
    letters = read_claim_judgements()
    judged = {commit for commit, _ in letters}
    for commit in _read_commits(commits):
        key = commit["commit"][:COMMIT_CHARS]
        for _, statements, claims in _describe(commit["diff"]) if key in judged else ():
            for statement, features in zip(statements, claims, strict=True):
                letter = letters.get((key, text_key(finish_sentence(statement.text))))
                if letter:
                    yield Row(commit["repository"], key, features, letter == "U", letter)


def _titled_rows(commits: Path) -> Iterator[Row]:
    by_repository: dict[str, list[dict[str, Any]]] = {}
    for commit in _read_commits(commits):
        if len(commit["diff"]) <= MAX_DIFF_CHARS:
            by_repository.setdefault(commit["repository"], []).append(commit)
    sample = [
        commit
        for _, group in sorted(by_repository.items())
        for commit in random.Random(0).sample(group, min(MAX_TITLES, len(group)))
    ]
    titles = [stems(_FRAME.sub(" ", commit["subject"])) for commit in sample]
    counts = Counter(word for title in titles for word in title)
    for commit, title in zip(sample, titles, strict=True):
        topics = _describe(commit["diff"])
        idf = {word: math.log(len(sample) / counts[word]) for word in title}
        scores = [_title_score(change, statements, idf) for change, statements, _ in topics]
        first, second, *_ = *sorted(scores, reverse=True), 0, 0
        if len(topics) > 1 and first >= max(MIN_TITLE_SCORE, MIN_TITLE_RATIO * second):
            for (_, _, claims), value in zip(topics, scores, strict=True):
                yield Row(commit["repository"], commit["commit"], claims[0], value == first, "")


def _title_score(
    change: UnitChange, statements: Sequence[Statement], idf: dict[str, float]
) -> float:
    quoted = " ".join(code for item in statements for code in find_code_spans(item.text))
    lines = [(True, line) for line in change.added] + [(False, line) for line in change.removed]
    words_of = {
        "name": stems(f"{change.name} {change.before}"),
        "quoted": stems(quoted),
        "file": stems(change.file.path.rpartition("/")[2]),
        "code": stems(" ".join(code_of(change.file).get(line, "") for line in lines)),
    }
    return sum(
        value * max((TITLE_SHARES[name] for name in words_of if word in words_of[name]), default=0)
        for word, value in idf.items()
    )


def _fit(rows: Sequence[Row]) -> dict[str, float]:
    counts = Counter(name for row in rows if row.letter for name in row.features)
    names = sorted(name for name, count in counts.items() if count >= MIN_CLAIMS)
    fitted = logistic.fit_logistic(
        np.array([[row.features.get(name, 0.0) for name in names] for row in rows]),
        np.array([row.is_wanted for row in rows], dtype=np.float64),
        weights=np.array([1.0 if row.letter else TITLE_WEIGHT for row in rows]),
        penalty=PENALTY,
        signs=[(name in RISING) - (name in FALLING) for name in names],
    )
    return {
        name: round(float(value), 3) for name, value in zip([*names, "bias"], fitted, strict=True)
    }


def _report(held_out: Sequence[tuple[Row, float]]) -> str:
    claims = [item for item in held_out if item[0].letter]
    useful, useless = (
        np.array([weight for row, weight in claims if row.is_wanted is is_useful])
        for is_useful in (True, False)
    )
    wins = (useful[:, None] > useless).mean() + (useful[:, None] == useless).mean() / 2
    commits = [_rank(claims, key) for key in sorted({row.commit for row, _ in claims})]
    counted = [
        [row for at, (row, weight) in enumerate(ranked) if not at or weight >= MIN_COUNTED_WEIGHT]
        for ranked in commits
    ]
    topics = [item for item in held_out if not item[0].letter]
    titled = [
        [row.is_wanted for row, _ in _rank(topics, key)]
        for key in sorted({row.commit for row, _ in topics})
    ]
    rows = [row for part in counted for row in part]
    return (
        f"{len(claims):,} judged claims: AUC {wins:.3f}; {len(rows) / len(commits):.1f} counted "
        f"per commit, of which {fmean(row.is_wanted for row in rows):.0%} are useful and "
        f"{fmean(row.letter in 'WM' for row in rows):.1%} wrong or misleading; the first is "
        f"useful in {fmean(ranked[0][0].is_wanted for ranked in commits):.0%} of commits, none in "
        f"{fmean(not any(row.is_wanted for row in part) for part in counted):.0%}\n"
        f"{len(titled):,} titles: the title names the first topic in "
        f"{fmean(ranked[0] for ranked in titled):.0%}, one of the first three in "
        f"{fmean(any(ranked[:3]) for ranked in titled):.0%}"
    )


def _rank(items: Sequence[tuple[Row, float]], commit: str) -> list[tuple[Row, float]]:
    return sorted((item for item in items if item[0].commit == commit), key=lambda item: -item[1])
