"""Runs whose matcher is learned anew for each fold."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from crscore.errors import ConfigError, InputError
from crscore.matchers.base import Cells, Judgement
from crscore.matchers.published import Published
from crscore.settings import override_settings
from crscore_lab.study import run
from crscore_lab.study.data import saved_runs, splits, study
from crscore_lab.study.data.splits import Split
from crscore_lab.study.measures import measurements
from crscore_lab.study.results import ValidationResult
from tests.helpers import findings as helper
from tests.helpers import study as studies

SPLITS = [
    splits.parse_split(text) for text in ("grouped-cv:3", "grouped-cv:2", "leave-one-system-out:2")
]
SPLITS.append(splits.parse_split("leave-one-language-out"))
NAMES = [str(split) for split in SPLITS]


@dataclass(frozen=True)
class Learned:
    """Gives every cell of a change that it was trained on 1, every other 0."""

    patches: frozenset[str]
    identity: str = "learned@abc"

    def match(self, cells: Cells) -> Judgement:
        seen = float(cells.diff.sha256 in self.patches)
        return Judgement(
            degrees=np.full(cells.similarity.shape, seen, dtype=np.float32),
            decision=0.5,
            flags=(None,) * len(cells.sentences),
            in_review=(True,) * len(cells.sentences),
        )


class Trainer:
    """Remembers what it was given."""

    def __init__(self) -> None:
        self.parts: list[study.Study] = []
        self.seeds: list[int] = []

    def __call__(self, part: study.Study, *, encoder: object, seed: int) -> Learned:
        self.parts.append(part)
        self.seeds.append(seed)
        assert encoder.encode(["a text"]).shape[0] == 1
        return Learned(frozenset(study.recorded(part).by_diff))


def rule(_: study.Study, *, encoder: object, seed: int) -> Published:
    """Learns nothing, so that folds make no difference."""
    return Published(threshold=0.3)


def made(
    folder: Path,
    split: Split | None,
    trainer: object,
    rows: list[dict] | None = None,
    **options: object,
) -> ValidationResult:
    rows = studies.full_rows() if rows is None else rows
    path = studies.write(folder / "study.jsonl", rows)
    settings = override_settings(helper.SETTINGS, {"matcher": "calibrated", "threshold": None})
    chosen = {"resamples": 20, "seed": 0, "attacks": True, "split": split} | options
    return run.run(study.read_study(path), settings, trainer=trainer, **chosen)


@pytest.mark.parametrize("split", SPLITS, ids=NAMES)
def test_nothing_is_judged_by_what_saw_its_change(tmp_path: Path, split: Split) -> None:
    found = made(tmp_path, split, Trainer())
    assert [one.scores for one in found.reviews] == [(0.0, 0.0, 0.0)] * 15
    assert found.addressed is not None
    assert (found.addressed.recall, found.addressed.n) == (0.0, 18)
    assert {row.median for row in found.attacks.kinds} == {0.0}
    assert found.attacks.honest == 9


@pytest.mark.parametrize("split", SPLITS, ids=NAMES)
def test_rule_that_learns_nothing_finds_the_same_in_folds(tmp_path: Path, split: Split) -> None:
    whole = helper.made(tmp_path, attacks=True)
    found = made(tmp_path, split, rule)
    assert found.reviews == whole.reviews
    assert found.addressed.f1 == whole.addressed.f1
    assert found.addressed.average_precision == whole.addressed.average_precision
    assert found.attacks == whole.attacks
    assert [row.spearman for row in found.correlations] == [
        row.spearman for row in whole.correlations
    ]


def test_run_with_a_split_says_so(tmp_path: Path) -> None:
    found = made(tmp_path, SPLITS[0], Trainer(), seed=4, attacks=False)
    assert found.split == "grouped-cv:3"
    assert found.metric == "learned/hashing/recorded"
    assert "matcher:learned@grouped-cv:3.4" in found.signature
    assert found.threshold is None
    assert found.notes == ()


def test_trainer_gets_the_seed_and_the_reviews_of_its_part(tmp_path: Path) -> None:
    trainer = Trainer()
    path = studies.write(tmp_path / "study.jsonl", studies.full_rows())
    run.run(
        study.read_study(path), helper.SETTINGS, split=SPLITS[2], trainer=trainer, resamples=0,
        seed=7,
    )  # fmt: skip
    assert trainer.seeds == [7] * 10  # five systems, two groups of changes
    systems = [{one.system for c in part.changes for one in c.reviews} for part in trainer.parts]
    assert systems[0] == {"gpt3.5", "llama3", "lstm", "knn", "ground_truth"}


def test_fold_without_a_claim_leaves_its_change_out(tmp_path: Path) -> None:
    rows = studies.full_rows()
    rows[1] |= {"llm_claims": [], "pseudo_references": []}
    for review in rows[1]["reviews"]:
        review["addressed"] = []
    found = made(tmp_path, SPLITS[0], Trainer(), rows)
    assert found.data.excluded_changes == ("py:2",)
    assert len(found.reviews) == 10


def test_study_without_a_claim_cannot_be_judged_in_folds(tmp_path: Path) -> None:
    rows = [row | {"llm_claims": [], "pseudo_references": []} for row in studies.rows()]
    with pytest.raises(InputError, match=measurements.NOT_SCORABLE):
        made(tmp_path, SPLITS[0], Trainer(), rows)


def test_study_without_links_has_no_classifier_in_folds(tmp_path: Path) -> None:
    assert made(tmp_path, SPLITS[0], Trainer(), studies.rows()).addressed is None


def test_split_needs_a_trainer(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs a trainer"):
        made(tmp_path, SPLITS[0], None)


def test_matcher_that_was_trained_on_the_data_is_noted(tmp_path: Path, monkeypatch) -> None:
    path = studies.write(tmp_path / "study.jsonl", studies.full_rows())
    rated = study.read_study(path)
    identity = f"published@{rated.sha256[:8]}.0"
    assert run.run(rated, helper.SETTINGS, resamples=0, seed=0).notes == ()
    monkeypatch.setattr(Published, "identity", property(lambda _: identity))
    found = run.run(rated, helper.SETTINGS, resamples=0, seed=0)
    assert found.notes == (saved_runs.TRAINED_ON_DATA,)
