import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.matchers.trees import Trees


def by_hand() -> Trees:
    """`x0 <= 1 ? 10 : (x1 <= 2 ? 20 : 30)` and a tree that is one leaf, 0.5."""
    return Trees(
        roots=np.array([0, 5], dtype=np.int32),
        feature=np.array([0, 0, 1, 0, 0, 0], dtype=np.int32),
        threshold=np.array([1, 0, 2, 0, 0, 0], dtype=np.float32),
        left=np.array([1, 1, 3, 3, 4, 5], dtype=np.int32),
        right=np.array([2, 1, 4, 3, 4, 5], dtype=np.int32),
        value=np.array([0, 10, 0, 20, 30, 0.5], dtype=np.float32),
        depth=2,
    )


def naive(trees: Trees, row: np.ndarray) -> float:
    total = 0.0
    for root in trees.roots:
        at = int(root)
        while trees.left[at] != at:
            goes_left = row[trees.feature[at]] <= trees.threshold[at]
            at = int(trees.left[at] if goes_left else trees.right[at])
        total += float(trees.value[at])
    return total


@pytest.mark.parametrize(
    ("row", "expected"),
    [((0, 9), 10.5), ((1, 9), 10.5), ((1.5, 2), 20.5), ((1.5, 2.5), 30.5), ((9, -9), 20.5)],
)
def test_known_rows(row: tuple[float, float], expected: float) -> None:
    rows = np.array([row], dtype=np.float32)
    assert by_hand().sum(rows).tolist() == [expected]


def test_table_without_rows_has_no_sum() -> None:
    assert by_hand().sum(np.zeros((0, 2), dtype=np.float32)).shape == (0,)


def test_rows_in_any_memory_layout_are_read_correctly() -> None:
    rows = np.asfortranarray(np.array([[0, 9], [1.5, 2], [1.5, 3]], dtype=np.float32))
    assert by_hand().sum(rows).tolist() == [10.5, 20.5, 30.5]
    assert by_hand().sum(rows[::-1]).tolist() == [30.5, 20.5, 10.5]


@given(
    st.lists(
        st.tuples(st.floats(-4, 4, width=32), st.floats(-4, 4, width=32)), min_size=1, max_size=9
    )
)
def test_sum_is_what_walking_each_tree_gives(rows: list[tuple[float, float]]) -> None:
    table = np.array(rows, dtype=np.float32)
    assert by_hand().sum(table).tolist() == [naive(by_hand(), row) for row in table]


def test_sum_of_a_row_does_not_depend_on_other_rows() -> None:
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1, 4, (5_000, 2)).astype(np.float32)
    whole = by_hand().sum(rows)
    assert whole[[0, 2047, 2048, 4999]].tolist() == [
        float(by_hand().sum(rows[[index]])[0]) for index in (0, 2047, 2048, 4999)
    ]
    assert set(whole.tolist()) == {10.5, 20.5, 30.5}
