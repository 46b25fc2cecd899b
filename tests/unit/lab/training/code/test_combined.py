from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from crscore.code.metrics.combined.compared import Compared
from crscore.code.metrics.combined.features import NAMES
from crscore.code.metrics.combined.weights import read_weights, to_text
from crscore.errors import InputError
from crscore.lab.training.code.combined import Graded, Recipe, train

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = NAMES.index("words recall")
WRONG = NAMES.index("length apart")


def graded(seed: int = 0) -> Graded:
    """Candidates whose grade is one feature, and others that are noise."""
    draw = np.random.default_rng(seed)
    rows = draw.random((240, 1, len(NAMES)))
    grades = rows[:, 0, RIGHT] + 0.1 * draw.random(240)
    return Graded(
        compared=[Compared(one, np.array([np.nan])) for one in rows],
        grades=grades / grades.max(),
        problems=[str(at % 8) for at in range(240)],
    )


def test_what_tells_grades_apart_gets_the_weight() -> None:
    weights = train([graded()], Recipe(ridge=0.01))

    assert weights.factors[RIGHT] == weights.factors.max()
    rows = np.stack([one.rows[0] for one in graded(1).compared])
    assert np.corrcoef(weights.score(rows), graded(1).grades)[0, 1] > 0.8


def test_signs_are_fixed() -> None:
    backwards = graded()
    turned = Graded(
        compared=backwards.compared, grades=1 - backwards.grades, problems=backwards.problems
    )
    weights = train([turned], Recipe())

    assert weights.factors[RIGHT] == 0
    assert weights.factors[WRONG] <= 0


def test_same_data_gives_the_same_file(tmp_path: Path) -> None:
    texts = [to_text(train([graded()])) for _ in range(2)]
    assert texts[0] == texts[1]
    path = tmp_path / "weights.json"
    path.write_text(texts[0])

    assert to_text(read_weights(path)) == texts[0]


@pytest.mark.parametrize("content", ["", "{}", '{"format": 9, "start": 0, "factors": {}}', "[1]"])
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "weights.json"
    path.write_text(content)

    with pytest.raises(InputError, match=r"weights\.json"):
        read_weights(path)
