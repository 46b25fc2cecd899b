from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crscore.audit.compare import compare_all
from crscore.audit.store.database import Store
from crscore.audit.tables import Period, ReviewTable, load_reviews
from crscore.errors import InputError
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.audit.overview import Verdict


def table(reviews: Mapping[str, Mapping[int, int]], **pulls: object) -> ReviewTable:
    """Table of the standing of each reviewer on each pull."""
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        numbers = {number for values_by_pull in reviews.values() for number in values_by_pull}
        store.put(rows.pull(number, **pulls) for number in sorted(numbers))
        for name, values_by_pull in reviews.items():
            store.put(rows.score(number, name, value) for number, value in values_by_pull.items())
        return load_reviews(
            store, Period(since="2026-03-01", until="2026-03-31"), measure="usefulness"
        )


def compare(reviews: ReviewTable, first: str, second: str, **options: Any) -> Verdict:
    return compare_all(reviews, reviewers=(first, second), **options)[0]


def around(
    mean: float, count: int, *, seed: int, start: int = 1, spread: float = 10
) -> dict[int, int]:
    rng = random.Random(seed)
    return {start + at: round(rng.gauss(mean, spread)) for at in range(count)}


def test_clear_difference_on_common_pull_requests_is_reported() -> None:
    second = {number: 40 + number % 7 for number in range(1, 41)}
    first = {number: value + 8 + 2 * (number % 2) for number, value in second.items()}

    verdict = compare(table({"hare": first, "otter": second}), "hare", "otter")

    # Differences of 8 and 10 in turn: mean 9. Mean of the second: 40 + 120 / 40 = 43.
    assert (verdict.verdict, verdict.paired, verdict.pulls, verdict.needed) == (
        "better",
        True,
        40,
        None,
    )
    assert verdict.difference.value == pytest.approx(9)
    assert verdict.text.startswith(
        "hare is better than otter: 52 against 43 of 100 on 40 common pull requests "
        "(difference 9, 95 % interval 8."
    )


def test_the_first_may_be_the_worse_one() -> None:
    verdict = compare(
        table({"hare": around(40, 60, seed=1), "otter": around(60, 60, seed=2)}), "hare", "otter"
    )

    assert verdict.verdict == "worse"
    assert verdict.difference.high < 0
    assert verdict.text.startswith("otter is better than hare: ")
    assert "(difference -" not in verdict.text


def test_equals_within_the_difference_that_matters_are_equivalent() -> None:
    reviews = {
        "hare": around(50, 200, seed=1, spread=5),
        "otter": around(50, 200, seed=2, spread=5),
    }

    verdict = compare(table(reviews), "hare", "otter", detect=5)

    assert verdict.verdict == "equivalent"
    assert "hare and otter: no difference larger than 5: " in verdict.text


def test_undecided_pair_reports_the_pull_requests_that_are_missing() -> None:
    # Differences of +20 and -20 in turn: mean 0, standard deviation 20. For a difference of 5 with
    # a power of 80 %: ((1.960 + 0.842) * 20 / 5)^2 = 125.6 pulls, of which 30 are there.
    first = {number: 70 if number % 2 else 30 for number in range(1, 31)}
    second = dict.fromkeys(range(1, 31), 50)

    verdict = compare(
        table({"hare": first, "otter": second}), "hare", "otter", detect=5, resamples=20_000
    )

    assert verdict.verdict == "unknown"
    assert verdict.needed == pytest.approx(96, abs=4)
    expected = f"undecided; about {verdict.needed} more common pull requests would probably"
    assert expected in verdict.text


def test_few_pulls_decide_nothing() -> None:
    first, second = dict.fromkeys(range(1, 10), 90), {9: 11} | dict.fromkeys(range(11, 19), 10)

    verdict = compare(table({"hare": first, "otter": second}), "hare", "otter")

    assert verdict.verdict == "unknown"
    assert "fewer than 10 pull requests of one of them" in verdict.text


def test_different_pulls_are_compared_within_strata() -> None:
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        # The hare has the easy pulls in Go, the otter the hard ones in Python; each has a few of
        # the others. Inside each language they are equal.
        for number in range(1, 401):
            name = "hare" if number % 2 else "otter"
            usual = number % 10 < 8
            language = "go" if (name == "hare") == usual else "python"
            value = (80 if language == "go" else 40) + number % 5
            store.put([rows.pull(number, language=language), rows.score(number, name, value)])
        verdict = compare(
            load_reviews(store, Period(since="2026-03-01", until="2026-03-31")), "hare", "otter"
        )

    assert (verdict.verdict, verdict.paired, verdict.pulls) == ("equivalent", False, 400)
    assert abs(verdict.difference.value) < 1
    # Their means are 72 and 48: beside a difference within strata they would mislead.
    assert "against" not in verdict.text
    assert f"of 100 among similar ones of {verdict.pulls} pull requests" in verdict.text


def test_nothing_in_common_cannot_be_compared() -> None:
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        for number in range(1, 41):
            name, language = ("hare", "go") if number % 2 else ("otter", "python")
            store.put([rows.pull(number, language=language), rows.score(number, name, 50)])
        verdict = compare(
            load_reviews(store, Period(since="2026-03-01", until="2026-03-31")), "hare", "otter"
        )

    assert (verdict.verdict, verdict.difference, verdict.needed) == ("unknown", None, None)
    assert "too few pull requests" in verdict.text


def test_abstentions_only_cannot_be_compared() -> None:
    reviews = table({"hare": {1: None}, "otter": {1: None}})  # type: ignore[dict-item]

    assert compare(reviews, "hare", "otter").verdict == "unknown"


def test_less_noise_is_better() -> None:
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        for number in range(1, 61):
            store.put([rows.pull(number)])
            for at, name in enumerate(("hare", "otter")):
                key = 2 * number + at
                noise = "praise" if name == "otter" and number % 3 else None
                store.put([rows.score(number, name, 50), rows.comment(number, name, key)])
                store.put([rows.comment_score(4 * key, number, 50, noise=noise)])
        verdict = compare(
            load_reviews(store, Period(since="2026-03-01", until="2026-03-31")),
            "hare",
            "otter",
            measure="noise",
        )

    assert verdict.verdict == "better"
    assert verdict.difference.value == pytest.approx(-200 / 3)
    assert verdict.text.startswith(
        "hare is better than otter in noise: 0 against 66.7 of 100 on 60"
    )
    assert "(difference 66.7, 95 % interval " in verdict.text


def test_all_pairs_of_bots_are_corrected_together() -> None:
    reviews = table(
        {
            "hare": around(50, 60, seed=1),
            "otter": around(54, 60, seed=2),
            "wren": around(50, 60, seed=3),
            "ada": around(90, 60, seed=4),
        }
    )

    verdicts = {(verdict.first, verdict.second): verdict for verdict in compare_all(reviews)}
    alone = {pair: compare(reviews, *pair).p_value for pair in verdicts}

    assert set(verdicts) == {("hare", "otter"), ("hare", "wren"), ("otter", "wren")}
    smallest = min(alone, key=alone.__getitem__)
    assert verdicts[smallest].p_value == pytest.approx(min(1, 3 * alone[smallest]))


def test_the_same_seed_gives_the_same_verdict() -> None:
    reviews = table({"hare": around(50, 60, seed=1), "otter": around(54, 60, seed=2)})

    assert compare_all(reviews, seed=3) == compare_all(reviews, seed=3)


@pytest.mark.parametrize(
    ("pair", "options", "message"),
    [
        (("hare", "fox"), {}, "no review of fox"),
        (("hare", "otter"), {"measure": "beauty"}, "no measure beauty"),
        (("hare", "otter"), {"detect": 0}, "difference to detect is 0"),
    ],
)
def test_a_wrong_question_is_one_clear_line(
    pair: Sequence[str], options: dict[str, object], message: str
) -> None:
    reviews = table({"hare": {1: 5}, "otter": {1: 6}})

    with pytest.raises(InputError, match=message):
        compare(reviews, *pair, **options)
