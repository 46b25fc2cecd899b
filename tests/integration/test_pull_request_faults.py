"""While GitHub misbehaves there is never a wrong number and never a second comment.

`benchmarks/pull_request_faults.py` runs 500 such schedules; these are others.
"""

from dataclasses import replace

import pytest

from crscore.errors import HostError
from crscore.github.host import GitHub
from crscore.hosts.http import HostClient
from tests.helpers import schedules

pytestmark = pytest.mark.hosts

FIRST, COUNT = 10_001, 100


def test_run_equals_one_without_faults_or_is_an_error() -> None:
    tally = schedules.misbehave(range(FIRST, FIRST + COUNT))
    assert (tally.wrong, tally.second) == ([], [])
    # Both outcomes are met, or the schedules show nothing.
    assert tally.same > 0
    assert tally.errors > 0
    assert tally.met.total() > COUNT


def test_wrong_number_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: a run that loses a page and does not say so is caught."""
    schedules.in_peace()
    whole, pages = GitHub.read_pull, HostClient.pages

    def forgets_what_is_missing(*given, **more):
        return replace(whole(*given, **more), missing=())

    def forgets_errors(*given, **more):
        try:
            return pages(*given, **more)
        except HostError:
            return ()

    monkeypatch.setattr(GitHub, "read_pull", forgets_what_is_missing)
    monkeypatch.setattr(HostClient, "pages", forgets_errors)
    tally = schedules.misbehave(range(FIRST, FIRST + 8))
    assert tally.wrong
