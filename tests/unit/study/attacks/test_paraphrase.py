import numpy as np
import pytest

from crscore.study.attacks.material import Wording
from crscore.study.attacks.paraphrase import paraphrased


def all_of(claim: str, wording: Wording = Wording.TEST) -> set[str]:
    return {paraphrased(claim, wording, np.random.default_rng(seed)) for seed in range(60)}


def test_passive_becomes_active() -> None:
    found = all_of("A `retry` flag has been added to the `connect` call.")
    assert "The patch adds a `retry` flag to the `connect` call." in found


def test_active_becomes_passive() -> None:
    found = all_of("The change removes the old cache from `load`.")
    assert "The old cache is removed from `load`." in found


def test_passive_of_several_is_plural() -> None:
    assert "2 imports are changed." in all_of("The commit changes 2 imports.")


def test_leading_clause_moves_to_the_end() -> None:
    found = all_of("In the loop, a break stands first.")
    assert "A break stands first in the loop." in found


def test_synonyms_differ_between_the_halves() -> None:
    claim = "The field `a` has been renamed to `b`."
    assert any("is now called" in text for text in all_of(claim))
    assert not any("is now called" in text for text in all_of(claim, Wording.TRAINING))


@pytest.mark.parametrize("code", ["`new Foo(now)`", "'new'", '"function"'])
def test_code_stays_as_it_is(code: str) -> None:
    claim = f"The new function of the method now returns {code}."
    assert all(code in text for text in all_of(claim))


def test_capital_letter_inside_stays() -> None:
    found = all_of("It was off. Previously it was on.")
    assert "It was off. Before the patch it was on." in found


def test_claim_without_a_rule_stays() -> None:
    assert all_of("Nothing here.") == {"Nothing here."}


def test_same_randomness_says_the_same() -> None:
    claim = "A new parameter has been added to the method."
    one, other = (paraphrased(claim, Wording.TEST, np.random.default_rng(4)) for _ in range(2))
    assert one == other
