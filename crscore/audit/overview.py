"""Overview of an audit: the one record from which page, terminal, digest and JSON are written.

`summary.make_overview` builds it from the store. The JSON report is the overview itself. A
*comment* has its thread, and is judged by its most important part; every count has its total.
Shares are in [0, 1] and scores from 0 to 100; `null` means unknown, not 0.
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
    """Number with its interval."""

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
    """Null if the total is 0."""
    low: Share | None
    high: Share | None


class Coverage(Struct, frozen=True, kw_only=True):
    """Share of merged pull requests that a reviewer really reviewed."""

    reviewed: Rate
    """Share that it reviewed of the pull requests merged since its first post in the repository."""
    last_head: Rate
    """Share of these pull requests whose last head it reviewed; a reply in a thread or a dismissed
    review does not count."""
    green_unreviewed: Count | None
    """Merged pull requests on which the reviewer's check was green but that it did not review; null
    if it has no checks."""
    skips: dict[str, Count]
    """Pull requests with notices that they were not reviewed, by reason: limit, skipped, failed."""
    hours: float | None
    """Median hours from the opening of a pull request to its first review."""


class Comments(Struct, frozen=True, kw_only=True):
    """Comments of a reviewer; each is of one kind, so the counts add up to the total."""

    total: Count
    kinds: dict[str, Count]
    """Kind -> comments: critical, major and minor are worth acting on; then nit; formula, repeat,
    restates, praise, nothing and refuted give the author nothing to do; unread have no sentence in
    English."""
    # A comment to which nobody reacted may still have been right.
    mattered: dict[str, Count]
    """Level -> comments worth acting on that people fixed or resolved. Answered comments are not
    counted here, because an answer can be a no."""
    fixed_formulas: Count
    """Number of formulas (comments that are one sentence with other names) that were fixed."""
    fixed: Count
    """Number of comments worth acting on that were fixed."""
    answered: Count
    """Number of comments worth acting on that were answered."""
    resolved: Count
    """Number of comments worth acting on whose thread a person resolved."""


class Points(Struct, frozen=True, kw_only=True):
    """Points worth acting on; comments of several reviewers on the same point count once."""

    total: Count
    only: Count
    """Points that no other reviewer made."""
    people: Count
    """Points that the reviewer made first, and a person later."""


class Decision(Struct, frozen=True, kw_only=True):
    """Decision to keep, tune or drop a bot, by rule."""

    verdict: Literal["keep", "tune", "drop", "undecided"]
    reason: str
    """The verdict with its reason, in one sentence."""
    important: Rate
    """Share of critical, major and minor comments among those that could be read."""
    gained: Rate
    """Of the pull requests that the bot saw, the share on which it made such a comment. It saw
    those with a post or a check of the bot and, for an account that does nothing but review, those
    merged between its first and last post."""
    fixed: Rate
    """Share of the comments worth acting on whose lines changed later. Only comments count that
    made their point first, in a file with other lines, with no other reviewer's point beside them
    that the change can answer."""
    chance: Share | None
    """Share of all lines of the changes that changed later, whether they have a comment or not;
    null if every line has a comment."""
    by_habit: Rate
    """Share of the bot's other threads that people resolved: some teams resolve every thread."""
    # Words that sound important do not keep a bot: a script can write them
    # (docs/design/031-decisions.md).
    evidence: tuple[str, ...]
    """Evidence besides the bot's own words, a clause each. A bot without any is not kept."""
    afterwards: Rate
    """Share of the bot's posts that were hidden, deleted or edited later, or written after the
    close of the pull request, or on an older commit when there was already a post on the last one.
    If the whole interval is above 10 %, nothing counts as evidence."""
    late: Rate
    """Share of the bot's posts that were written after the close, or on an older commit when there
    was already a post on the last one. A bot is dropped if the whole interval is above one half."""
    acts: tuple[str, ...]
    """How many posts were hidden or deleted, edited, written after the close, or written after the
    fix; a clause each."""
    switch_off: tuple[str, ...]
    """Kinds of unimportant comments whose lines change no more often than other lines."""
    needed: Count | None
    """Number of further pull requests after which a decision is likely; null if there is a decision
    or the number is unknown."""


class ConfigurationChange(Struct, frozen=True, kw_only=True):
    """Day on which a bot began to behave differently."""

    day: str
    number: str
    """Number that changed most: comments per pull request, words per comment, usefulness, ..."""
    before: float
    after: float
    p_value: Share
    """p-value, corrected for all tested days and numbers."""


class Example(Struct, frozen=True, kw_only=True):
    """Comment that is quoted."""

    reviewer: str
    repository: str
    number: Count
    url: str
    """Address of the comment on the host; empty if unknown."""
    text: str
    """Start of its sentences, without markup; untrusted."""
    kind: str
    outcome: str
    """`fixed`, `answered` and `resolved` with commas; empty for no reaction."""
    only: bool
    """Whether it is worth acting on and no other reviewer made its point."""


class Fact(Struct, frozen=True, kw_only=True):
    """Line of the first screen."""

    title: str
    text: str


class Reviewer(Struct, frozen=True, kw_only=True):
    """Reviewer with its numbers in the period."""

    name: str
    is_bot: bool
    pulls: Count
    """Pull requests that it saw; for people, those with a comment of theirs."""
    silent: Count
    """Pull requests that it saw without a comment."""
    comments: Comments
    usefulness: Estimate | None
    """Mean usefulness over pull requests, 0 to 100, with an 80 % interval for the error of the
    reader and the choice of pull requests."""
    usefulness_error: float
    """Standard error of the mean due to the choice of pull requests alone; 0 if it is unknown."""
    minutes: float
    """Reading time of its comments at 200 words per minute."""
    # From `--price BOT=AMOUNT/month`: hosts do not know what a bot costs.
    price: float | None
    """Price in the period; null if none was given."""
    price_basis: str
    """Its currency and what it is for, such as `EUR for 31 days`; empty without one."""
    abstained: Count
    """Pull requests on which none of its comments could be scored."""
    coverage: Coverage
    points: Points | None
    """Null if it is not known which comments make the same point."""
    decision: Decision | None
    """Null for people."""
    facts: tuple[Fact, ...]
    """Lines on its comments that mattered, its cost, its presence, the comparison with others (if
    known), and how sure this is. Empty for people."""
    examples: dict[str, tuple[Example, ...]]
    """Comments by kind, with a reaction first, then the most useful; at most 10 of a kind."""
    changes: tuple[ConfigurationChange, ...]


class PairComparison(Struct, frozen=True, kw_only=True):
    """Comparison of two reviewers: on how many pull requests each has a comment worth acting on."""

    first: str
    second: str
    verdict: Literal["better", "worse", "equivalent", "unknown"]
    """Verdict on the first; `equivalent` if the interval is within the difference that matters."""
    difference: Estimate | None
    """First minus second, of 100 pull requests, with a 95 % interval; null without data."""
    p_value: Share | None
    """p-value, corrected for all pairs (Holm)."""
    pulls: Count
    """Pull requests in the comparison: those that both saw if paired, else all."""
    paired: bool
    needed: Count | None
    """Further pull requests needed to detect the difference; null if decided or unknown."""
    gained: tuple[Count, ...]
    """Pull requests on which the first and the second have a comment worth acting on; empty if they
    cannot be compared."""
    text: str
    """The verdict in words."""


class EscapedRecall(Struct, frozen=True, kw_only=True):
    """Escaped defects near a comment of one reviewer before the merge.

    Only pull requests that the reviewer saw count.
    """

    reviewer: str
    is_bot: bool
    near: Rate
    """Share of fixes with a comment at most three lines from the fixed lines; fixes do not count if
    others had commented there too."""
    # A bot that comments everywhere is next to all changes, also to those that fix nothing.
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


class Escaped(Struct, frozen=True, kw_only=True):
    """Defects that reviews missed: later commits that fix lines of a merged pull request."""

    days: Count
    """Number of days after the merge; later commits do not count."""
    pulls: Count
    """Merged pull requests whose lines are followed."""
    fixed: Rate
    """Share of followed pull requests with a line that a later commit fixes."""
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


class Night(Struct, frozen=True, kw_only=True):
    """One run."""

    night: str
    kind: str
    partial: str | None


class Overview(Struct, frozen=True, kw_only=True):
    """Content of the first page."""

    schema: Literal["urn:crscore:audit:2"] = SCHEMA
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
    """Smallest difference that matters, of 100 pull requests."""
    recommendation: str
    """Recommendation for each bot: the most valuable bot first; among dropped ones, the worst
    first."""
    pulls: Count
    merged: Count
    scored: Count
    pending: Count
    """Pull requests that have not been read in full."""
    failed: Count
    """Pull requests that could not be read or scored."""
    repositories: tuple[RepositorySummary, ...]
    reviewers: tuple[Reviewer, ...]
    """Bots in the order of the recommendation, then people."""
    verdicts: tuple[PairComparison, ...]
    """One for each pair of bots."""
    escaped: Escaped
    nights: tuple[Night, ...]
    notes: tuple[str, ...]
    """Limitations of the scores, one sentence each."""


class PairComparisons(Struct, frozen=True, kw_only=True):
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
    """Smallest difference that matters, of 100 pull requests."""
    verdicts: tuple[PairComparison, ...]
