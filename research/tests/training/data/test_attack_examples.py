from pathlib import Path

import pytest

from crscore import plugins
from crscore_lab.study.attacks.material import PHRASES, Wording, split_sentences
from crscore_lab.study.data import study
from crscore_lab.training.data import attack_examples
from crscore_lab.training.data.study_examples import make_examples
from tests.helpers import study as helper


def make_both(tmp_path: Path, rows=None, seed: int = 0):
    data = study.read_study(helper.write(tmp_path / "s.jsonl", rows or helper.full_rows()))
    honest = make_examples(data, plugins.create("claims", "structural"))
    return honest, attack_examples.make_negatives(data, honest, seed=seed)


def test_negatives_have_zero_scores_and_a_low_weight(tmp_path: Path) -> None:
    _, negatives = make_both(tmp_path)
    assert negatives
    for example in negatives:
        target = example.target
        assert target.scores == (0, 0, 0)
        assert target.weight == attack_examples.WEIGHT < 1
        assert target.addressed in (None, frozenset())
        assert example.text.strip()


def test_negative_has_the_references_of_its_honest_review(tmp_path: Path) -> None:
    honest, negatives = make_both(tmp_path)
    lists: dict[tuple[str, str], list] = {}
    for example in honest:
        lists.setdefault((example.change, example.system), []).append(example)
    by_text: dict[tuple[str, str, str], list] = {}
    for example in negatives:
        by_text.setdefault((example.change, example.system, example.text), []).append(example)
    for (change, system, _), group in by_text.items():
        theirs = lists[change, system]
        assert len(group) % len(theirs) == 0
        for example, other in zip(group, theirs * (len(group) // len(theirs)), strict=True):
            assert example.references == other.references
            assert (example.target.addressed is None) == (other.target.addressed is None)


def test_padded_attack_is_without_the_honest_sentences(tmp_path: Path) -> None:
    honest, negatives = make_both(tmp_path)
    texts = {(example.change, example.system): split_sentences(example.text) for example in honest}
    for example in negatives:
        assert not set(split_sentences(example.text)) & set(texts[example.change, example.system])


def test_negatives_share_no_wording_with_the_attacks_of_an_evaluation(tmp_path: Path) -> None:
    _, negatives = make_both(tmp_path)
    everything = "\n".join(example.text for example in negatives)
    for name in ("praise", "advice", "instructions"):
        bank = PHRASES.banks[name]
        assert not [text for text in bank[Wording.TEST] if text in everything]
    learned = (*PHRASES.banks["praise"]["training"], *PHRASES.banks["advice"]["training"])
    assert [text for text in learned if text in everything]


def test_same_seed_makes_the_same_negatives(tmp_path: Path) -> None:
    texts = [[example.text for example in make_both(tmp_path, seed=seed)[1]] for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_change_without_any_claim_has_no_negative(tmp_path: Path, which: int) -> None:
    rows = helper.full_rows()
    # Nothing recorded, and nothing that the structural generator could speak of.
    rows[which] |= {"llm_claims": [], "pseudo_references": [], "added_claims": []}
    rows[which] |= {"patch": "@@ -1 +1 @@\n context\n", "old_source": "", "new_source": ""}
    _, negatives = make_both(tmp_path, rows)
    assert {example.change for example in negatives} <= {row["id"] for row in rows} - {
        rows[which]["id"]
    }
