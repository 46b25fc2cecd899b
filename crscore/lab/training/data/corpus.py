"""Real comments, titles of commits and claims, from which the headline is learned."""

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
from crscore.lab.study.attacks.material import Wording
from crscore.lab.study.data.study import Study, read_study
from crscore.lab.training.data.attack_examples import added_sentences
from crscore.records import Comment, Diff, Kind

FILES: Final = {
    "rated": "real-comments/dev.jsonl.gz",
    "acted": "real-comments/acted-dev.jsonl.gz",
    "commits": "commits/diffs.jsonl.gz",
    "study": "human-study/dev.jsonl.gz",
    "claims": "claims-gpt4.jsonl.gz",
}
"""The data, in one folder."""
MIN_BODY_CHARS: Final = 80
MAX_BODY_CHARS: Final = 900
TITLE_INTERVAL: Final = 5
"""Every commit of a repository with this distance gives its title."""
ATTACKS: Final[dict[AttackKind, Kind]] = {
    AttackKind.STUFFING: Kind.OTHER,
    AttackKind.PASTED: Kind.OTHER,
    AttackKind.PRAISE: Kind.PRAISE,
    AttackKind.BOILERPLATE: Kind.OTHER,
    AttackKind.INJECTION: Kind.OTHER,
    AttackKind.RESTATEMENT: Kind.DESCRIPTION,
    AttackKind.ECHO: Kind.DESCRIPTION,
}
"""Kinds of attacks, in their training wording, and the kind of the sentences that they add."""
MAX_ATTACKS: Final = 120
"""Most attacks of a kind."""
MAX_CLAIMED: Final = 500
"""Most changes whose claims by a model are read."""
# Takes "1. Text" and " 2) Text", up to the end of the line.
_POINT: Final = re.compile(r"^[^\S\n]*\d+[.)]\s+(.+)$", re.MULTILINE)
_DESCRIBES: Final[dict[str, Any]] = {"labels": (math.nan, math.nan, math.nan, math.nan, 0.0)}
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
    diff: Diff
    patch: str
    """Text of the change."""
    group: str
    """Posts of one group are in one fold."""
    pool: str
    """Changes of one pool can replace each other as negative examples."""
    labels: tuple[float, ...] | None = None
    """Relevant, informative, clear, acted on, reviewing: 0, 1 or NaN; None without labels."""
    is_person: bool = False
    """Whether it is a review comment by a person."""
    is_tied: bool = False
    """Whether the text is surely about the change."""
    kind: Kind | None = None
    """Kind of its sentences, where the origin of the text determines it; they are not
    actionable."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """All training data of the headline."""

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
    for part, read_posts in (
        ("rated", _rated),
        ("acted", _acted),
        ("commits", _commits),
        ("study", _reviews),
        ("claims", _claims),
    ):
        path = folder / FILES[part]
        rows = jsonl.read_rows(jsonl.read_bytes(path, "JSON Lines"), dict, path, "JSON Lines")
        try:
            posts += read_posts(row for _, row in rows)
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: a row lacks {error}") from error
    study = read_study(folder / FILES["study"])
    posts += _attacks(study)
    return Corpus(posts=tuple(posts), study=study, sha256=digest.hexdigest())


def _post(body: str, patch: str, diff: Diff, **fields: Any) -> Post:
    return Post(comment=Comment(body=body), patch=patch, diff=diff, **fields)


def _rated(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    for row in rows:
        yield _post(
            row["comment"],
            row["patch"],
            parse.parse_diff(row["patch"], language=row["language"]),
            group=row["patch"],
            pool=f"rated {row['language']}",
            # It is unknown whether the author acted on them.
            labels=(*(float(row[name]) for name in _RATINGS), math.nan, 1.0),
            is_person=True,
            is_tied=True,
        )


def _acted(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    for row in rows:
        diff = parse.parse_diff(row["diff_hunk"], path=row["path"])
        yield _post(
            row["comment"],
            row["diff_hunk"],
            diff,
            group=row["diff_hunk"],
            pool=f"acted {diff.files[0].language}",
            # Nobody rated these.
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


def _commits(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    """Yield titles and bodies of some commits, and the texts that were written on them."""
    indices: Counter[str] = Counter()
    written = read_written()
    for row in rows:
        repository, patch = row["repository"], row["diff"]
        fields = {"group": repository, "is_tied": True}
        for kind, sentences in written.get(row["commit"], {}).items():
            yield _post(
                "\n\n".join(sentences),
                patch,
                parse.parse_diff(patch),
                **fields,
                **_WRITTEN[kind],
                pool=f"written {kind}",
            )
        is_titled = indices[repository] % TITLE_INTERVAL == 0
        indices[repository] += 1
        body = row["body"] if MIN_BODY_CHARS < len(row["body"]) < MAX_BODY_CHARS else ""
        if not is_titled and not body:
            continue
        diff = parse.parse_diff(patch)
        # A commit may only rename files, or change binary ones.
        if not any(file.hunks for file in diff.files):
            continue
        pool = f"commits {repository}"
        if is_titled:
            yield _post(row["subject"], patch, diff, **fields, pool=f"{pool} title")
        if body:
            yield _post(body, patch, diff, **fields, pool=f"{pool} body")


def _reviews(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    """Yield the reviews of a study for their judged sentences, and its claims."""
    for row in rows:
        patch = row["patch"]
        diff = parse.parse_diff(patch, language=row["language"])
        fields = {"group": row["id"], "pool": "study"}
        for review in row["reviews"]:
            yield _post(review["text"], patch, diff, **fields)
        claims = "\n\n".join(claim["text"] for claim in row["llm_claims"])
        yield _post(claims, patch, diff, **fields, **_DESCRIBES, kind=Kind.DESCRIPTION)


def _claims(rows: Iterator[dict[str, Any]]) -> Iterator[Post]:
    for row, _ in zip(rows, range(MAX_CLAIMED), strict=False):
        yield _post(
            "\n\n".join(_POINT.findall(row["completion"])),
            row["patch"],
            parse.parse_diff(row["patch"]),
            group=row["patch"],
            pool="claims",
            **_DESCRIBES,
            kind=Kind.DESCRIPTION,
        )


def _attacks(study: Study) -> Iterator[Post]:
    """Yield the sentences that attacks add to honest reviews, or consist of."""
    original_texts = {
        (change.id, review.system): review.text for change, review in honest_reviews(study)
    }
    changes = {change.id: change for change in study.changes}
    counts: Counter[AttackKind] = Counter()
    attacks = make_attacks(study, seed=0, wording=Wording.TRAINING)
    # By a hash, so that the limit takes attacks on all changes and of all variants.
    for attack in sorted(attacks, key=lambda a: hashlib.sha256(a.text.encode()).hexdigest()):
        if attack.kind not in ATTACKS or counts[attack.kind] == MAX_ATTACKS:
            continue
        added = added_sentences(attack, original_texts[attack.change, attack.system])
        if added:
            counts[attack.kind] += 1
            change = changes[attack.change]
            yield _post(
                "\n\n".join(added),
                change.patch,
                parse.parse_diff(change.patch, language=change.language),
                group=change.id,
                pool="attacks",
                **_DESCRIBES,
                kind=ATTACKS[attack.kind],
            )
