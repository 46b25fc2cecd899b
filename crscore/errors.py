"""Errors that crscore raises on purpose.

    CRScoreError
      InputError            a diff, a review or a source cannot be used
        DiffParseError      the text is not a diff; carries the source name and line
        LimitError          an input is larger than a limit; names the limit
      OutputError           the report cannot be written to its target
      ConfigError           a setting, or a key of an analyzer, is unknown or wrong; names the key
      DependencyError       a package is missing; carries the command that installs it
      UnknownPluginError    no plugin has that name; lists the existing ones
      ToolNotFoundError     a tool is not installed; says how to get it or what is missing
      ToolFailedError       a tool exceeded a limit or failed
        ToolOutputError     a tool's output cannot be read
      GenerationError       claims could not be made or replayed
        EngineError         the server of a language model answers no request
        MalformedAnswerError  the answer of a language model has another form than requested
      EncodingError         a text could not be turned into a vector
        ModelNotFoundError  the model's files are missing and cannot be downloaded
      StoreError            the store on disk cannot be read or cleared
      HostError             a request to the code host, or to the checkout, failed
        BadTokenError       the token is missing or wrong
        PermissionDeniedError  the token lacks a permission
        NotFoundError       the resource does not exist, or is hidden from the token
        RateLimitedError    the host requires a longer wait than the run allows; carries the seconds
        UnavailableError    the host is unreachable or its responses are invalid
        UncertainWriteError a write got no response: it may have succeeded

The most specific class tells the caller what can be done about the error. An error with fields is a
dataclass that builds its message from the fields. Every error can be pickled. Only `cli.py` turns
an error into a message and an exit code.
"""

import copyreg
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


class CRScoreError(Exception):
    """Root of all errors raised on purpose."""

    template = ""
    """Message of an error with fields; the names of the fields are in braces."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Worker processes return errors (`crscore audit score`). The `__reduce__` of BaseException
        # copies only `args`, without the fields that were passed by keyword.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return self.template.format_map(vars(self)) if self.template else super().__str__()


class InputError(CRScoreError):
    """Raised when an input cannot be used; the message names the input and a remedy."""


@dataclass(eq=False)
class DiffParseError(InputError):
    """Raised when a text cannot be read as a diff.

    Args:
        source: Where the text came from: a path, or `<stdin>`.
        line: Line of the text where the error is, from 1; None if it concerns no single line.
        message: Problem and remedy.
    """

    source: str
    line: int | None
    message: str

    def __str__(self) -> str:
        location = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{location}: {self.message}"


@dataclass(eq=False)
class LimitError(InputError):
    """Raised when an input is larger than a limit.

    Args:
        limit: Name of the limit, as in the configuration (`max_diff_bytes`).
        allowed: The largest accepted value.
        actual: The actual value, or the value at which reading stopped.
        source: Where the input came from.
    """

    limit: str
    allowed: int
    actual: int
    source: str

    def __str__(self) -> str:
        nouns = {"max_review": "review", "max_comment": "review", "max_sarif": "findings"}
        noun = next((nouns[start] for start in nouns if self.limit.startswith(start)), "change")
        # The limits of a comment and of a document are constants, not settings.
        is_setting = self.limit.startswith("max_") and not self.limit.startswith("max_comment")
        remedy = f" or raise {self.limit}" if is_setting else ""
        return (
            f"{self.source}: {self.limit} is {self.allowed:,}, and this input has {self.actual:,}; "
            f"score a smaller part of the {noun}{remedy}"
        )


@dataclass(eq=False)
class OutputError(CRScoreError):
    """Raised when the report cannot be written to its target."""

    path: str
    reason: str
    template = "cannot write {path}: {reason}; choose another path with -o"


COMMAND_LINE = "command line"
"""Origin of options and arguments."""


@dataclass(eq=False)
class ConfigError(CRScoreError):
    """Raised when a setting, or a key in an analyzer's folder, is unknown or has a wrong value.

    Args:
        key: The setting, as the user writes it (`--threshold`, `CRSCORE_ENCODER`, `encoder`).
        origin: Where the key was set: `COMMAND_LINE`, `environment` or the path of a file.
        expected: Rest of a sentence about the key: `must be a number, not 'x'`.
    """

    key: str
    origin: str
    expected: str

    def __str__(self) -> str:
        if self.origin == COMMAND_LINE:
            is_setting = self.key.isidentifier() and self.key.islower()
            option = f"--{self.key.replace('_', '-')}" if is_setting else self.key
            return f"{option} {self.expected}"
        return f"{self.origin}: {self.key}: {self.expected}"


@dataclass(eq=False)
class DependencyError(CRScoreError):
    """Raised when a package that this run needs is not installed.

    Args:
        package: The missing package.
        command: The command that installs it.
    """

    package: str
    command: str
    template = "{package} is not installed; install it with: {command}"


@contextmanager
def requires(package: str, command: str) -> Iterator[None]:
    """Raise a `DependencyError` when an import in this block fails."""
    try:
        yield
    except ImportError as exc:
        raise DependencyError(package, command) from exc


@dataclass(eq=False)
class UnknownPluginError(CRScoreError):
    """Raised when no plugin of a kind has the requested name.

    Args:
        kind: A key of `plugins.KINDS`, or `analyzers`.
        name: The requested name.
        available: The existing names.
    """

    kind: str
    name: str
    available: tuple[str, ...]

    def __str__(self) -> str:
        return f"no plugin {self.name!r} among {self.kind}; available: {', '.join(self.available)}"


@dataclass(eq=False)
class ToolNotFoundError(CRScoreError):
    """Raised when a tool, or a program it needs, is not installed.

    Args:
        tool: The tool.
        detail: How to get the tool, or which program is missing.
    """

    tool: str
    detail: str
    template = "{tool} is not installed; {detail}"


@dataclass(eq=False)
class ToolFailedError(CRScoreError):
    """Raised when a tool exceeds a limit, crashes, or exits with a code not in its manifest.

    Args:
        tool: The tool.
        reason: Failure, as one clause: `took longer than 20 s`.
    """

    tool: str
    reason: str
    template = "{tool} {reason}"


class ToolOutputError(ToolFailedError):
    """Raised when a tool's output does not match its format."""

    template = "the output of {tool} cannot be read: {reason}"


class GenerationError(CRScoreError):
    """Raised when claims cannot be made or replayed."""


class EngineError(GenerationError):
    """Raised when the server of a language model answers no request at all."""


@dataclass(eq=False)
class MalformedAnswerError(GenerationError):
    """Raised when the answer of a language model does not have the requested form.

    Args:
        reason: The error in the answer, as a clause.
        answer_start: Beginning of the answer, to be shown; "" to show nothing.
    """

    reason: str
    answer_start: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.answer_start!r}" if self.answer_start else self.reason


class EncodingError(CRScoreError):
    """Raised when a text cannot be turned into a vector."""


@dataclass(eq=False)
class ModelNotFoundError(EncodingError):
    """Raised when a model's files are not on this machine and cannot, or may not, be downloaded.

    Args:
        model: The requested model.
        command: Command that makes it available.
        reason: Why the model is not available, as a clause; may be empty.
    """

    model: str
    command: str
    reason: str = ""

    def __str__(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        return f"model {self.model} is not on this machine{reason}; get it with: {self.command}"


@dataclass(eq=False)
class StoreError(CRScoreError):
    """Raised when the store on disk cannot be read or cleared.

    Args:
        path: File of the store.
        reason: Problem and remedy.
    """

    path: str
    reason: str
    template = "{path}: {reason}"


@dataclass(eq=False)
class HostError(CRScoreError):
    """Raised when the code host, or the local checkout, cannot complete a request.

    Args:
        request: The request, in words or as a path of the host's API.
        reason: Problem and, if there is one, a remedy.
    """

    request: str
    reason: str
    template = "{request}: {reason}"


class BadTokenError(HostError):
    """Raised when the token is missing, wrong or expired."""


class PermissionDeniedError(HostError):
    """Raised when the token lacks a permission."""


class NotFoundError(HostError):
    """Raised when a resource does not exist, or is hidden from the token."""


# All waits of a run share one budget, `--wait-budget` (docs/design/017-asking-github.md).
@dataclass(eq=False)
class RateLimitedError(HostError):
    """Raised when the host requires a longer wait than the run allows.

    Args:
        request: The request.
        reason: The limit that was reached.
        retry_after: Seconds to wait; None when unknown.
    """

    retry_after: float | None = None


class UnavailableError(HostError):
    """Raised when the host is unreachable or its responses are invalid."""


# A write without a response is not repeated, because the comment could then be posted twice. The
# caller first checks whether the write succeeded (docs/design/017-asking-github.md).
class UncertainWriteError(HostError):
    """Raised when a write got no readable response, so that it may or may not have succeeded."""
