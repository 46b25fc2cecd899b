"""Escaped defects in the report: a sentence, a table of reviewers, fixes without a comment."""

from typing import Final

from crscore.audit.overview import Escaped
from crscore.audit.report import words
from crscore.audit.report.contents import Links
from crscore.reports import escape, view
from crscore.reports.blocks import Item, Items, Run, Table, make_table

_TEXT_CHARS: Final = 200


def summary(escaped: Escaped) -> str:
    """Describe how many merged pull requests were fixed later, and how many are unknown."""
    if not escaped.pulls:
        text = "No merged pull request of this period has been followed."
    else:
        text = (
            f"Within {escaped.days} days, later commits fixed lines of {escaped.fixed.count:,} of "
            f"{view.count_noun(escaped.pulls, 'merged pull request')} "
            f"({view.percent(escaped.fixed.share)}), and changed lines of "
            f"{escaped.changed.count:,} ({view.percent(escaped.changed.share)}) for another reason."
        )
        if escaped.complete < escaped.pulls:
            recent = escaped.pulls - escaped.complete
            text += f" {recent:,} of them were merged too recently to be sure."
    for row in escaped.unknown:
        text += f" {view.count_noun(row.pulls, 'pull request')} not followed: {row.reason}."
    if escaped.near.total:
        share = view.percent(escaped.near.share)
        text += f" A comment before the merge is next to {share} of the fixes."
    return text


def recall(escaped: Escaped, links: Links) -> Table:
    """Tabulate how often each reviewer commented near lines that were fixed later."""
    return make_table(
        "Escaped defects",
        escaped.reviewers,
        ("Reviewer", lambda row: (links.bot(row.reviewer), Run("" if row.is_bot else " (person)"))),
        ("Wrote next to it", lambda row: (Run(words.share(row.near), "strong"),)),
        ("Next to other changes", lambda row: words.share(row.near_base)),
        ("Fixes", lambda row: f"{row.near.total:,}"),
    )


def missed(escaped: Escaped, links: Links) -> Items:
    """List the defects without a nearby comment."""
    return Items(
        tuple(
            Item(
                escape.one_line(row.text, _TEXT_CHARS),
                below=(
                    (
                        links.pull(row.repository, row.number),
                        Run(f" · {row.path}:{row.line}", "place"),
                        Run(" · "),
                        Run("the fix", link=row.url),
                    ),
                ),
            )
            for row in escaped.missed
        )
    )
