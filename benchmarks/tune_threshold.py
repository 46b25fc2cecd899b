"""Find the published matcher's best threshold for a kind of claims, by cross-validation.

    python benchmarks/tune_threshold.py DATA [--claims structural] [--folds 10]

Changes are divided into folds. For each fold, the threshold with the highest mean Spearman
correlation over the three dimensions is chosen on the other folds, and the fold is scored with it.
So the printed correlations are those of held-out reviews. The last line is the threshold chosen on
all changes. `crscore validate DATA --matcher published` uses the threshold of the settings instead.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crscore import Comment, Scorer
from crscore.matchers.base import Cells
from crscore.matchers.published import Published
from crscore.scoring.assembly import score_cells
from crscore_lab.statistics import ranks
from crscore_lab.study.data import study

if TYPE_CHECKING:
    from crscore.records import Result

GRID = np.round(np.arange(0.20, 0.661, 0.01), 2)


def tables(path: Path, claims: str, sources: bool) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the scores of N reviews at G thresholds, the ratings, and the reviews' changes.

    Shapes (G, N, 3) and (N, 3), and N names.
    """
    rated = study.read_study(path)
    recorded = study.recorded(rated) if claims == study.RECORDED else None
    # Not the default matcher, which keeps hidden text in the results that the published leaves out.
    settings = {"matcher": "published"} if recorded else {"matcher": "published", "claims": claims}
    scorer = Scorer(generator=recorded, **settings)
    pairs, human, changes = [], [], []
    for change in rated.changes:
        both = {"": (change.old_source, change.new_source)} if sources else None
        diff = scorer.read_diff(change.patch, language=change.language, sources=both)
        for review in change.reviews:
            if review.system != study.GROUND_TRUTH:
                pairs.append((diff, (Comment(body=review.text),)))
                human.append(review.ratings)
                changes.append(change.id)
    results = scorer.score_many(pairs)
    table = np.zeros((len(GRID), len(results), 3))
    for g, tau in enumerate(GRID):
        matcher = Published(threshold=float(tau))
        for n, result in enumerate(results):
            cells = make_cells(result)
            if 0 not in cells.similarity.shape:
                found = score_cells(matcher.match(cells).degrees)
                table[g, n] = (found.conciseness, found.comprehensiveness, found.relevance)
    return table, np.array(human, dtype=float), changes


def make_cells(result: Result) -> Cells:
    """Return the cells of the counted references, without vectors, which the matcher ignores."""
    rows = [index for index, ref in enumerate(result.references) if ref.counted]
    return Cells(
        diff=result.diff,
        references=tuple(result.references[index] for index in rows),
        sentences=result.sentences,
        reference_vectors=np.zeros((len(rows), 0), dtype=np.float32),
        sentence_vectors=np.zeros((len(result.sentences), 0), dtype=np.float32),
        similarity=result.similarity[rows],
    )


def agreement(values: np.ndarray, human: np.ndarray) -> list[float]:
    return [ranks.spearman(values[:, d], human[:, d]) or 0.0 for d in range(3)]


def best(table: np.ndarray, human: np.ndarray, rows: np.ndarray) -> int:
    return int(np.argmax([np.mean(agreement(values[rows], human[rows])) for values in table]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--claims", default="structural")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-sources", action="store_true")
    chosen = parser.parse_args()
    table, human, changes = tables(chosen.data, chosen.claims, not chosen.no_sources)
    names = sorted(set(changes))
    order = np.random.default_rng(chosen.seed).permutation(len(names))
    fold_of = {names[i]: position % chosen.folds for position, i in enumerate(order)}
    folds = np.array([fold_of[change] for change in changes])
    held_out = np.zeros_like(human)
    taus = []
    for fold in range(chosen.folds):
        g = best(table, human, np.flatnonzero(folds != fold))
        held_out[folds == fold] = table[g][folds == fold]
        taus.append(float(GRID[g]))
    con, comp, rel = agreement(held_out, human)
    print(f"thresholds of the folds: {taus}")
    print(f"held out: conciseness {con:.3f}, comprehensiveness {comp:.3f}, relevance {rel:.3f}")
    overall = best(table, human, np.arange(len(human)))
    print(f"chosen on all changes: {GRID[overall]:.2f}")


if __name__ == "__main__":
    main()
