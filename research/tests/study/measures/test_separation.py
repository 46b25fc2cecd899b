from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from crscore.errors import InputError
from crscore.records import Aspects, Usefulness
from crscore.scorer import Scorer
from crscore.statistics import resampled
from crscore_lab.study.data import comments
from crscore_lab.study.measures import separation
from crscore_lab.study.measures.separation import NUMBERS, SeparationOptions
from tests.helpers import study as helper

SCORER = Scorer(encoder="hashing", threshold=0.3, analyzers="none", cache=False)
NAMES = ["limit", "retries", "margin", "colour", "timeout", "discount", "seed", "volume"]
PLAIN = ["relevance", "comprehensiveness", "conciseness", "words", "repeated tokens"]


def rows() -> list[dict]:
    """Eight comments that name what their change is about, four of them at some length."""
    return [
        {
            "comment": f"Why is the {name} raised to {at}0?" + " Please explain it." * (at % 2),
            "diff_hunk": f"@@ -1 +1 @@\n-{name} = {at}\n+{name} = {at}0\n",
            "language": "python",
            "by": "ab"[at // 4],
        }
        for at, name in enumerate(NAMES)
    ]


def separate(tmp_path: Path, listed: list[dict] | None = None, **options: object):
    path = helper.write(tmp_path / "c.jsonl", rows() if listed is None else listed)
    chosen = SeparationOptions(**{"resamples": 50, **options})
    return separation.separate(comments.read_comments(path, SCORER), SCORER, chosen)


def test_own_change_wins(tmp_path: Path) -> None:
    found = separate(tmp_path, other_changes=3)
    assert (found.own, found.others, found.left_out) == (8, 24, 0)
    by_name = {one.number: one for one in found.numbers}
    assert list(by_name) == PLAIN
    repeated = by_name["repeated tokens"]
    assert repeated.paired == separation.Estimate(value=1.0, low=1.0, high=1.0)
    assert repeated.auc.value == 1.0
    # The same text has as many words: every pair is a tie.
    assert by_name["words"].auc.value == by_name["words"].paired.value == 0.5
    assert by_name["relevance"].paired.value > 0.5


def test_comments_on_one_change_cannot_be_compared(tmp_path: Path) -> None:
    listed = [one | {"diff_hunk": rows()[0]["diff_hunk"]} for one in rows()]
    with pytest.raises(InputError, match="there must be two of one by"):
        separate(tmp_path, listed, within="by")


def test_comment_without_another_change_is_left_out(tmp_path: Path) -> None:
    listed = rows()
    listed[3]["language"] = "go"
    found = separate(tmp_path, listed)
    assert (found.own, found.others, found.left_out) == (7, 7, 1)


def test_text_without_a_sentence_abstains_and_counts_as_the_lowest(tmp_path: Path) -> None:
    listed = rows()
    listed[0]["comment"] = "<!-- nothing -->"
    found = separate(tmp_path, listed)
    assert [one.abstained for one in found.numbers] == [2, 2, 2, 0, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": "nobody"}, "c.jsonl:1: nobody: missing"),
        ({"within": "nobody"}, "c.jsonl:1: nobody: missing"),
    ],
)
def test_field_that_does_not_fit_is_named(tmp_path: Path, options, message) -> None:
    with pytest.raises(InputError) as error:
        separate(tmp_path, **options)
    assert message in str(error.value)


def test_seed_decides_others_and_draws(tmp_path: Path) -> None:
    first, again = (separate(tmp_path, within="by", seed=1) for _ in range(2))
    assert first == again
    assert (first.comments, first.changes) == (8, 8)
    assert first.signature.startswith("crscore|")


def test_intervals_draw_the_groups(tmp_path: Path) -> None:
    found = separate(tmp_path, group="by")
    assert (found.group, found.groups) == ("by", 2)
    assert separate(tmp_path).groups == 8
    assert separate(tmp_path, resamples=0).numbers[0].auc.low is None


def test_batches_do_not_change_the_numbers(tmp_path: Path, monkeypatch) -> None:
    whole = separate(tmp_path)
    monkeypatch.setattr(separation, "BATCH", 3)
    said: list[str] = []
    data = comments.read_comments(tmp_path / "c.jsonl", SCORER)
    assert (
        separation.separate(data, SCORER, SeparationOptions(resamples=50), progress=said.append)
        == whole
    )
    assert said[-1] == "scored 16 of 16 pairs of comment and change"
    assert len(said) == 6


def test_usefulness_has_six_numbers_where_there_is_one() -> None:
    useful = Usefulness(
        about=0.1,
        importance=0.2,
        aspects=Aspects(relevant=0.3, informative=0.4, clear=0.5),
        shares=(),
        taken_off=0.0,
        value=0.7,
        standing=1,
        low=0,
        high=2,
        among_bots=1,
        word="",
        against="",
    )
    for usefulness, expected in (
        (useful, [0.7, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (None, [None] * 6),
    ):
        result = SimpleNamespace(usefulness=usefulness)
        assert [get(result) for get in list(NUMBERS.values())[:6]] == expected


def test_auc_is_that_of_counting_pairs() -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, 50) / 5
    positive = rng.random(50) < 0.4
    strata = [f"s{at}" for at in rng.integers(0, 4, 50)]
    weights = rng.integers(0, 3, (7, 50)).astype(float)

    def counted(counts: np.ndarray, *, inside: bool) -> float:
        pairs = [
            (counts[i] * counts[j], (np.sign(values[i] - values[j]) + 1) / 2)
            for i in np.flatnonzero(positive)
            for j in np.flatnonzero(~positive)
            if not inside or strata[i] == strata[j]
        ]
        return sum(n * won for n, won in pairs) / sum(n for n, _ in pairs)

    for inside in (False, True):
        found = resampled.auc(values, positive, weights, strata=strata if inside else None)
        assert found == pytest.approx([counted(one, inside=inside) for one in weights])


def test_auc_of_one_kind_alone_is_undefined() -> None:
    found = resampled.auc(np.zeros(2), np.array([True, True]), np.ones((1, 2)))
    assert np.isnan(found).all()
