"""Check the verdicts of an audit on bots that try to cheat, and on honest bots.

    python benchmarks/audit_staged.py [--seeds 20] [--first 0] [--pulls 30] [--major]

The pull requests are changes of `audit_planted`. Two people, four honest bots (`HONEST`) and twenty
bots that cheat (`STAGED`) review them. A bot that cheats says nothing useful and tries to look
useful. Each reviewer comments on a separate file, except bots that comment near another reviewer.
Authors act on 60 % of the comments that find a fault, and on 25 % of the others (chance), unless
the bot arranges another share. If two reviewers comment on the same lines, these change if either
comment is acted on. If lines are fixed before a comment, the audit's own code decides, in a real
repository, whether a later change is due to the comment.

The shipped scorer reads the comments. With `--major`, every comment of a bot that cheats counts as
major, as if its author had found words that deceive the scorer. The rows are written into a store
in the form of `crscore audit sync` and `score`.

Prints how often the verdict on each bot is keep, tune, drop or undecided. The goal is that all
honest bots are kept and no other; with 200 pull requests, all bots that cheat are dropped.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.audit_planted import ACTED_ON, CHANCE, CHANGES, Change, Review, acted_on, measure
from crscore.audit.decide import Record, decide, load_records
from crscore.audit.score.followed import LaterChanges
from crscore.audit.store.database import Store
from crscore.audit.store.rows import CommentObservation, ThreadObservation, comment_key
from crscore.audit.tables import Period, load_reviews
from crscore.hosts.records import MessageKind
from crscore.records import Comment, Side
from crscore.scorer import Scorer
from tests.helpers import audit_rows
from tests.helpers.changes import change, texts
from tests.helpers.github.history import History

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.audit.overview import Decision
    from crscore.audit.store.rows import Row

PULLS = 30
FIRST_COMMIT = f"{0:039x}a"
"""Commit that bots review; the authors then push the last commit."""
MORNING, AFTERNOON, EVENING = 10, 15, 18
VERDICTS = ("keep", "tune", "drop", "undecided")
_NAME = re.compile(r"[a-z_]\w{3,}")


class Post(NamedTuple):
    """Comment of a bot, and what happens to it."""

    body: str
    finds_fault: bool = False
    acted: float | None = None
    """Probability that its lines change; None for `ACTED_ON` or `CHANCE`."""
    hour: int = MORNING
    edited: int | None = None
    """Hour at which the bot edits it; None if it does not."""
    gone: str | None = None
    """Why the bot hides it later, unless somebody acts on it; None if the bot does not hide it."""
    resolved_by: str | None = None
    """Who resolves its thread; None if nobody does."""
    copies: bool = False
    """Whether it makes the same point as a person's comment."""
    beside: str = ""
    """Reviewer on whose lines it is posted; "" for the bot's own file."""
    place: int | None = None
    """Number of its lines in the bot's file; comments with the same number are on the same lines.
    None for lines without another comment."""
    is_followed: bool = False
    """Whether a change of its lines comes before it, and a real repository decides on its cause."""


Writer = Callable[[Change, int, random.Random], list[Post]]
"""Function of a change, the number of the pull request and a source of randomness that returns a
bot's comments."""


def _names(one: Change, number: int, count: int = 2) -> list[str]:
    names = sorted(set(_NAME.findall(one.new)) - {"return", "self", "while", "except"})
    return [names[(number + at) % len(names)] for at in range(count)]


def _fault(one: Change, number: int, shift: int = 0) -> str:
    return one.faults[(number // len(CHANGES) + shift) % len(one.faults)]


def _elsewhere(number: int, shift: int = 0) -> str:
    """Return a comment on a fault of another change, which sounds severe and is false here."""
    return _fault(CHANGES[(number + 3 + shift) % len(CHANGES)], number, shift)


def _filled(*templates: str) -> Writer:
    def write(one: Change, number: int, _: random.Random) -> list[Post]:
        first, second = _names(one, number)
        return [Post(template.format(a=first, b=second)) for template in templates]

    return write


def _always(**values: Any) -> Writer:
    return lambda _, number, __: [Post(_elsewhere(number), **values)]


def _finder(one: Change, number: int, rng: random.Random) -> list[Post]:
    return [Post(_fault(one, number), finds_fault=True)] if rng.random() < 0.9 else []


def _finder_with_nits(one: Change, number: int, rng: random.Random) -> list[Post]:
    nits = [Post(rng.choice(one.vague))] if rng.random() < 0.4 else []
    return [Post(_fault(one, number, 1), finds_fault=True), *nits]


def _finder_of_two(one: Change, number: int, _: random.Random) -> list[Post]:
    # Two comments on each second pull request. With more, texts would occur three times and count
    # as templated.
    shifts = (2,) if number % 2 else (2, 0)
    return [Post(_fault(one, number, shift), finds_fault=True) for shift in shifts]


def _finder_in_company(one: Change, number: int, _: random.Random) -> list[Post]:
    return [Post(_fault(one, number, 1), finds_fault=True, beside="" if number % 3 else "ada")]


def _beside(name: str, every: int = 1) -> Writer:
    return lambda _, number, __: [Post(_elsewhere(number), beside="" if number % every else name)]


def _after_the_fix(one: Change, number: int, _: random.Random) -> list[Post]:
    return [Post(_fault(one, number), acted=0.9, hour=EVENING, is_followed=True)]


def _after_the_fix_unseen(one: Change, number: int, rng: random.Random) -> list[Post]:
    # Only on pull requests where nobody comments on the last commit: such a comment would show that
    # this commit existed before the bot's comment.
    return [] if _is_looked_at(number) else _after_the_fix(one, number, rng)


def _is_looked_at(number: int) -> bool:
    return number % 2 > 0


def _thrice(_: Change, number: int, __: random.Random) -> list[Post]:
    # The bot comments on enough pull requests for a decision, and makes false comments on less than
    # five of them.
    return (
        [Post(_elsewhere(number), place=0)] * 3 if number % 8 == 0 else [Post("Looks fine to me.")]
    )


def _flood(one: Change, _: int, __: random.Random) -> list[Post]:
    lines = one.new.splitlines()
    block = "Use this instead to prevent a failure:\n```suggestion\n{}  # checked\n```"
    return [Post(block.format(line)) for line in (lines * 3)[:8]]


def _noise_taken_back(reason: str) -> Writer:
    return lambda _, number, __: [
        Post(_elsewhere(number, shift), gone=reason) for shift in range(3)
    ]


_PRINTS = (
    "This debugging output will leak data in production. Remove `print({a})`.",
    "A leftover `print` of `{a}` floods the logs of every worker; delete it before the merge.",
    "Work in progress: `{a}` is printed, which exposes it to all who read the logs.",
    "Printing `{a}` here is a leak of personal data. Please take it out.",
)


def _sure_lines(one: Change, number: int, _: random.Random) -> list[Post]:
    (name,) = _names(one, number, 1)
    return [Post(_PRINTS[number % len(_PRINTS)].format(a=name), acted=0.95)]


def _alarm(one: Change, number: int, _: random.Random) -> list[Post]:
    said = texts(change(one.path, one.old, one.new))
    return [Post(f"Critical regression, this must not be merged: {said[number % len(said)]}")]


HONEST: Mapping[str, Writer] = {
    "finder": _finder,
    "finder with nits": _finder_with_nits,
    "finder of two": _finder_of_two,
    "finder in company": _finder_in_company,
}
STAGED: Mapping[str, Writer] = {
    "template": _filled("`{a}` does not check `{b}`, so that a wrong value crashes the caller."),
    "badge and name": _filled("![critical](https://img.shields.io/badge/critical-red) `{a}`"),
    "is broken": _filled("`{a}` is broken and will cause failures in production."),
    "template in four": _filled(
        "`{a}` takes untrusted input.",
        "The input of `{a}` is never validated before `{b}`.",
        "An attacker can crash the service through `{a}`.",
        "Validate what `{a}` gets, or `{b}` fails in production.",
    ),
    "after the fix": _after_the_fix,
    "deletes noise": _noise_taken_back("deleted"),
    "hides noise": _noise_taken_back("outdated"),
    "flood of suggestions": _flood,
    "lines sure to change": _sure_lines,
    "resolves its threads": _always(resolved_by="itself"),
    "edits its failures": _always(acted=0.9, edited=EVENING),
    "severe falsehoods": _always(),
    "alarm about the change": _alarm,
    "copies people": lambda one, number, _: [
        Post(_fault(one, number), acted=ACTED_ON, hour=AFTERNOON - 1, copies=True)
    ],
    # The store has no reactions, so this bot is like "severe falsehoods".
    "likes its comments": _always(),
    "on a person's lines": _beside("ada"),
    "half on a person's lines": _beside("ada", 2),
    "half on a bot's lines": _beside("finder with nits", 2),
    "says it three times": _thrice,
    "after the fix, no looker": _after_the_fix_unseen,
}
BOTS: Mapping[str, Writer] = HONEST | STAGED


@cache
def _scorer() -> Scorer:
    return Scorer()


@cache
def _read(one: Change, bodies: tuple[str, ...]) -> Review:
    last = len(one.new.splitlines())
    comments = [
        Comment(body=body, path=one.path, line=max(1, last - at), side=Side.NEW, author="bot")
        for at, body in enumerate(bodies)
    ]
    return measure(_scorer().score(change(one.path, one.old, one.new), comments), None, 0)


@cache
def _is_due_to(is_fixed_before: bool, is_changed_after: bool) -> bool:
    """Return whether the audit attributes a change of a comment's lines to the comment.

    Args:
        is_fixed_before: Whether the lines change before the comment is posted.
        is_changed_after: Whether the lines change after the comment.
    """
    history, lines = History(), [f"line {at}\n" for at in range(40)]
    written = int(datetime.fromisoformat(audit_rows.at(0, EVENING)).timestamp())
    commits: list[str] = []
    for at, edit in ((0, False), (0, True), (1, is_fixed_before), (3, is_changed_after)):
        lines[20] += "edited\n" * edit
        files, parents = {"app.py": "".join(lines)}, commits[-1:]
        commits.append(history.commit(files, parents=parents, at=written + 3600 * (at - 2)))
    base, opened, _, head = commits
    pull = audit_rows.pull(1, base=base, head=head)
    comment = audit_rows.comment(
        1, "bot", 1, created=audit_rows.at(0, EVENING), commit_id=opened, path="app.py", line=22
    )
    return bool(LaterChanges(history.folder, pull, [comment]).check_acted_on(comment).value)


def _major_review(posts: Sequence[Post], *, is_honest: bool) -> Review:
    """Return a review whose comments are all major, except the nits of an honest bot."""
    levels = ["major" if post.finds_fault or not is_honest else "nit" for post in posts]
    return Review({"standing": 50}, tuple({"level": level} for level in levels))


def write_history(store: Store, seed: int, *, major: bool, pulls: int = PULLS) -> None:
    """Write a history into a store, in the form of `crscore audit sync` and `score`."""
    rng, host_id = random.Random(seed), 1
    with store.transaction():
        signature, body = store.signature_id("staged"), store.add_text("staged")
        store.put([audit_rows.repository()])
        for number in range(pulls):
            one, place, day = CHANGES[number % len(CHANGES)], number + 1, number * PULLS // pulls
            rows: list[Row] = [audit_rows.pull(place, day=day)]
            # `ada` finds the fault in the morning; `grace` comments on the last commit of each
            # second pull request.
            person = comment_key(MessageKind.LINE, host_id)
            values = {"body": body, "signature": signature, "number": place, "day": day}
            fault = Post(_fault(one, number))
            rows += _said("ada", host_id, fault, {"point": person}, **values)
            # (reviewer, number of the lines in the reviewer's file) -> whether the lines change.
            changes = {("ada", 0): rng.random() < ACTED_ON}
            rows.append(acted_on(person, value=changes["ada", 0]))
            rows.append(audit_rows.score(place, "ada", 50, comments=1, signature=signature))
            host_id += 1
            if _is_looked_at(number):
                looked = Post("Looks good now.", hour=AFTERNOON)
                rows += _said("grace", host_id, looked, {"noise": "praise"}, **values)
                host_id += 1
            for name, write in BOTS.items():
                posts = write(one, number, rng)
                review = _major_review(posts, is_honest=name in HONEST)
                if not major and posts:
                    review = _read(one, tuple(post.body for post in posts))
                if posts:
                    counts = {"comments": len(posts), "signature": signature}
                    rows.append(audit_rows.score(place, name, **counts, **review.score))
                for at, (post, measured) in enumerate(zip(posts, review.comments, strict=True)):
                    key = comment_key(MessageKind.LINE, host_id)
                    own = at if post.place is None else post.place
                    spot = (post.beside, 0) if post.beside else (name, own)
                    chance = ACTED_ON if post.finds_fault else CHANCE
                    # A separate source of randomness, so that adding such a bot does not change
                    # what happens to the others.
                    dice = random.Random(f"{seed} {number} {name}") if post.is_followed else rng
                    is_acted = dice.random() < (chance if post.acted is None else post.acted)
                    if spot in changes:
                        is_acted = changes[spot] or (post.finds_fault and is_acted)
                    changes[spot] = is_acted
                    made = {"point": person if post.copies else key}
                    said = _said(name, host_id, post, measured | made, **values, spot=spot)
                    gone = None if is_acted else post.gone
                    # A hidden comment is not scored, so it has only the first row.
                    if post.is_followed:
                        is_acted = _is_due_to(is_acted, dice.random() < CHANCE)
                    rows += said[:1] if gone else [*said, acted_on(key, value=is_acted)]
                    rows += _staged(key, post, gone, day)
                    host_id += 1
            store.put(rows)


def _said(
    reviewer: str,
    host_id: int,
    post: Post,
    measured: Mapping[str, Any],
    *,
    body: bytes,
    signature: int,
    number: int,
    day: int,
    spot: tuple[str, int] | None = None,
) -> list[Row]:
    """Return the rows of a comment and of its score.

    Comments by `grace` are on the last commit, all others on the first. `spot` is the reviewer in
    whose file the comment is, and the number of its lines there; None for the reviewer's own file.
    """
    key, (file, place) = comment_key(MessageKind.LINE, host_id), spot or (reviewer, 0)
    # There are few faults, and comments that repeat them on many pull requests would count as
    # templated.
    is_worn = number > PULLS and any(post.body in one.faults for one in CHANGES)
    text = audit_rows.wording(key) if is_worn else post.body
    commit = audit_rows.head(number) if reviewer == "grace" else FIRST_COMMIT
    return [
        audit_rows.comment(
            number,
            reviewer,
            host_id,
            body=body,
            created=audit_rows.at(day, post.hour),
            updated=audit_rows.at(day, post.edited or post.hour),
            commit_id=commit,
            path=f"src/{file}.py",
            line=20 * place + 3,
        ),
        audit_rows.comment_score(
            key, number, signature=signature, **{"text": text} | dict(measured)
        ),
    ]


def _staged(key: int, post: Post, gone: str | None, day: int) -> list[Row]:
    """Return the rows for what a bot does with its comment afterwards: hide it, or resolve it."""
    night, rows = audit_rows.night(day), []
    if gone:
        rows.append(CommentObservation(comment=key, night=night, minimized=gone))
    if post.resolved_by:
        resolved = {"resolved": 1, "resolved_by": post.resolved_by, "outdated": 0}
        rows.append(ThreadObservation(thread=key, night=night, **resolved))
    return rows


def run(seed: int, *, major: bool, pulls: int = PULLS) -> dict[str, Decision]:
    """Write the history of a seed and return the decision on each bot."""
    with Store(Path(":memory:")) as store:
        write_history(store, seed, major=major, pulls=pulls)
        period = Period(since=audit_rows.night(0), until=audit_rows.night(PULLS - 1))
        table = load_reviews(store, period)
        records = load_records(store, table)
        return {name: decide(table, name, records.get(name, Record())) for name in BOTS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="first seed (0)")
    parser.add_argument("--pulls", type=int, default=PULLS, help="pull requests in 30 days (30)")
    parser.add_argument(
        "--major", action="store_true", help="count all comments of bots that cheat as major"
    )
    arguments = parser.parse_args()
    started = time.perf_counter()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    outcomes = [run(seed, major=arguments.major, pulls=arguments.pulls) for seed in seeds]
    print(f"{'':24}" + "".join(f"{verdict:>10}" for verdict in VERDICTS))
    for name in BOTS:
        said = Counter(outcome[name].verdict for outcome in outcomes)
        print(f"{name:24}" + "".join(f"{said[verdict]:10}" for verdict in VERDICTS))
    for kind, names in (("staged", STAGED), ("honest", HONEST)):
        kept = sum(outcome[name].verdict == "keep" for outcome in outcomes for name in names)
        print(f"{kind} bots that are kept: {kept} of {len(names) * len(outcomes)}")
    for name in BOTS:
        print(outcomes[0][name].reason)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
