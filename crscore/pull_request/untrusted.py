"""Reader of an overview from an untrusted file.

In the two-workflow pattern a job without write permission measures a fork's pull request and writes
a file; another job, with permission to comment, reads it here. The file is untrusted: types,
lengths, ranges and amounts are checked before any of its text is shown, and the trusted event
determines the pull request.
"""

from collections.abc import Iterator, Sequence

import msgspec

from crscore.errors import InputError, LimitError
from crscore.hosts.site import pull_name
from crscore.pull_request.overview import Overview, Place, Scores, is_plain
from crscore.reports import escape

# Code that a fork wrote may have made the file:
# https://securitylab.github.com/resources/github-actions-preventing-pwn-requests/
MAX_BYTES = 50_000_000
"""Maximum bytes of a file that is read."""


def decode_overview(data: bytes, *, source: str) -> Overview:
    """Read the overview in an untrusted JSON document.

    The rest of the document is skipped.

    Args:
        data: The file.
        source: Name of the file in messages.

    Returns:
        The overview; its texts still have to be escaped before display.

    Raises:
        LimitError: It is larger than `MAX_BYTES`.
        InputError: It is not JSON or violates a rule; the message names the field.
    """
    if len(data) > MAX_BYTES:
        raise LimitError("MAX_BYTES", MAX_BYTES, len(data), source)
    try:
        overview = msgspec.json.decode(data, type=Overview)
    # msgspec raises RecursionError itself, for a file of 100,000 brackets.
    except (msgspec.DecodeError, RecursionError, UnicodeError) as exc:
        raise _refused(source, str(exc)) from exc
    fault = next(_faults(overview), None)
    if fault is not None:
        raise _refused(source, fault)
    return overview


def check_subject(
    overview: Overview, *, repository: str, number: int, head: str, url: str
) -> Overview:
    """Check that an overview is about the pull request that a trusted event names.

    Args:
        overview: Overview from a file.
        repository: `owner/name` from the event.
        number: Pull request number from the event.
        head: Newest commit from the event.
        url: Page of the pull request on the host; it replaces the file's.

    Raises:
        InputError: The overview is about another pull request or another commit.
    """
    # A host ignores the case of a repository's name, and an event may have another case.
    subject = (overview.repository.lower(), overview.number, overview.head)
    if subject != (repository.lower(), number, head.lower()):
        raise InputError(
            f"the file is about {overview.name} at {overview.head[:12]}, "
            f"not about {pull_name(repository, number, url)} at {head[:12]}; measure again"
        )
    # The address comes from the event, as a file could name another host to link to.
    return msgspec.structs.replace(overview, url=url)


def _refused(source: str, reason: str) -> InputError:
    # The reason may quote the file.
    return InputError(
        f"{source}: this is not a result for a pull request: {escape.one_line(reason, 300)}"
    )


def _faults(overview: Overview) -> Iterator[str]:
    """Yield the faults that the types of the fields cannot exclude."""
    if not overview.url.endswith(f"/{overview.number}"):
        yield "the number and the address differ - at `$.url`"
    whole = overview.together
    yield from _scores("together", whole)
    yield from _scores("trusted", overview.trusted or whole)
    if whole.on_topic > whole.sentences:
        yield "more than there are sentences - at `$.together.on_topic`"
    if whole.addressed + whole.unaddressed > whole.points:
        yield "more than there are points - at `$.together.addressed`"
    if len(overview.open) > whole.unaddressed:
        yield "fewer than are listed - at `$.together.unaddressed`"
    for index, row in enumerate(overview.reviewers):
        yield from _scores(f"reviewers[{index}]", row)
        if row.resolved is not None and row.resolved > row.threads:
            yield f"more than there are threads - at `$.reviewers[{index}].resolved`"
    places: dict[str, Sequence[Place]] = {"remarks": overview.remarks, "open": overview.open}
    places |= {
        f"remarks[{index}].receipt.lines": remark.receipt.lines
        for index, remark in enumerate(overview.remarks)
        if remark.receipt is not None
    }
    for name, index, place in ((n, i, p) for n, ps in places.items() for i, p in enumerate(ps)):
        if (place.path is None and place.line) or 0 < place.end_line < place.line:
            yield f"no lines of a file - at `$.{name}[{index}]`"
        if place.listed is not None and not is_plain(place.listed):
            yield f"no path that can be linked to - at `$.{name}[{index}].listed`"


def _scores(place: str, scores: Scores) -> Iterator[str]:
    numbers = (scores.relevance, scores.conciseness, scores.comprehensiveness)
    if any((value is None) != (scores.reason is not None) for value in numbers):
        yield f"neither three numbers nor a reason - at `$.{place}`"
