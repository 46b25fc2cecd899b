from __future__ import annotations

import pytest

from crscore.bench.overlap import same_points
from crscore.bench.records import Finding
from crscore.encoders.minilm import MiniLM
from crscore.usefulness import reader
from crscore.usefulness.evidence import Rarity
from crscore.usefulness.model import read_weights

LOCK = "The lock is never released when `charge()` raises, so the next payment waits for ever."
LOCK_TOO = "If `charge()` raises an exception, the lock is not released and later payments hang."
UTF8 = "`open(path)` uses the encoding of the locale; pass utf-8, or umlauts break on Windows."


@pytest.fixture(scope="module")
def encoder() -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def rarity() -> Rarity:
    return read_weights(reader.SHIPPED).rarity


def finding(bot: str, text: str, line: int = 12, path: str = "pay.py") -> Finding:
    return Finding(change="", bot=bot, text=text, path=path, line=line)


def test_same_point_of_two_reviewers_has_the_first_of_them(encoder: MiniLM, rarity: Rarity) -> None:
    findings = [finding("a", UTF8, 40), finding("a", LOCK), finding("b", LOCK_TOO)]
    assert same_points(findings, encoder, rarity) == [0, 1, 1]


def test_different_points_and_points_of_one_reviewer_are_distinct(
    encoder: MiniLM, rarity: Rarity
) -> None:
    assert same_points([finding("a", UTF8), finding("b", LOCK)], encoder, rarity) == [0, 1]
    assert same_points([finding("a", LOCK), finding("a", LOCK_TOO)], encoder, rarity) == [0, 1]
    assert same_points([], encoder, rarity) == []


def test_points_of_one_reviewer_are_not_joined_by_those_of_others(
    encoder: MiniLM, rarity: Rarity
) -> None:
    # The texts of b and c make the same point, too, but more surely those of a.
    texts = {"a": (LOCK, LOCK_TOO), "b": (LOCK,), "c": (LOCK_TOO,)}
    findings = [finding(bot, text) for bot, listed in texts.items() for text in listed]
    assert same_points(findings, encoder, rarity) == [0, 1, 0, 1]
    assert same_points(findings[1:], encoder, rarity) == [0, 0, 0]


def test_same_point_of_three_reviewers_is_one_point(encoder: MiniLM, rarity: Rarity) -> None:
    findings = [finding(bot, text) for bot, text in zip("abc", (LOCK, LOCK_TOO, LOCK), strict=True)]
    assert same_points(findings, encoder, rarity) == [0, 0, 0]
