"""Language model as a judge of reviews: a baseline reported with the score, never part of it.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801, section 5 and appendix D.4; the wording is our own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from crscore.cache import Store
from crscore.encoders.base import Encoder
from crscore.lab.study import _judge_chat
from crscore.lab.study._judge_chat import Pair, Wording
from crscore.lab.study.measure import ExtraMetrics, Measurements, Metric
from crscore.lab.study.run import Extra
from crscore.lab.study.study import GROUND_TRUTH, RatedReview, Study, StudyChange
from crscore.llm.engines.base import Answer, Engine
from crscore.llm.prompts import Prompt

GROUP: Final = 128
"""Questions sent to a server before its answers are cached."""
SCORES: Final = "12345"
"""Valid first characters of an answer."""
LOWEST: Final = 1
"""Score of an answer that is not a score."""
EMPTY: Final = "the answer is empty"
NAMED: Final = 3
"""Number of reasons that a note names; the others are counted."""


class Opinion(NamedTuple):
    """Judge's opinion of one review."""

    score: int | None
    """From 1 to 5; None when the judge did not answer."""
    is_score: bool
    """False when there was no answer, or one that is not a score and so counts as 1."""
    reason: str | None = None
    """Reason for a missing answer, one clause; None when there is an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Judge of the relevance of reviews, backed by a language model."""

    name: str
    """Name of the metric: `judge (openai:MODEL)`."""
    engine: Engine
    """Engine that runs the model."""
    prompt: Prompt[Wording]
    """Prompt with the question."""
    store: Store | None = None
    """Cache of answers; None to ask each time."""

    @property
    def variant(self) -> str:
        """Identity of the method: the same variant gives the same values."""
        tokens = self.prompt.content.max_tokens
        return (
            f"{self.engine.identity}, {self.prompt.identity}, greedy, {tokens} tokens; one score "
            f"from 1 to 5 for all dimensions: the answer's first character, else {LOWEST}"
        )

    def ask(self, pairs: Sequence[Pair]) -> dict[Pair, Opinion]:
        """Ask about each pair once, batching the questions that are not cached.

        Args:
            pairs: Changes and reviews, preferably grouped by change.

        Returns:
            Pair -> opinion.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available locally and may not be downloaded.
            GenerationError: The model cannot answer at all.
        """
        different = list(dict.fromkeys(pairs))
        keys = {
            pair: _judge_chat.key(self.prompt, pair, f"{self.engine.identity} {self.engine.origin}")
            for pair in different
        }
        texts = {pair: text for pair in different if (text := self._recall(keys[pair])) is not None}
        found = {pair: read_opinion(text) for pair, text in texts.items()}
        unknown = [pair for pair in different if pair not in found]
        if unknown:
            mark = _judge_chat.mark(self.prompt, different)
            # Groups, for a server: the answers of a group are cached even if the next group fails.
            size = GROUP if self.engine.origin else len(unknown)
            for start in range(0, len(unknown), size):
                self._ask_group(unknown[start : start + size], mark, keys, found)
        return found

    def _ask_group(
        self, pairs: Sequence[Pair], mark: str, keys: Mapping[Pair, str], found: dict[Pair, Opinion]
    ) -> None:
        chats = [_judge_chat.chat(self.prompt, pair, mark) for pair in pairs]
        answers = self.engine.complete(chats, _judge_chat.sampling(self.prompt))
        for pair, answer in zip(pairs, answers, strict=True):
            found[pair] = _opinion(answer)
            if self.store is not None and found[pair].score is not None:
                self.store.put(keys[pair], answer.text.encode("utf-8", "surrogatepass"))

    def _recall(self, key: str) -> str | None:
        kept = None if self.store is None else self.store.get(key)
        try:
            return None if kept is None else kept.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:  # damaged: ask again
            return None


def make_judge(name: str, engine: Engine, store: Store | None) -> Judge:
    """Make a judge with the current prompt.

    Args:
        name: Engine and model as the user named them: `openai:MODEL`.
        engine: Engine that runs the model.
        store: Cache of answers; None to ask each time.

    Raises:
        ConfigError: The prompt that comes with crscore cannot be used.
    """
    return Judge(
        name=f"judge ({name})", engine=engine, prompt=_judge_chat.load_wording(), store=store
    )


def read_opinion(text: str) -> Opinion:
    """Read an answer by the published rule: its first character if that is 1 to 5, else 1.

    Leading white space is ignored. The model is greedy and limited to a few tokens, so `4/5` is a
    4, and `Score: 4` is not a score.

    Args:
        text: The answer; not empty.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, section 5. It does not report how many answers
        are not scores.

    Example:
        >>> read_opinion(" 4/5").score, read_opinion("Score: 4").is_score
        (4, False)
    """
    first = text.strip()[:1]
    is_score = first != "" and first in SCORES
    return Opinion(int(first) if is_score else LOWEST, is_score)


def _opinion(answer: Answer) -> Opinion:
    if answer.reason is not None:
        return Opinion(None, is_score=False, reason=answer.reason)
    # A blank answer is no answer, not a score of 1.
    return read_opinion(answer.text) if answer.text.strip() else Opinion(None, False, EMPTY)


def ask_judge(
    rated: Study, judge: Judge, *, progress: Callable[[str], None] = lambda _: None
) -> Extra:
    """Ask a judge about a study's reviews and return a function that adds its metric.

    The judge is asked immediately, so that a missing server fails the run before its work.

    Args:
        rated: The study; the ground truth, which is never scored, is not asked about.
        judge: Judge to ask.
        progress: Called with a line when the answers have arrived.

    Returns:
        A function for `run.run`. The metric has no value for a review without an answer, and is
        left out, with a note, when there is no answer at all.

    Raises:
        DependencyError: The engine's package is not installed.
        ModelNotFoundError: The model is not available locally and may not be downloaded.
        GenerationError: The model cannot answer at all.
    """
    pairs = [
        _pair(change, review)
        for change in rated.changes
        for review in change.reviews
        if review.system != GROUND_TRUTH
    ]
    opinions = judge.ask(pairs)
    progress(
        f"{judge.name} answered {sum(one.score is not None for one in opinions.values()):,} times"
    )

    def show(measured: Measurements, _: Encoder) -> ExtraMetrics:
        asked = [_pair(row.change, row.review) for row in measured.rows]
        return _shown(judge, asked, [opinions[pair] for pair in asked])

    return show


def _pair(change: StudyChange, review: RatedReview) -> Pair:
    return Pair(change.language, change.patch, review.text)


def _shown(judge: Judge, pairs: Sequence[Pair], opinions: Sequence[Opinion]) -> ExtraMetrics:
    answered = {at: one.score for at, one in enumerate(opinions) if one.score is not None}
    notes = tuple(f"{judge.name}: {note}" for note in _notes(judge, pairs, opinions))
    if not answered:
        return ExtraMetrics((), notes)
    metric = Metric(
        name=judge.name,
        values=np.array(list(answered.values()), dtype=np.float64),
        variant=judge.variant,
        rows=None if len(answered) == len(pairs) else tuple(answered),
    )
    return ExtraMetrics((metric,), notes)


def _notes(judge: Judge, pairs: Sequence[Pair], opinions: Sequence[Opinion]) -> list[str]:
    reviews = f"of {len(pairs):,} reviews"
    notes = []
    reasons = Counter(one.reason for one in opinions if one.reason is not None)
    if reasons:
        left = len(pairs) == reasons.total()
        what = "it is left out" if left else "these have no value and are not compared"
        notes.append(f"no answer for {reasons.total():,} {reviews}, {what}: {_reasons(reasons)}")
    wordy = sum(one.score is not None and not one.is_score for one in opinions)
    if wordy:
        notes.append(
            f"the answers for {wordy:,} {reviews} are no score and count as {LOWEST}, as published"
        )
    cut = sum(_judge_chat.is_cut(judge.prompt, pair) for pair in pairs)
    if cut:
        most = judge.prompt.content.most_change_characters
        notes.append(f"for {cut:,} {reviews} it saw the first {most:,} characters of the change")
    return notes


def _reasons(reasons: Counter[str]) -> str:
    named = [f"{reason} ({times:,})" for reason, times in reasons.most_common(NAMED)]
    more = len(reasons) - len(named)
    return "; ".join([*named, f"{more} other reasons"] if more > 0 else named)
