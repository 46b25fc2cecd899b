"""Sentences whose kind is known: judged by readers, written for the bank, or by their origin."""

import hashlib
import importlib.resources
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from crscore.records import Kind

FOLDS: Final = 6
ACTS_FROM: Final = 2
"""Judgement, 0 to 3, from which a sentence is actionable."""
BANK_WEIGHT: Final = 3.0
"""Weight of a sentence of the bank, relative to 1 for a judged one."""


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence whose kind is known."""

    text: str
    kind: Kind
    acts: bool
    """Whether there is something to act on."""
    weight: float
    fold: int


def fold_of(group: str) -> int:
    """Return the fold of a group, from 0 to `FOLDS` - 1."""
    # By a hash, so that a group keeps its fold when data is added.
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) % FOLDS


def sentence_key(text: str) -> str:
    """Return the start of a sentence's hash, under which its judgement is stored."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_judgements() -> dict[str, tuple[Kind, bool]]:
    """Read the judged sentences: key -> kind, and whether there is something to act on."""
    return {key: (kind, acts) for key, kind, acts in _rows("sentences.tsv")}


def read_bank() -> list[JudgedSentence]:
    """Read the bank's sentences."""
    return [
        JudgedSentence(text, kind, acts, BANK_WEIGHT, fold_of(text))
        for text, kind, acts in _rows("bank.tsv")
    ]


def _rows(name: str) -> Iterator[tuple[str, Kind, bool]]:
    text = importlib.resources.files(__package__).joinpath(name).read_text("utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            sentence, kind, acts = line.split("\t")
            yield sentence, Kind[kind.upper()], int(acts) >= ACTS_FROM
