"""`crscore triage DIFF REVIEW`: an action for each remark of a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from crscore import io
from crscore.commands._inputs import check_stdin, read_both, read_limited
from crscore.commands._settings import FILE, SCORING, load_settings, setting_options
from crscore.commands._terminal import GroupedCommand, output_option, print_note, quiet_option
from crscore.reports import escape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crscore.agents.triage import Triage, Triaged
    from crscore.records import Comment

WORTH_POSTING: Final = "worth-posting"


@click.command(
    name="triage",
    cls=GroupedCommand,
    short_help="Decide about remarks: fix, answer or skip.",
    groups={"Before posting": ("only", "posted", "min_worth", "budget")},
    examples=(
        "crscore triage change.diff comments.json --format json",
        "crscore triage change.diff draft.json --only worth-posting --budget 5 --format comments",
        "crscore triage change.diff draft.json --only worth-posting --posted posted.json",
    ),
)
@click.argument("diff", type=FILE, metavar="DIFF")
@click.argument("review", type=FILE, metavar="REVIEW")
@click.option(
    "--format",
    "layout",
    type=click.Choice(["text", "json", "comments"]),
    default="text",
    show_default=True,
    help="comments: the comments of REVIEW with a remark that is listed, as JSON.",
)
@output_option
@click.option(
    "--only",
    type=click.Choice(["fix", "answer", "skip", WORTH_POSTING]),
    help="List only remarks with this action, or a draft's remarks that are worth posting.",
)
@click.option("--posted", type=FILE, metavar="REVIEW", help="Comments that others have posted.")
@click.option(
    "--min-worth",
    type=click.FloatRange(0, 1),
    metavar="X",
    help="Minimum worth of a remark that is worth posting.  [default: 0.25]",
)
@click.option(
    "--budget", type=click.IntRange(min=0), metavar="N", help="Maximum remarks worth posting."
)
@quiet_option
@setting_options(*SCORING, "offline", "config", analyzers="none")
def command(
    diff: str,
    review: str,
    *,
    layout: str,
    output: str | None,
    only: str | None,
    posted: str | None,
    min_worth: float | None,
    budget: int | None,
    config_file: Path | None,
    **flags: Any,
) -> int:
    """Decide about each remark of REVIEW, a review of the change DIFF: fix, answer or skip.

    For coding agents that work on the remarks of all reviewers, and for a reviewer's draft before
    it is posted. Each remark has a reason, its importance, whether the code confirms or refutes it
    with the lines that prove it, its duplicates and its place. Linters are off by default.
    """
    settings = load_settings(config_file, flags)
    check_stdin([review, diff, posted])
    from crscore.agents.triage import MIN_WORTH, Policy, triage  # noqa: PLC0415
    from crscore.scorer import Scorer  # noqa: PLC0415

    scorer = Scorer(settings)
    (diff_data, diff_source), (review_data, source) = read_both(settings, diff, review)
    change = scorer.read_diff(diff_data, source=diff_source)
    comments = scorer.read_review(review_data, source=source)
    existing: tuple[Comment, ...] = ()
    if posted is not None:
        existing = scorer.read_review(read_limited(settings, posted, "review")[0], source=posted)
    policy = Policy(min_worth=MIN_WORTH if min_worth is None else min_worth, budget=budget)
    decided = triage(scorer, change, comments, posted=existing, policy=policy)
    # Comments by others are used for comparison but not listed.
    listed = [
        remark
        for remark in decided.remarks
        if remark.comment < len(comments)
        and (only is None or (remark.post if only == WORTH_POSTING else remark.action == only))
    ]
    io.write_text(_render(layout, decided, listed, comments, policy.min_worth), output)
    for note in decided.notes:
        print_note(f"note: {note}")
    return 0


def _render(
    layout: str,
    decided: Triage,
    listed: Sequence[Triaged],
    comments: Sequence[Comment],
    min_worth: float,
) -> str:
    if layout == "text":
        return "".join(_text(remark, min_worth) for remark in listed) or "No remarks.\n"
    if layout == "json":
        document = msgspec.structs.replace(decided, remarks=tuple(listed))
        return escape.write_json(document)
    indices = sorted({remark.comment for remark in listed})
    fields = ("id", "path", "line", "start_line", "side", "body")
    entries = [
        {name: value for name in fields if (value := getattr(comments[index], name)) is not None}
        for index in indices
    ]
    sides = {"old": "LEFT", "new": "RIGHT"}  # as GitHub expects them
    return escape.write_json([entry | {"side": sides[entry["side"]]} for entry in entries])


def _text(remark: Triaged, min_worth: float) -> str:
    place = ""
    if remark.place is not None:
        line = "" if remark.place.line is None else f":{remark.place.line}"
        place = f" · {escape.one_line(remark.place.path)}{line}"
    worth = post = ""
    if remark.worth is not None:
        worth = f" · worth {remark.worth:.1f} of 5"
    if remark.post and remark.draft_worth is not None:
        draft = f"{remark.draft_worth:.1f} as a draft, at least {min_worth:.1f}"
        post = f" · worth posting: {draft}"
    return (
        f"{remark.index:>3}  {remark.action.value:<6}  {escape.one_line(remark.text)}\n"
        f"     {escape.one_line(remark.reason)}{worth}{place}{post}\n"
    )
