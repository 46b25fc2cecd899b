"""Every error crscore raises on purpose.

    CRScoreError
      InputError            a diff, a review or a source cannot be used
        DiffParseError      the text is not a diff; carries the source name and line
        LimitError          an input is larger than a limit; names the limit
      OutputError           the report cannot be written where it was asked for
      ConfigError           a setting is unknown or has a wrong value; names the key
        UnknownThresholdError  no threshold is known for an encoder
      DependencyError       a package is missing; carries the command that installs it
      PluginError
        UnknownPluginError  no plugin of that name; lists the ones there are
      AnalyzerError         an analysis tool's part of a run
        ManifestError       an analyzer's folder cannot be used; names the key
        ToolNotFoundError   a tool is not installed; carries the command that installs it
        ToolFailedError     a tool broke a limit or failed
          ToolOutputError   a tool's output cannot be read
      GenerationError       claims could not be made or replayed
      EncodingError         a text could not be turned into a vector
        ModelNotFoundError  the model's files are not here and may not be fetched
      StoreError            the store on disk cannot be read or cleared
      HostError             the code host, or the checkout, cannot do its part
        BadTokenError       the token is missing or wrong
        PermissionDeniedError  the token may not do this
        NotFoundError       there is no such thing, or the token may not see it
        RateLimitedError    the host asks to wait longer than the run may; carries the seconds
        UnavailableError    the host cannot be reached, or answers with errors or nonsense
        UncertainWriteError a write got no answer: it may have been done

The leaf says what the caller can do. Fields go in the constructor and stay in
`args`, so that every error survives pickling; the text is made in `__str__`.
Only `cli.py` turns an error into a message and an exit code.
"""

from __future__ import annotations


class CRScoreError(Exception):
    """Root of all errors raised on purpose."""


class InputError(CRScoreError):
    """An input cannot be used; the message says which and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class DiffParseError(InputError):
    """The text is not a diff that can be read.

    Args:
        source: Where the text came from: a path, or `<stdin>`.
        line: 1-based line of the text, or None when no single line is at fault.
        message: What was wrong and what to do.
    """

    def __init__(self, source: str, line: int | None, message: str) -> None:
        super().__init__(message)
        self.args = (source, line, message)
        self.source = source
        self.line = line

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.message}"


class LimitError(InputError):
    """An input is larger than a limit.

    Args:
        limit: Name of the limit, as in the configuration (`max_diff_bytes`).
        allowed: The largest value let through.
        found: The value met, or the first one known to be over the limit.
        source: Where the input came from.
    """

    def __init__(self, limit: str, allowed: int, found: int, source: str) -> None:
        super().__init__("")
        self.args = (limit, allowed, found, source)
        self.limit = limit
        self.allowed = allowed
        self.found = found
        self.source = source

    def __str__(self) -> str:
        return (
            f"{self.source}: {self.limit} is {self.allowed:,} and this has {self.found:,}; "
            f"score a smaller part of the change or raise {self.limit}"
        )


class OutputError(CRScoreError):
    """The report cannot be written where it was asked for."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"cannot write {self.path}: {self.reason}; choose another path with -o"


class ConfigError(CRScoreError):
    """A setting is unknown or has a wrong value.

    Args:
        key: The setting, as the user wrote it (`--threshold`, `CRSCORE_ENCODER`, `encoder`).
        origin: Where it was set: `command line`, `environment` or the file's path.
        expected: What would have been right.
    """

    def __init__(self, key: str, origin: str, expected: str) -> None:
        super().__init__(key, origin, expected)
        self.key = key
        self.origin = origin
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.origin}: {self.key}: {self.expected}"


class UnknownThresholdError(ConfigError):
    """No threshold is known for an encoder.

    Args:
        encoder: Its name and model.
    """

    def __init__(self, encoder: str) -> None:
        expected = (
            f"none is known for {encoder}; give --threshold, or find one on rated reviews with "
            f"`crscore validate DATA --encoder {encoder}`"
        )
        super().__init__("threshold", "settings", expected)
        self.args = (encoder,)
        self.encoder = encoder


class DependencyError(CRScoreError):
    """A package that this run needs is not installed.

    Args:
        package: What is missing.
        command: The command that installs it.
    """

    def __init__(self, package: str, command: str) -> None:
        super().__init__(package, command)
        self.package = package
        self.command = command

    def __str__(self) -> str:
        return f"{self.package} is not installed; install it with: {self.command}"


class PluginError(CRScoreError):
    """A plugin cannot be used."""


class UnknownPluginError(PluginError):
    """No plugin of that kind has that name.

    Args:
        kind: `claims`, `encoders`, `matchers` or `reports`.
        name: The name asked for.
        known: The names there are.
    """

    def __init__(self, kind: str, name: str, known: tuple[str, ...]) -> None:
        super().__init__(kind, name, known)
        self.kind = kind
        self.name = name
        self.known = known

    def __str__(self) -> str:
        return f"no plugin {self.name!r} among {self.kind}; there are: {', '.join(self.known)}"


class AnalyzerError(CRScoreError):
    """An analysis tool cannot do its part."""


class ManifestError(AnalyzerError):
    """An analyzer's folder cannot be used.

    Args:
        source: The file at fault.
        key: The key in it, or what is missing.
        expected: What would have been right.
    """

    def __init__(self, source: str, key: str, expected: str) -> None:
        super().__init__(source, key, expected)
        self.source = source
        self.key = key
        self.expected = expected

    def __str__(self) -> str:
        return f"{self.source}: {self.key}: {self.expected}"


class ToolNotFoundError(AnalyzerError):
    """A tool, or a program it needs, is not installed.

    Args:
        tool: The tool.
        command: What installs it, or the program that was not found.
    """

    def __init__(self, tool: str, command: str) -> None:
        super().__init__(tool, command)
        self.tool = tool
        self.command = command

    def __str__(self) -> str:
        return f"{self.tool} is not installed; get it with: {self.command}"


class ToolFailedError(AnalyzerError):
    """A tool broke a limit, died, or ended in a way its manifest does not know.

    Args:
        tool: The tool.
        reason: What happened, one clause: `took longer than 20 s`.
        code: Its exit code; None when it was killed.
        stderr: The end of what it wrote to standard error.
    """

    def __init__(self, tool: str, reason: str, code: int | None = None, stderr: str = "") -> None:
        super().__init__(tool, reason, code, stderr)
        self.tool = tool
        self.reason = reason
        self.code = code
        self.stderr = stderr

    def __str__(self) -> str:
        return f"{self.tool} {self.reason}"


class ToolOutputError(ToolFailedError):
    """A tool's output is not what its format says."""

    def __str__(self) -> str:
        return f"the output of {self.tool} cannot be read: {self.reason}"


class GenerationError(CRScoreError):
    """Claims could not be made or replayed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class EncodingError(CRScoreError):
    """A text could not be turned into a vector."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class ModelNotFoundError(EncodingError):
    """A model's files are not on this machine and could not, or may not, be fetched.

    Args:
        model: The model asked for.
        command: What makes it available.
    """

    def __init__(self, model: str, command: str) -> None:
        super().__init__("")
        self.args = (model, command)
        self.model = model
        self.command = command

    def __str__(self) -> str:
        return f"model {self.model} is not on this machine; get it with: {self.command}"


class StoreError(CRScoreError):
    """The store on disk cannot be read or cleared.

    Args:
        path: Its file.
        reason: What happened and what to do.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class HostError(CRScoreError):
    """The code host, or the local checkout, cannot do its part.

    Args:
        what: What was asked for, in words or as a path of the host's interface.
        reason: What happened and, where there is something, what to do.
    """

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what, reason)
        self.what = what
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


class BadTokenError(HostError):
    """The token is missing, wrong or expired."""


class PermissionDeniedError(HostError):
    """The token may not do this."""


class NotFoundError(HostError):
    """There is no such thing, or the token may not see it."""


class RateLimitedError(HostError):
    """The host asks to wait longer than the run may.

    Args:
        what: What was asked for.
        reason: Which limit was met.
        retry_after: Seconds that the host asks to wait; None when it did not say.
    """

    def __init__(self, what: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(what, reason)
        self.args = (what, reason, retry_after)
        self.retry_after = retry_after


class UnavailableError(HostError):
    """The host cannot be reached, or answers with errors or with nonsense."""


class UncertainWriteError(HostError):
    """A write got no answer that can be read: it may have been done, or not."""
