"""What readers said of comments and sentences, and the texts that were written to learn from.

The judged texts are those of the data that the weights are learned from; only the starts of their
hashes stand here.
"""

import hashlib
import importlib.resources
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from crscore.records import Stance

FOLDS: Final = 2
GIVES_FROM: Final = 2
"""Judgement, 0 to 3, from which a sentence gives something to act on."""
MAX_IMPORTANCE: Final = 4
_EMPTY_RATINGS: Final = {"gives": 0.0, "importance": 0.0, "worth": 0.0}
AT_STAKE_FROM: Final = 0.75
"""Importance, 0 to 4, from which there is something to answer."""


class Judgement(NamedTuple):
    """What readers said of a comment."""

    stance: Stance
    ratings: dict[str, float]
    """`gives`, `importance` and `worth`, each in [0, 1]."""


def fold_of(group: str) -> int:
    """Return the fold of a group, from 0 to `FOLDS` - 1."""
    # By a hash, so that a group keeps its fold when data is added.
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) % FOLDS


def text_key(text: str, hunk: str | None = None) -> str:
    """Return the start of the hash under which the judgement of a text is stored."""
    whole = text if hunk is None else f"{text}\0{hunk}"
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def make_judgement(stance: str, importance: float, worth: float) -> Judgement:
    """Return a judgement from importance, 0 to 4, and worth, 1 to 5, as readers give them."""
    ratings = {
        "gives": float(importance >= AT_STAKE_FROM),
        "importance": importance / MAX_IMPORTANCE,
        "worth": (worth - 1) / 4,
    }
    return Judgement(Stance[stance.upper()], ratings)


def read_comment_judgements() -> dict[str, Judgement]:
    """Read the judged comments: key of comment and hunk -> judgement."""
    return {
        key: make_judgement(stance, float(importance), float(worth))
        for key, stance, importance, worth, _ in _rows("remarks.tsv")
    }


def read_sentence_judgements() -> dict[str, Judgement]:
    """Read the judged sentences: key -> judgement, with `gives`, and zeros for empty ones."""
    return {
        key: Judgement(
            Stance[stance.upper()],
            dict(_EMPTY_RATINGS) if gives == "0" else {"gives": float(int(gives) >= GIVES_FROM)},
        )
        for key, stance, gives in _rows("sentences.tsv")
    }


def read_claim_judgements() -> dict[tuple[str, str], str]:
    """Read the judged claims: commit and key -> `U`, `T`, `W` or `M`.

    Useful, trivial, wrong, or misleading.
    """
    return {(commit, key): letter for commit, key, letter in _rows("claims.tsv")}


def read_texts(name: str) -> list[dict[str, Any]]:
    """Read texts of our own: `contrasts`, `reviews`, `templates`, `wordings` or `written`."""
    return [json.loads(line) for line in _read(f"{name}.jsonl").splitlines()]


def _rows(name: str) -> Iterator[list[str]]:
    for line in _read(name).splitlines():
        if not line.startswith("#"):
            yield line.split("\t")


def _read(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text("utf-8")
