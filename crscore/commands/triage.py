"""`crscore triage DIFF REVIEW`: an action for each remark of a review."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from crscore.commands._inputs import CodeOptions, read_inputs, read_limited
from crscore.commands._options import (
    format_option,
    option,
    output_option,
    quiet_option,
    write_document,
)
from crscore.commands._settings import FILE, SCORING, load_settings, setting_options
from crscore.commands._terminal import GroupedCommand, print_note
from crscore.reports import escape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crscore.agents.triage import Triaged
    from crscore.records import Comment

WORTH_POSTING: Final = "worth-posting"
NO_REMARKS: Final = "No remarks.\n"


@click.command(
    name="triage",
    cls=GroupedCommand,
    short_help="Decide about remarks: fix, answer or skip.",
    groups={"Before posting": ("only", "posted")},
)
@click.argument("diff", type=FILE, metavar="DIFF")
@click.argument("review", type=FILE, metavar="REVIEW")
@format_option("text", "json", "comments", text="comments: comments with a listed remark, as JSON.")
@output_option
@option(
    "--only", "List only remarks with this action, or a draft's remarks that are worth posting.",
    type=click.Choice(["fix", "answer", "skip", WORTH_POSTING]),
)  # fmt: skip
@option("--posted REVIEW", "Comments that others have posted.", type=FILE)
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
    config_file: Path | None,
    **flags: Any,
) -> int:
    """Decide about each remark of REVIEW, a review of the change DIFF: fix, answer or skip.

    For coding agents that work on the remarks of all reviewers, and for a reviewer's draft before
    it is posted. Each remark has a reason, its importance, whether the code confirms or refutes it
    with the lines that prove it, its duplicates and its place. Linters are off by default.

    Examples:
        crscore triage change.diff comments.json --format json
        crscore triage change.diff draft.json --only worth-posting --format comments
        crscore triage change.diff draft.json --only worth-posting --posted posted.json
    """
    settings = load_settings(config_file, flags)
    from crscore.agents.triage import triage  # noqa: PLC0415

    scorer, change, comments, _ = read_inputs(settings, diff, review, CodeOptions(), posted)
    existing: tuple[Comment, ...] = ()
    if posted is not None:
        existing = scorer.read_review(read_limited(settings, posted, "review")[0], source=posted)
    decided = triage(scorer, change, comments, posted=existing)
    # Comments by others are used for comparison but not listed.
    listed = [
        remark
        for remark in decided.remarks
        if remark.comment < len(comments)
        and (only is None or (remark.post if only == WORTH_POSTING else remark.action == only))
    ]
    write_document(
        layout,
        output,
        msgspec.structs.replace(decided, remarks=tuple(listed)),
        text=lambda **_: "".join(map(_text, listed)) or NO_REMARKS,
        comments=lambda: _as_json(comments, sorted({item.comment for item in listed})),
    )
    for note in decided.notes:
        print_note(f"note: {note}")
    return 0


def _as_json(comments: Sequence[Comment], indices: Sequence[int]) -> str:
    """Write some comments with the fields and the sides that GitHub's API expects."""
    # https://docs.github.com/en/rest/pulls/comments#create-a-review-comment-for-a-pull-request
    fields = ("id", "path", "line", "start_line", "side", "body")
    sides = {"old": "LEFT", "new": "RIGHT"}
    rows = [{name: getattr(comments[at], name) for name in fields} for at in indices]
    entries = [row | {"side": sides[row["side"]]} for row in rows]
    return escape.write_json(
        [{key: value for key, value in row.items() if value is not None} for row in entries]
    )


def _text(remark: Triaged) -> str:
    from crscore.agents.triage import MIN_WORTH  # noqa: PLC0415

    reason = remark.reason
    if remark.duplicate_of is not None:
        # Counted from 1 for people, as in the report of a score; in JSON it is an index.
        first = remark.duplicate_of
        reason = reason.replace(f"remark {first} ", f"remark {first + 1} ", 1)
    facts = [escape.one_line(reason)]
    if remark.worth is not None:
        facts.append(f"worth {remark.worth:.1f} of 5")
    if remark.place is not None:
        line = "" if remark.place.line is None else f":{remark.place.line}"
        facts.append(f"{escape.one_line(remark.place.path)}{line}")
    if remark.post and remark.draft_worth is not None:
        draft = f"{remark.draft_worth:.1f} as a draft, at least {MIN_WORTH}"
        facts.append(f"worth posting: {draft}")
    heading = f"{remark.index + 1:>3}  {remark.action.value:<6}  {escape.one_line(remark.text)}"
    return f"{heading}\n     {' · '.join(facts)}\n"
