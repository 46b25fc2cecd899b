import dataclasses
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from crscore import plugins
from crscore_lab.study.attacks.attack_set import (
    Attack,
    AttackKind,
    honest_reviews,
    make_attacks,
    make_variants,
)
from crscore_lab.study.attacks.material import Wording, make_material
from crscore_lab.study.data import study
from tests.helpers import study as helper

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> study.Study:
    folder: Path = tmp_path_factory.mktemp("study")
    return study.read_study(helper.write(folder / "s.jsonl"))


@pytest.fixture(scope="module")
def made(small: study.Study) -> tuple[Attack, ...]:
    return make_attacks(small, seed=0)


def test_honest_reviews_are_those_rated_4_or_5(small: study.Study) -> None:
    found = honest_reviews(small)
    systems = {(change.id, review.system) for change, review in found}
    wanted = ("gpt3.5", "llama3", "ground_truth")
    assert systems == {(change, system) for change in helper.CLAIMS for system in wanted}


def test_junk_system_rated_high_is_not_honest(small: study.Study) -> None:
    first = small.changes[0]
    best = dict.fromkeys(study.DIMENSIONS, 5.0)
    loud = tuple(msgspec.structs.replace(review, **best) for review in first.reviews)
    # Nine changes on which people find it worthless: 1.4 on average.
    others = (msgspec.structs.replace(small.changes[1], name=f"c{n}") for n in range(9))
    louder = msgspec.structs.replace(first, reviews=loud)
    raised = dataclasses.replace(small, changes=(louder, *others))
    found = [it.system for change, it in honest_reviews(raised) if change.id == first.id]
    assert found == ["gpt3.5", "llama3", "codereviewer", "ground_truth"]


def test_every_honest_review_meets_every_kind(made: tuple[Attack, ...]) -> None:
    pairs = {(one.change, one.system) for one in made}
    assert len(pairs) == 9
    for change, system in pairs:
        kinds = {one.kind for one in made if (one.change, one.system) == (change, system)}
        # js:1 is the only JavaScript change, so it borrows reviews of the Python ones.
        assert kinds == set(AttackKind)


def test_no_more_than_drawn_of_a_kind(small: study.Study) -> None:
    found = make_attacks(small, seed=0, variants_per_kind=1)
    keys = [(one.change, one.system, one.kind) for one in found]
    assert len(keys) == len(set(keys)) == 9 * len(AttackKind)


def test_same_seed_gives_the_same_attacks(small: study.Study, made: tuple[Attack, ...]) -> None:
    assert make_attacks(small, seed=0) == made
    assert make_attacks(small, seed=1) != made


def test_attacks_do_not_depend_on_the_other_changes(
    small: study.Study, made: tuple[Attack, ...]
) -> None:
    borrowing = {AttackKind.WRONG_CHANGE}
    alone = make_attacks(dataclasses.replace(small, changes=small.changes[1:2]), seed=0)
    same = [one for one in made if one.change == "py:2" and one.kind not in borrowing]
    assert [one for one in alone if one.kind not in borrowing] == same


def test_no_attack_is_blank_or_the_honest_text(
    small: study.Study, made: tuple[Attack, ...]
) -> None:
    honest = {(c.id, r.system): r.text for c, r in honest_reviews(small)}
    assert all(one.text.strip() for one in made)
    assert all(one.text.strip() != honest[one.change, one.system].strip() for one in made)
    texts = [(one.change, one.system, one.text) for one in made]
    assert len(texts) == len(set(texts))


def test_training_wording_lacks_variants_that_the_test_shows(small: study.Study) -> None:
    change = small.changes[0]
    generator = plugins.create("claims", "structural")
    names = {}
    for wording in Wording:
        whole = dataclasses.replace(
            make_material(change, generator, wording=wording),
            honest_review="The limit is too high. Lower it.",
            foreign_reviews=("Another good review of something else.", "And one more of these."),
        )
        names[wording] = {
            (kind, name)
            for kind in AttackKind
            for name in make_variants(kind, whole, np.random.default_rng(0))
        }
    unseen = names[Wording.TEST] - names[Wording.TRAINING]
    assert names[Wording.TRAINING] < names[Wording.TEST]
    assert {(AttackKind.ECHO, "recorded-few"), (AttackKind.HIDDEN, "padded-tiny")} <= unseen
    assert {(AttackKind.PASTED, "new-side"), (AttackKind.INJECTION, "json")} <= unseen
