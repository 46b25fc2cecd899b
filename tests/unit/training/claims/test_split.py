import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import ConfigError
from crscore.training.claims.split import split

GROUPS = st.lists(st.sampled_from("abcdefghijkl"), max_size=60)


@given(GROUPS, st.floats(0, 0.99), st.integers(0, 5))
def test_no_group_is_on_both_sides_and_no_row_is_lost(groups, share, seed):
    sides = split(groups, share=share, seed=seed)
    learned, held_out = ({groups[at] for at in side} for side in sides)
    assert not learned & held_out
    assert sorted(sides.train + sides.held_out) == list(range(len(groups)))


@given(GROUPS, st.floats(0.01, 0.99), st.integers(0, 5))
def test_neither_side_is_empty_where_there_are_two_groups(groups, share, seed):
    sides = split(groups, share=share, seed=seed)
    if len(set(groups)) > 1:
        assert sides.train
        assert sides.held_out


def test_a_tenth_of_the_changes_is_held_out():
    names = [str(at) for at in range(200)]
    assert len(split(names, share=0.1, seed=42).held_out) == 20


def test_the_side_of_a_change_does_not_depend_on_the_order_of_rows():
    names = [str(at) for at in range(50)]
    once = {names[at] for at in split(names, share=0.2, seed=1).held_out}
    back = names[::-1]
    assert {back[at] for at in split(back, share=0.2, seed=1).held_out} == once


def test_another_seed_holds_out_others():
    names = [str(at) for at in range(50)]
    assert split(names, share=0.2, seed=1) != split(names, share=0.2, seed=2)


def test_a_share_of_nothing_holds_nothing_out():
    assert split(["a", "b"], share=0, seed=1).held_out == ()


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ConfigError, match="val-split"):
        split(["a"], share=share, seed=1)
