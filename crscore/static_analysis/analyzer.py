"""Reading the folder of an analyzer, and finding what is wrong with it."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from crscore.errors import ManifestError
from crscore.static_analysis.manifest import Fragments, Manifest, Run

FILE_NAME = "analyzer.toml"
PLACEHOLDERS = frozenset(
    {"{files}", "{file_list}", "{folder}", "{rules}", "{here}", "{marker}", "{tools}"}
)
"""What a tool's arguments may hold; `docs/analyzers.md` says what each stands for."""
_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")
_OWN_FILE = re.compile(r"\{here\}/([\w./-]+)")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


@dataclass(frozen=True)
class Analyzer:
    """A tool's folder."""

    name: str
    """The folder's name."""
    folder: Path
    """Where it is, absolute."""
    manifest: Manifest
    """Its `analyzer.toml`."""
    shipped: bool
    """True when it comes with crscore, so that crscore's version names its rules."""

    @cached_property
    def sha256(self) -> str:
        """Hash of all that decides what the tool says, 64 hex digits."""
        digest = hashlib.sha256()
        runs = [run for run in (self.manifest.run, self.manifest.compat) if run is not None]
        files = {run.rules for run in runs if run.rules is not None}
        for run in runs:
            named = _OWN_FILE.findall(" ".join((*run.arguments, *run.environment.values())))
            files |= {name for name in named if (self.folder / name).is_file()}
        for name in (FILE_NAME, *sorted(files)):
            content = (self.folder / name).read_bytes()
            digest.update(f"{name} {len(content)}\n".encode() + content)
        return digest.hexdigest()


def builtin() -> Path:
    """Find the folder of the analyzers that come with crscore.

    A wheel carries it inside the package; in a checkout it lies beside the package.
    """
    package = Path(__file__).resolve().parent.parent
    carried = package / "_data" / "analyzers"
    return carried if carried.is_dir() else package.parent / "analyzers"


def analyzer_names(folder: Path) -> tuple[str, ...]:
    """List the analyzers in a folder, sorted.

    Raises:
        ManifestError: There is no such folder.
    """
    if not folder.is_dir():
        raise ManifestError(str(folder), "folder", "does not exist, or is no folder")
    return tuple(sorted(found.parent.name for found in folder.glob(f"*/{FILE_NAME}")))


def read_analyzer(folder: Path, *, shipped: bool) -> Analyzer:
    """Read one analyzer.

    Args:
        folder: Holds `analyzer.toml` and what it names.
        shipped: Whether it comes with crscore; then its values are known to be right.

    Returns:
        The analyzer.

    Raises:
        ManifestError: The file is missing, is no TOML, has an unknown key, or a value that
            cannot be used; the error names the file and the key.
    """
    folder = folder.resolve()
    source = str(folder / FILE_NAME)
    if not _NAME.fullmatch(folder.name):
        raise ManifestError(str(folder), "name", "must be lower-case letters, digits, - and _")
    try:
        document = tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        manifest = msgspec.convert(document, Manifest)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise ManifestError(source, "file", f"cannot be read: {exc}") from exc
    except msgspec.ValidationError as exc:
        key, expected = _fault(exc)
        raise ManifestError(source, key, expected) from exc
    if not shipped:
        # The contract test does it for the shipped ones: 600 patterns are 60 ms of every start.
        _check(manifest, folder, source)
    return Analyzer(name=folder.name, folder=folder, manifest=manifest, shipped=shipped)


def _fault(error: msgspec.ValidationError) -> tuple[str, str]:
    """Take apart msgspec's message: ``Expected `str`, got `int` - at `$.tool.command` ``."""
    text, _, place = str(error).partition(" - at ")
    return place.strip("`$").removeprefix(".") or "file", text


def _check(manifest: Manifest, folder: Path, source: str) -> None:
    """Find what types cannot tell.

    Raises:
        ManifestError: Naming the key.
    """
    for suffix in manifest.suffixes:
        if not re.fullmatch(r"\.[a-z0-9+]{1,12}", suffix):
            raise ManifestError(source, "suffixes", f"{suffix!r} is no lower-case suffix")
    for key, expression in _expressions(manifest):
        try:
            re.compile(expression)
        except re.error as exc:
            raise ManifestError(source, key, f"{expression!r} is no pattern: {exc}") from exc
    _check_version(manifest, source)
    _check_output(manifest, source)
    for key, run in (("run", manifest.run), ("compat", manifest.compat)):
        _check_run(run, key, folder, source)
    _check_sentences(manifest, source)


def _expressions(manifest: Manifest) -> list[tuple[str, str]]:
    found = [("tool.pattern", manifest.tool.pattern)]
    if manifest.output.unparsed_stderr is not None:
        found.append(("output.unparsed_stderr", manifest.output.unparsed_stderr))
    found += [("output.unparsed_rules", one) for one in manifest.output.unparsed_rules]
    found += [("suppressions.patterns", one) for one in manifest.suppressions.patterns]
    found += [("style.rules", one) for one in manifest.style.rules]
    found += [("sentences.rule", one.rule) for one in manifest.sentences]
    found += [("sentences.message", one.message) for one in manifest.sentences if one.message]
    found += [("fragments.rules", one) for one in (manifest.fragments or Fragments(rules=())).rules]
    return found


def _check_version(manifest: Manifest, source: str) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # noqa: PLC0415

    if (manifest.tool.version is None) is (manifest.tool.version_path is None):
        raise ManifestError(source, "tool.version", "or tool.version_path must be there, not both")
    if not re.compile(manifest.tool.pattern).groups:
        raise ManifestError(source, "tool.pattern", "must have a group, the version")
    try:
        SpecifierSet(manifest.tool.supported)
    except InvalidSpecifier as exc:
        raise ManifestError(source, "tool.supported", f"is no range of versions: {exc}") from exc


def _check_output(manifest: Manifest, source: str) -> None:
    output = manifest.output
    if output.unparsed_stderr is not None and not re.compile(output.unparsed_stderr).groups:
        raise ManifestError(source, "output.unparsed_stderr", "must have a group, the file")
    wanted: dict[str, Any] = {"json": output.json, "csv": output.csv}
    for name, table in wanted.items():
        if (table is None) is (output.format == name):
            raise ManifestError(source, f"output.{name}", f"goes with format = {name!r}, only")
    if output.json is None:
        return
    import jmespath  # noqa: PLC0415
    from jmespath.exceptions import JMESPathError  # noqa: PLC0415

    for key, expression in msgspec.structs.asdict(output.json).items():
        try:
            if expression is not None:
                jmespath.compile(expression)
        except JMESPathError as exc:
            raise ManifestError(source, f"output.json.{key}", f"is no jmespath: {exc}") from exc


def _check_run(run: Run | None, key: str, folder: Path, source: str) -> None:
    if run is None:
        return
    used = {found for one in run.arguments for found in _PLACEHOLDER.findall(one)}
    if unknown := sorted(used - PLACEHOLDERS):
        known = ", ".join(sorted(PLACEHOLDERS))
        raise ManifestError(source, f"{key}.arguments", f"{unknown[0]} is none of {known}")
    if not used & {"{files}", "{file_list}", "{folder}"}:
        raise ManifestError(
            source, f"{key}.arguments", "must name {files}, {file_list} or {folder}"
        )
    if run.rules is None:
        if "{rules}" in used:
            raise ManifestError(source, f"{key}.rules", "must name the file for {rules}")
        return
    rules = (folder / run.rules).resolve()
    if not rules.is_relative_to(folder) or not rules.is_file():
        raise ManifestError(source, f"{key}.rules", f"{run.rules!r} is no file of this folder")


def _check_sentences(manifest: Manifest, source: str) -> None:
    for sentence in manifest.sentences:
        groups = set(re.compile(sentence.message or "").groupindex)
        for name in re.findall(r"\{(\w+)\}", sentence.text):
            if name not in groups:
                text = f"{{{name}}} is no group of the message's pattern"
                raise ManifestError(source, "sentences.text", text)
