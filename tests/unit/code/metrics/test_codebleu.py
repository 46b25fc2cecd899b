from __future__ import annotations

import math
import os
import subprocess
import sys

import pytest

from crscore.code import metrics
from crscore.code.metrics.codebleu import compute_parts
from crscore.code.samples import Sample
from crscore.code.syntax_tree import MAX_BYTES
from crscore.errors import InputError
from crscore.syntax.grammars import languages_known
from tests.helpers.sources import FUNCTIONS

PRESET = "out-of-the-bleu"


@pytest.mark.parametrize("language", [language.name for language in languages_known()])
def test_same_code_scores_1_in_each_language(language: str) -> None:
    metric = metrics.make("codebleu")

    assert metric.sentence(FUNCTIONS[language], [FUNCTIONS[language]], language=language) == 1
    assert metric.sentence("] broken (", ["] broken ("], language=language) == 1


@pytest.mark.parametrize("language", sorted(FUNCTIONS))
def test_other_names_change_only_the_words(language: str) -> None:
    renamed = FUNCTIONS[language].replace("c", "other").replace("funother", "func")
    renamed = renamed.replace("otheronst", "const")
    parts = compute_parts(renamed, FUNCTIONS[language], language)

    assert parts.words < 1
    assert (parts.syntax, parts.flow) == (1, 1)


def test_keywords_count_five_times() -> None:
    # The example of "Out of the BLEU": `for` and `in` weigh 5; `for` and `x` are found.
    assert compute_parts("for x of", "for x in lst", "python").words == pytest.approx(
        math.exp(-1 / 3) * 6 / 12
    )


def test_parts_by_hand() -> None:
    # Words f a, f b: one of 2 is common; one bigram that is not, smoothed to 1/2. All 8 sub-trees
    # are of the same types. No name is used twice or assigned.
    parts = compute_parts("f(a)", "f(b)", "python")

    assert parts == pytest.approx((0.5, 0.5, 1, None))
    assert metrics.make("codebleu").sentence("f(a)", ["f(b)"], language="python") == pytest.approx(
        2 / 3
    )


def test_data_flow_by_hand() -> None:
    # The reference: a and x are used again, a gets x, b gets a and x. The candidate lacks both of
    # the last x.
    assert compute_parts("a = x\nb = a", "a = x\nb = a + x", "python").flow == pytest.approx(3 / 5)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        # Tokens f ( a ) and the end: 4 of 5, no common 4-gram, all 8 sub-trees, no data flow.
        ("f(a)", "f(b)", (0.1 * 0 + 0.1 * 4 / 5 + 0.4 * 1) / 0.6),
        # f ( ` a ` ) and the end beside f ( 'a' ): the grammar takes both as strings, Python does
        # not; the data flow counts as 0 though the reference has none.
        ("f(`a`)", "f('a')", 0.1 * 4 / 5 + 0.4 * 1),
        # `keys` weighs 5: 1 + 1 + 1 + 1 + 1 of 10, no common 4-gram; the same sub-trees.
        ("d.pip()", "d.keys()", (0.1 * 5 / 10 + 0.4 * 1) / 0.6),
    ],
)
def test_preset_by_hand(candidate: str, reference: str, expected: float) -> None:
    metric = metrics.make("codebleu", preset=PRESET)

    assert metric.sentence(candidate, [reference], language="python") == round(expected, 3)


def test_text_that_python_cannot_split_has_the_tokens_of_tranx() -> None:
    # f ( ` a ` , b beside f ( 'a' ) and the end.
    assert compute_parts("f('a', b", "f('a')", "python", "out-of-the-bleu").words == 2 / 5


def test_best_reference_counts() -> None:
    metric = metrics.make("codebleu")

    assert metric.sentence("f(a)", ["g()", "f(a)", "f(b)"], language="python") == 1


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"), [("", "a", 0), ("a", " \n", 0), (" ", "", 1)]
)
def test_empty_side(candidate: str, reference: str, expected: float) -> None:
    metric = metrics.make("codebleu")

    assert metric.sentence(candidate, [reference], language="python") == expected


def test_long_code_has_no_syntax_part() -> None:
    parts = compute_parts("a + " * MAX_BYTES, "a + b", "python")

    assert parts.syntax is None
    assert parts.flow is None
    assert parts.words == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", ["codebleu", "ruby"])
@pytest.mark.parametrize("language", ["klingon", None])
def test_language_without_grammar_is_refused(name: str, language: str | None) -> None:
    metric = metrics.make(name)
    sample = Sample(candidate="a", references=("b",), language=language)

    assert "no grammar for" in (metric.find_obstacle([sample]) or "")
    with pytest.raises(InputError, match="no grammar for"):
        metric.statistics([sample])


@pytest.mark.parametrize("name", ["codebleu", "ruby"])
def test_code_that_would_take_minutes_is_refused(name: str) -> None:
    with pytest.raises(
        InputError, match="cannot score these samples: code of 1,000,000 characters"
    ):
        metrics.make(name).sentence("(" * 1_000_000, ["a"], language="python")


def test_scores_do_not_depend_on_the_process() -> None:
    sides = ("for a in b: c(a)", ["[c(b) for b in a]"])
    program = (
        "from crscore.code import metrics\n"
        "for name in ('codebleu', 'ruby'):\n"
        f"    print(metrics.make(name).sentence(*{sides!r}, language='python'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    here = [metrics.make(name).sentence(*sides, language="python") for name in ("codebleu", "ruby")]
    assert done.stdout.split() == [str(score) for score in here]
