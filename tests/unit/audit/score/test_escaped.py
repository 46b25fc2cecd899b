"""Later commits that change lines of pull requests, in a real repository."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crscore.audit.score.escaped import MISSING, find_escaped
from crscore.audit.store.database import Store
from crscore.audit.store.rows import Followed, LaterChange, comment_key
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from crscore.hosts.records import MessageKind
from tests.helpers import audit_rows as rows
from tests.helpers.github.history import History

if TYPE_CHECKING:
    from collections.abc import Iterator

START = datetime(2026, 3, 1, 20, tzinfo=UTC)
BEFORE = "import os\n\n\ndef load(path):\n    return open(path)\n"
CODE = """\
import os


def load(path):
    return open(path)


def total(cart, prices, currency):
    amount = sum(prices[name] for name in cart)
    rate = currency.rates["EUR"]
    return amount * rate / len(cart)
"""
FIXED = CODE.replace("return amount * rate / len(cart)", "return amount * rate / max(1, len(cart))")


class World:
    """A branch on which pull request 1 added the function `total`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.history = folder, History()
        self.tip = self.history.commit({"src/app.py": BEFORE}, at=self.at(-1))
        self.merge = self.head = self.land({"src/app.py": CODE}, "Add totals (#1)", day=0)

    def at(self, day: float) -> int:
        return int((START + timedelta(days=day)).timestamp())

    def land(self, files: dict[str, str], message: str, *, day: float) -> str:
        self.tip = self.history.commit(files, parents=[self.tip], message=message, at=self.at(day))
        return self.tip

    def follow(self, store: Store, night: str = "2026-04-20") -> list[LaterChange]:
        self.history.git("update-ref", "refs/heads/main", self.tip)
        clone = self.folder / "1.git"
        shutil.copytree(self.history.folder, clone, dirs_exist_ok=True)
        if not store.find(Followed):
            store.put([rows.repository(), rows.pull(1, head=self.head, merge_commit=self.merge)])
        find_escaped(store, self.folder, night=night)
        return store.find(LaterChange, "at")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(Path(":memory:")) as opened:
        yield opened


def test_fix_of_a_line_belongs_to_the_pull_request_that_added_it(
    world: World, store: Store
) -> None:
    fix = world.land({"src/app.py": FIXED}, "Fix division by zero", day=3)

    (change,) = world.follow(store)

    assert (change.number, change.commit_id, change.fixes) == (1, fix, 1)
    assert (change.path, change.line) == ("src/app.py", 11)
    assert store.text(change.message) == "Fix division by zero"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(CODE.replace("open(path)", "open(path, 'rb')"), id="another line"),
        pytest.param(CODE.replace("    rate =", "\trate  ="), id="white space"),
        pytest.param(
            CODE.replace('currency.rates["EUR"]', "currency.rates[\n        'EUR'\n    ]"),
            id="wrapped",
        ),
        pytest.param(CODE + "\n\ndef other(path):\n    return load(path)\n", id="new code below"),
    ],
)
def test_other_lines_and_formatters_change_nothing(world: World, store: Store, code: str) -> None:
    world.land({"src/app.py": code}, "Fix the file", day=3)

    assert world.follow(store) == []


def test_lines_are_followed_through_a_formatter_a_move_and_a_rename(
    world: World, store: Store
) -> None:
    wrapped = CODE.replace('currency.rates["EUR"]', "currency.rates[\n        'EUR'\n    ]")
    world.land({"src/app.py": wrapped}, "Format", day=1)
    world.land({"src/app.py": "# Totals\nVERSION = 2\n" + wrapped}, "Add a version", day=2)
    world.land({"lib/shop.py": "# Totals\nVERSION = 2\n" + wrapped}, "Move it", day=3)
    last = ("# Totals\nVERSION = 2\n" + wrapped).replace("'EUR'", "'USD'")
    fix = world.land({"lib/shop.py": last}, "Fix the currency", day=4)

    changes = world.follow(store)

    assert [(row.commit_id, row.path) for row in changes] == [(fix, "src/app.py")]


def test_added_lines_belong_to_the_code_around_them(world: World, store: Store) -> None:
    guarded = CODE.replace("    rate =", "    if not cart:\n        return 0\n    rate =")
    world.land({"src/app.py": guarded}, "Fix an empty cart", day=3)

    (change,) = world.follow(store)

    assert change.line in (9, 10)


def test_commits_after_the_month_and_of_tests_do_not_count(world: World, store: Store) -> None:
    world.land({"src/app.py": CODE, "tests/test_app.py": "x = 1\n"}, "Fix tests of it", day=2)
    world.land({"src/app.py": FIXED}, "Fix division by zero", day=31)

    assert world.follow(store) == []


def test_later_run_adds_new_commits_and_then_ends(world: World, store: Store) -> None:
    first = world.land({"src/app.py": FIXED}, "Fix division by zero", day=3)
    assert [row.commit_id for row in world.follow(store, "2026-03-05")] == [first]

    refixed = FIXED.replace("amount * rate", "amount / rate")
    second = world.land({"src/app.py": refixed}, "Fix the rate of it", day=6)
    changes = world.follow(store, "2026-04-20")

    # The second fix changes lines of the first one, which belongs to no pull request.
    assert [row.commit_id for row in changes] == [first]
    assert second not in {row.commit_id for row in changes}
    (state,) = store.find(Followed)
    assert (state.tip, state.reason) == (second, None)
    assert find_escaped(store, world.folder, night="2026-05-01") == 0


def test_what_cannot_be_followed_says_why_and_is_tried_again(world: World, store: Store) -> None:
    store.put([rows.repository(), rows.pull(1, head=world.head, merge_commit=world.merge)])
    find_escaped(store, world.folder, night="2026-03-05")
    assert [row.reason for row in store.find(Followed)] == ["there is no clone"]

    store.put([rows.pull(2, merge_commit="0" * 40)])
    fix = world.land({"src/app.py": FIXED}, "Fix division by zero", day=3)
    assert [row.commit_id for row in world.follow(store)] == [fix]
    assert [row.reason for row in store.find(Followed, "number")] == [None, MISSING]


def test_report_names_who_mentioned_a_defect(world: World, store: Store) -> None:
    other = CODE.replace("prices[name]", "prices.get(name, 0)")
    world.land({"src/app.py": other}, "Use defaults of prices", day=2)
    world.land(
        {"src/app.py": other.replace("/ len(cart)", "/ max(1, len(cart))")},
        "Fix division by zero",
        day=3,
    )
    store.signature_id("one")
    body = store.add_text("An empty cart divides by zero here.")
    near = {"body": body, "commit_id": world.head, "path": "src/app.py"}
    store.put(
        [
            rows.comment(1, "otter", 1, line=11, **near),
            rows.comment(1, "badger", 2, line=1, **near),
            # This comment was made after the merge, so it is not part of a review.
            rows.comment(1, "beaver", 3, line=11, **near | {"created": rows.at(5)}),
            *(rows.score(1, name, 50) for name in ("otter", "badger", "beaver")),
            *(rows.comment_score(comment_key(MessageKind.LINE, at), 1) for at in (1, 2, 3)),
        ]
    )
    world.follow(store)

    period = Period(since="2026-03-01", until="2026-03-31")
    escaped = make_overview(store, period, resamples=20).escaped

    assert (escaped.pulls, escaped.fixed.count) == (1, 1)
    shares = {row.reviewer: (row.near.share, row.near_base.share) for row in escaped.reviewers}
    # Line 9, where the other commit changes a line, is near the comment on line 11, too.
    assert shares == {"otter": (1.0, 1.0), "badger": (0.0, 0.0), "beaver": (0.0, 0.0)}
    key = comment_key(MessageKind.LINE, 1)
    assert [row.near for row in store.find(LaterChange)] == [f"[{key}]", f"[{key}]"]
