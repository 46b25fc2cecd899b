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


def test_risks_are_the_published_ones() -> None:
    # CRScore paper, Table 6.
    assert [rank_of(n).risk for n in (5, 10, 20, 30, 40, 900)] == [
        "low risk", "low risk", "moderate risk", "more than moderate risk", "high risk",
        "very high risk",
    ]  # fmt: skip


def test_rank_is_radons() -> None:
    complexities = range(1, 60)
    assert [rank_of(n).letter for n in complexities] == [cc_rank(n) for n in complexities]
