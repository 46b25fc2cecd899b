"""Reads a file as Python would, and takes out what could silence a tool."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from dataclasses import dataclass
from pathlib import Path

from crscore.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file that parses."""

    path: str
    """As it was given."""
    text: str
    """Its code, comments blanked, lines ended by `\\n` only."""

    def tree(self) -> ast.Module:
        """Parse the code once more; trees are large, so none is kept."""
        return _parse(self.text)

    def lines(self) -> tuple[bytes, ...]:
        """Give the lines as positions of the tree count them: in UTF-8, without line ends."""
        return tuple(self.text.encode().split(b"\n"))


class UnparsedError(InputError):
    """A file cannot be read as Python; the message says why, in one clause."""


def read_source(path: str) -> Source:
    """Read and parse a file.

    Args:
        path: The file.

    Returns:
        Its code.

    Raises:
        UnparsedError: There is no such file, its encoding is unknown or wrong, or the code
            does not parse or nests too deeply.
    """
    try:
        text = _decode(Path(path).read_bytes())
        _parse(text)
        code = _without_comments(text)
        _parse(code)  # should the tokenizer ever see the code otherwise than the parser does
        return Source(path=path, text=code)
    except OSError as error:
        raise UnparsedError(f"it cannot be read ({error.strerror})") from error
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise UnparsedError(f"it does not parse ({error.msg}{where})") from error
    except tokenize.TokenError as error:
        raise UnparsedError(f"it does not parse ({error.args[0]})") from error
    except (UnicodeError, LookupError) as error:
        raise UnparsedError("its encoding is unknown or wrong") from error
    except ValueError as error:  # a null byte, before Python 3.12
        raise UnparsedError(f"it does not parse ({error})") from error
    except (RecursionError, MemoryError) as error:
        raise UnparsedError("it nests too deeply or is too large") from error


def _decode(raw: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return raw.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an odd escape in a string is not ours to report
        return ast.parse(text)


def _without_comments(text: str) -> str:
    """Blank every comment, so that no pragma acts and no line moves.

    All of them, not only pragmas: pylint looks for its own with a regular expression
    that takes minutes on one comment of 100,000 characters.
    """
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip(" \t")
    return "\n".join(lines)
