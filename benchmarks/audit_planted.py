"""Check what an audit says of simulated histories whose truth is known.

    python benchmarks/audit_planted.py [--seeds 100] [--first 0] [--pulls 400]

The shipped scorer scores a pool of reviews of eight small changes once: comments that find a fault,
vague comments, praise, comments that repeat what the change does, and one comment posted on three
lines. For each seed, a history of 400 pull requests in 30 days takes reviews from the pool at
random:

- Bots A to D: a review finds a fault with a probability of 0.7 (A), 0.5 (B) and 0.55 (C and D).
- E posts one vague comment on three lines. F repeats what the change does.
- G finds faults (0.6) until day 14; from day 15 on, it mostly writes several vague comments.
- Two people review a third of the pull requests each.

Noise and levels of comments are those that the scorer finds; only repeats are marked here. Authors
act on 60 % of the comments that find a fault, and on 25 % of the others (chance). The rows are
written into a store in the form of `crscore audit sync` and `score`; `compare_all` and
`find_changes` read them.

Prints the mean standing of each kind of review and the power to tell A from B. Then, over all
seeds: how often A is better than B (true), C or D is better (false), G's change is found within
three days (true) and E and F have the lowest usefulness (true); the verdicts of `decide`, where E
and F are useless and A to D are not; and how often a change of A to F is found (false).
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from crscore.audit.compare import compare_all
from crscore.audit.decide import Record, decide, load_records
from crscore.audit.drift import find_changes
from crscore.audit.score.pull_rows import noise_of
from crscore.audit.score.signals import RULES
from crscore.audit.store.database import Store
from crscore.audit.store.rows import Signal, SignalRow, comment_key
from crscore.audit.tables import IMPORTANT, Period, load_reviews
from crscore.hosts.records import MessageKind
from crscore.records import Comment, Side
from crscore.scorer import Scorer
from crscore.statistics.paired import SIGNIFICANCE
from crscore.statistics.resampled import means
from tests.helpers import audit_rows
from tests.helpers.changes import change, texts

PULLS, NIGHTS, CHANGE_DAY = 400, 30, 15
FAULTS = {"A": 0.7, "B": 0.5, "C": 0.55, "D": 0.55, "ada": 0.8, "grace": 0.8}
"""Reviewer -> probability that a review has a comment that finds a fault."""
STEADY = ("A", "B", "C", "D", "E", "F")
SHARE_OF_PEOPLE = 1 / 3
ACTED_ON, CHANCE = 0.6, 0.25
PAIRS_LEFT = 7
"""Number of hypotheses left in Holm's correction when it comes to A and B. Most pairs of the seven
bots differ by much and are rejected before; left are the six pairs among A to D, and one more."""


class Change(NamedTuple):
    """Change of one file, with comments on it."""

    path: str
    old: str
    new: str
    faults: tuple[str, ...]
    vague: tuple[str, ...]


CHANGES = (
    Change(
        "limits.py",
        "def allow(user, now):\n    return len(user.requests) < 10\n",
        "def allow(user, now):\n    recent = [r for r in user.requests if now - r < 60]\n"
        "    return len(recent) <= 20\n",
        (
            "`len(recent) <= 20` lets 21 requests through in a minute; use `<` as before.",
            "`user.requests` is never pruned, so `recent` scans an ever longer list on each call. "
            "Drop the old entries here.",
            "If `now` is in milliseconds, as the callers in the API pass it, `now - r < 60` is "
            "never true and nobody is limited.",
        ),
        ("Is this tested?", "Maybe rename this variable."),
    ),
    Change(
        "settings.py",
        "def load(path):\n    with open(path) as file:\n        return json.load(file)\n",
        "def load(path, key=None):\n    with open(path) as file:\n"
        "        data = json.load(file)\n    return data[key] if key else data\n",
        (
            "`data[key]` raises a bare KeyError for a missing key; raise an error that names the "
            "file and the key.",
            "An empty string as `key` returns all settings because `if key` is false for it. "
            "Compare with `None`.",
            "`open(path)` uses the locale's encoding; pass `encoding='utf-8'`, or settings with "
            "umlauts fail on Windows.",
        ),
        ("Could be cleaner.", "Please add a comment."),
    ),
    Change(
        "retry.py",
        "def fetch(url):\n    return client.get(url)\n",
        "def fetch(url):\n    while True:\n        try:\n            return client.get(url)\n"
        "        except Timeout:\n            time.sleep(1)\n",
        (
            "This loop has no upper bound: a host that is down hangs the worker for ever. Stop "
            "after a few attempts and raise the last `Timeout`.",
            "`time.sleep(1)` is constant, so all workers retry in step; use exponential backoff "
            "with jitter.",
            "Only `Timeout` is retried, but `client.get` raises ConnectionError on a reset "
            "connection, which is the more frequent case.",
        ),
        ("Hmm, not sure about this.", "Consider refactoring."),
    ),
    Change(
        "cache.py",
        "class Cache:\n    def get(self, key):\n        return self.data.get(key)\n",
        "class Cache:\n    def get(self, key):\n        if key not in self.data:\n"
        "            self.data[key] = self.load(key)\n        return self.data[key]\n",
        (
            "Two threads can both miss here and call `self.load(key)` twice; hold a lock around "
            "the check and the write.",
            "`self.data` grows without limit now that `get` fills it. Bound it, for example with "
            "an LRU of 1,000 entries.",
            "When `load` returns None for an unknown key, None is cached for ever and a key that "
            "is added later is never seen.",
        ),
        ("Naming?", "Can we make this simpler?"),
    ),
    Change(
        "orders.py",
        "def total(items):\n    return sum(item.price for item in items)\n",
        "def total(items, discount=0):\n"
        "    amount = sum(item.price * item.count for item in items)\n"
        "    return amount - amount * discount / 100\n",
        (
            "`discount` is not checked: 150 makes the total negative. Reject values outside of "
            "0 to 100.",
            "Prices are floats, so `amount * discount / 100` gives results like 17.990000000000002;"
            " use Decimal or round to cents.",
            "`item.count` is None for digital goods (see the importer), which raises a TypeError "
            "here.",
        ),
        ("Check the edge cases.", "Why this way?"),
    ),
    Change(
        "users.py",
        "def find(db, name):\n    return db.query(User).filter_by(name=name).first()\n",
        "def find(db, name):\n"
        "    return db.execute(f\"SELECT * FROM users WHERE name LIKE '{name}%'\").fetchone()\n",
        (
            "`name` goes into the SQL text: this is an injection. Pass it as a parameter.",
            "`LIKE '{name}%'` finds `annabel` for `ann`, so the wrong account can be returned; "
            "compare for equality.",
            "This returns a raw row instead of a `User`, so callers that use `find(...).email` "
            "break.",
        ),
        ("Style.", "Document this function, please."),
    ),
    Change(
        "upload.py",
        "def save(file, folder):\n    (folder / 'upload').write_bytes(file.read())\n",
        "def save(file, folder):\n    target = folder / file.name\n"
        "    target.write_bytes(file.read())\n    os.chmod(target, 0o777)\n",
        (
            "`file.name` comes from the client: `../../etc/cron.d/x` writes outside of `folder`. "
            "Take `Path(file.name).name` and reject empty names.",
            "0o777 makes every upload writable and executable by all users; 0o640 is enough.",
            "An upload with the name of an existing file silently overwrites it; open the target "
            "with mode `xb` or add a random prefix.",
        ),
        ("Is this needed?", "Maybe split this function."),
    ),
    Change(
        "dates.py",
        "def age(born):\n    return date.today().year - born.year\n",
        "def age(born):\n    return (datetime.now() - born).days // 365\n",
        (
            "Dividing by 365 ignores leap years: around a birthday the age is off by one from "
            "about the age of 4 on. Compare month and day instead.",
            "`datetime.now()` is naive; subtracting a `born` with a time zone raises a TypeError. "
            "Use `datetime.now(UTC)`.",
            "`born` was a date until now; `datetime - date` is a TypeError for all existing "
            "callers.",
        ),
        ("Looks a bit odd.", "Any reason for this?"),
    ),
)
PRAISE = ("Nice work, this looks great!", "LGTM, thanks for the clean change.")


class Review(NamedTuple):
    """Scored review, as the fields of rows of the store."""

    score: dict[str, float | int | None]
    """Fields of the row of the review."""
    comments: tuple[dict[str, float | int | str | None], ...]
    """Fields of the row of each comment."""
    faults: int = 0
    """Number of comments that find a fault; they precede the others."""


class Pool(NamedTuple):
    """Reviews of one change, by kind."""

    fault: list[Review]
    fault_and_vague: list[Review]
    vague: list[Review]
    repeated: list[Review]
    repeated_vague: list[Review]
    restated: list[Review]
    many: list[Review]


def score_pool() -> list[Pool]:
    """Score the reviews of all changes."""
    scorer = Scorer()
    pools = []
    for one in CHANGES:
        diff = change(one.path, one.old, one.new)
        claims = texts(diff)
        last = len(one.new.splitlines())

        def review(*bodies: str, faults=0, noise=None, diff=diff, last=last, path=one.path):
            comments = [
                Comment(body=body, path=path, line=max(1, last - at), side=Side.NEW, author="bot")
                for at, body in enumerate(bodies)
            ]
            return measure(scorer.score(diff, comments), noise, faults)

        vague = (*one.vague, *PRAISE)
        pools.append(
            Pool(
                fault=[review(body, faults=1) for body in one.faults],
                fault_and_vague=[
                    review(body, vague[at], faults=1) for at, body in enumerate(one.faults)
                ],
                vague=[review(body) for body in one.vague] + [review(body) for body in PRAISE],
                repeated=[review(body, body, body, noise="repeat") for body in one.faults],
                repeated_vague=[review(body, body, body, noise="repeat") for body in one.vague],
                restated=[review(*claims[at : at + 2]) for at in (0, 1)],
                many=[review(*vague[:3]), review(*vague[1:])],
            )
        )
    return pools


def measure(result, noise: str | None, faults: int) -> Review:
    """Return the fields that `crscore audit score` would store.

    With the noise `repeat`, all comments but the first are marked as repeats.
    """
    useful, scores = result.usefulness, result.scores
    comments = []
    for at, item in enumerate(result.comments):
        usefulness = item.usefulness
        shares = usefulness.shares if usefulness else ()
        best = result.remarks[shares[0].remark] if shares else None
        measured = noise_of(result, item)
        comments.append(
            {
                "standing": None if usefulness is None else usefulness.standing,
                "noise": "repeat" if noise == "repeat" and at else measured,
                "stance": best.stance.value if best else None,
                "level": best.level.value if best and best.is_valuable else None,
            }
        )
    return Review(
        {
            "standing": None if useful is None else useful.standing,
            "relevance": scores.relevance,
            "words": result.baselines.words,
            "reason": scores.reason,
        },
        tuple(comments),
        faults,
    )


def draw_review(rng: random.Random, reviewer: str, pool: Pool, day: int) -> Review:
    """Choose the review by a reviewer of one pull request at random."""
    if reviewer == "F":
        return rng.choice(pool.restated)
    if reviewer == "E":
        return rng.choice(pool.repeated_vague)
    if reviewer == "G" and day >= CHANGE_DAY:
        return rng.choice(pool.many if rng.random() < 0.6 else pool.fault)
    if rng.random() > FAULTS.get(reviewer, 0.6):
        return rng.choice(pool.vague)
    return rng.choice(pool.fault + pool.fault_and_vague)


def write_history(store: Store, pools: list[Pool], seed: int, pulls: int) -> None:
    """Write a history into a store, in the form of `crscore audit sync` and `score`."""
    rng, authors = random.Random(seed), random.Random(f"authors {seed}")
    host_id = 1
    with store.transaction():
        signature = store.signature_id("planted")
        body = store.add_text("planted")
        store.put([audit_rows.repository()])
        for number in range(1, pulls + 1):
            day = rng.randrange(NIGHTS)
            pool = rng.choice(pools)
            rows = [audit_rows.pull(number, day=day, lines=rng.choice((5, 50, 200)))]
            for reviewer in (*STEADY, "G", "ada", "grace"):
                if reviewer in audit_rows.PEOPLE and rng.random() > SHARE_OF_PEOPLE:
                    continue
                drawn = draw_review(rng, reviewer, pool, day)
                values = {"signature": signature, "comments": len(drawn.comments)}
                rows.append(audit_rows.score(number, reviewer, **values, **drawn.score))
                for at, comment in enumerate(drawn.comments):
                    key = comment_key(MessageKind.LINE, host_id)
                    is_acted_on = authors.random() < (ACTED_ON if at < drawn.faults else CHANCE)
                    rows += [
                        audit_rows.comment(
                            number,
                            reviewer,
                            host_id,
                            body=body,
                            created=audit_rows.at(day, 10),
                            path=f"src/{reviewer}.py",
                            line=20 * at + 3,
                        ),
                        audit_rows.comment_score(key, number, signature=signature, **comment),
                        acted_on(key, value=is_acted_on),
                    ]
                    host_id += 1
            store.put(rows)


def acted_on(key: int, *, value: bool) -> SignalRow:
    """Return a row that says whether a comment was acted on, with the base rate of other lines."""
    return SignalRow(
        comment=key,
        signal=Signal.ACTED_ON,
        night=audit_rows.night(0),
        rules=RULES,
        value=int(value),
        base_yes=int(100 * CHANCE),
        base_all=100,
    )


def print_power(pools: list[Pool], pulls: int, histories: int = 1_000) -> None:
    """Print how often so many pull requests show that A is better than B.

    A and B are compared by three measures: the mean usefulness, the share of pull requests with a
    comment worth acting on, and the share of pull requests with a comment that finds a fault, which
    only a scorer without errors would know.
    """
    critical = NormalDist().inv_cdf(1 - SIGNIFICANCE / 2 / PAIRS_LEFT)
    errors = []
    for seed in range(histories):
        rng, differences = random.Random(f"power {seed}"), []
        for _ in range(pulls):
            pool = rng.choice(pools)
            first, second = (draw_review(rng, name, pool, 0) for name in ("A", "B"))
            pairs = zip(compute_measures(first), compute_measures(second), strict=True)
            differences.append([one - other for one, other in pairs])
        rows = np.array(differences)
        errors.append(rows.mean(axis=0) / rows.std(axis=0) * pulls**0.5)
    names = ("usefulness", "comment worth acting on", "fault found, known without error")
    print(f"power of {pulls} pull requests for A against B, corrected for {PAIRS_LEFT} pairs")
    for name, column in zip(names, np.array(errors).T, strict=True):
        share = (column > critical).mean()
        print(f"  {name:40} {share:.3f}, mean {column.mean():.1f} standard errors")


def compute_measures(review: Review) -> tuple[float, float, float]:
    """Return the usefulness, whether a comment is worth acting on, and whether a fault is found."""
    standing = review.score["standing"] or 0
    levels = {comment["level"] for comment in review.comments if not comment["noise"]}
    return float(standing), float(bool(levels & set(IMPORTANT))), float(review.faults > 0)


class Outcome(NamedTuple):
    """What the audit says of the history of one seed."""

    a_better: bool
    c_or_d_better: bool
    c_d: str
    detected: bool
    dated: bool
    false_alarms: int
    last_by_usefulness: bool
    decisions: dict[str, str]


def run(pools: list[Pool], seed: int, pulls: int) -> Outcome:
    """Write the history of a seed, and return what the audit says of it."""
    with Store(Path(":memory:")) as store:
        write_history(store, pools, seed, pulls)
        table = load_reviews(store, period(NIGHTS))
        early = load_reviews(store, period(CHANGE_DAY + 3))
        records = load_records(store, table)
        decisions = {
            name: decide(table, name, records.get(name, Record())).verdict
            for name in (*STEADY, "G")
        }
    verdicts = {(pair.first, pair.second): pair.verdict for pair in compare_all(table, seed=seed)}
    change_days = [change.day for change in find_changes(early, "G")]
    # The change may be dated one day too early, because a window has at least two days.
    days = [audit_rows.night(CHANGE_DAY + late) for late in (-1, 0, 1, 2)]
    bots = [*STEADY, "G"]
    places = [table.reviewers.index(name) for name in bots]
    usefulness = table.matrix("usefulness")
    mean_usefulness = means(usefulness, np.ones((1, len(usefulness))))[0]
    useful = dict(zip(bots, mean_usefulness[places], strict=True))
    return Outcome(
        a_better=verdicts["A", "B"] == "better",
        c_or_d_better=verdicts["C", "D"] in ("better", "worse"),
        c_d=verdicts["C", "D"],
        detected=any(day in days for day in change_days),
        dated=days[1] in change_days,
        false_alarms=sum(bool(find_changes(table, name)) for name in STEADY),
        last_by_usefulness=set(sorted(useful, key=useful.__getitem__)[:2]) == {"E", "F"},
        decisions=decisions,
    )


def period(nights: int) -> Period:
    """Return the period of the first days of the history."""
    return Period(since=audit_rows.night(0), until=audit_rows.night(nights - 1))


def print_pool(pools: list[Pool]) -> None:
    """Print the mean standing of each kind of review."""
    print("mean standing of the pool")
    for kind in Pool._fields:
        standings = [item.score["standing"] for pool in pools for item in getattr(pool, kind)]
        values = [value for value in standings if value is not None]
        print(f"  {kind:15} {sum(values) / len(values):5.1f}  of {len(values)} reviews")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="first seed (0)")
    parser.add_argument("--pulls", type=int, default=PULLS, help="pull requests in 30 days (400)")
    arguments = parser.parse_args()
    seeds = arguments.seeds
    started = time.perf_counter()
    pools = score_pool()
    print_pool(pools)
    print_power(pools, arguments.pulls)
    outcomes = [run(pools, arguments.first + seed, arguments.pulls) for seed in range(seeds)]
    equal = sum(outcome.c_d == "equivalent" for outcome in outcomes)
    alarms = sum(outcome.false_alarms for outcome in outcomes)
    print(f"of {seeds} seeds")
    for text, count in (
        ("A is better than B", sum(outcome.a_better for outcome in outcomes)),
        ("C or D is better (false)", sum(outcome.c_or_d_better for outcome in outcomes)),
        ("C and D are equivalent (within 5)", equal),
        ("change of G found within three days", sum(outcome.detected for outcome in outcomes)),
        ("... and dated on the right day", sum(outcome.dated for outcome in outcomes)),
        ("E and F are last by usefulness", sum(outcome.last_by_usefulness for outcome in outcomes)),
    ):
        print(f"  {text:40} {count:4}")
    verdicts = ("keep", "tune", "drop", "undecided")
    print(f"  {'':10}" + "".join(f"{verdict:>10}" for verdict in verdicts))
    for name in (*STEADY, "G"):
        said = Counter(outcome.decisions[name] for outcome in outcomes)
        print(f"  {name:10}" + "".join(f"{said[verdict]:10}" for verdict in verdicts))
    print(f"changes found of bots that did not change: {alarms} of {seeds * len(STEADY)}")
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
