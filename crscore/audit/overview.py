"""Overview of an audit: the record from which page, terminal, digest and JSON are written.

`summary.make_overview` builds the overview from the store. The JSON report is the overview itself.
A *comment* counts together with its thread and is judged by its most important part. Every count
has its total. Shares are in [0, 1] and scores from 0 to 100; `null` means unknown, not 0.
"""

from typing import Final, Literal

from msgspec import Struct

from crscore.reports.fields import Count, Share
from crscore.version import __version__

SCHEMA: Final = "urn:crscore:audit:2"
"""The `$id` of the JSON document's schema."""
VERDICTS_SCHEMA: Final = "urn:crscore:audit-verdicts:1"
"""The `$id` of the schema for `crscore audit compare`."""


class Estimate(Struct, frozen=True, kw_only=True):
    """Number with its interval, from `low` to `high`."""

    value: float
    low: float
    high: float


# The interval is clustered, because the comments on a pull request are similar
# (docs/design/025-audits.md).
class Rate(Struct, frozen=True, kw_only=True):
    """Share with its 95 % interval (Wilson), clustered by pull request."""

    count: Count
    total: Count
    share: Share | None
    """`count` divided by `total`; null, like the ends of the interval, if the total is 0."""
    low: Share | None
    high: Share | None


class Coverage(Struct, frozen=True, kw_only=True):
    """How many merged pull requests a reviewer really reviewed."""

    reviewed: Rate
    """Share of reviewed pull requests among those merged since the reviewer's first post in the
    repository."""
    last_head: Rate
    """Share of the same pull requests whose last commit was reviewed. Replies in threads and
    dismissed reviews do not count."""
    green_unreviewed: Count | None
    """Number of merged pull requests on which the reviewer's check was green, but which the
    reviewer did not review; null if it has no checks."""
    skips: dict[str, Count]
    """Number of pull requests with a notice by the reviewer that they were not reviewed, for each
    reason: limit, skipped, failed."""
    hours: float | None
    """Median time in hours from the opening of a pull request to the first review; null without
    reviews."""


class Comments(Struct, frozen=True, kw_only=True):
    """Numbers of a reviewer's comments. Each comment is of one kind."""

    total: Count
    kinds: dict[str, Count]
    """Number of comments of each kind. Comments that are critical, major or minor are worth acting
    on; nits are small matters; formula, repeat, restates, praise, nothing and refuted give the
    author nothing to do; unread comments have no sentence in English."""
    # A comment to which nobody reacted may still have been right.
    mattered: dict[str, Count]
    """Number of comments worth acting on that people fixed or resolved, by level: critical, major
    or minor. A reply alone does not count, because people also reply to disagree."""
    fixed_formulas: Count
    """Number of formulas (templated comments: one sentence with other names) that were fixed."""
    fixed: Count
    """Number of comments worth acting on that were fixed: lines near them changed later."""
    answered: Count
    """Number of comments worth acting on to which another person replied."""
    resolved: Count
    """Number of comments worth acting on whose thread a person resolved."""


class Points(Struct, frozen=True, kw_only=True):
    """Numbers of points worth acting on. Comments of several reviewers may make the same point."""

    total: Count
    """Points that the reviewer made."""
    only: Count
    """Points that no other reviewer made."""
    people: Count
    """Points that the reviewer made first and a person made later."""


class Decision(Struct, frozen=True, kw_only=True):
    """Decision to keep, tune or drop a bot; `docs/audits.md` has the rules."""

    verdict: Literal["keep", "tune", "drop", "undecided"]
    reason: str
    """The verdict with its reason, in one sentence."""
    important: Rate
    """Share of critical, major and minor comments among those that could be read."""
    gained: Rate
    """Share of the pull requests that the bot saw on which it made a critical, major or minor
    comment. A bot saw the pull requests on which it posted or ran a check and, if its account does
    nothing but review, all that were merged between its first and its last post."""
    fixed: Rate
    """Share of the comparable comments worth acting on whose lines changed later. A comment is
    comparable if it was the first to make its point, in a file that has lines without a comment,
    and if no other reviewer made a point close by that may have caused the change."""
    chance: Share | None
    """Share of the lines of the same changes, with and without a comment, that changed later; null
    if there is no comparable comment."""
    by_habit: Rate
    """Share of the bot's threads not worth acting on that people resolved. It is high where a team
    resolves every thread."""
    # A bot is not kept for its own texts alone, because a script can write texts that seem
    # important (docs/design/031-decisions.md).
    evidence: tuple[str, ...]
    """Acts or texts of others that show the bot's worth, a clause each. A bot without evidence is
    not kept."""
    afterwards: Rate
    """Share of the bot's posts that were hidden, deleted or edited later, or written after the
    pull request was closed, or written on an older commit when there was already a post on the last
    commit. If the entire interval is above 10 %, nothing counts as evidence."""
    late: Rate
    """Share of the bot's posts that were written after the pull request was closed, or on an older
    commit when there was already a post on the last commit. A bot is dropped if the entire interval
    is above one half."""
    acts: tuple[str, ...]
    """How many posts were hidden or deleted, edited, written after the close, or written after the
    fix; a clause each."""
    switch_off: tuple[str, ...]
    """Kinds of unimportant comments whose lines changed no more often than by chance."""
    needed: Count | None
    """Number of further pull requests after which a decision is likely; null if there is a decision
    or if the number is unknown."""


class ConfigurationChange(Struct, frozen=True, kw_only=True):
    """Day on which a bot began to behave differently."""

    day: str
    number: str
    """Measure that changed most, such as comments per pull request or words per comment."""
    before: float
    """Mean of the measure before the day."""
    after: float
    """Mean of the measure since the day."""
    p_value: Share
    """p-value, corrected for all tested days and measures."""


class Example(Struct, frozen=True, kw_only=True):
    """Comment that the report quotes."""

    reviewer: str
    repository: str
    number: Count
    """Number of the pull request."""
    url: str
    """Address of the comment on the host; empty if unknown."""
    text: str
    """Start of the sentences of the comment, without markup; untrusted."""
    kind: str
    """A key of `Comments.kinds`."""
    outcome: str
    """Those of `fixed`, `answered` and `resolved` that apply, separated by commas; may be empty."""
    only: bool
    """Whether the comment is worth acting on and no other reviewer made its point."""


class Fact(Struct, frozen=True, kw_only=True):
    """Titled text about a bot on the first screen."""

    title: str
    text: str


class Reviewer(Struct, frozen=True, kw_only=True):
    """Reviewer with its numbers in the period."""

    name: str
    is_bot: bool
    pulls: Count
    """Number of pull requests that the reviewer saw (see `Decision.gained`). People saw those that
    they commented on."""
    silent: Count
    """Number of pull requests that the reviewer saw, but did not comment on."""
    comments: Comments
    usefulness: Estimate | None
    """Mean usefulness over pull requests, 0 to 100. The 80 % interval includes the error of the
    network that reads the comments, and the error from the choice of pull requests."""
    usefulness_error: float
    """Standard error of the mean from the choice of pull requests alone; 0 if unknown."""
    minutes: float
    """Time to read all comments at 200 words per minute."""
    # The price is given by `--price BOT=AMOUNT/month`, because hosts do not know it.
    price: float | None
    """Price in the period; null if none was given."""
    price_basis: str
    """Currency, and what the price is for, such as `EUR for 31 days`; empty without a price."""
    abstained: Count
    """Number of pull requests on which no comment of the reviewer could be scored."""
    coverage: Coverage
    points: Points | None
    """Null if it is unknown which comments make the same point."""
    decision: Decision | None
    """Null for people."""
    facts: tuple[Fact, ...]
    """Texts about the bot: comments that mattered, cost, presence, comparison with other bots (if
    any), and the certainty of the numbers. Empty for people."""
    examples: dict[str, tuple[Example, ...]]
    """At most 10 comments of each kind: those with a reaction first, then the most useful."""
    changes: tuple[ConfigurationChange, ...]


class PairComparison(Struct, frozen=True, kw_only=True):
    """Comparison of two reviewers by the pull requests with a comment worth acting on."""

    first: str
    second: str
    verdict: Literal["better", "worse", "equivalent", "unknown"]
    """Verdict on the first reviewer; `equivalent` if the entire interval is closer to 0 than the
    smallest difference that matters."""
    difference: Estimate | None
    """First minus second reviewer, in pull requests per 100, with a 95 % interval; null without
    data."""
    p_value: Share | None
    """p-value, corrected for all pairs (Holm); null if it cannot be computed."""
    pulls: Count
    """Number of pull requests in the comparison: if it is paired, those that both reviewers saw,
    else those that at least one of them saw."""
    paired: bool
    """Whether only pull requests that both reviewers saw are compared."""
    needed: Count | None
    """Number of further pull requests needed to detect the difference; null if the verdict is known
    or the number is not."""
    gained: tuple[Count, ...]
    """Number of pull requests on which the first and the second reviewer made a comment worth
    acting on; empty if they cannot be compared."""
    text: str
    """The comparison in one sentence."""


class EscapedRecall(Struct, frozen=True, kw_only=True):
    """How often a reviewer had commented near lines that were fixed after the merge.

    Only pull requests that the reviewer saw count.
    """

    reviewer: str
    is_bot: bool
    near: Rate
    """Share of later fixes that have a comment of the reviewer at most three lines from the fixed
    lines. Fixes near which other reviewers had commented, too, do not count."""
    # A bot that comments everywhere has comments near all changes.
    near_base: Rate
    """The same share for later commits that change lines for another reason."""


class EscapedDefect(Struct, frozen=True, kw_only=True):
    """Defect near which nobody had commented before the merge."""

    repository: str
    number: Count
    """Number of the pull request that added the lines."""
    text: str
    """First line of the message of the fix; untrusted."""
    url: str
    """Address of the fix on the host."""
    path: str
    line: Count
    """First fixed line, numbered as in the merge."""


class Escaped(Struct, frozen=True, kw_only=True):
    """Defects that reviews missed: later commits fixed lines of a merged pull request."""

    days: Count
    """Number of days after the merge in which later commits count."""
    pulls: Count
    """Number of merged pull requests whose lines are followed."""
    fixed: Rate
    """Share of the followed pull requests of which a later commit fixed a line."""
    reviewers: tuple[EscapedRecall, ...]
    missed: tuple[EscapedDefect, ...]
    """Defects near which nobody had commented, the newest first; at most 10."""


class RepositorySummary(Struct, frozen=True, kw_only=True):
    """One repository in the period."""

    name: str
    state: str
    """`ok`, `gone` (deleted, or private for this token) or `refused`."""
    reason: str | None
    """Why the repository cannot be read; null if it can."""
    pulls: Count
    merged: Count


class Night(Struct, frozen=True, kw_only=True):
    """One run of `crscore audit sync` or `crscore audit score`."""

    night: str
    """Date on which the run began, in UTC."""
    kind: str
    """`sync` or `score`."""
    partial: str | None
    """Why the run is incomplete; null if it is complete."""


class Overview(Struct, frozen=True, kw_only=True):
    """All numbers of an audit of one period."""

    schema: Literal["urn:crscore:audit:2"] = SCHEMA
    version: str = __version__
    since: str
    """First day of the period."""
    until: str
    """Last day, inclusive."""
    signature: str
    """Signature of the scores that are used; empty if there are no scores."""
    other_signatures: tuple[str, ...]
    """Signatures of the scores in the period that are not used."""
    detect: float
    """Smallest difference that matters, in pull requests per 100."""
    recommendation: str
    """What to do with each bot: the most valuable bot first, but among bots to drop, the worst
    first."""
    pulls: Count
    """Number of pull requests in the period."""
    merged: Count
    scored: Count
    """Number of pull requests with a scored review."""
    pending: Count
    """Number of pull requests that have not been read in full."""
    failed: Count
    """Number of pull requests that could not be read or scored."""
    repositories: tuple[RepositorySummary, ...]
    reviewers: tuple[Reviewer, ...]
    """Bots in the order of the recommendation, then people."""
    verdicts: tuple[PairComparison, ...]
    """Comparisons of all pairs of bots."""
    escaped: Escaped
    nights: tuple[Night, ...]
    """Runs since the first day of the period."""
    notes: tuple[str, ...]
    """Limitations of the numbers, one sentence each."""


class PairComparisons(Struct, frozen=True, kw_only=True):
    """Comparisons of reviewers: each pair once."""

    schema: Literal["urn:crscore:audit-verdicts:1"] = VERDICTS_SCHEMA
    version: str = __version__
    since: str
    """First day of the period."""
    until: str
    """Last day, inclusive."""
    signature: str
    """Signature of the scores; empty if there are no scores."""
    detect: float
    """Smallest difference that matters, in pull requests per 100."""
    verdicts: tuple[PairComparison, ...]
