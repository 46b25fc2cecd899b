"""Reads JSON Lines of other programs; errors name the file, the line and the field."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from crscore.errors import InputError
from crscore.text import decode_text

_Row = TypeVar("_Row")

_MAX_BYTES: Final = 2**29
"""Maximum bytes that a packed file may unpack to."""


def read_bytes(path: Path, content_name: str) -> bytes:
    """Read a file, plain or gzip.

    Args:
        path: The file.
        content_name: Expected content, for the message: `a study`.

    Returns:
        The content of the file, unpacked.

    Raises:
        InputError: The file cannot be read or unpacked, or is too large when unpacked.
    """
    try:
        content = path.read_bytes()
        # A gzip file begins with these two bytes (RFC 1952, section 2.3.1).
        if content[:2] != b"\x1f\x8b":
            return content
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            # A small file can unpack to any size, so unpacking stops at the limit.
            unpacked = packed.read(_MAX_BYTES + 1)
        if len(unpacked) > _MAX_BYTES:
            raise InputError(f"{path} unpacks to more than {_MAX_BYTES:,} bytes")
        return unpacked
    except (OSError, EOFError, zlib.error) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise InputError(f"{path} cannot be read as {content_name}: {reason}") from exc


def read_rows(
    content: bytes, kind: type[_Row], path: Path, content_name: str
) -> Iterator[tuple[str, _Row]]:
    """Read JSON Lines, and skip blank lines.

    Args:
        content: UTF-8, or UTF-16 with a byte order mark, one JSON object per line.
        kind: Type of a row.
        path: Origin of the content.
        content_name: Expected content, for the message.

    Yields:
        The location of a row (`study.jsonl:3`) and the row.

    Raises:
        InputError: The content is not UTF-8, a line is not JSON, or a field is missing or wrong.
    """
    try:
        # Only a line feed ends a line (https://jsonlines.org). `splitlines` would also split at
        # other line separators, such as U+2028, which a JSON string may contain.
        lines = decode_text(content, "strict").split("\n")
    except UnicodeDecodeError as exc:
        raise InputError(f"{path} cannot be read as {content_name}: {exc}") from exc
    for line_number, line in enumerate(lines, 1):
        if line.strip():
            position = f"{path}:{line_number}"
            yield position, parse_row(line, kind, position)


def parse_row(line: str, kind: type[_Row], position: str) -> _Row:
    """Read one line of JSON Lines.

    Raises:
        InputError: The line is not JSON, or a field is missing or wrong.
    """
    try:
        # The parser of the standard library accepts a lone surrogate, which a study may contain.
        value = json.loads(line, parse_constant=_refuse_constant)
    # RecursionError is raised if brackets are nested thousands deep.
    except (ValueError, RecursionError) as exc:
        raise InputError(f"{position}: the line is not valid JSON: {exc}; give JSON Lines") from exc
    return convert(value, kind, position)


def convert(value: Any, kind: type[_Row], position: str) -> _Row:
    """Check parsed JSON against a type.

    Raises:
        InputError: The value does not match; the message names the location and the field.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as exc:
        # The message of msgspec ends with the field: "Expected `int`, got `str` - at `$.rating`"
        problem, _, field = str(exc).partition(" - at `$")
        field_position = f"{position}: {field.strip('.`')}".removesuffix(": ")
        raise InputError(f"{field_position}: {problem[:1].lower()}{problem[1:]}") from exc


def _refuse_constant(name: str) -> None:
    # Python's parser accepts NaN and Infinity, which JSON does not permit (RFC 8259, section 6).
    raise ValueError(f"{name} is not a JSON number")
