import numpy as np

from crscore.study.attacks.echo import echoes
from crscore.study.attacks.material import Wording, units
from tests.unit.study.attacks.materials import RECORDED, STRUCTURAL, material


def echoed(seed: int = 0, **fields) -> dict[str, str]:
    return dict(echoes(material(**fields), np.random.default_rng(seed)))


def test_echo_as_given() -> None:
    assert echoed()["recorded-as-given"] == "\n".join(RECORDED)
    assert echoed()["structural-as-given"] == "\n".join(STRUCTURAL)


def test_paragraph_reads_as_the_same_sentences() -> None:
    assert units(echoed()["recorded-paragraph"]) == RECORDED
    assert units(echoed()["recorded-bullets"]) == RECORDED


def test_shuffled_has_another_order() -> None:
    orders = {units(echoed(seed)["recorded-shuffled"]) for seed in range(30)}
    assert len(orders) == 6
    assert all(sorted(order) == sorted(RECORDED) for order in orders)


def test_few_is_a_third() -> None:
    assert units(echoed()["recorded-few"])[0] in RECORDED
    assert len(units(echoed()["recorded-few"])) == 1


def test_noticed_puts_a_frame_around_each() -> None:
    text = echoed()["recorded-noticed"]
    assert text.count("I notice that the ") == 2
    assert text.count("I notice that this ") == 1


def test_numbered_has_a_lead_and_all_items() -> None:
    lead, _, *items = echoed()["recorded-numbered"].split("\n")
    assert lead.endswith(":")
    assert {item.split(". ", 1)[1] for item in items} == set(RECORDED)


def test_set_that_is_empty_is_left_out() -> None:
    assert all(name.startswith("structural-") for name in echoed(recorded=()))
    assert echoed(recorded=(), structural=()) == {}


def test_training_lacks_the_unseen_forms() -> None:
    assert "recorded-lower-case" in echoed()
    assert "recorded-lower-case" not in echoed(wording=Wording.TRAINING)
