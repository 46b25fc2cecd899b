"""Planted pull requests of every kind, a small run of `benchmarks/audit_signals.py`."""

from __future__ import annotations

import pytest

from benchmarks import audit_signals as planted


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    cases, counts, _ = planted.measure(tmp_path_factory.mktemp("planted"), 60, 7)
    return planted.judge(cases, counts)[0]


@pytest.mark.parametrize("signal", planted.Signal)
def test_signal_is_right_on_planted_cases(counts, signal):
    precision, recall, unknown = planted.shares(counts[signal])
    assert precision >= 0.95
    assert recall >= 0.95
    assert unknown <= 0.1


@pytest.mark.hosts
def test_two_workers_find_what_one_process_finds(tmp_path):
    rows = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        rows.append(planted.measure(folder, 34, 3, workers)[1])
    assert len(rows[0]) > 100
    assert rows[1] == rows[0]


def test_every_kind_is_planted_and_followed(counts):
    kinds = {kind for kind, *_ in (key for key in counts if isinstance(key, tuple))}
    assert kinds == set(planted.KINDS)
    lines = planted.Signal.LINES_CHANGED
    followed = [counts[kind, lines].total() > counts[kind, lines]["unknown"] for kind in kinds]
    assert all(followed)
