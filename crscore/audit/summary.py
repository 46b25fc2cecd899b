"""Builds the overview of an audit from the store."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from statistics import NormalDist
from types import MappingProxyType
from typing import Final

import numpy as np
from msgspec.structs import replace

from crscore.audit.compare import DETECT, compare_all
from crscore.audit.coverage import rate
from crscore.audit.decide import Record, count_comments, decide, load_records
from crscore.audit.drift import find_changes
from crscore.audit.escaped import load_escaped
from crscore.audit.facts import make_facts
from crscore.audit.gate import why_partial
from crscore.audit.overview import (
    Coverage,
    Estimate,
    Example,
    Night,
    Overview,
    RepositorySummary,
    Reviewer,
)
from crscore.audit.ranking import recommend, sort_key
from crscore.audit.store import reports
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pull_pages
from crscore.audit.store.rows import host_id_of, kind_of
from crscore.audit.tables import IMPORTANT, Period, ReviewTable, load_reviews
from crscore.errors import InputError
from crscore.hosts.site import site_of_page
from crscore.statistics.bootstrap import RESAMPLES
from crscore.statistics.intervals import Doubles
from crscore.text import count_noun
from crscore.usefulness.headline import GUIDE_SPREAD, REVIEWS
from crscore.usefulness.model import read_weights
from crscore.usefulness.reader import SHIPPED

Prices = Mapping[str, tuple[float, str, str]]
"""Bot -> price, currency (may be empty), and `month` or `pull`, as `read_price` returns them."""
NO_PRICES: Final[Prices] = MappingProxyType({})
HOST: Final = "https://github.com"
# Each bot has its own style, and the network that reads the comments may be wrong in the same
# direction on all comments of one style. With this value, the 80 % intervals of 6 of 7 bots contain
# the mean that guided readers give (`python -m benchmarks.bot_means DATA`).
BOT_ERROR: Final = 7.0
"""Standard deviation of the systematic error of a bot's mean usefulness (0 to 100), which more
comments do not reduce."""
_Z: Final = NormalDist().inv_cdf(0.9)
"""Half the width of an 80 % interval, in standard deviations."""
_WORDS_PER_MINUTE: Final = 200
_UNSEEN: Final = Coverage(
    reviewed=rate(0, 0), last_head=rate(0, 0), green_unreviewed=None, skips={}, hours=None
)
"""Coverage of a reviewer whose posts were deleted after scoring."""


def read_price(text: str) -> tuple[str, tuple[float, str, str]]:
    """Read a price of the form `BOT=AMOUNT/month` or `BOT=AMOUNT/pull`.

    Returns:
        The name of the bot in lower case; and a tuple of the amount, the currency ("" if none is
        given), and the unit: `month` (30 days) or `pull` (a pull request).

    Raises:
        InputError: The text does not have this form.
    """
    # `coderabbit=24/month`, `copilot=0.3EUR/pull`
    match = re.fullmatch(r"(.+)=(\d+(?:\.\d+)?)( ?[^\d\s/]{1,3})?/(month|pull)", text)
    if match is None:
        raise InputError(f"a price must be BOT=AMOUNT/month or BOT=AMOUNT/pull, not {text[:80]!r}")
    return match[1].casefold(), (float(match[2]), (match[3] or "").strip(), match[4])


def make_overview(
    store: Store,
    period: Period,
    *,
    detect: float = DETECT,
    resamples: int = RESAMPLES,
    seed: int = 0,
    prices: Prices = NO_PRICES,
    host: str = HOST,
) -> Overview:
    """Build the overview of a period.

    Args:
        store: The store.
        period: Days and repositories to include.
        detect: Smallest difference that matters, in pull requests per 100.
        resamples: Number of bootstrap samples for the comparisons of bots.
        seed: Seed of the bootstrap.
        prices: Prices of bots.
        host: Address of GitHub's pages, for links.

    Raises:
        StoreError: The store cannot be read.
        InputError: A pattern matches no repository, or the store has no repositories.
    """
    table = load_reviews(store, period)
    runs = reports.read_runs(store, period.since)
    nights = tuple(
        Night(
            night=run.night,
            kind=run.kind,
            partial=run.partial or (None if run.finished else "it was stopped"),
        )
        for run in runs
    )
    escaped = load_escaped(store, table, host)
    records = load_records(store, table, escaped.reviewers)
    verdicts = compare_all(table, detect=detect, resamples=resamples, seed=seed)
    pages = pull_pages(store, host)
    # Bots without a scored review are also listed if they posted a notice, ran a green check or
    # reviewed a pull request. Otherwise, a bot that is always green but never reviews would be
    # missing from the report.
    silent = {
        name
        for name, row in table.coverage.items()
        if table.is_bot[name] and (row.skips or row.green_unreviewed or row.reviewed.count)
    }
    reviewers = []
    for name in sorted({*table.reviewers, *silent}):
        row = _make_reviewer(table, name, records.get(name, Record()), prices, pages)
        if row.decision:
            row = replace(row, facts=make_facts(row, row.decision, verdicts))
        reviewers.append(row)
    reviewers.sort(key=sort_key)
    pulls, merged, pending, failed = reports.count_pulls(store, table.scope)
    unscored = reports.count_unscored(store, table.scope)
    repositories = tuple(
        RepositorySummary(name=name, state=state, reason=reason, pulls=total, merged=int(merged))
        for name, state, reason, total, merged in reports.read_repositories(store, table.scope)
    )
    notes = [f"{row.name} is {row.state}: {row.reason}." for row in repositories if row.reason]
    notes += _list_limits(store, table, why_partial(nights), (pending, failed, unscored))
    if abstained := sum(row.abstained for row in reviewers):
        notes.append(f"Not scored: {count_noun(abstained, 'review')}.")
    if requests := sum(run.requests for run in runs):
        read = sum(run.tokens_read for run in runs)
        written = sum(run.tokens_written for run in runs)
        tokens = f"tokens read: {read:,}, written: {written:,}"
        notes.append(f"A language model answered {count_noun(requests, 'request')} ({tokens}).")
    notes += [
        f"The price of {name} is not used: no bot of this period has that name."
        for name in sorted(prices.keys() - {row.name.casefold() for row in reviewers})
    ]
    if verdicts and not any(row.difference for row in verdicts):
        notes.append(
            "The bots reviewed different repositories or kinds of changes, so they cannot be "
            "compared with each other."
        )
    return Overview(
        since=period.since,
        until=period.until,
        signature=table.signature,
        other_signatures=table.other_signatures,
        detect=detect,
        recommendation=recommend(reviewers),
        pulls=pulls,
        merged=merged,
        pending=pending,
        failed=failed + unscored,
        scored=len(np.unique(table.pull[table.columns["scored"] > 0])),
        repositories=repositories,
        reviewers=tuple(reviewers),
        verdicts=verdicts,
        escaped=escaped,
        nights=nights,
        notes=tuple(notes),
    )


def _make_reviewer(
    table: ReviewTable, name: str, record: Record, prices: Prices, pages: Mapping[str, str]
) -> Reviewer:
    rows, scored = table.rows_of(name), table.columns["scored"] > 0
    is_bot, is_seen = table.is_bot[name], table.is_seen[name]
    pulls = int(is_seen.sum())
    since, until = map(date.fromisoformat, (table.scope.since, table.scope.until))
    days = (until - since).days + 1
    units = {"month": (days / 30, days, "day"), "pull": (pulls, pulls, "pull request")}
    amount, currency, unit = prices.get(name.casefold(), (None, "", "month"))
    factor, size, noun = units[unit]
    price = None if amount is None else amount * factor
    standings = (values := table.columns["usefulness"][rows])[~np.isnan(values)]
    # A single review does not show how much the bot's reviews vary.
    is_enough = len(standings) > 1
    return Reviewer(
        name=name,
        is_bot=is_bot,
        pulls=pulls,
        silent=int((is_seen & ~table.commented[name]).sum()),
        comments=count_comments(record.counts),
        usefulness=estimate_mean(standings, _read_spread(table.signature)) if is_enough else None,
        usefulness_error=float(standings.std(ddof=1) / len(standings) ** 0.5) if is_enough else 0.0,
        minutes=float(np.nansum(table.columns["words"][rows])) / _WORDS_PER_MINUTE,
        price=price,
        price_basis="" if price is None else f"{currency} for {count_noun(size, noun)}".strip(),
        abstained=int((rows & ~scored).sum()),
        coverage=table.coverage.get(name, _UNSEEN),
        points=record.points,
        decision=decide(table, name, record, price) if is_bot else None,
        facts=(),
        examples=_make_examples(name, record, pages),
        changes=find_changes(table, name) if is_bot else (),
    )


def estimate_mean(standings: Doubles, spread: Doubles) -> Estimate:
    """Return the mean of standings, with an 80 % interval for the mean that guided readers give.

    Guided readers follow the guide `prompts/read.v1.toml`; the network or a language model
    estimates the standings that they would give. The interval includes three errors: the choice of
    texts, the error of the estimate for each text, which averages out, and the systematic error for
    the bot (`BOT_ERROR`). For six of seven bots with judged comments, the interval contains the
    mean that guided readers give; without the systematic error, it does for only four bots.

    Args:
        standings: Estimated standing of each text, 0 to 100, shape (N,), N at least 2.
        spread: Estimated standings, each with the 10 %, 50 % and 90 % quantiles of the standing
            that guided readers give, shape (K, 4); see `usefulness.model.Scale.spread`.
    """
    # The network and the readers differ most for low and high standings: where the network
    # estimates 10, the median of the readers is 21. Therefore, the interval is around the median.
    knots, *quantiles = spread.T
    low, middle, high = (np.interp(standings, knots, quantile) for quantile in quantiles)
    reading = (high - low) / 2 / _Z
    variance = (standings.var(ddof=1) + (reading**2).mean()) / len(standings)
    half = _Z * math.sqrt(variance + BOT_ERROR**2)
    value, centre = float(standings.mean()), float(middle.mean())
    # The interval is extended to contain the mean, like the interval of a single score.
    return Estimate(
        value=value,
        low=max(0.0, min(value, centre - half)),
        high=min(100.0, max(value, centre + half)),
    )


@cache
def _read_spread(signature: str) -> Doubles:
    """Return the table `spread` of `estimate_mean` for the scores of this signature.

    The network and a language model have different tables.
    """
    is_by_model = "|readings:" in signature and "|readings:none" not in signature
    spread = GUIDE_SPREAD if is_by_model else read_weights(SHIPPED).scale.spread[REVIEWS]
    return spread.astype(np.float64)


def _make_examples(
    name: str, record: Record, pages: Mapping[str, str]
) -> dict[str, tuple[Example, ...]]:
    examples: dict[str, tuple[Example, ...]] = {}
    for key, repository, number, text, kind, is_only, *reactions in record.examples:
        url = pages[repository].replace("{number}", str(number))
        outcomes = zip(("fixed", "answered", "resolved"), reactions, strict=True)
        example = Example(
            reviewer=name,
            repository=repository,
            number=number,
            url=site_of_page(url).comment_address(url, kind_of(key), host_id_of(key)),
            text=text,
            kind=kind,
            outcome=", ".join(outcome for outcome, is_true in outcomes if is_true),
            only=bool(is_only) and kind in IMPORTANT,
        )
        examples[kind] = (*examples.get(kind, ()), example)
    return examples


def _list_limits(
    store: Store, table: ReviewTable, partial: str | None, counts: tuple[int, int, int]
) -> Iterator[str]:
    """Yield sentences about data that are missing from the numbers of a period.

    Args:
        store: The store.
        table: Reviews of the period.
        partial: Why the last run is incomplete; None if it is complete.
        counts: Numbers of pull requests that are pending, that could not be read, and that could
            not be scored.
    """
    if partial is not None:
        yield f"The scores may be incomplete: {partial}."
    pending, failed, unscored = counts
    for text, count, noun in (
        ("Not read in full", pending, "pull request"),
        ("Could not be read", failed, "pull request"),
        ("Could not be scored", unscored, "pull request"),
        ("Not in English, so not read", reports.count_unread(store, table.scope), "comment"),
    ):
        if count:
            yield f"{text}: {count_noun(count, noun)}."
    if table.other_signatures:
        signatures = count_noun(len(table.other_signatures), "other signature")
        yield f"Scores of other settings or versions are excluded from all numbers: {signatures}."
