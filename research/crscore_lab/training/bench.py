"""Learning of the pair model of `crscore bench` from judges' decisions and made-up reviews.

Judges see few findings that have the subject of a problem and make another point, and no terse
comments of people, so the project's own made-up reviews are learned from, too (`MADE_UP`). Every
split is by pull request. The threshold is where out-of-fold misses and false matches are equal.
"""

import hashlib
import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore import jsonl
from crscore.bench.pairs import PairModel, assign, measure_pairs, sigmoid, view_texts
from crscore.bench.records import Finding, Problem
from crscore.encoders.minilm import MiniLM
from crscore.errors import InputError
from crscore.usefulness.evidence import Rarity
from crscore_lab.judgements import Agreement, Judged, agree, read_judgements
from crscore_lab.training.logistic import fit_measures

Floats = npt.NDArray[np.float64]

FOLDS: Final = 10
PENALTY: Final = 3.0
"""Weight of the ridge, in pairs."""
UNSURE: Final = 0.06
"""Maximum share of the out-of-fold decisions that are in the band of unsure ones."""
PLAIN_COSINE: Final = 0.56
DATA: Final = Path(__file__).parent / "data"
MADE_UP: Final = {
    "points": 3.0,
    "points together": 6.0,
    "wordings together": 1.5,
    "reviews": 0.5,
    "reviews alone": 0.2,
}
"""Weight of a pair of each kind of made-up data, in pairs of a judge. They were chosen so that the
out-of-fold agreement with judges did not fall: with half of them, terse comments are missed."""
TOGETHER: Final = 4
"""Number of problems of a made-up change."""
GENERIC: Final = (
    "nit: blank line", "style", "wrong indent?", "naming", "bad name", "+1", "great", "love it",
    "docs?", "add a comment", "why?", "is this needed?", "what is this for?", "please rebase",
    "split this file", "too long", "whitespace", "formatting", "use the helper", "TODO", "const",
    "unused import", "sort these", "thanks!", "move this up", "private?", "can be one line",
    "same here", "nit: double quotes", "why not a list?",
)  # fmt: skip
"""Terse comments that name no problem of `points.jsonl`; at its line, they need to be unlikely."""
_ITEM: Final = re.compile(r"\n\s*(?:[-*]|\d+[.)])\s+|\n\s*\n")


class Learned(NamedTuple):
    """Model, and its agreement with judges on changes that it was not trained on."""

    model: PairModel
    held_out: Agreement
    plain: Agreement
    """The same for the plain rule, a cosine above `PLAIN_COSINE`."""
    unsure: float
    """Share of the out-of-fold decisions in the band."""


def train(path: Path, *, encoder: MiniLM, rarity: Rarity, seed: int = 0) -> Learned:
    """Learn the pair model.

    Args:
        path: File of judgements, in the format of `read_judgements`.
        encoder: The encoder.
        rarity: Rarity of stems.
        seed: Seed of the folds.

    Raises:
        InputError: The file cannot be read, or has fewer than `FOLDS` changes.
    """
    judged = read_judgements(path)
    changes = sorted({group.change for group in judged})
    if len(changes) < FOLDS:
        raise InputError(f"{path} has {len(changes)} changes; at least {FOLDS} are needed")
    tables = _measure(judged, encoder, rarity)
    extra = list(make_up())
    extra_tables = _measure(extra, encoder, rarity)
    fold_of = dict(zip(changes, np.random.default_rng(seed).permutation(len(changes)) % FOLDS,
                       strict=True))  # fmt: skip
    probabilities: dict[int, Floats] = {}
    for fold in range(FOLDS):
        inside = [i for i, group in enumerate(judged) if fold_of[group.change] != fold]
        weights = _fit(
            [*(judged[i] for i in inside), *extra], [*(tables[i] for i in inside), *extra_tables]
        )
        for index in set(range(len(judged))).difference(inside):
            probabilities[index] = sigmoid(tables[index] @ weights[:-1] + weights[-1])
    position = {id(group): index for index, group in enumerate(judged)}
    values, truth = _decisions(judged, probabilities)
    # As many misses as false matches.
    threshold = round(float(np.sort(values)[-int(truth.sum())]), 3)
    band = _band(values, threshold)
    weights = _fit([*judged, *extra], [*tables, *extra_tables])
    return Learned(
        PairModel(
            encoder=encoder.identity.partition("@")[0],
            data_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
            weights=tuple(round(float(weight), 4) for weight in weights[:-1]),
            bias=round(float(weights[-1]), 4),
            threshold=threshold,
            band=band,
        ),
        agree(judged, lambda group: probabilities[position[id(group)]], threshold),
        agree(judged, lambda group: tables[position[id(group)]][..., 0], PLAIN_COSINE),
        float(((values >= band[0]) & (values < band[1])).mean()),
    )


def make_up() -> Iterator[Judged]:
    """Yield made-up reviews; their `judge` is the kind, a key of `MADE_UP`."""
    rng = random.Random(0)
    points, wordings = _read("points.jsonl"), _read("wordings.jsonl")
    for row in points:
        texts = {text: 0 for kind in ("same", "terse") for text in row[kind]}
        for text, names in (
            texts | dict.fromkeys([*row["other"], *rng.sample(GENERIC, 4)])
        ).items():
            yield _group("points", [row["problem"]], {text: names})
    for rows in _together(points * 4, rng):
        kinds = rng.choices(("same", "terse", "terse", "other", ""), k=TOGETHER)
        findings = {
            rng.choice(row[kind]): None if kind == "other" else index
            for index, (row, kind) in enumerate(zip(rows, kinds, strict=True))
            if kind
        }
        findings |= dict.fromkeys(rng.sample(GENERIC, rng.choice((0, 1))))
        yield _group("points together", [row["problem"] for row in rows], findings)
    for repository in sorted({row["repository"] for row in wordings}) * 3:
        own = [row for row in wordings if row["repository"] == repository]
        for rows in _together(own, rng):
            kinds = rng.choices(("short", "short", "question", "imperative", "heading"), k=2)
            findings = {rows[index][kind]: index for index, kind in enumerate(kinds)}
            findings[rows[2][rng.choice(("empty", "describe"))]] = None
            yield _group("wordings together", [row["present"] for row in rows], findings)
    for row in _read("reviews.jsonl"):
        yield from _read_review(row)


def _read_review(row: Mapping[str, Any]) -> Iterator[Judged]:
    """Yield a review that names the problems, and others that have their subjects, but no point."""
    problems = [point["text"] for point in row["points"]]
    items = _items(row["senior"])
    if len(items) == len(problems):  # in the same order
        yield _group("reviews", problems, {text: at for at, text in enumerate(items)})
    for kind in ("nits", "false", "generic"):
        yield _group("reviews", problems, dict.fromkeys(_items(row[kind])))
    for text in (*_items(row["nits"]), *_items(row["false"])):
        for problem in problems:
            yield _group("reviews alone", [problem], {text: None})


def _group(kind: str, problems: Sequence[str], findings: Mapping[str, int | None]) -> Judged:
    change = kind.partition(" ")[0]  # texts that return in several groups are encoded once
    return Judged(
        change=change,
        bot="",
        judge=kind,
        problems=tuple(Problem(text=text) for text in problems),
        findings=tuple(Finding(change=change, bot="", text=text) for text in findings),
        decisions=tuple(findings.values()),
    )


def _read(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    content = jsonl.read_bytes(path, "made-up reviews")
    return [row for _, row in jsonl.read_rows(content, dict, path, "made-up reviews")]


def _together(rows: Sequence[dict[str, Any]], rng: random.Random) -> Iterator[list[dict[str, Any]]]:
    """Yield rows in random groups of `TOGETHER`."""
    shuffled = rng.sample(rows, len(rows))
    for start in range(0, len(rows) - TOGETHER + 1, TOGETHER):
        yield shuffled[start : start + TOGETHER]


def _items(review: str) -> list[str]:
    """Return the items of a list, or the paragraphs, of more than three words."""
    items = (" ".join(item.split()) for item in _ITEM.split("\n" + review))
    return [item for item in items if len(item.split()) > 3 and not item.startswith("#")]


def _measure(judged: Sequence[Judged], encoder: MiniLM, rarity: Rarity) -> list[Floats]:
    """Measure the pairs of each group; its texts are encoded with those of its change."""
    tables: dict[int, Floats] = {}
    order = sorted(range(len(judged)), key=lambda index: judged[index].change)
    for _, indices in itertools.groupby(order, key=lambda index: judged[index].change):
        groups = [(index, judged[index]) for index in indices]
        texts = {finding.text for _, group in groups for finding in group.findings}
        texts |= {problem.text for _, group in groups for problem in group.problems}
        views = view_texts(texts, encoder, rarity)
        for index, group in groups:
            tables[index] = measure_pairs(
                [views[finding.text] for finding in group.findings],
                [views[problem.text] for problem in group.problems],
            )
    return [tables[index] for index in range(len(judged))]


def _fit(judged: Sequence[Judged], tables: Sequence[Floats]) -> Floats:
    rows, labels, weights = [], [], []
    for group, table in zip(judged, tables, strict=True):
        label = np.array(
            [[decision == column for column in range(len(group.problems))]
             for decision in group.decisions], dtype=np.float64,
        ).reshape(table.shape[:2])  # fmt: skip
        # A judge matches a problem with one finding, but another finding may say the same.
        weight = np.where((label.sum(axis=0) > 0) & (label == 0), 0.0, 1.0)
        rows.append(table.reshape(-1, table.shape[2]))
        labels.append(label.ravel())
        weights.append(weight.ravel() * MADE_UP.get(group.judge, 1.0))
    fitted = fit_measures(
        np.concatenate(rows),
        np.concatenate(labels),
        weights=np.concatenate(weights),
        penalty=PENALTY,
    )
    return fitted.astype(np.float64)


def _decisions(
    judged: Sequence[Judged], probabilities: dict[int, Floats]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return each problem's probability of a match, and the judge's decision."""
    values, truth = [], []
    for index, group in enumerate(judged):
        best = {match.problem: match.probability for match in assign(probabilities[index])}
        for column in range(len(group.problems)):
            values.append(best.get(column, 0.0))
            truth.append(column in group.decisions)
    return np.array(values), np.array(truth)


def _band(values: Floats, threshold: float) -> tuple[float, float]:
    """Return the widest interval around the threshold, in logits, with a share of `UNSURE`."""
    center = np.log(threshold / (1 - threshold))
    for width in np.arange(3.0, 0.0, -0.02):
        low, high = (float(sigmoid(np.array(center + side))) for side in (-width, width))
        if ((values >= low) & (values < high)).mean() <= UNSURE:
            return round(low, 3), round(high, 3)
    return threshold, threshold
