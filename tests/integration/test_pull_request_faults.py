"""While GitHub misbehaves there is never a wrong number and never a second comment.

`benchmarks/pull_request_faults.py` runs 500 such schedules; these are others.
"""

from dataclasses import replace

import pytest

from tests.helpers import schedules

FIRST, BLOCK = 10_001, 25


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_run_is_the_same_as_in_peace_or_says_what_is_missing(block: int) -> None:
    start = FIRST + block * BLOCK
    tally = schedules.misbehave(range(start, start + BLOCK))
    assert (tally.wrong, tally.second) == ([], [])
    # Both outcomes are met, or the schedules show nothing.
    assert tally.same > 0
    assert tally.partial > 0
    assert tally.met.total() > BLOCK


def test_wrong_number_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: a run that loses a page and does not say so is caught."""
    whole = schedules.run.pull.read_pull

    def forgets_what_is_missing(*given, **more):
        return replace(whole(*given, **more), missing=())

    monkeypatch.setattr(schedules.run.pull, "read_pull", forgets_what_is_missing)
    tally = schedules.misbehave(range(FIRST, FIRST + BLOCK))
    assert tally.wrong
