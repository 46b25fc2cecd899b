"""Real comments, titles of commits and claims, as the headline is learned from them."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crscore import jsonl
from crscore.diff import parse
from crscore.errors import InputError
from crscore.lab.study.attacks.attack_set import AttackKind, honest_reviews, make_attacks
from crscore.lab.study.attacks.material import Wording, split_sentences
from crscore.lab.study.study import Study, read_study
from crscore.records import Comment, Diff, Kind

FILES: Final = {
    "rated": "real-comments/dev.jsonl.gz",
    "acted": "real-comments/acted-dev.jsonl.gz",
    "commits": "commits/diffs.jsonl.gz",
    "study": "human-study/dev.jsonl.gz",
    "claims": "claims-gpt4.jsonl.gz",
}
"""The data, in one folder."""
TITLES: Final = 60
"""Commits of a repository."""
MAX_BODY: Final = 900
ATTACKS: Final[dict[AttackKind, Kind]] = {
    AttackKind.STUFFING: Kind.OTHER,
    AttackKind.PASTED: Kind.OTHER,
    AttackKind.PRAISE: Kind.PRAISE,
    AttackKind.BOILERPLATE: Kind.OTHER,
    AttackKind.INJECTION: Kind.OTHER,
    AttackKind.RESTATEMENT: Kind.DESCRIPTION,
    AttackKind.ECHO: Kind.DESCRIPTION,
}
"""Texts made to fool a score, in their training wording, and the kind of what they add."""
ATTACKED: Final = 120
"""Attacks of a kind."""
CLAIMED: Final = 500
"""Changes whose claims by a model are read."""
_POINT: Final = re.compile(r"^[^\S\n]*\d+[.)]\s+(.+)$", re.MULTILINE)
_DESCRIBES: Final[dict[str, Any]] = {
    "labels": (math.nan, math.nan, math.nan, math.nan, 0.0),
}
"""Labels of a text that only describes or praises."""
_WRITTEN: Final[dict[str, dict[str, Any]]] = {
    "review": {"labels": (1.0, 1.0, math.nan, math.nan, 1.0)},
    "summary": _DESCRIBES,
    "praise": _DESCRIBES,
}
"""Labels of the texts in `written.jsonl`."""
_RATINGS: Final = ("relevance", "informativeness", "expression")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Post:
    """A text on a change."""

    comment: Comment
    """The text."""
    diff: Diff
    """The change."""
    patch: str
    """Its text."""
    group: str
    """What a fold keeps together."""
    alike: str
    """Changes with the same value can stand in for each other."""
    labels: tuple[float, ...] | None = None
    """Relevant, informative, clear, acted on, reviewing: 0, 1 or NaN; None where nothing is
    known."""
    is_person: bool = False
    """Whether it is a review comment by a person."""
    is_tied: bool = False
    """Whether the text is surely about the change."""
    kind: Kind | None = None
    """Kind of its sentences, where it is known by how the text was made: they give nothing to act
    on."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """Everything that is learned from."""

    posts: tuple[Post, ...]
    """In the order of the files."""
    study: Study
    """Rated reviews, for the matcher."""
    sha256: str
    """Hash of the files."""


def read_corpus(folder: Path) -> Corpus:
    """Read the data of a folder, laid out as `FILES`.

    Raises:
        InputError: A file is missing or of another form.
    """
    digest = hashlib.sha256()
    for name in FILES.values():
        try:
            digest.update((folder / name).read_bytes())
        except OSError as error:
            raise InputError(f"{folder / name} cannot be read: {error.strerror}") from error
    posts: list[Post] = []
    for part, read in (
        ("rated", _rated),
        ("acted", _acted),
        ("commits", _titles),
        ("study", _reviews),
        ("claims", _claims),
    ):
        path = folder / FILES[part]
        found = jsonl.read_rows(jsonl.read_bytes(path, "JSON Lines"), dict, path, "JSON Lines")
        try:
            posts += read(row for _, row in found)
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: a row lacks {error}") from error
    study = read_study(folder / FILES["study"])
    posts += _attacks(study)
    return Corpus(posts=tuple(posts), study=study, sha256=digest.hexdigest())


def _rated(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    for row in rows:
        yield Post(
            comment=Comment(body=row["comment"]),
            diff=parse.parse_diff(row["patch"], language=row["language"]),
            patch=row["patch"],
            group=row["patch"],
            alike=f"rated {row['language']}",
            labels=(*(float(row[name]) for name in _RATINGS), math.nan, 1.0),
            is_person=True,
            is_tied=True,
        )


def _acted(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    for row in rows:
        diff = parse.parse_diff(row["diff_hunk"], path=row["path"])
        yield Post(
            comment=Comment(body=row["comment"]),
            diff=diff,
            patch=row["diff_hunk"],
            group=row["diff_hunk"],
            alike=f"acted {diff.files[0].language}",
            labels=(math.nan, math.nan, math.nan, float(row["changed"]), 1.0),
            is_person=row["writer"] == "person",
            is_tied=True,
        )


def read_written() -> dict[str, dict[str, list[str]]]:
    """Read the texts that were written on some commits: a review, a summary and praise of each.

    Returns:
        Commit -> kind of text -> its sentences.
    """
    text = importlib.resources.files(__package__).joinpath("written.jsonl").read_text("utf-8")
    rows = map(json.loads, text.splitlines())
    return {row["commit"]: {kind: row[kind] for kind in _WRITTEN} for row in rows}


def _titles(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    """Yield titles and bodies of some commits, and what was written on them."""
    taken: dict[str, int] = {}
    written = read_written()
    for row in rows:
        if row["commit"] in written:
            for kind, sentences in written[row["commit"]].items():
                yield Post(
                    comment=Comment(body="\n\n".join(sentences)),
                    diff=parse.parse_diff(row["diff"]),
                    patch=row["diff"],
                    group=row["repository"],
                    alike=f"written {kind}",
                    **_WRITTEN[kind],
                    is_tied=True,
                )
        seen = taken[row["repository"]] = taken.get(row["repository"], -1) + 1
        body = row["body"] if 80 < len(row["body"]) < MAX_BODY else ""
        if seen % 5 and not body:
            continue
        diff = parse.parse_diff(row["diff"])
        if not any(file.hunks for file in diff.files):
            continue
        for text in ((row["subject"],) if seen % 5 == 0 else ()) + ((body,) if body else ()):
            yield Post(
                comment=Comment(body=text),
                diff=diff,
                patch=row["diff"],
                group=row["repository"],
                alike=f"commits {row['repository']} {text is body}",
                is_tied=True,
            )


def _reviews(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    """Yield the reviews of a study for their judged sentences, and its claims."""
    for row in rows:
        diff = parse.parse_diff(row["patch"], language=row["language"])
        same = {"diff": diff, "patch": row["patch"], "group": row["id"], "alike": "study"}
        for review in row["reviews"]:
            yield Post(comment=Comment(body=review["text"]), **same)
        claims = "\n\n".join(one["text"] for one in row["llm_claims"])
        yield Post(comment=Comment(body=claims), **same, **_DESCRIBES, kind=Kind.DESCRIPTION)


def _claims(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    for row, _ in zip(rows, range(CLAIMED), strict=False):
        yield Post(
            comment=Comment(body="\n\n".join(_POINT.findall(row["completion"]))),
            diff=parse.parse_diff(row["patch"]),
            patch=row["patch"],
            group=row["patch"],
            alike="claims",
            **_DESCRIBES,
            kind=Kind.DESCRIPTION,
        )


def _attacks(study: Study) -> Iterator[Post]:
    """Yield what attacks add to honest reviews, or are made of."""
    honest = {(change.id, review.system): review.text for change, review in honest_reviews(study)}
    changes = {change.id: change for change in study.changes}
    left = Counter(dict.fromkeys(ATTACKS, ATTACKED))
    made = make_attacks(study, seed=0, wording=Wording.TRAINING)
    for attack in sorted(made, key=lambda one: hashlib.sha256(one.text.encode()).hexdigest()):
        if not left[attack.kind]:
            continue
        own = frozenset(split_sentences(honest[attack.change, attack.system]))
        added = [one for one in split_sentences(attack.text) if one not in own]
        if added:
            left[attack.kind] -= 1
            change = changes[attack.change]
            yield Post(
                comment=Comment(body="\n\n".join(added)),
                diff=parse.parse_diff(change.patch, language=change.language),
                patch=change.patch,
                group=change.id,
                alike="attacks",
                **_DESCRIBES,
                kind=ATTACKS[attack.kind],
            )
