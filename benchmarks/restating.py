"""Find the weights of the flag `restates the change` on a human study, and measure it.

    python benchmarks/restating.py DATA [--folds 10] [--seed 0] [--level 0.036] [--variants]

It learns from restatements and echoes in the training wording against the reviews that people
rated 4 or 5, and is measured on held-out changes with the attack set's own wording, for recorded
and for structural claims. A text counts as flagged when at least half of its sentences are. The
last lines are the constants of `crscore/matchers/calibrated/restating.toml`, from all changes.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crscore import Comment, Scorer, plugins
from crscore.matchers.calibrated import restating
from crscore.study import study
from crscore.study.attacks import attack_set
from crscore.study.attacks.duels import FLAGGED_FROM, FLAGGED_KINDS
from crscore.study.attacks.material import Wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.matchers.base import Cells, Judgement, Matcher

SOURCES = ("recorded", "structural")
DRAWN = 6
"""Training variants of each kind for each change."""
PULL = 3.0
"""Weight of the squared coefficients in the fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    change: str
    group: str
    """`honest`, `other`, `training`, or the kind of the attack."""
    variant: str
    """The system that wrote it, or the attack's variant."""
    text: str
    relevance: float | None = None


@dataclass(frozen=True, slots=True)
class Model:
    weights: np.ndarray
    bias: float

    def sums(self, features: restating.Features) -> np.ndarray:
        """Weighted sum of each sentence, -inf for what is excluded."""
        found = features.table @ self.weights + self.bias
        return np.where(features.excluded, -np.inf, found)


@dataclass(frozen=True, slots=True)
class Recorder:
    """A matcher that keeps what it is given."""

    inner: Matcher
    seen: list[Cells] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def decision(self) -> float:
        return self.inner.decision

    def match(self, cells: Cells) -> Judgement:
        self.seen.append(cells)
        return self.inner.match(cells)


def texts_of(rated: study.Study, seeds: Iterable[int]) -> list[Text]:
    """Every review, the attacks that are measured, and those that are learned from."""
    honest = {(change.id, review.system) for change, review in attack_set.honest_reviews(rated)}
    made = [
        Text(
            change=change.id,
            group="honest" if (change.id, review.system) in honest else "other",
            variant=review.system,
            text=review.text,
            relevance=review.ratings[2],
        )
        for change in rated.changes
        for review in change.reviews
    ]
    for seed in seeds:
        made += [
            Text(change=one.change, group=one.kind, variant=one.variant, text=one.text)
            for one in attack_set.make_attacks(rated, seed=seed)
            if one.kind in FLAGGED_KINDS
        ]
    writer = plugins.create("claims", "structural")
    for change in rated.changes:
        material = attack_set.make_material(change, writer, wording=Wording.TRAINING)
        rng = attack_set.seeded_rng(0, change.id)
        for kind in sorted(FLAGGED_KINDS):
            variants = list(attack_set.make_variants(kind, material, rng).items())
            made += [
                Text(change=change.id, group="training", variant=name, text=text)
                for name, text in (variants[i] for i in rng.permutation(len(variants))[:DRAWN])
            ]
    return made


def measure(rated: study.Study, texts: Sequence[Text], source: str) -> list[restating.Features]:
    recorded = study.recorded(rated) if source == study.SOURCE else None
    scorer = Scorer(
        generator=recorded, encoder="hashing", matcher="published", threshold=0.5, analyzers="none"
    )
    recorder = Recorder(scorer.parts.matcher)
    scorer.parts = replace(scorer.parts, matcher=recorder)
    diffs = {
        change.id: scorer.read_diff(
            change.patch,
            language=change.language,
            sources={"": (change.old_source, change.new_source)},
        )
        for change in rated.changes
    }
    scorer.score_many((diffs[one.change], (Comment(body=one.text),)) for one in texts)
    return [restating.measure_sentences(cells) for cells in recorder.seen]


def fit(table: np.ndarray, marks: np.ndarray, weights: np.ndarray) -> Model:
    """Logistic regression by Newton's method, on standardised columns."""
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    columns = np.hstack([(table - mean) / spread, np.ones((len(table), 1))])
    penalty = PULL * np.eye(columns.shape[1])
    penalty[-1, -1] = 0.0
    beta = np.zeros(columns.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-columns @ beta))
        gradient = columns.T @ (weights * (marks - chance)) - penalty @ beta
        curvature = (columns * (weights * chance * (1 - chance))[:, None]).T @ columns + penalty
        step = np.linalg.solve(curvature, gradient)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    return Model(beta[:-1] / spread, float(beta[-1] - (beta[:-1] * mean / spread).sum()))


def margin(sums: np.ndarray) -> float:
    """The largest bias that may be taken off before a text is no longer flagged."""
    if not len(sums):
        return -np.inf
    return float(np.sort(sums)[::-1][int(np.ceil(FLAGGED_FROM * len(sums))) - 1])


def learn(
    texts: Sequence[Text],
    features: dict[str, list[restating.Features]],
    rows: Sequence[int],
    level: float,
) -> Model:
    """Fit on the training attacks and the honest reviews among the rows."""
    attacks = [i for i in rows if texts[i].group == "training"]
    honest = [i for i in rows if texts[i].group == "honest"]
    tables, marks, weights = [], [], []
    for found in features.values():
        # Each text weighs the same however long it is, attacks together twice the honest ones.
        for group, mark, weight in (
            (attacks, 1.0, 2 * len(honest) / len(attacks)),
            (honest, 0.0, 1.0),
        ):
            for i in group:
                size = len(found[i].table)
                tables.append(found[i].table)
                marks += [mark] * size
                weights += [weight / max(1, size)] * size
    model = fit(np.vstack(tables), np.array(marks), np.array(weights))
    # The level is a share of the honest reviews, by the mean over the kinds of claims.
    cuts = [
        np.quantile([margin(model.sums(found[i])) for i in honest], 1 - level, method="lower")
        for found in features.values()
    ]
    return Model(model.weights, model.bias - float(np.mean(cuts)))


def held_out(
    texts: Sequence[Text],
    features: dict[str, list[restating.Features]],
    folds: int,
    seed: int,
    level: float,
) -> dict[str, list[np.ndarray]]:
    """Mark each sentence by a model that saw nothing of its change."""
    names = sorted({one.change for one in texts})
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[i]: position % folds for position, i in enumerate(order)}
    marks = {source: [np.zeros(0, dtype=bool)] * len(texts) for source in features}
    for fold in range(folds):
        inside = [i for i, one in enumerate(texts) if fold_of[one.change] != fold]
        model = learn(texts, features, inside, level)
        for i, one in enumerate(texts):
            if fold_of[one.change] == fold:
                for source, found in features.items():
                    marks[source][i] = model.sums(found[i]) > 0
    return marks


def is_flagged(marks: np.ndarray) -> bool:
    return bool(marks.any() and marks.mean() >= FLAGGED_FROM)


def show(texts: Sequence[Text], marks: Sequence[np.ndarray], variants: bool) -> None:
    def share(rows: Sequence[int]) -> str:
        return f"{np.mean([is_flagged(marks[i]) for i in rows]):.3f} of {len(rows)}"

    for group in (*sorted(FLAGGED_KINDS), "honest"):
        rows = [i for i, one in enumerate(texts) if one.group == group]
        some = np.mean([bool(marks[i].any()) for i in rows])
        print(f"  {group}: {share(rows)}; any sentence {some:.3f}")
        if variants:
            for name in sorted({texts[i].variant for i in rows}):
                print(f"    {name}: {share([i for i in rows if texts[i].variant == name])}")
    reviews = [i for i, one in enumerate(texts) if one.relevance is not None]
    for system in sorted({texts[i].variant for i in reviews}):
        rows = [i for i in reviews if texts[i].variant == system]
        flagged = [texts[i].relevance for i in rows if is_flagged(marks[i])]
        rest = [texts[i].relevance for i in rows if not is_flagged(marks[i])]
        mean = f"{np.mean(flagged):.2f}" if flagged else "-"
        print(f"  all of {system}: {share(rows)}; relevance {mean}, rest {np.mean(rest):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--level", type=float, default=0.036, help="honest reviews flagged")
    parser.add_argument("--attack-seeds", type=int, default=2, help="attack sets to draw")
    parser.add_argument("--variants", action="store_true", help="every variant and system")
    chosen = parser.parse_args()
    rated = study.read_study(chosen.data)
    texts = texts_of(rated, range(chosen.attack_seeds))
    features = {source: measure(rated, texts, source) for source in SOURCES}
    marks = held_out(texts, features, chosen.folds, chosen.seed, chosen.level)
    for source in SOURCES:
        print(f"{source} claims, held out")
        show(texts, marks[source], chosen.variants)
    model = learn(texts, features, range(len(texts)), chosen.level)
    print("bias =", round(model.bias, 3))
    for name, weight in zip(restating.WEIGHTS, model.weights, strict=True):
        print(f"{name} = {weight:.3f}")


if __name__ == "__main__":
    main()
