from __future__ import annotations

import sys

import pytest

from crscore.code import metrics
from crscore.code.metrics import measurement
from crscore.code.metrics.measurement import measure
from crscore.code.samples import Sample
from crscore.errors import ConfigError, DependencyError, InputError, UnknownPluginError

SAMPLES = [Sample(candidate="a + b", references=("a - b",), language="python")]


@pytest.fixture
def no_rapidfuzz(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse the import, as on a machine without the extra."""
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)


def test_scores_are_those_of_the_metric() -> None:
    (measurement,) = measure(SAMPLES, ["chrf"])[0]

    score = metrics.make("chrf").sentence("a + b", ["a - b"])
    assert measurement.corpus_score == score
    assert measurement.sentence_scores == [score]


def test_preset_reaches_the_metrics_that_have_one() -> None:
    bleu, edit = measure(SAMPLES, ["bleu", "edit"], preset="out-of-the-bleu")[0]

    assert "round:3" in bleu.metric.identity
    assert edit.metric.identity == "edit"


@pytest.mark.usefixtures("no_rapidfuzz")
def test_named_metric_without_its_package_is_an_error() -> None:
    with pytest.raises(DependencyError, match=r"pip install 'crscore\[code\]'"):
        measure(SAMPLES, ["edit"])


@pytest.mark.usefixtures("no_rapidfuzz")
def test_unnamed_metric_without_its_package_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "names", lambda: ("edit", "bleu"))
    measurements, skipped = measure(SAMPLES)

    assert [measurement.name for measurement in measurements] == ["bleu"]
    assert skipped == {
        "edit": "rapidfuzz is not installed; install it with: pip install 'crscore[code]'"
    }


def test_metric_that_cannot_score_the_samples_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    long = [Sample(candidate="x" * 200_001, references=("y",))]
    monkeypatch.setattr(measurement, "names", lambda: ("edit", "bleu"))
    measurements, skipped = measure(long)

    assert [measurement.name for measurement in measurements] == ["bleu"]
    assert "edit cannot score these samples: code of 200,001 characters" in skipped["edit"]
    with pytest.raises(InputError, match="edit cannot score"):
        measure(long, ["edit"])


def test_unknown_names_are_errors() -> None:
    with pytest.raises(UnknownPluginError):
        measure(SAMPLES, ["blue"])
    with pytest.raises(ConfigError):
        measure(SAMPLES, ["bleu"], preset="blue")
