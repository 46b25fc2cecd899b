"""Inputs of commands that take a change and its review."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from crscore import io
from crscore.errors import DiffParseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.settings import Config

_HUNK: Final = re.compile(rb"^@@ -\d", re.MULTILINE)


def read_limited(settings: Config, name: str, content: str) -> tuple[bytes, str]:
    """Read an input whose limit is the setting `max_<content>_bytes`.

    Args:
        settings: For the limit.
        name: A path, or `-` for standard input.
        content: `diff`, `review` or `source`.

    Returns:
        The bytes, and their name in messages.
    """
    limit = f"max_{content}_bytes"
    return io.read_input(name, content=content, limit=limit, max_bytes=getattr(settings, limit))


@contextmanager
def order_checked(review: bytes, order: str) -> Iterator[None]:
    """While the diff is parsed: if it is none and the review is, the two are swapped.

    Args:
        review: Content given as the review.
        order: The right order, as a command line.
    """
    try:
        yield
    except DiffParseError as exc:
        if _HUNK.search(review):
            raise click.UsageError(f"the diff and the review are swapped: {order}") from exc
        raise
