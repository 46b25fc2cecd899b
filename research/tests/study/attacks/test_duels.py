from typing import TYPE_CHECKING

import pytest

from crscore.errors import InputError
from crscore.records import Flag
from crscore.scorer import Scorer
from crscore_lab.study.attacks.attack_set import Attack, AttackKind, make_attacks
from crscore_lab.study.attacks.duels import Duel, KindRow, Scored, score_duels, summarize_duels
from crscore_lab.study.data import study
from tests.helpers import study as helper

if TYPE_CHECKING:
    from pathlib import Path


def attack(kind: AttackKind = AttackKind.PRAISE, change: str = "c", **fields: str) -> Attack:
    values = {"system": "s", "text": "t"} | fields
    return Attack(change=change, kind=kind, **values)


def scored(value: float, relevance: float = 0.5, *, is_flagged: bool = False) -> Scored:
    return Scored(value, relevance, is_flagged)


def duel(honest: float, made: float, **fields) -> Duel:
    return Duel(attack=attack(**fields), attacking=scored(made), honest_review=scored(honest))


def only(*duels: Duel, resamples: int = 0) -> KindRow:
    (row,) = summarize_duels(duels, resamples=resamples, seed=0).kinds
    return row


def test_tie_is_not_a_win() -> None:
    row = only(duel(0.5, 0.4), duel(0.5, 0.5), duel(0.5, 0.6), duel(0.5, 0.0))
    assert (row.n, row.wins, row.ties) == (4, 0.5, 0.25)


def test_last_bit_is_a_tie() -> None:
    row = only(duel(0.1 + 0.2, 0.3))
    assert (row.wins, row.ties) == (0.0, 1.0)


def test_medians_are_of_the_attacks_and_of_their_rivals() -> None:
    row = only(duel(0.9, 0.1), duel(0.7, 0.3), duel(0.8, 0.4))
    assert (row.median, row.honest_median) == (0.3, 0.8)


def test_interval_is_of_changes() -> None:
    apart = [duel(0.5, 0.4, change="a"), duel(0.5, 0.6, change="b")] * 5
    row = only(*apart, resamples=200)
    # Two changes of which one always wins: a draw has none, half or all of the wins.
    assert (row.low, row.high) == (0.0, 1.0)


def test_no_draws_give_no_interval() -> None:
    row = only(duel(0.5, 0.4))
    assert (row.low, row.high) == (None, None)


@pytest.mark.parametrize(("lost", "reached"), [(1, True), (2, False)])
def test_goal_is_95_percent_of_the_pairs(lost: int, reached: bool) -> None:
    duels = [duel(0.5, 0.4)] * (20 - lost) + [duel(0.5, 0.5)] * lost
    assert only(*duels).reached is reached


@pytest.mark.parametrize(("lost", "reached"), [(1, True), (2, False)])
def test_goal_of_echoes_is_90_percent_of_the_pairs(lost: int, reached: bool) -> None:
    duels = [duel(0.5, 0.4 if at >= lost else 0.6, kind=AttackKind.ECHO) for at in range(10)]
    assert only(*duels).reached is reached


def test_wins_by_relevance_are_counted_apart() -> None:
    by_value = Duel(attack=attack(), attacking=scored(0.4), honest_review=scored(0.5))
    by_both = Duel(attack=attack(), attacking=scored(0.4, relevance=0.3), honest_review=scored(0.5))
    by_relevance = Duel(
        attack=attack(), attacking=scored(0.6, relevance=0.3), honest_review=scored(0.5)
    )
    row = only(by_value, by_both, by_relevance, by_both)
    assert (row.wins, row.wins_relevance) == (0.75, 0.75)
    assert only(by_value).wins_relevance == 0.0


def test_honest_reviews_count_once() -> None:
    wrong, right = scored(0.0, is_flagged=True), scored(0.4)
    duels = [Duel(attack=attack(change="a"), attacking=scored(0.1), honest_review=wrong)] * 3
    duels += [Duel(attack=attack(change="b"), attacking=scored(0.1), honest_review=right)]
    found = summarize_duels(duels, resamples=0, seed=0)
    assert (found.honest, found.honest_flagged) == (2, 0.5)


def test_no_duel_is_an_error() -> None:
    with pytest.raises(InputError, match="no attack to measure"):
        summarize_duels([], resamples=0, seed=0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> study.Study:
    folder: Path = tmp_path_factory.mktemp("study")
    return study.read_study(helper.write(folder / "s.jsonl"))


@pytest.fixture(scope="module")
def scorer(small: study.Study) -> Scorer:
    return Scorer(
        encoder="hashing", threshold=0.4, generator=study.recorded(small), analyzers="none"
    )


def test_duel_has_the_scores_of_both_texts(small: study.Study, scorer: Scorer) -> None:
    text = "The limit is raised from 10 to 20. Wonderful weather today, is it not?"
    one = attack(change="py:1", system="ground_truth", text=text)
    (found,) = score_duels(small, [one], scorer)
    patch = small.changes[0].patch
    assert found.attacking.relevance == scorer.score(patch, text, language="python").relevance
    alone = scorer.score(patch, "The limit is raised from 10 to 20.", language="python")
    assert found.honest_review.relevance == alone.relevance
    assert found.honest_review.value > found.attacking.value


def test_attack_without_a_sentence_counts_as_zero(small: study.Study, scorer: Scorer) -> None:
    one = attack(change="py:1", system="ground_truth", text="```\n```")
    (found,) = score_duels(small, [one], scorer)
    assert (found.attacking.relevance, found.honest_review.value > 0) == (0.0, True)


def test_whole_run_has_a_row_for_each_kind(small: study.Study, scorer: Scorer) -> None:
    made = make_attacks(small, seed=0, variants_per_kind=1)
    found = summarize_duels(score_duels(small, made, scorer), resamples=20, seed=0)
    assert [row.kind for row in found.kinds] == list(AttackKind)
    assert sum(row.n for row in found.kinds) == len(made)
    assert found.honest == 9


@pytest.mark.parametrize(
    ("sentences", "restating", "flagged"),
    [(0, 0, False), (1, 0, False), (1, 1, True), (3, 1, False), (4, 2, True), (5, 2, False)],
)
def test_half_of_the_sentences_flag_a_review(
    small: study.Study, sentences: int, restating: int, flagged: bool
) -> None:
    class Answer:
        relevance = 0.5
        usefulness = None

        def __init__(self) -> None:
            self.sentences = ("a",) * sentences
            others = (Flag.REPEATS, None) * sentences
            self.sentence_flags = ((Flag.RESTATES,) * restating + others)[:sentences]

    class Fixed:
        def read_diff(self, patch: str, **_: object) -> str:
            return patch

        def score_many(self, work) -> list[Answer]:
            return [Answer() for _ in work]

    one = attack(change="py:1", system="ground_truth")
    (found,) = score_duels(small, [one], Fixed())
    assert found.attacking.is_flagged is flagged
