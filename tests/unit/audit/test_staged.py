"""Verdicts on bots that only make their comments seem to matter, and on honest bots."""

from __future__ import annotations

import pytest

from benchmarks.audit_staged import HONEST, STAGED, run


@pytest.fixture(scope="module")
def verdicts() -> dict[str, str]:
    """Return the verdict on each bot if every comment of a staged bot seems to be major."""
    return {name: decision.verdict for name, decision in run(0, major=True).items()}


@pytest.mark.parametrize("name", STAGED)
def test_staged_bot_is_not_kept(verdicts: dict[str, str], name: str) -> None:
    assert verdicts[name] in ("undecided", "drop")


@pytest.mark.parametrize("name", HONEST)
def test_honest_bot_is_kept(verdicts: dict[str, str], name: str) -> None:
    assert verdicts[name] == "keep"
