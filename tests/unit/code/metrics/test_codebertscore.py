from __future__ import annotations

import numpy as np
import pytest

from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.encoders.minilm import MAX_TOKENS
from crscore.errors import ConfigError, InputError

REFERENCE = "shutil.rmtree(folder)"


def test_same_meaning_is_nearer_than_same_letters() -> None:
    metric = metrics.make("codebertscore")
    # The example of the paper's figure 7.
    near = metric.sentence("os.rmdir(folder)", [REFERENCE])

    assert metric.sentence("(folder)", [REFERENCE]) < near < 1
    assert metric.sentence(REFERENCE, [REFERENCE]) == pytest.approx(1, abs=1e-6)


def test_scores_do_not_depend_on_other_samples_or_the_order() -> None:
    codes = ["x", "for i in range(10): print(i)", "", "?", "def f(): " + "x += 1;" * 20]
    samples = [
        Sample(candidate=candidate, references=(reference,))
        for candidate in codes
        for reference in codes[::2]
    ]
    metric = metrics.make("codebertscore", value="f3")

    together = metric.sentence_scores(metric.statistics(samples[::-1]))[::-1]
    alone = [metric.sentence(sample.candidate, sample.references) for sample in samples]

    assert np.allclose(together, alone, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"), [("", "x", 0), ("x", " ", 0), ("", "\n", 1)]
)
def test_empty_sides(candidate: str, reference: str, expected: float) -> None:
    assert metrics.make("codebertscore").sentence(candidate, [reference]) == expected


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [("\U0001f600", "\U0001f389"), ("x = '变量'", "x = '函数'"), ("变量", "函数名字")],
)
def test_unknown_words_are_similar_only_to_themselves(candidate: str, reference: str) -> None:
    metric = metrics.make("codebertscore")

    assert metric.sentence(candidate, [reference]) < 0.8
    assert metric.sentence(candidate, [candidate]) == pytest.approx(1, abs=1e-6)
    assert metric.sentence(f"{candidate} {candidate}", [candidate]) > 0.8


def test_best_of_several_references() -> None:
    metric = metrics.make("codebertscore")
    scores = [metric.sentence("a + b", [reference]) for reference in ("c", "b + a")]

    assert metric.sentence("a + b", ["c", "b + a"]) == pytest.approx(max(scores), abs=1e-6)


def test_code_after_the_first_window_counts() -> None:
    code = "value = value + 1\n" * (MAX_TOKENS // 4)
    metric = metrics.make("codebertscore", value="precision")

    assert metric.sentence(code, [code]) == pytest.approx(1, abs=1e-6)
    assert metric.sentence(code + "raise SystemError", [code]) < 1


def test_words_that_differ_only_after_many_letters_differ() -> None:
    long = "x" * 200
    metric = metrics.make("codebertscore")

    assert metric.sentence(long + "y" * 30, [long + "z" * 30]) < 0.999


def test_context_is_not_read() -> None:
    metric = metrics.make("codebertscore")
    plain, read = (metric.sentence("run()", ["walk()"], context=text) for text in ("", "go home"))

    assert plain == read


def test_code_that_would_take_minutes_is_refused() -> None:
    metric = metrics.make("codebertscore")
    sample = Sample(candidate="x", references=("y" * 30_001,))

    assert "30,001" in (metric.find_obstacle([sample]) or "")
    with pytest.raises(InputError, match="30,001"):
        metric.statistics([sample])


def test_surrogates_are_read() -> None:
    assert 0 <= metrics.make("codebertscore").sentence("x = '\ud800'", ["x = 'é'"]) <= 1


def test_identity_names_what_changes_scores() -> None:
    assert metrics.make("codebertscore").identity == (
        "codebertscore[f1,punctuation:operators,unknown:apart,*=minilm:all-MiniLM-L6-v2@53aa5117]"
    )


def test_unknown_value_is_refused() -> None:
    with pytest.raises(ConfigError):
        metrics.make("codebertscore", value="f2")
