"""Sorts the bots of an audit and writes the recommendation.

Bots with the same verdict are sorted by their fixes beyond chance per pull request that they saw.
Fixes are acts of others, so a bot cannot improve its rank by its texts alone
(docs/design/031-decisions.md).
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from crscore.audit.decide import CONDITION, count_hollow_checks, is_staged
from crscore.audit.overview import Reviewer

# "undecided" is before "drop", because more data may show that the bot should be kept.
_ORDER: Final = ("keep", "tune", "undecided", "drop", "")
"""Verdicts in the order of the report; "" is for people, who have no verdict."""


def sort_key(row: Reviewer) -> tuple[float, ...]:
    """Return a key that sorts reviewers: bots by verdict and by the acts of others, then people.

    The best reviewers come first; among the bots to drop, the worst ones come first.
    """
    # The count is divided by the number of pull requests, because a bot that was tried for only a
    # week had less time to find something.
    mattered = sum(row.comments.mattered.values()) / max(1, row.pulls)
    index = _ORDER.index(_verdict(row))
    if row.decision is None:
        return (index, -mattered)
    worth = (count_beyond_chance(row), mattered, row.decision.important.share or 0.0)
    if row.decision.verdict == "drop":
        return (index, *worth)
    is_doubtful = count_hollow_checks(row.coverage) > 0 or is_staged(row.decision.afterwards)
    return (index, is_doubtful, *(-value for value in worth))


def _verdict(row: Reviewer) -> str:
    return row.decision.verdict if row.decision else ""


def count_beyond_chance(row: Reviewer, end: str = "share") -> float:
    """Return the fixes beyond chance per pull request that a reviewer saw.

    These are the fixed comments minus those expected to be fixed by chance. The result is negative
    if fewer were fixed than expected, and 0 if the chance is unknown.

    Args:
        row: The reviewer.
        end: `share` for the number itself, `low` or `high` for an end of its interval.
    """
    if row.decision is None or row.decision.chance is None:
        return 0.0
    share: float = getattr(row.decision.fixed, end)
    return row.decision.fixed.total * (share - row.decision.chance) / max(1, row.pulls)


def recommend(reviewers: Sequence[Reviewer]) -> str:
    """Return a sentence on what to do with each bot; `reviewers` must be sorted by `sort_key`."""
    parts = []
    for verdict, group in groupby(filter(_verdict, reviewers), _verdict):
        bots = list(group)
        start = "undecided about" if verdict == "undecided" else verdict
        names = [row.name for row in bots]
        if verdict != "undecided" and len(bots) > 1:
            names[:2] = f"{names[0]} first", f"then {names[1]}"
        if verdict == "keep" and len(bots) > 1:
            fixes = [max(0, round(row.pulls * count_beyond_chance(row))) for row in bots[:2]]
            names[0] += f" ({fixes[0]:,} fixes beyond chance on {bots[0].pulls:,} pull requests)"
            names[1] += f" ({fixes[1]:,} on {bots[1].pulls:,}{_doubt(bots[0], bots[1])})"
        for at, row in enumerate(bots if verdict in ("keep", "tune") else ()):
            names[at] += f" {CONDITION}" * (count_hollow_checks(row.coverage) > 0)
        parts.append(f"{start} {', '.join(names)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else "No bot posted in this period."


def _doubt(first: Reviewer, second: Reviewer) -> str:
    """Return a clause that the order of two bots may be chance; "" if the order is clear."""
    is_sure = count_beyond_chance(first, "low") > count_beyond_chance(second, "high")
    return "" if is_sure or count_hollow_checks(second.coverage) else "; this order may be chance"
