"""Overview of one pull request, which is small enough to be passed between jobs.

Every document for people is made from this value alone. The JSON document carries it from the job
that measures to the one with write permission, where `decode_overview` reads it. The bounds of each
type apply to both jobs.
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
# The limits keep an untrusted file from filling the documents: a comment has at most 65,536
# characters, a job summary 1 MiB.
MAX_REVIEWERS = 200
MAX_POINTS = 500
MAX_REMARKS = 50
MAX_MORE_PLACES = 50
MAX_NOTES = 100
MAX_TEXT_CHARS = 2_000
MAX_NAME_CHARS = 100
# Code of a fork may have written the file:
# https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
MAX_BYTES = 50_000_000
"""Maximum bytes of a file that is read."""
# PATH_MAX of Linux.
MAX_PATH_CHARS = 4_096
_CUT_CHARS = 40
"""Room for the note on truncation."""

Text = Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARS)]
Path = Annotated[str, Meta(min_length=1, max_length=MAX_PATH_CHARS)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=1_000_000_000)]
Number = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Commit = Annotated[str, Meta(pattern=r"\A[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")]
# GitHub's `owner/name` has two parts; GitLab's groups nest, up to 20 subgroups:
# https://docs.gitlab.com/user/group/subgroups/
# `.` and `..` are not names.
_NAME: Final = r"(?!\.\.?(?:/|\Z))[A-Za-z0-9_.-]{1,100}"
Repository = Annotated[str, Meta(pattern=rf"\A{_NAME}(?:/{_NAME}){{1,20}}\Z")]
# Documents link to this address, which may come from an untrusted file. So it has no user, query or
# fragment, which could lead to a page of another kind.
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
    """The standing in a word, or that they are about something else."""
    about: Share
    """Probability that they are about this change and no other."""
    importance: Share
    """How bad it would be to merge without heeding the most important remark, if it is right."""
    verdict: Text
    """The standing in plain words; for all reviewers together, also what each remark adds and how
    many remarks the code decides."""


class Scores(Struct, frozen=True, kw_only=True):
    """Scores of some comments against the whole change, or why there are none."""

    usefulness: Useful | None
    """How useful they are: the headline; None with an encoder that has no weights for it."""
    relevance: Share | None
    """Harmonic mean of conciseness and comprehensiveness."""
    conciseness: Share | None
    """How far the sentences address the change."""
    comprehensiveness: Share | None
    """How far the points of the change are addressed."""
    reason: Text | None
    """Why relevance, conciseness and comprehensiveness are None; None when they are numbers."""


class Together(Scores, frozen=True, kw_only=True):
    """Counts over all comments of all reviewers."""

    sentences: Count
    """Sentences of all comments."""
    on_topic: Count
    """Number of these sentences that address a point."""
    words: Count
    """Words of all comments."""
    points: Count
    """Topics, and points without a topic, that a review of the change should address."""
    addressed: Count
    """Number of these topics and points that a comment addresses."""
    unaddressed: Count
    """Number of them that no comment addresses; `open` has the most important ones."""


class Reviewer(Scores, frozen=True, kw_only=True):
    """One reviewer's row."""

    name: Name
    """Login, or the name of the bot."""
    is_bot: bool
    """True for a bot."""
    is_trusted: bool
    """False for a person whom the repository did not choose; gates do not count them."""
    comments: Count
    """Comments that were scored."""
    sentences: Count
    """Sentences in these comments."""
    words: Count
    """Words in these comments."""
    threads: Count
    """Threads started."""
    resolved: Count | None
    """Number of these threads that are resolved; None when that could not be read."""
    outdated: Count
    """Comments on lines that are no longer part of the change."""


class Place(Struct, frozen=True, kw_only=True):
    """Place in the change."""

    path: Path | None
    """File, as named on `side`; None for the change as a whole."""
    listed: Path | None
    """Path under which the host lists the file, which differs on the old side of a rename; None
    when it cannot be linked.
    """
    side: Side
    """Version that the line numbers refer to."""
    line: Count
    """First line, 1-based; 0 for the file as a whole."""
    end_line: Count
    """Last line, inclusive; 0 for the file as a whole."""


class Proof(Struct, frozen=True, kw_only=True):
    """Proof that a statement of a remark about the code is true or false."""

    verdict: records.Verdict
    """Confirmed or refuted."""
    says: Text
    """Statement of the remark about the code, a clause."""
    fact: Text
    """Fact about the code, one sentence."""
    lines: Annotated[tuple[Place, ...], Meta(max_length=MAX_PROOF_PLACES)]
    """Lines that prove it; at most `MAX_PROOF_PLACES`."""


class ReviewRemark(Place, frozen=True, kw_only=True):
    """Remark that needs an answer, or a refuted one, at the place of its comment."""

    text: Text
    """Its sentences."""
    facts: Text
    """Its level, its stance and its contribution to the value."""
    level: records.Importance | None
    """How bad it would be to merge without heeding it, if it is right; None if it is refuted."""
    reviewer: Name
    """Its author, as in `reviewers`."""
    receipt: Proof | None
    """Proof of the verdict; None for an unproven remark."""


class Point(Place, frozen=True, kw_only=True):
    """Topic, or point without a topic, that a review should address but none does."""

    text: Text
    """One English sentence, after the topic if there is one."""
    kind: ReferenceKind
    """Whether it is a claim about the change, its implication, or an issue."""
    source: Text
    """Author or finder: a claim generator, or tools joined by `+`."""
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
    """Version of crscore that measured it."""
    signature: Text
    """Signature of the settings: same signature and inputs, same scores."""
    repository: Repository
    """Full name: `owner/name`, or `group/subgroup/name`."""
    number: Number
    """The pull request's number."""
    title: Text
    """Its title, untrusted."""
    url: Address
    """Its page on the host."""
    head: Commit
    """The commit that was measured."""
    graded: bool
    """True when the scores are means of degrees, False when they are shares."""
    together: Together
    """Counts and scores of all reviewers together."""
    trusted: Together | None
    """Scores of the reviewers that gates count, together; None without a gate, or if it counts all
    reviewers."""
    reviewers: Annotated[tuple[Reviewer, ...], Meta(max_length=MAX_REVIEWERS)]
    """Reviewers in order of first appearance, those whom gates do not count last; at most
    `MAX_REVIEWERS`.
    """
    other_reviewers: Count
    """Number of reviewers over that limit."""
    remarks: Annotated[tuple[ReviewRemark, ...], Meta(max_length=MAX_REMARKS)]
    """Refuted remarks, then those that need an answer, by value; at most `MAX_REMARKS`."""
    open: Annotated[tuple[Point, ...], Meta(max_length=MAX_POINTS)]
    """Unaddressed topics and points, the most important first; at most `MAX_POINTS`."""
    missing: Annotated[tuple[Text, ...], Meta(max_length=MAX_NOTES)]
    """Missing data that could change a score; empty when complete."""
    notes: Annotated[tuple[Text, ...], Meta(max_length=MAX_NOTES)]
    """Further notes for a reader."""

    @property
    def name(self) -> str:
        """Its name, as people on its host write it."""
        return pull_name(self.repository, self.number, self.url)

    @property
    def commit_url(self) -> str:
        """Address of the measured commit in the pull request."""
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
    strangers: Collection[str] = (),
) -> Overview:
    """Condense a run.

    Args:
        pull: Pull request as read from the host.
        result: Result of the pipeline; a comment's author is a reviewer's name.
        people: The reviewers with their threads, in the order of their rows.
        notes: Notes in addition to those of `pull` and `result`.
        trusted: Result of the reviewers whom the repository chose, if it did not choose all.
        strangers: Names of the reviewers whom the repository did not choose.

    Returns:
        The overview, cut to its limits.
    """
    missed = [item for _, item in view.list_unaddressed(result)]
    # A host lists a renamed file once, under its new path, for both sides.
    listed = {file.old_path: file.path for file in pull.diff.files if file.old_path is not None}
    points = [_point(result, item, listed) for item in missed]
    # Tools' errors and warnings first, then by weight.
    points.sort(
        key=lambda point: (
            point.severity is not Severity.ERROR,
            point.severity is not Severity.WARNING,
            -point.weight,
        )
    )
    # The later result takes precedence: it has no text of strangers that could displace other text.
    reviews = {item.author: item for run in (result, trusted or result) for item in run.reviews}
    rows = []
    for name, threads in people[:MAX_REVIEWERS]:
        review = reviews.get(name)
        started = [
            thread.place.resolved for thread in threads if thread.place.thread == thread.posts[0].id
        ]
        rows.append(
            Reviewer(
                usefulness=None if review is None else _useful(review.usefulness),
                **_published_scores(None if review is None else review.scores),
                name=_text(name, MAX_NAME_CHARS) or "unknown",
                is_bot=any(thread.is_bot for thread in threads),
                is_trusted=name not in strangers,
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
        signature=_text(result.signature),
        repository=pull.repository,
        number=pull.number,
        title=_text(pull.title),
        url=pull.url,
        head=pull.head,
        graded=view.has_degrees(result),
        together=_together(result),
        trusted=None if trusted is None else _together(trusted),
        reviewers=tuple(rows),
        other_reviewers=max(len(people) - MAX_REVIEWERS, 0),
        remarks=tuple(_remarks(result, listed))[:MAX_REMARKS],
        open=tuple(points[:MAX_POINTS]),
        missing=_capped(pull.missing),
        notes=_capped(texts),
    )


def _together(result: records.Result) -> Together:
    addressed = [point.addressed for point in view.points(result)]
    composition = view.sum_of_value(result)
    return Together(
        usefulness=_useful(
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


def _useful(value: records.Usefulness | None, *further: str) -> Useful | None:
    if value is None:
        return None
    verdict = _text(" ".join(filter(None, (view.verdict(value), *further))))
    word = _text(value.word, MAX_NAME_CHARS)
    return copy_fields(Useful, value, word=word, verdict=verdict)


def _published_scores(scores: records.Scores | None) -> dict[str, Any]:
    names = ("relevance", "conciseness", "comprehensiveness")
    reason = "nothing to score was written" if scores is None else scores.reason
    values = {name: getattr(scores, name, None) for name in names}
    return values | {"reason": None if reason is None else _text(reason)}


def _remarks(result: records.Result, listed: dict[str, str]) -> Iterator[ReviewRemark]:
    for remark, points in view.rank_remarks(result):
        if remark.is_valuable or view.is_refuted(remark):
            comment, receipt = result.comments[remark.comment].comment, remark.receipt
            proof = None
            if receipt is not None:
                spans = receipt.lines[:MAX_PROOF_PLACES]
                proof = Proof(
                    verdict=receipt.verdict,
                    says=_text(receipt.says),
                    fact=_text(receipt.fact),
                    lines=tuple(Place(**_place([span], listed)) for span in spans),
                )
            yield ReviewRemark(
                text=_text(view.remark_text(result, remark)),
                facts=_text(view.describe_remark(remark, points)),
                level=remark.level if remark.is_valuable else None,
                reviewer=_text(view.author(comment.author), MAX_NAME_CHARS),
                receipt=proof,
                **_place(view.remark_spans(result, remark), listed),
            )


def _point(result: records.Result, item: records.PseudoReference, listed: dict[str, str]) -> Point:
    return Point(
        text=_text(item.text),
        kind=item.kind,
        source=_text(item.source),
        severity=view.severity(result, item),
        weight=item.weight,
        **_place(item.spans, listed),
        more=tuple(Place(**_place([span], listed)) for span in item.spans[1 : MAX_MORE_PLACES + 1])
        if item.kind is ReferenceKind.ISSUE
        else (),
    )


def _place(spans: Sequence[LineSpan], listed: dict[str, str]) -> dict[str, Any]:
    """Return the fields of a place: the first span of the new version, else of the old one."""
    # A host shows the new version, so the first of its lines is the place.
    span = min(spans, key=lambda span: span.side is not Side.NEW, default=_NO_SPAN)
    path = _text(span.path, MAX_PATH_CHARS) or None
    listed_as = listed.get(span.path, span.path) if span.side is Side.OLD else span.path
    return {
        "path": path,
        "listed": listed_as if is_plain(listed_as) else None,
        "side": span.side,
        "line": 0 if path is None else span.start,
        "end_line": 0 if path is None else span.end,
    }


_NO_SPAN = LineSpan(path="", side=Side.NEW, start=0, end=0)


def _capped(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return each sentence once; past the limit, the last one counts the rest."""
    texts = [_text(sentence) for sentence in dict.fromkeys(sentences)]
    if len(texts) <= MAX_NOTES:
        return tuple(texts)
    return (*texts[: MAX_NOTES - 1], f"And {len(texts) - MAX_NOTES + 1:,} more, left out here.")


def _text(text: str, limit: int = MAX_TEXT_CHARS) -> str:
    """Clean a text and limit its length, with a note on truncation."""
    return escape.one_line(text, limit - _CUT_CHARS)[:limit]


def decode_overview(data: bytes, *, source: str) -> Overview:
    """Read the overview in an untrusted JSON document; the rest of it is skipped.

    In the two-workflow pattern a job without write permission measures a fork's pull request and
    writes the file; another job, with permission to comment, reads it here: types, lengths, ranges
    and amounts are checked before any of its text is shown.

    Args:
        data: The file.
        source: Name of the file in messages.

    Returns:
        The overview; its texts still have to be escaped before display.

    Raises:
        LimitError: It is larger than `MAX_BYTES`.
        InputError: It is not JSON or violates a rule; the message names the field.
    """
    if len(data) > MAX_BYTES:
        raise LimitError("MAX_BYTES", MAX_BYTES, len(data), source)
    try:
        overview = msgspec.json.decode(data, type=Overview)
        if not overview.url.endswith(f"/{overview.number}"):
            raise msgspec.ValidationError("the number and the address differ - at `$.url`")
    # msgspec raises RecursionError itself, for a file of 100,000 brackets.
    except (msgspec.DecodeError, RecursionError, UnicodeError) as exc:
        # The reason may quote the file.
        reason = escape.one_line(str(exc), 300)
        raise InputError(f"{source}: this is not a result for a pull request: {reason}") from exc
    return overview


def is_plain(path: str) -> bool:
    r"""Return whether cleaning leaves a path unchanged: links and annotations need the exact path.

    Example:
        >>> is_plain("src/Zoë.py"), is_plain("a\u202eb"), is_plain("a\nb"), is_plain("")
        (True, False, False, False)
    """
    return 0 < len(path) <= MAX_PATH_CHARS and path.isprintable()
