"""Reader of an overview from an untrusted file.

In the two-workflow pattern a job without write permission measures a fork's pull request and writes
a file; another job, with permission to comment, reads it here. The file is untrusted: types,
lengths, ranges and amounts are checked before any of its text is shown, and the trusted event
determines the pull request.
"""

import msgspec

from crscore.errors import InputError, LimitError
from crscore.pull_request.overview import Overview
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
    if not overview.url.endswith(f"/{overview.number}"):
        raise _refused(source, "the number and the address differ - at `$.url`")
    return overview


def _refused(source: str, reason: str) -> InputError:
    # The reason may quote the file.
    return InputError(
        f"{source}: this is not a result for a pull request: {escape.one_line(reason, 300)}"
    )
