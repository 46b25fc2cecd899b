"""Scores one pull request and returns the rows to store; runs in any process."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from crscore.audit.formulas import number_words
from crscore.audit.score.assemble import ScoringTask, assemble
from crscore.audit.store.queries import FAILED
from crscore.audit.store.rows import CommentScore, LastScored, Row, Score, comment_key
from crscore.bench.overlap import same_points
from crscore.bench.records import Finding
from crscore.encoders.minilm import MiniLM
from crscore.errors import ConfigError, DependencyError, ModelNotFoundError
from crscore.pull_request import run
from crscore.pull_request.reviewers.identify import ReviewerThread
from crscore.pull_request.run import ScoredPull
from crscore.readers.model import Effort
from crscore.records import (
    UNCONFINED,
    CommentResult,
    Flag,
    Remark,
    Result,
    ReviewResult,
    Stance,
    Usefulness,
)
from crscore.reports import escape
from crscore.review.read import NOT_READ
from crscore.review.sentences import split_comment
from crscore.scorer import Scorer, diff_limits, make_encoder
from crscore.scoring.assembly import read_part, render_signature
from crscore.settings import Config, override_settings
from crscore.static_analysis import suite
from crscore.static_analysis.suite import Suite
from crscore.static_analysis.tools import Installed

MAX_TEXT_CHARS: Final = 500
"""Maximum number of characters of the stored text of a comment, or of a reason."""
BY_MODEL: Final = " by a model"
"""End of a stored verdict that a language model gave, with a quoted line as proof."""
# A comment with a refuted and a confirmed remark counts as refuted. A verdict from the code counts
# more than the same verdict from a model.
VERDICTS: Final = ("refuted", f"refuted{BY_MODEL}", "confirmed", f"confirmed{BY_MODEL}")
"""Verdicts on a comment that are stored; the first one that any of its remarks has is stored."""
NO_READER: Final = "there are no usefulness weights for the encoder"
_SETUP_ERRORS: Final = (ConfigError, DependencyError, ModelNotFoundError)
"""Errors that end the run, because they would occur for every pull request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Scored pull request, as rows to store."""

    signature: str
    """Text of the signature of the scores."""
    rows: tuple[Row, ...]
    """Rows of `scores`, `comment_scores` and `last_scored`; the signature in them is 0, because
    only the store knows the number of the signature."""
    failure: str | None = None
    """Why the pull request could not be scored; None if it was scored."""
    effort: Effort = field(default_factory=Effort)
    """Numbers of requests to a language model and of tokens."""

    def with_signature(self, signature: int) -> Iterator[Row]:
        """Yield the rows with the number of the signature."""
        return (replace(row, signature=signature) for row in self.rows)  # type: ignore[call-arg]


def score_task(task: ScoringTask, settings: Config) -> Scored:
    """Score a pull request with the scorer of this process; see `score_pull`."""
    return score_pull(task, make_scorer(settings))


def share_limit(settings: Config, workers: int) -> Config:
    """Return the settings of one worker, so that all workers share the limit of model requests."""
    if settings.reader_limit is None:
        return settings
    return override_settings(settings, {"reader_limit": max(1, settings.reader_limit // workers)})


@lru_cache(maxsize=1)
def make_scorer(settings: Config) -> Scorer:
    """Return the scorer of this process, which is created at the first call."""
    # Pull requests are untrusted, so analyzers run in a sandbox or not at all
    # (docs/design/013-untrusted-code.md). One thread is used, because one process per core is
    # faster than several threads in one process, and because the vectors then do not depend on the
    # number of processes.
    return Scorer(settings, encoder=make_encoder(settings, threads=1), untrusted=True)


def signature_of(scorer: Scorer, result: Result | None = None) -> str:
    """Return the signature of an audit's scores.

    The signature of a single result names only the tools that ran on its files. This signature
    names all installed tools, so that it is the same for every pull request.

    Args:
        scorer: Scorer with the settings.
        result: Result of one pull request. If a language model read only a part of it, the
            signature says so, and the next run scores it again. None for the signature of a
            complete result.
    """
    parts = scorer.parts
    tools = _name_tools(parts.analyzers) if isinstance(parts.analyzers, Suite) else suite.NONE
    # "points" is the version of `same_points`, whose results are stored with the scores.
    identities = {"claims": parts.generator.identity, "analyzers": tools, "points": "2"}
    if result and (readings := read_part(result.signature, "readings")):
        identities["readings"] = readings
    return render_signature({**parts.signature, **identities})


@lru_cache(maxsize=1)
def _name_tools(analyzers: Suite) -> str:
    if not analyzers.analyzers:
        return suite.NONE
    confined = analyzers.is_confined()
    # Without a sandbox, no analyzer runs on untrusted code, so none is named.
    analyzers_found = analyzers.find_tools() if confined or not analyzers.untrusted else ()
    names = sorted(
        f"{analyzer.name}@{state.version}"
        for analyzer, state in analyzers_found
        if isinstance(state, Installed)
    )
    return ",".join([*names, *([] if confined else [UNCONFINED])]) or suite.NONE


def score_pull(task: ScoringTask, scorer: Scorer) -> Scored:
    """Score a pull request.

    Args:
        task: The pull request.
        scorer: Scorer with the settings.

    Returns:
        The rows of the pull request. If it cannot be scored, the only row has the reason and stands
        for all reviewers together.

    Raises:
        ConfigError: A setting is wrong.
        DependencyError: A package is missing.
        ModelNotFoundError: A model is missing.
    """
    model = scorer.parts.model
    before = model.effort if model else Effort()
    try:
        scored_pull = run.score_pull(assemble(task, diff_limits(scorer.settings)), scorer)
        rows = (
            *_make_scores(task, scored_pull),
            *_make_comment_scores(task, scored_pull, scorer),
            LastScored(**_key(task)),
        )
    except _SETUP_ERRORS:
        raise
    except Exception as exc:  # noqa: BLE001  (one pull request must not end the run)
        scored = make_failure(task, signature_of(scorer), str(exc) or type(exc).__name__)
    else:
        scored = Scored(signature=signature_of(scorer, scored_pull.result), rows=rows)
    # The effort also counts if the pull request failed after the model had answered.
    after = model.effort if model else Effort()
    return replace(scored, effort=Effort(*map(operator.sub, after, before)))


def make_failure(task: ScoringTask, signature: str, reason: str) -> Scored:
    """Return the result for a pull request that could not be scored: one row with the reason.

    Args:
        task: The pull request.
        signature: Signature that its scores would have.
        reason: Reason, a clause; may be untrusted text.
    """
    failure = FAILED + escape.one_line(reason, MAX_TEXT_CHARS)
    row = Score(
        **_key(task), reviewer="", night=task.night, is_bot=0, comments=0, words=0, reason=failure
    )
    return Scored(signature=signature, rows=(row,), failure=failure.removeprefix(FAILED))


def _key(task: ScoringTask) -> dict[str, Any]:
    pull_key = {"repository": task.pull.repository, "number": task.pull.number}
    return {**pull_key, "signature": 0, "content": task.content}


def _sort_remarks(result: Result, value: Usefulness | None) -> list[Remark]:
    """Return the remarks that a usefulness is based on: valuable remarks, then the others."""
    remarks = [result.remarks[share.remark] for share in value.shares] if value else []
    return sorted(remarks, key=lambda remark: not remark.is_valuable)


def _make_scores(task: ScoringTask, scored_pull: ScoredPull) -> Iterator[Score]:
    result, posts = scored_pull.result, scored_pull.reviewers
    threads = (*posts.threads, *posts.repeats)
    reviews: list[tuple[str, ReviewResult | Result]] = [("", result)]
    reviews += [(review.author or "", review) for review in result.reviews]
    for name, review in reviews:
        of_reviewer = [thread for thread in threads if name in ("", thread.reviewer)]
        scores, useful = review.scores, review.usefulness
        yield Score(
            **_key(task),
            reviewer=name,
            night=task.night,
            # If an app and a person post under the same name, the reviewer counts as a person.
            is_bot=int(bool(of_reviewer) and all(thread.is_bot for thread in of_reviewer)),
            comments=len(of_reviewer),
            words=review.baselines.words,
            standing=useful.standing if useful else None,
            # The value is rounded, because platforms differ in the last digits, but equal runs must
            # write equal stores.
            relevance=None if scores.relevance is None else round(scores.relevance, 6),
            reason=scores.reason or (None if useful else NO_READER),
        )


def _first_comments(scored_pull: ScoredPull, scorer: Scorer) -> dict[int, int]:
    """Return, for each comment with a valuable remark, the first comment that makes its point.

    Both are keys of comments. The result is empty if there are no weights for the encoder.
    """
    result, reader = scored_pull.result, scorer.parts.reader
    findings = {}
    for thread, item in zip(scored_pull.reviewers.threads, result.comments, strict=True):
        best = next(iter(_sort_remarks(result, item.usefulness)), None)
        if best is not None and best.is_valuable:
            text = " ".join(result.sentences[index].text for index in best.sentences)
            path, line = item.comment.path, item.comment.line
            findings[_comment_key_of(thread)] = Finding(
                change="", bot=thread.reviewer, text=text, path=path, line=line
            )
    if reader is None:
        return {}
    # The encoder is always MiniLM, because the pair model was trained with its vectors.
    firsts = same_points(tuple(findings.values()), MiniLM(), reader.weights.rarity)
    keys = tuple(findings)
    return {key: keys[first] for key, first in zip(keys, firsts, strict=True)}


def _make_comment_scores(
    task: ScoringTask, scored_pull: ScoredPull, scorer: Scorer
) -> Iterator[CommentScore]:
    result, firsts = scored_pull.result, _first_comments(scored_pull, scorer)
    for thread, item in zip(scored_pull.reviewers.threads, result.comments, strict=True):
        useful, remarks = item.usefulness, _sort_remarks(result, item.usefulness)
        best = next(iter(remarks), None)
        unread = Flag.NOT_ENGLISH.value if item.scores.reason == NOT_READ else None
        proofs = [remark.receipt for remark in remarks if remark.receipt]
        verdicts = {proof.verdict.value + BY_MODEL * (not proof.says) for proof in proofs}
        yield CommentScore(
            comment=_comment_key_of(thread),
            signature=0,
            content=task.content,
            standing=useful.standing if useful else None,
            noise=noise_of(result, item),
            stance=best.stance.value if best else unread,
            level=best.level.value if best and best.is_valuable else None,
            verdict=next((verdict for verdict in VERDICTS if verdict in verdicts), None),
            point=firsts.get(_comment_key_of(thread)),
            **_text_columns(thread),
        )
    # All posts of these threads repeat other posts of the same reviewer (`identify`).
    for thread in scored_pull.reviewers.repeats:
        key, text = _comment_key_of(thread), _text_columns(thread)
        yield CommentScore(comment=key, signature=0, content=task.content, noise="repeat", **text)


def _comment_key_of(thread: ReviewerThread) -> int:
    first = thread.posts[0]
    return comment_key(first.kind, first.id)


def _text_columns(thread: ReviewerThread) -> dict[str, Any]:
    """Return the columns `text` (start of the comment, without markup) and `words`."""
    body = thread.posts[0].body
    # If a comment has no sentence, it is a code block, which is stored as it is.
    text = escape.one_line(" ".join(split_comment(body).sentences) or body, MAX_TEXT_CHARS)
    return {"text": text, "words": number_words(text)}


def noise_of(result: Result, item: CommentResult) -> str | None:
    """Return why a comment is noise; None if it may be useful.

    Args:
        result: Result that contains the comment.
        item: The comment, which must not be a repeat.

    Returns:
        The first of these that applies: `restates` if all remarks only describe the change;
        `praise` if all remarks praise or describe the change, or if the comment has no remarks, but
        only headings and thanks; `nothing` if no remark is valuable. None if a remark is valuable,
        if the text is in another language, or if there is no visible sentence, because the comment
        may then be a suggestion.
    """
    visible_sentences = [index for index in item.sentences if not result.sentences[index].hidden]
    if not visible_sentences or item.scores.reason == NOT_READ:
        return None
    if item.usefulness is None:
        # Without usefulness weights, a comment is useful if it matches a pseudo-reference.
        addresses = any(result.sentence_matches[index].matched for index in visible_sentences)
        return None if addresses else "nothing"
    remarks = _sort_remarks(result, item.usefulness)
    if any(remark.is_valuable for remark in remarks):
        return None
    stances = {remark.stance for remark in remarks}
    if stances == {Stance.DESCRIPTION}:
        return "restates"
    return "praise" if stances <= {Stance.DESCRIPTION, Stance.PRAISE} else "nothing"
