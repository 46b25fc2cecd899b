from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore import Scorer
from crscore_lab.study.data import study
from crscore_lab.study.measures import link_classifier
from crscore_lab.study.measures.link_classifier import Links
from tests.helpers import study as studies

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30)


def links(cosine: list[float], linked: list[int], degree: list[float] | None = None) -> Links:
    values = np.array(cosine)
    return Links(
        changes=tuple(str(i // 2) for i in range(len(cosine))),
        linked=np.array(linked, dtype=bool),
        cosine=values,
        degree=(values > 0.5).astype(float) if degree is None else np.array(degree),
        tau=0.5,
        decision=0.5,
    )


def classified(found: Links, **options: int) -> link_classifier.Classifier:
    made = link_classifier.classify(found, **({"resamples": 0, "seed": 0} | options))
    assert made is not None
    return made


def test_published_matcher_is_judged_by_its_threshold_and_ranked_by_its_cosine() -> None:
    # Above 0.5: 0.9 (linked), 0.8, 0.6 (linked); linked are three of six.
    found = classified(links([0.9, 0.8, 0.6, 0.5, 0.4, 0.1], [1, 0, 1, 1, 0, 0]))
    assert (found.n, found.positive) == (6, 3)
    assert (found.score, found.threshold) == ("cosine", 0.5)
    assert (found.precision, found.recall) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert found.f1 == pytest.approx(2 / 3)


def test_average_precision_and_auc_by_hand() -> None:
    found = classified(links([0.9, 0.8, 0.6, 0.5, 0.4, 0.1], [1, 0, 1, 1, 0, 0]))
    assert found.average_precision == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)
    # Of the 9 (linked, other) pairs: 0.9 beats 3, 0.6 beats 2, 0.5 beats 2.
    assert found.auc == pytest.approx(7 / 9)


def test_graded_matcher_is_ranked_by_its_degree() -> None:
    found = classified(links([0.1, 0.2, 0.9], [1, 1, 0], degree=[0.7, 0.5, 0.2]))
    assert (found.score, found.threshold) == ("degree", 0.5)
    assert (found.precision, found.recall, found.average_precision) == (1.0, 1.0, 1.0)


def test_matcher_that_matches_nothing_has_no_precision() -> None:
    found = classified(links([0.5, 0.4], [1, 1]))
    assert (found.precision, found.recall, found.f1) == (None, 0.0, 0.0)


def by_the_book(score: np.ndarray, linked: np.ndarray) -> float:
    """Average precision, threshold by threshold."""
    area, recall = 0.0, 0.0
    for cut in sorted(set(score), reverse=True):
        taken = score >= cut
        now = (linked & taken).sum() / linked.sum()
        area += (now - recall) * (linked & taken).sum() / taken.sum()
        recall = now
    return area


@given(PAIRS)
def test_average_precision_equals_the_sum_over_thresholds(pairs) -> None:
    score = np.array([value for value, _ in pairs], dtype=float)
    linked = np.array([yes for _, yes in pairs])
    expected = by_the_book(score, linked) if linked.any() else np.nan
    found = link_classifier.average_precision(score, linked, np.ones((1, len(score))))
    assert found[0] == pytest.approx(expected, nan_ok=True)


def test_intervals_are_those_of_the_plain_bootstrap() -> None:
    rng = np.random.default_rng(1)
    linked = rng.integers(0, 2, 60)
    pairs = links(list(np.round(linked * 0.2 + rng.random(60) * 0.8, 1)), list(linked))
    found = classified(pairs, resamples=60)
    draw = np.random.default_rng(0)
    f1, area = [], []
    for _ in range(60):
        rows = np.concatenate([[2 * i, 2 * i + 1] for i in draw_in_name_order(draw)])
        score, yes = pairs.cosine[rows], pairs.linked[rows]
        decided = score > 0.5
        f1.append(2 * (decided & yes).sum() / (decided.sum() + yes.sum()))
        area.append(by_the_book(score, yes))
    assert (found.f1_low, found.f1_high) == pytest.approx(np.quantile(f1, [0.025, 0.975]))
    expected = np.quantile(area, [0.025, 0.975])
    assert (found.average_precision_low, found.average_precision_high) == pytest.approx(expected)


def draw_in_name_order(rng: np.random.Generator) -> list[int]:
    """Clusters are numbered by name: "0", "1", "10", "11", ..."""
    names = sorted(str(i) for i in range(30))
    return [int(names[i]) for i in rng.integers(0, 30, 30)]


def test_no_pair_means_no_classifier() -> None:
    assert link_classifier.classify(links([], []), resamples=10, seed=0) is None


@pytest.fixture
def rated(tmp_path: Path) -> study.Study:
    rows = studies.rows()
    for row in rows:
        for review in row["reviews"]:
            review["addressed"] = []
        by_system = {review["system"]: review for review in row["reviews"]}
        by_system["gpt3.5"]["addressed"] = [0]
        by_system["ground_truth"]["addressed"] = [0, 1]
    rows[0]["reviews"][4]["addressed"] = [1]  # a blank review
    return study.read_study(studies.write(tmp_path / "study.jsonl", rows))


def scorer(rated: study.Study) -> Scorer:
    base = Scorer(
        encoder="hashing", max_claims=1, generator=study.recorded(rated), analyzers="none"
    )
    return link_classifier.make_link_scorer(base, rated)


def test_pairs_are_those_of_machine_reviews_that_address_something(rated: study.Study) -> None:
    found = link_classifier.judge_links(rated, scorer(rated))
    counts = {change.id: len(change.edited) for change in rated.changes}
    assert len(found.linked) == sum(counts.values()) + counts["py:1"]
    assert found.linked.sum() == 4


def test_degree_of_a_pair_is_the_highest_of_its_sentences(rated: study.Study) -> None:
    found = link_classifier.judge_links(rated, scorer(rated))
    change = rated.changes[0]
    result = scorer(rated).score(change.patch, change.reviews[0].text, language="python")
    rows = len(change.edited)
    assert result.similarity.shape[1] > 1
    assert found.cosine[:rows] == pytest.approx(result.similarity.max(axis=1))
    assert found.degree[:rows] == pytest.approx(result.degrees.max(axis=1))


def test_blank_review_is_below_every_cosine(rated: study.Study) -> None:
    found = link_classifier.judge_links(rated, scorer(rated))
    rows = len(rated.changes[0].edited)
    assert found.cosine[rows : 2 * rows].tolist() == [-1.0] * rows
    assert found.degree[rows : 2 * rows].tolist() == [0.0] * rows


def test_limit_of_claims_drops_no_pair(rated: study.Study) -> None:
    whole = scorer(rated)
    assert whole.settings.max_claims is None
    assert len(link_classifier.judge_links(rated, whole).linked) == 8


def test_folds_join_to_the_whole(rated: study.Study) -> None:
    whole = link_classifier.judge_links(rated, scorer(rated))
    folds = [
        link_classifier.judge_links(
            rated, scorer(rated), includes=lambda change, _, c=one: change.id == c
        )
        for one in ("py:1", "py:2", "js:1")
    ]
    joined = link_classifier.join(folds)
    assert joined.changes == whole.changes
    assert (joined.cosine == whole.cosine).all()
    assert (joined.linked == whole.linked).all()
    assert joined.tau == whole.tau == 0.5
