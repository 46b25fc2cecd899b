"""Overview of one pull request, which is small enough to be passed between jobs.

Every document for people is made from the overview alone. The JSON document carries it from the job
that scores the pull request to the job with write permission, where `decode_overview` reads it. The
limits in the types apply to both jobs.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from crscore import records
from crscore.errors import InputError, LimitError
from crscore.hosts.records import PullRequest
from crscore.hosts.site import pull_name, site_of_page
from crscore.pull_request.reviewers.identify import ReviewerThread
from crscore.records import LineSpan, ReferenceKind, Severity, Side
from crscore.reports import escape, view
from crscore.reports.json import copy_fields
from crscore.reports.score_blocks import MAX_PROOF_PLACES
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:pull:4"
"""The `$id` of the JSON document's schema."""
# The limits prevent an untrusted file from filling the documents: a comment has at most 65,536
# characters, a job summary 1 MiB.
MAX_REVIEWERS = 200
MAX_POINTS = 500
MAX_REMARKS = 50
MAX_MORE_PLACES = 50
MAX_NOTES = 100
MAX_TEXT_CHARS = 2_000
MAX_NAME_CHARS = 100
# The file is not trusted, because code of a fork may have written it:
# https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
MAX_BYTES = 50_000_000
"""Maximum bytes of a JSON document that is read."""
# PATH_MAX of Linux.
MAX_PATH_CHARS = 4_096
_CUT_CHARS = 40
"""Characters reserved for the note that a text was truncated."""

Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]
Path = Annotated[str, Meta(min_length=1, max_length=MAX_PATH_CHARS)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Number = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Commit = Annotated[str, Meta(pattern=r"\A[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")]
# A name on GitHub, `owner/name`, has two parts. On GitLab, groups may have up to 20 levels of
# subgroups: https://docs.gitlab.com/user/group/subgroups/
# No part may be `.` or `..`.
_NAME: Final = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9_.-]{1,100}"
Repository = Annotated[str, Meta(pattern=rf"\A{_NAME}(?:/{_NAME}){{1,20}}\Z")]
# Documents link to this address, which may come from an untrusted file. So it must have no user,
# query or fragment, which could lead to a page of another kind.
Address = Annotated[
    str,
    Meta(
        pattern=r"\Ahttps?://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?(?:/[A-Za-z0-9._-]{1,100}){1,25}\Z",
        max_length=1_200,
    ),
]


class Useful(Struct, frozen=True, kw_only=True):
    """How useful some comments are to the author of the change."""

    standing: Annotated[int, Meta(ge=0, le=100)]
    """Share of real reviews by people and bots that are less useful, in percent."""
    low: Annotated[int, Meta(ge=0, le=100)]
    """Lower end of the standing's 80 % interval."""
    high: Annotated[int, Meta(ge=0, le=100)]
    """Upper end of the standing's 80 % interval."""
    among_bots: Annotated[int, Meta(ge=0, le=100)]
    """Share of real reviews by bots that are less useful, in percent."""
    word: Name
    """Word for the standing, or for comments about something else."""
    about: Share
    """Probability that the comments are about this change and no other."""
    importance: Share
    """Harm of a merge that ignores the most important remark, if the remark is right, from 0 to 1.
    """
    verdict: Text
    """Text that describes the standing; for all reviewers together, also what each remark adds, and
    how many remarks the code confirms or refutes.
    """


class Scores(Struct, frozen=True, kw_only=True):
    """Scores of some comments against the whole change, or why there are none."""

    usefulness: Useful | None
    """How useful they are, the headline; None if crscore has no weights for the encoder."""
    relevance: Share | None
    """Harmonic mean of conciseness and comprehensiveness."""
    conciseness: Share | None
    """How well the sentences address the change."""
    comprehensiveness: Share | None
    """How well the points of the change are addressed."""
    reason: Text | None
    """Why relevance, conciseness and comprehensiveness are None; None when they are numbers."""


class Together(Scores, frozen=True, kw_only=True):
    """Scores and counts of all comments of all reviewers together."""

    sentences: Count
    """Number of sentences."""
    on_topic: Count
    """Number of these sentences that address a point."""
    words: Count
    """Number of words."""
    points: Count
    """Number of topics, and of points without a topic, that a review of the change should address.
    """
    addressed: Count
    """Number of these topics and points that a comment addresses."""
    unaddressed: Count
    """Number of these topics and points that no comment addresses; `open` lists the most important.
    """


class Reviewer(Scores, frozen=True, kw_only=True):
    """Scores and counts of one reviewer."""

    name: Name
    """Login, or the name of the bot."""
    is_bot: bool
    """True for a bot."""
    is_trusted: bool
    """False for a person whom the repository did not choose, and whom gates do not count."""
    comments: Count
    """Number of comments that were scored."""
    sentences: Count
    """Number of sentences in these comments."""
    words: Count
    """Number of words in these comments."""
    threads: Count
    """Number of threads that the reviewer started."""
    resolved: Count | None
    """Number of these threads that are resolved; None when this is unknown."""
    outdated: Count
    """Number of comments on lines that are no longer part of the change."""


class Place(Struct, frozen=True, kw_only=True):
    """Place in the change."""

    path: Path | None
    """Path of the file on `side`; None for the entire change."""
    listed: Path | None
    """Path under which the host lists the file, which differs on the old side of a rename; None
    when it cannot be linked.
    """
    side: Side
    """Version that the line numbers refer to."""
    line: Count
    """First line, from 1; 0 for the entire file."""
    end_line: Count
    """Last line, inclusive; 0 for the entire file."""


class Proof(Struct, frozen=True, kw_only=True):
    """Proof that what a remark says about the code is true or false."""

    verdict: records.Verdict
    """Confirmed or refuted."""
    says: Text
    """What the remark says about the code, as a clause."""
    fact: Text
    """Fact about the code, as a sentence."""
    lines: Annotated[tuple[Place, ...], Meta(max_length=MAX_PROOF_PLACES)]
    """Places of the lines that prove the fact; at most `MAX_PROOF_PLACES`."""


class ReviewRemark(Place, frozen=True, kw_only=True):
    """Remark that needs an answer, or refuted remark, at the place of its comment."""

    text: Text
    """Sentences of the remark."""
    facts: Text
    """Description of the remark: importance, stance, and the points that it adds to the standing.
    """
    level: records.Importance | None
    """Harm of a merge that ignores the remark, if it is right; None if it is refuted."""
    reviewer: Name
    """Name of the remark's author, as in `reviewers`."""
    receipt: Proof | None
    """Proof of the verdict; None for an unproven remark."""


class Point(Place, frozen=True, kw_only=True):
    """Topic, or point without a topic, that a review should address, but no review does."""

    text: Text
    """English sentence, after the topic if there is one."""
    kind: ReferenceKind
    """Whether it is a claim about the change, its implication, or an issue."""
    source: Text
    """Claim generator that wrote the text, or tools that found the issue, joined by `+`."""
    severity: Severity | None
    """Severity of an issue; None for other kinds and when unknown."""
    weight: Share
    """How informative it is."""
    more: Annotated[tuple[Place, ...], Meta(max_length=MAX_MORE_PLACES)] = ()
    """Other places of an issue; at most `MAX_MORE_PLACES`."""


class Overview(Struct, frozen=True, kw_only=True):
    """Overview of one pull request: scores, reviewers and unaddressed points."""

    schema: Literal["urn:crscore:pull:4"] = SCHEMA
    """Name of the JSON document's schema."""
    version: Name
    """Version of crscore that scored it."""
    signature: Text
    """Signature of the settings: same signature and inputs, same scores."""
    repository: Repository
    """Full name of the repository: `owner/name`, or `group/subgroup/name`."""
    number: Number
    """Number of the pull request."""
    title: Text
    """Title of the pull request, untrusted."""
    url: Address
    """Address of the pull request on the host."""
    head: Commit
    """Newest commit of the pull request when it was scored."""
    graded: bool
    """True when the scores are means of degrees, False when they are shares."""
    together: Together
    """Counts and scores of all reviewers together."""
    trusted: Together | None
    """Counts and scores of the reviewers whom gates count, together; None without a gate, or if it
    counts all reviewers.
    """
    reviewers: Annotated[tuple[Reviewer, ...], Meta(max_length=MAX_REVIEWERS)]
    """Reviewers in order of first appearance, but those whom gates do not count are last; at most
    `MAX_REVIEWERS`.
    """
    other_reviewers: Count
    """Number of further reviewers, beyond that limit."""
    remarks: Annotated[tuple[ReviewRemark, ...], Meta(max_length=MAX_REMARKS)]
    """Refuted remarks, then those that need an answer, each the most valuable first; at most
    `MAX_REMARKS`.
    """
    open: Annotated[tuple[Point, ...], Meta(max_length=MAX_POINTS)]
    """Unaddressed topics and points, the most important first; at most `MAX_POINTS`."""
    missing: Annotated[tuple[Text, ...], Meta(max_length=MAX_NOTES)]
    """Descriptions of missing data that could change a score; empty when the data is complete."""
    notes: Annotated[tuple[Text, ...], Meta(max_length=MAX_NOTES)]
    """Other notes for a reader."""

    @property
    def name(self) -> str:
        """The pull request's name as people on the host write it, such as `owner/name#7`."""
        return pull_name(self.repository, self.number, self.url)

    @property
    def commit_url(self) -> str:
        """Address of the commit `head` in the pull request."""
        return site_of_page(self.url).commit_address(self.url, self.head)

    @property
    def partial(self) -> bool:
        """True if data that could change a score is missing."""
        return bool(self.missing)


def make_overview(
    pull: PullRequest,
    result: records.Result,
    people: Sequence[tuple[str, Sequence[ReviewerThread]]],
    notes: Sequence[str] = (),
    trusted: records.Result | None = None,
    *,
    untrusted: Collection[str] = (),
) -> Overview:
    """Condense the result for a pull request into an overview.

    Args:
        pull: Pull request as read from the host.
        result: Result of the pipeline; a comment's author is a reviewer's name.
        people: The reviewers with their threads, in the order of their rows.
        notes: Notes in addition to those of `pull` and `result`.
        trusted: Result of the reviewers whom the repository chose, if a gate needs it.
        untrusted: Names of the reviewers whom the repository did not choose.

    Returns:
        The overview, shortened to the limits of its types.
    """
    missed = [item for _, item in view.list_unaddressed(result)]
    # A host lists a renamed file once, under its new path, for both sides.
    listed = {file.old_path: file.path for file in pull.diff.files if file.old_path is not None}
    points = [_point(result, item, listed) for item in missed]
    # Errors of tools are first, then warnings; the rest is sorted by weight.
    points.sort(
        key=lambda point: (
            point.severity is not Severity.ERROR,
            point.severity is not Severity.WARNING,
            -point.weight,
        )
    )
    # The trusted result takes precedence, because in it no untrusted text could displace other
    # text.
    reviews = {item.author: item for run in (result, trusted or result) for item in run.reviews}
    rows = []
    for name, threads in people[:MAX_REVIEWERS]:
        review = reviews.get(name)
        started = [
            thread.place.resolved for thread in threads if thread.place.thread == thread.posts[0].id
        ]
        rows.append(
            Reviewer(
                usefulness=None if review is None else _make_useful(review.usefulness),
                **_published_scores(None if review is None else review.scores),
                name=_clip(name, MAX_NAME_CHARS) or "unknown",
                is_bot=any(thread.is_bot for thread in threads),
                is_trusted=name not in untrusted,
                comments=len(threads),
                sentences=0 if review is None else review.scores.sentences,
                words=0 if review is None else review.baselines.words,
                threads=len(started),
                resolved=None if None in started else sum(map(bool, started)),
                outdated=sum(thread.place.outdated for thread in threads),
            )
        )
    texts = (*pull.notes, *notes, *view.describe_flags(result), *view.notes(result))
    return Overview(
        version=__version__,
        signature=_clip(result.signature),
        repository=pull.repository,
        number=pull.number,
        title=_clip(pull.title),
        url=pull.url,
        head=pull.head,
        graded=view.has_degrees(result),
        together=_make_together(result),
        trusted=None if trusted is None else _make_together(trusted),
        reviewers=tuple(rows),
        other_reviewers=max(len(people) - MAX_REVIEWERS, 0),
        remarks=tuple(_make_remarks(result, listed))[:MAX_REMARKS],
        open=tuple(points[:MAX_POINTS]),
        missing=_limit_notes(pull.missing),
        notes=_limit_notes(texts),
    )


def _make_together(result: records.Result) -> Together:
    addressed = [point.addressed for point in view.points(result)]
    composition = view.sum_of_value(result)
    return Together(
        usefulness=_make_useful(
            result.usefulness, f"{composition}." * bool(composition), view.count_verdicts(result)
        ),
        **_published_scores(result.scores),
        sentences=result.scores.sentences,
        on_topic=view.count_on_topic(result),
        words=result.baselines.words,
        points=len(addressed),
        addressed=sum(addressed),
        unaddressed=addressed.count(False),
    )


def _make_useful(value: records.Usefulness | None, *further: str) -> Useful | None:
    if value is None:
        return None
    verdict = _clip(" ".join(filter(None, (view.verdict(value), *further))))
    word = _clip(value.word, MAX_NAME_CHARS)
    return copy_fields(Useful, value, word=word, verdict=verdict)


def _published_scores(scores: records.Scores | None) -> dict[str, Any]:
    names = ("relevance", "conciseness", "comprehensiveness")
    reason = "nothing to score was written" if scores is None else scores.reason
    values = {name: getattr(scores, name, None) for name in names}
    return values | {"reason": None if reason is None else _clip(reason)}


def _make_remarks(result: records.Result, listed: dict[str, str]) -> Iterator[ReviewRemark]:
    for remark, points in view.rank_remarks(result):
        if remark.is_valuable or view.is_refuted(remark):
            comment, receipt = result.comments[remark.comment].comment, remark.receipt
            proof = None
            if receipt is not None:
                spans = receipt.lines[:MAX_PROOF_PLACES]
                proof = Proof(
                    verdict=receipt.verdict,
                    says=_clip(receipt.says),
                    fact=_clip(receipt.fact),
                    lines=tuple(Place(**_locate([span], listed)) for span in spans),
                )
            yield ReviewRemark(
                text=_clip(view.remark_text(result, remark)),
                facts=_clip(view.describe_remark(remark, points)),
                level=remark.level if remark.is_valuable else None,
                reviewer=_clip(view.author(comment.author), MAX_NAME_CHARS),
                receipt=proof,
                **_locate(view.remark_spans(result, remark), listed),
            )


def _point(result: records.Result, item: records.PseudoReference, listed: dict[str, str]) -> Point:
    return Point(
        text=_clip(item.text),
        kind=item.kind,
        source=_clip(item.source),
        severity=view.severity(result, item),
        weight=item.weight,
        **_locate(item.spans, listed),
        more=tuple(Place(**_locate([span], listed)) for span in item.spans[1 : MAX_MORE_PLACES + 1])
        if item.kind is ReferenceKind.ISSUE
        else (),
    )


def _locate(spans: Sequence[LineSpan], listed: dict[str, str]) -> dict[str, Any]:
    """Return the fields of the place of the first span in the new version, else in the old one."""
    # The new version takes precedence, because hosts show it.
    span = min(spans, key=lambda span: span.side is not Side.NEW, default=_NO_SPAN)
    path = _clip(span.path, MAX_PATH_CHARS) or None
    listed_as = listed.get(span.path, span.path) if span.side is Side.OLD else span.path
    return {
        "path": path,
        "listed": listed_as if is_plain(listed_as) else None,
        "side": span.side,
        "line": 0 if path is None else span.start,
        "end_line": 0 if path is None else span.end,
    }


_NO_SPAN = LineSpan(path="", side=Side.NEW, start=0, end=0)


def _limit_notes(sentences: Iterable[str]) -> tuple[str, ...]:
    """Clean the notes and drop repeated ones; beyond the limit, the last note counts the rest."""
    texts = [_clip(sentence) for sentence in dict.fromkeys(sentences)]
    if len(texts) <= MAX_NOTES:
        return tuple(texts)
    return (*texts[: MAX_NOTES - 1], f"And {len(texts) - MAX_NOTES + 1:,} more, left out here.")


def _clip(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """Clean a text and truncate it to `limit`; a note at the end says that it was truncated."""
    return escape.one_line(text, limit - _CUT_CHARS)[:limit]


def decode_overview(data: bytes, *, source: str) -> Overview:
    """Read the overview in an untrusted JSON document, and skip the rest of the document.

    In the two-workflow pattern, a job without write permission scores a fork's pull request and
    writes the document. Another job, with permission to comment, reads it here. Types, lengths,
    ranges and amounts are checked before any text of the document is shown.

    Args:
        data: The document.
        source: Name of the document in messages.

    Returns:
        The overview; its texts still have to be escaped before display.

    Raises:
        LimitError: The document is larger than `MAX_BYTES`.
        InputError: The document is not JSON or violates a rule; the message names the field.
    """
    if len(data) > MAX_BYTES:
        raise LimitError("the maximum size in bytes", MAX_BYTES, len(data), source)
    try:
        overview = msgspec.json.decode(data, type=Overview)
        if not overview.url.endswith(f"/{overview.number}"):
            raise msgspec.ValidationError("the number and the address differ - at `$.url`")
    # msgspec raises RecursionError for a document of 100,000 brackets.
    except (msgspec.DecodeError, RecursionError, UnicodeError) as exc:
        # The reason is cleaned, because it may quote the document.
        reason = escape.one_line(str(exc), 300)
        raise InputError(f"{source}: this is not a result for a pull request: {reason}") from exc
    return overview


def is_plain(path: str) -> bool:
    r"""Return whether a path can be shown unchanged; links and annotations need the exact path.

    Example:
        >>> is_plain("src/Zoë.py"), is_plain("a\u202eb"), is_plain("a\nb"), is_plain("")
        (True, False, False, False)
    """
    return 0 < len(path) <= MAX_PATH_CHARS and path.isprintable()
