import pytest

from crscore.static_analysis.pyscent.rules import Rule, merge_sizes, smell
from crscore.static_analysis.pyscent.source import Span

F = Span(3, 90)


def of_f(*parts: tuple[Rule, int]):
    return merge_sizes(smell(rule, F, "`f`", measure) for rule, measure in parts)


def test_three_measures_are_one_finding() -> None:
    (finding,) = of_f(("complex-code", 21), ("long-method", 63), ("long-branch", 19))
    assert finding.text == (
        "`f` has 63 statements, 19 branches and 21 independent paths; "
        "it is hard to follow and to test, so split it up."
    )
    assert (finding.line, finding.end_line) == F


@pytest.mark.parametrize(
    ("statements", "branches", "paths", "rule", "measure"),
    [
        (101, 24, 20, "long-method", 101),
        (100, 25, 20, "long-branch", 25),
        (100, 24, 21, "complex-code", 21),
        (100, 24, 20, "long-method", 100),  # all are twice the limit
        (51, 24, 20, "long-branch", 24),
    ],
)
def test_the_rule_is_that_of_the_worst(statements, branches, paths, rule, measure) -> None:
    (row,) = of_f(("complex-code", paths), ("long-branch", branches), ("long-method", statements))
    assert (row.rule.id, row.measure) == (rule, measure)


def test_two_measures() -> None:
    (finding,) = of_f(("long-method", 51), ("complex-code", 11))
    assert finding.extent == "51 statements and 11 independent paths"


def test_the_worst_level_stays() -> None:
    paths = smell("complex-code", F, "`f`", 21, level="warning")
    (finding,) = merge_sizes([smell("long-method", F, "`f`", 500), paths])
    assert (finding.rule.id, finding.level) == ("long-method", "warning")
    assert [one.level for one in of_f(("long-method", 51), ("long-branch", 13))] == ["note"]


def test_one_measure_stays_as_it_is() -> None:
    alone = smell("long-branch", F, "`f`", 13)
    assert merge_sizes([alone]) == [alone]


def test_other_functions_and_other_rules_stay_apart() -> None:
    parts = [
        smell("long-method", F, "`f`", 51),
        smell("long-branch", Span(100, 200), "`f`", 13),
        smell("long-parameter-list", F, "`f`", 6),
    ]
    assert sorted(row.rule.id for row in merge_sizes(parts)) == sorted(row.rule.id for row in parts)
