"""Judges' decisions on findings, and the agreement of our matching with them."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from crscore import jsonl
from crscore.bench.matching import assign
from crscore.bench.pairs import read_model, view_texts
from crscore.bench.readers import name_change, read_problem
from crscore.bench.records import Finding, Problem
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.statistics import ranks, resampled
from crscore.statistics.agreement import cohen_kappa
from crscore.text import count_noun
from crscore.usefulness import model, reader

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Measure = Callable[["Judged"], Floats]
"""Judged findings -> probability of each pair, shape (F, G)."""


class Judged(NamedTuple):
    """Findings of one bot for one change, and one judge's decision on each."""

    change: str
    bot: str
    judge: str
    problems: tuple[Problem, ...]
    findings: tuple[Finding, ...]
    decisions: tuple[int | None, ...]
    """Index of the problem that each finding is about; None if it is about no problem."""


class JudgeAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of the matching with one judge."""

    judge: str
    decisions: int
    """Number of decisions: problems times bots."""
    kappa: float | None
    """Cohen's kappa of the decisions whether a bot found a problem."""
    auc: float | None
    """Chance that a problem that the judge calls found has a higher probability than another
    one."""


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of the matching with judges."""

    judges: tuple[JudgeAgreement, ...]
    among_judges: tuple[float, ...]
    """Kappa of each pair of judges."""
    recall_order: float | None
    """Spearman's correlation of the bots' recall with the judges' mean."""
    f1_order: float | None
    recall_error: float
    """Mean difference of a bot's recall from the judges' mean, in [0, 1]."""


def read_judgements(path: Path) -> list[Judged]:
    """Read judgements: JSON Lines of `pull`, `golden` and `found`.

    `found` has for each bot and judge a list of findings with `text`, `golden` (index of the
    problem that it is about, or null) and, where known, `path` and `line`.

    Raises:
        InputError: The file cannot be read, or a row is wrong.
    """
    content = jsonl.read_bytes(path, "judgements")
    judged = [
        group
        for source, row in jsonl.read_rows(content, dict, path, "judgements")
        for group in _read_row(row, source)
    ]
    if not judged:
        raise InputError(f"{path} has no judgement")
    return judged


def _read_row(row: dict[str, Any], source: str) -> Iterator[Judged]:
    try:
        change = name_change(row["pull"])
        problems = tuple(read_problem(entry, source) for entry in row["golden"])
        for bot, by_judge in row["found"].items():
            for judge, entries in by_judge.items():
                findings = tuple(
                    Finding(
                        change=change,
                        bot=bot,
                        text=entry["text"],
                        path=entry.get("path"),
                        line=entry.get("line"),
                    )
                    for entry in entries
                )
                decisions = tuple(entry["golden"] for entry in entries)
                if not {*decisions} <= {None, *range(len(problems))}:
                    raise InputError(f"{source}: {bot}, {judge}: a decision names no problem")
                yield Judged(change, bot, judge, problems, findings, decisions)
    except (KeyError, TypeError, AttributeError) as exc:
        raise InputError(f"{source}: expected pull, golden and found: {exc}") from exc


def _kappa(first: Flags, second: Flags) -> float | None:
    return cohen_kappa(list(zip(first.tolist(), second.tolist(), strict=True)))


def agree(judged: Sequence[Judged], measure: Measure, threshold: float) -> Agreement:
    """Compare a matching with judges.

    Args:
        judged: The judgements.
        measure: Probability of each pair of a judge's findings and the problems.
        threshold: Minimum probability of a matching pair.
    """
    judges = sorted({group.judge for group in judged})
    bots = sorted({group.bot for group in judged})
    units: dict[tuple[str, str, str, int], tuple[float, bool]] = {}
    findings = np.zeros((len(judges), len(bots)))
    for group in judged:
        best = assign(measure(group))
        findings[judges.index(group.judge), bots.index(group.bot)] += len(group.findings)
        probabilities = {column: probability for _, column, probability in best}
        for column in range(len(group.problems)):
            key = (group.judge, group.bot, group.change, column)
            units[key] = probabilities.get(column, 0.0), column in group.decisions
    rows, matching, judgements, recalls, f1s = [], {}, {}, [], []
    for number, judge in enumerate(judges):
        keys = sorted(key[1:] for key in units if key[0] == judge)
        values = np.array([units[judge, *key][0] for key in keys])
        matching[judge] = values >= threshold
        judgements[judge] = np.array([units[judge, *key][1] for key in keys])
        area = resampled.auc(values, judgements[judge], np.ones((1, len(keys))))[0]
        rows.append(
            JudgeAgreement(
                judge=judge,
                decisions=len(keys),
                kappa=_kappa(matching[judge], judgements[judge]),
                auc=None if np.isnan(area) else float(area),
            )
        )
        of_bot = np.array([[key[0] == bot for key in keys] for bot in bots], dtype=np.float64)
        hits = np.stack([of_bot @ matching[judge], of_bot @ judgements[judge]])
        recalls.append(hits / of_bot.sum(axis=1))
        f1s.append(2 * hits / np.maximum(1, of_bot.sum(axis=1) + findings[number]))
    recall, f1 = np.mean(recalls, axis=0), np.mean(f1s, axis=0)
    pairs = [_kappa(judgements[a], judgements[b]) for a, b in combinations(judges, 2)
             if len(judgements[a]) == len(judgements[b])]  # fmt: skip
    return Agreement(
        judges=tuple(rows),
        among_judges=tuple(value for value in pairs if value is not None),
        recall_order=ranks.spearman(*recall),
        f1_order=ranks.spearman(*f1),
        recall_error=float(np.abs(recall[0] - recall[1]).mean()),
    )


def check_judgements(path: Path) -> Agreement:
    """Compare the matching of `crscore bench` with judges' decisions.

    Args:
        path: File of judgements, in the format of `read_judgements`.

    Raises:
        InputError: The file cannot be read.
    """
    encoder, pair_model = MiniLM(), read_model()
    rarity = model.read_weights(reader.SHIPPED).rarity

    def measure(group: Judged) -> Floats:
        texts = [finding.text for finding in group.findings]
        texts += [problem.text for problem in group.problems]
        views = view_texts(texts, encoder, rarity)
        return pair_model.probabilities(group.findings, group.problems, views)

    return agree(read_judgements(path), measure, pair_model.threshold)


def render_agreement(agreement: Agreement, title: str) -> str:
    """Render the agreement with judges as lines of text."""

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    lines = [
        f"{title}: {row.judge}: kappa {number(row.kappa)}, AUC {number(row.auc)} "
        f"({count_noun(row.decisions, 'decision')})"
        for row in agreement.judges
    ]
    among = ", ".join(map(number, agreement.among_judges)) or "–"
    lines.append(
        f"{title}: order of bots by recall {number(agreement.recall_order)}, "
        f"by F1 {number(agreement.f1_order)}; mean error of recall {agreement.recall_error:.3f}; "
        f"judges among each other {among}"
    )
    return "\n".join(lines)
