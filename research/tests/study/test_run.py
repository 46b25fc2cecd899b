import sys
from pathlib import Path

import numpy as np
import pytest

from crscore.encoders import hashing
from crscore.errors import ConfigError, DependencyError, InputError, UnknownPluginError
from crscore.settings import override_settings
from crscore_lab.study import run
from crscore_lab.study.data import study
from crscore_lab.study.measures.measurements import ExtraMetrics, Measurements, Metric
from tests.helpers import findings as helper
from tests.helpers import study as studies


def test_run_finds_every_part_of_the_answer(tmp_path: Path) -> None:
    found = helper.made(tmp_path)
    assert found.metric == "published/hashing/recorded"
    assert {row.metric for row in found.correlations} == {m.name for m in found.metrics}
    assert found.addressed is not None
    assert found.addressed.n == 18  # three reviews of each change address a claim
    assert len({row.system for row in found.systems.means}) == 5
    assert [row.language for row in found.claims] == ["python", "javascript", "all"]
    assert found.agreement
    assert found.attacks is None


def test_study_without_links_has_no_classifier(tmp_path: Path) -> None:
    assert helper.made(tmp_path, studies.rows()).addressed is None


def test_settings_of_the_run_are_kept(tmp_path: Path) -> None:
    found = helper.made(tmp_path, resamples=7, seed=3)
    assert (found.threshold, found.resamples, found.seed) == (0.3, 7, 3)
    assert "encoder:hashing" in found.signature


def test_extra_metrics_see_the_rows_and_are_beside_the_score(tmp_path: Path) -> None:
    def lengths(measured: Measurements, encoder: object) -> ExtraMetrics:
        assert isinstance(encoder, hashing.Hashing)  # the real one, which may have more to give
        values = np.array([float(len(row.review.text)) for row in measured.rows])
        return ExtraMetrics((Metric(name="characters", values=values),), ("no reference: js:1",))

    found, measured = helper.made_with_values(
        tmp_path, extra=(lengths, lambda *_: ExtraMetrics((), ("and more",)))
    )
    assert found.metrics[-1].name == measured.metrics[-1].name == "characters"
    assert measured.metrics[-1].values[0].tolist() == [float(len(measured.rows[0].review.text))] * 3
    assert found.notes == ("no reference: js:1", "and more")
    assert {row.metric for row in found.pairs} >= {"characters"}


def test_other_claims_are_named_in_the_metric(tmp_path: Path) -> None:
    found = helper.made(tmp_path, claims="structural")
    assert found.metric == "published/hashing/structural"
    assert "claims:structural" in found.signature


def test_unknown_claims_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownPluginError):
        helper.made(tmp_path, claims="psychic")


def test_encoder_without_a_threshold_gets_the_papers(tmp_path: Path) -> None:
    settings = override_settings(helper.SETTINGS, {"encoder": "hashing:64", "threshold": None})
    found = helper.made(tmp_path, settings=settings)
    assert found.threshold == pytest.approx(found.tau_by_procedure, abs=1e-4)
    assert found.addressed is not None
    assert found.addressed.threshold == found.threshold


def test_encoder_without_a_threshold_needs_sentences_of_the_best_system(tmp_path: Path) -> None:
    rows = studies.rows()
    for row in rows:
        row["reviews"] = [one for one in row["reviews"] if one["system"] == "knn"]
    settings = override_settings(helper.SETTINGS, {"encoder": "hashing:64", "threshold": None})
    with pytest.raises(ConfigError, match="none is known for hashing:64"):
        helper.made(tmp_path, rows, settings=settings)


def test_study_without_a_claim_cannot_be_run(tmp_path: Path) -> None:
    rows = [row | {"llm_claims": [], "pseudo_references": []} for row in studies.rows()]
    with pytest.raises(InputError, match="no review of this study can be scored"):
        helper.made(tmp_path, rows)


def test_missing_scipy_is_reported_before_the_work(tmp_path: Path, monkeypatch) -> None:
    path = studies.write(tmp_path / "study.jsonl")
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    monkeypatch.setattr(run.measurements, "measure", lambda *_, **__: pytest.fail("worked"))
    with pytest.raises(DependencyError, match="pip install scipy"):
        run.run(study.read_study(path), helper.SETTINGS, resamples=0, seed=0)
