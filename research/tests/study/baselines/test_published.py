import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from crscore.code import metrics
from crscore.encoders import minilm
from crscore_lab.study.baselines import published
from crscore_lab.study.data import study
from crscore_lab.study.data.study import GROUND_TRUTH, RatedReview, StudyChange
from crscore_lab.study.measures.measurements import ExtraMetrics
from tests.helpers import study as made

Rows = list[tuple[StudyChange, RatedReview]]
NAMES = (*published.METRICS, "BERTScore")


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
            kept.append((replace(change, reviews=others), review))
        else:
            kept.append((change, review))
    return kept


def values(found: ExtraMetrics) -> dict[str, list[float]]:
    return {metric.name: metric.values.tolist() for metric in found.metrics}


def test_every_baseline_has_a_value_for_each_review(rows: Rows) -> None:
    found = published.compute_baselines(rows)
    assert tuple(values(found)) == NAMES
    for metric in found.metrics:
        assert metric.values.shape == (len(rows),)
        assert ((metric.values >= 0) & (metric.values <= 1)).all()
    assert found.notes == ()


def test_each_review_is_compared_with_the_comment_of_its_own_change(rows: Rows) -> None:
    comments = [made.CLAIMS[change.id][0] for change, _ in rows]
    texts = [review.text for _, review in rows]
    expected = metrics.compute(predictions=texts, references=comments, metrics=["meteor"])
    assert values(published.compute_baselines(rows))["METEOR"] == expected["meteor_scores"]


def test_values_of_rows_in_another_order_are_in_that_order(rows: Rows) -> None:
    forward = values(published.compute_baselines(rows))
    backward = values(published.compute_baselines(rows[::-1]))
    assert backward == {name: column[::-1] for name, column in forward.items()}


def test_values_of_chrf_with_and_without_words_differ(rows: Rows) -> None:
    found = values(published.compute_baselines(rows))
    assert found["chrF"] != found["chrF++"]
    assert found["BLEU"] != found["BLEU without stop words"]


def test_bertscore_is_left_out_where_its_encoder_is_missing(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "missing", lambda: "its files")
    found = published.compute_baselines(rows)
    assert tuple(values(found)) == NAMES[:-1]
    assert found.notes == ("BERTScore is left out: minilm needs its files",)


def test_change_without_a_comment_is_noted(rows: Rows) -> None:
    found = published.compute_baselines(without_comment(rows, "py:2"))
    here = np.array([change.id == "py:2" for change, _ in rows])
    blank = np.array([not review.text for _, review in rows])
    for metric in found.metrics:
        assert set(metric.values[here & ~blank]) == {0.0}
    (note,) = found.notes
    assert note.endswith("comment: py:2")


def test_values_of_other_changes_do_not_notice_a_missing_comment(rows: Rows) -> None:
    whole = values(published.compute_baselines(rows))
    part = values(published.compute_baselines(without_comment(rows, "py:2")))
    kept = [index for index, (change, _) in enumerate(rows) if change.id != "py:2"]
    for name, column in part.items():
        assert [column[index] for index in kept] == [whole[name][index] for index in kept]


def test_values_without_any_comment_are_none_with_a_note(rows: Rows) -> None:
    found = published.compute_baselines(without_comment(rows, *made.CLAIMS))
    assert found.metrics == ()
    assert "no change has a human comment (ground_truth)" in found.notes[0]


def test_note_of_many_changes_without_a_comment_names_five_and_counts_the_rest(
    rows: Rows,
) -> None:
    change, review = without_comment(rows, "py:1")[0]
    missing: Rows = [(replace(change, name=f"py:{100 + n}"), review) for n in range(7)]
    found = published.compute_baselines(missing + rows)
    assert found.notes[0].endswith("comment: py:100, py:101, py:102, py:103, py:104 and 2 more")


def test_variant_is_the_identity_of_the_metric(rows: Rows) -> None:
    variants = {metric.name: metric.variant for metric in published.compute_baselines(rows).metrics}
    assert variants["chrF++"] == metrics.make("chrf", word_order=2).identity
    assert "no synonyms" in variants["METEOR"]


def test_importing_the_baselines_loads_no_library() -> None:
    code = (
        "import sys; from crscore_lab.study.baselines import published;"
        "print(sorted({'sacrebleu', 'nltk', 'rapidfuzz'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"
