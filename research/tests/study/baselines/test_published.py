import dataclasses
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from crscore.encoders import hashing, minilm
from crscore_lab.study.baselines import bleu, overlap, published
from crscore_lab.study.data import study
from crscore_lab.study.data.study import GROUND_TRUTH, RatedReview, StudyChange
from crscore_lab.study.measures.measurements import ExtraMetrics
from tests.helpers import study as made

Rows = list[tuple[StudyChange, RatedReview]]
OF_WORDS = (
    "BLEU",
    "BLEU without stop words",
    "chrF",
    "chrF++",
    "ROUGE-L",
    "edit distance",
    "METEOR",
)


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    changes = study.read_study(made.write(tmp_path / "study.jsonl")).changes
    return [(c, review) for c in changes for review in c.reviews if review.system != GROUND_TRUTH]


def without_comment(rows: Rows, *changes: str) -> Rows:
    """Take the human comment from some changes."""
    kept = []
    for change, review in rows:
        if change.id in changes:
            others = tuple(one for one in change.reviews if one.system != GROUND_TRUTH)
            kept.append((dataclasses.replace(change, reviews=others), review))
        else:
            kept.append((change, review))
    return kept


def values(found: ExtraMetrics) -> dict[str, list[float]]:
    return {metric.name: metric.values.tolist() for metric in found.metrics}


def test_values_with_the_default_encoder_are_all_eight(rows: Rows) -> None:
    found = published.baseline_values(rows, encoder=minilm.MiniLM(offline=True))
    assert tuple(values(found)) == (*OF_WORDS, "BERTScore")
    assert {metric.values.shape for metric in found.metrics} == {(len(rows),)}
    assert found.notes == ()


def test_values_compare_each_review_with_the_comment_of_its_own_change(rows: Rows) -> None:
    comments = [made.CLAIMS[change.id][0] for change, _ in rows]
    texts = [review.text for _, review in rows]
    found = values(published.baseline_values(rows))
    assert found["BLEU"] == bleu.score(texts, comments).tolist()
    assert found["edit distance"] == overlap.edit_distance(texts, comments).tolist()


def test_values_of_rows_in_another_order_are_in_that_order(rows: Rows) -> None:
    forward = values(published.baseline_values(rows))
    backward = values(published.baseline_values(rows[::-1]))
    assert backward == {name: column[::-1] for name, column in forward.items()}


def test_values_of_chrf_with_and_without_words_differ(rows: Rows) -> None:
    found = values(published.baseline_values(rows))
    assert found["chrF"] != found["chrF++"]
    assert found["BLEU"] != found["BLEU without stop words"]


@pytest.mark.parametrize(
    ("encoder", "reason"),
    [
        (None, "no encoder"),
        (hashing.Hashing(), "hashing:256 has no token vectors"),
    ],
)
def test_values_without_token_vectors_leave_bertscore_out_and_say_so(
    rows: Rows, encoder: hashing.Hashing | None, reason: str
) -> None:
    found = published.baseline_values(rows, encoder=encoder)
    assert tuple(values(found)) == OF_WORDS
    assert found.notes == (f"BERTScore is left out: {reason}",)


def test_values_of_a_change_without_a_comment_are_the_worst_and_noted(rows: Rows) -> None:
    encoder = minilm.MiniLM(offline=True)
    found = published.baseline_values(without_comment(rows, "py:2"), encoder=encoder)
    here = np.array([change.id == "py:2" for change, _ in rows])
    blank = np.array([not review.text for _, review in rows])
    for metric in found.metrics:
        worst = 1.0 if metric.name == "edit distance" else 0.0
        # A blank review of a blank comment is equal to it: no edit is needed.
        assert set(metric.values[here & ~blank]) == {worst}
        assert np.isfinite(metric.values).all()
    assert len(found.notes) == 1
    assert found.notes[0].endswith("for: py:2")


def test_values_of_other_changes_do_not_notice_a_missing_comment(rows: Rows) -> None:
    whole = values(published.baseline_values(rows))
    part = values(published.baseline_values(without_comment(rows, "py:2")))
    kept = [index for index, (change, _) in enumerate(rows) if change.id != "py:2"]
    for name, column in part.items():
        assert [column[index] for index in kept] == [whole[name][index] for index in kept]


def test_values_without_any_comment_are_none_with_a_note(rows: Rows) -> None:
    found = published.baseline_values(without_comment(rows, *made.CLAIMS))
    assert found.metrics == ()
    assert "no change has a review by ground_truth" in found.notes[0]


def test_note_of_many_changes_without_a_comment_names_five_and_counts_the_rest(
    rows: Rows,
) -> None:
    change, review = without_comment(rows, "py:1")[0]
    missing: Rows = [(dataclasses.replace(change, id=f"py:{100 + n}"), review) for n in range(7)]
    found = published.baseline_values(missing + rows)
    assert found.notes[0].endswith("for: py:100, py:101, py:102, py:103, py:104 and 2 more")


def test_variants_name_library_and_list(rows: Rows) -> None:
    variants = {metric.name: metric.variant for metric in published.baseline_values(rows).metrics}
    assert variants["chrF++"] == f"nc:6 nw:2 beta:2, sacrebleu {metadata.version('sacrebleu')}"
    assert variants["BLEU without stop words"].endswith("without the 179 stop words of NLTK")
    assert "no synonyms" in variants["METEOR"]


def test_importing_the_baselines_loads_no_library() -> None:
    code = (
        "import sys; from crscore_lab.study.baselines import metric_files, published;"
        "print(sorted({'sacrebleu', 'rouge_score', 'nltk', 'rapidfuzz'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"
