"""Properties that all lexical metrics share, on any text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore import plugins
from crscore.code import metrics
from crscore.code.samples import Sample
from tests.helpers.corpus import corpus_score

NAMES = ("bleu", "chrf", "crystalbleu", "edit", "meteor", "rouge_l")
# Code-like pieces, so that sides overlap, and any text.
TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(
            ["foo", "barBaz", "(", ")", " ", "\n", "=", "+", "'x'", "1.5", "é", "\ud800"]
        )
    ).map("".join),
)
SAMPLES = st.lists(
    st.builds(
        Sample, candidate=TEXTS, references=st.lists(TEXTS, min_size=1, max_size=3).map(tuple)
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("name", NAMES)
@given(
    preset=st.sampled_from([{}, {"preset": "out-of-the-bleu", "synonyms": False}]), samples=SAMPLES
)
def test_scores_of_any_text_are_in_range(
    name: str, preset: dict[str, object], samples: list[Sample]
) -> None:
    metric = plugins.create("metrics", name, offered=preset)
    statistics = metric.statistics(samples)
    scores = [*metric.sentence_scores(statistics), corpus_score(metric, samples)]

    assert len(statistics) == len(samples)
    assert np.isfinite(scores).all()
    assert min(scores) >= 0
    assert max(scores) <= 1 + 1e-12


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"meteor"}))
@given(text=TEXTS, other=TEXTS)
def test_candidate_that_is_a_reference_scores_1(name: str, text: str, other: str) -> None:
    assert metrics.make(name).sentence(text, [other, text]) == pytest.approx(1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("candidate", "reference"), [("", "a = b"), ("a = b", " \n"), ("", "\t")])
def test_empty_code_equals_only_empty_code(name: str, candidate: str, reference: str) -> None:
    assert metrics.make(name).sentence(candidate, [reference]) == float(
        not candidate.strip() and not reference.strip()
    )


@pytest.mark.parametrize("name", NAMES)
def test_corpus_may_contain_empty_code(name: str) -> None:
    samples = [Sample(candidate="", references=("a",)), Sample(candidate="", references=("",))]

    assert 0 <= corpus_score(metrics.make(name), samples) <= 1
