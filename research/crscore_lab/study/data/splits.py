"""Splits of a study's reviews into folds, each with evaluation data and other training data."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from crscore.errors import InputError
from crscore_lab.study.data.study import GROUND_TRUTH, RatedReview, Study, StudyChange

ReviewKey = tuple[str, str]
"""Id of a change, and name of the system that wrote the review."""


class SplitKind(StrEnum):
    """Kind of split."""

    GROUPED = "grouped-cv"
    SYSTEM = "leave-one-system-out"
    LANGUAGE = "leave-one-language-out"


FOLDS: Final = {SplitKind.GROUPED: 10, SplitKind.SYSTEM: 5}
"""Default number of groups of changes; `leave-one-language-out` has one group per language."""


class Split(NamedTuple):
    """Way to split a study."""

    kind: SplitKind
    groups: int | None
    """Number of groups of changes, at least 2; None for `leave-one-language-out`."""

    def __str__(self) -> str:
        """Return the split as in `--split`, such as `grouped-cv:5`."""
        return self.kind if self.groups is None else f"{self.kind}:{self.groups}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Reviews to score, and other reviews to train on. No change has reviews in both."""

    name: str
    """Name in progress messages, such as `2 of 5`, `without lstm, 2 of 5` or `without java`."""
    held_out: AbstractSet[ReviewKey]
    """Reviews to score, which are held out of the training."""
    training: AbstractSet[ReviewKey]
    """Reviews to train on."""

    def holds_out(self, change: StudyChange, review: RatedReview) -> bool:
        """Return whether the fold holds out a review of a change."""
        return (change.id, review.system) in self.held_out

    def training_part(self, study: Study) -> Study:
        """Return the part of a study that the fold trains on.

        Args:
            study: The study that was split.

        Returns:
            The changes that have training reviews, with these reviews alone. The hash is that of
            the full study, which identifies the results together with the fold.
        """
        changes = (
            replace(
                change,
                reviews=tuple(r for r in change.reviews if (change.id, r.system) in self.training),
            )
            for change in study.changes
        )
        return Study(
            changes=tuple(change for change in changes if change.reviews), sha256=study.sha256
        )


def parse_split(text: str) -> Split:
    """Parse the value of `--split`.

    Args:
        text: `grouped-cv`, `leave-one-system-out` or `leave-one-language-out`. The first two may
            end with `:K` for K groups of changes; the default is in `FOLDS`.

    Raises:
        ValueError: There is no such split, or the number of groups is invalid.

    Example:
        >>> print(parse_split("grouped-cv:5"), parse_split("leave-one-language-out"))
        grouped-cv:5 leave-one-language-out
    """
    name, _, digits = text.partition(":")
    if name not in tuple(SplitKind):
        raise ValueError(f"--split: {name} is not one of {', '.join(SplitKind)}")
    kind = SplitKind(name)
    if digits and not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"--split: {digits} is not a number of groups")
    if kind not in FOLDS:
        if digits:
            raise ValueError(f"--split: {kind} has one group per language and takes no number")
        return Split(kind, None)
    groups = int(digits) if digits else FOLDS[kind]
    if groups < 2:
        raise ValueError(f"--split: {kind} needs at least 2 groups, not {groups}")
    return Split(kind, groups)


def make_folds(study: Study, split: Split | None, *, seed: int = 0) -> tuple[Fold, ...]:
    """Split a study into folds.

    - `grouped-cv`: The changes are divided into groups. Each group is scored by a matcher trained
      on the other groups.
    - `leave-one-language-out`: The same, with one group for each language.
    - `leave-one-system-out`: Reviews by system S of changes in group G are scored by a matcher
      trained on other systems' reviews of other groups' changes, so that both the system and the
      change are new to the matcher. If only the system were left out, the training data would
      contain the claims and the code of the change, and the score on new code would be
      overestimated.

    Args:
        study: The study.
        split: Kind of split and number of groups; None for one fold that holds out all reviews.
        seed: Seed of the assignment of changes to groups, which spreads each language evenly.

    Returns:
        The folds. Every review is held out once. The original human comments (`ground_truth`) are
        training data in each fold that does not hold out their change; `leave-one-system-out` holds
        them out with the first system.

    Raises:
        InputError: The study has fewer changes than groups, only one language or only one system.
    """
    if split is None:
        return (_make_fold(study, {change.id for change in study.changes}, name="all"),)
    by_language = _by_language(study)
    if split.groups is None:
        if len(by_language) < 2:
            raise InputError(
                f"the study has only one language, {next(iter(by_language))}: --split needs two"
            )
        return tuple(
            _make_fold(study, set(changes), name=f"without {language}")
            for language, changes in by_language.items()
        )
    count = split.groups
    numbered_groups = list(enumerate(_group_changes(study, count, seed), 1))
    if split.kind is SplitKind.GROUPED:
        return tuple(
            _make_fold(study, changes, name=f"{i} of {count}") for i, changes in numbered_groups
        )
    return tuple(
        _make_fold(study, changes, name=f"without {system}, {i} of {count}", systems=systems)
        for system, systems in _held_out_systems(study).items()
        for i, changes in numbered_groups
    )


def _make_fold(
    study: Study, changes: AbstractSet[str], *, name: str, systems: AbstractSet[str] | None = None
) -> Fold:
    """Make a fold.

    Args:
        study: The study.
        changes: Ids of the changes to hold out.
        name: Name of the fold.
        systems: Systems whose reviews are held out; the others' reviews of these changes are
            neither held out nor trained on. None for all systems.
    """
    keys = {(change.id, review.system) for change in study.changes for review in change.reviews}
    held_out = {key for key in keys if key[0] in changes}
    training = keys - held_out
    if systems is not None:
        held_out = {key for key in held_out if key[1] in systems}
        # Human comments on other changes stay in the training data, even if `systems` has them.
        training = {key for key in training if key[1] not in systems - {GROUND_TRUTH}}
    return Fold(name=name, held_out=held_out, training=training)


def _group_changes(study: Study, count: int, seed: int) -> list[set[str]]:
    if not 2 <= count <= len(study.changes):
        raise InputError(
            f"{len(study.changes)} changes cannot be split into {count} groups; "
            "expected a number from 2 to the number of changes"
        )
    rng = np.random.default_rng(seed)
    # The changes are dealt to the groups in turn, language by language. So the sizes of the groups,
    # and the numbers of changes of one language in them, differ by one at most.
    order = [
        changes[index]
        for changes in _by_language(study).values()
        for index in rng.permutation(len(changes))
    ]
    return [set(order[start::count]) for start in range(count)]


def _by_language(study: Study) -> dict[str, list[str]]:
    """Return the ids of the changes of each language; the languages are sorted."""
    languages = sorted({change.language for change in study.changes})
    return {
        language: [change.id for change in study.changes if change.language == language]
        for language in languages
    }


def _held_out_systems(study: Study) -> dict[str, set[str]]:
    """Return, for each system, the systems to hold out together.

    These are the system itself and, for the first system by name, the ground truth.
    """
    systems = {review.system for change in study.changes for review in change.reviews}
    names = sorted(systems - {GROUND_TRUTH})
    if len(names) < 2:
        raise InputError(
            f"the study has reviews by {len(names)} systems; --split needs at least two"
        )
    return {name: {name, GROUND_TRUTH} if name == names[0] else {name} for name in names}
