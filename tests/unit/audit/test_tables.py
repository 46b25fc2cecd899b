from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crscore.audit.decide import load_records
from crscore.audit.store.database import Store
from crscore.audit.store.rows import LastScored, Signal, SignalRow
from crscore.audit.tables import Period, ReviewTable, load_reviews
from crscore.errors import InputError
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Iterator

MARCH = Period(since="2026-03-01", until="2026-03-31")


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(Path(":memory:")) as opened:
        opened.signature_id("one")
        opened.put([rows.repository()])
        yield opened


def useful(table: ReviewTable) -> dict[tuple[int, str], float]:
    keys = zip(table.number[table.pull].tolist(), table.reviewer.tolist(), strict=True)
    values = table.columns["usefulness"].tolist()
    return {
        (number, table.reviewers[at]): reviewer
        for (number, at), reviewer in zip(keys, values, strict=True)
    }


def test_an_empty_store_gives_an_empty_table(store: Store) -> None:
    table = load_reviews(store, MARCH)

    assert (table.reviewers, len(table.pull), table.signature) == ((), 0, "")


def test_pulls_count_by_the_day_of_their_creation(store: Store) -> None:
    store.put([rows.pull(1, day=0), rows.pull(2, day=5), rows.pull(3, day=6)])
    store.put(rows.score(number, "otter", 10 * number) for number in (1, 2, 3))

    table = load_reviews(store, Period(since="2026-03-02", until="2026-03-06"))

    assert useful(table) == {(2, "otter"): 20.0}


def test_row_of_all_reviewers_together_is_no_reviewer(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "", 80), rows.score(1, "otter", 30)])

    assert load_reviews(store, MARCH).reviewers == ("otter",)


def test_the_last_night_of_a_pull_counts(store: Store) -> None:
    later = {"content": b"later...", "night": "2026-03-02"}
    store.put([rows.pull(1), rows.score(1, "otter", 10), rows.score(1, "hare", 10)])
    store.put([rows.score(1, "otter", 90, **later)])

    # The later content has no comments of the hare.
    assert useful(load_reviews(store, MARCH)) == {(1, "otter"): 90.0}


def test_of_two_scorings_in_a_night_the_last_counts(store: Store) -> None:
    last = LastScored(repository=1, number=1, signature=1, content=b"a" * 8)
    store.put([rows.pull(1), last])
    store.put(rows.score(1, "otter", at, content=bytes([at] * 8)) for at in (ord("a"), ord("b")))

    assert useful(load_reviews(store, MARCH)) == {(1, "otter"): float(ord("a"))}


def test_the_newest_signature_that_covers_the_period_counts(store: Store) -> None:
    store.signature_id("two")
    store.put(rows.pull(number) for number in range(1, 11))
    store.put(rows.score(number, "otter", 10) for number in range(1, 11))
    store.put(rows.score(number, "otter", 70, signature=2) for number in range(1, 9))
    assert load_reviews(store, MARCH).signature == "one"

    store.put([rows.score(9, "otter", 70, signature=2)])
    table = load_reviews(store, MARCH)

    assert (table.signature, table.other_signatures) == ("two", ("one",))
    assert set(useful(table).values()) == {70.0}


def test_an_abstention_is_unknown_and_not_zero(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", None)])

    assert math.isnan(useful(load_reviews(store, MARCH))[1, "otter"])


def test_strata_are_repository_language_and_size(store: Store) -> None:
    store.put([rows.repository(2)])
    store.put(
        [
            rows.pull(1, lines=20),
            rows.pull(2, lines=21),
            rows.pull(3, lines=100),
            rows.pull(4, lines=None),
            rows.pull(5, lines=20, language="go"),
            rows.pull(6, lines=20, repository=2),
        ]
    )

    assert load_reviews(store, MARCH).stratum.tolist() == [0, 1, 1, 2, 3, 4]


def test_repositories_are_chosen_by_pattern(store: Store) -> None:
    store.put([rows.repository(2, name="acme/web")])
    store.put([rows.pull(1), rows.pull(2, repository=2)])

    table = load_reviews(
        store, Period(since="2026-03-01", until="2026-03-31", repositories=("*/WEB",))
    )

    assert table.number.tolist() == [2]
    with pytest.raises(InputError, match="no repository in the store matches other/x"):
        load_reviews(
            store, Period(since="2026-03-01", until="2026-03-31", repositories=("other/x",))
        )


def test_noise_is_the_share_of_the_comments_of_the_last_scoring(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 30)])
    store.put(rows.comment(1, "otter", at) for at in range(1, 5))
    store.put(rows.comment_score(4 * at, 1, 30) for at in (1, 2, 3))
    store.put([rows.comment_score(16, 1, 30, noise="praise")])
    store.put([rows.comment_score(4, 1, 0, noise="repeat", content=b"earlier.")])

    table = load_reviews(store, MARCH)

    assert (table.columns["noise"].tolist(), table.columns["gained"].tolist()) == ([25.0], [100.0])
    counts = load_records(store, table)["otter"].counts
    assert counts[["kind", "comments"]].tolist() == [("major", 3), ("praise", 1)]


def test_reactions_are_the_last_ones_of_people(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 30)])
    store.put(rows.comment(1, "otter", at) for at in (1, 2, 3, 4))
    store.put(rows.comment_score(4 * at, 1, 30) for at in (1, 2, 3, 4))
    fixed = {"rules": 1, "signal": Signal.ACTED_ON, "base_yes": 1, "base_all": 10}
    resolved = {"rules": 1, "signal": Signal.RESOLVED, "night": "2026-03-01"}
    store.put(
        [
            SignalRow(comment=4, night="2026-03-01", value=0, **fixed),
            SignalRow(comment=4, night="2026-03-02", value=1, **fixed),
            SignalRow(comment=8, night="2026-03-01", value=None, **fixed),
            SignalRow(comment=4, value=1, **resolved),
            rows.comment(1, "ada", 5, thread=8, is_review=0),
            rows.comment(1, "hare", 6, thread=12, is_review=0),
        ]
    )

    (row,) = load_records(store, load_reviews(store, MARCH))["otter"].counts

    # A comment with only an answer does not matter, because the answer may disagree.
    assert row[["kind", "comments", "mattered"]].item() == ("major", 4, 1)
    assert row[["fixed", "answered", "resolved"]].item() == (1, 1, 1)
    assert row[["compared", "chance", "threads"]].item() == (1, pytest.approx(0.1), 4)


def test_fix_without_other_lines_matters_but_is_not_compared(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 30)])
    store.put(rows.comment(1, "otter", at) for at in (1, 2, 3, 4))
    store.put(rows.comment_score(4 * at, 1, 30) for at in (1, 2, 3, 4))
    signal = {"night": "2026-03-01", "rules": 1, "signal": Signal.ACTED_ON}
    store.put(
        [
            SignalRow(comment=4, value=1, base_yes=1, base_all=4, **signal),
            SignalRow(comment=8, value=0, base_yes=3, base_all=4, **signal),
            SignalRow(comment=12, value=1, base_yes=0, base_all=0, **signal),
            SignalRow(comment=16, value=1, **signal),
        ]
    )

    (row,) = load_records(store, load_reviews(store, MARCH))["otter"].counts

    assert row[["fixed", "mattered"]].item() == (3, 3)
    assert row[["compared", "compared_fixed", "chance"]].item() == (2, 1, 1.0)


@pytest.mark.parametrize(("line", "is_known"), [(4, False), (40, True)])
def test_nit_next_to_an_important_comment_of_others_is_fixed_because_of_that(
    store: Store, line: int, *, is_known: bool
) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 30), rows.score(1, "hare", 30)])
    store.put([rows.comment(1, "otter", 1), rows.comment_score(4, 1, level="nit")])
    store.put([rows.comment(1, "hare", 2, line=line), rows.comment_score(8, 1)])
    fixed = {"rules": 1, "signal": Signal.ACTED_ON, "base_yes": 1, "base_all": 10}
    store.put([SignalRow(comment=4, night="2026-03-02", value=1, **fixed)])

    (row,) = load_records(store, load_reviews(store, MARCH))["otter"].counts

    assert row[["fixed", "compared"]].item() == (int(is_known), int(is_known))


@pytest.mark.parametrize(("since", "until"), [("2026-03-02", "2026-03-01"), ("x", "2026-03-01")])
def test_invalid_period_is_refused(since: str, until: str) -> None:
    with pytest.raises(InputError, match=since):
        Period(since=since, until=until)


@pytest.mark.parametrize("words", [b"", b"123", b"1" * 18])
def test_words_of_a_damaged_store_make_no_formula(store: Store, words: bytes) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 30), rows.comment(1, "otter", 1)])
    store.put([rows.comment_score(4, 1, words=words)])

    assert load_reviews(store, MARCH).formulas == "[]"
