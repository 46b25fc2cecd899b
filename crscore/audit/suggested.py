"""Suggested code of each reviewer in a period."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from crscore.audit.coverage import rate_of_pulls
from crscore.audit.overview import EffectCount, Nearness, Rate, SuggestedCode
from crscore.audit.signals.suggested import MERGED_METRICS
from crscore.audit.store.database import Store
from crscore.audit.store.reviews import LATEST, Scope

_BLOCKS: Final = f"""{LATEST},
newest AS (
  SELECT *, MAX(night || printf('%09d', rules)) FROM suggestions GROUP BY comment, block)
SELECT c.reviewer, c.repository, c.number, n.applies, n.parses, n.effect,
  {", ".join(f"n.{name}" for name in MERGED_METRICS)}
FROM comment_scores s JOIN comments c ON c.key = s.comment
JOIN latest l ON l.repository = c.repository AND l.number = c.number AND l.content = s.content
JOIN newest n ON n.comment = s.comment
WHERE s.signature = ?1
ORDER BY n.comment, n.block"""  # noqa: S608  (our own names)


def load_suggested_code(store: Store, scope: Scope) -> Mapping[str, SuggestedCode]:
    """Count the suggestion blocks of the comments in a scope, by reviewer.

    Raises:
        StoreError: The store cannot be read.
    """
    rows: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for reviewer, *row in store.query(_BLOCKS, *scope):
        rows[reviewer].append(tuple(row))
    return {reviewer: _count(found) for reviewer, found in rows.items()}


def _count(rows: Sequence[tuple[Any, ...]]) -> SuggestedCode:
    effects = Counter(row[4] for row in rows if row[4] is not None)
    near = {
        name: [row[5 + at] for row in rows if row[5 + at] is not None]
        for at, name in enumerate(MERGED_METRICS)
    }
    return SuggestedCode(
        applies=_rate(rows, 2),
        parses=_rate(rows, 3),
        effects=tuple(
            EffectCount(effect=effect, blocks=count) for effect, count in effects.most_common()
        ),
        merged=tuple(
            Nearness(metric=name, mean=min(1.0, float(np.mean(values))), blocks=len(values))
            for name, values in near.items()
            if values
        ),
    )


def _rate(rows: Sequence[tuple[Any, ...]], column: int) -> Rate:
    """Return the share of yes in a column, by pull."""
    known = [row for row in rows if row[column] is not None]
    pulls = {pull: at for at, pull in enumerate(dict.fromkeys(row[:2] for row in known))}
    place = [pulls[row[:2]] for row in known]
    yes = np.bincount(place, weights=[row[column] for row in known], minlength=len(pulls))
    all_ = np.bincount(place, minlength=len(pulls))
    return rate_of_pulls(yes.astype(np.float64), all_.astype(np.float64))
