"""Reads the training data of the headline: comments, titles of commits, claims, our own texts."""

import hashlib
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from crscore import jsonl
from crscore.diff import parse
from crscore.errors import DiffParseError, InputError
from crscore.records import Comment, Diff, Stance
from crscore_lab.study.attacks.attack_set import AttackKind, honest_reviews, make_attacks
from crscore_lab.study.attacks.material import Wording
from crscore_lab.study.data.study import Study, read_study
from crscore_lab.training.data import judgements, templates
from crscore_lab.training.data.attack_examples import added_sentences
from crscore_lab.training.data.judgements import Judgement, make_judgement, text_key

FILES: Final = {
    "worth": "real-comments/worth-dev.jsonl.gz",
    "rated": "real-comments/dev.jsonl.gz",
    "acted": "real-comments/acted-dev.jsonl.gz",
    "categories": "real-comments/categories-dev.jsonl.gz",
    "accepted": "real-comments/accepted-dev.jsonl.gz",
    "followed": "real-comments/followed-dev.jsonl.gz",
    "golden": "golden/martian-dev.jsonl.gz",
    "commits": "commits/diffs.jsonl.gz",
    "study": "human-study/dev.jsonl.gz",
    "claims": "claims-gpt4.jsonl.gz",
}
"""Paths of the data files, in one folder."""
SHORT_HASH: Final = 12
"""Number of digits of a commit's hash that some of our own texts have."""
MIN_BODY_CHARS: Final = 80
MAX_BODY_CHARS: Final = 900
"""Maximum characters of the body of a commit message."""
MAX_PATCH_CHARS: Final = 15_000
"""Maximum characters of the diff of a commit whose title and body are read."""
TITLE_INTERVAL: Final = 5
"""The title of one in this many commits of a repository is used."""
ATTACKS: Final[dict[AttackKind, Stance]] = {
    AttackKind.STUFFING: Stance.OTHER,
    AttackKind.PASTED: Stance.OTHER,
    AttackKind.PRAISE: Stance.PRAISE,
    AttackKind.BOILERPLATE: Stance.OTHER,
    AttackKind.INJECTION: Stance.OTHER,
    AttackKind.ECHO: Stance.DESCRIPTION,
}
"""Kind of attack -> stance of the sentences that such attacks add, in their training wording."""
MAX_ATTACKS: Final = 60
"""Maximum number of attacks of each kind."""
MAX_CLAIM_CHANGES: Final = 60
"""Maximum number of changes of which a model's claims are read."""
MINOR: Final = 0.5
"""Importance of a point about design, tests or clarity."""
TEMPLATE_FILLINGS: Final = 8
"""Number of times that a template is filled with names of a change."""
SEVERITIES: Final = {"Low": 0.3, "Medium": 0.55, "High": 0.8, "Critical": 1.0}
"""Severity of a golden finding -> importance."""
REVIEW_KINDS: Final = (
    "senior", "terse", "nits", "summary", "generic", "false", "invented", "rephrased", "padded",
)  # fmt: skip
"""Kinds of reviews that were written on one change."""
FUNCTIONAL: Final = {
    "functional": 1.0, "documentation": 0.0, "variable naming": 0.0, "visual representation": 0.0,
    "Code Defect": 1.0, "Security Vulnerability": 1.0, "Performance": 1.0,
    "Maintainability and Readability": 0.3,
}  # fmt: skip
"""Category or subcategory of a comment -> probability that it is about how the code works."""
# Matches "1. Text" and " 2) Text", up to the end of the line.
_POINT: Final = re.compile(r"^[^\S\n]*\d+[.)]\s+(.+)$", re.MULTILINE)
_EMPTY: Final = {"actionable": 0.0, "importance": 0.0, "worth": 0.0, "informative": 0.0}
_DESCRIBES: Final[dict[str, Any]] = {"stance": Stance.DESCRIPTION, "ratings": _EMPTY}
_RATINGS: Final = {
    "relevant": "relevance", "informative": "informativeness", "clear": "expression"
}  # fmt: skip
_WORDING_STANCES: Final = {
    "present": Stance.PROBLEM, "imperative": Stance.REQUEST, "question": Stance.QUESTION,
    "shouldnt": Stance.REQUEST, "short": Stance.PROBLEM, "heading": Stance.PROBLEM,
    "bot": Stance.REQUEST, "consequence": Stance.PROBLEM, "praise_but": Stance.PROBLEM,
    "suggestion": Stance.PROPOSAL,
}  # fmt: skip
_EMPTY_WORDINGS: Final = {
    "praise_only": Stance.PRAISE, "describe": Stance.DESCRIPTION, "empty": Stance.OTHER
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Post:
    """A text, usually about a change."""

    comment: Comment
    diff: Diff | None = None
    """The change; None if the data does not have it."""
    patch: str = ""
    """Text of the change."""
    group: str
    """Posts of the same group are in the same fold."""
    pool: str
    """A post with the change of another post of its pool is a negative example of *about*."""
    stance: Stance | None = None
    ratings: Mapping[str, float] = field(default_factory=dict)
    """Known ratings, each in [0, 1]."""
    weight: float = 1.0
    by_sentence: bool = False
    """Whether the stance and the ratings are those of each sentence of the text."""
    is_person: bool = False
    """Whether the text is a review comment by a person."""
    is_tied: bool = False
    """Whether the text is surely about the change."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WrittenReview:
    """Reviews of several kinds that were written on one change."""

    diff: Diff
    patch: str
    repository: str
    texts: Mapping[str, str]
    """Kind (`senior`, `terse`, `nits`, ...) -> review."""


class RealReview(NamedTuple):
    """The comments of one writer on one pull request."""

    repository: str
    diff: Diff | None
    """The hunks with comments; None if the data does not have all of them."""
    comments: tuple[Comment, ...]
    worths: tuple[float, ...]
    """Worth of each comment as readers judged it, in [0, 1]; empty if some were not judged."""
    is_person: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corpus:
    """All training data of the headline."""

    posts: tuple[Post, ...]
    """Posts, in the order of the files."""
    written: tuple[WrittenReview, ...]
    """Reviews of known kinds, from which the worth is learned, too."""
    reviews: tuple[RealReview, ...]
    """Real reviews, each with all comments of one writer on one pull request."""
    study: Study
    """Rated reviews, for the matcher."""
    sha256: str
    """Hash of the files."""


def read_corpus(folder: Path) -> Corpus:
    """Read the data files of a folder.

    Args:
        folder: Folder with the files of `FILES`.

    Raises:
        InputError: A file is missing or has another format.
    """
    digest = hashlib.sha256()
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, file in FILES.items():
        path = folder / file
        content = jsonl.read_bytes(path, "JSON Lines")
        digest.update(path.read_bytes())
        rows[name] = [row for _, row in jsonl.read_rows(content, dict, path, "JSON Lines")]
    study = read_study(folder / FILES["study"])
    try:
        judged = dict(judgements.read_comment_judgements())
        for row in rows["worth"]:
            key = text_key(row["comment"], row["diff_hunk"] or "")
            judged[key] = make_judgement(row["stance"], row["importance"], row["worth"])
        posts = [
            *(post for name in OUTCOMES for post in _real_comments(name, rows[name], judged)),
            *_golden(rows["golden"], judged),
            *_commits(rows["commits"]),
            *_study_reviews(rows["study"]),
            *_claims(rows["claims"]),
            *_own_texts(rows["commits"]),
            *_filled_templates(rows["commits"]),
            *_attacks(study),
        ]
        return Corpus(
            posts=tuple(posts),
            written=tuple(_written_reviews(rows["commits"])),
            reviews=tuple(_real_reviews([*rows["followed"], *rows["accepted"]], judged)),
            study=study,
            sha256=digest.hexdigest(),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder}: a row has another format: {error!r}") from error


def _post(body: str, **fields: Any) -> Post:
    return Post(comment=Comment(body=body), **fields)


def _comment(
    body: str, hunk: str | None, judged: Mapping[str, Judgement], ratings: Mapping[str, float],
    **fields: Any,
) -> Post:  # fmt: skip
    """Return a real comment with its known labels."""
    judgement = judged.get(text_key(body, hunk or ""))
    return _post(
        body,
        patch=hunk or "",
        stance=judgement.stance if judgement else None,
        ratings={**(judgement.ratings if judgement else {}), **ratings},
        is_tied=fields.get("diff") is not None,
        **fields,
    )


def _diff_of(hunk: str | None, path: str) -> Diff | None:
    """Parse a hunk; return None if it is missing or damaged."""
    try:
        return parse.parse_diff(hunk, path=path) if hunk else None
    except DiffParseError:
        return None


def _repository(row: dict[str, Any]) -> str:
    # The address of a pull request has the owner and the name of the repository.
    return row.get("repository") or "/".join(row["pull"].split("/")[3:5])


def _is_functional(row: dict[str, Any]) -> float:
    return FUNCTIONAL.get(row["category"], FUNCTIONAL.get(row.get("subcategory", ""), math.nan))


OUTCOMES: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, float]]]] = {
    "rated": lambda row: {name: float(row[column]) for name, column in _RATINGS.items()},
    "acted": lambda row: {"acted_on": float(row["changed"])},
    "categories": lambda row: {"functional": _is_functional(row)},
    "accepted": lambda row: {
        "accepted": float(row["accepted"]), "functional": _is_functional(row)
    },
}  # fmt: skip
"""Set of real comments -> function that returns the known ratings of a row."""


def _real_comments(
    name: str, rows: list[dict[str, Any]], judged: Mapping[str, Judgement]
) -> Iterator[Post]:
    for row in rows:
        pool = name
        if name == "rated":
            hunk = group = row["patch"]
            diff: Any = parse.parse_diff(hunk, language=row["language"])
            pool = f"rated {row['language']}"
        else:
            hunk, group = row["diff_hunk"], _repository(row)
            diff = _diff_of(hunk, row["path"])
            if name == "acted":
                pool = f"acted {diff.files[0].language}"
        yield _comment(
            row["comment"], hunk, judged, OUTCOMES[name](row), diff=diff, group=group, pool=pool,
            is_person=row.get("writer", "person") == "person",
        )  # fmt: skip


def _golden(rows: list[dict[str, Any]], judged: Mapping[str, Judgement]) -> Iterator[Post]:
    """Yield the golden findings and the judged findings of bots."""
    for row in rows:
        fields = {"group": row["pull"], "pool": "golden"}
        for finding in row["golden"]:
            ratings = _rate_point(SEVERITIES[finding["severity"]])
            yield _comment(finding["text"], None, judged, ratings, **fields)
        texts = {
            finding["text"]: finding["golden"] is not None
            for judges in row["found"].values()
            for findings in judges.values()
            for finding in findings
        }
        for text, is_golden in texts.items():
            if text_key(text, "") in judged:
                yield _comment(text, None, judged, {"accepted": float(is_golden)}, **fields)


def _real_reviews(
    rows: list[dict[str, Any]], judged: Mapping[str, Judgement]
) -> Iterator[RealReview]:
    pulls: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        pulls.setdefault((row["pull"], row["writer"]), []).append(row)
    for (_, writer), comments in pulls.items():
        hunks = {row["diff_hunk"]: row["path"] for row in comments}
        diffs = [_diff_of(hunk, path) for hunk, path in hunks.items()]
        diff = None
        if all(diffs):
            files = tuple(file for part in diffs if part for file in part.files)
            diff = Diff(files=files, sha256=hashlib.sha256("".join(hunks).encode()).hexdigest())
        keys = [text_key(row["comment"], row["diff_hunk"] or "") for row in comments]
        worths = tuple(judged[key].ratings["worth"] for key in keys if key in judged)
        yield RealReview(
            repository=_repository(comments[0]),
            diff=diff,
            comments=tuple(Comment(body=row["comment"]) for row in comments),
            worths=worths if len(worths) == len(comments) else (),
            is_person=writer == "person",
        )


def _commits(rows: list[dict[str, Any]]) -> Iterator[Post]:
    """Yield titles and bodies of some commits, and short texts that were written on them."""
    indices: Counter[str] = Counter()
    written = {row["commit"]: row for row in judgements.read_texts("written")}
    for row in rows:
        repository, patch = row["repository"], row["diff"]
        fields: dict[str, Any] = {"group": repository, "patch": patch, "is_tied": True}
        for kind in ("review", "summary", "praise") if row["commit"] in written else ():
            body = "\n\n".join(written[row["commit"]][kind])
            yield _post(body, diff=parse.parse_diff(patch), pool=f"written {kind}", **fields)
        is_titled = indices[repository] % TITLE_INTERVAL == 0
        indices[repository] += 1
        body = row["body"] if MIN_BODY_CHARS < len(row["body"]) < MAX_BODY_CHARS else ""
        if not (is_titled or body) or len(patch) > MAX_PATCH_CHARS:
            continue
        fields["diff"] = parse.parse_diff(patch)
        # A commit may only rename files, or change binary ones.
        if not any(file.hunks for file in fields["diff"].files):
            continue
        if is_titled:
            yield _post(
                row["subject"], pool=f"commits {repository} title", weight=0.3, **_DESCRIBES,
                **fields,
            )  # fmt: skip
        if body:
            yield _post(body, pool=f"commits {repository} body", **fields)


def _study_reviews(rows: list[dict[str, Any]]) -> Iterator[Post]:
    """Yield the reviews of a study, of which single sentences were judged."""
    for row in rows:
        diff = parse.parse_diff(row["patch"], language=row["language"])
        for review in row["reviews"]:
            yield _post(
                review["text"], group=row["id"], pool="study", diff=diff, patch=row["patch"]
            )


def _claims(rows: list[dict[str, Any]]) -> Iterator[Post]:
    for row in rows[:MAX_CLAIM_CHANGES]:
        body = "\n\n".join(_POINT.findall(row["completion"]))
        yield _post(
            body, group=row["patch"], pool="claims", weight=0.2, by_sentence=True, **_DESCRIBES
        )


def _rate_point(importance: float) -> dict[str, float]:
    """Return the ratings of a point of which only the importance is known."""
    ratings = {"actionable": 1.0, "importance": importance}
    # The mean worth of comments of that importance: 1.3 to 4 of 5.
    ratings["worth"] = 0.08 + 0.68 * importance
    if importance != MINOR:
        ratings["functional"] = float(importance > MINOR)
    return ratings


def _own_texts(commits: list[dict[str, Any]]) -> Iterator[Post]:
    """Yield the texts that were written for training."""
    patches = {row["commit"][:SHORT_HASH]: row["diff"] for row in commits}
    for name, read in _OWN_TEXTS.items():
        for row in judgements.read_texts(name):
            patch = patches.get(row["commit"][:SHORT_HASH], "")  # the data may lack it
            # The negative examples are other changes of the same repository, because they share
            # many words with the text.
            yield from read(
                row,
                group=row["repository"],
                pool=f"own {row['repository']}",
                patch=patch,
                diff=parse.parse_diff(patch) if patch else None,
                is_tied=bool(patch),
            )


def _comments(row: dict[str, Any], **tie: Any) -> Iterator[Post]:
    """Yield a comment in the style of people and bots, with the judgement of its text alone."""
    stance, ratings = make_judgement(row["stance"], row["importance"], row["worth"])
    yield _post(row["comment"], stance=stance, ratings=ratings, **tie)


def _wordings(row: dict[str, Any], **tie: Any) -> Iterator[Post]:
    """Yield one problem in ten wordings, and three texts without it."""
    fields = {**tie, "pool": "wordings", "weight": 0.7}
    ratings = _rate_point(row["importance"] / judgements.MAX_IMPORTANCE)
    for name, manner in _WORDING_STANCES.items():
        yield _post(row[name], stance=manner, ratings=ratings, **fields)
    for name, manner in _EMPTY_WORDINGS.items():
        yield _post(row[name], stance=manner, ratings=_EMPTY, **fields | {"is_tied": False})


def _points_and_parts(row: dict[str, Any], **tie: Any) -> Iterator[Post]:
    """Yield the points of reviews, and the sentences of reviews of several kinds."""
    points = [point["importance"] / judgements.MAX_IMPORTANCE for point in row["points"]]
    for point, importance in zip(row["points"], points, strict=True):
        yield _post(point["text"], ratings=_rate_point(importance), weight=0.7, **tie)
    parts: tuple[tuple[str, Stance | None, dict[str, float]], ...] = (
        ("terse", None, _rate_point(max(points))),
        ("summary", Stance.DESCRIPTION, _EMPTY),
        ("generic", None, _EMPTY),
        ("nits", None, {"importance": 0.25, "worth": 0.25, "functional": 0.0}),
    )
    for kind, stance, ratings in parts:
        is_tied = tie["is_tied"] and kind != "generic"
        yield _post(
            row[kind], stance=stance, ratings=ratings, by_sentence=True, weight=0.7,
            **tie | {"is_tied": is_tied},
        )  # fmt: skip


def _contrasts(row: dict[str, Any], **tie: Any) -> Iterator[Post]:
    """Yield findings, requests and descriptions of one change, in the same grammatical mood."""
    for text in row["describe"]:
        yield _post(text, weight=0.4, **_DESCRIBES, **tie)
    for kind, stance in (("points", Stance.PROBLEM), ("requests", Stance.REQUEST)):
        for point in row[kind]:
            ratings = _rate_point(point["importance"] / judgements.MAX_IMPORTANCE)
            yield _post(point["text"], stance=stance, ratings=ratings, weight=0.7, **tie)


_OWN_TEXTS: Final[Mapping[str, Callable[..., Iterator[Post]]]] = {
    "comments": _comments, "wordings": _wordings, "reviews": _points_and_parts,
    "contrasts": _contrasts,
}  # fmt: skip


def _filled_templates(commits: list[dict[str, Any]]) -> Iterator[Post]:
    """Yield useless templates, filled with names of changes."""
    rng = random.Random(0)
    repositories = {row["repository"] for row in judgements.read_texts("reviews")}
    familiar = [row for row in commits if row["repository"] in repositories]
    # The data may be a subset of all commits.
    for template in judgements.read_texts("templates") if familiar else ():
        for row in rng.choices(familiar, k=TEMPLATE_FILLINGS):
            body = templates.fill(template["text"], row["diff"], rng)
            yield _post(
                body, group=template["text"], pool="templates", stance=Stance.OTHER,
                ratings=_EMPTY, weight=0.3,
            )  # fmt: skip


def _written_reviews(commits: list[dict[str, Any]]) -> Iterator[WrittenReview]:
    patches = {row["commit"]: row["diff"] for row in commits}
    for row in judgements.read_texts("reviews"):
        if patch := patches.get(row["commit"]):
            yield WrittenReview(
                diff=parse.parse_diff(patch),
                patch=patch,
                repository=row["repository"],
                texts={kind: row[kind] for kind in REVIEW_KINDS if kind in row},
            )


def _attacks(study: Study) -> Iterator[Post]:
    """Yield the sentences of attacks that are not in the honest reviews."""
    original_texts = {
        (change.id, review.system): review.text for change, review in honest_reviews(study)
    }
    counts: Counter[AttackKind] = Counter()
    attacks = make_attacks(study, seed=0, wording=Wording.TRAINING)
    # Sorted by hash, so that attacks on all changes and of all variants are within the limit.
    for attack in sorted(attacks, key=lambda a: hashlib.sha256(a.text.encode()).hexdigest()):
        if attack.kind not in ATTACKS or counts[attack.kind] == MAX_ATTACKS:
            continue
        added = added_sentences(attack, original_texts[attack.change, attack.system])
        if added:
            counts[attack.kind] += 1
            yield _post(
                "\n\n".join(added), group=attack.change, pool="attacks",
                stance=ATTACKS[attack.kind], ratings=_EMPTY, weight=0.3, by_sentence=True,
            )  # fmt: skip
