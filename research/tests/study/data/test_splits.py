from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import InputError
from crscore_lab.study.data import splits, study
from crscore_lab.study.data.splits import Split, SplitKind
from crscore_lab.study.data.study import RatedReview, Study, StudyChange
from tests.helpers import study as studies

SYSTEMS = ("alpha", "beta", "gamma", "ground_truth")


def made(**counts: int) -> Study:
    """So many changes a language, each with the same four reviews."""
    changes = tuple(
        StudyChange(
            name=f"{language}:{index}",
            language=language,
            patch=f"@@ -1 +1 @@\n-{language}\n+{index}\n",
            reviews=tuple(
                RatedReview(system=name, text=name, **dict.fromkeys(study.DIMENSIONS, 1.0))
                for name in SYSTEMS
            ),
        )
        for language, count in counts.items()
        for index in range(count)
    )
    return Study(changes=changes, sha256="0" * 64)


def keys(data: Study) -> list[tuple[str, str]]:
    return [(change.id, review.system) for change in data.changes for review in change.reviews]


def changes(keys: object) -> set[str]:
    return {change for change, _ in keys}


SIZES = st.fixed_dictionaries(
    {"python": st.integers(1, 9), "java": st.integers(1, 9), "ruby": st.integers(0, 4)}
)


@given(SIZES, st.sampled_from(SplitKind), st.integers(2, 6), st.integers(0, 3))
def test_every_review_is_judged_once_by_what_never_saw_its_change(
    sizes, kind, groups, seed
) -> None:
    data = made(**sizes)
    groups = None if kind is SplitKind.LANGUAGE else min(groups, len(data.changes))
    folds = splits.make_folds(data, Split(kind, groups), seed=seed)
    held = Counter(key for fold in folds for key in fold.held_out)
    assert held == Counter(keys(data))
    for fold in folds:
        assert not changes(fold.held_out) & changes(fold.training)


@given(SIZES, st.integers(2, 6), st.integers(0, 3))
def test_groups_share_changes_and_languages_evenly(sizes, groups, seed) -> None:
    data = made(**sizes)
    groups = min(groups, len(data.changes))
    language = {change.id: change.language for change in data.changes}
    folds = [
        changes(f.held_out)
        for f in splits.make_folds(data, Split(SplitKind.GROUPED, groups), seed=seed)
    ]
    for name in (None, *sizes):
        shares = [sum(name in (None, language[one]) for one in fold) for fold in folds]
        assert max(shares) - min(shares) <= 1


def test_grouped_folds_train_on_all_other_changes() -> None:
    data = made(python=4, java=2)
    for fold in splits.make_folds(data, Split(SplitKind.GROUPED, 3)):
        assert fold.training == set(keys(data)) - fold.held_out
        assert len(changes(fold.held_out)) == 2


def test_seed_decides_who_is_together() -> None:
    data = made(python=12)
    held = [
        [fold.held_out for fold in splits.make_folds(data, Split(SplitKind.GROUPED, 3), seed=seed)]
        for seed in (0, 0, 1)
    ]
    assert held[0] == held[1]
    assert held[0] != held[2]


def test_left_out_system_is_trained_on_nowhere_and_judged_on_new_changes() -> None:
    data = made(python=4, java=2)
    folds = splits.make_folds(data, Split(SplitKind.SYSTEM, 2))
    assert [fold.name for fold in folds][:3] == [
        *("without alpha, 1 of 2", "without alpha, 2 of 2", "without beta, 1 of 2")
    ]
    for fold in folds:
        (out,) = {system for _, system in fold.held_out} - {"ground_truth"}
        assert {system for _, system in fold.training} == set(SYSTEMS) - {out}
        assert (len(changes(fold.held_out)), len(changes(fold.training))) == (3, 3)


def test_human_comments_are_judged_once_where_systems_are_left_out() -> None:
    folds = splits.make_folds(made(python=4), Split(SplitKind.SYSTEM, 2))
    with_humans = [f.name for f in folds if any(name == "ground_truth" for _, name in f.held_out)]
    assert with_humans == ["without alpha, 1 of 2", "without alpha, 2 of 2"]


def test_left_out_language_is_judged_by_what_the_others_taught() -> None:
    folds = splits.make_folds(made(python=2, java=1), Split(SplitKind.LANGUAGE, None))
    assert [(fold.name, changes(fold.held_out), changes(fold.training)) for fold in folds] == [
        ("without java", {"java:0"}, {"python:0", "python:1"}),
        ("without python", {"python:0", "python:1"}, {"java:0"}),
    ]


@pytest.mark.parametrize("groups", [0, 1, 4])
def test_groups_that_cannot_be_filled_are_refused(groups: int) -> None:
    with pytest.raises(InputError, match=f"3 changes cannot be split into {groups} groups"):
        splits.make_folds(made(python=3), Split(SplitKind.GROUPED, groups))


def test_single_language_cannot_be_left_out() -> None:
    with pytest.raises(InputError, match="only one language, python: --split needs two"):
        splits.make_folds(made(python=3), Split(SplitKind.LANGUAGE, None))


def test_single_system_cannot_be_left_out(tmp_path: Path) -> None:
    rows = studies.rows()
    for row in rows:
        row["reviews"] = [one for one in row["reviews"] if one["system"] in ("knn", "ground_truth")]
    data = study.read_study(studies.write(tmp_path / "s.jsonl", rows))
    with pytest.raises(InputError, match="reviews by 1 systems"):
        splits.make_folds(data, Split(SplitKind.SYSTEM, 2))


def test_training_part_keeps_all_but_the_other_reviews() -> None:
    data = made(python=4, java=2)
    for fold in splits.make_folds(data, Split(SplitKind.SYSTEM, 3)):
        part = fold.training_part(data)
        assert set(keys(part)) == fold.training
        assert part.sha256 == data.sha256
        assert [c.id for c in part.changes] == [
            c.id for c in data.changes if c.id in changes(fold.training)
        ]


def test_fold_says_which_reviews_it_holds() -> None:
    data = made(python=2)
    first, second = splits.make_folds(data, Split(SplitKind.GROUPED, 2))
    change = data.changes[0]
    assert first.holds_out(change, change.reviews[0]) != second.holds_out(change, change.reviews[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grouped-cv", "grouped-cv:10"),
        ("grouped-cv:5", "grouped-cv:5"),
        ("leave-one-system-out", "leave-one-system-out:5"),
        ("leave-one-system-out:2", "leave-one-system-out:2"),
        ("leave-one-language-out", "leave-one-language-out"),
    ],
)
def test_split_is_read_and_written(text: str, expected: str) -> None:
    assert str(splits.parse_split(text)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("by-moon", "by-moon is not one of grouped-cv, leave-one-system-out, leave"),
        ("grouped-cv:five", "five is not a number"),
        ("grouped-cv:-5", "-5 is not a number"),
        ("grouped-cv:1", "at least 2 groups, not 1"),
        ("leave-one-language-out:3", "takes no number"),
    ],
)
def test_split_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        splits.parse_split(text)
