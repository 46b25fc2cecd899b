"""Asks a language model to read comments, with one request for each comment, and caches answers."""

import hashlib
import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import msgspec

from crscore.cache import Cache
from crscore.errors import GenerationError, MalformedAnswerError
from crscore.llm.answers import summarize
from crscore.llm.base import Answer, Engine, Sampling
from crscore.readers.answers import read_answer
from crscore.readers.readings import ModelReadings, ReadRemark
from crscore.readers.requests import (
    BYTES_PER_TOKEN,
    MAX_REQUEST_BYTES,
    MAX_TOKENS,
    VERSION,
    Question,
    Request,
    make_requests,
    read_guide,
)
from crscore.text import count_noun

KIND: Final = "readings"
"""First word of the keys in the cache."""
# Services state the price of a million tokens: https://openai.com/api/pricing/
TOKENS_PER_PRICE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Respondent:
    """Source of answers: a language model or a recording."""

    identity: str
    """Name for everything that determines the answers; part of the signature."""
    ask: Callable[[Sequence[Question]], Sequence[Answer]]
    """Returns one answer for each question, in order; an answer without text has a reason."""
    origin: str = ""
    """Address of the model's server, part of the key of cached answers."""
    max_bytes: int = MAX_REQUEST_BYTES
    """Maximum bytes of the texts of one request."""


def make_respondent(
    engine: Engine, *, max_tokens: int = MAX_TOKENS, temperature: float = 0.0
) -> Respondent:
    """Return a source of answers that asks a language model.

    Args:
        engine: Engine of the model. If the engine fails, every answer has the reason instead of a
            text.
        max_tokens: Maximum tokens of an answer.
        temperature: Sampling temperature.
    """
    answer_tokens, max_bytes = max_tokens, MAX_REQUEST_BYTES
    if (context := engine.context_tokens) is not None:
        answer_tokens = min(max_tokens, context // 2)
        # The guide and the answer share the context with the texts.
        room = (context - answer_tokens) * BYTES_PER_TOKEN - len(read_guide().content.instruction)
        max_bytes = min(MAX_REQUEST_BYTES, room)

    def ask(requests: Sequence[Question]) -> Sequence[Answer]:
        sampling = Sampling(
            max_tokens=answer_tokens, temperature=temperature, schema=requests[0].schema
        )
        try:
            special = engine.special_tokens
            return engine.complete([request.chat(special) for request in requests], sampling)
        except GenerationError as exc:
            return (Answer(text="", whole=False, reason=str(exc)),) * len(requests)

    return Respondent(
        identity=f"{engine.identity},t{temperature:g},n{max_tokens}",
        ask=ask,
        origin=engine.origin,
        max_bytes=max_bytes,
    )


def collect_into(requests: list[Question]) -> "ModelReader":
    """Return a reader that only adds its requests to a list; the network reads all comments."""

    def ask(new: Sequence[Question]) -> Sequence[Answer]:
        requests.extend(new)
        return (Answer(text="", whole=False, reason="the request was only listed"),) * len(new)

    return ModelReader(Respondent(identity="requests", ask=ask))


class Prices(NamedTuple):
    """Prices of a million tokens, in any currency."""

    read: float
    """Price of a million tokens that the model reads."""
    written: float
    """Price of a million tokens that the model writes."""


class Effort(NamedTuple):
    """Requests and tokens that the reading of comments took."""

    read: int = 0
    """Comments that the model read."""
    comments: int = 0
    """Comments that the model was to read, including those that it did not read."""
    requests: int = 0
    """Requests with an answer, new or cached."""
    again: int = 0
    """Requests whose answer was cached by an earlier run, so that no model was asked."""
    tokens_read: int = 0
    """Tokens that the model read for all answers, new and cached."""
    tokens_written: int = 0
    """Tokens that the model wrote for all answers, new and cached."""
    new_requests: int = 0
    """Requests that the model answered in this run."""
    new_read: int = 0
    """Tokens that the model read for new requests."""
    new_written: int = 0
    """Tokens that the model wrote for new requests."""

    @classmethod
    def of(cls, answers: Sequence[Answer], **counts: int) -> Self:
        """Return the sums of the tokens of answers, together with other counts."""
        return cls(
            tokens_read=sum(answer.input_tokens or 0 for answer in answers),
            tokens_written=sum(answer.output_tokens or 0 for answer in answers),
            **counts,
        )

    def price(self, prices: Prices | None) -> float | None:
        """Return the price of reading 1,000 comments; None if prices or tokens are unknown.

        Example:
            >>> Effort(read=10, tokens_read=20_000, tokens_written=1_000).price(Prices(1, 10))
            3.0
        """
        if prices is None or not self.read or not self.tokens_read:
            return None
        cost = self.tokens_read * prices.read + self.tokens_written * prices.written
        return 1000 * cost / TOKENS_PER_PRICE / self.read

    def describe(self, prices: Prices | None, noun: str) -> str:
        """Describe the tokens and, if it is known, the price of reading 1,000 texts.

        `noun` names these texts, in the plural: `comments`.
        """
        cost = self.price(prices)
        price = "" if cost is None else f"; price of 1,000 {noun}: {cost:.2f}"
        return f"tokens read: {self.tokens_read:,}, written: {self.tokens_written:,}{price}"


class ModelReader:
    """Reader that asks a language model.

    Args:
        respondent: Source of the answers.
        cache: Answers of earlier runs; None to cache nothing.
        limit: Maximum number of requests, in all calls together; None for no limit.
        prices: Prices of tokens; None if unknown.
    """

    def __init__(
        self,
        respondent: Respondent,
        *,
        cache: Cache | None = None,
        limit: int | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.make_requests = make_requests
        self.respondent = respondent
        self._cache = cache
        self._limit = limit
        self._asked = 0
        self.prices = prices
        self.effort = Effort()
        """Effort of all calls together."""

    @property
    def identity(self) -> str:
        """Model, guide and version of the requests, for the signature."""
        return f"{self.respondent.identity},{read_guide().identity},r{VERSION}"

    def read(self, reviews: Sequence[Sequence[Request]]) -> list[ModelReadings]:
        """Read the comments of reviews, in one batch.

        Args:
            reviews: The requests about each review.

        Returns:
            The readings of each review.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available and may not be downloaded.
        """
        answers, read_before = self.ask(request for review in reviews for request in review)
        return [self._read_review(review, answers, read_before) for review in reviews]

    def ask(self, questions: Iterable[Question]) -> tuple[dict[str, Answer], Set[str]]:
        """Ask each question once.

        Returns:
            Id of a question -> its answer, and the ids of the questions whose answers were cached.

        Raises:
            DependencyError, ModelNotFoundError: As in `read`.
        """
        distinct = {question.id: question for question in questions}
        read_before: dict[str, Answer] = {}
        if self._cache is not None:
            cached = {key: self._cache.get(self._key(key)) for key in distinct}
            read_before = {
                key: msgspec.json.decode(data, type=Answer)
                for key, data in cached.items()
                if data is not None
            }
        # Only questions without a cached answer are asked.
        unread = [question for key, question in distinct.items() if key not in read_before]
        if self._limit is not None:
            # The network alone reads the other comments, and the signature says `partial`, so that
            # an audit scores the pull request again in its next run (docs/design/033-readers.md).
            unread = unread[: self._limit - self._asked]
        self._asked += len(unread)
        new = self.respondent.ask(unread) if unread else ()
        # The costs are counted before the answers are parsed, so that an error there loses none.
        full, cost = sum(answer.reason is None for answer in new), Effort.of(new)
        cost = Effort(new_requests=full, new_read=cost.tokens_read, new_written=cost.tokens_written)
        self.effort = Effort(*map(operator.add, self.effort, cost))
        answers = dict(zip((question.id for question in unread), new, strict=True))
        reason = f"over the limit of {self._limit} requests"
        unasked = dict.fromkeys(distinct, Answer(text="", whole=False, reason=reason))
        return unasked | read_before | answers, read_before.keys()

    def _read_review(
        self, requests: Sequence[Request], answers: Mapping[str, Answer], cached_answers: Set[str]
    ) -> ModelReadings:
        remarks: dict[int, Sequence[ReadRemark]] = {}
        failures: list[str | MalformedAnswerError] = []
        used: list[Answer] = []
        is_whole = True
        for request in requests:
            answer = answers[request.id]
            if answer.reason is not None:
                failures.append(answer.reason)
                is_whole = False
                continue
            used.append(answer)
            try:
                read = read_answer(answer, request.entry.shown, request.excerpt)
            except MalformedAnswerError as exc:
                # Not cached, so that the next run sends the request again.
                failures.append(exc)
                continue
            if self._cache is not None and request.id not in cached_answers:
                self._cache.put(self._key(request.id), msgspec.json.encode(answer))
            if read:
                remarks[request.entry.comment_index] = read
            else:
                failures.append("the answer quotes no words of the comment")
        if not requests:
            return ModelReadings()
        effort = Effort.of(
            used,
            read=len(remarks),
            comments=len(remarks) + len(failures),
            requests=len(used),
            again=sum(request.id in cached_answers for request in requests),
        )
        self.effort = Effort(*map(operator.add, self.effort, effort))
        notes = [self._describe(effort)]
        if failures:
            comments = count_noun(len(failures), "comment")
            notes.append(f"The network alone read {comments}: {summarize(failures)}.")
        if cut := sum(not request.entry.shown.is_whole for request in requests):
            comments = count_noun(cut, "long comment")
            notes.append(f"The network alone read the end of {comments}.")
        return ModelReadings(remarks, tuple(notes), is_whole)

    @property
    def total(self) -> str:
        """The effort of all calls together, as a note."""
        return self._describe(self.effort)

    def _describe(self, effort: Effort) -> str:
        return (
            f"A language model read {effort.read:,} of {count_noun(effort.comments, 'comment')} "
            f"(requests: {effort.requests:,}, {effort.again:,} of them answered from the cache; "
            f"{effort.describe(self.prices, 'comments')})."
        )

    def _key(self, request_id: str) -> str:
        # Hashed, because the address of the server is private.
        content = json.dumps([self.identity, self.respondent.origin, request_id])
        return f"{KIND} {hashlib.sha256(content.encode()).hexdigest()}"
