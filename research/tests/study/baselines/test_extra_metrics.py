from pathlib import Path

import pytest
import sacrebleu

from crscore.code import libraries
from crscore.encoders import hashing, minilm
from crscore.errors import DependencyError
from crscore_lab.study.baselines import published
from crscore_lab.study.caches import VectorCache
from crscore_lab.study.measures.measurements import Measurements
from tests.helpers import findings as helper
from tests.helpers import study as studies


def measured(folder: Path, rows: list[dict] | None = None) -> Measurements:
    rows = studies.rows() if rows is None else rows
    return helper.made_with_values(folder, rows, resamples=0)[1]


def test_baselines_compare_each_review_with_the_human_comment(tmp_path: Path) -> None:
    found = measured(tmp_path)
    made = published.make_baselines()(found, hashing.Hashing())
    (values,) = [metric.values for metric in made.metrics if metric.name == "chrF++"]
    known = [
        sacrebleu.sentence_chrf(row.review.text, [studies.CLAIMS[row.change.id][0]], word_order=2)
        for row in found.rows
    ]
    assert values == pytest.approx([one.score / 100 for one in known])
    assert made.notes == ()


def test_run_takes_the_baselines(tmp_path: Path) -> None:
    _, found = helper.made_with_values(tmp_path, extra=(published.make_baselines(),), resamples=0)
    metrics = {metric.name: metric for metric in found.metrics}
    assert metrics["METEOR"].values.shape == (15, 3)
    assert "nltk" in metrics["METEOR"].variant


def test_encoder_without_tokens_leaves_bertscore_to_the_default_one(tmp_path: Path) -> None:
    found = measured(tmp_path)
    scores = [
        {one.name: one for one in published.make_baselines()(found, encoder).metrics}["BERTScore"]
        for encoder in (hashing.Hashing(), minilm.MiniLM(), VectorCache(hashing.Hashing()))
    ]
    assert len({one.variant for one in scores}) == 1
    assert scores[0].values.tolist() == scores[1].values.tolist() == scores[2].values.tolist()


def test_without_the_weights_bertscore_is_left_out(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(minilm, "missing", lambda: "weights not here")
    made = published.make_baselines()(measured(tmp_path), hashing.Hashing())
    assert "BERTScore" not in {one.name for one in made.metrics}
    assert made.notes == ("BERTScore is left out: minilm needs weights not here",)


def test_missing_library_is_reported_when_baselines_are_asked_for(monkeypatch) -> None:
    def gone(package: str) -> str:
        raise libraries.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(libraries.metadata, "version", gone)
    with pytest.raises(DependencyError, match=r"crscore\[validate\]"):
        published.make_baselines()
