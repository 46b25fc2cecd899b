from __future__ import annotations

import msgspec
import pytest

from crscore.code.metrics.measurement import make_metrics
from crscore.code.samples import Sample
from crscore.code.scores import CodeScores, render_text, score_samples
from crscore.errors import ConfigError, UnknownPluginError

SAME = Sample(candidate="a = 1", references=("a = 1",), language="python", id="same")
OTHER = Sample(candidate="a = 1", references=("b = 2", "c"), language="python", id="other")


def test_corpus_and_samples_are_scored():
    scores = score_samples([SAME, OTHER], ["edit"])
    (edit,) = scores.metrics
    assert (edit.score, edit.samples) == (0.8, (1.0, 0.6))
    assert scores.ids == ("same", "other")


def test_document_can_be_read_back():
    scores = score_samples([SAME], ["edit"])
    assert msgspec.json.decode(msgspec.json.encode(scores), type=CodeScores) == scores


def test_text_names_samples_and_metrics():
    text = render_text(score_samples([SAME, OTHER], ["edit"]))
    assert "edit 80.00 100.0 60.0" in " ".join(text.split())
    assert "same" in text


def test_error_of_an_unknown_metric_lists_the_known_metrics():
    with pytest.raises(UnknownPluginError, match="crystalbleu"):
        make_metrics(["bleurt"])


def test_unknown_option_is_refused():
    with pytest.raises(ConfigError, match="colour"):
        make_metrics(["bleu:colour=red"])
