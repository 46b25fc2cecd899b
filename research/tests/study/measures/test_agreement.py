import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from crscore_lab.statistics.ranks import cohen_kappa
from crscore_lab.study.data import study
from crscore_lab.study.measures.agreement import (
    ALPHA,
    CLAIMS,
    KAPPA,
    SPEARMAN,
    WEIGHTED_KAPPA,
    Agreement,
    krippendorff_alpha,
    measure_agreement,
    weighted_kappa,
)
from tests.helpers import study as helper

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, the data of its section C:
# twelve units, four observers, 0 where one said nothing.
OBSERVERS = [
    (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
    (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
]
UNITS = [tuple(value for value in unit if value) for unit in zip(*OBSERVERS, strict=True)]

likert = st.integers(1, 5)
units = st.lists(st.lists(likert, min_size=2, max_size=4), min_size=1, max_size=12)
pairs = st.lists(st.tuples(likert, likert), min_size=1, max_size=20)


def measured(tmp_path: Path, rows: list[dict]) -> dict[tuple[str, str], Agreement]:
    found = measure_agreement(study.read_study(helper.write(tmp_path / "s.jsonl", rows)))
    return {(row.subject, row.measure): row for row in found}


def test_alpha_of_the_textbook_data_is_the_printed_one() -> None:
    # Printed there for ordinal data: 0.815.
    assert krippendorff_alpha(UNITS) == pytest.approx(0.815, abs=5e-4)


def test_alpha_of_two_units_is_as_worked_out_by_hand() -> None:
    # Units (1, 1) and (1, 2): o11 = 2, o12 = o21 = 1, so n1 = 3, n2 = 1, n = 4. One distance d:
    # observed 2 d, expected 2 * 3 * 1 * d / 3 = 2 d.
    assert krippendorff_alpha([(1, 1), (1, 2)]) == pytest.approx(0.0)


def test_alpha_counts_the_values_between_two_values() -> None:
    # By hand. (1, 3), (2, 2), (2, 2), (4, 4): n = (1, 4, 1, 2) for 1 to 4, n = 8. Distances:
    # d12 2.5, d13 5, d14 6.5, d23 2.5, d24 4, d34 1.5.
    # Observed 2 * 25 = 50. Expected 2/7 of
    # 1*4*6.25 + 1*1*25 + 1*2*42.25 + 4*1*6.25 + 4*2*16 + 1*2*2.25 = 292.
    assert krippendorff_alpha([(1, 3), (2, 2), (2, 2), (4, 4)]) == pytest.approx(
        1 - 50 / (2 * 292 / 7)
    )


@given(units, st.randoms(use_true_random=False))
def test_alpha_knows_neither_the_order_nor_the_size_of_steps(
    values: list[list[int]], random: object
) -> None:
    first = krippendorff_alpha(values)
    other = [[value**3 for value in reversed(unit)] for unit in reversed(values)]
    second = krippendorff_alpha(other)
    assert (first is None) == (second is None)
    assert first is None or (first == pytest.approx(second, abs=1e-9) and first <= 1)


def test_unit_with_one_value_does_not_count() -> None:
    assert krippendorff_alpha([*UNITS, (5,), ()]) == krippendorff_alpha(UNITS)


@pytest.mark.parametrize("nothing", [[], [(1,)], [(3, 3), (3, 3, 3)]])
def test_alpha_without_pairs_or_variety_is_none(nothing: list[tuple[int, ...]]) -> None:
    assert krippendorff_alpha(nothing) is None


def test_kappa_of_a_table_is_as_worked_out_by_hand() -> None:
    # 20 twice yes, 15 twice no, 5 and 10 apart: observed 0.7; yes by the one in half, by the
    # other in 0.6, so chance is 0.5 * 0.6 + 0.5 * 0.4 = 0.5, and kappa 0.2 / 0.5.
    table = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohen_kappa(table) == pytest.approx(0.4)


def test_weighted_kappa_is_as_worked_out_by_hand() -> None:
    # (1, 1), (1, 2), (3, 3): mean square miss 1/3; variances 8/9 and 2/3, means 5/3 and 2.
    assert weighted_kappa([(1, 1), (1, 2), (3, 3)]) == pytest.approx(
        1 - (1 / 3) / (8 / 9 + 2 / 3 + 1 / 9)
    )


@given(pairs)
def test_weighted_kappa_is_that_of_the_table(said: list[tuple[int, int]]) -> None:
    """The definition over the table of categories, as Cohen gives it."""
    first, second = np.array(said).T
    observed = expected = 0.0
    for one in range(1, 6):
        for other in range(1, 6):
            weight = (one - other) ** 2
            observed += weight * np.mean((first == one) & (second == other))
            expected += weight * np.mean(first == one) * np.mean(second == other)
    found = weighted_kappa(said)
    if expected == 0:
        assert found is None
    else:
        assert found == pytest.approx(1 - observed / expected)


@given(pairs)
def test_kappas_do_not_depend_on_the_order_of_annotators(said: list[tuple[int, int]]) -> None:
    swapped = [(other, one) for one, other in said]
    words = [(str(one), str(other)) for one, other in said]
    assert weighted_kappa(said) == pytest.approx(weighted_kappa(swapped))
    assert cohen_kappa(words) == pytest.approx(cohen_kappa([(b, a) for a, b in words]))


def test_kappas_without_items_or_variety_are_none() -> None:
    assert cohen_kappa([]) is cohen_kappa([("y", "y")] * 3) is None
    assert weighted_kappa([]) is weighted_kappa([(2, 2)] * 3) is None


def test_perfect_agreement_is_1() -> None:
    assert krippendorff_alpha([(1, 1, 1), (4, 4)]) == 1
    assert weighted_kappa([(1, 1), (4, 4)]) == cohen_kappa([("y", "y"), ("n", "n")]) == 1


def test_study_with_second_ratings_is_measured(tmp_path: Path) -> None:
    # By hand from the helper: eight reviews rated twice; a and b differ by 1 in relevance on two.
    # Squares of a's eight ratings sum to 109, the ratings to 27, and b's do too.
    found = measured(tmp_path, helper.full_rows())
    variance = 109 / 8 - (27 / 8) ** 2
    kappa = found["relevance", WEIGHTED_KAPPA]
    assert (kappa.n, kappa.reason) == (8, None)
    assert kappa.value == pytest.approx(1 - (2 / 8) / (2 * variance))
    assert found["conciseness", ALPHA].value == 1


def test_rank_correlation_is_scipys(tmp_path: Path) -> None:
    a, b = (4, 4, 1, 5, 3, 4, 1, 5), (3, 4, 1, 5, 4, 4, 1, 5)
    found = measured(tmp_path, helper.full_rows())["relevance", SPEARMAN]
    assert found.value == pytest.approx(scipy.stats.spearmanr(a, b).statistic)


def test_claims_judged_twice_are_measured(tmp_path: Path) -> None:
    # (correct, correct) and (incorrect, unverifiable): observed 1/2, chance 1/4.
    found = measured(tmp_path, helper.full_rows())[CLAIMS, KAPPA]
    assert (found.n, found.value) == (2, pytest.approx(1 / 3))


def test_old_study_says_why_there_is_nothing(tmp_path: Path) -> None:
    found = measured(tmp_path, helper.rows())
    assert {(row.n, row.value) for row in found.values()} == {(0, None)}
    assert found["relevance", ALPHA].reason == "no review is judged by two annotators"
    assert found[CLAIMS, KAPPA].reason == "no claim is judged by two annotators"


def test_ratings_without_variety_say_so(tmp_path: Path) -> None:
    (row, *_) = helper.full_rows()
    row["reviews"] = row["reviews"][:1]
    found = measured(tmp_path, [row])["conciseness", ALPHA]
    assert (found.n, found.value, found.reason) == (1, None, "judgements do not vary")


def test_three_annotators_are_averaged_over_their_pairs(tmp_path: Path) -> None:
    (row, *_) = helper.full_rows()
    answers = [("correct", "correct", "correct"), ("incorrect", "incorrect", "correct")]
    for claim, said in zip(row["llm_claims"], answers, strict=True):
        claim["by_annotator"] = dict(zip("abc", said, strict=True))
    # a and b agree fully; c says one thing only, so chance is its whole agreement: kappa 0 twice.
    found = measured(tmp_path, [row])[CLAIMS, KAPPA]
    assert (found.n, found.value) == (2, pytest.approx(1 / 3))


def test_nameless_second_rating_counts_in_alpha_alone(tmp_path: Path) -> None:
    rows = helper.full_rows()
    for row in rows:
        for review in row["reviews"]:
            for other in review.get("other_ratings", ()):
                del other["annotator"]
    found = measured(tmp_path, rows)
    assert found["relevance", ALPHA].n == 8
    assert (found["relevance", SPEARMAN].n, found["relevance", SPEARMAN].value) == (0, None)


def test_alpha_without_its_package_has_a_reason(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    row = measured(tmp_path, helper.full_rows())["relevance", ALPHA]
    assert row.value is None
    assert "pip install 'crscore-lab[agreement]'" in str(row.reason)
