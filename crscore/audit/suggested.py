"""Suggested code of each reviewer in a period."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crscore.audit.coverage import rate_of_events
from crscore.audit.overview import EffectCount, Nearness, Rate, SuggestedCode
from crscore.audit.signals.suggested import MERGED_METRICS
from crscore.audit.store.database import Store
from crscore.audit.store.period import read_suggestions
from crscore.audit.store.reviews import Scope

_APPLIES, _PARSES, _EFFECT, _METRICS = range(2, 6)
"""Columns of a row after the pull request's repository and number."""


def load_suggested_code(store: Store, scope: Scope) -> Mapping[str, SuggestedCode]:
    """Count the suggestion blocks of the comments in a scope, by reviewer.

    Raises:
        StoreError: The store cannot be read.
    """
    blocks: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for reviewer, *row in read_suggestions(store, scope, MERGED_METRICS):
        blocks[reviewer].append(tuple(row))
    return {reviewer: _summarize_blocks(rows) for reviewer, rows in blocks.items()}


def _summarize_blocks(rows: Sequence[tuple[Any, ...]]) -> SuggestedCode:
    effects = Counter(row[_EFFECT] for row in rows if row[_EFFECT] is not None)
    scores = {
        name: [score for row in rows if (score := row[column]) is not None]
        for column, name in enumerate(MERGED_METRICS, _METRICS)
    }
    return SuggestedCode(
        applies=_share(rows, _APPLIES),
        parses=_share(rows, _PARSES),
        effects=tuple(
            EffectCount(effect=effect, blocks=count) for effect, count in effects.most_common()
        ),
        merged=tuple(
            # The mean of equal scores can exceed 1 by a rounding error.
            Nearness(metric=name, mean=min(1.0, float(np.mean(values))), blocks=len(values))
            for name, values in scores.items()
            if values
        ),
    )


def _share(rows: Sequence[tuple[Any, ...]], column: int) -> Rate:
    """Return the share of blocks with a 1 in a column."""
    return rate_of_events((row[:2], bool(row[column])) for row in rows if row[column] is not None)
