"""Reads the folder of an analyzer: `analyzer.toml`, which fully describes a tool, and its rules.

msgspec checks types and limits. It names the invalid key, and takes a fraction of pydantic's time
at every start.
"""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from crscore.errors import ConfigError
from crscore.records import Severity

FILE_NAME = "analyzer.toml"
INTERPRETER = "{python}"
"""Command of a tool that is run by this Python interpreter."""
PLACEHOLDERS = frozenset(
    {"{files}", "{file_list}", "{folder}", "{rules}", "{here}", "{marker}", "{tools}"}
)
"""Placeholders in a tool's arguments; see `docs/analyzers.md`."""
_TEXTS = frozenset({"{files}", "{file_list}", "{folder}"})
# "{files}", "{rules}"; not "{Files}", "{}"
_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")
# A file of the tool's folder that an argument names: "--config={here}/eslint.json"
_OWN_FILE = re.compile(r"\{here\}/([\w./-]+)")
# "ruff", "my-tool_2"; not "Ruff", "../x"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
# "{name}" in the sentence "`{name}` is never used."
_SLOT = re.compile(r"\{(\w+)\}")
_GROUP = re.compile(r"\(\?P<(\w+)>")

Seconds = Annotated[float, msgspec.Meta(gt=0, le=3600)]
Count = Annotated[int, msgspec.Meta(gt=0, le=2**20)]
Column = Annotated[int, msgspec.Meta(ge=0)]
Suffix = Annotated[str, msgspec.Meta(pattern=r"^\.[a-z0-9+]{1,12}$")]


class Pattern(str):
    """Regular expression."""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Expression, compiled at its first use, because there are hundreds of patterns."""
        return re.compile(self)


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table of `analyzer.toml`; unknown keys are errors."""


class Tool(_Table, frozen=True):
    """`[tool]`: how to find the program."""

    command: str
    """Name or path in the tools folder; `{python}` for this interpreter."""
    pattern: Pattern
    """Pattern whose first group is the version, in the program's output or the path's name."""
    supported: str
    """Supported versions, a PEP 440 range."""
    install: str
    """Installation command."""
    version: tuple[str, ...] | None = None
    """Arguments that print the version."""
    # Starting a JVM to print the version takes a second.
    version_path: str | None = None
    """File whose name contains the version, as a glob."""
    needs: tuple[str, ...] = ()
    """Further programs that must be on PATH."""
    modules: tuple[str, ...] = ()
    """Python modules that this interpreter must have."""

    # A ValueError becomes an error of the manifest that names the table:
    # https://jcristharif.com/msgspec/structs.html#post-init-processing
    def __post_init__(self) -> None:
        if (self.version is None) is (self.version_path is None):
            raise ValueError("either version or version_path is required")


class Run(_Table, frozen=True):
    """`[run]`: how to call the tool."""

    arguments: tuple[str, ...]
    """Arguments with placeholders."""
    rules: str | None = None
    """Rule file in the tool's folder."""
    environment: dict[str, str] = {}
    """Additions to the scrubbed environment; `{tools}` and `{here}` are filled in."""

    def __post_init__(self) -> None:
        placeholders = set(_PLACEHOLDER.findall(" ".join(self.arguments)))
        if unknown := sorted(placeholders - PLACEHOLDERS):
            allowed = ", ".join(sorted(PLACEHOLDERS))
            raise ValueError(f"arguments: {unknown[0]} is not one of {allowed}")
        if not placeholders & _TEXTS:
            raise ValueError("arguments must name {files}, {file_list} or {folder}")
        if "{rules}" in placeholders and self.rules is None:
            raise ValueError("rules must name the file for {rules}")


class ExitCodes(_Table, frozen=True):
    """`[exit_codes]`: meaning of the program's exit codes. Any other code is a failure."""

    clean: tuple[int, ...] = (0,)
    """No findings."""
    findings: tuple[int, ...] = (1,)
    """Findings; without any in the output, the run is a failure."""
    unparsed: tuple[int, ...] = ()
    """Files that could not be read."""


class JsonOutput(_Table, frozen=True):
    """`[output.json]`: jmespath expressions, each applied to the object that its text names.

    The root is the whole output; a group is an object that holds the findings of one file.
    """

    path: str
    """Path of the file, applied to the group if there are groups, otherwise to the finding."""
    findings: str
    """List of findings, applied to the group if there are groups, otherwise to the root."""
    rule: str
    """Rule id, applied to the finding."""
    message: str
    """Message, applied to the finding."""
    line: str
    """First line, applied to the finding."""
    groups: str | None = None
    """List of groups, applied to the root; None if the findings are not grouped."""
    end_line: str | None = None
    """Last line, applied to the finding."""
    severity: str | None = None
    """Severity, applied to the finding."""
    unparsed: str | None = None
    """Files that the tool could not read, applied to the root."""


class CsvOutput(_Table, frozen=True):
    """`[output.csv]`: columns, counted from 0, and the limits that make a row a finding."""

    path: Column
    """Column of the file."""
    line: Column
    """Column of the first line."""
    end_line: Column
    """Column of the last line."""
    name: Column
    """Column of the name of the measured item."""
    measures: dict[str, tuple[Column, Count]]
    """Rule -> (column, largest value that is not a finding)."""


class Output(_Table, frozen=True):
    """`[output]`: how the tool's output is read."""

    format: Literal["sarif", "checkstyle", "json", "csv"]
    """Form of the tool's output."""
    unparsed_rules: tuple[Pattern, ...] = ()
    """Rules, as regular expressions, that report an unreadable file."""
    unparsed_stderr: Pattern | None = None
    """Regular expression; its first group is an unreadable file named in the diagnostics."""
    drop_findings_of_unparsed: bool = False
    """Whether findings on a file that could not be read are dropped."""
    json: JsonOutput | None = None
    """Settings of the `json` format."""
    csv: CsvOutput | None = None
    """Settings of the `csv` format."""

    def __post_init__(self) -> None:
        for name, table in (("json", self.json), ("csv", self.csv)):
            if (table is None) is (self.format == name):
                raise ValueError(f"the table {name} goes with format = {name!r} only")


class Sentence(_Table, frozen=True):
    """`[[sentences]]`: English sentence for a finding."""

    rule: Pattern
    """Regular expression for the whole rule id."""
    text: str
    """Sentence, filled with the named groups of `message`."""
    message: Pattern = Pattern("")
    """Regular expression searched in the tool's message; "" for any."""
    severity: Severity | None = None
    """Override of the tool's own severity."""

    def __post_init__(self) -> None:
        groups = _GROUP.findall(self.message)
        for name in _SLOT.findall(self.text):
            if name not in groups:
                raise ValueError(f"text: {{{name}}} is not a group of the message's pattern")


class Ignored(_Table, frozen=True):
    """`[[ignored]]`: findings that are dropped."""

    rule: Pattern
    """Regular expression for the whole rule id."""
    message: Pattern
    """Regular expression searched in the tool's message."""


class Suppressions(_Table, frozen=True):
    """`[suppressions]`: comments in code that silence the tool."""

    patterns: tuple[Pattern, ...] = ()
    """Regular expressions; matches are overwritten in the copy that the tool reads."""


class Rules(_Table, frozen=True):
    """`[fragments]`: rules that may report on a hunk alone; `[style]`: rules on style."""

    rules: tuple[Pattern, ...]
    """Regular expressions for whole rule ids."""


class Limits(_Table, frozen=True):
    """`[limits]` of one run."""

    seconds: Seconds = 20.0
    """Maximum wall-clock time, in seconds."""
    memory_mb: Count = 1024
    """Maximum memory of all its processes together, in MiB."""
    output_mb: Count = 32
    """Maximum printed output, and maximum space on disk, in MiB each."""
    processes: Count = 32
    """Maximum number of processes at once."""


class Manifest(_Table, frozen=True):
    """Content of `analyzer.toml`."""

    about: str
    """One line for `crscore doctor`."""
    suffixes: tuple[Suffix, ...]
    """Suffixes of the files that it reads, in lower case with the dot."""
    tool: Tool
    run: Run
    output: Output
    exit_codes: ExitCodes = ExitCodes()
    severity: dict[str, Severity] = {}
    """Severity of the tool -> severity of crscore; `default` for all others."""
    severity_of_rules: dict[Severity, tuple[Pattern, ...]] = {}
    """Severity of crscore -> rules, as regular expressions, that override the tool's own."""
    ignored: tuple[Ignored, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    suppressions: Suppressions = Suppressions()
    fragments: Rules | None = None
    style: Rules = Rules(rules=())
    limits: Limits = Limits()


@dataclass(frozen=True)
class Analyzer:
    """Tool as its folder describes it."""

    name: str
    """Name of the folder."""
    folder: Path
    """Absolute path of the folder."""
    manifest: Manifest
    """Content of its `analyzer.toml`."""
    shipped: bool
    """Whether it comes with crscore, so that crscore's version identifies its rules."""

    @cached_property
    def sha256(self) -> str:
        """Hash of everything that determines the tool's findings, 64 hex digits."""
        digest = hashlib.sha256()
        run = self.manifest.run
        own_files = _OWN_FILE.findall(" ".join((*run.arguments, *run.environment.values())))
        files = {name for name in own_files if (self.folder / name).is_file()}
        files |= {run.rules} if run.rules else set()
        for name in (FILE_NAME, *sorted(files)):
            content = (self.folder / name).read_bytes()
            # The length is hashed, too, so that different sets of files have different hashes.
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()


def builtin() -> Path:
    """Return the folder of the analyzers that come with crscore.

    A wheel contains it inside the package; in a checkout it is next to the package.
    """
    package = Path(__file__).resolve().parent.parent
    packaged = package / "_data" / "analyzers"
    return packaged if packaged.is_dir() else package.parent / "analyzers"


def analyzer_names(folder: Path) -> tuple[str, ...]:
    """List the analyzers in a folder, sorted.

    Raises:
        ConfigError: The folder does not exist.
    """
    if not folder.is_dir():
        raise ConfigError("folder", str(folder), "does not exist, or is not a folder")
    return tuple(sorted(manifest.parent.name for manifest in folder.glob(f"*/{FILE_NAME}")))


def read_analyzer(folder: Path, *, shipped: bool) -> Analyzer:
    """Read one analyzer.

    Args:
        folder: Folder with `analyzer.toml` and the files it names.
        shipped: Whether it comes with crscore; its regular expressions are then not checked.

    Returns:
        The analyzer.

    Raises:
        ConfigError: The file is missing, is not TOML, or has an unknown key or an invalid value;
            the error names the file and the key.
    """
    folder = folder.resolve()
    source = str(folder / FILE_NAME)
    if not _NAME.fullmatch(folder.name):
        raise ConfigError("name", str(folder), "must be lower-case letters, digits, - and _")
    try:
        document = tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        # Compiling 600 patterns takes 60 ms at every start; a contract test checks shipped ones.
        hook = _check if not shipped else lambda kind, text: kind(text)
        manifest = msgspec.convert(document, Manifest, dec_hook=hook)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError("file", source, f"cannot be read: {exc}") from exc
    except msgspec.ValidationError as exc:
        # ``Expected `str`, got `int` - at `$.tool.command` ``
        text, _, path = str(exc).partition(" - at ")
        raise ConfigError(path.strip("`$").removeprefix(".") or "file", source, text) from exc
    patterns = {
        "tool.pattern": manifest.tool.pattern,
        "output.unparsed_stderr": manifest.output.unparsed_stderr,
    }
    for key, pattern in patterns.items():
        if not shipped and pattern is not None and not pattern.compiled.groups:
            raise ConfigError(key, source, f"{pattern!r} has no group")
    if manifest.run.rules is not None:
        rules = (folder / manifest.run.rules).resolve()
        if not rules.is_relative_to(folder) or not rules.is_file():
            text = f"{manifest.run.rules!r} is not a file of this folder"
            raise ConfigError("run.rules", source, text)
    return Analyzer(name=folder.name, folder=folder, manifest=manifest, shipped=shipped)


def _check(kind: type[Pattern], text: object) -> Pattern:
    """Convert a text of the manifest to a pattern.

    Raises:
        TypeError: The value is not a text.
        ValueError: The text is not a regular expression.
    """
    if not isinstance(text, str):
        raise TypeError(f"Expected `str`, got `{type(text).__name__}`")
    pattern = kind(text)
    try:
        _ = pattern.compiled
    except re.error as exc:
        raise ValueError(f"{text!r} is not a regular expression: {exc}") from exc
    return pattern
