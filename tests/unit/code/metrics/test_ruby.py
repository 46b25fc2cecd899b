from __future__ import annotations

import pytest

from crscore.code import metrics
from crscore.code.metrics import ruby
from crscore.code.syntax_tree import syntax_tree
from crscore.syntax.grammars import languages_known
from tests.helpers.sources import FUNCTIONS

PRESET = "out-of-the-bleu"


def similarity(candidate: str, *references: str, language: str = "python", **options: str) -> float:
    """Score a candidate."""
    return metrics.make("ruby", **options).sentence(candidate, references, language=language)


@pytest.mark.parametrize("language", [language.name for language in languages_known()])
def test_same_code_scores_1_in_each_language(language: str) -> None:
    assert similarity(FUNCTIONS[language], FUNCTIONS[language], language=language) == 1
    assert similarity("] broken (", "] broken (", language=language) == 1


def test_graphs_by_hand() -> None:
    # f(): module, statement, call, name, its token, word and variable, arguments, 2 brackets: 10
    # nodes; 7 child edges, f ( ), a word and an occurrence: 11. Three labels change.
    assert similarity("f()", "g()") == pytest.approx(1 - 3 / 42)
    assert similarity("f()", "g()", preset=PRESET) == 0.929


def test_code_that_does_not_parse_is_compared_by_tokens() -> None:
    # Of f ( ` a b ` ) and f ( ` a ` ), 7 and 6 tokens, one is left out.
    assert similarity("f(`a b`)", "f('a')") == pytest.approx(1 - 1 / 7)


def test_quotation_marks_are_the_same_in_tokens() -> None:
    assert similarity("f(`a`", "f('a'") == 1


def test_large_code_is_compared_by_types_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruby, "MAX_PAIRS", 1)

    # Module, statement, call, name, arguments, and one name more.
    assert similarity("f()", "g(a)") == pytest.approx(1 - 1 / 11)


def test_fragments_parse_except_with_the_preset() -> None:
    code, reference = "with open(x) as f:", "with open(y) as f:"

    # Of 8 tokens one differs.
    assert similarity(code, reference, preset=PRESET) == round(1 - 1 / 8, 3)
    assert similarity(code, reference) > 1 - 1 / 8


def test_order_does_not_matter() -> None:
    first, second = "for x in y:\n    z += x", "print(max(x for x in y))"

    assert similarity(first, second) == similarity(second, first)


def test_best_reference_counts() -> None:
    assert similarity("f(a)", "g()", "f(a)", "f(b)") == 1


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [("", "a", 0), ("a", " \n", 0), (" ", "", 1), ("# a", "# a", 1)],
)
def test_empty_side(candidate: str, reference: str, expected: float) -> None:
    assert similarity(candidate, reference) == expected


def test_code_without_a_tree_is_compared_by_tokens() -> None:
    long = "a + " * 20_000 + "a"

    assert syntax_tree(long, "python") is None
    assert similarity(long, long + " + b") == pytest.approx(1 - 2 / 40_003)
