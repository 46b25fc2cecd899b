"""Measurements with chosen values, without a study behind them."""

import numpy as np

from crscore_lab.study.data.study import DIMENSIONS, RatedReview, StudyChange
from crscore_lab.study.measures.measurements import Measurements, Metric, ScoredReview


def row(
    change: str,
    system: str,
    human: tuple[float, float, float] = (3.0, 3.0, 3.0),
    *,
    language: str = "python",
    annotator: str | None = None,
    text: str = "Why?",
    position: tuple[int, int] = (0, 0),
    sentences: tuple[float, ...] = (0.5,),
    references: tuple[float, ...] = (0.5,),
) -> ScoredReview:
    ratings = dict(zip(DIMENSIONS, human, strict=True))
    review = RatedReview(system=system, text=text, annotator=annotator, **ratings)
    return ScoredReview(
        position=position,
        change=StudyChange(
            name=change,
            language=language,
            patch="@@ -1 +1 @@\n-a\n+b\n",
            reviews=(review,),
        ),
        review=review,
        sentences=np.array(sentences, dtype=float),
        references=np.array(references, dtype=float),
    )


def metric(values: object, name: str = "m") -> Metric:
    """One column stands for all three dimensions."""
    table = np.array(values, dtype=float)
    columns = table if table.ndim == 2 else np.repeat(table[:, None], 3, axis=1)
    return Metric(name=name, values=columns)


def measured(rows: list[ScoredReview], *metrics: Metric) -> Measurements:
    return Measurements(rows=tuple(rows), metrics=metrics)
