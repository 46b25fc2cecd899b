"""Overview of an audit: everything the report's first page says, as values.

`summary.make_overview` fills it from the store; the JSON report is this value, and the pages are
made from it. Shares are in [0, 1] and scores from 0 to 100; `null` is unknown, never 0.
"""

from __future__ import annotations

import json
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, to_builtins

from crscore.reports import escape
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:audit:1"
"""The `$id` of the JSON document's schema."""
VERDICTS_SCHEMA: Final = "urn:crscore:audit-verdicts:1"
"""The same of `crscore audit compare`."""

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Estimate(Struct, frozen=True, kw_only=True):
    """Number with its 95 % interval."""

    value: float
    low: float
    high: float


class Rate(Struct, frozen=True, kw_only=True):
    """Share, with the 95 % interval of Wilson; things of one pull do not count as independent."""

    yes: Count
    all: Count
    share: Share | None
    """Null when there are none."""
    low: Share | None
    high: Share | None


class SkipCount(Struct, frozen=True, kw_only=True):
    """Why a reviewer did not review."""

    reason: str
    """limit, skipped or failed."""
    pulls: Count


class Coverage(Struct, frozen=True, kw_only=True):
    """How many merged pull requests a reviewer really reviewed."""

    reviewed: Rate
    """Of the merged pulls of the repositories where it reviews: those it wrote anything on."""
    last_head: Rate
    """Of these merged pulls: those whose last head it reviewed."""
    green_unreviewed: Count | None
    """Merged pulls on which its check is green and its review is missing; null without a check."""
    skips: tuple[SkipCount, ...]
    """Notices that nothing was reviewed, the most frequent first."""


class Noise(Struct, frozen=True, kw_only=True):
    """Comments that give the author nothing, by the first reason that applies."""

    share: Rate
    """Comments with any of the reasons."""
    nothing: Count
    """They address no point of the change."""
    repeat: Count
    """They repeat a comment of the same reviewer on the same pull."""
    restates: Count
    """They only say what the change does."""
    praise: Count
    """They only praise."""


class ActedOn(Struct, frozen=True, kw_only=True):
    """One signal that comments were acted on, beside its base rate."""

    signal: str
    """Name of the signal, such as `lines changed`."""
    rate: Rate
    """Of the comments of which it is known."""
    base: Rate | None
    """The same of what nobody commented on; null where there is no such thing."""
    unknown: Count
    """Comments of which it cannot be told."""


class EffectCount(Struct, frozen=True, kw_only=True):
    """Suggestion blocks by what they change."""

    effect: str
    """Nothing, white space, comments, names or behaviour."""
    blocks: Count


class Nearness(Struct, frozen=True, kw_only=True):
    """Similarity of suggested code to what was merged in its place."""

    metric: str
    """Name of the metric, as in `crscore code`."""
    mean: Share
    blocks: Count
    """Blocks whose lines were changed and merged."""


class SuggestedCode(Struct, frozen=True, kw_only=True):
    """Suggestion blocks of a reviewer."""

    applies: Rate
    """Blocks that the host can put in their place, of those with a known place."""
    parses: Rate
    """Blocks with which the file parses, of those of which it is known."""
    effects: tuple[EffectCount, ...]
    """The most frequent first."""
    merged: tuple[Nearness, ...]
    """Empty where nothing that was merged is known."""


class TrendPoint(Struct, frozen=True, kw_only=True):
    """One day of a reviewer."""

    day: str
    """Date, ISO 8601."""
    pulls: Count
    usefulness: float | None
    """Mean standing of its reviews on pulls created that day; null without any."""
    comments: float | None
    """Mean comments a pull."""
    signature: Count
    """Number of the signature of its scores; a line is broken where it changes."""


class ConfigurationChange(Struct, frozen=True, kw_only=True):
    """Day from which a bot behaves differently."""

    day: str
    number: str
    """What changed most: comments a pull, words a comment, usefulness, ..."""
    before: float
    after: float
    p_value: Share
    """Corrected for all days and numbers that were looked at."""


class Reviewer(Struct, frozen=True, kw_only=True):
    """One reviewer in the period."""

    name: str
    is_bot: bool
    pulls: Count
    """Pulls on which it has a scored comment."""
    comments: Count
    comments_a_pull: Estimate | None
    usefulness: Estimate | None
    """Mean over pulls of the standing, 0 to 100."""
    relevance: Estimate | None
    """Means over pulls of the published scores, 0 to 100."""
    conciseness: Estimate | None
    comprehensiveness: Estimate | None
    substance: Estimate | None
    abstained: Count
    """Pulls on which it wrote and nothing could be scored."""
    rank: tuple[int, int] | None
    """Best and worst rank by usefulness that the data allow; equal ranges are ties."""
    coverage: Coverage
    noise: Noise
    acted_on: tuple[ActedOn, ...]
    suggested_code: SuggestedCode | None
    """Null without a suggestion block."""
    trend: tuple[TrendPoint, ...]
    changes: tuple[ConfigurationChange, ...]


class Verdict(Struct, frozen=True, kw_only=True):
    """Comparison of two reviewers."""

    first: str
    second: str
    measure: str
    """usefulness, relevance, ..."""
    verdict: Literal["better", "worse", "equivalent", "unknown"]
    """Of the first: `equivalent` when the interval lies within the difference asked for."""
    difference: Estimate | None
    """First minus second, 0 to 100; null without data."""
    p_value: Share | None
    """Corrected for all pairs (Holm)."""
    pulls: Count
    """Pulls that count: common ones when paired, else all."""
    paired: bool
    needed: Count | None
    """More pulls needed to find the difference asked for; null when decided or not computable."""
    text: str
    """The verdict in words."""


class Shown(Struct, frozen=True, kw_only=True):
    """Comment that is shown as an example."""

    reviewer: str
    repository: str
    number: Count
    url: str
    """Its page on the host; empty when unknown."""
    text: str
    """Start of it, untrusted."""
    standing: Annotated[int, Meta(ge=0, le=100)]
    noise: str | None


class Gap(Struct, frozen=True, kw_only=True):
    """Finding of a tool on a change that nobody addressed."""

    repository: str
    number: Count
    text: str
    severity: str | None
    path: str | None
    line: Count


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
    rest: Count
    points: Count
    seconds: float


class Overview(Struct, frozen=True, kw_only=True):
    """Everything that the first page says."""

    schema: Literal["urn:crscore:audit:1"] = SCHEMA
    version: str = __version__
    since: str
    """First day of the period."""
    until: str
    """Last day, inclusive."""
    signature: str
    """Signature of the scores in all means; empty without a score."""
    other_signatures: tuple[str, ...]
    """Signatures of scores in the period that are left out."""
    detect: float
    """Difference asked for, 0 to 100."""
    pulls: Count
    merged: Count
    scored: Count
    pending: Count
    """Pulls that are known to have something unread."""
    failed: Count
    repositories: tuple[RepositorySummary, ...]
    reviewers: tuple[Reviewer, ...]
    """The most useful first; bots before people."""
    verdicts: tuple[Verdict, ...]
    """One for each pair of bots."""
    best: tuple[Shown, ...]
    worst: tuple[Shown, ...]
    gaps: tuple[Gap, ...]
    nights: tuple[Night, ...]
    notes: tuple[str, ...]
    """What limits the numbers, one sentence each."""


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
    """Difference asked for, 0 to 100."""
    verdicts: tuple[Verdict, ...]


def to_json(document: Overview | Verdicts) -> str:
    """Encode a document; msgspec would refuse half a surrogate pair, which a host can send."""
    text = json.dumps(to_builtins(document), ensure_ascii=False, indent=2)
    return escape.json_text(text) + "\n"
