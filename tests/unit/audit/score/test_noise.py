from __future__ import annotations

import pytest

from crscore import Scorer
from crscore.audit.score.pull_rows import noise_of
from crscore.records import Comment
from tests.helpers.audits import module

CODE = module(1, is_changed=True).splitlines()
PATCH = f"@@ -0,0 +1,{len(CODE)} @@\n" + "".join(f"+{line}\n" for line in CODE)
FINDING = (
    "When every attempt fails, `data` is None and `len(data)` raises a TypeError. Return early."
)


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer(analyzers="none", claims="structural")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (FINDING, None),
        ("Why does it retry four times?", None),
        ("This adds a new function that loads the basket with a retry loop.", "restates"),
        ("Nice work, this looks great!", "praise"),
        ("Great! Well done.", "praise"),
        ("Nice work! Thanks!", "praise"),
        ("I am on holiday until Monday.", "nothing"),
        ("```suggestion\n    return None\n```", None),
        ("<!-- hidden words that nobody sees -->", None),
        (f"Nice work! {FINDING}", None),
        ("Gute Arbeit, sieht sehr schön aus!", None),
    ],
)
def test_noise_is_a_comment_whose_remarks_give_nothing(
    scorer: Scorer, body: str, expected: str | None
) -> None:
    result = scorer.score(PATCH, [Comment(body=body)], path="a.py")
    assert noise_of(result, result.comments[0]) == expected


def test_without_a_reader_only_the_points_count() -> None:
    scorer = Scorer(encoder="hashing", threshold=0.5, analyzers="none", claims="structural")
    result = scorer.score(PATCH, [Comment(body="My cat sleeps."), Comment(body=FINDING)])
    assert noise_of(result, result.comments[0]) == "nothing"
