"""`crscore triage`: decides what to do about each remark of a review."""

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
@format_option("text", "json", "comments", text="comments: those with a listed remark, as JSON.")
@output_option
@option(
    "--only", "List only remarks with this action, or those of a draft that are worth posting.",
    type=click.Choice(["fix", "answer", "skip", WORTH_POSTING]),
)  # fmt: skip
@option("--posted REVIEW", "Comments that others have already posted.", type=FILE)
@quiet_option
@setting_options(*SCORING, "offline", "config", analyzers="none")
def command(
    diff: str,
    review: str,
    *,
    fmt: str,
    output: str | None,
    only: str | None,
    posted: str | None,
    config_file: Path | None,
    **flags: Any,
) -> int:
    """Decide about each remark of REVIEW, a review of the change DIFF: fix, answer or skip.

    This is for coding agents that work on the remarks of all reviewers, and for the draft of a
    reviewer before it is posted. For each remark, the output has the reason of the decision, the
    importance, the lines that confirm or refute the remark, the remark that it repeats, and its
    location. Linters are off by default.

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
    # Comments that others posted are only compared with the review, not listed.
    listed = [
        remark
        for remark in decided.remarks
        if remark.comment < len(comments)
        and (only is None or (remark.post if only == WORTH_POSTING else remark.action == only))
    ]
    write_document(
        fmt,
        output,
        msgspec.structs.replace(decided, remarks=tuple(listed)),
        text=lambda **_: "".join(map(_render_remark, listed)) or NO_REMARKS,
        comments=lambda: _write_comments(comments, sorted({item.comment for item in listed})),
    )
    for note in decided.notes:
        print_note(f"note: {note}")
    return 0


def _write_comments(comments: Sequence[Comment], indices: Sequence[int]) -> str:
    """Return the comments with these indices as JSON with the fields of GitHub's API."""
    # https://docs.github.com/en/rest/pulls/comments#create-a-review-comment-for-a-pull-request
    fields = ("id", "path", "line", "start_line", "side", "body")
    sides = {"old": "LEFT", "new": "RIGHT"}
    rows = [{name: getattr(comments[at], name) for name in fields} for at in indices]
    entries = [row | {"side": sides[row["side"]]} for row in rows]
    return escape.write_json(
        [{key: value for key, value in row.items() if value is not None} for row in entries]
    )


def _render_remark(remark: Triaged) -> str:
    from crscore.agents.triage import MIN_WORTH  # noqa: PLC0415

    reason = remark.reason
    if remark.duplicate_of is not None:
        # The text counts remarks from 1, as the report of a score does; in JSON, this is an index.
        first = remark.duplicate_of
        reason = reason.replace(f"remark {first} ", f"remark {first + 1} ", 1)
    facts = [escape.one_line(reason)]
    if remark.worth is not None:
        facts.append(f"worth {remark.worth:.1f} of 5")
    if remark.place is not None:
        line = "" if remark.place.line is None else f":{remark.place.line}"
        facts.append(f"{escape.one_line(remark.place.path)}{line}")
    if remark.post and remark.draft_worth is not None:
        draft = f"{remark.draft_worth:.1f} as a draft, minimum {MIN_WORTH}"
        facts.append(f"worth posting: {draft}")
    heading = f"{remark.index + 1:>3}  {remark.action.value:<6}  {escape.one_line(remark.text)}"
    return f"{heading}\n     {' · '.join(facts)}\n"
