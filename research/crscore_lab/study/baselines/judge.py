"""Language model that rates reviews: a baseline that the score is compared with.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801, section 5 and appendix D.4; the prompt is our own.
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
"""Version of the way that data are fenced in a request; a new version invalidates cached
answers."""
_MARK_DIGITS: Final = 32
# Matches "python", "C++", "c#", "Objective-C", but no sentence, which could instruct the model.
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9+#./_-]{1,24}")
GROUP: Final = 128
"""Number of questions asked of a server before their answers are cached."""
SCORES: Final = "12345"
"""Characters that a valid answer begins with."""
LOWEST: Final = 1
"""Score of an invalid answer."""
EMPTY: Final = "the answer is empty, or only reasoning"
MAX_REASONS: Final = 3
"""Maximum number of reasons that a note names; it only counts further reasons."""


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of a prompt file `judge.vN.toml`."""

    system: str
    """The model's role."""
    user: str
    """The question, with placeholders."""
    max_tokens: Count
    """Maximum number of tokens of an answer."""
    most_change_characters: Count
    """Maximum number of characters of a change; a longer change is truncated."""


class Pair(NamedTuple):
    """Change and review that the judge is asked about."""

    language: str
    """Programming language of the change."""
    change: str
    """The diff's text."""
    review: str
    """The review's text; may be blank."""


class Opinion(NamedTuple):
    """Judge's opinion of one review."""

    score: int | None
    """Score from 1 to 5; None if the judge did not answer."""
    is_score: bool
    """False if the judge did not answer, or if the answer is invalid, whose score is 1."""
    reason: str | None = None
    """Why there is no answer, one clause; None if there is one."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge of the relevance of reviews, backed by a language model."""

    model: str
    """Engine and model as the user named them, such as `openai:MODEL`."""
    engine: Engine
    store: Cache | None
    """Cache of answers; None to cache none."""
    prompt: Prompt[Wording] = field(default_factory=partial(prompts.read_prompt, NAME, Wording))

    @property
    def name(self) -> str:
        """Name of the metric."""
        return f"judge ({self.model})"

    @property
    def variant(self) -> str:
        """Description of the method; the same variant gives the same values."""
        tokens = self.prompt.content.max_tokens
        return (
            f"{self.engine.identity}, {self.prompt.identity}, greedy, {tokens} tokens; one score "
            f"from 1 to 5 for all dimensions: the answer's first character, else {LOWEST}"
        )

    def ask(self, pairs: Sequence[Pair]) -> dict[Pair, Opinion]:
        """Ask about each distinct pair whose answer is not cached, in batches.

        Args:
            pairs: Changes and reviews; grouped by change, they share most of a request's text.

        Returns:
            Pair -> opinion.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available locally and may not be downloaded.
            GenerationError: The model answers no request.
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
        # A server is asked in groups, so that a failure does not lose the answers of earlier
        # groups, which are then in the cache.
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
    """Return the names of judges without duplicates, after checking that each is ENGINE:MODEL.

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
    """Make a judge's engine, which loads a model or sends a request only when it is asked.

    Args:
        name: Engine and model, such as `openai:MODEL`.
        settings: Settings of language models. The LoRA adapter is not used, because it belongs to
            the claim generator.

    Raises:
        ConfigError: The engine does not accept a setting, or lacks a required one.
    """
    engine, _, model = name.partition(":")
    options = scorer.model_options(settings)["engine"] | {"model": model, "lora": None}
    # The revision belongs to the model in the settings.
    if model != settings.model:
        options["revision"] = None
    return make_engine_of_claims(engine, options)


def read_opinion(answer: Answer) -> Opinion:
    """Read an answer by the published rule: the score is its first character, if this is 1 to 5.

    Otherwise the answer is invalid, and the score is 1. Leading white space and reasoning are
    ignored; an answer that is blank without them counts as missing. So `4/5` is a 4, and `Score: 4`
    is invalid.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, section 5. The paper does not report how many
        answers are invalid.

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
    """Ask a judge about a study's reviews, and return a function that makes a metric of the scores.

    The judge is asked immediately, so that a run whose server does not answer fails before the
    reviews are scored.

    Args:
        rated: The study; its ground truth is not scored, so the judge is not asked about it.
        judge: Judge to ask.

    Returns:
        An argument `extra` of `run.run`. The metric has no value for a review without an answer; if
        there is no answer at all, the metric is left out, and a note says so.

    Raises:
        DependencyError: The engine's package is not installed.
        ModelNotFoundError: The model is not available locally and may not be downloaded.
        GenerationError: The model answers no request.
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
        outcome = "the judge is left out" if is_all else "which are not compared with this judge"
        frequent = [f"{reason} ({times:,})" for reason, times in reasons.most_common(MAX_REASONS)]
        if len(reasons) > MAX_REASONS:
            frequent.append(f"{len(reasons) - MAX_REASONS} other reasons")
        yield f"no answer for {reasons.total():,} {reviews}, {outcome}: {'; '.join(frequent)}"
    invalid = sum(score is not None and not is_score for score, is_score, _ in opinions)
    if invalid:
        yield f"for {invalid:,} {reviews}, the answer is not a score, so it counts as {LOWEST}"
    limit = judge.prompt.content.most_change_characters
    cut = sum(len(pair.change) > limit for pair in pairs)
    if cut:
        yield f"for {cut:,} {reviews}, this judge saw only {limit:,} characters of the change"


def make_mark(prompt: Prompt[Wording], pairs: Iterable[Pair]) -> str:
    """Return the marker that fences the data in all requests of a run.

    The marker is a hash of the fenced texts, so that none of them can contain it and end its fence.
    Unlike a random marker, it gives the same requests for the same study.
    """
    digest = hashlib.sha256(prompt.sha256.encode())
    for pair in pairs:
        digest.update(_digest(pair).encode())
    return digest.hexdigest()[:_MARK_DIGITS]


def make_chat(prompt: Prompt[Wording], pair: Pair, mark: str) -> tuple[Message, ...]:
    """Build the messages of a request about one pair.

    Args:
        prompt: The prompt.
        pair: The change, which is truncated to the prompt's limit, and the review, which is not.
        mark: Marker that fences the change and the review.

    Returns:
        A system message and a user message.
    """
    wording = prompt.content
    change = pair.change[: wording.most_change_characters]
    language = pair.language if _LANGUAGE.fullmatch(pair.language) else "unknown"
    values = {
        "language": language,
        "change": break_control_tokens(change).strip("\n"),
        # Without this, a review could end the user message with a control token of the model.
        "review": break_control_tokens(pair.review).strip("\n"),
        "mark": mark,
    }
    return (
        Message(role="system", text=wording.system.strip()),
        Message(role="user", text=prompts.fill(wording.user.strip(), values)),
    )


def make_key(prompt: Prompt[Wording], pair: Pair, engine: str) -> str:
    """Return the key of an answer in the cache; each model and prompt has other keys.

    Args:
        prompt: The prompt.
        pair: Change and review that the judge is asked about.
        engine: The engine's identity.

    Returns:
        `judge`, a space and 64 hex digits.
    """
    content = json.dumps([_FENCE_VERSION, engine, prompt.name, prompt.sha256, _digest(pair)])
    return f"judge {hashlib.sha256(content.encode()).hexdigest()}"


def _digest(pair: Pair) -> str:
    # `json.dumps` escapes lone surrogates, which a study may contain and UTF-8 cannot encode.
    return hashlib.sha256(json.dumps(pair).encode()).hexdigest()
