"""Language model as a judge of reviews: a baseline reported with the score, never part of it.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801, section 5 and appendix D.4; the wording is our own.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np

from crscore import plugins, progress, scorer
from crscore.cache import Cache
from crscore.claims.model import make_engine as make_engine_of_claims
from crscore.encoders.base import Encoder
from crscore.llm import prompts
from crscore.llm.answers import parse_answer
from crscore.llm.base import Answer, Engine, Message, Sampling
from crscore.llm.prompt_escaping import break_control_tokens
from crscore.llm.prompts import Prompt
from crscore.settings import Config
from crscore.text import replace_surrogates
from crscore_lab.study.data.study import GROUND_TRUTH, RatedReview, Study, StudyChange
from crscore_lab.study.measures.measurements import Extra, ExtraMetrics, Measurements, Metric

Count = Annotated[int, msgspec.Meta(gt=0, le=2**20)]

NAME: Final = "judge.v1"
"""Name of the prompt."""
_FENCE_VERSION: Final = 1
"""Version of the data fencing; a new version invalidates cached answers."""
_MARK_DIGITS: Final = 32
# "python", "C++", "c#", "Objective-C"; not a sentence.
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#./_-]{1,24}")
GROUP: Final = 128
"""Number of questions sent to a server before its answers are cached."""
SCORES: Final = "12345"
"""Valid first characters of an answer."""
LOWEST: Final = 1
"""Score of an answer that is not a score."""
EMPTY: Final = "the answer is empty, or reasoning alone"
MAX_REASONS: Final = 3
"""Maximum number of reasons that a note names; the others are counted."""


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Contents of a `judge.vN.toml`."""

    system: str
    """The model's role."""
    user: str
    """The question, with placeholders."""
    max_tokens: Count
    """Maximum number of tokens of an answer."""
    most_change_characters: Count
    """Maximum number of characters of a change; a longer change is cut."""


class Pair(NamedTuple):
    """One question."""

    language: str
    """Programming language of the change."""
    change: str
    """The diff's text."""
    review: str
    """The review's text; may be blank."""


class Opinion(NamedTuple):
    """Judge's opinion of one review."""

    score: int | None
    """From 1 to 5; None when the judge did not answer."""
    is_score: bool
    """False when there was no answer, or one that is not a score and so counts as 1."""
    reason: str | None = None
    """Reason for a missing answer, one clause; None when there is an answer."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge of the relevance of reviews, backed by a language model."""

    model: str
    """Engine and model as the user named them: `openai:MODEL`."""
    engine: Engine
    store: Cache | None
    """Cache of answers; None to ask each time."""
    prompt: Prompt[Wording] = field(default_factory=partial(prompts.read_prompt, NAME, Wording))

    @property
    def name(self) -> str:
        """Name of the metric."""
        return f"judge ({self.model})"

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
        engine = f"{self.engine.identity} {self.engine.origin}"
        keys = {pair: make_key(self.prompt, pair, engine) for pair in dict.fromkeys(pairs)}
        store = self.store
        cached = {pair: store.get(key) for pair, key in keys.items()} if store else {}
        opinions = {
            pair: read_opinion(Answer(text=content.decode(), whole=True))
            for pair, content in cached.items()
            if content is not None
        }
        uncached = [pair for pair in keys if pair not in opinions]
        mark = make_mark(self.prompt, keys)
        sampling = Sampling(max_tokens=self.prompt.content.max_tokens)
        # Groups, for a server: the answers of a group are cached even if the next group fails.
        size = GROUP if self.engine.origin else max(1, len(uncached))
        for start in range(0, len(uncached), size):
            group = uncached[start : start + size]
            chats = [make_chat(self.prompt, pair, mark) for pair in group]
            for pair, answer in zip(group, self.engine.complete(chats, sampling), strict=True):
                opinions[pair] = read_opinion(answer)
                if store is not None and opinions[pair].score is not None:
                    store.put(keys[pair], replace_surrogates(answer.text).encode())
        return opinions


def read_judge_names(texts: Sequence[str]) -> tuple[str, ...]:
    """Check the names of judges, each ENGINE:MODEL; duplicates are dropped.

    Raises:
        ValueError: A name has another form, or there is no such engine.
    """
    names, engines = tuple(dict.fromkeys(texts)), plugins.names("engines")
    for name in names:
        engine, _, model = name.partition(":")
        if engine not in engines or not model:
            forms = " or ".join(f"{known}:MODEL" for known in engines)
            raise ValueError(f"--judge takes {forms}, not {name!r}")
    return names


def make_engine(name: str, settings: Config) -> Engine:
    """Make a judge's engine, without loading a model or sending a request.

    Args:
        name: Engine and model: `openai:MODEL`.
        settings: Settings; those of the adapter are the claims' alone.

    Raises:
        ConfigError: The engine does not accept a setting, or lacks a required one.
    """
    engine, _, model = name.partition(":")
    options = scorer.model_options(settings)["engine"] | {"model": model, "lora": None}
    if model != settings.model:  # the revision is of this model
        options["revision"] = None
    return make_engine_of_claims(engine, options)


def read_opinion(answer: Answer) -> Opinion:
    """Read an answer by the published rule: its first character if that is 1 to 5, else 1.

    Leading white space and reasoning are ignored; a blank answer counts as missing. The model is
    greedy and limited to a few tokens, so `4/5` is a 4, and `Score: 4` is not a score.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, section 5. It does not report how many answers
        are not scores.

    Example:
        >>> [read_opinion(Answer(text=text, whole=True)).score for text in (" 4/5", "Score: 4")]
        [4, 1]
    """
    text = parse_answer(answer.text).text.strip()
    if answer.reason is not None or not text:
        return Opinion(None, is_score=False, reason=answer.reason or EMPTY)
    is_score = text[0] in SCORES
    return Opinion(int(text[0]) if is_score else LOWEST, is_score)


def ask_judge(rated: Study, judge: Judge) -> Extra:
    """Ask a judge about a study's reviews and return a function that adds its metric.

    The judge is asked immediately, so that a run whose server is missing fails before other work.

    Args:
        rated: The study; the ground truth, which is never scored, is not asked about.
        judge: Judge to ask.

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
    with progress.track(f"asking {judge.name}"):
        opinions = judge.ask(pairs)

    def compute(measured: Measurements, _: Encoder) -> ExtraMetrics:
        rows = [_pair(row.change, row.review) for row in measured.rows]
        scores = [opinions[pair].score for pair in rows]
        known = [row for row, score in enumerate(scores) if score is not None]
        found = _notes(judge, rows, [opinions[pair] for pair in rows])
        notes = tuple(f"{judge.name}: {note}" for note in found)
        metric = Metric(
            name=judge.name,
            values=np.array([scores[row] for row in known], dtype=np.float64),
            variant=judge.variant,
            rows=None if len(known) == len(rows) else tuple(known),
        )
        return ExtraMetrics((metric,) if known else (), notes)

    return compute


def _pair(change: StudyChange, review: RatedReview) -> Pair:
    return Pair(change.language, change.patch, review.text)


def _notes(judge: Judge, pairs: Sequence[Pair], opinions: Sequence[Opinion]) -> Iterator[str]:
    reviews = f"of {len(pairs):,} reviews"
    reasons = Counter(opinion.reason for opinion in opinions if opinion.reason is not None)
    if reasons:
        is_all = len(pairs) == reasons.total()
        outcome = "it is left out" if is_all else "these have no value and are not compared"
        frequent = [f"{reason} ({times:,})" for reason, times in reasons.most_common(MAX_REASONS)]
        if len(reasons) > MAX_REASONS:
            frequent.append(f"{len(reasons) - MAX_REASONS} other reasons")
        yield f"no answer for {reasons.total():,} {reviews}, {outcome}: {'; '.join(frequent)}"
    invalid = sum(score is not None and not is_score for score, is_score, _ in opinions)
    if invalid:
        yield f"for {invalid:,} {reviews} the answer is not a score, so it counts as {LOWEST}"
    limit = judge.prompt.content.most_change_characters
    cut = sum(len(pair.change) > limit for pair in pairs)
    if cut:
        yield f"for {cut:,} {reviews} it saw the first {limit:,} characters of the change"


def make_mark(prompt: Prompt[Wording], pairs: Iterable[Pair]) -> str:
    """Return the marker that fences the data of a run.

    The marker is a hash of the fenced texts. A text that contains it would have to contain a hash
    of itself, and the same study always yields the same prompts.
    """
    digest = hashlib.sha256(prompt.sha256.encode())
    for pair in pairs:
        digest.update(_digest(pair).encode())
    return digest.hexdigest()[:_MARK_DIGITS]


def make_chat(prompt: Prompt[Wording], pair: Pair, mark: str) -> tuple[Message, ...]:
    """Build the messages of one question.

    Args:
        prompt: The wording.
        pair: The change, which is cut to the prompt's limit, and the review, which is not.
        mark: Marker that fences the change and the review.

    Returns:
        A system and a user message; all pairs of a prompt share a prefix.
    """
    wording = prompt.content
    change = pair.change[: wording.most_change_characters]
    language = pair.language if _LANGUAGE.fullmatch(pair.language) else "unknown"
    values = {
        "language": language,
        "change": break_control_tokens(change).strip("\n"),
        # Otherwise a review could end the user's message with one of the model's control tokens.
        "review": break_control_tokens(pair.review).strip("\n"),
        "mark": mark,
    }
    return (
        Message(role="system", text=wording.system.strip()),
        Message(role="user", text=prompts.fill(wording.user.strip(), values)),
    )


def make_key(prompt: Prompt[Wording], pair: Pair, engine: str) -> str:
    """Return the cache key of an answer, specific to model and prompt.

    Args:
        prompt: The wording, with the sampling settings.
        pair: The question.
        engine: The engine's identity.

    Returns:
        `judge` and 64 hex digits.
    """
    content = json.dumps([_FENCE_VERSION, engine, prompt.name, prompt.sha256, _digest(pair)])
    return f"judge {hashlib.sha256(content.encode()).hexdigest()}"


def _digest(pair: Pair) -> str:
    # ASCII: a study may hold half a surrogate pair.
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()
