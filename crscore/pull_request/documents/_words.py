"""Wording of an overview shared by several documents."""

from __future__ import annotations

import hashlib

from crscore.pull_request.overview import Overview, Point, Reviewer, Scores
from crscore.records import ReferenceKind, Side
from crscore.reports import view


def opening(found: Overview) -> str:
    """Summarise the findings: the verdict, then what is addressed; not escaped."""
    useful = found.together.usefulness
    return _coverage(found) if useful is None else f"{useful.verdict} {_coverage(found)}"


def _coverage(found: Overview) -> str:
    whole = found.together
    if whole.reason is not None:
        if not found.reviewers:
            waiting = f"; {view.many(whole.points, 'point')} to touch" if whole.points else ""
            return f"There is no review to score yet{waiting}."
        kind = "score" if whole.usefulness is None else "published score"
        return f"No {kind} for this review: {whole.reason.rstrip('.')}."
    who = "The review addresses"
    if reviewers(found) > 1:
        who = f"Together, {reviewers(found):,} reviewers address"
    points = f"{whole.addressed:,} of {view.many(whole.points, 'point')}"
    if whole.addressed == whole.points > 0:
        points = f"all {whole.points:,} points" if whole.points > 1 else "the one point"
    verb = "is" if whole.on_topic == 1 else "are"
    return (
        f"{who} {points} that a review of this change should touch; {whole.on_topic:,} of "
        f"{view.many(whole.sentences, 'sentence')} {verb} about it."
    )


def reviewers(found: Overview) -> int:
    """Count the reviewers, including those over the limit of rows."""
    return len(found.reviewers) + found.other_reviewers


def columns(found: Overview) -> tuple[str, str, str]:
    """Name the three columns of numbers."""
    return view.PUBLISHED if found.together.usefulness is None else view.USEFUL


def three(found: Overview, row: Scores) -> tuple[str, str, str]:
    """Format the values of those columns, with a dash for each undefined one; not escaped."""
    values: tuple[float | None, float | None, float | None]
    values = row.relevance, row.conciseness, row.comprehensiveness
    useful, word = row.usefulness, ""
    if found.together.usefulness is not None:
        values = None, None, None
        if useful is not None:
            values, word = (useful.standing / 100, useful.about, useful.substance), useful.word
    first, second, third = map(view.hundred, values)
    return f"{first} {word}".strip(), second, third


def published(found: Overview) -> str:
    """Name the published scores of all reviewers together; "" where the table has them."""
    one = found.together
    if one.usefulness is None:
        return ""
    said = view.published(one.relevance, one.conciseness, one.comprehensiveness, one.reason)
    return f"All from 0 to 100; published scores together: {said}."


def resolved(row: Reviewer) -> str:
    """Format a reviewer's resolved threads; a dash without threads or when unknown."""
    if not row.threads or row.resolved is None:
        return view.UNDEFINED
    return f"{row.resolved:,} of {row.threads:,}"


def comments(row: Reviewer) -> str:
    """Count a reviewer's comments, and the outdated ones if any."""
    return f"{row.comments:,}{f' ({row.outdated:,} outdated)' if row.outdated else ''}"


def total(found: Overview) -> tuple[str, str]:
    """Sum comments and resolved threads; dashes where a row is missing or unknown."""
    if found.other_reviewers:
        return view.UNDEFINED, view.UNDEFINED
    comment_count = f"{sum(row.comments for row in found.reviewers):,}"
    begun = [row for row in found.reviewers if row.threads]
    known = [row.resolved for row in begun if row.resolved is not None]
    if not begun or len(known) < len(begun):
        return comment_count, view.UNDEFINED
    return comment_count, f"{sum(known):,} of {sum(row.threads for row in begun):,}"


def title(found: Overview) -> str:
    """Return the title of the list of points: with degrees, some are partly addressed."""
    return "Not or hardly addressed" if found.graded else "Not addressed"


def place(point: Point) -> str:
    """Describe a point's place: path, lines and, for the old side, `(before)`; not escaped."""
    if point.path is None:
        return "whole change"
    before = " (before)" if point.side is Side.OLD else ""
    if not point.line:
        return f"{point.path}{before}"
    ends = f"-{point.end_line}" if point.end_line > point.line else ""
    return f"{point.path}:{point.line}{ends}{before}"


def finder(point: Point) -> str:
    """Describe an issue's tool and severity; "" for a point that no tool found; not escaped."""
    if point.kind is not ReferenceKind.ISSUE:
        return ""
    return ", ".join([point.source, *([point.severity] if point.severity else [])])


def address(found: Overview, point: Point) -> str | None:
    """Return a link to a point's lines in the pull request's diff; None when it has none.

    The host's anchor of a file is the hash of its path, and that of a line is its side and number.
    """
    if point.listed is None:
        return None
    digest = hashlib.sha256(point.listed.encode("utf-8", "surrogatepass")).hexdigest()
    side = "L" if point.side is Side.OLD else "R"
    lines = f"{side}{point.line}" if point.line else ""
    if lines and point.end_line > point.line:
        lines += f"-{side}{point.end_line}"
    return f"{found.url}/files#diff-{digest}{lines}"


def meaning(found: Overview) -> str:
    """Explain the scores in a few sentences."""
    scale = useful = ""
    if found.together.usefulness is not None:
        useful = (
            "Useful is the share of real review comments that are less useful; about, how likely "
            "the text is about this change and no other; substance, how much it gives the author "
            "to act on. "
        )
    if found.graded:
        # For the shipped weights, on the human study: README, "What the number means".
        scale = (
            " These numbers avoid the extremes: a review that people rate 4 or 5 of 5 typically "
            "has a relevance near 35."
        )
        first = (
            "Conciseness is how far, from 0 to 100, a review's sentences speak about the change; "
            "comprehensiveness is how far it addresses the points that a review should touch, each "
            "in part, so it can be less than the share of points that count as addressed"
        )
    else:
        first = (
            "Conciseness is the share of a review's sentences that speak about the change; "
            "comprehensiveness is the share of the points to touch that it addresses"
        )
    return (
        f"{useful}{first}; relevance is their harmonic mean.{scale} The numbers measure "
        "what a review covers, not whether it is right, and nothing about who wrote it."
    )


def over_limit(found: Overview) -> int:
    """Count the points that exceed the overview's limit."""
    return found.together.unaddressed - len(found.open)
