"""Selects analyzers, and runs them in parallel on the changes of a run."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from crscore.cache import Cache
from crscore.errors import ConfigError, UnknownPluginError
from crscore.records import Analysis, Diff, ToolRun
from crscore.sandbox import run
from crscore.static_analysis import collect, execute, sarif, tools
from crscore.static_analysis.analyzer import (
    FILE_NAME,
    Analyzer,
    analyzer_names,
    builtin_folder,
    read_analyzer,
)
from crscore.static_analysis.reports import RawReport
from crscore.static_analysis.tools import Installed
from crscore.static_analysis.units import Unit, suffix_of, units_of

Result = TypeVar("Result")
AUTO = "auto"
"""Value that selects all analyzers that come with crscore."""
NONE = "none"
"""Value that selects no analyzer."""
# One attempt is not enough, because a tool that is just starting may be missed.
_STOPPING_S = 0.05
"""Seconds between two attempts to stop all tools."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Suite:
    """Analyzers of a run, with the folders of their tools, the cache and the trust in the code."""

    analyzers: tuple[Analyzer, ...]
    """Analyzers, sorted by name."""
    tools: Path
    """Folder with a folder for each npm tool."""
    path: str
    """Search path for programs, as in `PATH`."""
    cache: Cache | None = None
    """Cache of findings and of the versions of tools; None to cache nothing."""
    reports: tuple[RawReport, ...] = ()
    """Findings from SARIF files, of tools that ran elsewhere."""
    untrusted: bool = False
    """Whether tools may read the code only in a sandbox, because it is not trusted."""

    @contextmanager
    def analyzing(self, diffs: Sequence[Diff]) -> Iterator[Callable[[], tuple[Analysis, ...]]]:
        """Start the tools that read files of these changes; the caller can do other work meanwhile.

        Tools run in parallel, each for all changes. The analysis names the tools that are missing
        or failed, and has the findings of all others.

        Args:
            diffs: Any number of changes, with full files if these are available.

        Yields:
            A function that waits for the tools and returns the analysis of each change, in order.
        """
        if not self.analyzers and not self.reports:
            yield lambda: tuple(Analysis() for _ in diffs)
            return
        units = [units_of(diff) for diff in diffs]
        present = {suffix_of(file) for diff in diffs for file in diff.files}
        analyzers = [
            analyzer for analyzer in self.analyzers if present & set(analyzer.manifest.suffixes)
        ]
        # The check for a sandbox is slow, so it is left out if no tool has a file to read.
        confined = not analyzers or self.is_confined()
        stop = threading.Event()
        jobs = [partial(self._run, analyzer, units, stop, confined) for analyzer in analyzers]

        def combine(results: Sequence[collect.ToolResult]) -> tuple[Analysis, ...]:
            return tuple(
                collect.combine_results(
                    diff,
                    texts,
                    results,
                    confined=confined,
                    outside=sarif.find_runs(self.reports, diff),
                )
                for diff, texts in zip(diffs, units, strict=True)
            )

        with _run_in_threads(jobs, stop) as wait:
            yield lambda: combine(wait())

    def is_confined(self) -> bool:
        """Return whether this system can deny the network to the tools.

        If the code is untrusted, a process in the sandbox tries to use the network. Otherwise, the
        answer depends only on the operating system and the processor.
        """
        return run.can_confine() and (not self.untrusted or run.network_denied())

    def find_tools(self) -> tuple[tuple[Analyzer, Installed | ToolRun], ...]:
        """Return each analyzer with its tool, or with the reason why the tool cannot run."""
        jobs = [partial(self._find, analyzer) for analyzer in self.analyzers]
        with _run_in_threads(jobs, threading.Event()) as wait:
            return tuple(zip(self.analyzers, wait(), strict=True))

    def _find(self, analyzer: Analyzer) -> Installed | ToolRun:
        return tools.find_tool(analyzer, tools=self.tools, path=self.path, cache=self.cache)

    def _run(
        self,
        analyzer: Analyzer,
        units: Sequence[Sequence[Sequence[Unit]]],
        stop: threading.Event,
        confined: bool,
    ) -> collect.ToolResult:
        """Run the tool of an analyzer on all texts that it reads."""
        # Without a sandbox, no tool may read untrusted code (docs/design/013-untrusted-code.md).
        if self.untrusted and not confined:
            return analyzer, replace(collect.REFUSED, tool=analyzer.name), {}
        tool = self._find(analyzer)
        if isinstance(tool, ToolRun):
            return analyzer, tool, {}
        manifest = analyzer.manifest
        read_units = (
            unit
            for unit in chain.from_iterable(chain.from_iterable(units))
            if unit.suffix in manifest.suffixes and (manifest.fragments or not unit.is_fragment)
        )
        # Several changes of a run may have the same text.
        distinct = list(dict.fromkeys(read_units))
        outcomes = execute.run_analyzer(tool, distinct, cache=self.cache, stop=stop)
        return analyzer, tool, dict(zip(distinct, outcomes, strict=True))


@contextmanager
def _run_in_threads(
    jobs: Sequence[Callable[[], Result]], stop: threading.Event
) -> Iterator[Callable[[], list[Result]]]:
    """Start jobs in threads, and yield a function that waits and returns their results in order.

    If the `with` block raises an error, the tools are stopped.
    """
    # Threads are enough, because each of them only waits for a process.
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        futures: list[Future[Result]] = [pool.submit(job) for job in jobs]
        try:
            yield lambda: [future.result() for future in futures]
        except BaseException:  # KeyboardInterrupt, too
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(future.done() for future in futures):
                run.stop_all()
                time.sleep(_STOPPING_S)
            raise


def select(choice: str) -> tuple[Analyzer, ...]:
    """Return the analyzers that a setting names.

    Args:
        choice: Names and folders, separated by commas. `auto` means all analyzers that come with
            crscore, and `none` means none. A folder is one analyzer or contains several. If there
            are only folders, `auto` is added. A word without a slash is always a name and never a
            folder, because the working folder may hold an untrusted change with a folder of any
            name.

    Returns:
        The analyzers, sorted by name. An analyzer from a folder replaces the one of crscore with
        the same name.

    Raises:
        ConfigError: A folder has no analyzer, or an analyzer is invalid.
        UnknownPluginError: A name matches no analyzer.
    """
    shipped = builtin_folder()
    names = analyzer_names(shipped)
    words = [word.strip() for word in choice.split(",") if word.strip()]
    selected = [word for word in words if word in (AUTO, NONE, *names)]
    folders = [word for word in words if word not in selected]
    for word in folders:
        if not {os.sep, os.altsep} & {*word}:
            raise UnknownPluginError("analyzers", word, (AUTO, NONE, *names, f".{os.sep}FOLDER"))
    has_auto = AUTO in selected or not selected
    picked = names if words and has_auto else [name for name in selected if name in names]
    analyzers = {name: read_analyzer(shipped / name, shipped=True) for name in picked}
    for folder in map(Path, folders):
        analyzer_folders = [folder]
        if not (folder / FILE_NAME).is_file():
            analyzer_folders = [folder / name for name in analyzer_names(folder)]
        if not analyzer_folders:
            raise ConfigError(FILE_NAME, str(folder), "is not in this folder or a subfolder")
        for analyzer_folder in analyzer_folders:
            analyzer = read_analyzer(analyzer_folder, shipped=False)
            analyzers[analyzer.name] = analyzer
    return tuple(analyzers[name] for name in sorted(analyzers))
