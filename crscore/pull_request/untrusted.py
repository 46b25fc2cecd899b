"""Reads an overview from a file that anybody may have written.

In the two-workflow pattern a job without rights measures a fork's pull request and leaves a file;
another job, with the right to comment, reads it here. Nothing in the file is taken on trust:
types, lengths, ranges and amounts are checked before anybody sees a text of it, and the trusted
event says which pull request it has to be about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from crscore.errors import InputError, LimitError
from crscore.pull_request.overview import Overview, is_plain
from crscore.reports import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.pull_request.overview import Scores, Together

MAX_BYTES = 50_000_000
"""Largest file that is read."""


def decode_overview(data: bytes, *, source: str) -> Overview:
    """Read the overview in a JSON document that anybody may have written.

    What the document has beside it is skipped.

    Args:
        data: The file.
        source: Where it came from, named in errors.

    Returns:
        The overview; its texts are still to be escaped by whoever shows them.

    Raises:
        LimitError: It is larger than `MAX_BYTES`.
        InputError: It is no JSON or breaks a rule; the message names the field.
    """
    if len(data) > MAX_BYTES:
        raise LimitError("MAX_BYTES", MAX_BYTES, len(data), source)
    try:
        found = msgspec.json.decode(data, type=Overview)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as exc:
        raise _refused(source, str(exc)) from exc
    fault = next(_faults(found), None)
    if fault is not None:
        raise _refused(source, fault)
    return found


def check_subject(
    found: Overview, *, repository: str, number: int, head: str, url: str
) -> Overview:
    """Make sure that an overview is about the pull request that a trusted event names.

    Args:
        found: From a file.
        repository: `owner/name` by the event.
        number: By the event.
        head: Newest commit by the event.
        url: Page of the pull request by the host; it replaces the file's.

    Raises:
        InputError: The overview is about another pull request or another commit.
    """
    subject = (found.repository.lower(), found.number, found.head)
    if subject != (repository.lower(), number, head.lower()):
        raise InputError(
            f"the file is about {found.repository}#{found.number} at {found.head[:12]}, not about "
            f"{repository}#{number} at {head[:12]}; measure again"
        )
    return msgspec.structs.replace(found, url=url)


def _refused(source: str, why: str) -> InputError:
    # The reason may quote the file.
    return InputError(f"{source}: this is no result of a pull request: {escape.one_line(why, 300)}")


def _faults(found: Overview) -> Iterator[str]:
    """Find what the types of the fields cannot tell."""
    if not found.url.endswith(f"/{found.number}"):
        yield "the number and the address differ - at `$.url`"
    yield from _scores("together", found.together)
    yield from _counts(found.together, listed=len(found.open))
    for at, row in enumerate(found.reviewers):
        yield from _scores(f"reviewers[{at}]", row)
        if row.resolved is not None and row.resolved > row.threads:
            yield f"more than there are threads - at `$.reviewers[{at}].resolved`"
    for at, point in enumerate(found.open):
        if (point.path is None and point.line) or 0 < point.end_line < point.line:
            yield f"no lines of a file - at `$.open[{at}]`"
        if point.listed is not None and not is_plain(point.listed):
            yield f"no path that can be linked to - at `$.open[{at}].listed`"


def _scores(place: str, scores: Scores) -> Iterator[str]:
    numbers = (scores.relevance, scores.conciseness, scores.comprehensiveness)
    if any((value is None) != (scores.reason is not None) for value in numbers):
        yield f"neither three numbers nor a reason - at `$.{place}`"


def _counts(whole: Together, *, listed: int) -> Iterator[str]:
    if whole.on_topic > whole.sentences:
        yield "more than there are sentences - at `$.together.on_topic`"
    if whole.addressed + whole.unaddressed > whole.points:
        yield "more than there are points - at `$.together.addressed`"
    if listed > whole.unaddressed:
        yield "fewer than are listed - at `$.together.unaddressed`"
