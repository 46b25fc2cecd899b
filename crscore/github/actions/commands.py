"""Writes workflow commands: lines on standard output that a runner executes.

The runner parses all output of a step, so untrusted text is printed between two lines that turn
commands off and on again:
https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

import uuid
from typing import Literal

# The fourth level, `debug`, is shown only in the log, on request.
Level = Literal["notice", "warning", "error"]
"""Level of a message on the page of a run."""


def message(level: Level, text: str, **properties: str) -> str:
    r"""Format a message that the runner shows on the page of the run.

    Args:
        level: Level of the message.
        text: Any text.
        properties: Any texts; GitHub knows `title` (default: crscore), `file`, `line`, `endLine`.

    Returns:
        One line, without a line end.

    Example:
        >>> message("notice", "50 %\n::error::no")
        '::notice title=crscore::50 %25%0A::error::no'
    """
    properties.setdefault("title", "crscore")
    fields = ",".join(
        f"{name}={_escape(value).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
    )
    # The runner also executes commands in an older form, `##[error]`, anywhere in a line.
    return f"::{level} {fields}::{_escape(text)}".replace("##[", "# #[")


def _escape(text: str) -> str:
    """Escape the text of a command so that it stays on one line."""
    # This escapes like `escapeData` and `escapeProperty` of
    # https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts; "%" is replaced
    # first, because the other replacements contain it.
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def shield_text(text: str) -> str:
    """Wrap text so that the runner executes none of its lines as a command.

    Args:
        text: Any lines; their author cannot know the random token.

    Returns:
        The lines between two commands, ending with a line end.
    """
    mark = f"crscore-{uuid.uuid4()}"
    body = text if text.endswith("\n") else f"{text}\n"
    return f"::stop-commands::{mark}\n{body}::{mark}::\n"
