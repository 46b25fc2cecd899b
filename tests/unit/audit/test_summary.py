from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from crscore.audit.overview import Overview
from crscore.audit.store.database import Store
from crscore.audit.store.rows import SignalRow, comment_key
from crscore.audit.summary import (
    BOT_ERROR,
    estimate_mean,
    make_overview,
    read_price,
)
from crscore.audit.tables import Period
from crscore.hosts.records import MessageKind
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Iterator

MARCH = Period(since="2026-03-01", until="2026-03-31")
overview_of = partial(make_overview, period=MARCH, resamples=200)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(Path(":memory:")) as opened:
        opened.signature_id("one")
        opened.put([rows.repository()])
        yield opened


def test_an_empty_store_has_an_overview(store: Store) -> None:
    overview = overview_of(store)

    assert (overview.pulls, overview.scored, overview.reviewers, overview.signature) == (
        0,
        0,
        (),
        "",
    )
    assert overview.notes == (
        "The scores may be incomplete: there is no run since the first day of the period.",
    )


def test_a_filled_store_gives_the_same_valid_document_twice() -> None:
    def document() -> bytes:
        with Store(Path(":memory:")) as filled:
            rows.fill(filled, comments=600, seed=3)
            return msgspec.json.encode(overview_of(filled))

    first = document()
    overview = msgspec.json.decode(first, type=Overview)

    assert first == document()
    assert [reviewer.name for reviewer in overview.reviewers if not reviewer.is_bot] == [
        reviewer.name for reviewer in overview.reviewers[10:]
    ]
    assert len(overview.verdicts) == 45
    for row in overview.reviewers:
        assert row.comments.total == sum(row.comments.kinds.values())
        assert len(row.facts) == 5 * row.is_bot


def test_means_are_over_pulls(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3))
    store.put([rows.score(1, "otter", 20, comments=1), rows.score(2, "otter", 60, comments=4)])
    store.put([rows.score(3, "otter", None, comments=1)])

    overview = overview_of(store)
    (otter,) = overview.reviewers

    assert otter.usefulness
    assert (otter.usefulness.value, otter.usefulness_error) == (40.0, pytest.approx(20.0))
    assert otter.abstained == 1
    assert (overview.pulls, overview.merged, overview.scored) == (3, 3, 2)


def test_interval_of_a_mean_includes_the_error_of_the_reader() -> None:
    # In four of five cases, the error on a text is at most 10, so its standard deviation is 7.8.
    # There are 100 texts. The standard deviation of the standings is 10, that of the bot's error 7.
    spread = np.array([[0, 0, 0, 10], [50, 40, 50, 60], [100, 90, 100, 100]], dtype=np.float64)
    standings = np.array([40.0, 60.0] * 50)

    estimate = estimate_mean(standings, spread)

    half = 1.2816 * (7.8**2 / 100 + standings.var(ddof=1) / 100 + BOT_ERROR**2) ** 0.5
    assert (estimate.value, estimate.low) == (50, pytest.approx(50 - half, abs=0.1))
    assert estimate.high == pytest.approx(50 + half, abs=0.1)


def test_interval_is_that_of_the_reader_in_the_signature() -> None:
    intervals = []
    for signature in ("crscore|version:1", "crscore|version:1|readings:openai:m"):
        with Store(Path(":memory:")) as opened:
            opened.signature_id(signature)
            opened.put([rows.repository(), *(rows.pull(number) for number in (1, 2, 3))])
            opened.put(rows.score(number, "otter", 18) for number in (1, 2, 3))
            (otter,) = overview_of(opened).reviewers
            intervals.append(otter.usefulness)
    network, model = intervals
    # If a model gives a review 18, guided readers give it 8 to 71 in four of five cases.
    assert network
    assert model
    half = 1.2816 * (((71 - 8) / 2 / 1.2816) ** 2 / 3 + BOT_ERROR**2) ** 0.5
    assert (model.low, model.high) == (
        pytest.approx(36 - half, 0.01),
        pytest.approx(36 + half, 0.01),
    )
    assert network.high != model.high


@pytest.mark.parametrize(
    ("unit", "amount", "basis"),
    [("month", 31.0, "for 31 days"), ("EUR/pull", 90.0, "EUR for 3 pull requests")],
)
def test_price_is_for_the_period(store: Store, unit: str, amount: float, basis: str) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3))
    store.put([rows.comment(number, "otter", number) for number in (1, 3)])
    store.put([rows.comment_score(4 * number, number) for number in (1, 3)])
    store.put([rows.score(number, "otter", 50) for number in (1, 3)])

    text = f"otter=30{unit}" if "/" in unit else f"otter=30/{unit}"
    (otter,) = overview_of(store, prices=dict([read_price(text)])).reviewers

    # The period has 31 days, and a month 30. The bot saw three pull requests and commented on two.
    assert otter.price == pytest.approx(amount)
    assert otter.facts[1].text.endswith(f". Price: {amount:.2f} {basis}.")
    assert otter.decision
    assert otter.decision.reason.endswith(
        f"; it cost {amount:.2f} without a comment that mattered."
    )


def test_bots_of_different_repositories_are_reported_once_as_not_comparable(store: Store) -> None:
    store.put([rows.repository(2), *(rows.pull(number) for number in range(1, 21))])
    store.put(rows.pull(number, repository=2) for number in range(1, 21))
    for number in range(1, 21):
        store.put([rows.score(number, "otter", 50), rows.score(number, "hare", 50, repository=2)])

    overview = overview_of(store)

    assert sum("cannot be compared with each other" in note for note in overview.notes) == 1
    assert all(fact.title != "Compared" for row in overview.reviewers for fact in row.facts)


def test_price_of_a_bot_that_is_not_there_is_a_note(store: Store) -> None:
    store.put([rows.pull(1), rows.comment(1, "otter", 1)])
    store.put([rows.comment_score(4, 1), rows.score(1, "otter", 50)])
    prices = dict(map(read_price, ("ottr=3/pull", "Otter=3/pull")))
    notes = overview_of(store, prices=prices).notes
    assert [note for note in notes if "price" in note] == [
        "The price of ottr is not used: no bot of this period has that name."
    ]


def test_one_pull_has_no_interval(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 20)])

    assert overview_of(store).reviewers[0].usefulness is None


def test_people_are_listed_after_bots(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2))
    store.put(rows.score(number, "ada", 90) for number in (1, 2))
    store.put(rows.score(number, "otter", 10) for number in (1, 2))

    reviewers = overview_of(store).reviewers

    assert [row.name for row in reviewers] == ["otter", "ada"]


def test_a_bot_that_never_reviewed_is_listed(store: Store) -> None:
    store.put([rows.pull(1), rows.comment(1, "otter", 1, is_review=0, skip="limit")])

    (otter,) = overview_of(store).reviewers

    assert (otter.pulls, otter.usefulness, otter.comments.total) == (1, None, 0)
    assert otter.coverage.skips == {"limit": 1}


def test_scores_of_other_signatures_are_excluded(store: Store) -> None:
    store.signature_id("two")
    store.put(rows.pull(number, day=number) for number in range(1, 25))
    store.put(rows.score(number, "otter", 10) for number in (1, 2))
    store.put(rows.score(number, "otter", 70, signature=2) for number in range(2, 25))

    overview = overview_of(store)

    assert (overview.signature, overview.other_signatures) == ("two", ("one",))
    assert overview.reviewers[0].usefulness
    assert overview.reviewers[0].usefulness.value == 70


def test_quoted_comments_are_linked_and_those_with_a_reaction_come_first(store: Store) -> None:
    body = store.add_text("<b>Why?</b>")
    store.put([rows.pull(1), rows.score(1, "otter", 50)])
    review = {"key": comment_key(MessageKind.REVIEW, 2), "thread": None}
    store.put(
        [rows.comment(1, "otter", 1, body=body), rows.comment(1, "otter", 2, body=body, **review)]
    )
    store.put([rows.comment_score(4, 1, 20, text="Why?", point=4)])
    # A person makes the same point as the other comment.
    store.put([rows.comment_score(key, 1, 90, point=review["key"]) for key in (review["key"], 12)])
    store.put([rows.comment(1, "ada", 3, body=body)])
    store.put([SignalRow(comment=4, signal=3, night="2026-03-02", rules=1, value=1)])

    otter = overview_of(store).reviewers[0]

    page = "https://github.com/acme/service-1/pull/1"
    examples = otter.examples["major"]
    assert [example.url for example in examples] == [
        f"{page}#discussion_r1",
        f"{page}#pullrequestreview-2",
    ]
    assert (examples[0].text, examples[0].outcome) == ("Why?", "resolved")
    assert [example.only for example in examples] == [True, False]
    assert otter.facts[0].text.startswith("1 of 2 comments mattered")


def test_pull_that_could_not_be_scored_is_counted(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "", reason="failed: no memory")])
    store.put([rows.pull(2), rows.score(2, "", 50), rows.score(2, "otter", 50)])

    overview = overview_of(store)

    assert overview.failed == 1
    assert "Could not be scored: 1 pull request." in overview.notes


def test_comments_in_another_language_are_counted(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", None), rows.comment(1, "otter", 1)])
    scored = rows.comment_score(4, 1, stance="is not in English", level=None)
    store.put([replace(scored, standing=None)])
    overview = overview_of(store)
    assert "Not in English, so not read: 1 comment." in overview.notes
    assert overview.reviewers[0].comments.kinds == {"unread": 1}


def test_a_run_that_was_killed_is_partial(store: Store) -> None:
    store.put([rows.run(1, id=1), rows.run(2, id=2, finished=None)])

    overview = overview_of(store)

    assert [night.partial for night in overview.nights] == [None, "it was stopped"]
    assert "the score of 2026-03-03 is partial: it was stopped" in overview.notes[0]


def test_cost_of_a_language_model_is_the_sum_of_all_runs(store: Store) -> None:
    store.put([rows.run(1, id=1), rows.run(2, id=2)])
    assert not any("language model" in note for note in overview_of(store).notes)
    for day, requests in ((1, 3), (2, 1_000)):
        cost = {"requests": requests, "tokens_read": 7 * requests, "tokens_written": requests}
        store.put([rows.run(day, id=day, **cost)])
    told = "A language model answered 1,003 requests (tokens read: 7,021, written: 1,003)."
    assert told in overview_of(store).notes


def test_repository_that_cannot_be_read_is_a_note(store: Store) -> None:
    store.put([rows.repository(2, state="refused", reason="the token may not read it")])

    notes = overview_of(store).notes

    assert "acme/service-2 is refused: the token may not read it." in notes
