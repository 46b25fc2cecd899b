"""Splits of a study's reviews that separate the evaluation data from the training data."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from crscore.errors import InputError
from crscore_lab.study.data.study import GROUND_TRUTH, RatedReview, Study, StudyChange

ReviewKey = tuple[str, str]


class SplitKind(StrEnum):
    """Kind of split."""

    GROUPED = "grouped-cv"
    SYSTEM = "leave-one-system-out"
    LANGUAGE = "leave-one-language-out"


FOLDS: Final = {SplitKind.GROUPED: 10, SplitKind.SYSTEM: 5}
"""Default number of groups of changes; `leave-one-language-out` has one per language."""


class Split(NamedTuple):
    """Way to split a study."""

    kind: SplitKind
    groups: int | None
    """Number of groups of changes, at least 2; None for languages."""

    def __str__(self) -> str:
        """Return the command-line form: `grouped-cv:5`."""
        return self.kind if self.groups is None else f"{self.kind}:{self.groups}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Reviews to judge and reviews to train on. No change has reviews in both."""

    name: str
    """For example `2 of 5`, `without lstm, 2 of 5`, `without java`."""
    held_out: AbstractSet[ReviewKey]
    """Reviews to judge, which are never used in training."""
    training: AbstractSet[ReviewKey]
    """Reviews to train on."""

    def holds_out(self, change: StudyChange, review: RatedReview) -> bool:
        """Return whether the fold holds out a review of a change."""
        return (change.id, review.system) in self.held_out

    def training_part(self, study: Study) -> Study:
        """Return the training part: changes with their training reviews, in order.

        Args:
            study: The study that was split.

        Returns:
            A study without the other reviews, and without changes that have none left. It keeps
            the hash of the full study: results are identified by the data and the fold.
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
    """Parse a split from the command line.

    Args:
        text: `grouped-cv`, `leave-one-system-out` or `leave-one-language-out`, the first two
            with an optional `:K` for the number of groups.

    Returns:
        The split; without K, the number of groups is the one in `FOLDS`.

    Raises:
        ValueError: There is no such split, or K is invalid.

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

    - `grouped-cv`: the changes are divided into groups; each group is judged by a matcher trained
      on the others.
    - `leave-one-language-out`: the same, with the changes of one language as a group.
    - `leave-one-system-out`: a review by system s of a change in group g is judged by a matcher
      trained on the other systems' reviews of the other groups' changes. Both its system and its
      change are then new. If only the system were left out, training would see the claims and the
      code of the change, which overestimates the score on new code.

    Args:
        study: The study.
        split: Kind of split and number of groups; None for one fold that holds out everything.
        seed: Seed of the assignment of changes to groups, which spreads each language evenly.

    Returns:
        The folds. Every review is held out once. The original human comments
        (`ground_truth`) follow their change: they are trained on wherever the change is, and
        where systems are left out they are held out with the first one.

    Raises:
        InputError: The study has fewer changes than groups, one language or one system.
    """
    if split is None:
        return (_make_fold(study, {change.id for change in study.changes}, name="all"),)
    by_language = _by_language(study)
    if split.groups is None:
        if len(by_language) < 2:
            raise InputError(
                f"the study has one language, {next(iter(by_language))}: none can be left out"
            )
        return tuple(
            _make_fold(study, set(changes), name=f"without {language}")
            for language, changes in by_language.items()
        )
    count = split.groups
    numbered_groups = list(enumerate(_grouped_changes(study, count, seed), 1))
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
    """Make a fold that holds out some changes, or only some systems' reviews of them."""
    keys = {(change.id, review.system) for change in study.changes for review in change.reviews}
    held_out = {key for key in keys if key[0] in changes}
    training = keys - held_out
    if systems is not None:
        held_out = {key for key in held_out if key[1] in systems}
        # Human comments are trained on wherever their change is.
        training = {key for key in training if key[1] not in systems - {GROUND_TRUTH}}
    return Fold(name=name, held_out=held_out, training=training)


def _grouped_changes(study: Study, count: int, seed: int) -> list[set[str]]:
    if not 2 <= count <= len(study.changes):
        raise InputError(
            f"{len(study.changes)} changes cannot be split into {count} groups; "
            "expected a number from 2 to the number of changes"
        )
    rng = np.random.default_rng(seed)
    # Languages one after the other, each continuing where the last one stopped, so that both the
    # groups and each language's share of them differ by one change at most.
    order = [
        changes[index]
        for changes in _by_language(study).values()
        for index in rng.permutation(len(changes))
    ]
    return [set(order[start::count]) for start in range(count)]


def _by_language(study: Study) -> dict[str, list[str]]:
    """Return the changes of each language, sorted."""
    languages = sorted({change.language for change in study.changes})
    return {
        language: [change.id for change in study.changes if change.language == language]
        for language in languages
    }


def _held_out_systems(study: Study) -> dict[str, set[str]]:
    """Map each system to those held out with it: itself, and the ground truth for the first."""
    systems = {review.system for change in study.changes for review in change.reviews}
    names = sorted(systems - {GROUND_TRUTH})
    if len(names) < 2:
        raise InputError(
            f"the study has reviews by {len(names)} systems; at least two are required"
        )
    return {name: {name, GROUND_TRUTH} if name == names[0] else {name} for name in names}
