"""Patches in mails, as written by `git format-patch` or saved from a mailbox, alone or in series.

Each mail of a series has an encoding of its own. The text before the line `---` is the commit
message, so a diff that is quoted there is not part of the change.
"""

import email
import re
from typing import Final

# The line before each mail of an mbox (https://www.rfc-editor.org/rfc/rfc4155):
# "From <commit> Mon Sep 17 00:00:00 2001", "From ann@example.org Wed Jan  1 10:00:00 2025"
# 320: the 64 octets of a local part, "@" and the 255 of a domain that
# https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1 allows.
_SEPARATOR: Final = re.compile(
    rb"^From \S{1,320} [\w :+-]{10,60}\r?\n(?=[\w-]{1,76}:)", re.MULTILINE
)
# Header lines with their continuation lines, and the empty line after them.
# Possessive, as a mail can be an attack: without it, headers that no empty line ends would be tried
# again with each shorter number of lines.
_HEADERS: Final = re.compile(rb"(?:[\w-]{1,76}:[^\n]*+\n(?:[ \t]+[^\s][^\n]*+\n)*+)++\r?\n")
_OF_MAIL: Final = re.compile(
    rb"^(?:from|subject|message-id|content-type|content-transfer-encoding):",
    re.IGNORECASE | re.MULTILINE,
)
# " src/app.py | 12 ++--", " logo.png | Bin 0 -> 10 bytes", " 2 files changed, 3 insertions(+)"; or
# the first line of the diff, which shows that there are no statistics
_STATISTICS_OR_DIFF: Final = re.compile(
    r" \S.* \| +(?:\d+|Bin)\b| \d+ files? changed\b|diff |--- |@@ -|Index: "
)
_AS_IT_IS: Final = frozenset({"utf-8", "us-ascii", "ascii", "utf8"})


def read_mails(data: bytes) -> tuple[bytes, list[str]]:
    """Decode mails and leave out their commit messages.

    Args:
        data: A diff, or one or more mails with diffs.

    Returns:
        The diffs of all mails, or `data` unchanged if it is not a mail; and a note for each part
        that could not be decoded.
    """
    separators = list(_SEPARATOR.finditer(data)) if data.startswith(b"From ") else []
    starts = [match.end() for match in separators] or [0]
    ends = [*(match.start() for match in separators[1:]), len(data)]
    mails = [data[start:end] for start, end in zip(starts, ends, strict=True)]
    headers = [_HEADERS.match(mail) for mail in mails]
    if not all(lines and _OF_MAIL.search(lines[0]) for lines in headers):
        return data, []
    texts: list[bytes] = []
    notes: list[str] = []
    for number, mail in enumerate(mails, 1):
        for part in email.message_from_bytes(mail).walk():
            content = part.get_payload(decode=True)
            # None for a multipart, whose parts follow in `walk`:
            # https://docs.python.org/3/library/email.compat32-message.html#email.message.Message.get_payload
            if not isinstance(content, bytes):
                continue
            fault = "has a damaged encoding, so lines may be missing" if part.defects else ""
            charset = (part.get_content_charset() or "utf-8").lower()
            if charset not in _AS_IT_IS:
                try:
                    content = content.decode(charset).encode()
                except (LookupError, UnicodeDecodeError):
                    fault = f"is not in the encoding that it names, {charset!r}"
            texts.append(_without_message(content))
            notes += [f"Mail {number} {fault}."] * bool(fault)
    return b"\n".join(texts), notes


def _without_message(content: bytes) -> bytes:
    """Cut a mail's text at the line `---` before the statistics of its diff."""
    # Not `splitlines`: a form feed in code does not end a line of a diff.
    lines = content.split(b"\n")
    for index, line in enumerate(lines, 1):
        if line.rstrip() != b"---":
            continue
        # A removed line "--" looks the same, but the statistics do not follow it.
        following = (text.decode("utf-8", "replace") for text in lines[index:])
        first = next((text for text in following if _STATISTICS_OR_DIFF.match(text)), "")
        if first.startswith(" "):
            return b"\n".join(lines[index:])
    return content
