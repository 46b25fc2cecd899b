"""The shape of `analyzers/<tool>/analyzer.toml`: all that crscore knows of a tool.

msgspec checks the types: it names the key at fault, and it costs a fraction of pydantic's time
at every start.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from crscore.records import Severity

INTERPRETER = "{python}"
"""A tool's command that means this Python."""

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
Count = Annotated[int, msgspec.Meta(gt=0, le=2**20)]
Column = Annotated[int, msgspec.Meta(ge=0)]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file; a key that it does not know is an error."""


class Tool(_Part, frozen=True):
    """`[tool]`: how to find the program."""

    command: str
    """Its name or its path in the tools folder; `{python}` for this interpreter."""
    pattern: str
    """Where the version stands in what it prints or in the path's name: the first group."""
    supported: str
    """Versions it is known to work with, a PEP 440 range."""
    install: str
    """The command that installs it."""
    version: tuple[str, ...] | None = None
    """Arguments that print the version."""
    version_path: str | None = None
    """Instead of asking, which takes a JVM a second: a file, as a glob in the tool's folder."""
    needs: tuple[str, ...] = ()
    """Further programs that must be on PATH."""


class Run(_Part, frozen=True):
    """`[run]` or `[compat]`: how to call it."""

    arguments: tuple[str, ...]
    """With placeholders."""
    rules: str | None = None
    """The rule file, in the tool's folder."""
    environment: dict[str, str] = {}
    """Added to the scrubbed environment; `{tools}` and `{here}` are filled in."""


class ExitCodes(_Part, frozen=True):
    """`[exit_codes]`: what the program's exit code says. Any other code is a failure."""

    clean: tuple[int, ...] = (0,)
    """Nothing found."""
    findings: tuple[int, ...] = (1,)
    """Something found; with no finding in the output it is a failure."""
    unparsed: tuple[int, ...] = ()
    """Some file could not be read."""


class JsonOutput(_Part, frozen=True):
    """`[output.json]`: jmespath expressions."""

    path: str
    """The file, on the group when there are groups, else on the finding."""
    findings: str
    """The list of findings, on the group when there are groups, else on the root."""
    rule: str
    """On the finding."""
    message: str
    """On the finding."""
    line: str
    """On the finding."""
    groups: str | None = None
    """Objects that hold one file's findings."""
    end_line: str | None = None
    """On the finding."""
    severity: str | None = None
    """On the finding."""
    unparsed: str | None = None
    """Files that the tool could not read, on the root."""


class CsvOutput(_Part, frozen=True):
    """`[output.csv]`: columns, counted from 0, and what makes a row a finding."""

    path: Column
    """Column of the file."""
    line: Column
    """Column of the first line."""
    end_line: Column
    """Column of the last line."""
    name: Column
    """Column of the name of the thing measured."""
    measures: dict[str, tuple[Column, Count]]
    """Rule -> (column, the largest value that is no finding)."""


class Output(_Part, frozen=True):
    """`[output]`: what it prints."""

    format: Literal["sarif", "checkstyle", "json", "csv"]
    """How to read it."""
    unparsed_rules: tuple[str, ...] = ()
    """Rules, as regular expressions, by which it says that it could not read a file."""
    unparsed_stderr: str | None = None
    """Regular expression; its first group is a file that the diagnostics give up."""
    drop_findings_of_unparsed: bool = False
    """Whether what it says of a file that it could not read is worthless."""
    json: JsonOutput | None = None
    """For `json`."""
    csv: CsvOutput | None = None
    """For `csv`."""


class Sentence(_Part, frozen=True):
    """`[[sentences]]`: how a finding becomes an English sentence."""

    rule: str
    """Regular expression that the whole rule id matches."""
    text: str
    """The sentence; named groups of `message` fill it."""
    message: str | None = None
    """Regular expression searched in the tool's message; None for any."""
    severity: Severity | None = None
    """Instead of the tool's own."""


class Suppressions(_Part, frozen=True):
    """`[suppressions]`: what code can say to silence the tool."""

    patterns: tuple[str, ...] = ()
    """Regular expressions; what they match is overwritten in the copy that the tool reads."""


class Fragments(_Part, frozen=True):
    """`[fragments]`: what can be said of a hunk alone."""

    rules: tuple[str, ...]
    """Regular expressions that whole rule ids match."""


class Style(_Part, frozen=True):
    """`[style]`: what is a matter of taste, and so found but not counted."""

    rules: tuple[str, ...]
    """Regular expressions that whole rule ids match."""


class Limits(_Part, frozen=True):
    """`[limits]` of one process."""

    seconds: Seconds = 20.0
    """Wall clock."""
    memory_mb: Count = 1024
    """Memory of one process, MiB."""
    output_mb: Count = 32
    """All that it prints, MiB."""
    processes: Count = 32
    """Processes at once."""


class Manifest(_Part, frozen=True):
    """The whole file."""

    about: str
    """One line for `crscore doctor`."""
    suffixes: tuple[str, ...]
    """Of the files it reads, lower case with the dot."""
    tool: Tool
    run: Run
    output: Output
    exit_codes: ExitCodes = ExitCodes()
    severity: dict[str, Severity] = {}
    """The tool's word -> ours; `default` for the rest."""
    sentences: tuple[Sentence, ...] = ()
    suppressions: Suppressions = Suppressions()
    fragments: Fragments | None = None
    style: Style = Style(rules=())
    limits: Limits = Limits()
    compat: Run | None = None
    """How the published method calls it."""
