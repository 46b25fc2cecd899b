"""Rows of an audit's store: single ones with defaults, and whole histories of any size."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from crscore.audit.formulas import number_words
from crscore.audit.store.rows import (
    AuditRun,
    Check,
    Comment,
    CommentObservation,
    CommentScore,
    Pull,
    Repository,
    Score,
    Signal,
    SignalRow,
    ThreadObservation,
    comment_key,
)
from crscore.hosts.records import MessageKind

if TYPE_CHECKING:
    from crscore.audit.store.database import Store
    from crscore.audit.store.rows import Row

START = datetime(2026, 3, 1, tzinfo=UTC)
"""First day of a history."""
NIGHTS = 30
PULL_COMMENTS = 20
"""Mean comments of a pull of `fill`, about."""
BOTS = (
    "CodeRabbit",
    "Copilot",
    "Sourcery",
    "Gemini",
    "Codex",
    "Claude",
    "PR-Agent",
    "reviewdog",
    "otter-review",
    "lint <b>bot</b>",
)
PEOPLE = ("ada", "grace")
LANGUAGES = ("python", "go", "typescript")
_LETTERS = str.maketrans("0123456789", "abcdefghij")
_WORDS = ("limit", "retry", "key", "loop", "value", "request", "cache", "thread", "buffer", "index")


def at(day: int, hour: int = 9) -> str:
    """Return a time of a day of the history, counted from 0."""
    return (START + timedelta(days=day, hours=hour)).strftime("%Y-%m-%dT%H:%M:%SZ")


def night(day: int) -> str:
    """Return the date of a day of the history, counted from 0."""
    return at(day)[:10]


def repository(number: int = 1, **changes: Any) -> Repository:
    """Repository that is fine."""
    values = {"id": number, "name": f"acme/service-{number}", "state": "ok"}
    return Repository(**(values | changes))


def pull(number: int, *, day: int = 0, **changes: Any) -> Pull:
    """Pull that was merged on the day it was created."""
    values: dict[str, Any] = {
        "repository": 1,
        "number": number,
        "node": f"PR_{number}",
        "title": f"Change {number}",
        "author": "linus",
        "state": "merged",
        "created": at(day),
        "updated": at(day, 20),
        "closed": at(day, 20),
        "merged": at(day, 20),
        "base_ref": "main",
        "base": f"{number:040x}",
        "head": head(number),
        "merge_commit": f"{number:039x}e",
        "lines": 40,
        "language": "python",
        "pending": 0,
        "observed": night(day),
        "final": 0,
    }
    return Pull(**(values | changes))


def head(number: int) -> str:
    """Return the last commit of a pull."""
    return f"{number:039x}f"


def comment(number: int, reviewer: str, host_id: int, **changes: Any) -> Comment:
    """Comment of a reviewer on line 3 of the last commit of a pull."""
    is_bot = changes.get("is_bot", int(reviewer not in PEOPLE))
    values: dict[str, Any] = {
        "key": comment_key(MessageKind.LINE, host_id),
        "repository": 1,
        "number": number,
        "thread": comment_key(MessageKind.LINE, host_id),
        "author": account(reviewer) if is_bot else reviewer,
        "is_app": is_bot,
        "reviewer": reviewer,
        "is_bot": is_bot,
        "is_review": 1,
        "body": b"0" * 16,
        "created": at(0, 10),
        "updated": at(0, 10),
        "state": "",
        "commit_id": head(number),
        "path": "src/app.py",
        "line": 3,
        "side": "new",
    }
    return Comment(**(values | changes))


def account(reviewer: str) -> str:
    """Return the login of a bot's account."""
    return "".join(one for one in reviewer.lower() if one.isalnum()) + "[bot]"


def score(number: int, reviewer: str, standing: int | None = None, **changes: Any) -> Score:
    """Score of a reviewer's comments on a pull; its other numbers follow the standing."""
    share = None if standing is None else standing / 100
    values: dict[str, Any] = {
        "repository": 1,
        "number": number,
        "reviewer": reviewer,
        "signature": 1,
        "content": number.to_bytes(8, "big"),
        "night": night(0),
        "is_bot": int(reviewer not in PEOPLE),
        "comments": 2,
        "words": 40,
        "standing": standing,
        "relevance": share,
        "reason": "there is no sentence" if standing is None else None,
    }
    return Score(**(values | changes))


def comment_score(
    comment: int, number: int, standing: int | None = 50, **changes: Any
) -> CommentScore:
    """Score of one comment of a pull."""
    values: dict[str, Any] = {
        "comment": comment,
        "signature": 1,
        "content": number.to_bytes(8, "big"),
        "standing": standing,
        "stance": "names a problem",
        "level": "major",
        "text": wording(comment),
    }
    values |= changes
    return CommentScore(**({"words": number_words(values["text"])} | values))


def wording(number: int) -> str:
    """Return a sentence that shares no group of words with that of another number."""
    words = (f"{number * factor:06d}".translate(_LETTERS) for factor in (1, 3, 7, 9, 11, 13))
    return f"{' '.join(words)}."


def run(day: int, **changes: Any) -> AuditRun:
    """One complete night of scoring."""
    values: dict[str, Any] = {
        "kind": "score",
        "night": night(day),
        "started": at(day, 22),
        "finished": at(day, 23),
        "signature": "synthetic",
        "pulls": 0,
        "failed": 0,
        "rest": 0,
        "points": 0,
        "requests": 0,
        "tokens_read": 0,
        "tokens_written": 0,
    }
    return AuditRun(**(values | changes))


def fill(store: Store, *, comments: int = 200_000, seed: int = 0) -> None:
    """Fill a store with a history of 30 nights: ten bots, two people, two repositories.

    The bots differ: the first is the most useful, the last the least; each reviews most pulls.
    Texts come from a pool of 200, some with markup.

    Args:
        store: An empty store.
        comments: Comments, about; the pulls are a twentieth of them, at least 2.
        seed: Seed of the history.
    """
    rng = random.Random(seed)
    pulls = max(2, comments // PULL_COMMENTS)
    with store.transaction():
        signature = store.signature_id("synthetic")
        texts = [_text(rng) for _ in range(200)]
        pool = [store.add_text(text) for text in texts]
        hunk = store.add_text("@@ -1,3 +1,3 @@\n-limit = 10\n+limit = 20\n")
        store.put(repository(number) for number in (1, 2))
        host_id = 1
        for number in range(1, pulls + 1):
            rows = _pull_rows(rng, number, host_id, day=number * NIGHTS // (pulls + 1))
            host_id += sum(isinstance(row, Comment) for row in rows)
            store.put(_placed(rng, rows, texts, pool, hunk, signature, number % 2 + 1))
        store.put(
            run(day, id=2 * day + kind, kind=("sync", "score")[kind], pulls=pulls // NIGHTS)
            for day in range(NIGHTS)
            for kind in (0, 1)
        )


def _text(rng: random.Random) -> str:
    words = " ".join(rng.choice(_WORDS) for _ in range(rng.randint(8, 60)))
    return rng.choice(("", "**Note:** ", "<script>alert(1)</script> ")) + words + " is wrong here."


def _pull_rows(rng: random.Random, number: int, host_id: int, *, day: int) -> list[Row]:
    state = "merged" if rng.random() < 0.85 else "open"
    ended = at(day, 20) if state == "merged" else None
    rows: list[Row] = [
        pull(
            number,
            day=day,
            state=state,
            closed=ended,
            merged=ended,
            lines=int(rng.lognormvariate(4, 1)),
            language=rng.choice(LANGUAGES),
            pending=int(rng.random() < 0.01),
        )
    ]
    hardness = rng.gauss(0, 10)
    for place, reviewer in enumerate((*BOTS, *PEOPLE)):
        if rng.random() < (0.93 if reviewer in BOTS else 0.4):
            mean = 65 - 4 * (place % len(BOTS)) + hardness
            rows += _review_rows(rng, number, reviewer, host_id, day, mean)
            host_id += sum(isinstance(row, Comment) and row.reviewer == reviewer for row in rows)
    together = [row for row in rows if isinstance(row, Score) and row.standing is not None]
    best = max((row.standing or 0 for row in together), default=None)
    rows.append(score(number, "", best, is_bot=0, night=night(day)))
    return rows


def _review_rows(
    rng: random.Random, number: int, reviewer: str, host_id: int, day: int, mean: float
) -> list[Row]:
    if rng.random() < 0.03:
        key = comment_key(MessageKind.CONVERSATION, host_id)
        reason = rng.choice(("limit", "skipped", "failed"))
        skip = {"is_review": 0, "skip": reason, "path": None, "line": None, "side": None}
        return [
            comment(number, reviewer, host_id, key=key, thread=None, commit_id=None, **skip),
            Check(
                repository=1,
                number=number,
                head=head(number),
                app=account(reviewer).removesuffix("[bot]"),
                name="review",
                outcome="success",
            ),
        ]
    rows: list[Row] = []
    standings = []
    for offset in range(rng.randint(1, 3)):
        key = comment_key(MessageKind.LINE, host_id + offset)
        standing = round(min(100.0, max(0.0, rng.gauss(mean, 15))))
        standings.append(standing)
        old = {} if rng.random() < 0.8 else {"commit_id": "0" * 40}
        rows += [
            comment(
                number,
                reviewer,
                host_id + offset,
                created=at(day, 10 + offset),
                updated=at(day, 10 + offset),
                **old,
            ),
            ThreadObservation(
                thread=key, night=night(day), resolved=int(rng.random() < 0.4), outdated=0
            ),
            CommentObservation(comment=key, night=night(day)),
            comment_score(key, number, standing, noise=_noise(rng, standing)),
            *_signals(rng, key, day, standing),
        ]
    rows.append(
        score(
            number,
            reviewer,
            round(sum(standings) / len(standings)),
            night=night(day),
            comments=len(standings),
            words=rng.randint(15, 40) * len(standings),
        )
    )
    return rows


def _noise(rng: random.Random, standing: int) -> str | None:
    if rng.random() < 0.1 + (100 - standing) / 250:
        return rng.choice(("repeat", "restates", "praise", "nothing"))
    return None


def _signals(rng: random.Random, key: int, day: int, standing: int) -> list[Row]:
    drawn = rng.random()
    changed = None if drawn > 0.95 else int(drawn < 0.2 + standing / 200)
    values = {"comment": key, "night": night(day), "rules": 1}
    base = {"base_yes": rng.randint(0, 3), "base_all": 12}
    rows: list[Row] = [
        SignalRow(**values, signal=Signal.ACTED_ON, value=changed, **base),
    ]
    if changed and rng.random() < 0.5:
        rows.append(SignalRow(**values, signal=Signal.RESOLVED, value=1))
    return rows


def _placed(
    rng: random.Random,
    rows: list[Row],
    texts: list[str],
    pool: list[bytes],
    hunk: bytes,
    signature: int,
    repository: int,
) -> list[Row]:
    """Give rows their repository, signature and texts."""
    placed: list[Row] = []
    for row in rows:
        values: dict[str, Any] = {name: getattr(row, name) for name in type(row).__slots__}
        if "repository" in values:
            values["repository"] = repository
        if "signature" in values:
            values["signature"] = signature
        if isinstance(row, Comment):
            values |= {"body": rng.choice(pool), "hunk": hunk}
        if isinstance(row, CommentScore):
            # Markup in the text of a comment is text, not markup.
            text = texts[row.comment % len(texts)]
            values |= {"text": text, "words": number_words(text)}
        placed.append(type(row)(**values))
    return placed
