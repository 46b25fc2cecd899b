from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from crscore import Scorer
from crscore.matchers.base import Cells, Judgement
from crscore.matchers.published import Published
from crscore.scoring.assembly import harmonic_mean
from crscore_lab.study.data import study
from crscore_lab.study.measures import measurements
from tests.helpers import measured as helper
from tests.helpers import study as studies


@pytest.fixture
def rated(tmp_path: Path) -> study.Study:
    return study.read_study(studies.write(tmp_path / "study.jsonl"))


def scored(rated: study.Study, **options) -> measurements.Measurements:
    scorer = Scorer(encoder="hashing", generator=study.recorded(rated), analyzers="none")
    return measurements.measure(rated, scorer, name="m", **options)


def test_rows_are_the_machine_reviews_in_the_order_of_the_study(rated: study.Study) -> None:
    expected = [
        (change.id, review.system)
        for change in rated.changes
        for review in change.reviews
        if review.system != "ground_truth"
    ]
    found = scored(rated)
    assert list(zip(found.changes, found.systems, strict=True)) == expected
    assert found.human.shape == (len(expected), 3)


def test_metric_is_the_scorers_own_score(rated: study.Study) -> None:
    found = scored(rated)
    scorer = Scorer(encoder="hashing", generator=study.recorded(rated), analyzers="none")
    row = found.rows[0]
    result = scorer.score(row.change.patch, row.review.text, language="python")
    expected = (result.conciseness, result.comprehensiveness, result.relevance)
    assert found.primary.values[0] == pytest.approx(expected)


def test_highest_cosines_are_those_of_the_result(rated: study.Study) -> None:
    row = scored(rated).rows[0]
    scorer = Scorer(encoder="hashing", generator=study.recorded(rated), analyzers="none")
    matrix = scorer.score(row.change.patch, row.review.text, language="python").similarity
    assert row.sentences == pytest.approx(matrix.max(axis=0))
    assert row.references == pytest.approx(matrix.max(axis=1))


def test_blank_review_keeps_its_references_and_scores_zero(rated: study.Study) -> None:
    found = scored(rated)
    index = found.systems.index("knn")
    assert len(found.rows[index].sentences) == 0
    assert len(found.rows[index].references) > 0
    assert all((metric.values[index] == 0).all() for metric in found.metrics[:3])
    assert found.blank == 3


def test_folds_join_to_what_one_scorer_measures(rated: study.Study) -> None:
    def of(system: str) -> measurements.Measurements:
        return scored(rated, includes=lambda _, review: review.system == system)

    whole = scored(rated)
    joined = measurements.join([of(one) for one in sorted(set(whole.systems))])
    assert [row.position for row in joined.rows] == [row.position for row in whole.rows]
    assert (joined.human == whole.human).all()
    assert [metric.name for metric in joined.metrics] == [m.name for m in whole.metrics]
    for mine, theirs in zip(joined.metrics, whole.metrics, strict=True):
        assert mine.values == pytest.approx(theirs.values)


def test_change_excluded_in_one_fold_and_scored_in_another_is_not_excluded() -> None:
    first = replace(
        helper.measured([helper.row("a", "s", position=(0, 0))], helper.metric([1.0])),
        excluded=("b", "c"),
    )
    second = helper.measured([helper.row("b", "s", position=(1, 0))], helper.metric([0.0]))
    assert measurements.join([second, first]).excluded == ("c",)
    assert measurements.join([second, first]).changes == ("a", "b")


def test_metrics_added_to_the_score_have_three_columns() -> None:
    found = helper.measured([helper.row("a", "s"), helper.row("b", "s")], helper.metric([1.0, 0.0]))
    one = measurements.Metric(name="chrF", values=np.array([0.2, 0.3]), variant="nc:6")
    three = measurements.Metric(name="judge", values=np.arange(6.0).reshape(2, 3))
    both = measurements.add_metrics(found, [one, three])
    assert [(m.name, m.variant) for m in both.metrics] == [
        ("m", ""),
        ("chrF", "nc:6"),
        ("judge", ""),
    ]
    assert both.metrics[2].values.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert both.metrics[1].values.tolist() == [[0.2] * 3, [0.3] * 3]


def test_metric_without_some_values_is_separated() -> None:
    rows = [helper.row(name, "s") for name in "abc"]
    partial = measurements.Metric(name="judge", values=np.array([4.0, 2.0]), rows=(0, 2))
    found = measurements.add_metrics(
        helper.measured(rows, helper.metric([1.0, 0.0, 0.5])),
        [partial, measurements.Metric(name="chrF", values=np.zeros(3))],
    )
    whole, part = measurements.split_by_rows(found)
    assert [metric.name for metric in whole.metrics] == ["m", "chrF"]
    assert whole.rows == found.rows
    assert part.changes == ("a", "c")
    assert part.metrics[0].values[:, 0].tolist() == [4, 2]


def test_scores_that_are_equal_but_for_rounding_tie() -> None:
    # The harmonic mean of each pair of shares is 4/5, as fractions.
    shares = [(1.0, 2 / 3), (3 / 4, 6 / 7), (4 / 5, 4 / 5)]
    means = [harmonic_mean(con, comp) for con, comp in shares]
    assert len(set(means)) > 1
    found = measurements.add_metrics(
        helper.measured([helper.row("a", "s")] * len(means), helper.metric(means, "m")),
        [measurements.Metric(name="x", values=np.array(means))],
    )
    assert set(found.metrics[1].values[:, 0]) == {0.8}


def test_tau_by_procedure_is_the_mean_over_the_best_systems_sentences() -> None:
    rows = [
        helper.row("a", "best", (1, 1, 5), sentences=(0.2, 0.4)),
        helper.row("b", "best", (1, 1, 3), sentences=(0.9,)),
        helper.row("b", "other", (5, 5, 3.5), sentences=(0.0,)),
        helper.row("c", "tied", (5, 5, 4), sentences=(0.0,)),
    ]
    found = helper.measured(rows, helper.metric(np.zeros(4)))
    assert found.tau_by_procedure == pytest.approx(0.5)
    blank = helper.row("a", "best", sentences=())
    assert replace(found, rows=(blank,)).tau_by_procedure is None


def test_references_are_counted_once_a_change() -> None:
    rows = [
        helper.row("a", "s", references=(0.1, 0.2, 0.3)),
        helper.row("a", "t", references=(0.1, 0.2, 0.3)),
        helper.row("b", "s", references=(0.1,)),
    ]
    assert helper.measured(rows, helper.metric(np.zeros(3))).references == 2.0


def test_cosines_are_named_by_what_the_matcher_does_with_them(rated: study.Study) -> None:
    cut = scored(rated)
    learned = Scorer(
        encoder="hashing", generator=study.recorded(rated), matcher=Published(0.3), analyzers="none"
    )
    uncut = measurements.measure(rated, learned, name="m")
    assert cut.metrics[1].name == "m without threshold"
    assert uncut.metrics[1].name == "mean of the highest cosines"
    assert uncut.metrics[1].values == pytest.approx(cut.metrics[1].values)


def test_hidden_sentence_gives_no_cosine_whatever_the_matcher(tmp_path: Path) -> None:
    class Keeping(Published):
        def match(self, cells: Cells) -> Judgement:
            return structs.replace(
                Published.match(self, cells), in_review=(True,) * len(cells.sentences)
            )

    def row(text: str) -> measurements.ScoredReview:
        rows = studies.rows()[:1]
        rows[0]["reviews"] = [rows[0]["reviews"][0] | {"system": "x", "text": text}]
        rated = study.read_study(studies.write(tmp_path / "s.jsonl", rows))
        scorer = Scorer(
            encoder="hashing",
            generator=study.recorded(rated),
            matcher=Keeping(0.3),
            analyzers="none",
        )
        return measurements.measure(rated, scorer, name="m").rows[0]

    plain, padded = row("Is 3 right?"), row("Is 3 right? <span hidden>The loop is gone.</span>")
    assert padded.sentences == pytest.approx(plain.sentences)
    assert padded.references == pytest.approx(plain.references)
