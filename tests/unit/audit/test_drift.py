from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from crscore.audit.drift import find_changes
from crscore.audit.store.database import Store
from crscore.audit.tables import Period, load_reviews
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from crscore.audit.tables import ReviewTable


def history(
    draw: Callable[[random.Random, int], dict[str, int]], *, nights: int = 30
) -> ReviewTable:
    """Return reviews of a bot on eight pull requests a day.

    `draw` chooses the values of a score, given a random generator and the number of the day.
    """
    rng = random.Random(4)
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository()])
        for number in range(8 * nights):
            day = number // 8
            store.put([rows.pull(number + 1, day=day)])
            store.put([rows.score(number + 1, "otter", **draw(rng, day))])
        period = Period(since=rows.night(0), until=rows.night(nights - 1))
        return load_reviews(store, period)


def steady(rng: random.Random, day: int) -> dict[str, int]:
    comments = rng.randint(1, 4)
    return {
        "comments": comments,
        "words": comments * rng.randint(10, 40),
        "standing": rng.randint(20, 80),
    }


def more_words(rng: random.Random, day: int) -> dict[str, int]:
    day_rows = steady(rng, day)
    return day_rows | {"words": day_rows["words"] * (3 if day >= 15 else 1)}


def test_a_steady_bot_has_no_change() -> None:
    assert find_changes(history(steady), "otter") == ()


def test_a_change_is_found_within_three_days() -> None:
    (change,) = find_changes(history(more_words, nights=18), "otter")

    assert change.day in (rows.night(15), rows.night(16), rows.night(17))
    assert change.number == "words per comment"
    assert 2 < change.after / change.before < 4
    assert change.p_value < 0.05


def test_no_change_is_found_before_it_happens() -> None:
    assert find_changes(history(more_words, nights=15), "otter") == ()


def test_a_change_is_reported_once() -> None:
    assert len(find_changes(history(more_words), "otter")) == 1


def test_a_second_change_is_found_after_the_first() -> None:
    def back(rng: random.Random, day: int) -> dict[str, int]:
        return more_words(rng, day) if day < 23 else steady(rng, day)

    changes = find_changes(history(back), "otter")

    assert len(changes) == 2
    assert changes[1].after < changes[1].before


def test_a_bot_without_reviews_has_no_change() -> None:
    assert find_changes(history(steady), "hare") == ()
