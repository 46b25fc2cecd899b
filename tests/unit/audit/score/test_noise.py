from __future__ import annotations

from crscore import Scorer
from crscore.audit.score.pull_rows import noise_of
from crscore.records import Comment
from tests.helpers.audits import module

CODE = module(1, is_changed=True).splitlines()
PATCH = f"@@ -0,0 +1,{len(CODE)} @@\n" + "".join(f"+{line}\n" for line in CODE)
FINDING = (
    "When every attempt fails, `data` is None and `len(data)` raises a TypeError. Return early."
)


NOISE = {
    FINDING: None,
    "Why does it retry four times?": None,
    "This adds a new function that loads the basket with a retry loop.": "restates",
    "Nice work, this looks great!": "praise",
    "Great! Well done.": "praise",
    "Nice work! Thanks!": "praise",
    "I am on holiday until Monday.": "nothing",
    "```suggestion\n    return None\n```": None,
    "<!-- hidden words that nobody sees -->": None,
    f"Nice work! {FINDING}": None,
    "Gute Arbeit, sieht sehr schön aus!": None,
}


def test_comment_without_a_valuable_remark_is_noise() -> None:
    scorer = Scorer(analyzers="none", claims="structural")
    change = f"--- a/a.py\n+++ b/a.py\n{PATCH}"
    found = scorer.score_many((change, [Comment(body=body)]) for body in NOISE)
    kinds = [noise_of(result, result.comments[0]) for result in found]
    assert dict(zip(NOISE, kinds, strict=True)) == NOISE


def test_without_a_reader_only_the_points_count() -> None:
    scorer = Scorer(encoder="hashing", threshold=0.5, analyzers="none", claims="structural")
    result = scorer.score(PATCH, [Comment(body="My cat sleeps."), Comment(body=FINDING)])
    assert noise_of(result, result.comments[0]) == "nothing"
