"""Overview of an audit: the content of the report's first page, as records.

`summary.make_overview` builds it from the store. The JSON report is the overview itself, and the
pages are made from it. Shares are in [0, 1] and scores from 0 to 100; `null` means unknown, not 0.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from crscore.reports.fields import Count, Share
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:audit:1"
"""The `$id` of the JSON document's schema."""
VERDICTS_SCHEMA: Final = "urn:crscore:audit-verdicts:1"
"""The `$id` of the schema for `crscore audit compare`."""


class Estimate(Struct, frozen=True, kw_only=True):
    """Number with its 95 % interval."""

    value: float
    low: float
    high: float


class Rate(Struct, frozen=True, kw_only=True):
    """Share with its 95 % interval (Wilson), clustered by pull request."""

    count: Count
    total: Count
    share: Share | None
    """Null if the total is 0."""
    low: Share | None
    high: Share | None


class SkipCount(Struct, frozen=True, kw_only=True):
    """Number of pull requests with notices that they were not reviewed, by reason."""

    reason: str
    """limit, skipped or failed."""
    pulls: Count


class Coverage(Struct, frozen=True, kw_only=True):
    """Share of merged pull requests that a reviewer really reviewed."""

    reviewed: Rate
    """Share of the merged pull requests in its repositories that it reviewed."""
    last_head: Rate
    """Share of these pull requests whose last head it reviewed; a reply in a thread or a dismissed
    review does not count."""
    green_unreviewed: Count | None
    """Merged pull requests with its green check but no review; null if it has no checks."""
    skips: tuple[SkipCount, ...]
    """Reasons for not reviewing, the most frequent first."""


class Noise(Struct, frozen=True, kw_only=True):
    """Comments that are useless to the author, by the first reason that applies."""

    share: Rate
    """Share of comments with any of these reasons."""
    nothing: Count
    """Comments that address no point of the change."""
    repeat: Count
    """Comments that repeat another one of the same reviewer on the same pull request."""
    restates: Count
    """Comments that only describe the change."""
    praise: Count
    """Comments that only praise."""


class ActedOn(Struct, frozen=True, kw_only=True):
    """One signal that comments were acted on, with its base rate."""

    signal: str
    """Name of the signal, such as `acted on`."""
    rate: Rate
    """Share among the comments for which the signal is known; only comments that ask for something
    can be acted on."""
    base: Rate | None
    """The same rate for lines without a comment; null if there are no such lines."""
    unknown: Count
    """Comments for which the signal is unknown."""


class TrendPoint(Struct, frozen=True, kw_only=True):
    """One day of a reviewer."""

    day: str
    """Date, ISO 8601."""
    pulls: Count
    usefulness: float | None
    """Mean usefulness of its reviews on pull requests created that day; null if there are none."""
    comments: float | None
    """Mean comments per pull request."""
    signature: Count
    """Id of the signature of its scores; the line in the chart is broken where it changes."""


class ConfigurationChange(Struct, frozen=True, kw_only=True):
    """Day on which a bot began to behave differently."""

    day: str
    number: str
    """Number that changed most: comments per pull request, words per comment, usefulness, ..."""
    before: float
    after: float
    p_value: Share
    """p-value, corrected for all tested days and numbers."""


class KindCount(Struct, frozen=True, kw_only=True):
    """Comments of one kind."""

    kind: str
    """Level of the best remark, or the reason why it is noise."""
    comments: Count
    acted_on: Count
    decided: Count
    """Comments for which it is known whether they were acted on, among those that ask for something
    and were the first to make their point."""


class Points(Struct, frozen=True, kw_only=True):
    """Points worth acting on; comments of several reviewers on the same point count once."""

    total: Count
    only: Count
    """Points that no other reviewer made."""
    first: Count
    """Shared points that it made first."""
    people: Count
    """Points that it made first, and a person later."""
    monthly: float
    """Points per 30 days that no other reviewer made: without it, they would be lost."""
    again: Count
    """Comments that repeat one of its own comments after it was answered or resolved."""


class Decision(Struct, frozen=True, kw_only=True):
    """Decision to keep, tune or drop a bot, by rule."""

    verdict: Literal["keep", "tune", "drop", "undecided"]
    text: str
    """The verdict with its reason and evidence, in one sentence."""
    weighty: Rate
    """Share of comments with a critical, major or minor remark that are not noise."""
    gained: Rate
    """Share of pull requests with such a comment among those that it saw: with a post or check of
    it or, for an account that only reviews, merged between its first and last post."""
    evidence: tuple[str, ...]
    """What speaks for it besides its own words, a clause each; without any, it is not kept."""
    afterwards: Rate
    """Share of comments that were hidden, deleted or edited later, or written after the close or,
    when there was a comment on the last commit, on an older one. If it is surely above 10 %, there
    is no evidence."""
    silent: Count
    """Pull requests that it saw without any scored comment."""
    kinds: tuple[KindCount, ...]
    """The most frequent first."""
    switch_off: tuple[str, ...]
    """Unimportant kinds that authors do not act on more often than on other lines."""
    confirmed: Count
    """Comments with a remark that the code confirms."""
    refuted: Count
    minutes: float
    """Reading time of its comments at 200 words per minute."""
    points: Points | None
    """Null if it is not known which comments make the same point."""
    hours: float | None
    """Median hours from the opening of a pull request to its first review."""


class Reviewer(Struct, frozen=True, kw_only=True):
    """One reviewer in the period."""

    name: str
    is_bot: bool
    pulls: Count
    """Pull requests on which it has a scored comment."""
    comments: Count
    comments_per_pull: Estimate | None
    usefulness: Estimate | None
    """Mean usefulness over pull requests, a percentile from 0 to 100."""
    importance: Estimate | None
    """Mean importance of the most important remark over pull requests, 0 to 100."""
    remarks: dict[str, Share]
    """Share of its remarks of each level, and of remarks with nothing to act on (`empty`)."""
    relevance: Estimate | None
    """Mean relevance over pull requests, 0 to 100; the next two fields likewise."""
    conciseness: Estimate | None
    comprehensiveness: Estimate | None
    abstained: Count
    """Pull requests with comments of it of which none could be scored."""
    rank: tuple[int, int] | None
    """Best and worst rank by usefulness that the data allow; equal ranges are ties."""
    coverage: Coverage
    noise: Noise
    acted_on: tuple[ActedOn, ...]
    decision: Decision | None
    """Null for people."""
    trend: tuple[TrendPoint, ...]
    changes: tuple[ConfigurationChange, ...]


class Verdict(Struct, frozen=True, kw_only=True):
    """Comparison of two reviewers."""

    first: str
    second: str
    measure: str
    """usefulness, relevance, ..."""
    verdict: Literal["better", "worse", "equivalent", "unknown"]
    """Verdict on the first; `equivalent` if the interval is within the difference that matters."""
    difference: Estimate | None
    """First minus second, -100 to 100; null without data."""
    p_value: Share | None
    """p-value, corrected for all pairs (Holm)."""
    pulls: Count
    """Pull requests in the comparison: common ones if paired, else all."""
    paired: bool
    needed: Count | None
    """Further pull requests needed to detect the difference; null if decided or unknown."""
    text: str
    """The verdict in words."""


class Example(Struct, frozen=True, kw_only=True):
    """Comment shown as an example."""

    reviewer: str
    repository: str
    number: Count
    url: str
    """Address of its page on the host; empty if unknown."""
    text: str
    """Start of its sentences, without markup; untrusted."""
    standing: Annotated[int, Meta(ge=0, le=100)] | None
    """Null if it was not scored, such as a repetition or a text that is not in English."""
    noise: str | None
    stance: str | None
    """Stance of its best remark: a defect, a question, praise, ...; or `is not in English`."""
    level: str | None
    """Importance of that remark; null if there is nothing to act on."""


class Gap(Struct, frozen=True, kw_only=True):
    """Finding of a tool on a change that no comment addressed."""

    repository: str
    number: Count
    text: str
    severity: str | None
    path: str | None
    line: Count


class EscapedRecall(Struct, frozen=True, kw_only=True):
    """Escaped defects near a comment of one reviewer before the merge.

    Only pull requests that the reviewer saw count.
    """

    reviewer: str
    is_bot: bool
    near: Rate
    """Share of fixes with a comment at most three lines from the fixed lines."""
    near_base: Rate
    """The same share for later commits that change lines for another reason."""


class EscapedDefect(Struct, frozen=True, kw_only=True):
    """Defect without a nearby comment before the merge."""

    repository: str
    number: Count
    """Pull request that added the lines."""
    text: str
    """Subject of the fix; untrusted."""
    url: str
    """Address of the fix on the host."""
    path: str
    line: Count
    """First fixed line, as it was merged."""


class UnknownCount(Struct, frozen=True, kw_only=True):
    """Number of merged pull requests whose lines cannot be followed, by reason."""

    reason: str
    pulls: Count


class Escaped(Struct, frozen=True, kw_only=True):
    """Defects that reviews missed: later commits that fix lines of a merged pull request."""

    days: Count
    """Number of days after the merge in which a commit counts."""
    pulls: Count
    """Merged pull requests whose lines are followed."""
    complete: Count
    """Pull requests among these that were followed for all the days."""
    unknown: tuple[UnknownCount, ...]
    fixed: Rate
    """Share of followed pull requests with a line that a later commit fixes."""
    changed: Rate
    """Share of followed pull requests with a line that another later commit changes."""
    near: Rate
    """Share of fixes with a nearby comment of any reviewer before the merge."""
    reviewers: tuple[EscapedRecall, ...]
    missed: tuple[EscapedDefect, ...]
    """Defects without a nearby comment, the newest first."""


class RepositorySummary(Struct, frozen=True, kw_only=True):
    """One repository in the period."""

    name: str
    state: str
    reason: str | None
    pulls: Count
    merged: Count
    reviewers: tuple[str, ...]


class Night(Struct, frozen=True, kw_only=True):
    """One run."""

    night: str
    kind: str
    pulls: Count
    failed: Count
    partial: str | None
    rest_requests: Count
    graphql_points: Count
    seconds: float


class Overview(Struct, frozen=True, kw_only=True):
    """Content of the first page."""

    schema: Literal["urn:crscore:audit:1"] = SCHEMA
    version: str = __version__
    since: str
    """First day of the period."""
    until: str
    """Last day, inclusive."""
    signature: str
    """Signature of the scores in all means; empty if there are no scores."""
    other_signatures: tuple[str, ...]
    """Signatures of other scores in the period, which are excluded."""
    detect: float
    """Smallest difference that matters, 0 to 100."""
    pulls: Count
    merged: Count
    scored: Count
    pending: Count
    """Pull requests that have not been read in full."""
    failed: Count
    """Pull requests that could not be read or scored."""
    repositories: tuple[RepositorySummary, ...]
    reviewers: tuple[Reviewer, ...]
    """The most useful first; bots before people."""
    verdicts: tuple[Verdict, ...]
    """One for each pair of bots."""
    best: tuple[Example, ...]
    worst: tuple[Example, ...]
    gaps: tuple[Gap, ...]
    escaped: Escaped
    nights: tuple[Night, ...]
    notes: tuple[str, ...]
    """Limitations of the scores, one sentence each."""


class Verdicts(Struct, frozen=True, kw_only=True):
    """Comparison of reviewers, each pair once."""

    schema: Literal["urn:crscore:audit-verdicts:1"] = VERDICTS_SCHEMA
    version: str = __version__
    since: str
    """First day of the period."""
    until: str
    """Last day, inclusive."""
    signature: str
    """Signature of the scores; empty if there are no scores."""
    detect: float
    """Smallest difference that matters, 0 to 100."""
    verdicts: tuple[Verdict, ...]
