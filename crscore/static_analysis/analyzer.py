"""Reads the folder of an analyzer: its rules, and the manifest of its tool, `analyzer.toml`.

msgspec checks the types and limits of the manifest. Its errors name the invalid key, and every
start of crscore takes less time than with pydantic.
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
"""Command in a manifest that stands for this Python interpreter."""
PLACEHOLDERS = frozenset(
    {"{files}", "{file_list}", "{folder}", "{rules}", "{here}", "{marker}", "{tools}"}
)
"""Placeholders that a tool's arguments may have; `docs/analyzers.md` explains them."""
_TEXT_PLACEHOLDERS = frozenset({"{files}", "{file_list}", "{folder}"})
# "{files}", "{rules}"; not "{Files}", "{}"
_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")
# An argument that names a file of the analyzer's folder: "--config={here}/eslint.json"
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
    """Regular expression of a manifest."""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Compiled expression; compiled only when used, because there are hundreds of patterns."""
        return re.compile(self)


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table of `analyzer.toml`, in which unknown keys are errors."""


class Tool(_Table, frozen=True):
    """`[tool]`: how to find the program."""

    command: str
    """Name of the program, or its path in the tool's folder; `{python}` for this interpreter."""
    pattern: Pattern
    """Pattern whose first group is the version in the program's output or in a file's name."""
    supported: str
    """Supported versions as a specifier of PEP 440, such as `>=1,<2`."""
    install: str
    """Command that installs the tool, for users."""
    version: tuple[str, ...] | None = None
    """Arguments with which the program prints its version."""
    # A program in Java would take a second to print its version.
    version_path: str | None = None
    """Glob pattern of a file in the tool's folder whose name contains the version."""
    needs: tuple[str, ...] = ()
    """Other programs that the tool needs on the PATH."""
    modules: tuple[str, ...] = ()
    """Python modules that the tool needs in this interpreter."""

    # msgspec converts a ValueError to an error that names the table:
    # https://jcristharif.com/msgspec/structs.html#post-init-processing
    def __post_init__(self) -> None:
        if (self.version is None) is (self.version_path is None):
            raise ValueError("one of version and version_path is required, and only one")


class Run(_Table, frozen=True):
    """`[run]`: how to call the tool."""

    arguments: tuple[str, ...]
    """Arguments of the program, which may contain placeholders."""
    rules: str | None = None
    """Name of the file with rules in the analyzer's folder."""
    environment: dict[str, str] = {}
    """Environment variables besides PATH and LANG; `{tools}` and `{here}` are filled in."""

    def __post_init__(self) -> None:
        placeholders = set(_PLACEHOLDER.findall(" ".join(self.arguments)))
        if unknown := sorted(placeholders - PLACEHOLDERS):
            allowed = ", ".join(sorted(PLACEHOLDERS))
            raise ValueError(f"arguments: {unknown[0]} is not one of {allowed}")
        if not placeholders & _TEXT_PLACEHOLDERS:
            raise ValueError("arguments must name {files}, {file_list} or {folder}")
        if "{rules}" in placeholders and self.rules is None:
            raise ValueError("rules must name the file for {rules}")


class ExitCodes(_Table, frozen=True):
    """`[exit_codes]`: meaning of the program's exit codes; any other code is a failure."""

    clean: tuple[int, ...] = (0,)
    """Codes for no findings."""
    findings: tuple[int, ...] = (1,)
    """Codes for findings; if the output has none, the run is a failure."""
    unparsed: tuple[int, ...] = ()
    """Codes for files that could not be read."""


class JsonOutput(_Table, frozen=True):
    """`[output.json]`: JMESPath expressions that select the parts of a tool's output.

    The root is the whole output. A group is an object with the findings of one file.
    """

    path: str
    """Path of the file, selected from the group or, if there are no groups, from the finding."""
    findings: str
    """List of findings, selected from the group or, if there are no groups, from the root."""
    rule: str
    """Id of the rule, selected from the finding."""
    message: str
    """Message, selected from the finding."""
    line: str
    """Number of the first line, selected from the finding."""
    groups: str | None = None
    """List of groups, selected from the root; None if there are no groups."""
    end_line: str | None = None
    """Number of the last line, selected from the finding."""
    severity: str | None = None
    """Severity, selected from the finding."""
    unparsed: str | None = None
    """List of files that the tool could not read, selected from the root."""


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
    """Rule -> the column of its measure and the largest value that is not a finding."""


class Output(_Table, frozen=True):
    """`[output]`: how the tool's output is read."""

    format: Literal["sarif", "checkstyle", "json", "csv"]
    """Form of the tool's output."""
    unparsed_rules: tuple[Pattern, ...] = ()
    """Regular expressions for the ids of rules that report an unreadable file."""
    unparsed_stderr: Pattern | None = None
    """Regular expression whose first group is an unreadable file, in lines of standard error."""
    drop_findings_of_unparsed: bool = False
    """Whether findings in a file that could not be read completely are dropped."""
    json: JsonOutput | None = None
    """Settings of the format `json`, and only of this one."""
    csv: CsvOutput | None = None
    """Settings of the format `csv`, and only of this one."""

    def __post_init__(self) -> None:
        for name, table in (("json", self.json), ("csv", self.csv)):
            if (table is None) is (self.format == name):
                raise ValueError(f"only format = {name!r} has a table {name}, which it requires")


class Sentence(_Table, frozen=True):
    """`[[sentences]]`: English sentence for some findings."""

    rule: Pattern
    """Regular expression that matches the whole id of the rule."""
    text: str
    """The sentence, in which `{name}` stands for the group `name` of `message`."""
    message: Pattern = Pattern("")
    """Regular expression that is found in the tool's message; "" for any message."""
    severity: Severity | None = None
    """Severity of the findings, instead of the tool's."""

    def __post_init__(self) -> None:
        groups = _GROUP.findall(self.message)
        for name in _SLOT.findall(self.text):
            if name not in groups:
                raise ValueError(f"text: {{{name}}} is not a group of the message's pattern")


class Ignored(_Table, frozen=True):
    """`[[ignored]]`: findings that are dropped."""

    rule: Pattern
    """Regular expression that matches the whole id of the rule."""
    message: Pattern
    """Regular expression that is found in the tool's message."""


class Suppressions(_Table, frozen=True):
    """`[suppressions]`: comments in code that silence the tool."""

    patterns: tuple[Pattern, ...] = ()
    """Regular expressions; text that matches is overwritten in the copy that the tool reads."""


class Rules(_Table, frozen=True):
    """`[fragments]`: rules whose findings count even in a hunk; `[style]`: rules about style."""

    rules: tuple[Pattern, ...]
    """Regular expressions that match whole ids of rules."""


class Limits(_Table, frozen=True):
    """`[limits]`: limits of one process of the tool and its children."""

    seconds: Seconds = 20.0
    """Maximum wall-clock time, in seconds."""
    memory_mb: Count = 1024
    """Maximum memory of all processes together, in MiB."""
    output_mb: Count = 32
    """Maximum printed output, and maximum growth of the written files, in MiB."""
    processes: Count = 32
    """Maximum number of processes at once."""


class Manifest(_Table, frozen=True):
    """Content of `analyzer.toml`."""

    about: str
    """What the tool finds, in one line for `crscore doctor`."""
    suffixes: tuple[Suffix, ...]
    """Suffixes of the files that the tool reads, in lower case with the dot."""
    tool: Tool
    run: Run
    output: Output
    exit_codes: ExitCodes = ExitCodes()
    severity: dict[str, Severity] = {}
    """The tool's severity -> crscore's severity; `default` stands for all others of the tool."""
    severity_of_rules: dict[Severity, tuple[Pattern, ...]] = {}
    """Severity -> regular expressions of the rules whose findings always have this severity."""
    ignored: tuple[Ignored, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    suppressions: Suppressions = Suppressions()
    fragments: Rules | None = None
    style: Rules = Rules(rules=())
    limits: Limits = Limits()


@dataclass(frozen=True)
class Analyzer:
    """Tool as described by the files of its folder."""

    name: str
    """Name of the folder, which names the analyzer."""
    folder: Path
    """Absolute path of the folder."""
    manifest: Manifest
    """Content of `analyzer.toml`."""
    shipped: bool
    """Whether the analyzer comes with crscore, whose version then identifies the rules."""

    @cached_property
    def sha256(self) -> str:
        """Hash of all files that determine the tool's findings, 64 hexadecimal digits."""
        digest = hashlib.sha256()
        run = self.manifest.run
        own_files = _OWN_FILE.findall(" ".join((*run.arguments, *run.environment.values())))
        files = {name for name in own_files if (self.folder / name).is_file()}
        files |= {run.rules} if run.rules else set()
        for name in (FILE_NAME, *sorted(files)):
            content = (self.folder / name).read_bytes()
            # The length tells where a file ends, so that different files have different hashes.
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()


def builtin_folder() -> Path:
    """Return the folder of the analyzers that come with crscore.

    In a wheel, the folder is inside the package; in a checkout, it is next to the package.
    """
    package = Path(__file__).resolve().parent.parent
    packaged = package / "_data" / "analyzers"
    return packaged if packaged.is_dir() else package.parent / "analyzers"


def analyzer_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the analyzers in a folder, sorted.

    Raises:
        ConfigError: There is no such folder.
    """
    if not folder.is_dir():
        raise ConfigError("folder", str(folder), "does not exist, or is not a folder")
    return tuple(sorted(manifest.parent.name for manifest in folder.glob(f"*/{FILE_NAME}")))


def read_analyzer(folder: Path, *, shipped: bool) -> Analyzer:
    """Read one analyzer.

    Args:
        folder: Folder with `analyzer.toml` and the files that it names.
        shipped: Whether the analyzer comes with crscore. If so, its regular expressions are not
            checked.

    Returns:
        The analyzer.

    Raises:
        ConfigError: The manifest is missing, is not TOML, or has an unknown key or an invalid
            value; the error names the manifest and the key.
    """
    folder = folder.resolve()
    source = str(folder / FILE_NAME)
    if not _NAME.fullmatch(folder.name):
        raise ConfigError("name", str(folder), "must be lower-case letters, digits, - and _")
    try:
        document = tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        # The shipped patterns are checked by a test, because compiling all 600 would take 60 ms at
        # every start.
        hook = _check_pattern if not shipped else lambda kind, text: kind(text)
        manifest = msgspec.convert(document, Manifest, dec_hook=hook)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError("file", source, f"cannot be read: {exc}") from exc
    except msgspec.ValidationError as exc:
        # An error looks like this: Expected `str`, got `int` - at `$.tool.command`
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


def _check_pattern(kind: type[Pattern], text: object) -> Pattern:
    """Convert a value of the manifest to a pattern, and check that it compiles.

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
