"""Overview of an audit: the content of the report's first page, as values.

`summary.make_overview` fills it from the store. The JSON report is this value, and the pages are
made from it. Shares are in [0, 1] and scores from 0 to 100; `null` is unknown, never 0.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from crscore.reports.fields import Count, Share
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:audit:1"
"""The `$id` of the JSON document's schema."""
VERDICTS_SCHEMA: Final = "urn:crscore:audit-verdicts:1"
"""The same of `crscore audit compare`."""


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
    """Null when there are none."""
    low: Share | None
    high: Share | None


class SkipCount(Struct, frozen=True, kw_only=True):
    """Notices of one reason for not reviewing."""

    reason: str
    """limit, skipped or failed."""
    pulls: Count


class Coverage(Struct, frozen=True, kw_only=True):
    """Share of merged pull requests that a reviewer really reviewed."""

    reviewed: Rate
    """Of the merged pull requests of the repositories where it reviews: those it wrote on."""
    last_head: Rate
    """Of these merged pull requests: those whose last head it reviewed; an answer in a thread or a
    dismissed review does not count."""
    green_unreviewed: Count | None
    """Merged pull requests with its green check and without its review; null without a check."""
    skips: tuple[SkipCount, ...]
    """Notices that nothing was reviewed, the most frequent first."""


class Noise(Struct, frozen=True, kw_only=True):
    """Comments that give the author nothing, by the first reason that applies."""

    share: Rate
    """Comments with any of the reasons."""
    nothing: Count
    """They address no point of the change."""
    repeat: Count
    """They repeat a comment of the same reviewer on the same pull request."""
    restates: Count
    """They only describe the change."""
    praise: Count
    """They only praise."""


class ActedOn(Struct, frozen=True, kw_only=True):
    """One signal that comments were acted on, with its base rate."""

    signal: str
    """Name of the signal, such as `acted on`."""
    rate: Rate
    """Of the comments for which it could be decided."""
    base: Rate | None
    """The same of lines without a comment; null where there are no such lines."""
    unknown: Count
    """Comments for which it is undecided."""


class TrendPoint(Struct, frozen=True, kw_only=True):
    """One day of a reviewer."""

    day: str
    """Date, ISO 8601."""
    pulls: Count
    usefulness: float | None
    """Mean standing of its reviews on pull requests created that day; null without any."""
    comments: float | None
    """Mean comments per pull request."""
    signature: Count
    """Id of the signature of its scores; a line is broken where it changes."""


class ConfigurationChange(Struct, frozen=True, kw_only=True):
    """Day on which a bot began to behave differently."""

    day: str
    number: str
    """What changed most: comments per pull request, words per comment, usefulness, ..."""
    before: float
    after: float
    p_value: Share
    """Corrected for all days and numbers that were tested."""


class KindCount(Struct, frozen=True, kw_only=True):
    """Comments of one kind."""

    kind: str
    """Level of the best remark, or the reason why it is noise."""
    comments: Count
    acted_on: Count
    decided: Count
    """Comments of which it is known whether they were acted on."""


class Points(Struct, frozen=True, kw_only=True):
    """Points worth acting on; comments of several reviewers that make the same are one."""

    total: Count
    only: Count
    """Points that no other reviewer made."""
    first: Count
    """Shared points that it made first."""
    people: Count
    """Points that a person made, too."""
    monthly: float
    """Points in 30 days that no other reviewer made: they are lost without it."""
    again: Count
    """Comments that repeat one of its own that was answered or resolved before."""


class Decision(Struct, frozen=True, kw_only=True):
    """Keep, tune or drop a bot, by rule."""

    verdict: Literal["keep", "tune", "drop", "undecided"]
    text: str
    """The verdict with its reason and evidence: one sentence."""
    weighty: Rate
    """Comments with a critical, major or minor remark, without noise."""
    gained: Rate
    """Pull requests with such a comment, of those that it saw: with a post or a check of
    it or, for an account that does nothing but review, merged between its first and last post."""
    silent: Count
    """Pull requests of these without any scored comment."""
    kinds: tuple[KindCount, ...]
    """The most frequent first."""
    switch_off: tuple[str, ...]
    """Kinds without weight that authors do not act on more often than on other lines."""
    confirmed: Count
    """Comments of which the code confirms a remark."""
    refuted: Count
    minutes: float
    """Reading time of its comments, at 200 words a minute."""
    points: Points | None
    """Null where it is not known which comments make the same point."""
    hours: float | None
    """Median from the opening of a pull request to the first review."""


class Reviewer(Struct, frozen=True, kw_only=True):
    """One reviewer in the period."""

    name: str
    is_bot: bool
    pulls: Count
    """Pull requests on which it has a scored comment."""
    comments: Count
    comments_per_pull: Estimate | None
    usefulness: Estimate | None
    """Mean standing over pull requests, 0 to 100."""
    importance: Estimate | None
    """Mean importance of the most important remark over pull requests, 0 to 100."""
    remarks: dict[str, Share]
    """Share of its remarks of each level, and of remarks with nothing to act on (`empty`)."""
    relevance: Estimate | None
    """Means of the published scores over pull requests, 0 to 100."""
    conciseness: Estimate | None
    comprehensiveness: Estimate | None
    abstained: Count
    """Pull requests on which it wrote and nothing could be scored."""
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
    """Of the first: `equivalent` when the interval lies within the difference that matters."""
    difference: Estimate | None
    """First minus second, 0 to 100; null without data."""
    p_value: Share | None
    """Corrected for all pairs (Holm)."""
    pulls: Count
    """Pull requests that count: common ones when paired, else all."""
    paired: bool
    needed: Count | None
    """More pull requests needed to detect the difference; null when decided or not computable."""
    text: str
    """The verdict in words."""


class Example(Struct, frozen=True, kw_only=True):
    """Comment shown as an example."""

    reviewer: str
    repository: str
    number: Count
    url: str
    """Its page on the host; empty when unknown."""
    text: str
    """Start of its sentences, without markup; untrusted."""
    standing: Annotated[int, Meta(ge=0, le=100)]
    noise: str | None
    stance: str | None
    """Stance of its best remark: a defect, a question, praise, ..."""
    level: str | None
    """How important that remark is; null when there is nothing to act on."""


class Gap(Struct, frozen=True, kw_only=True):
    """Finding of a tool on a change that no comment addressed."""

    repository: str
    number: Count
    text: str
    severity: str | None
    path: str | None
    line: Count


class EscapedRecall(Struct, frozen=True, kw_only=True):
    """Share of escaped defects that one reviewer wrote next to before the merge.

    Of the pull requests that it saw.
    """

    reviewer: str
    is_bot: bool
    near: Rate
    """A comment is at most three lines from the fixed ones."""
    near_base: Rate
    """The same of later commits that change lines for another reason."""


class EscapedDefect(Struct, frozen=True, kw_only=True):
    """Defect that no comment before the merge is next to."""

    repository: str
    number: Count
    """Pull request that brought the lines."""
    text: str
    """Subject of the fix; untrusted."""
    url: str
    """The fix on the host."""
    path: str
    line: Count
    """First fixed line, as it was merged."""


class UnknownCount(Struct, frozen=True, kw_only=True):
    """Merged pull requests whose lines cannot be followed."""

    reason: str
    pulls: Count


class Escaped(Struct, frozen=True, kw_only=True):
    """Defects that reviews missed: later commits that fix lines of a merged pull request."""

    days: Count
    """Days after the merge in which a commit counts."""
    pulls: Count
    """Merged pull requests whose lines are followed."""
    complete: Count
    """Pull requests of these that were followed for all the days."""
    unknown: tuple[UnknownCount, ...]
    fixed: Rate
    """Followed pull requests with a line that a later commit fixes."""
    changed: Rate
    """Those with a line that another later commit changes."""
    near: Rate
    """Fixes that a comment of anybody before the merge is next to."""
    reviewers: tuple[EscapedRecall, ...]
    missed: tuple[EscapedDefect, ...]
    """Defects that no comment is next to, the newest first."""


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
    """Signature of the scores in all means; empty without a score."""
    other_signatures: tuple[str, ...]
    """Signatures of other scores in the period, which are excluded."""
    detect: float
    """Difference that matters, 0 to 100."""
    pulls: Count
    merged: Count
    scored: Count
    pending: Count
    """Pull requests that have not been read completely."""
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
    """Limits of the numbers, one sentence each."""


class Verdicts(Struct, frozen=True, kw_only=True):
    """Comparison of reviewers, each pair once."""

    schema: Literal["urn:crscore:audit-verdicts:1"] = VERDICTS_SCHEMA
    version: str = __version__
    since: str
    """First day of the period."""
    until: str
    """Last day, inclusive."""
    signature: str
    """Signature of the scores; empty without a score."""
    detect: float
    """Difference that matters, 0 to 100."""
    verdicts: tuple[Verdict, ...]
