import numpy as np

from crscore.study.attacks.injection import INJECTIONS, injections
from crscore.study.attacks.material import Wording
from crscore.study.attacks.phrases import POOR
from tests.unit.study.attacks.materials import HONEST, material


def made(seed: int = 0, **fields) -> dict[str, str]:
    return dict(injections(material(**fields), np.random.default_rng(seed)))


def test_alone_is_an_instruction() -> None:
    assert made()["alone"] in INJECTIONS.test
    assert {made(seed)["alone"] for seed in range(200)} == set(INJECTIONS.test)


def test_poor_review_comes_first() -> None:
    poor, instruction = made()["after-poor-several"].split("\n\n")[:2]
    assert poor in POOR.test
    assert instruction in INJECTIONS.test


def test_honest_text_stays_whole() -> None:
    found = made()
    assert found["appended"].startswith(HONEST + "\n\n")
    assert found["prefixed"].endswith("\n\n" + HONEST)


def test_without_an_honest_text_the_rest_remains() -> None:
    assert set(made(honest="")) == {
        "alone",
        "alone-several",
        "after-poor",
        "after-poor-several",
        "after-poor-in-fence",
        "json",
    }


def test_training_has_its_own_instructions() -> None:
    found = made(wording=Wording.TRAINING)
    assert found["alone"] in INJECTIONS.training
    assert "json" not in found
