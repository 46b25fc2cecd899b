import numpy as np
import pytest
import scipy.stats

from crscore.lab.study.error_analysis import Misjudged, find_misjudged
from tests.helpers import measured as helper

# Quantiles of 0, 0, 0, .2, .4, .5, .6, .8, .9, 1 at 20 % and 80 %: 0 and .82.
VALUES = [0.0, 0.0, 0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 0.9, 1.0]
HUMAN = [5, 1, 1, 2, 3, 3, 4, 5, 1, 1]
TEXTS = ["Fine `x`."] + ["Fine."] * 7 + ["Why?", "Is `y` used?"]
REFERENCES = [1, 3, 3, 3, 3, 3, 3, 3, 5, 6]


@pytest.fixture
def found() -> Misjudged:
    rows = [
        helper.row(
            str(i),
            "s",
            (3.0, 3.0, float(HUMAN[i])),
            text=TEXTS[i],
            references=(0.5,) * REFERENCES[i],
        )
        for i in range(10)
    ]
    return find_misjudged(helper.measured(rows, helper.metric(VALUES)))


def test_low_takes_in_the_quantile_and_high_starts_above_it(found: Misjudged) -> None:
    assert (found.low, found.high) == (0.0, pytest.approx(0.82))
    assert [case.change for case in found.under_cases] == ["0"]


def test_overestimates_come_highest_first_with_their_texts(found: Misjudged) -> None:
    assert [(case.change, case.score, case.text) for case in found.over_cases] == [
        ("9", 1.0, "Is `y` used?"),
        ("8", 0.9, "Why?"),
    ]
    assert [case.references for case in found.over_cases] == [6, 5]


def test_kinds_tell_rate_references_and_inline_code(found: Misjudged) -> None:
    over, under, everything = found.over, found.under, found.everything
    assert (over.n, over.rate, over.references, over.inline_code) == (2, 0.2, 5.5, 0.5)
    assert (under.n, under.rate, under.references, under.inline_code) == (1, 0.1, 1.0, 1.0)
    assert (everything.n, everything.references, everything.inline_code) == (10, 3.3, 0.2)


def test_agreement_with_and_without_them_is_scipys(found: Misjudged) -> None:
    values, human = np.array(VALUES), np.array(HUMAN)
    either = np.isin(np.arange(10), (0, 8, 9))
    for agreement, rows in (
        (found.agreement, slice(None)),
        (found.agreement_without, ~either),
        (found.agreement_on, either),
    ):
        assert agreement.n == len(values[rows])
        expected = scipy.stats.spearmanr(values[rows], human[rows]).statistic
        assert agreement.spearman == pytest.approx(expected)
        expected = scipy.stats.kendalltau(values[rows], human[rows]).statistic
        assert agreement.kendall == pytest.approx(expected)


def test_study_without_a_misjudged_review_has_no_typical_one() -> None:
    rows = [helper.row(str(i), "s", (3.0, 3.0, float(i))) for i in range(1, 6)]
    found = find_misjudged(helper.measured(rows, helper.metric([0.1, 0.2, 0.3, 0.4, 0.5])))
    assert (found.under.n, found.under.references, found.under.inline_code) == (0, None, None)
    assert (found.over_cases, found.under_cases) == ((), ())
    assert found.agreement_on.spearman is None
