"""Agreement of the matching of `crscore bench` with judges, who decided what findings are about."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np
import numpy.typing as npt

from crscore import jsonl
from crscore.bench.formats import name_change, read_problem
from crscore.bench.judge import decide, make_request, write_requests
from crscore.bench.pairs import PairModel, TextView, assign, read_model, view_texts
from crscore.bench.records import Finding, Problem
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.readers.model import ModelReader
from crscore.statistics.intervals import Doubles
from crscore.text import count_noun
from crscore.usefulness import model, reader
from crscore_lab.statistics import ranks, resampled

Flags = npt.NDArray[np.bool_]


class Judged(NamedTuple):
    """Findings of one bot for one change, with one judge's decision on each finding."""

    change: str
    bot: str
    judge: str
    problems: tuple[Problem, ...]
    findings: tuple[Finding, ...]
    decisions: tuple[int | None, ...]
    """For each finding, the index of the problem that it is about; None if it is about none."""


class JudgeAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of the matching with one judge."""

    judge: str
    decisions: int
    """Number of pairs of a problem and a bot; each is a decision whether the bot found it."""
    kappa: float | None
    """Cohen's kappa of these decisions; None if it is undefined."""
    auc: float | None
    """Chance that a problem that the bot found according to the judge has a higher probability of a
    match than a problem that it did not find; None if there is no such pair."""


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement of the matching with judges."""

    judges: tuple[JudgeAgreement, ...]
    among_judges: tuple[float, ...]
    """Cohen's kappa of each pair of judges with the same number of decisions."""
    recall_order: float | None
    """Spearman's correlation, over the bots, of the matching's recall with the judges' recall."""
    f1_order: float | None
    """The same correlation of F1."""
    recall_error: float
    """Mean absolute difference of a bot's recall by the matching and by the judges, in [0, 1]."""
    unsure: float = 0.0
    """Share of the decisions, in [0, 1], whose probability is too near the threshold to be sure."""
    with_reader: Self | None = None
    """Agreement if a language model decides the unsure pairs; None if no model was asked."""
    notes: tuple[str, ...] = ()
    """How many pairs the model decided, and what this cost."""


def read_judgements(path: Path) -> list[Judged]:
    """Read a file of judgements in JSON Lines.

    Each row has the fields `pull`, the address of a pull request, `golden`, a list of its problems,
    and `found`, an object: bot -> judge -> list of findings. A finding has the fields `text`,
    `golden` (index of the problem that it is about, or null) and, if known, `path` and `line`.

    Raises:
        InputError: The file cannot be read or has no judgement, or a row is wrong.
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
                    raise InputError(f"{source}: {bot}, {judge}: `golden` is not a problem's index")
                yield Judged(change, bot, judge, problems, findings, decisions)
    except (KeyError, TypeError, AttributeError) as exc:
        hint = "; pass a file of manual decisions with --decisions" if "same" in row else ""
        raise InputError(f"{source}: expected pull, golden and found: {exc}{hint}") from exc


def _kappa(first: Flags, second: Flags) -> float | None:
    return ranks.cohen_kappa(list(zip(first.tolist(), second.tolist(), strict=True)))


def agree(judged: Sequence[Judged], tables: Iterable[Doubles], threshold: float) -> Agreement:
    """Compare a matching of findings and problems with the judges' decisions.

    Args:
        judged: The judgements.
        tables: For each judgement, the probability that each of its F findings is about each of its
            G problems, shape (F, G).
        threshold: Minimum probability of a pair that matches.
    """
    judges = sorted({group.judge for group in judged})
    bots = sorted({group.bot for group in judged})
    matches_found: dict[tuple[str, str, str, int], tuple[float, bool]] = {}
    findings = np.zeros((len(judges), len(bots)))
    for group, table in zip(judged, tables, strict=True):
        findings[judges.index(group.judge), bots.index(group.bot)] += len(group.findings)
        probabilities = {column: table[row, column] for row, column in assign(table).items()}
        for column in range(len(group.problems)):
            key = (group.judge, group.bot, group.change, column)
            matches_found[key] = probabilities.get(column, 0.0), column in group.decisions
    rows, judgements, recalls, f1s = [], {}, [], []
    for number, judge in enumerate(judges):
        keys = sorted(key[1:] for key in matches_found if key[0] == judge)
        values = np.array([matches_found[judge, *key][0] for key in keys])
        matching = values >= threshold
        truth = judgements[judge] = np.array([matches_found[judge, *key][1] for key in keys])
        area = resampled.compute_once(partial(resampled.auc, values, truth), len(keys))
        kappa = _kappa(matching, truth)
        rows.append(JudgeAgreement(judge=judge, decisions=len(keys), kappa=kappa, auc=area))
        of_bot = np.array([[key[0] == bot for key in keys] for bot in bots], dtype=np.float64)
        hits = np.stack([of_bot @ matching, of_bot @ truth])
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


_Unsure = tuple[int, int, int, tuple[Problem, Finding]]
"""Pair whose probability is too near the threshold to be sure: index of the judgement, row
(finding) and column (problem) in its table, and the pair."""


def _match(judged: Sequence[Judged], pair_model: PairModel) -> tuple[list[Doubles], list[_Unsure]]:
    """Return the table of probabilities of each judgement, and all unsure pairs."""
    encoder, rarity = MiniLM(), model.read_weights(reader.SHIPPED).rarity
    low, high = pair_model.band
    tables, unsure = [], list[_Unsure]()
    views, change = dict[str, TextView](), ""
    for index, group in enumerate(judged):
        # Views are kept while the change is the same, because its judges share most texts.
        if group.change != change:
            views, change = {}, group.change
        texts = {finding.text for finding in group.findings}
        texts |= {problem.text for problem in group.problems}
        views |= view_texts(texts - views.keys(), encoder, rarity, pair_model.layers)
        table = pair_model.probabilities(group.findings, group.problems, views)
        tables.append(table)
        matches = {column: row for row, column in assign(table).items()}
        for column, problem in enumerate(group.problems if group.findings else ()):
            row = matches.get(column, int(table[:, column].argmax()))
            if low <= table[row, column] < high:
                unsure.append((index, row, column, (problem, group.findings[row])))
    return tables, unsure


def write_judged_requests(path: Path) -> str:
    """Return the requests for a language model about a file's unsure pairs, as JSON Lines."""
    _, unsure = _match(read_judgements(path), read_model())
    return write_requests(pair for *_, pair in unsure)


def check_judgements(path: Path, judge: ModelReader | None = None) -> Agreement:
    """Compare the matching of `crscore bench` with judges' decisions.

    Args:
        path: File of judgements, in the format of `read_judgements`.
        judge: Language model that decides the unsure pairs; None to ask no model.

    Raises:
        InputError: The file cannot be read or has no judgement, or a row is wrong.
    """
    pair_model, judged = read_model(), read_judgements(path)
    tables, unsure = _match(judged, pair_model)
    agreement = agree(judged, tables, pair_model.threshold)
    share = len(unsure) / sum(row.decisions for row in agreement.judges)
    agreement = msgspec.structs.replace(agreement, unsure=share)
    if judge is None:
        return agreement
    answers, notes, _ = decide(judge, {make_request(*pair).id: pair for *_, pair in unsure})
    for index, row, column, pair in unsure:
        if (answer := answers.get(make_request(*pair).id)) is not None:
            tables[index][row, column] = answer
    with_reader = agree(judged, tables, pair_model.threshold)
    return msgspec.structs.replace(agreement, with_reader=with_reader, notes=tuple(notes))


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
        f"{title}: rank correlation of bots by recall {number(agreement.recall_order)}, "
        f"by F1 {number(agreement.f1_order)}; mean error of recall {agreement.recall_error:.3f}; "
        f"kappa between judges {among}"
    )
    if agreement.unsure:
        lines.append(f"{title}: unsure: {agreement.unsure:.1%} of the decisions")
    if agreement.with_reader:
        lines += [*agreement.notes, render_agreement(agreement.with_reader, f"{title} --reader")]
    return "\n".join(lines)
