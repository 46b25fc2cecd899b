import pytest
from radon.complexity import cc_rank

from crscore.static_analysis.pyscent.rules import BY_PYLINT, RULES, rank_of


def test_limits_are_the_published_ones() -> None:
    # CRScore paper, Table 14: the last value that is no smell (for cohesion the first).
    assert {rule.id: rule.limit for rule in RULES.values()} == {
        "long-method": 50,
        "long-parameter-list": 5,
        "long-branch": 12,
        "many-attributes": 7,
        "many-methods": 20,
        "shotgun-surgery": 5,
        "low-cohesion": 30,
        "complex-code": 10,
        "long-lambda": 60,
        "long-comprehension": 72,
        "useless-exception": 0,
    }


def test_pylint_is_asked_for_five_messages() -> None:
    assert set(BY_PYLINT) == {"R0915", "R0913", "R0912", "R0902", "R0904"}


@pytest.mark.parametrize(
    ("complexity", "letter", "risk"),
    [
        # CRScore paper, Table 6.
        (1, "A", "low risk"),
        (5, "A", "low risk"),
        (6, "B", "low risk"),
        (10, "B", "low risk"),
        (11, "C", "moderate risk"),
        (20, "C", "moderate risk"),
        (21, "D", "more than moderate risk"),
        (30, "D", "more than moderate risk"),
        (31, "E", "high risk"),
        (40, "E", "high risk"),
        (41, "F", "very high risk"),
        (900, "F", "very high risk"),
    ],
)
def test_rank_at_the_edges_of_the_table(complexity: int, letter: str, risk: str) -> None:
    row = rank_of(complexity)
    assert (row.letter, row.risk) == (letter, risk)


@pytest.mark.parametrize("complexity", range(1, 60))
def test_rank_is_radons(complexity: int) -> None:
    assert rank_of(complexity).letter == cc_rank(complexity)
