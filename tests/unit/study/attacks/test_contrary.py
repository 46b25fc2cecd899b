import numpy as np
import pytest

from crscore.study.attacks.contrary import disguises, negations, wrong_changes
from crscore.study.attacks.material import Wording
from tests.unit.study.attacks.materials import material

STRANGERS = ("The cache is never emptied.", "Why does `flush()` ignore the errorCode here?")


def made(maker, seed: int = 0, **fields) -> dict[str, str]:
    return dict(maker(material(strangers=STRANGERS, **fields), np.random.default_rng(seed)))


def denied(text: str) -> str:
    return made(negations, honest=text)["denied-verbs"]


def test_wrong_change_is_another_review() -> None:
    found = {made(wrong_changes, seed)["as-is"] for seed in range(20)}
    assert found == set(STRANGERS)


def test_long_one_is_the_longest() -> None:
    assert made(wrong_changes)["long"] == STRANGERS[1]


def test_single_stranger_is_not_merged() -> None:
    one = material(strangers=STRANGERS[:1])
    assert "two-merged" not in dict(wrong_changes(one, np.random.default_rng(0)))


def test_no_strangers_give_nothing() -> None:
    none = material(strangers=())
    assert wrong_changes(none, np.random.default_rng(0)) == ()
    assert disguises(none, np.random.default_rng(0)) == ()


def test_disguise_names_this_change() -> None:
    for seed in range(10):
        found = made(disguises, seed, names=("a_name",))
        assert found["names-first"].startswith("`a_name`: ")
        assert found["names-last"].endswith(" This concerns `a_name`.")


def test_names_are_swapped_where_there_are_some() -> None:
    found = {made(disguises, seed, names=("x",)).get("names-swapped") for seed in range(20)}
    assert found == {None, "Why does `x` ignore the `x` here?"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The limit is too high.", "The limit is not too high."),
        ("It is not safe.", "It is safe."),
        ("It isn't safe.", "It is safe."),
        ("You cannot do that.", "You can do that."),
        ("You can do that.", "You cannot do that."),
        ("You should not do that.", "You should do that."),
        ("This should stay.", "This should not stay."),
        ("This makes it slow.", "This does not make it slow."),
        ("Why here?", "It would be wrong to say that why here?"),
    ],
)
def test_sentence_is_denied(text: str, expected: str) -> None:
    found = {
        dict(negations(material(honest=text), np.random.default_rng(seed)))["denied-verbs"]
        for seed in range(20)
    }
    assert expected in found


def test_denied_once_leaves_the_rest() -> None:
    found = made(negations, honest="It is slow. It is old.")
    assert found["denied-once"] == "It is not slow. It is old."
    assert found["denied-verbs"] == "It is not slow. It is not old."


def test_opposites_replace_words_both_ways() -> None:
    found = made(negations, honest="Adding this is better. The new way is worse.")
    assert found["opposites"] == "Removing this is worse. The old way is better."


def test_framed_denies_every_sentence() -> None:
    text = made(negations, honest="The limit is high. It fails.")["framed"]
    assert text.count(" the limit is high.") == 1
    assert text.count(" it fails.") == 1


def test_nothing_to_deny_gives_nothing() -> None:
    assert made(negations, honest="") == {}


def test_training_lacks_the_unseen_forms() -> None:
    assert "opposites" not in made(negations, wording=Wording.TRAINING)
    assert "two-merged" not in made(wrong_changes, wording=Wording.TRAINING)
