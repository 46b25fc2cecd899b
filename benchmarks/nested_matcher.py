"""Evaluate the calibrated matcher by nested cross-validation, with settings chosen in inner folds.

    python benchmarks/nested_matcher.py DATA [--outer 5] [--inner 2] [--plain] [--recipes ...]
    python benchmarks/nested_matcher.py DATA --split leave-one-system-out:5

For each outer fold of changes, every recipe in `RECIPES` is evaluated by cross-validation on the
changes of the other folds. The best recipe, by the mean Spearman correlation of relevance over
recorded and structural claims, is trained on these changes and scores the outer fold. The line
`nested` has the result. The line of each recipe is its cross-validation over the outer folds;
`--plain` prints these alone. `--split` evaluates only the shipped recipe, with another split; each
fold is trained once for both kinds of claims, where `crscore validate` would train twice.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from crscore import Scorer, plugins, scorer, settings
from crscore_lab.statistics import ranks
from crscore_lab.study.caches import VectorCache
from crscore_lab.study.data import splits, study
from crscore_lab.study.data.study import junk_systems
from crscore_lab.study.measures import measurements
from crscore_lab.training import matcher
from crscore_lab.training.fit.boosting import TreeSettings
from crscore_lab.training.matcher import MatcherSettings

RECIPES = {
    "shipped": MatcherSettings(),
    "without negatives": MatcherSettings(negatives=False),
    "without discount": MatcherSettings(discount=0.0),
    "best thresholds": MatcherSettings(
        trees=TreeSettings(random_thresholds=False, rounds=150, features=0.3),
    ),
    "milder loss": MatcherSettings(trees=TreeSettings(loss=(1.0, 1.5, 2.0))),
    "8 axes": MatcherSettings(axes=8),
}
CLAIMS = ("recorded", "structural")
HEAD = "con    comp   rel    tau-b  nojunk within systems"


class Bench:
    """Study, with an encoder and a claim generator that cache their results."""

    def __init__(self, path: Path) -> None:
        self.study = study.read_study(path)
        self.encoder = VectorCache(scorer.make_encoder(settings.Config()))
        self.writer = CachedGenerator(plugins.create("claims", "structural"))

    def train(self, rated: study.Study, recipe: MatcherSettings) -> matcher.Calibrated:
        return matcher.train(rated, encoder=self.encoder, generator=self.writer, settings=recipe)

    def measure(self, trained: matcher.Calibrated, fold: splits.Fold) -> dict:
        """Score the reviews that a fold holds out; return kind of claims -> measurements."""
        generators = {"recorded": study.recorded(self.study), "structural": self.writer}
        return {
            claims: measurements.measure(
                self.study,
                Scorer(
                    generator=generator, encoder=self.encoder, matcher=trained, analyzers="none"
                ),
                name=claims,
                includes=fold.holds_out,
            )
            for claims, generator in generators.items()
        }


class CachedGenerator:
    """Claim generator that generates the claims of each change once."""

    def __init__(self, generator: object) -> None:
        self.generator, self.identity, self.known = generator, generator.identity, {}

    def generate(self, diffs: list) -> tuple:
        for diff in diffs:
            key = (diff.sha256, diff.files[0].new_source is None)
            if key not in self.known:
                self.known[key] = self.generator.generate([diff])[0]
        return tuple(self.known[d.sha256, d.files[0].new_source is None] for d in diffs)


def relevance(measured: dict) -> float:
    return float(
        np.mean(
            [
                ranks.spearman(study_measure.metrics[0].values[:, 2], study_measure.human[:, 2])
                for study_measure in measured.values()
            ]
        )
    )


def join(parts: list[dict]) -> dict:
    return {claims: measurements.join([part[claims] for part in parts]) for claims in CLAIMS}


def cross_validate(bench: Bench, rated: study.Study, recipe: MatcherSettings, folds: tuple) -> dict:
    return join(
        [bench.measure(bench.train(fold.training_part(rated), recipe), fold) for fold in folds]
    )


def by_system(values: np.ndarray, systems: np.ndarray) -> np.ndarray:
    return np.array([values[systems == system].mean() for system in np.unique(systems)])


def show(name: str, found: dict) -> None:
    for claims, measured in found.items():
        values, human = measured.metrics[0].values, measured.human
        systems = np.array([row.review.system for row in measured.rows])
        real = ~np.isin(systems, junk_systems(systems, human[:, 2]))
        within = [
            ranks.spearman(values[systems == system, 2], human[systems == system, 2]) or 0.0
            for system in np.unique(systems)
        ]
        numbers = [ranks.spearman(values[:, d], human[:, d]) for d in range(3)]
        numbers += [
            ranks.kendall(values[:, 2], human[:, 2]),
            ranks.spearman(values[real, 2], human[real, 2]),
            float(np.mean(within)),
            ranks.spearman(*(by_system(column, systems) for column in (values[:, 2], human[:, 2]))),
        ]
        line = "  ".join(f"{number:.3f}" for number in numbers)
        print(f"{name:<18}{claims:<12}{line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--outer", type=int, default=5)
    parser.add_argument("--inner", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="do not choose in inner folds")
    parser.add_argument("--recipes", nargs="+", choices=RECIPES, default=list(RECIPES))
    parser.add_argument("--split", help="evaluate only the shipped recipe, with this split")
    options = parser.parse_args()
    bench = Bench(options.data)
    if options.split:
        split = splits.parse_split(options.split)
        print(f"{'':<30}{HEAD}")
        folds = splits.make_folds(bench.study, split, seed=0)
        show("shipped", cross_validate(bench, bench.study, RECIPES["shipped"], folds))
        return
    outer = splits.make_folds(
        bench.study, splits.Split(splits.SplitKind.GROUPED, options.outer), seed=0
    )
    print(f"{'':<30}{HEAD}")
    recipes = {name: RECIPES[name] for name in options.recipes}
    for name, recipe in recipes.items():
        show(name, cross_validate(bench, bench.study, recipe, outer))
    if options.plain:
        return
    parts, chosen = [], []
    for fold in outer:
        rest = fold.training_part(bench.study)
        inner = splits.make_folds(
            rest, splits.Split(splits.SplitKind.GROUPED, options.inner), seed=1
        )
        merits = {
            name: relevance(cross_validate(bench, rest, r, inner)) for name, r in recipes.items()
        }
        best = max(merits, key=merits.__getitem__)
        chosen.append(best)
        parts.append(bench.measure(bench.train(rest, RECIPES[best]), fold))
    show("nested", join(parts))
    print(f"chosen: {', '.join(chosen)}")


if __name__ == "__main__":
    main()
