"""Reads readers' judgements of comments and sentences, and texts that were written for training.

The judged texts themselves are in the training data. The files of judgements have only the first
digits of their hashes.
"""

import hashlib
import importlib.resources
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from crscore.records import Stance

FOLDS: Final = 3
ACTIONABLE_FROM: Final = 2
"""Minimum level, from 0 to 3, of a sentence that contains something to act on."""
MAX_IMPORTANCE: Final = 4
_EMPTY: Final = {"actionable": 0.0, "importance": 0.0, "worth": 0.0}
AT_STAKE_FROM: Final = 0.75
"""Minimum importance, from 0 to 4, of a comment that needs an answer."""


class Judgement(NamedTuple):
    """Judgement of a comment by readers."""

    stance: Stance
    ratings: dict[str, float]
    """`actionable`, `importance` and `worth`, each in [0, 1]."""


def fold_of(group: str) -> int:
    """Return the fold of a group, from 0 to `FOLDS` - 1."""
    # Computed from a hash, so that a group stays in its fold when data is added.
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) % FOLDS


def text_key(text: str, hunk: str | None = None) -> str:
    """Return the key of a text's judgement: the start of a hash of the text and its hunk."""
    content = text if hunk is None else f"{text}\0{hunk}"
    return hashlib.sha256(content.encode()).hexdigest()[:12]


def make_judgement(stance: str, importance: float, worth: float) -> Judgement:
    """Convert readers' importance, 0 to 4, and worth, 1 to 5, to a judgement."""
    ratings = {
        "actionable": float(importance >= AT_STAKE_FROM),
        "importance": importance / MAX_IMPORTANCE,
        "worth": (worth - 1) / 4,
    }
    return Judgement(Stance[stance.upper()], ratings)


def read_comment_judgements() -> dict[str, Judgement]:
    """Read the judgements of comments: key of comment and hunk -> judgement."""
    return {
        key: make_judgement(stance, float(importance), float(worth))
        for key, stance, importance, worth, _ in _rows("remarks.tsv")
    }


def read_words_judgements() -> dict[str, dict[str, float]]:
    """Read the judgements of comments without their code: key -> `importance` and `worth`."""
    return {
        key: {"importance": float(importance) / MAX_IMPORTANCE, "worth": (float(worth) - 1) / 4}
        for key, importance, worth in _rows("words.tsv")
    }


def read_sentence_judgements() -> dict[str, Judgement]:
    """Read the judgements of sentences: key -> judgement.

    The ratings of a judgement are only `actionable`, except that an empty sentence has all of
    `actionable`, `importance` and `worth`, each 0.
    """
    return {
        key: Judgement(
            Stance[stance.upper()],
            dict(_EMPTY) if level == "0" else {"actionable": float(int(level) >= ACTIONABLE_FROM)},
        )
        for key, stance, level in _rows("sentences.tsv")
    }


def read_claim_judgements() -> dict[tuple[str, str], str]:
    """Read the judgements of claims: commit and key -> `U`, `T`, `W` or `M`.

    The letters stand for useful, trivial, wrong and misleading.
    """
    return {(commit, key): letter for commit, key, letter in _rows("claims.tsv")}


def read_texts(name: str) -> list[dict[str, Any]]:
    """Read the rows of a file of texts that were written for training.

    Args:
        name: `comments`, `contrasts`, `reviews`, `templates`, `wordings` or `written`.
    """
    return [json.loads(line) for line in _read(f"{name}.jsonl").splitlines()]


def _rows(name: str) -> Iterator[list[str]]:
    for line in _read(name).splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def _read(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text("utf-8")
