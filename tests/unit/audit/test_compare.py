from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crscore.audit.compare import compare_all, describe
from crscore.audit.store.database import Store
from crscore.audit.tables import Period, ReviewTable, load_reviews
from crscore.errors import InputError
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crscore.audit.overview import PairComparison


MARCH = Period(since="2026-03-01", until="2026-03-31")


def put(
    store: Store, name: str, number: int, keys: itertools.count[int], *, found: bool, **pull: object
) -> None:
    """Store a pull request with one comment, which is worth acting on if `found`."""
    host_id = next(keys)
    level = "major" if found else "nit"
    store.put([rows.pull(number, **pull), rows.score(number, name, 50, comments=1)])
    store.put([rows.comment(number, name, host_id)])
    store.put([rows.comment_score(4 * host_id, number, level=level)])


def table(pulls: int, **finds: Callable[[int], bool]) -> ReviewTable:
    """Return the table of reviewers who all commented on the same pull requests."""
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        keys = itertools.count(1)
        for number in range(1, pulls + 1):
            for name, find in finds.items():
                put(store, name, number, keys, found=find(number))
        return load_reviews(store, MARCH)


def by_chance(share: float, seed: int) -> Callable[[int], bool]:
    return lambda number: random.Random(f"{seed} {number}").random() < share


def compare(reviews: ReviewTable, first: str, second: str, **options: Any) -> PairComparison:
    return compare_all(reviews, reviewers=(first, second), **options)[0]


def test_clear_difference_on_common_pull_requests_is_reported() -> None:
    reviews = table(40, hare=lambda number: number % 4 > 0, otter=lambda number: number % 4 == 1)

    verdict = compare(reviews, "hare", "otter")

    assert (verdict.verdict, verdict.paired, verdict.pulls, verdict.needed) == (
        "better",
        True,
        40,
        None,
    )
    assert verdict.difference.value == pytest.approx(50)
    assert verdict.text.startswith(
        "hare finds more worth acting on than otter: on 30 against 10 of 40 pull requests "
        "that both saw, 50 more of 100 (95 %: 3"
    )
    # If the first bot is the worse one, the text still names the better one first.
    other_way = compare(reviews, "otter", "hare")
    assert (other_way.verdict, other_way.text) == ("worse", verdict.text)


def test_silence_of_a_bot_that_saw_the_pull_request_counts() -> None:
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        keys = itertools.count(1)
        for number in range(1, 41):
            put(store, "hare", number, keys, found=True, day=number % 28)
            if number in (1, 27, 28, 40):
                put(store, "otter", number, keys, found=True, day=number % 28)
        verdict = compare(load_reviews(store, MARCH), "hare", "otter")

    assert (verdict.pulls, verdict.verdict) == (40, "better")
    assert "on 40 against 4 of 40 pull requests" in verdict.text


def test_equals_within_the_difference_that_matters_are_equivalent() -> None:
    both = by_chance(0.5, 1)
    reviews = table(200, hare=both, otter=lambda number: both(number) or number == 7)

    verdict = compare(reviews, "hare", "otter", detect=5)

    assert verdict.verdict == "equivalent"
    assert "finds as much worth acting on as " in verdict.text


def test_undecided_pair_reports_the_pull_requests_that_are_missing() -> None:
    # The differences are +100 and -100 in turn, so their mean is 0 and their standard deviation is
    # 100. To show a difference of 20 with a power of 80 %, ((1.960 + 0.842) * 100 / 20)^2 = 196
    # pull requests are needed, of which 30 are there.
    reviews = table(30, hare=lambda number: number % 2 == 0, otter=lambda number: number % 2 == 1)

    verdict = compare(reviews, "hare", "otter", detect=20, resamples=20_000)

    assert verdict.verdict == "unknown"
    assert verdict.needed == pytest.approx(166, abs=7)
    # The observed difference is 0, which no number of pull requests would show.
    assert "would probably" not in verdict.text


@pytest.mark.parametrize(("extra", "is_said"), [(1, True), (0, False)])
def test_needed_pull_requests_are_reported_for_a_real_difference(extra: int, is_said: bool) -> None:
    reviews = table(
        30,
        hare=lambda number: number % 2 == 0 or number <= extra,
        otter=lambda number: number % 2 == 1,
    )

    verdict = compare(reviews, "hare", "otter", detect=20)

    assert verdict.needed
    expected = f"about {verdict.needed} more common pull requests would probably"
    assert (expected in verdict.text) == is_said


def test_each_reviewer_of_a_pair_is_described_from_its_side() -> None:
    reviews = table(
        40,
        hare=lambda number: number % 4 > 0,
        otter=lambda number: number % 4 == 1,
        wren=lambda number: number % 4 == 1 or number in (2, 3),
    )
    clear, open_pair = compare(reviews, "hare", "otter"), compare(reviews, "otter", "wren")

    assert clear.gained == (30, 10)
    assert (
        describe(clear, "hare")
        == "hare finds more worth acting on than otter: on 30 against 10 of 40"
    )
    assert (
        describe(clear, "otter")
        == "otter finds less worth acting on than hare: on 10 against 30 of 40"
    )
    start = "wren shows no clear difference from otter: on 12"
    assert describe(open_pair, "wren").startswith(start)


def test_too_few_pull_requests_are_not_compared() -> None:
    reviews = table(19, hare=lambda number: number > 1, otter=lambda number: number == 1)

    verdict = compare(reviews, "hare", "otter")

    assert verdict.verdict == "unknown"
    assert verdict.text == ("hare and otter cannot be compared: hare saw only 19 pull requests")


def test_different_pulls_are_compared_within_strata() -> None:
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        # The hare reviews mostly easy pull requests in Go, the otter mostly hard ones in Python.
        # For each language, they are equal. All are open, so none counts as seen without a comment.
        keys = itertools.count(1)
        for number in range(1, 401):
            name = "hare" if number % 2 else "otter"
            usual = number % 10 < 8
            language = "go" if (name == "hare") == usual else "python"
            pull = {"language": language, "state": "open", "merged": None}
            put(store, name, number, keys, found=language == "go", **pull)
        verdict = compare(load_reviews(store, MARCH), "hare", "otter")

    assert (verdict.paired, verdict.pulls) == (False, 400)
    assert abs(verdict.difference.value) < 1
    assert verdict.text.endswith(
        "; hare on 160 of all 200 that it saw; otter on 40 of all 200 that it saw"
    )
    assert "on pull requests of the same repository, language and size, " in verdict.text


def test_nothing_in_common_cannot_be_compared() -> None:
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        keys = itertools.count(1)
        for number in range(1, 41):
            name, language = ("hare", "go") if number % 2 else ("otter", "python")
            pull = {"language": language, "state": "open", "merged": None}
            put(store, name, number, keys, found=True, **pull)
        verdict = compare(load_reviews(store, MARCH), "hare", "otter")

    assert (verdict.verdict, verdict.difference, verdict.needed) == ("unknown", None, None)
    assert verdict.text.endswith("are of the same repository, language and size")


def test_all_pairs_of_bots_are_corrected_together() -> None:
    reviews = table(
        60,
        hare=by_chance(0.5, 1),
        otter=by_chance(0.7, 2),
        wren=by_chance(0.5, 3),
        ada=by_chance(0.9, 4),
    )

    verdicts = {(verdict.first, verdict.second): verdict for verdict in compare_all(reviews)}
    alone = {pair: compare(reviews, *pair).p_value for pair in verdicts}

    assert set(verdicts) == {("hare", "otter"), ("hare", "wren"), ("otter", "wren")}
    smallest = min(alone, key=alone.__getitem__)
    assert verdicts[smallest].p_value == pytest.approx(min(1, 3 * alone[smallest]))


def test_the_same_seed_gives_the_same_verdict() -> None:
    reviews = table(60, hare=by_chance(0.5, 1), otter=by_chance(0.6, 2))

    assert compare_all(reviews, seed=3) == compare_all(reviews, seed=3)


@pytest.mark.parametrize(
    ("pair", "options", "message"),
    [
        (("hare", "fox"), {}, "no review by fox"),
        (("hare", "otter"), {"detect": 0}, "difference to detect is 0"),
    ],
)
def test_invalid_arguments_are_a_clear_error(
    pair: Sequence[str], options: dict[str, object], message: str
) -> None:
    reviews = table(1, hare=bool, otter=bool)

    with pytest.raises(InputError, match=message):
        compare(reviews, *pair, **options)
