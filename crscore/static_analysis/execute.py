"""Runs one tool on many texts, which are copied to an empty folder under generated names.

One process reads the texts of several files and changes, because starting a tool takes longer than
reading a file. If a process fails, its texts are tried again in smaller batches and finally one by
one, so that a hostile file cannot prevent the analysis of others.
"""

import contextlib
import hashlib
import re
import secrets
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from crscore.cache import Cache
from crscore.errors import ToolFailedError, ToolNotFoundError
from crscore.sandbox import run as sandbox
from crscore.static_analysis import formats
from crscore.static_analysis.analyzer import Analyzer, Output
from crscore.static_analysis.reports import RawFinding, RawReport
from crscore.static_analysis.tools import Installed, fill, limits_of
from crscore.static_analysis.units import Unit
from crscore.static_analysis.wording import MAX_MESSAGE
from crscore.version import __version__

# Starting a tool takes most of the time, so the first batches are large.
BATCH_SIZES = (128, 8, 1)
"""Maximum number of texts of one process, in the first attempt and in each further attempt."""
MAX_WAITS = 3
"""Maximum time of all failed processes together, as a multiple of the time limit of one."""
# `s0001.py`, `./s0001.py`, `file:///tmp/x/s0001/__init__.py`
_GENERATED_NAME = re.compile(r"(?:^|[/\\])s(\d{4,9})(?:\.[a-z0-9+]+|[/\\]__init__\.[a-z]+)$")

Outcome = RawReport | ToolFailedError
"""Findings of a tool in one text, or the reason why there are none."""


def run_analyzer(
    tool: Installed, units: Sequence[Unit], *, cache: Cache | None, stop: threading.Event
) -> tuple[Outcome, ...]:
    """Run one tool on some texts.

    Args:
        tool: Tool to run, with its installed version.
        units: Any number of texts with suffixes that the tool reads.
        cache: Cache of findings; None to cache nothing.
        stop: Event that is set when the findings are no longer needed.

    Returns:
        The tool's findings in each text, or the failure that prevented its analysis.
    """
    cached: dict[Unit, Outcome] = {}
    if cache is not None:
        for unit in units:
            content = cache.get(_make_key(tool, unit))
            # The text is analyzed if it is not cached, or cached by a version with other fields.
            with contextlib.suppress(msgspec.MsgspecError):
                cached[unit] = msgspec.json.decode(content or b"", type=RawReport)
    outcomes = _run_in_batches(
        tool, [unit for unit in dict.fromkeys(units) if unit not in cached], stop
    )
    for unit, outcome in outcomes.items():
        if cache and isinstance(outcome, RawReport):
            # The format is not pickle, because another user may be able to write to the cache, and
            # unpickling can run code.
            cache.put(_make_key(tool, unit), msgspec.json.encode(outcome))
    outcomes |= cached
    return tuple(outcomes[unit] for unit in units)


def _run_in_batches(
    tool: Installed, units: Sequence[Unit], stop: threading.Event
) -> dict[Unit, Outcome]:
    """Run one process for each batch, and run the texts of failed batches again in smaller ones."""
    outcomes: dict[Unit, Outcome] = {}
    seconds_left = MAX_WAITS * tool.analyzer.manifest.limits.seconds
    for size in BATCH_SIZES:
        unread = [unit for unit in units if not isinstance(outcomes.get(unit), RawReport)]
        # A long text counts as several, so that a batch of long texts ends within the time limit.
        ends = accumulate(1 + len(unit.text) // 8_000 for unit in unread)
        numbered = zip(((end - 1) // size for end in ends), unread, strict=True)
        for _, pairs in groupby(numbered, itemgetter(0)):
            batch = [unit for _, unit in pairs]
            started = time.monotonic()
            try:
                outcomes |= zip(batch, _run_batch(tool, batch, stop), strict=True)
            except ToolFailedError as exc:
                outcomes |= dict.fromkeys(batch, exc)
                seconds_left -= time.monotonic() - started
                if seconds_left <= 0:
                    return dict.fromkeys(units, exc) | outcomes
    return outcomes


def _run_batch(tool: Installed, units: Sequence[Unit], stop: threading.Event) -> list[RawReport]:
    """Run one process, and return its findings in each text.

    Raises:
        ToolFailedError: The tool exceeded a limit, crashed or ended with an exit code that its
            manifest does not list, or its output cannot be read.
    """
    if stop.is_set():
        raise ToolFailedError(tool.analyzer.name, "was stopped")
    with tempfile.TemporaryDirectory(prefix="crscore-") as outer:
        # The folders are separate, because a tool that reads all of `work` must find only texts
        # there.
        work, home, scratch = (Path(outer) / name for name in ("work", "home", "tmp"))
        for new_folder in (work, home, scratch):
            new_folder.mkdir()
        names = [unit.file_name(index) for index, unit in enumerate(units)]
        for name, unit in zip(names, units, strict=True):
            text = overwrite_suppressions(unit.text, tool.analyzer)
            (work / name).parent.mkdir(exist_ok=True)
            (work / name).write_bytes(text.encode("utf-8", errors="replace"))
        listing = scratch / "files.txt"
        listing.write_text("".join(f"{work / name}\n" for name in names), encoding="utf-8")
        folder, run = tool.analyzer.folder, tool.analyzer.manifest.run
        values = {
            "{file_list}": str(listing),
            "{folder}": str(work),
            "{rules}": str(folder / (run.rules or "")),
            "{here}": str(folder),
            "{tools}": str(tool.tools),
            # The marker is random, so that the author of an analyzed text cannot know it.
            "{marker}": f"crscore-{secrets.token_hex(16)}",
        }
        arguments: list[str] = []
        for argument in run.arguments:
            arguments += names if argument == "{files}" else [fill(argument, values)]
        try:
            process = sandbox.run(
                [tool.program, *arguments],
                tool=tool.analyzer.name,
                folder=work,
                environment={**tool.environment, "HOME": str(home), "TMPDIR": str(scratch)},
                limits=limits_of(tool.analyzer),
            )
        except ToolNotFoundError as exc:  # the program was there when its version was read
            raise ToolFailedError(tool.analyzer.name, "is no longer installed") from exc
    return _read_reports(tool.analyzer, process, len(units))


def overwrite_suppressions(text: str, analyzer: Analyzer) -> str:
    """Replace each character of the comments that silence a tool by `x`.

    The author of a change must not decide what a tool reports.
    """
    for pattern in analyzer.manifest.suppressions.patterns:
        text = pattern.compiled.sub(lambda match: re.sub(r"[^\n]", "x", match[0]), text)
    return text


def _read_reports(analyzer: Analyzer, process: sandbox.Completed, count: int) -> list[RawReport]:
    """Divide the output of a process into a report on each text.

    Raises:
        ToolFailedError: The exit code is unknown or contradicts the output.
        ToolOutputError: The output cannot be read.
    """
    manifest, name = analyzer.manifest, analyzer.name
    codes = manifest.exit_codes
    code = process.returncode
    if code not in {*codes.clean, *codes.findings, *codes.unparsed}:
        raise ToolFailedError(name, f"ended with exit code {code}")
    report = formats.read_report(process.stdout, manifest.output, tool=name)
    unparsed, findings = _separate_unparsed(report, process.stderr, manifest.output)
    if code not in codes.clean and not findings and not unparsed:
        raise ToolFailedError(name, f"ended with exit code {code} and no finding")
    if code in codes.unparsed and code not in codes.findings and not unparsed:
        reason = f"ended with exit code {code} and does not say what it could not read"
        raise ToolFailedError(name, reason)
    by_text: dict[int, list[RawFinding]] = defaultdict(list)
    for index, finding in findings:
        if not (index in unparsed and manifest.output.drop_findings_of_unparsed):
            by_text[index].append(finding)
    return [
        RawReport(findings=tuple(by_text[index]), unparsed=("",) if index in unparsed else ())
        for index in range(count)
    ]


def _separate_unparsed(
    report: RawReport, stderr: bytes, output: Output
) -> tuple[set[int | None], list[tuple[int, RawFinding]]]:
    """Return the indices of unreadable texts, and the findings with the index of their text.

    Files that were not passed to the tool are left out.
    """
    unparsed = {_text_index(path) for path in report.unparsed}
    if pattern := output.unparsed_stderr:
        # Lines are cut, because a tool may quote a long hostile line, and the time of a user's
        # pattern may grow with the square of its length.
        for line in stderr.decode("utf-8", errors="replace").splitlines():
            matches = pattern.compiled.finditer(line[:MAX_MESSAGE])
            unparsed |= {_text_index(match[1] or "") for match in matches}
    findings: list[tuple[int, RawFinding]] = []
    for finding in report.findings:
        index = _text_index(finding.path)
        if any(rule.compiled.fullmatch(finding.rule) for rule in output.unparsed_rules):
            unparsed.add(index)
        elif index is not None:
            findings.append((index, finding))
    return unparsed - {None}, findings


def _text_index(path: str) -> int | None:
    """Return the index of the text with a generated name; None for other paths."""
    match = _GENERATED_NAME.search(path)
    return int(match[1]) if match else None


def _make_key(tool: Installed, unit: Unit) -> str:
    """Return the key of cached findings: a hash of all that determines the findings in a text."""
    digest = hashlib.sha256()
    analyzer = tool.analyzer
    fields: Mapping[str, str] = {
        "crscore": __version__,
        "tool": f"{analyzer.name} {tool.version} {analyzer.sha256}",
        # What a tool finds may depend on the suffix, and on whether the file is a package.
        "name": unit.file_name(0),
        "text": unit.text,
    }
    for key, value in fields.items():
        content = value.encode("utf-8", errors="replace")
        # The length tells where a field ends, so that different fields have different hashes.
        digest.update(f"{key} {len(content)}\n".encode() + content)
    return f"findings {digest.hexdigest()}"
